"""Values over time: memory has a bound, and what is merged still says the truth."""

from itertools import pairwise

import pytest

from diskprof.reports.charts.timeline import Merging, Slopes, Timeline


def filled(count: int, merging: Merging = Merging.MEAN, *, limit: int = 64) -> Timeline:
    line = Timeline(merging, limit=limit)
    for at in range(count):
        line.add(at * 0.25, (at + 1) * 0.25, float(at % 10))
    return line


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, 86_400])
def test_holds_a_bounded_number_of_spans(count: int) -> None:
    assert len(filled(count)) <= 64


@pytest.mark.parametrize("count", [64, 65, 129, 1000, 5003])
def test_merging_loses_no_time_and_no_amount(count: int) -> None:
    spans = filled(count).spans
    assert spans[0].start == 0
    assert spans[-1].end == pytest.approx(count * 0.25)
    assert all(before.end == pytest.approx(after.start) for before, after in pairwise(spans))
    amount = sum(span.value * (span.end - span.start) for span in spans)
    assert amount == pytest.approx(sum(at % 10 for at in range(count)) * 0.25)


def test_the_worst_is_kept_where_it_matters() -> None:
    line = Timeline(Merging.MAX, limit=8)
    for at in range(1000):
        line.add(at, at + 1, 99.0 if at == 500 else 1.0)
    assert line.highest == 99.0
    assert max(value for value in line.columns(20, 1000) if value is not None) == 99.0


def test_the_last_value_is_the_newest_and_not_a_mean() -> None:
    line = filled(1003)
    line.add(250.75, 251.0, 777.0)
    assert line.last == 777.0


def test_columns_are_means_over_time_and_none_where_nothing_is() -> None:
    line = Timeline()
    line.add(0, 1, 10)
    line.add(1, 2, 30)
    line.add(4, 5, 50)
    assert line.columns(5, 5) == [10, 30, None, None, 50]
    assert line.columns(1, 2) == [20]
    assert line.columns(2, 10) == [pytest.approx(30), None]


def test_columns_that_are_asked_for_again_hold_what_came_since() -> None:
    line = Timeline(limit=16)
    grown = []
    for at in range(40):
        line.add(at, at + 1, float(at))
        grown.append(line.columns(40, 40))
    fresh = Timeline(limit=16)
    for at in range(40):
        fresh.add(at, at + 1, float(at))
    assert grown[-1] == fresh.columns(40, 40)
    assert line.columns(0, 5) == []
    assert line.columns(3, 0) == [None, None, None]


def test_nothing_is_nothing() -> None:
    line = Timeline()
    assert not line
    assert line.last is None
    assert line.highest == 0
    assert line.columns(3, 10) == [None, None, None]


def test_a_value_at_the_very_end_falls_into_the_last_column() -> None:
    line = Timeline()
    line.add(9.5, 10.0, 1)
    line.add(10.0, 10.5, 2)
    assert line.columns(10, 10) == [*[None] * 9, 1]


def test_slopes_are_straight_between_the_values_that_are_there() -> None:
    assert Slopes([1.0, 3.0]).columns(5, 1.0) == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert Slopes([1.0, None, 5.0]).columns(5, 2.0) == [1.0, None, None, 5.0, 5.0]
    assert Slopes([]).columns(2, 1.0) == [None, None]
    assert Slopes([2.0]).columns(3, 0.0) == [2.0, 2.0, 2.0] and Slopes([2.0, 7.0]).highest == 7.0
