"""What a search measured as a history has it: what it found, as if one test had measured that. Its trials are at loads of
their own, which no two searches share."""

from collections.abc import Iterable
from statistics import fmean

from msgspec import Struct

from diskprof.analysis.limit_found import found_limit
from diskprof.analysis.map_found import FoundMap, found_map
from diskprof.analysis.metrics import Measure
from diskprof.model.earlier import EarlierResult
from diskprof.model.limit import promises_words
from diskprof.model.plan import Plan
from diskprof.model.run import Run
from diskprof.model.sample import Direction

LIMIT, ALL_READS, ALL_WRITES = "limit", "all-reads", "all-writes"
"""The names of such tests."""

NOTHING_KEPT = 0.0
"""The IOPS of a search in which no load kept what was promised: it has no limit, and so no point in a history."""


class JudgedFigure(Struct, frozen=True):
    """A figure by which runs are judged: that of a test, in one direction."""

    test: str
    title: str
    direction: Direction
    measure: Measure


def searches(plan: Plan) -> bool:
    """Whether the result of its runs is what they found, and not that of each test."""
    return plan.search is not None


def search_figures(plan: Plan) -> tuple[JudgedFigure, ...]:
    """Of a limit the IOPS that kept what was promised, of each direction that its load has; of a map the most reads and writes."""
    if plan.read_write_map:
        return (
            JudgedFigure(ALL_READS, "Map: all reads", Direction.READ, Measure.IOPS),
            JudgedFigure(ALL_WRITES, "Map: all writes", Direction.WRITE, Measure.BANDWIDTH),
        )
    if plan.limit is None:
        return ()
    title = f"Limit ({promises_words(plan.limit)})"
    return tuple(JudgedFigure(LIMIT, title, direction, Measure.IOPS) for direction in _directions(plan))


def search_results(runs: Iterable[Run]) -> tuple[EarlierResult, ...]:
    """What each of these runs found, in their order; of a run that searched for nothing nothing.

    A map that continues one of them tells nothing: its ends are those that the other measured.
    """
    results = list[EarlierResult]()
    ends = set[tuple[float | None, float | None]]()
    for run in runs:
        results += _limit(run)
        if found := found_map(run):
            here = (found.reads, found.written)
            if not (found.rule.known and here in ends):
                results += _map(run, found)
            ends.add(here)
    return tuple(results)


def _map(run: Run, found: FoundMap) -> list[EarlierResult]:
    if found.reads is None or found.written is None:
        return []
    return [
        EarlierResult(run.id, run.started_at, ALL_READS, Direction.READ, found.reads, 0.0),
        EarlierResult(run.id, run.started_at, ALL_WRITES, Direction.WRITE, 0.0, found.written),
    ]


def _limit(run: Run) -> list[EarlierResult]:
    found = found_limit(run)
    if found is None:
        return []
    kept = found.bracket.kept
    results = [
        each.test.result for each in found.trials if kept and each.outcome.trial.load == kept.trial and each.test.result
    ]
    told = []
    for direction in _directions(run.plan):
        parts = [part for result in results if (part := result.direction(direction))]
        iops = fmean(part.iops for part in parts) if parts else NOTHING_KEPT
        bandwidth = fmean(part.bandwidth_bytes_per_s for part in parts) if parts else 0.0
        told.append(EarlierResult(run.id, run.started_at, LIMIT, direction, iops, bandwidth))
    return told


def keeping_nothing(plan: Plan, results: Iterable[EarlierResult]) -> tuple[str, ...]:
    """Of the results of searches like `plan` the runs in which nothing kept what was promised."""
    if plan.limit is None:
        return ()
    return tuple(dict.fromkeys(one.run_id for one in results if one.iops == NOTHING_KEPT))


def _directions(plan: Plan) -> tuple[Direction, ...]:
    found = {direction for job in plan.tests[0].load.fio for direction in job.directions}
    return tuple(direction for direction in Direction if direction in found)
