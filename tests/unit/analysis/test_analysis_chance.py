"""What chance does: held against values that are nothing but chance, and against the tables."""

import math
import random
from collections.abc import Callable

import pytest

from diskprof.analysis.chance import Error, by_chance, of_average, of_one, of_share
from diskprof.analysis.statistics import mean, standard_deviation

_TURNS = 4000


def _values(random_: random.Random, count: int, alike: float) -> list[float]:
    """Around 100; each value resembles the one before it by so much."""
    values = [random_.gauss(0, 1)]
    while len(values) < count:
        values.append(alike * values[-1] + math.sqrt(1 - alike**2) * random_.gauss(0, 1))
    return [100 + value for value in values]


def _error(values: list[float]) -> Error:
    deviation = standard_deviation(values)
    assert deviation is not None
    return of_average(values, deviation)


def _alarms(count: int, alike: float, noise: Callable[[list[float], list[float]], float]) -> float:
    """The share of pairs of equal values whose means lie further apart than `noise` says."""
    random_ = random.Random(7)
    found = 0
    for _ in range(_TURNS):
        one, other = _values(random_, count, alike), _values(random_, count, alike)
        first, second = mean(one), mean(other)
        assert first is not None and second is not None
        found += abs(first - second) > noise(one, other)
    return found / _TURNS


@pytest.mark.parametrize(("count", "alike"), [(4, 0.0), (8, 0.0), (60, 0.0), (20, 0.3), (60, 0.3), (240, 0.4)])
def test_of_equal_values_at_most_a_twentieth_is_told_apart(count: int, alike: float) -> None:
    # 0.007 is two standard errors of a twentieth of so many turns.
    assert _alarms(count, alike, lambda one, other: by_chance(_error(one), _error(other))) <= 0.05 + 0.007


def test_two_plain_standard_errors_would_cry_wolf() -> None:
    def plain(one: list[float], other: list[float]) -> float:
        found = [(standard_deviation(each) or 0) ** 2 / len(each) for each in (one, other)]
        return 2 * math.sqrt(sum(found))

    assert _alarms(4, 0.0, plain) > 0.08
    assert _alarms(60, 0.4, plain) > 0.15


def test_a_difference_that_is_there_is_seen() -> None:
    """Half a standard deviation between means of 240."""
    random_ = random.Random(7)
    one = _values(random_, 240, 0.0)
    other = [value + 0.5 for value in _values(random_, 240, 0.0)]
    assert by_chance(_error(one), _error(other)) < 0.25


@pytest.mark.parametrize(("degrees", "expected"), [(3, 3.182), (4, 2.776), (7, 2.365), (14, 2.145), (30, 2.042)])
def test_students_t_is_that_of_the_tables(degrees: int, expected: float) -> None:
    only = of_one([0.0] * (degrees + 1), 1.0)
    assert by_chance(only, Error()) == pytest.approx(expected, rel=0.01)


def test_where_nothing_is_known_chance_does_nothing() -> None:
    assert by_chance(Error(), Error()) == 0
    assert by_chance(of_average([5.0] * 8, 0.0), Error()) == 0


def test_a_share_is_as_sure_as_its_number_is_large() -> None:
    assert by_chance(of_share(0.5, 100), of_share(0.5, 100)) == pytest.approx(
        1.96 * math.sqrt(2 * 0.25 / 100), rel=1e-3
    )
    assert by_chance(of_share(1.0, 100), of_share(0.0, 100)) == 0
