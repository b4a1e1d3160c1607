"""The load curve: latency over load, from a tenth of the highest load that a search found to somewhat beyond it."""

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from diskprof.analysis.limit_search import Bracket
from diskprof.model.limit import LimitRule, Trial, TrialKind
from diskprof.model.run import Latency, Run, Status, TestRecord, TestResult

FROM, TO = 0.1, 1.1
"""Of the highest load that was found."""

DOUBLE = 2.0
"""The knee is where the p99 is so many times that of little load."""

LITTLE_LOAD = 3
"""The lowest loads, whose p99 in the middle is that of little load."""


class LoadPoint(Struct, frozen=True):
    """One load: `asked` I/Os a second, `done` ones, and their latency in ns, which is that of the direction that is promised.

    `in_flight` is how many I/Os were so on average: by Little's law the rate times the mean latency.
    """

    test: TestRecord
    asked: int
    done: float
    latency: Latency
    in_flight: float


class Knee(Struct, frozen=True):
    """Between the load `below`, the last whose p99 was not twice `little_ns`, that of little load, and `above`."""

    below: LoadPoint
    above: LoadPoint
    little_ns: float


class FullQueue(Struct, frozen=True):
    """A trial at a set depth: by Little's law its rate times its mean latency is that depth."""

    depth: int
    in_flight: float


class LoadCurve(Struct, frozen=True):
    """`points` from the lowest load on; `knee` is None where there is none (yet)."""

    points: tuple[LoadPoint, ...]
    knee: Knee | None
    queues: tuple[FullQueue, ...]


def curve_loads(rule: LimitRule, bracket: Bracket) -> tuple[Trial, ...]:
    """The loads of the curve, from the lowest on: by the highest that kept the promise, or, where none did, by the most done."""
    highest = bracket.kept.done if bracket.kept else max((level.done for level in bracket.levels), default=0.0)
    if not rule.curve or highest < 1:
        return ()
    step = (TO - FROM) / (rule.curve - 1)
    rates = dict.fromkeys(max(1, round(highest * (FROM + step * at))) for at in range(rule.curve))
    return tuple(Trial(rule.depth, rate, kind=TrialKind.CURVE) for rate in rates)


def found_curve(run: Run) -> LoadCurve | None:
    """None of a run without one, and before its first load is complete."""
    rule = run.plan.limit
    if rule is None:
        return None
    points, queues = list[LoadPoint](), list[FullQueue]()
    for test in run.tests:
        trial, result = test.planned.trial, test.result
        if trial is None or result is None or test.status is not Status.COMPLETE:
            continue
        if trial.kind is TrialKind.CURVE and trial.rate is not None and (latency := _latency(rule, result)):
            points.append(LoadPoint(test, trial.rate, _done(result), latency, _in_flight(result)))
        elif trial.kind is not TrialKind.CURVE and trial.rate is None:
            queues.append(FullQueue(trial.depth, _in_flight(result)))
    points.sort(key=lambda point: point.asked)
    return LoadCurve(tuple(points), knee_of(points), tuple(queues)) if points else None


def knee_of(points: Sequence[LoadPoint]) -> Knee | None:
    """Where the p99 has doubled for good: from `above` on it is twice that of little load at every point."""
    known = [(point, point.latency.p99) for point in points if point.latency.p99 is not None]
    if len(known) <= LITTLE_LOAD:
        return None
    little = median(p99 for _, p99 in known[:LITTLE_LOAD])
    slow = [p99 >= DOUBLE * little for _, p99 in known]
    first = next((at for at in range(1, len(slow)) if all(slow[at:])), None)
    return None if first is None else Knee(known[first - 1][0], known[first][0], little)


def _latency(rule: LimitRule, result: TestResult) -> Latency | None:
    direction = rule.promises[0].metric.direction
    part = result.direction(direction) if direction else None
    return part.latency.shown if part else None


def _done(result: TestResult) -> float:
    return sum(part.iops for _, part in result.directions)


def _in_flight(result: TestResult) -> float:
    return sum(part.iops * (part.latency.shown.mean or 0.0) / 1e9 for _, part in result.directions)
