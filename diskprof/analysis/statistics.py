"""Statistics of a few numbers in order. Nothing here knows what the numbers mean; None where a figure has no meaning."""

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None of nothing."""
    return statistics.fmean(values) if values else None


def median(values: Sequence[float]) -> float | None:
    """The middle value, or the mean of the two in the middle; None of nothing."""
    return statistics.median(values) if values else None


def standard_deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None of fewer than two."""
    if len(values) < 2:
        return None
    average = statistics.fmean(values)
    # statistics.stdev counts in fractions, which takes five times as long: a quarter of a second of a day's intervals.
    return math.sqrt(math.fsum((value - average) ** 2 for value in values) / (len(values) - 1))


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation: the standard deviation as a share of the mean; None if the mean is not above zero."""
    average, deviation = mean(values), standard_deviation(values)
    return deviation / average if average is not None and deviation is not None and average > 0 else None


def share_near(values: Sequence[float], level: float, within: float) -> float:
    """The share of the values that differ from `level` by no more than `within` of it; 0 of nothing."""
    return sum(abs(value - level) <= within * level for value in values) / len(values) if values else 0.0


class SteadyState(Struct, frozen=True):
    """How far values in order are from steady, by fio's two criteria (its option `steadystate`), both as shares of the mean.

    `drift` is what the fitted line gains or loses from the first value to the last (fio's iops_slope, over the whole window);
    `deviation` the largest distance of a value from the mean (fio's iops). `trended` is the share of the variance that
    the line explains: a drift is only a trend where this is high.
    """

    drift: float
    deviation: float
    trended: float


def steady_state(xs: Sequence[float], ys: Sequence[float]) -> SteadyState | None:
    """The steady-state figures of `ys` over `xs`; None of fewer than three points, of equal xs, or without a mean above zero.

    Raises ValueError if the two differ in length.
    """
    average = mean(ys)
    if average is None or average <= 0 or len(xs) < 3 or min(xs) == max(xs):
        return None
    return SteadyState(
        drift=statistics.linear_regression(xs, ys).slope * (xs[-1] - xs[0]) / average,
        deviation=max(abs(y - average) for y in ys) / average,
        trended=statistics.correlation(xs, ys) ** 2 if min(ys) < max(ys) else 0.0,
    )


class ChangePoint(Struct, frozen=True):
    """Where one level gives way to another: `values[:index]` lie around one, the rest around the other.

    `explained` is the share of the variance that two levels explain and one does not (0 to 1).
    """

    index: int
    explained: float


def change_point(values: Sequence[float], shortest: int = 4) -> ChangePoint | None:
    """The best split of values in order into two levels, each of at least `shortest` values; None if it is too short or constant.

    Every split is tried (in one pass, over running sums) and the one with the smallest squared error kept.
    """
    count, shortest = len(values), max(1, shortest)
    average = mean(values)
    if average is None or count < 2 * shortest:
        return None
    centred = [value - average for value in values]
    whole = math.fsum(value * value for value in centred)
    if whole <= 0:
        return None
    # The squared error falls by n_left * mean_left^2 + n_right * mean_right^2 = left^2 / n_left + left^2 / n_right,
    # because the centred values sum to zero.
    best_index, best_gain, left = 0, -1.0, 0.0
    for index, value in enumerate(centred[: count - shortest], start=1):
        left += value
        gain = left * left * (1 / index + 1 / (count - index))
        if index >= shortest and gain > best_gain:
            best_index, best_gain = index, gain
    return ChangePoint(best_index, min(1.0, best_gain / whole))
