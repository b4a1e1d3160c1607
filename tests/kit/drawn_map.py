"""Read/write maps of disks whose limits are known, without a disk: the search asks, a function answers."""

from collections import Counter
from collections.abc import Callable

from handmade import direction, fio, latency, run
from msgspec.structs import replace

from diskprof.analysis.map_search import next_cell
from diskprof.model.limit import Trial
from diskprof.model.read_write_map import CellOutcome, MapRule
from diskprof.model.run import JobResult, Run, Status
from diskprof.presets.map_cells import map_cell_name, map_cell_title

IOPS, BANDWIDTH = 2000.0, 20e6
Disk = Callable[[float, float], tuple[float, float]]
"""The reads and the bytes written a second that are done of those that are asked."""


def rectangle(reads: float, written: float) -> tuple[float, float]:
    """A limit for reads, and another one for writes."""
    return min(reads, IOPS), min(written, BANDWIDTH)


def triangle(reads: float, written: float) -> tuple[float, float]:
    """One limit for both: each gets its part of what there is."""
    share = min(1.0, 1 / max(1e-9, reads / IOPS + written / BANDWIDTH))
    return reads * share, written * share


def cell(rule: MapRule, trial: Trial, disk: Disk) -> CellOutcome:
    """What `disk` makes of a cell; its latency rises with what is done."""
    reads, written = disk(
        1e9 if trial.rate is None else trial.rate, 1e15 if trial.written is None else float(trial.written)
    )
    if trial.written is None:
        reads, written = disk(0, 1e15)
    p99 = 1e6 * (1 + 4 * reads / IOPS + 8 * written / BANDWIDTH)
    return CellOutcome(trial, reads, written, p99 / 4 if trial.rate != 0 else None, p99 if trial.rate != 0 else None)


def outcomes_of(rule: MapRule, disk: Disk, most: int = 1000) -> list[CellOutcome]:
    """The cells one after the other, at most so many."""
    found = list(rule.known)
    spent = 0.0
    while len(found) - len(rule.known) < most and (trial := next_cell(rule, found, spent)):
        found.append(cell(rule, trial, disk))
        spent += rule.seconds(trial)
    return found[len(rule.known) :]


def drawn(
    disk: Disk = triangle, rule: MapRule | None = None, *, most: int = 1000, status: Status = Status.COMPLETE
) -> Run:
    """A run that drew the map of `disk`, or began to; one that is not complete ends in the midst of a cell."""
    rule = rule or MapRule(4, 4)
    given = []
    outcomes = outcomes_of(rule, disk, most)
    times = Counter[Trial]()
    for at, each in enumerate(outcomes):
        times[each.trial] += 1
        over = status is Status.COMPLETE or at < len(outcomes) - 1
        read = (
            direction(each.reads, seconds=3, figures=latency(each.p50 or 0, p50=each.p50 or 0, p99=each.p99 or 0))
            if each.reads and each.p50
            else None
        )
        write = direction(each.written / 131072, seconds=3, block=131072) if each.written else None
        test = fio(
            map_cell_name(each.trial, times[each.trial]),
            read=read if over else None,
            write=write if over else None,
            runtime_s=3,
        )
        planned = replace(test.planned, trial=each.trial, title=map_cell_title(each.trial, times[each.trial]))
        result = test.result
        if result and result.read and result.write:
            # As of two jobs beside each other.
            jobs = (JobResult(read=result.read, name="reads"), JobResult(write=result.write, name="writes"))
            result = replace(result, jobs=jobs)
        given.append(replace(test, planned=planned, result=result, status=Status.COMPLETE if over else status))
    made = run(*given, status=status)
    return replace(made, plan=replace(made.plan, read_write_map=rule))
