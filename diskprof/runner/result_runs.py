"""What a result file says of a run, as a run of the store: plan, machine and findings, with nothing that the file does not say."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.analysis.headline import headline
from diskprof.engines.fio.faults import faults_of
from diskprof.engines.results.found import FoundRun, FoundTest
from diskprof.model.histogram import Histogram
from diskprof.model.job import FioJob
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import Category, EngineName, Options
from diskprof.model.run import Environment, Message, Run, Status, TestRecord
from diskprof.model.sample import Sample
from diskprof.model.title import distinct, title_of
from diskprof.presets.foreign.imported import one_line, preset_name, test_name
from diskprof.store.exchange.runfile_values import BadFile, Batch, End, Head, Record, TestEnd, check_record
from diskprof.store.exchange.transfer import id_of_results

_BATCH = 200
_LONGEST_TITLE = 80
_LONGEST_PATH = 1000
_LARGEST = 1 << 63


class SweepFile(Struct, frozen=True):
    """A file of a sweep: what its test is called, its place in the sweep, and the run that it holds."""

    name: str
    options: Options
    found: FoundRun


class ResultRun(Struct, frozen=True):
    """A run to be kept. `name` is what it is called after, `path` where it came from; `documents` are what it was read from."""

    name: str
    path: str
    found: FoundRun
    documents: tuple[bytes, ...]
    cells: tuple[Options, ...] = ()
    names: tuple[str, ...] = ()


def swept(cells: Sequence[SweepFile]) -> tuple[FoundRun, tuple[str, ...], tuple[Options, ...]]:
    """Runs with one test each as one run, in the order of the cells, with the names and cells of its tests."""
    runs = [cell.found for cell in cells]
    begins = [run.started_at for run in runs if run.started_at]
    begin = min(begins) if len(begins) == len(runs) else None
    tests, seconds = [], 0.0
    for place, run in enumerate(runs):
        after_s = (run.started_at - begin).total_seconds() if begin and run.started_at else seconds
        tests.append(_later(run.tests[0], place, round(after_s * 1e9)))
        seconds = max(seconds, after_s + run.seconds)
    worst = next((run for run in runs if run.status is not Status.COMPLETE), runs[0])
    whole = replace(
        runs[0],
        tests=tuple(tests),
        started_at=begin,
        seconds=seconds,
        status=worst.status,
        reason=worst.reason,
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
    )
    return whole, tuple(cell.name for cell in cells), tuple(cell.options for cell in cells)


def _later(test: FoundTest, place: int, by_ns: int) -> FoundTest:
    samples = tuple(replace(sample, test=place, at_ns=sample.at_ns + by_ns) for sample in test.samples)
    return replace(test, samples=samples, started_ns=test.started_ns + by_ns, ended_ns=test.ended_ns + by_ns)


def run_of(result: ResultRun, otherwise: datetime) -> Run:
    """The run without its findings; `otherwise` is when it ended, where the file does not say."""
    found = result.found
    plan = _plan(result)
    ended = found.started_at + timedelta(seconds=found.seconds) if found.started_at else otherwise
    return Run(
        id=id_of_results(*result.documents),
        status=found.status,
        reason=found.reason,
        plan=plan,
        environment=_environment(found),
        started_at=ended - timedelta(seconds=found.seconds),
        ended_at=ended,
        tests=tuple(
            TestRecord(place, plan.tests[place], test.status, test.reason, test.started_ns, test.ended_ns, test.result)
            for place, test in enumerate(found.tests)
        ),
        messages=tuple(Message(0, note) for note in found.notes),
        imported_from=one_line(result.path, _LONGEST_PATH),
    )


def records_of(result: ResultRun, otherwise: datetime) -> Iterator[Record]:
    """The run as the records that an exported one has; `otherwise` as of `run_of`.

    Raises BadFile for figures that nobody can have measured.
    """
    run = run_of(result, otherwise)
    samples = [sample for test in result.found.tests for sample in test.samples]
    records = _records(run, result.found, samples)
    for record in records:
        check_record(record)
    _check_histograms(run, samples)
    # Only of figures that were looked at is it asked what they mean.
    findings = find(run, samples, ())
    head = records[0]
    assert isinstance(head, Head)
    yield replace(head, findings=findings, headline=headline(replace(run, findings=findings)))
    yield from records[1:]


def _records(run: Run, found: FoundRun, samples: Sequence[Sample]) -> list[Record]:
    head = Head(
        id=run.id,
        status=run.status,
        reason=run.reason,
        started_at=run.started_at,
        ended_at=run.ended_at,
        tags=(),
        note="",
        headline="",
        plan=run.plan,
        environment=run.environment,
        findings=(),
        progress=None,
        imported_from=run.imported_from,
    )
    tests = [
        TestEnd(place, test.status, test.reason, test.started_ns, test.ended_ns, test.result, test.document)
        for place, test in enumerate(found.tests)
    ]
    batches: list[Batch] = [tuple(samples[start : start + _BATCH]) for start in range(0, len(samples), _BATCH)]
    batches += [run.messages] if run.messages else []
    return [head, *tests, *batches, End(len(tests), len(run.messages), len(samples), 0)]


def _check_histograms(run: Run, samples: Sequence[Sample]) -> None:
    results = [test.result for test in run.tests if test.result]
    parts = [part for result in results for each in (result, *result.jobs) for _, part in each.directions]
    found: list[Histogram | None] = [part.histogram for part in parts]
    found += [sample.histogram for sample in samples]
    if any(histogram is not None and histogram.total >= _LARGEST for histogram in found):
        raise BadFile("a histogram counts more than can be measured")


def _environment(found: FoundRun) -> Environment:
    fio = found.engine is EngineName.FIO
    return Environment(
        hostname=found.hostname,
        fio_version=found.version if fio else "",
        ioping_version="" if fio else found.version,
    )


def _plan(result: ResultRun) -> Plan:
    found = result.found
    axes: dict[str, list[str]] = {}
    for cell in result.cells:
        for option, value in cell:
            axes.setdefault(option, []).append(value)
    return Plan(
        preset=preset_name(result.name.rpartition(".")[0] or result.name),
        preset_title=one_line(result.name, _LONGEST_TITLE),
        category=Category.OWN,
        target=found.target,
        parameters=(),
        tests=_planned(result),
        directory="",
        files=(),
        layout=None,
        hazards=(),
        space_needed=0,
        assumed_bandwidth=0.0,
        sweep=tuple((option, tuple(dict.fromkeys(values))) for option, values in axes.items()),
    )


def _planned(result: ResultRun) -> tuple[PlannedTest, ...]:
    found, names = result.found, list(result.names)
    cells = result.cells or ((),) * len(found.tests)
    for test in found.tests[len(names) :]:
        names.append(test_name([job.name for job in test.jobs], names))
    titles = distinct(
        [(name, title_of(test.jobs, cell)) for name, test, cell in zip(names, found.tests, cells, strict=True)]
    )
    return tuple(
        _planned_test(found, test, name, title, cell)
        for test, name, title, cell in zip(found.tests, names, titles, cells, strict=True)
    )


def _planned_test(found: FoundRun, test: FoundTest, name: str, title: str, cell: Options) -> PlannedTest:
    fio = [job for job in test.jobs if isinstance(job, FioJob)]
    write = test.result.write if test.result else None
    faults = tuple(fault for job in fio for fault in faults_of(job, found.version))
    return PlannedTest(
        name=name,
        title=title,
        engine=found.engine,
        argv=(),
        jobs=test.jobs,
        ramp_s=max((job.ramp_s for job in fio), default=0.0),
        runtime_s=(test.ended_ns - test.started_ns) / 1e9,
        amount_bytes=None,
        bytes_written=write.bytes if write else 0,
        writes_exact=True,
        interval_ms=test.interval_ms,
        cell=cell,
        latency=test.latency,
        faults=faults,
    )
