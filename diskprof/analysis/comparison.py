"""Arms side by side: test by test, metric by metric, each against the first.

A difference counts as one only beyond the noise; the rule is told in docs/reading-results.md.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.arms import Arm, Side, arms_of, labels, runs_of
from diskprof.analysis.between_runs import (
    Interval,
    difference_of_medians,
    more_runs_needed,
    ratio_of_medians,
    verdict,
)
from diskprof.analysis.chance import Error, by_chance, of_average, of_halves, of_one, of_share
from diskprof.analysis.compared_cpu import comparable_cpu
from diskprof.analysis.conditions import Condition, OptionDifference, differing_conditions, differing_options
from diskprof.analysis.expectations import CommonExpectation, common
from diskprof.analysis.limit_found import FoundLimit, found_limit
from diskprof.analysis.load_curve import LoadCurve, found_curve
from diskprof.analysis.map_found import FoundMap, found_map
from diskprof.analysis.metrics import (
    LEAST_IOS,
    OF_LATENCY,
    SYNC_METRICS,
    TAIL_IOS,
    Better,
    Measure,
    MetricReader,
    Part,
    direction_metrics,
)
from diskprof.analysis.statistics import median, standard_deviation, variation
from diskprof.analysis.steady import counted
from diskprof.analysis.windows import ByTest, by_test, figures, measured, thinned
from diskprof.model.limit import TrialKind
from diskprof.model.metric import Change
from diskprof.model.preset import EngineName, Options
from diskprof.model.run import DirectionResult, Finding, Latency, Run, Status, TestRecord
from diskprof.model.sample import WITHIN_NS, Direction, Sample
from diskprof.model.title import sweep_title

NOISE = 0.02
"""Differences up to this share are noise: a bucket of fio's histogram is up to 1.6% wide, and no disk repeats itself better."""

NOISE_OF_TAIL = 0.10
"""p99 and p99.9 rest on the few worst intervals of a run, which no two runs share."""

NOISE_OF_MAXIMUM = 0.25
"""The maximum is one I/O out of all: two runs on one disk rarely agree better than this."""

NOISE_OF_SHARE = 0.01
"""Shares (within a threshold) are the same within one percentage point, whatever chance may do."""

LEAST_INTERVALS = 4
"""Of fewer a run has no halves to speak of."""

LEAST_PAIRS = 4
"""Of fewer runs that took turns Student's t has so few degrees of freedom that pairing gains nothing."""


class ComparedValue(Struct, frozen=True):
    """One metric of one arm. None: not measured, or a figure that would be nonsense.

    `values` has that of each run, `value` their median. `difference` is value - first; `ratio` is difference / first, so 0.5 is
    half as much again. `interval` is the 95% interval of `ratio`, of shares that of `difference`; None where nothing tells of
    chance. `verdict` is None for the first arm itself, where either is missing, and where a judgement would rest on too
    little. `more_runs`: about so many more runs a side would settle what is UNCLEAR.
    """

    value: float | None = None
    difference: float | None = None
    ratio: float | None = None
    verdict: Change | None = None
    interval: Interval | None = None
    more_runs: int | None = None
    values: tuple[float, ...] = ()


class ComparedMetric(Struct, frozen=True):
    """A metric of one direction (None: of the test as a whole, fsync and the CPU), one cell an arm."""

    metric: Measure
    direction: Direction | None
    better: Better
    share: bool
    cells: tuple[ComparedValue, ...]


class TestComparison(Struct, frozen=True):
    """One test by name; `statuses` holds None where no run of an arm has it, COMPLETE where one completed it, and `lacking`
    in how many runs of an arm it is not complete. `cell` is its place in a sweep, whose title is `sweep_title`. `leading` is
    what the test is judged by first.
    """

    __test__ = False
    name: str
    title: str
    engine: EngineName
    statuses: tuple[Status | None, ...]
    rows: tuple[ComparedMetric, ...]
    lacking: tuple[int, ...] = ()
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


class ComparedRun(Struct, frozen=True):
    """A run in a comparison. `limit` is what it found where it searched for one, `curve` its load curve."""

    id: str
    status: Status
    preset: str
    target: str
    hostname: str
    started_at: datetime
    tags: tuple[str, ...]
    findings: tuple[Finding, ...]
    limit: FoundLimit | None = None
    read_write_map: FoundMap | None = None
    curve: LoadCurve | None = None


class ComparedArm(Struct, frozen=True):
    """A column of a comparison. `label` is short and unlike every other one's: a tag, a host, a device, or an id."""

    label: str
    runs: tuple[ComparedRun, ...]

    @property
    def key(self) -> str:
        """The id of its first run."""
        return self.runs[0].id


class Comparison(Struct, frozen=True):
    """The first column is what the others are measured against. `expectations` are those that two arms of one run or more share."""

    columns: tuple[ComparedArm, ...]
    conditions: tuple[Condition, ...]
    tests: tuple[TestComparison, ...]
    within_ns: int = WITHIN_NS
    expectations: tuple[CommonExpectation, ...] = ()

    def title(self, name: str) -> str:
        """The title of a test; the name itself where there is none."""
        return next((test.title for test in self.tests if test.name == name), name)

    @property
    def repeated(self) -> bool:
        """Whether an arm has several runs."""
        return any(len(column.runs) > 1 for column in self.columns)


def compare(
    sides: Sequence[Side], samples: Mapping[str, Sequence[Sample]] | None = None, *, within_ns: int = WITHIN_NS
) -> Comparison:
    """Lay arms side by side; a run is an arm of one. `samples` are those of runs by id, from which the noise within each is taken.

    Raises ValueError of nothing.
    """
    if not sides:
        raise ValueError("nothing to compare")
    arms = arms_of(sides)
    known = {run_id: by_test(taken) for run_id, taken in (samples or {}).items()}
    names = _names(arms)
    tests = [_compare_test(name, arms, known, within_ns) for name in names]
    everywhere = _everywhere(tests)
    conditions = differing_conditions(arms)
    return Comparison(
        columns=tuple(
            ComparedArm(label, tuple(map(_compared_run, arm.runs)))
            for label, arm in zip(labels(arms), arms, strict=True)
        ),
        conditions=(*conditions, *_told_once(everywhere, conditions)),
        tests=tuple(
            replace(test, options=tuple(option for option in test.options if option not in everywhere))
            for test in tests
        ),
        within_ns=within_ns,
        expectations=common(runs_of(arms)) if all(len(arm.runs) == 1 for arm in arms) else (),
    )


def _names(arms: Sequence[Arm]) -> list[str]:
    """Every test; of searches for a limit, whose result is the limit, the loads that several arms tried as long."""
    names = dict.fromkeys(test.name for run in runs_of(arms) for test in run.records)
    trials = {test.name for run in runs_of(arms) for test in run.tests if test.planned.trial}
    if len(arms) < 2 or not trials:
        return list(names)
    kinds = {name: [_kinds(arm, name) for arm in arms] for name in trials}
    alike = {name for name, each in kinds.items() if len(set().union(*each)) == 1 and sum(map(bool, each)) > 1}
    return [name for name in names if name in alike or name not in trials]


def _kinds(arm: Arm, name: str) -> set[TrialKind]:
    return {test.planned.trial.kind for run in arm.runs if (test := run.test(name)) is not None and test.planned.trial}


def _compared_run(run: Run) -> ComparedRun:
    return ComparedRun(
        id=run.id,
        status=run.status,
        preset=run.plan.preset,
        target=run.plan.target.path,
        hostname=run.environment.hostname,
        started_at=run.started_at,
        tags=run.tags,
        findings=run.findings,
        limit=found_limit(run),
        read_write_map=found_map(run),
        curve=found_curve(run),
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


def _compare_test(name: str, arms: Sequence[Arm], samples: Mapping[str, ByTest], within_ns: int) -> TestComparison:
    taken = [arm.figured(name) for arm in arms]
    records = [[record for _, record in each] for each in taken]
    known = next(record for arm in records for record in arm)
    rows: list[ComparedMetric] = []
    for direction in Direction:
        sides = [_of_direction(each, direction, samples) for each in taken]
        one_kind = len({figure.part.latency_kind for side in sides for figure in side}) < 2
        sampled = all(run.sampled(record, direction) for each in taken for run, record in each)
        found: list[ComparedMetric] = []
        for source in _sources(records, within_ns):
            row = _row(source, direction, sides)
            judged = sampled and (one_kind or source.metric not in OF_LATENCY)
            found += row if judged else map(_unjudged, row)
        rows += _one_verdict(found, records, direction)
    syncing = [_of_syncs(each, samples) for each in taken]
    for each in SYNC_METRICS:
        rows += _row(each, None, syncing)
    rows += _cpu_row(records)
    return TestComparison(
        name=name,
        title=known.title,
        sweep_title=sweep_title(known.planned.jobs, known.planned.cell) if known.planned.cell else "",
        engine=known.engine,
        statuses=tuple(arm[0].status if arm else None for arm in records),
        lacking=tuple(
            len(arm.runs) - sum(record.status is Status.COMPLETE for record in mine)
            for arm, mine in zip(arms, records, strict=True)
        ),
        rows=tuple(rows),
        options=differing_options(records),
        cell=known.planned.cell,
        leading=leading(
            [record for arm in records for record in arm],
            about_latency=all(run.plan.about_latency for each in taken for run, _ in each),
        ),
    )


class _Figured(Struct, Generic[Part], frozen=True):
    """A part of a run's result, when the run began, of how many I/Os or syncs it is (None: not known), and its intervals; `blind`
    without any, since a result file has none.
    """

    part: Part
    at: datetime
    count: int | None
    intervals: Sequence[Sample]
    blind: bool


def _of_direction(
    taken: Sequence[tuple[Run, TestRecord]], direction: Direction, samples: Mapping[str, ByTest]
) -> list[_Figured[DirectionResult]]:
    return [
        _figured(run, record, part, part.ios, direction, samples)
        for run, record in taken
        if record.result and (part := record.result.direction(direction))
    ]


def _of_syncs(taken: Sequence[tuple[Run, TestRecord]], samples: Mapping[str, ByTest]) -> list[_Figured[Latency]]:
    return [
        _figured(run, record, record.result.sync, syncs(record), Direction.WRITE, samples)
        for run, record in taken
        if record.result and record.result.sync
    ]


def _figured(
    run: Run, record: TestRecord, part: Part, count: int | None, direction: Direction, samples: Mapping[str, ByTest]
) -> _Figured[Part]:
    taken = measured(samples.get(run.id, {}).get((record.index, direction), ()), record.index)
    intervals = thinned(counted(record.result.steady if record.result else None, taken))
    return _Figured(part, run.started_at, count, intervals, blind=bool(run.imported_from) and len(intervals) < 2)


class _Known(Struct, frozen=True):
    """The figures of a metric in the runs of an arm, and when these began. `count`: the fewest I/Os of one, None if not known.
    `blind`: how much they vary within one of them is not known.
    """

    values: tuple[float, ...]
    times: tuple[datetime, ...]
    count: int | None
    errors: tuple[Error, ...]
    blind: bool

    @property
    def value(self) -> float | None:
        return median(self.values)


def _row(
    source: MetricReader[Part], direction: Direction | None, sides: Sequence[Sequence[_Figured[Part]]]
) -> list[ComparedMetric]:
    """The row of a metric, none where no run has it."""
    alone = all(len(side) < 2 for side in sides)
    known = [_known(source, side, alone=alone) for side in sides]
    if not any(each.values for each in known):
        return []
    first, *others = known
    cells = (ComparedValue(first.value, values=first.values), *(_cell(source, first, other) for other in others))
    return [ComparedMetric(source.metric, direction, source.better, source.share, cells)]


def _known(source: MetricReader[Part], side: Sequence[_Figured[Part]], *, alone: bool) -> _Known:
    found = [(each, value) for each in side if (value := _finite(source.of_result(each.part))) is not None]
    counts = [each.count for each, _ in found]
    errors = tuple(_error(source, each.intervals, value, each.count, alone=alone) for each, value in found)
    fewest = None if None in counts else min((count for count in counts if count is not None), default=None)
    values, times = tuple(value for _, value in found), tuple(each.at for each, _ in found)
    return _Known(values, times, fewest, errors, any(each.blind for each, _ in found))


def _sources(records: Sequence[Sequence[TestRecord]], within_ns: int) -> tuple[MetricReader[DirectionResult], ...]:
    """The metrics of a direction. ioping's rates are of its mean latency, so an interval's mean tells how they vary."""
    sources = direction_metrics(within_ns)
    if not _of_ioping(records):
        return sources
    return tuple(
        replace(source, of_sample=lambda sample: sample.mean_ns) if source.metric in _RATES else source
        for source in sources
    )


_RATES = (Measure.IOPS, Measure.BANDWIDTH)


def _of_ioping(records: Sequence[Sequence[TestRecord]]) -> bool:
    return {record.engine for arm in records for record in arm} == {EngineName.IOPING}


def _one_verdict(
    rows: Sequence[ComparedMetric], records: Sequence[Sequence[TestRecord]], direction: Direction
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
            judged = tuple(replace(cell, verdict=told.verdict, more_runs=told.more_runs) for cell, told in cells)
            found[metric] = replace(found[metric], cells=judged)
    return list(found.values())


def _block_sizes(arms: Sequence[Sequence[TestRecord]], direction: Direction) -> frozenset[int]:
    """Every block size that a job of these tests has in a direction, in bytes."""
    write = direction is Direction.WRITE
    records = [record for arm in arms for record in arm]
    fio = {
        size
        for record in records
        for job in record.planned.load.fio
        if direction in job.directions
        for size in job.sizes(write=write)
    }
    ioping = {job.block_size for record in records if (job := record.planned.load.ioping)}
    return frozenset(fio | ioping)


def _unjudged(row: ComparedMetric) -> ComparedMetric:
    """The row without its verdicts: lat and clat are not the same figure, and samples of several jobs tell of none alone."""
    return replace(row, cells=tuple(replace(cell, verdict=None, more_runs=None) for cell in row.cells))


def _cpu_row(arms: Sequence[Sequence[TestRecord]]) -> list[ComparedMetric]:
    uses = iter(comparable_cpu([record for arm in arms for record in arm]))
    known = [tuple(use for _ in arm if (use := _finite(next(uses))) is not None) for arm in arms]
    if not any(known):
        return []
    base = median(known[0])
    cells = [ComparedValue(base, values=known[0])]
    for values in known[1:]:
        value = median(values)
        cells.append(ComparedValue(value, *_differences(base, value), values=values))
    return [ComparedMetric(Measure.CPU, None, Better.NEITHER, True, tuple(cells))]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _differences(base: float | None, value: float | None) -> tuple[float | None, float | None]:
    if base is None or value is None:
        return None, None
    return value - base, (value - base) / base if base > 0 else None


def _cell(source: MetricReader[Part], first: _Known, other: _Known) -> ComparedValue:
    difference, ratio = _differences(first.value, other.value)
    told = ComparedValue(other.value, difference, ratio, values=other.values)
    if difference is None:
        return told
    if first.count is not None and other.count is not None:
        ios = min(first.count, other.count)
        if ios < LEAST_IOS or (source.tail is not None and ios * source.tail < TAIL_IOS):
            return told
    elif source.tail is not None:
        return told
    change, interval = _change(source, first, other)
    if source.better is Better.NEITHER:
        return told
    if change is None:
        # Without a ratio only the order counts: from nothing to something is all the difference there is.
        apart = min(other.values) > max(first.values) or max(other.values) < min(first.values)
        change = math.copysign(1, difference) if apart else 0.0
        interval = None if apart or difference == 0 else Interval(-1, 1)
    runs = len(first.values), len(other.values)
    floor = _floor(source)
    found = verdict(interval or Interval(change, change), source.better, same_within=floor)
    if max(runs) == 1 and found is not Change.SAME and _distance(source, first, other) <= floor:
        # What runs differ by is not known of one a side, only that no disk repeats itself better than this.
        found = Change.UNCLEAR if interval else Change.SAME
    if max(runs) == 1 and (first.blind or other.blind) and found is not Change.SAME:
        # Neither within the runs nor between them is known what chance may do.
        return replace(told, verdict=Change.UNCLEAR)
    more = more_runs_needed(*runs, change, interval, same_within=floor) if found is Change.UNCLEAR else None
    return replace(told, verdict=found, interval=interval if ratio is not None else None, more_runs=more)


def _change(source: MetricReader[Part], first: _Known, other: _Known) -> tuple[float | None, Interval | None]:
    """The difference, of shares in their unit, else as a share of the first, and its interval; None where there is no ratio."""
    least = by_chance(_together(first.errors), _together(other.errors))
    pairs = _pairs(first, other)
    before, after, turns = pairs or (first.values, other.values, ())
    if source.share:
        apart = difference_of_medians(before, after, least=least, turns=turns)
        return apart.difference, apart.interval
    if min(*before, *after) <= 0:
        return None, None
    found = ratio_of_medians(before, after, least=least, turns=turns)
    return found.change, found.change_interval


def _pairs(first: _Known, other: _Known) -> tuple[Sequence[float], Sequence[float], Sequence[int]] | None:
    """The figures of two arms that took turns, A B B A ..., pair by pair in the order of time, and 1 for each pair in which the
    first arm was first, else -1. None where they did not.

    As often as one of the two is first the other has to be, but for one pair: else a drift would be taken for a difference.
    """
    runs = [(at, 0, value) for at, value in zip(first.times, first.values, strict=True)]
    runs = sorted(runs + [(at, 1, value) for at, value in zip(other.times, other.values, strict=True)])
    pairs = list(zip(runs[::2], runs[1::2], strict=False))
    if len(first.values) != len(other.values) or len(pairs) < LEAST_PAIRS:
        return None
    if any(one[1] == two[1] for one, two in pairs) or abs(2 * sum(one[1] for one, _ in pairs) - len(pairs)) > 1:
        return None
    ordered = [sorted(pair, key=lambda run: run[1]) for pair in pairs]
    turns = [-1 if one[1] else 1 for one, _ in pairs]
    return [one[2] for one, _ in ordered], [two[2] for _, two in ordered], turns


def _distance(source: MetricReader[Part], first: _Known, other: _Known) -> float:
    """The difference, of shares in their unit, else as a share of the mean of the two: so it counts the same both ways."""
    base, value = first.value or 0.0, other.value or 0.0
    apart = abs(value - base)
    return apart if source.share or not apart else apart / ((base + value) / 2)


def _together(errors: Sequence[Error]) -> Error:
    """The error of the mean of figures by that of each, which as repeats of one measurement count as equally uncertain."""
    squared = sum(error.squared for error in errors)
    return Error(squared / len(errors) ** 2, sum(error.degrees for error in errors))


def _is_average(source: MetricReader[Part]) -> bool:
    return source.metric not in _TAILS


_TAILS = {
    Measure.LATENCY_P99: NOISE_OF_TAIL,
    Measure.LATENCY_P99_9: NOISE_OF_TAIL,
    Measure.LATENCY_MAX: NOISE_OF_MAXIMUM,
    Measure.SYNC_P99: NOISE_OF_TAIL,
    Measure.SYNC_P99_9: NOISE_OF_TAIL,
    Measure.SYNC_MAX: NOISE_OF_MAXIMUM,
}


def _floor(source: MetricReader[Part]) -> float:
    return NOISE_OF_SHARE if source.share else _TAILS.get(source.metric, NOISE)


def _error(
    source: MetricReader[Part], intervals: Sequence[Sample], value: float, ios: int | None, *, alone: bool
) -> Error:
    """What chance may do to a figure, as far as its intervals tell.

    Many intervals make an average surer. The tail of a run `alone` is what its worst interval was, however many there are; of
    several runs it is known how far they are apart, and each is taken by its halves. A share of `ios` in a run alone is no surer
    than as many throws of a coin.
    """
    found = figures(intervals, source.of_sample)
    if not alone and len(found) >= LEAST_INTERVALS:
        return of_halves(found, share=source.share)
    spread = standard_deviation(found) if source.share else variation(found)
    error = Error() if spread is None else (of_average if _is_average(source) else of_one)(found, spread)
    if source.share and ios:
        return max(error, of_share(value, ios), key=lambda each: each.squared)
    return error


def leading(records: Sequence[TestRecord], *, about_latency: bool = False) -> Measure:
    """What a test is judged by first: IOPS, which at one block size is bandwidth too; with ioping, and in a run that is for a
    latency, the latency.

    A log that syncs each write is judged by how long that takes, where every run tells it.
    """
    if records and records[0].engine is EngineName.IOPING:
        return Measure.LATENCY_MEAN
    told = [record for record in records if record.result]
    if told and all(_synced(record) for record in told):
        return Measure.SYNC_MEAN
    return Measure.LATENCY_MEAN if about_latency else Measure.IOPS


def _synced(record: TestRecord) -> bool:
    sync = record.result.sync if record.result else None
    return sync is not None and sync.mean is not None and record.planned.load.synced


def syncs(record: TestRecord) -> int | None:
    """About how many syncs a fio test did, by its writes; None where its jobs do not all sync after as many."""
    if record.result is None or record.result.write is None or record.engine is not EngineName.FIO:
        return None
    after = {max(job.fsync, job.fdatasync) for job in record.planned.load.fio if not job.reads_only}
    every = after.pop() if len(after) == 1 else 0
    return record.result.write.ios // every if every else None
