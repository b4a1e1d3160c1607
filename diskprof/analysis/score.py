"""The headline figures of a run, each against the best earlier run of the same test on the same disk, and its promise."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from diskprof.analysis.comparison import leading
from diskprof.analysis.expectations import judge
from diskprof.analysis.metrics import Better, Measure
from diskprof.model.earlier import EarlierResult
from diskprof.model.expectation import Judgement
from diskprof.model.metric import Quantity
from diskprof.model.run import DirectionResult, Run, Status, TestRecord
from diskprof.model.sample import Direction

LARGE_BLOCK = 128 << 10
"""From this mean block size in bytes on, a test's figure is MB/s and not IOPS."""

MOST = 6
"""A scorecard has no more figures."""


class BestRun(Struct, frozen=True):
    """The best figure of the earlier runs, and which of them has it."""

    value: float
    run_id: str
    started_at: datetime


class Score(Struct, frozen=True):
    """A headline figure: `value` of `measure`, IOPS or bytes per second, or ns of a test that is judged by its latency.

    `best` is None for the first run of this test. `promise` is what was promised of this very figure.
    """

    test: TestRecord
    direction: Direction
    measure: Measure
    value: float
    best: BestRun | None = None
    promise: Judgement | None = None

    @property
    def better(self) -> Better:
        return Better.HIGHER if self.measure in (Measure.IOPS, Measure.BANDWIDTH) else Better.LOWER

    @property
    def of_best(self) -> float | None:
        """Its share of the best, 1 for as good, above for better; of latencies the inverse. None without a best."""
        if self.best is None or not self.best.value or not self.value:
            return None
        share = self.value / self.best.value
        return share if self.better is Better.HIGHER else 1 / share


def scores(run: Run, earlier: Sequence[EarlierResult] = ()) -> tuple[Score, ...]:
    """At most `MOST` figures: reads first, random before sequential; none of a sweep, whose result is its grid."""
    found = [
        (record, direction, result)
        for record in run.apart
        if record.status is Status.COMPLETE and record.result and not record.planned.one_of_many
        for direction, result in record.result.directions
    ]
    if len(found) > MOST:
        found = _headlines(found)
    ordered = sorted(found, key=lambda each: (list(Direction).index(each[1]), not each[0].planned.load.random))
    judgements = judge(run)
    scored = (_score(*part, earlier, judgements, about_latency=run.plan.about_latency) for part in ordered)
    return tuple(score for score in scored if score)[:MOST]


def trend(score: Score, earlier: Sequence[EarlierResult]) -> tuple[float, ...]:
    """The figure in the earlier runs, the oldest first, and then in this one."""
    before = [
        value
        for one in earlier
        if (one.test, one.direction) == (score.test.name, score.direction)
        and (value := earlier_value(one, score.measure)) is not None
    ]
    return (*reversed(before), score.value)


_Part = tuple[TestRecord, Direction, DirectionResult]


def _headlines(parts: Sequence[_Part]) -> list[_Part]:
    """Of each kind and direction the smallest and the largest queue depth, of sequential I/O the most bandwidth."""
    kept: list[_Part] = []
    for direction in Direction:
        mine = [part for part in parts if part[1] is direction]
        random = [part for part in mine if part[0].planned.load.random]
        streams = [part for part in mine if part not in random]
        if random:
            by_depth = sorted(random, key=lambda part: part[0].planned.load.depth)
            kept += by_depth[:1] if len(by_depth) == 1 else (by_depth[0], by_depth[-1])
        if streams:
            kept.append(max(streams, key=lambda part: part[2].bandwidth_bytes_per_s))
    return kept


def measure_of(record: TestRecord, result: DirectionResult, *, about_latency: bool) -> Measure:
    """What a test is judged by first, in one direction: of large blocks bandwidth; in a run that is for a latency, that."""
    first = leading((record,), about_latency=about_latency)
    large = result.ios and result.bytes / result.ios >= LARGE_BLOCK
    return Measure.BANDWIDTH if first is Measure.IOPS and large else first


def figures_of(run: Run) -> tuple[tuple[TestRecord, Direction, Measure], ...]:
    """What each complete test of a run is judged by first, in each direction, in the order of the plan."""
    return tuple(
        (record, direction, measure_in(record, direction, result, about_latency=run.plan.about_latency))
        for record in run.tests
        if record.status is Status.COMPLETE and record.result
        for direction, result in record.result.directions
    )


def measure_in(record: TestRecord, direction: Direction, result: DirectionResult, *, about_latency: bool) -> Measure:
    """As `measure_of`; the time of its fsyncs says nothing of reads."""
    measure = measure_of(record, result, about_latency=about_latency)
    return Measure.IOPS if measure is Measure.SYNC_MEAN and direction is Direction.READ else measure


def _score(
    record: TestRecord,
    direction: Direction,
    result: DirectionResult,
    earlier: Sequence[EarlierResult],
    judgements: Sequence[Judgement],
    *,
    about_latency: bool,
) -> Score | None:
    measure = measure_in(record, direction, result, about_latency=about_latency)
    value = value_of(record, result, measure)
    if value is None:
        return None
    score = Score(record, direction, measure, value)
    known = [
        BestRun(each, one.run_id, one.started_at)
        for one in earlier
        if (one.test, one.direction) == (record.name, direction) and (each := earlier_value(one, measure)) is not None
    ]
    pick = max if score.better is Better.HIGHER else min
    best = pick(known, key=lambda one: one.value) if known else None
    return Score(record, direction, measure, value, best, _promise(score, judgements))


def value_of(record: TestRecord, result: DirectionResult, measure: Measure) -> float | None:
    match measure:
        case Measure.IOPS:
            return result.iops
        case Measure.BANDWIDTH:
            return result.bandwidth_bytes_per_s
        case Measure.SYNC_MEAN:
            return record.result.sync.mean if record.result and record.result.sync else None
        case _:
            return result.latency.mean


def earlier_value(one: EarlierResult, measure: Measure) -> float | None:
    """The figure of an earlier run by which a test is judged; None where it has none."""
    match measure:
        case Measure.IOPS:
            return one.iops
        case Measure.BANDWIDTH:
            return one.bandwidth_bytes_per_s
        case Measure.SYNC_MEAN:
            return one.sync_mean_ns
        case _:
            return one.latency_mean_ns


_QUANTITIES = {Measure.IOPS: Quantity.IOPS, Measure.BANDWIDTH: Quantity.BANDWIDTH}


def _promise(score: Score, judgements: Sequence[Judgement]) -> Judgement | None:
    """What was promised of this rate; none of a latency, whose promise may be of any percentile."""
    wanted = _QUANTITIES.get(score.measure)
    ways = score.test.result.directions if score.test.result else ()
    for each in judgements:
        metric, test = each.expectation.metric, each.expectation.test
        same_way = metric.direction is score.direction or (metric.direction is None and len(ways) == 1)
        if test in ("", score.test.name) and metric.quantity is wanted and same_way:
            return each
    return None
