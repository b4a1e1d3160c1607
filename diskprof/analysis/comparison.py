"""Runs side by side: test by test, metric by metric, each against the first run.

A difference counts as one only beyond the noise; the rule is told in docs/reading-results.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from diskprof.analysis.chance import Error, by_chance, of_average, of_one, of_share
from diskprof.analysis.conditions import Condition, OptionDifference, differing_conditions, differing_options
from diskprof.analysis.expectations import CommonExpectation, common
from diskprof.analysis.metrics import (
    OF_LATENCY,
    SYNC_METRICS,
    WITHIN_NS,
    Better,
    Measure,
    Part,
    Source,
    cpu_use,
    direction_metrics,
)
from diskprof.analysis.statistics import standard_deviation, variation
from diskprof.analysis.steady import counted
from diskprof.analysis.windows import ByTest, by_test, figures, measured, thinned
from diskprof.model.metric import Change
from diskprof.model.preset import EngineName, Options
from diskprof.model.run import DirectionResult, Finding, Run, Status, TestRecord
from diskprof.model.sample import Direction, Sample
from diskprof.model.title import sweep_title

NOISE = 0.02
"""Differences up to this share are noise: a bucket of fio's histogram is up to 1.6% wide, and no disk repeats itself better."""

NOISE_OF_TAIL = 0.10
"""p99 and p99.9 rest on the few worst intervals of a run, which no two runs share."""

NOISE_OF_MAXIMUM = 0.25
"""The maximum is one I/O out of all: two runs on one disk rarely agree better than this."""

NOISE_OF_SHARE = 0.01
"""Shares (within a threshold) are the same within one percentage point, whatever chance may do."""

LEAST_IOS = 10
"""No figure of fewer I/Os is judged: a mean of two requests is one of them, and a next one may be anything."""

TAIL_IOS = 10
"""A quantile is judged only if at least this many I/Os lie beyond it in each run."""


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One metric of one run. None: not measured, or a figure that would be nonsense.

    `difference` is value - first; `ratio` is difference / first, so 0.5 is half as much again. `verdict` is None for the
    first run itself, where either is missing, and where a judgement would rest on too little.
    """

    value: float | None = None
    difference: float | None = None
    ratio: float | None = None
    verdict: Change | None = None


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """A metric of one direction (None: of the test as a whole, fsync and the CPU), one cell a run."""

    metric: Measure
    direction: Direction | None
    better: Better
    share: bool
    cells: tuple[ComparedValue, ...]


@dataclass(frozen=True, slots=True)
class TestComparison:
    """One test by name; `statuses` holds None where a run does not have it. `cell` is its place in a sweep, whose title is
    `sweep_title`. `leading` is what the test is judged by first.
    """

    __test__ = False
    name: str
    title: str
    engine: EngineName
    statuses: tuple[Status | None, ...]
    rows: tuple[ComparedMetric, ...]
    options: tuple[OptionDifference, ...] = ()
    cell: Options = ()
    leading: Measure = Measure.IOPS
    sweep_title: str = ""

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(dict.fromkeys(row.direction for row in self.rows if row.direction))

    def row(self, metric: Measure, direction: Direction | None = None) -> ComparedMetric | None:
        """The row of a metric in this direction, or in whichever comes first."""
        rows = (row for row in self.rows if row.metric is metric)
        return next((row for row in rows if direction is None or row.direction in (direction, None)), None)


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run in a comparison. `label` is short and unlike every other one's: a tag, a host, a device, or the id."""

    label: str
    id: str
    status: Status
    preset: str
    target: str
    hostname: str
    started_at: datetime
    tags: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first column is what the others are measured against. `expectations` are those that two runs or more share."""

    columns: tuple[ComparedRun, ...]
    conditions: tuple[Condition, ...]
    tests: tuple[TestComparison, ...]
    within_ns: int = WITHIN_NS
    expectations: tuple[CommonExpectation, ...] = ()

    def title(self, name: str) -> str:
        """The title of a test; the name itself where there is none."""
        return next((test.title for test in self.tests if test.name == name), name)


def compare(
    runs: Sequence[Run], samples: Mapping[str, Sequence[Sample]] | None = None, *, within_ns: int = WITHIN_NS
) -> Comparison:
    """Lay runs side by side. `samples` gives the samples of runs by id, from which the noise of each is taken.

    Raises ValueError of no runs.
    """
    if not runs:
        raise ValueError("nothing to compare")
    taken = {run_id: by_test(each) for run_id, each in (samples or {}).items()}
    names = list(dict.fromkeys(test.name for run in runs for test in run.records))
    tests = [_compare_test(name, runs, taken, within_ns) for name in names]
    everywhere = _everywhere(tests)
    conditions = differing_conditions(runs)
    return Comparison(
        columns=tuple(
            ComparedRun(
                label=label,
                id=run.id,
                status=run.status,
                preset=run.plan.preset,
                target=run.plan.target.path,
                hostname=run.environment.hostname,
                started_at=run.started_at,
                tags=run.tags,
                findings=run.findings,
            )
            for label, run in zip(labels(runs), runs, strict=True)
        ),
        conditions=(*conditions, *_told_once(everywhere, conditions)),
        tests=tuple(
            replace(test, options=tuple(option for option in test.options if option not in everywhere))
            for test in tests
        ),
        within_ns=within_ns,
        expectations=common(runs),
    )


def _everywhere(tests: Sequence[TestComparison]) -> tuple[OptionDifference, ...]:
    """The differences that every test with two runs or more has alike."""
    shared = [test for test in tests if sum(status is not None for status in test.statuses) > 1]
    if len(shared) < 2:
        return ()
    return tuple(option for option in shared[0].options if all(option in test.options for test in shared[1:]))


def _told_once(options: Sequence[OptionDifference], conditions: Sequence[Condition]) -> list[Condition]:
    """These as conditions, without those that a parameter of the same name tells already."""
    told = {condition.name for condition in conditions}
    return [
        Condition(f"option {option.option}", tuple(value or "" for value in option.values))
        for option in options
        if f"parameter {option.option}" not in told
    ]


def labels(runs: Sequence[Run]) -> tuple[str, ...]:
    """A short name for each run by which a person tells it from the others: its tag, host, device, or preset and time (UTC).

    Runs with a tag are called by it also beside others without one.
    """
    tags = [run.tags[0] if run.tags else "" for run in runs]
    times = [f"{run.plan.preset} {run.started_at:%m-%d %H:%M}" for run in runs]
    candidates = (
        tags,
        [run.environment.hostname for run in runs],
        [run.environment.device.model if run.environment.device else "" for run in runs],
        [run.plan.target.device_title for run in runs],
        [tag or time for tag, time in zip(tags, times, strict=True)],
        times,
        [run.id for run in runs],
    )
    for names in candidates:
        if all(names) and len(set(names)) == len(names):
            return tuple(names)
    # One run given twice: numbered, so that its columns can be told apart.
    return tuple(f"{run.id} ({number})" for number, run in enumerate(runs, start=1))


def _counted(record: TestRecord, samples: Sequence[Sample]) -> Sequence[Sample]:
    return counted(record.result.steady if record.result else None, measured(samples, record.index))


def _compare_test(name: str, runs: Sequence[Run], samples: Mapping[str, ByTest], within_ns: int) -> TestComparison:
    records = [run.test(name) for run in runs]
    known = next(record for record in records if record)
    rows: list[ComparedMetric] = []
    intervals = {
        direction: [
            thinned(_counted(record, samples.get(run.id, {}).get((record.index, direction), ()))) if record else ()
            for run, record in zip(runs, records, strict=True)
        ]
        for direction in Direction
    }
    sampled = {
        direction: all(run.sampled(record, direction) for run, record in zip(runs, records, strict=True) if record)
        for direction in Direction
    }
    for direction in Direction:
        results = [record.result.direction(direction) if record and record.result else None for record in records]
        counts = [result.ios if result else 0 for result in results]
        one_kind = len({result.latency_kind for result in results if result}) < 2
        found: list[ComparedMetric] = []
        for source in _sources(records, within_ns):
            row = _row(source, direction, results, counts, intervals[direction])
            judged = sampled[direction] and (one_kind or source.metric not in OF_LATENCY)
            found += row if judged else map(_unjudged, row)
        rows += _one_verdict(found, records, direction)
    parts = [record.result.sync if record and record.result else None for record in records]
    for each in SYNC_METRICS:
        rows += _row(each, None, parts, list(map(syncs, records)), intervals[Direction.WRITE])
    rows += _cpu_row(records)
    return TestComparison(
        name=name,
        title=known.title,
        sweep_title=sweep_title(known.planned.jobs, known.planned.cell) if known.planned.cell else "",
        engine=known.engine,
        statuses=tuple(record.status if record else None for record in records),
        rows=tuple(rows),
        options=differing_options(records),
        cell=known.planned.cell,
        leading=leading(records),
    )


def _row(
    source: Source[Part],
    direction: Direction | None,
    parts: Sequence[Part | None],
    counts: Sequence[int | None],
    intervals: Sequence[Sequence[Sample]],
) -> list[ComparedMetric]:
    """The row of a metric, none where no run has it; `counts` is how many I/Os or syncs each run's figure is of, if known."""
    values = [_finite(source.of_result(part)) if part is not None else None for part in parts]
    if all(value is None for value in values):
        return []
    errors = [_error(source, *each) for each in zip(intervals, values, counts, strict=True)]
    others = zip(values[1:], counts[1:], errors[1:], strict=True)
    cells = [
        _cell(source, values[0], value, _least(counts[0], count), _noise(source, errors[0], error))
        for value, count, error in others
    ]
    return [ComparedMetric(source.metric, direction, source.better, source.share, (ComparedValue(values[0]), *cells))]


def _least(count: int | None, other: int | None) -> int | None:
    return min(count, other) if count is not None and other is not None else None


def _sources(records: Sequence[TestRecord | None], within_ns: int) -> tuple[Source[DirectionResult], ...]:
    """The metrics of a direction. ioping's rates are of its mean latency, so an interval's mean tells how they vary."""
    sources = direction_metrics(within_ns)
    if not _of_ioping(records):
        return sources
    return tuple(
        replace(source, of_sample=lambda sample: sample.mean_ns) if source.metric in _RATES else source
        for source in sources
    )


_RATES = (Measure.IOPS, Measure.BANDWIDTH)


def _of_ioping(records: Sequence[TestRecord | None]) -> bool:
    return {record.engine for record in records if record} == {EngineName.IOPING}


def _one_verdict(
    rows: Sequence[ComparedMetric], records: Sequence[TestRecord | None], direction: Direction
) -> list[ComparedMetric]:
    """The rows of a direction, those that are one figure under several names with one verdict.

    ioping's IOPS are 1 s / mean, and bandwidth at one block size is the IOPS: rounding must not part them.
    """
    leads: dict[Measure, Measure] = {}
    if _of_ioping(records):
        leads[Measure.IOPS] = Measure.LATENCY_MEAN
    if len(_block_sizes(records, direction)) == 1:
        leads[Measure.BANDWIDTH] = leads.get(Measure.IOPS, Measure.IOPS)
    found = {row.metric: row for row in rows}
    for metric, lead in leads.items():
        if metric in found and lead in found:
            cells = zip(found[metric].cells, found[lead].cells, strict=True)
            judged = tuple(replace(cell, verdict=told.verdict) for cell, told in cells)
            found[metric] = replace(found[metric], cells=judged)
    return list(found.values())


def _block_sizes(records: Sequence[TestRecord | None], direction: Direction) -> frozenset[int]:
    """Every block size that a job of these tests has in a direction, in bytes."""
    write = direction is Direction.WRITE
    fio = {
        size
        for record in records
        if record
        for job in record.planned.load.fio
        if direction in job.directions
        for size in job.sizes(write=write)
    }
    ioping = {job.block_size for record in records if record and (job := record.planned.load.ioping)}
    return frozenset(fio | ioping)


def _unjudged(row: ComparedMetric) -> ComparedMetric:
    """The row without its verdicts: lat and clat are not the same figure, and samples of several jobs tell of none alone."""
    return replace(row, cells=tuple(replace(cell, verdict=None) for cell in row.cells))


def _cpu_row(records: Sequence[TestRecord | None]) -> list[ComparedMetric]:
    values = list(map(_finite, comparable_cpu(records)))
    if all(value is None for value in values):
        return []
    cells = [ComparedValue(values[0]), *(ComparedValue(value, *_differences(values[0], value)) for value in values[1:])]
    return [ComparedMetric(Measure.CPU, None, Better.NEITHER, True, tuple(cells))]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _differences(base: float | None, value: float | None) -> tuple[float | None, float | None]:
    if base is None or value is None:
        return None, None
    return value - base, (value - base) / base if base > 0 else None


def _cell(
    source: Source[Part], base: float | None, value: float | None, ios: int | None, noise: float
) -> ComparedValue:
    difference, ratio = _differences(base, value)
    if base is None or value is None or difference is None:
        return ComparedValue(value)
    if ios is not None and ios < LEAST_IOS:
        return ComparedValue(value, difference, ratio, None)
    if source.tail is not None and (ios or 0) * source.tail < TAIL_IOS:
        return ComparedValue(value, difference, ratio, None)
    if source.share:
        distance = abs(difference)
    elif base + value > 0:
        # Against the mean of the two, so that which run comes first does not change the judgement.
        distance = abs(difference) / ((base + value) / 2)
    else:
        return ComparedValue(value, difference, ratio, Change.SAME)
    if distance <= (noise if _is_average(source) else _floor(source)):
        verdict = Change.SAME
    elif distance <= noise:
        # Two tails can lie far apart by chance alone: neither the same nor better.
        return ComparedValue(value, difference, ratio, None)
    elif source.better is Better.NEITHER:
        return ComparedValue(value, difference, ratio, None)
    else:
        verdict = Change.BETTER if (difference > 0) is (source.better is Better.HIGHER) else Change.WORSE
    return ComparedValue(value, difference, ratio, verdict)


def _is_average(source: Source[Part]) -> bool:
    return source.metric not in _TAILS


_TAILS = {
    Measure.LATENCY_P99: NOISE_OF_TAIL,
    Measure.LATENCY_P99_9: NOISE_OF_TAIL,
    Measure.LATENCY_MAX: NOISE_OF_MAXIMUM,
    Measure.SYNC_P99: NOISE_OF_TAIL,
    Measure.SYNC_P99_9: NOISE_OF_TAIL,
    Measure.SYNC_MAX: NOISE_OF_MAXIMUM,
}


def _floor(source: Source[Part]) -> float:
    return NOISE_OF_SHARE if source.share else _TAILS.get(source.metric, NOISE)


def _error(source: Source[Part], intervals: Sequence[Sample], value: float | None, ios: int | None) -> Error:
    """What chance may do to a figure, as far as its intervals tell.

    Many intervals make an average surer; a tail is what its worst interval was, however many there are. A share of `ios`
    is no surer than as many throws of a coin.
    """
    found = figures(intervals, source.of_sample)
    spread = standard_deviation(found) if source.share else variation(found)
    error = Error() if spread is None else (of_average if _is_average(source) else of_one)(found, spread)
    if source.share and value is not None and ios:
        return max(error, of_share(value, ios), key=lambda each: each.squared)
    return error


def _noise(source: Source[Part], first: Error, other: Error) -> float:
    """What chance alone stays within; never below the floor."""
    return max(_floor(source), by_chance(first, other))


def leading(records: Sequence[TestRecord | None]) -> Measure:
    """What a test is judged by first: IOPS, which at one block size is bandwidth too; with ioping, the latency.

    A log that syncs each write is judged by how long that takes, where every run tells it.
    """
    present = [record for record in records if record]
    if present and present[0].engine is EngineName.IOPING:
        return Measure.LATENCY_MEAN
    told = [record for record in present if record.result]
    return Measure.SYNC_MEAN if told and all(_synced(record) for record in told) else Measure.IOPS


def _synced(record: TestRecord) -> bool:
    sync = record.result.sync if record.result else None
    return sync is not None and sync.mean is not None and record.planned.load.synced


def syncs(record: TestRecord | None) -> int | None:
    """About how many syncs a fio test did, by its writes; None where its jobs do not all sync after as many."""
    if record is None or record.result is None or record.result.write is None or record.engine is not EngineName.FIO:
        return None
    after = {max(job.fsync, job.fdatasync) for job in record.planned.load.fio if not job.reads_only}
    every = after.pop() if len(after) == 1 else 0
    return record.result.write.ios // every if every else None


class CpuOf(StrEnum):
    """What a test's CPU use is a figure of. fio gives the mean of the jobs of a group; what it reports apart is added up."""

    ONE_JOB = "one job"
    ALL_JOBS = "all jobs"
    JOB_ON_AVERAGE = "a job on average"
    SEVERAL_GROUPS = "several groups"


def cpu_of(record: TestRecord) -> CpuOf:
    """What fio reports the CPU use of this test for."""
    test, cpu = record.planned.load, record.result.cpu if record.result else None
    reports = (cpu.reports if cpu else 0) or test.reported
    if test.threads == 1:
        return CpuOf.ONE_JOB
    if reports >= test.threads:
        return CpuOf.ALL_JOBS
    return CpuOf.JOB_ON_AVERAGE if reports == 1 else CpuOf.SEVERAL_GROUPS


def comparable_cpu(records: Sequence[TestRecord | None]) -> list[float | None]:
    """The CPU use of a test in each run, as a share of one CPU; None where it is no figure of the same as the first run's."""
    found = [
        (cpu_of(record), use) if record and record.result and (use := cpu_use(record.result)) is not None else None
        for record in records
    ]  # fmt: skip
    base = found[0][0] if found and found[0] else None
    return [each[1] if each and _alike(base, each[0]) else None for each in found]


def _alike(base: CpuOf | None, other: CpuOf) -> bool:
    """One job is the sum and the mean of itself."""
    return (
        base is None or base is other or (CpuOf.ONE_JOB in (base, other) and CpuOf.SEVERAL_GROUPS not in (base, other))
    )
