"""The statistics, against the standard library's and against the slow and plain way."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.analysis.statistics import (
    change_point,
    mean,
    median,
    share_near,
    standard_deviation,
    steady_state,
    variation,
)

NUMBERS = st.lists(st.floats(0, 1e6), min_size=2, max_size=40)


@given(NUMBERS)
def test_mean_median_and_deviation_are_those_of_the_standard_library(values: list[float]) -> None:
    assert mean(values) == pytest.approx(statistics.fmean(values))
    assert median(values) == pytest.approx(statistics.median(values))
    assert standard_deviation(values) == pytest.approx(statistics.stdev(values), abs=1e-3)


def test_of_too_little_there_is_no_figure() -> None:
    assert mean([]) is None
    assert median([]) is None
    assert standard_deviation([3.0]) is None
    assert variation([5.0]) is None
    assert variation([0.0, 0.0]) is None
    assert steady_state([0.0, 1.0], [1.0, 2.0]) is None
    assert steady_state([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None
    assert steady_state([0.0, 1.0, 2.0], [0.0, 0.0, 0.0]) is None
    assert change_point([1.0] * 7, shortest=4) is None
    assert change_point([1.0] * 8, shortest=4) is None


def test_the_share_near_a_level_counts_both_sides_and_the_edge() -> None:
    assert share_near([95.0, 105.0, 94.0, 106.0], 100.0, 0.05) == 0.5
    assert share_near([], 100.0, 0.05) == 0.0


def test_variation_is_the_deviation_as_a_share_of_the_mean() -> None:
    assert variation([90.0, 110.0]) == pytest.approx(math.sqrt(200) / 100)


def test_a_straight_line_is_found_whole() -> None:
    line = steady_state([0.0, 1.0, 2.0, 3.0], [10.0, 12.0, 14.0, 16.0])
    assert line is not None
    assert line.drift == pytest.approx(6 / 13)
    assert line.trended == pytest.approx(1)


def test_a_constant_has_no_trend() -> None:
    line = steady_state([0.0, 1.0, 2.0], [5.0, 5.0, 5.0])
    assert line is not None
    assert (line.drift, line.trended) == (0.0, 0.0)


def test_a_trend_wants_a_y_for_every_x() -> None:
    with pytest.raises(ValueError, match="same number"):
        steady_state([1.0, 2.0, 3.0], [1.0])


def test_steady_state_tells_drift_and_deviation_as_shares_of_the_mean() -> None:
    state = steady_state([0.0, 1.0, 2.0], [90.0, 100.0, 110.0])
    assert state is not None
    assert state.drift == pytest.approx(0.2)
    assert state.deviation == pytest.approx(0.1)
    assert state.trended == pytest.approx(1)


@given(st.lists(st.floats(0, 1000), min_size=8, max_size=30), st.integers(1, 4))
def test_the_change_point_is_the_split_with_the_least_squared_error(values: list[float], shortest: int) -> None:
    def error(part: list[float]) -> float:
        return sum((value - statistics.fmean(part)) ** 2 for value in part)

    splits = {
        index: error(values[:index]) + error(values[index:]) for index in range(shortest, len(values) - shortest + 1)
    }
    whole, found = error(values), change_point(values, shortest)
    if found is None:
        assert whole == pytest.approx(0, abs=1e-6)
        return
    assert splits[found.index] <= min(splits.values()) + 1e-6 * (1 + whole)
    assert found.explained == pytest.approx(1 - min(splits.values()) / whole, abs=1e-6)


def test_a_change_of_level_is_found_where_it_is() -> None:
    found = change_point([100.0, 101.0, 99.0, 100.0] * 3 + [50.0, 51.0, 49.0, 50.0] * 4)
    assert found is not None
    assert found.index == 12
    assert found.explained > 0.99
