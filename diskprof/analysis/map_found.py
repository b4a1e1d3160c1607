"""What a run has found that draws a read/write map, read off its cells."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from diskprof.analysis.map_search import Axes, Place, axes_of, is_beyond, next_cell, reached, tried_of
from diskprof.model.limit import Trial
from diskprof.model.read_write_map import CellOutcome, MapRule
from diskprof.model.run import Run, Status, TestRecord, TestResult


class CellState(StrEnum):
    """SKIPPED: it asks for more than one that was NOT_REACHED. OPEN: not measured (yet)."""

    REACHED = "reached"
    NOT_REACHED = "not reached"
    SKIPPED = "skipped"
    OPEN = "not measured"


class FoundMap(Struct, frozen=True):
    """A map so far; `axes` is None before both ends are known.

    `cells` are those that were measured, of one that was measured twice where it was reached; `failed` those that were not
    reached. `complete`: no cell is open. `reads` and `written` are the most of each alone, None where not known.
    """

    rule: MapRule
    axes: Axes | None
    cells: Mapping[Place, CellOutcome]
    failed: tuple[Place, ...]
    complete: bool
    reads: float | None
    written: float | None

    def state(self, place: Place) -> CellState:
        if place in self.failed:
            return CellState.NOT_REACHED
        if place in self.cells:
            return CellState.REACHED
        return CellState.SKIPPED if is_beyond(place, self.failed) else CellState.OPEN

    def edge(self, y: int) -> int:
        """How many of the read rates, from the lowest on, were reached while `y` was written, up to the first that was not."""
        count = len(self.axes.reads) if self.axes else 0
        states = [self.state((x, y)) for x in range(count)]
        known = [x for x, state in enumerate(states) if state is CellState.REACHED]
        return max(known, default=-1) + 1

    def most_written(self, x: int) -> int | None:
        """The number of the highest written rate beside which the read rate `x` was reached; None where it was beside none."""
        count = len(self.axes.writes) if self.axes else 0
        return max((y for y in range(count) if self.state((x, y)) is CellState.REACHED), default=None)


def cell_outcome(trial: Trial, result: TestResult | None) -> CellOutcome:
    """What a cell that is complete came to."""
    read, write = (result.read, result.write) if result else (None, None)
    latency = read.latency.shown if read else None
    return CellOutcome(
        trial,
        read.iops if read else 0.0,
        write.bandwidth_bytes_per_s if write else 0.0,
        latency.p50 if latency else None,
        latency.p99 if latency else None,
    )


def cells_of(run: Run) -> tuple[CellOutcome, ...]:
    """Every cell that is known: of earlier runs, and those that this one completed."""
    rule = run.plan.read_write_map
    known = rule.known if rule else ()
    return (*known, *(cell_outcome(test.planned.trial, test.result) for test in cell_tests(run) if test.planned.trial))


def cell_tests(run: Run) -> list[TestRecord]:
    """The tests of a run that are complete cells."""
    return [test for test in run.tests if test.planned.trial and test.status is Status.COMPLETE and test.result]


def found_map(run: Run) -> FoundMap | None:
    """None of a run that draws no map."""
    rule = run.plan.read_write_map
    if rule is None:
        return None
    outcomes = cells_of(run)
    axes = axes_of(rule, outcomes)
    cells = dict[Place, CellOutcome]()
    for each in outcomes:
        place = axes.place(each.trial) if axes else None
        if place is not None and not (place in cells and reached(rule, cells[place])):
            cells[place] = each
    return FoundMap(
        rule,
        axes,
        cells,
        tried_of(rule, axes, outcomes).failed if axes else (),
        axes is not None and next_cell(rule, outcomes, 0.0) is None,
        next((each.reads for each in outcomes if each.trial.rate is None), None),
        next((each.written for each in outcomes if each.trial.written is None), None),
    )
