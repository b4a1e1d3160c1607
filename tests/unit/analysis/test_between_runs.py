"""What several runs a side say: held against benchstat, against the tables, and against draws of nothing but chance."""

import math
import random
from collections.abc import Callable

import pytest

from diskprof.analysis.between_runs import (
    Interval,
    difference_of_medians,
    median_interval,
    more_runs_needed,
    ratio_of_medians,
    verdict,
)
from diskprof.analysis.chance import student
from diskprof.analysis.metrics import Better
from diskprof.model.metric import Change

# From golang.org/x/perf v0.0.0-20260908200009: of n values, between which of them (from 1) the median's interval is.
BENCHSTAT_BANDS = {6: (1, 6), 7: (1, 7), 8: (1, 7), 9: (2, 8), 10: (2, 9), 11: (2, 9), 12: (3, 10)}


@pytest.mark.parametrize(("count", "band"), BENCHSTAT_BANDS.items())
def test_the_interval_of_a_median_is_that_of_benchstat(count: int, band: tuple[int, int]) -> None:
    values = [float(value) for value in range(1, count + 1)]
    random.Random(1).shuffle(values)

    assert median_interval(values) == Interval(*map(float, band))


@pytest.mark.parametrize("count", range(6))
def test_the_median_of_up_to_five_runs_has_no_interval(count: int) -> None:
    assert median_interval([1.0] * count) is None


def test_at_a_lower_confidence_five_runs_are_enough() -> None:
    assert median_interval([5, 1, 4, 2, 3], 0.9) == Interval(1, 5)


def test_of_five_runs_a_side_two_pairs_at_each_end_are_left_out() -> None:
    """The critical value of the Mann-Whitney test of 5 and 5 at 5% (two-sided) is 2."""
    before, after = [100, 101, 102, 103, 104], [110, 111, 112, 113, 124]
    pairs = sorted(later / earlier for earlier in before for later in after)

    found = ratio_of_medians(before, after)

    assert found.ratio == 112 / 102
    assert found.interval
    assert (found.interval.low, found.interval.high) == pytest.approx((pairs[2], pairs[-3]))


def test_of_four_runs_a_side_no_pair_is_left_out() -> None:
    found = ratio_of_medians([100, 101, 102, 103], [110, 111, 112, 113])

    assert found.interval
    assert (found.interval.low, found.interval.high) == pytest.approx((110 / 103, 113 / 100))


def test_of_three_runs_a_side_the_interval_is_students() -> None:
    found = ratio_of_medians([100, 101, 102], [109, 110, 111.1])

    assert found.interval
    error = math.sqrt(_variance([100, 101, 102]) / 3 + _variance([109, 110, 111.1]) / 3)
    middle = sum(map(math.log, [109, 110, 111.1])) / 3 - sum(map(math.log, [100, 101, 102])) / 3
    assert math.log(found.interval.high) == pytest.approx(middle + 2.776 * error, rel=0.01)
    assert math.log(found.interval.low) == pytest.approx(middle - 2.776 * error, rel=0.01)


def _variance(values: list[float]) -> float:
    logs = list(map(math.log, values))
    middle = sum(logs) / len(logs)
    return sum((log - middle) ** 2 for log in logs) / (len(logs) - 1)


def test_one_run_a_side_knows_what_its_intervals_know() -> None:
    assert ratio_of_medians([100], [110]).interval is None
    found = ratio_of_medians([100], [110], least=0.05).interval
    assert found
    # 100 and x are 5% of their mean apart where x is 100 * 2.05 / 1.95.
    assert (found.low, found.high) == pytest.approx((1.1 * 1.95 / 2.05, 1.1 * 2.05 / 1.95))


def test_of_few_runs_the_interval_is_never_narrower_than_what_the_runs_themselves_leave_open() -> None:
    alike = [100.0] * 3

    assert ratio_of_medians(alike, alike).interval == Interval(1, 1)
    found = ratio_of_medians(alike, alike, least=0.03).interval
    assert found
    assert (found.low, found.high) == pytest.approx((0.985 / 1.015, 1.015 / 0.985))


def test_of_four_runs_a_side_and_more_the_spread_between_them_says_it_all() -> None:
    """The noise within a run is in its figure, and so in what the runs are apart."""
    before, after = [100.0, 101, 102, 103], [110.0, 111, 112, 113]

    assert ratio_of_medians(before, after, least=0.5) == ratio_of_medians(before, after)
    assert difference_of_medians(before, after, least=50) == difference_of_medians(before, after)


def test_the_medians_are_in_the_interval() -> None:
    """Of skewed runs the ratio of the medians is beyond that of the pairs."""
    random_ = random.Random(3)
    for _ in range(300):
        before, after = ([random_.paretovariate(0.3) for _ in range(5)] for _ in range(2))
        found = ratio_of_medians(before, after)
        assert found.interval
        assert found.interval.low <= found.ratio <= found.interval.high


def test_the_other_way_round_the_interval_is_the_reciprocal() -> None:
    before, after = [100, 104, 99, 101, 103], [93, 92, 95, 90, 91]
    one, other = ratio_of_medians(before, after).interval, ratio_of_medians(after, before).interval

    assert one and other
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low))


NOISE: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda random_: random_.gauss(0, 0.02),
    "one run in ten is slow": lambda random_: random_.gauss(0, 0.01) - 0.2 * (random_.random() < 0.1),
    "two states": lambda random_: random_.gauss(0, 0.005) + 0.04 * (random_.random() < 0.5),
    "skewed": lambda random_: -random_.expovariate(50),
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_of_five_equal_runs_a_side_at_most_a_twentieth_is_told_apart(noise: Callable[[random.Random], float]) -> None:
    random_ = random.Random(18)
    sides = [[[math.exp(noise(random_)) for _ in range(5)] for _ in range(2)] for _ in range(1000)]

    found = [ratio_of_medians(before, after).interval for before, after in sides]

    missed = sum(not each.low <= 1 <= each.high for each in found if each)
    # 0.007 is a standard error of a twentieth of so many.
    assert missed <= 1000 * (0.05 + 0.007)


def test_a_share_is_compared_by_its_difference() -> None:
    found = difference_of_medians([0.5, 0.51, 0.52, 0.53], [0.6, 0.61, 0.62, 0.63])

    assert found.difference == pytest.approx(0.1)
    assert found.interval
    assert (found.interval.low, found.interval.high) == pytest.approx((0.07, 0.13))


@pytest.mark.parametrize(("before", "after"), [([], [1.0]), ([1.0], []), ([0.0], [1.0]), ([1.0], [-1.0])])
def test_a_side_without_runs_or_with_nothing_is_refused(before: list[float], after: list[float]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        ratio_of_medians(before, after)


@pytest.mark.parametrize(
    ("low", "high", "better", "expected"),
    [
        (-0.094, -0.061, Better.HIGHER, Change.WORSE),
        (-0.094, -0.061, Better.LOWER, Change.BETTER),
        (0.001, 0.05, Better.HIGHER, Change.BETTER),
        (-0.02, 0.02, Better.HIGHER, Change.SAME),
        (0.001, 0.019, Better.HIGHER, Change.SAME),
        (-0.03, 0.01, Better.HIGHER, Change.UNCLEAR),
        (0.0, 0.03, Better.HIGHER, Change.UNCLEAR),
    ],
)
def test_the_verdict_is_that_of_the_interval(low: float, high: float, better: Better, expected: Change) -> None:
    assert verdict(Interval(low, high), better) is expected


def test_without_an_interval_nothing_is_told() -> None:
    assert verdict(None, Better.HIGHER) is Change.UNCLEAR
    with pytest.raises(ValueError, match="neither way"):
        verdict(Interval(0, 1), Better.NEITHER)


def test_how_many_more_runs_would_tell() -> None:
    # 4% to both sides of 2%: twice too wide, so four times the runs.
    assert more_runs_needed(5, 5, 0.02, Interval(-0.02, 0.06)) == 15
    # Alike: within 2% it is the same.
    assert more_runs_needed(5, 5, 0.0, Interval(-0.04, 0.04)) == 15
    assert more_runs_needed(10, 6, 0.03, Interval(-0.001, 0.061)) == 1
    assert more_runs_needed(1, 1, 0.05, Interval(-0.01, 0.11)) == 4
    assert more_runs_needed(1, 5, 0.05, None) == 4
    assert more_runs_needed(3, 3, 0.05, Interval(-0.01, 0.11)) == 2


@pytest.mark.parametrize(("degrees", "expected"), [(1, 12.706), (1.5, 6.017), (2, 4.303), (3, 3.182), (8, 2.306)])
def test_students_t_is_that_of_the_tables(degrees: float, expected: float) -> None:
    assert student(degrees) == pytest.approx(expected, rel=0.03)


def test_of_pairs_a_drift_is_no_difference() -> None:
    """A B B A A B B A A B on a machine that slows down by a tenth: the sides spread over it, the pairs do not."""
    turns = [1000 * (1 - 0.1 * turn / 9) for turn in range(10)]
    before, after = [turns[at] for at in (0, 3, 4, 7, 8)], [turns[at] for at in (1, 2, 5, 6, 9)]

    assert (
        verdict(ratio_of_medians(before, after, turns=(1, -1, 1, -1, 1)).change_interval, Better.HIGHER) is Change.SAME
    )
    assert verdict(ratio_of_medians(before, after).change_interval, Better.HIGHER) is Change.UNCLEAR


def test_of_six_pairs_wilcoxons_interval_leaves_out_none_and_of_eight_three_of_each_end() -> None:
    """The critical values of the signed-rank test at 5% (two-sided): 0 of 6, 3 of 8."""
    for pairs, left_out in ((6, 0), (8, 3)):
        # Around levels that do not rise.
        apart = [0.01 * 2**at for at in range(pairs)]
        walsh = sorted((one + other) / 2 for at, one in enumerate(apart) for other in apart[at:])
        found = difference_of_medians(
            [-each / 2 for each in apart], [each / 2 for each in apart], turns=[1] * pairs
        ).interval
        assert found
        assert (found.low, found.high) == pytest.approx((walsh[left_out], walsh[-1 - left_out]))


def test_of_five_equal_pairs_at_most_a_twentieth_is_told_apart() -> None:
    random_ = random.Random(19)
    missed = 0
    for _ in range(1000):
        before, after = ([math.exp(random_.gauss(0, 0.02)) for _ in range(5)] for _ in range(2))
        found = ratio_of_medians(before, after, turns=(1, -1, 1, -1, 1)).interval
        missed += not (found and found.low <= 1 <= found.high)
    assert missed <= 1000 * (0.05 + 0.007)
