"""Figures for a spreadsheet: CSV as RFC 4180 has it, one header line, numbers as the engines gave them."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from diskprof.analysis.arms import Arm, Side, arms_of, runs_of
from diskprof.analysis.comparison import ComparedValue, Comparison, compare
from diskprof.analysis.fleet.compared import FleetsCompared
from diskprof.analysis.fleet.result import FleetResult, labels
from diskprof.analysis.metrics import Measure
from diskprof.model.run import Latency, Result, RoundFigures, Run, TestRecord
from diskprof.model.sample import WITHIN_NS, Sample
from diskprof.model.text import clean
from diskprof.reports.content.facts import disks, parameters
from diskprof.reports.content.overview import doubts_of_test

CsvValue = str | int | float | None

_FORMULA = ("=", "+", "-", "@")
_LATENCIES = ("mean", "min", "max", "stddev", "p50", "p90", "p95", "p99", "p99_9")
RESULT_COLUMNS = (
    *(
        "run",
        "started_at",
        "host",
        "preset",
        "target",
        "disk",
        "test",
        "job",
        "copy",
        "round",
        "engine",
        "status",
        "direction",
    ),
    *("ios", "bytes", "iops", "bandwidth_bytes_per_s", "runtime_ms"),
    "latency_kind",
    *(f"{part}_{name}_ns" for part in ("latency", "clat", "slat") for name in _LATENCIES),
    f"within_{WITHIN_NS // 1000}us",
    *("cpu_user_percent", "cpu_system_percent"),
)
SAMPLE_COLUMNS = (
    *("run", "test", "phase", "direction", "at_s", "duration_s", "ios", "bytes", "iops", "bandwidth_bytes_per_s"),
    *("latency_mean_ns", "latency_min_ns", "latency_max_ns", "latency_p50_ns", "latency_p99_ns", "latency_p99_9_ns"),
)


COMPARED_COLUMNS = (
    *(
        f"{name}_{part}"
        for name in ("iops", "bandwidth", "latency_mean", "latency_p99")
        for part in ("difference", "low", "high", "verdict", "more_runs")
    ),
    "arm",
    *("tags", "note", "parameters", "doubts"),
)
"""What a comparison adds; behind these is a column for each condition that differs."""
_COMPARED = (Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN, Measure.LATENCY_P99)


def results_csv(sides: Sequence[Side], samples: Mapping[str, Sequence[Sample]] | None = None) -> str:
    """A row for each direction of each test, one for fsync where it synced, one for a test without a result; then the same of
    each job that fio reports apart, of each of its copies, and of each round of a run of rounds.

    Of several arms each row has the differences of its arm to the first, as shares of it (-0.5 is half), with their intervals
    and verdicts, which `samples`, by run id, makes surer. What is not known is empty.
    """
    arms = arms_of(sides)
    if len(arms) < 2:
        return _csv(RESULT_COLUMNS, (row for run in runs_of(arms) for test in run.tests for row in _results(run, test)))
    comparison = compare(arms, samples)
    conditions = [each.name for each in comparison.conditions]
    columns = (*RESULT_COLUMNS, *COMPARED_COLUMNS, *map(_column, conditions))
    return _csv(columns, _compared_rows(arms, comparison, conditions))


def fleets_csv(compared: FleetsCompared) -> str:
    """The rows of `results_csv` of the arms of each member, with who it is."""
    conditions = list(dict.fromkeys(one.name for each in compared.members for one in each.comparison.conditions))
    columns = ("member", *RESULT_COLUMNS, *COMPARED_COLUMNS, *map(_column, conditions))
    rows = (
        [each.label, *row]
        for each in compared.members
        for row in _compared_rows(each.arms, each.comparison, conditions)
    )
    return _csv(columns, rows)


def _column(condition: str) -> str:
    return f"condition_{condition.replace(' ', '_')}"


def _compared_rows(
    arms: Sequence[Arm], comparison: Comparison, conditions: Sequence[str]
) -> Iterator[Sequence[CsvValue]]:
    for at, arm in enumerate(arms):
        for run in arm.runs:
            for test in run.tests:
                for row in _results(run, test):
                    yield [*row, *_against(comparison, at, run, test, row, conditions)]


def _against(
    comparison: Comparison,
    at: int,
    run: Run,
    test: TestRecord,
    row: Sequence[CsvValue],
    conditions: Sequence[str],
) -> Iterable[CsvValue]:
    """What a comparison adds to a row of a run's results: differences for the test as a whole, not for its jobs."""
    job, each_round, way = (row[RESULT_COLUMNS.index(name)] for name in ("job", "round", "direction"))
    compared = next((each for each in comparison.tests if each.name == test.name), None)
    for metric in _COMPARED:
        known = (
            each for each in (compared.rows if compared and job is each_round is None else ()) if each.metric is metric
        )
        found = next((each for each in known if each.direction == way), None)
        cell = found.cells[at] if found else ComparedValue()
        ends = (cell.interval.low, cell.interval.high) if cell.interval else (None, None)
        yield from (cell.ratio, *ends, cell.verdict, cell.more_runs)
    yield comparison.columns[at].label
    yield " ".join(run.tags)
    yield run.note
    yield parameters(run)
    yield "; ".join(doubts_of_test(run.findings, test.name))
    known_conditions = {each.name: each.values[at] for each in comparison.conditions}
    yield from map(known_conditions.get, conditions)


def samples_csv(runs: Sequence[Run], samples: Mapping[str, Iterable[Sample]]) -> str:
    """A row for each sample in the order of time; `at_s` is the end of the interval since the run began. `samples` is by run id."""
    rows = []
    for run in runs:
        names = {test.index: test.name for test in run.tests}
        rows += [sample_row(run.id, names[sample.test], sample) for sample in samples.get(run.id, ())]
    return _csv(SAMPLE_COLUMNS, rows)


def series_csv(runs: Sequence[Run]) -> str:
    """The rows of `results_csv` of each run of a series in its order, with its place there."""
    columns = ("series", "repeat", "arm", *RESULT_COLUMNS)
    rows = (
        (*(run.series or ("", None, None)), *row) for run in runs for test in run.tests for row in _results(run, test)
    )
    return _csv(columns, rows)


def fleet_csv(result: FleetResult) -> str:
    """The rows of `results_csv` of each run of a fleet run, the members in their order, with who it is, its stage and repeat."""
    names = labels(result.fleet)
    columns = ("fleet", "member", "stage", "repeat", *RESULT_COLUMNS)
    rows = (
        (run.fleet.fleet_id, names[run.fleet.member], str(run.fleet.stage), run.fleet.repeat, *row)
        for run in result.runs
        if run.fleet
        for test in run.tests
        for row in _results(run, test)
    )
    return _csv(columns, rows)


def _results(run: Run, test: TestRecord) -> list[list[CsvValue]]:
    disk = " ".join(disk.model or disk.name for disk in disks(run))
    began = run.started_at.isoformat() if run.started_at else ""
    what = [run.id, began, run.environment.hostname, run.plan.preset, run.plan.target.path, disk]
    engine, status = str(test.engine), str(test.status)
    whole: list[CsvValue] = [*what, test.name, None, None, None, engine, status]
    result = test.result
    if not result or not result.directions:
        return [[*whole, *[None] * (len(RESULT_COLUMNS) - len(whole))]]
    rows = _rows(whole, result)
    for job in result.jobs:
        for number, part in enumerate((job, *job.copies)):
            rows += _rows([*what, test.name, job.name, number or None, None, engine, status], part)
    for direction, found in result.directions:
        for number, one in enumerate(found.rounds, 1):
            rows.append(_round_row([*what, test.name, None, None, number, engine, status, str(direction)], one))
    return rows


def _round_row(which: Sequence[CsvValue], one: RoundFigures) -> list[CsvValue]:
    known: dict[str, CsvValue] = {
        "iops": one.iops,
        "bandwidth_bytes_per_s": one.bandwidth_bytes_per_s,
        **{f"latency_{name}_ns": getattr(one, name) for name in ("mean", "p99", "max")},
    }
    return [*which, *(known.get(name) for name in RESULT_COLUMNS[len(which) :])]


def _rows(which: Sequence[CsvValue], result: Result) -> list[list[CsvValue]]:
    cpu = (result.cpu.user_percent, result.cpu.system_percent) if result.cpu else (None, None)
    rows: list[list[CsvValue]] = [
        [
            *(*which, str(direction), found.ios, found.bytes, found.iops, found.bandwidth_bytes_per_s),
            found.runtime_ms,
            *(str(found.latency_kind), *_latency(found.latency), *_latency(found.clat), *_latency(found.slat)),
            found.share_within(WITHIN_NS),
            *cpu,
        ]
        for direction, found in result.directions
    ]
    synced = (
        [[*which, "sync", *[None] * 6, *_latency(result.sync), *_latency(None), *_latency(None), None, *cpu]]
        if result.sync
        else []
    )
    return rows + synced


def _latency(latency: Latency | None) -> list[CsvValue]:
    return [getattr(latency, name) if latency else None for name in _LATENCIES]


def sample_row(run_id: str, test: str, sample: Sample) -> list[CsvValue]:
    return [
        *(run_id, test, str(sample.phase), str(sample.direction)),
        *(sample.at_ns / 1e9, sample.duration_ns / 1e9, sample.ios, sample.bytes, sample.iops, sample.bandwidth),
        *(sample.mean_ns, sample.min_ns, sample.max_ns),
        *(sample.quantile(q) for q in (0.5, 0.99, 0.999)),
    ]


def _csv(columns: Sequence[str], rows: Iterable[Sequence[CsvValue]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _cell(cell: CsvValue) -> CsvValue:
    """Foreign text that a spreadsheet would take for a formula gets an apostrophe, which makes it text there."""
    if isinstance(cell, str):
        text = clean(cell)
        return f"'{text}" if text.startswith(_FORMULA) else text
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell
