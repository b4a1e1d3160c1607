"""The cells of a read/write map: which are measured, in which order, and what they draw."""

from collections import Counter
from itertools import count

import pytest
from drawn_map import BANDWIDTH, IOPS, cell, drawn, outcomes_of, rectangle, triangle
from msgspec.structs import replace

from diskprof.analysis.map_found import CellState, cells_of, found_map
from diskprof.analysis.map_search import Axes, axes_of, next_cell, reached, tried_of
from diskprof.model.limit import Trial, TrialKind
from diskprof.model.read_write_map import CellOutcome, MapRule
from diskprof.model.run import Status

RULE = MapRule()


def test_both_ends_come_first_and_give_the_axes() -> None:
    first, second, *_ = outcomes_of(RULE, rectangle)
    assert (first.trial, second.trial) == (RULE.all_writes, RULE.all_reads)
    axes = axes_of(RULE, [first, second])
    assert axes == Axes(tuple(250 * at for at in range(1, 9)), tuple(2_500_000 * at for at in range(9)))
    assert axes_of(RULE, [first]) is None and axes_of(RULE, [first, replace(second, reads=0.0)]) is None


def test_a_volume_of_two_limits_is_a_rectangle_every_cell_of_which_is_reached() -> None:
    made = found_map(drawn(rectangle, RULE))
    assert made and made.axes and made.complete and not made.failed
    assert len(made.cells) == 8 * 9 and [made.edge(y) for y in range(9)] == [8] * 9
    # All of them fit into their time.
    assert len(outcomes_of(RULE, rectangle)) == RULE.cells == 74


def test_one_limit_for_both_is_a_triangle_and_what_lies_beyond_its_edge_is_skipped() -> None:
    made = found_map(drawn(triangle, RULE))
    assert made and made.axes and made.complete
    for y in range(9):
        # r / 8 + y / 8 <= 1, but for a cell: chance, and 10%, are let pass.
        assert made.edge(y) in (max(0, 8 - y), max(0, 9 - y))
    states = [made.state((x, y)) for x in range(8) for y in range(9)]
    assert states.count(CellState.NOT_REACHED) <= 16 and states.count(CellState.OPEN) == 0
    assert len(made.cells) < 55 and states.count(CellState.SKIPPED) > 20
    assert made.most_written(7) == 0 and made.most_written(3) in (4, 5)


@pytest.mark.parametrize("most", [2, 3, 10, 30])
def test_wherever_a_map_ends_it_goes_on_without_measuring_a_cell_twice(most: int) -> None:
    begun = outcomes_of(RULE, triangle, most)
    rest = outcomes_of(replace(RULE, known=tuple(begun)), triangle)
    whole = outcomes_of(RULE, triangle)
    assert [*begun, *rest] == whole
    twice = [trial for trial, times in Counter(each.trial for each in whole).items() if times > 1]
    assert all(not reached(RULE, each) for each in whole if each.trial in twice)


def test_what_a_short_time_measures_is_spread_over_the_map() -> None:
    begun = outcomes_of(replace(RULE, most_s=40.0), rectangle)
    axes = axes_of(RULE, begun)
    assert axes and [axes.place(each.trial) for each in begun[2:8]] == [(3, 0), (7, 0), (3, 4), (7, 4), (3, 8), (7, 8)]
    assert sum(RULE.seconds(each.trial) for each in begun) <= 40
    assert next_cell(RULE, begun, 359.0) is None


def test_chance_alone_does_not_part_a_cell_from_those_reached() -> None:
    few = Trial(64, 20, TrialKind.CELL)
    # 50 of 70 reads.
    assert reached(RULE, CellOutcome(few, 14.3, 0.0)) and not reached(RULE, CellOutcome(few, 9.0, 0.0))
    many = Trial(64, 20_000, TrialKind.CELL, 1000)
    assert reached(RULE, CellOutcome(many, 18_000, 901.0))
    assert not reached(RULE, CellOutcome(many, 17_700, 1000.0)) and not reached(RULE, CellOutcome(many, 20_000, 890.0))


def test_a_slow_disk_has_fewer_rates() -> None:
    slow = [CellOutcome(RULE.all_writes, 0, 0.0), CellOutcome(RULE.all_reads, 3.2, 0.0, 1e8, 2e8)]
    assert axes_of(RULE, slow) == Axes((1, 2, 3), (0,))


def test_a_run_that_was_stopped_has_what_it_measured() -> None:
    made = drawn(triangle, RULE, most=9, status=Status.CANCELLED)
    found = found_map(made)
    assert found and not found.complete and len(found.cells) == 5
    assert len(cells_of(made)) == 8 and (found.reads, found.written) == (IOPS, pytest.approx(BANDWIDTH))
    assert found.state((0, 8)) is CellState.OPEN
    first = found_map(drawn(triangle, RULE, most=2, status=Status.CANCELLED))
    assert first and first.axes is None and first.cells == {} and not first.complete


def test_cells_of_the_run_before_count_as_its_own() -> None:
    begun = tuple(outcomes_of(RULE, triangle, 20))
    rest = drawn(triangle, replace(RULE, known=begun))
    found = found_map(rest)
    assert found and found.complete and found.cells == {**(found_map(drawn(triangle, RULE)) or found).cells}
    assert cell(RULE, begun[-1].trial, triangle) == begun[-1]


def test_a_cell_that_something_held_back_once_costs_no_other() -> None:
    """As on a volume of two limits, of which a neighbour took some for the time of a cell."""
    held, calls = {3, 5, 12, 30}, count()

    def disturbed(reads: float, written: float) -> tuple[float, float]:
        share = 0.7 if next(calls) in held else 1.0
        return share * min(reads, IOPS), share * min(written, BANDWIDTH)

    made = found_map(drawn(disturbed, RULE))
    assert made and made.complete and not made.failed and len(made.cells) == 72


def test_a_cell_below_one_that_was_reached_is_not_beyond_the_edge() -> None:
    axes = Axes((250, 500), (0, 100))
    low, high = Trial(64, 250, TrialKind.CELL, 100), Trial(64, 500, TrialKind.CELL, 100)
    found = tried_of(RULE, axes, [CellOutcome(high, 500, 100), CellOutcome(low, 100, 100)])
    assert (found.reached, found.failed, found.again) == (((1, 1), (0, 1)), (), ())
