"""What several runs a side say together: medians, how far they are apart, and whether that is more than chance.

The spread between runs is what a decision rests on: the next run has it too, and no run knows it from its own intervals
(Kalibera and Jones, Rigorous benchmarking in reasonable time, 2013). No run is left out as an outlier. Levels are 95%.
"""

import math
import statistics
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from diskprof.analysis.chance import Z, student
from diskprof.analysis.metrics import Better
from diskprof.model.metric import Change

SAME_WITHIN = 0.02
"""A difference that is certainly no larger than this share is none."""

USUAL_RUNS = 5
"""So many runs a side tell most differences; what is advised where too few are known to say more."""

_LEVEL = 0.95
_MOST_OPEN = 1.99
"""At twice the mean of the two nothing is known of their ratio."""

_MOST_COUNTED, _MOST_SIGNED = 400, 30
"""Up to so many pairs of runs the ranks are counted, beyond it the normal distribution is as good."""


class Interval(Struct, frozen=True):
    """From `low` to `high`, both included."""

    low: float
    high: float

    def with_value(self, value: float) -> "Interval":
        """As wide as it takes to have `value` inside."""
        return Interval(min(self.low, value), max(self.high, value))


class Ratio(Struct, frozen=True):
    """after / before, so 0.92 is 8% less. `interval` is None where one run a side says nothing of chance."""

    ratio: float
    interval: Interval | None = None

    @property
    def change(self) -> float:
        """The difference as a share of before: -0.08 is 8% less."""
        return self.ratio - 1

    @property
    def change_interval(self) -> Interval | None:
        """The interval of `change`."""
        return Interval(self.interval.low - 1, self.interval.high - 1) if self.interval else None


class Difference(Struct, frozen=True):
    """after - before, of figures that are shares already. `interval` as in Ratio."""

    difference: float
    interval: Interval | None = None


def median_interval(values: Sequence[float], confidence: float = _LEVEL) -> Interval | None:
    """The interval of the median between two of the values, with at least this confidence; None of too few (5 at 95%).

    Order statistics: how many values are below the median is binomial with 1/2. The band begins at the mode and grows by
    the likelier neighbour, the lower one of equals, as in benchstat (golang.org/x/perf, benchmath.AssumeNothing): equal to it
    up to 30 values (of 24 it may be the mirrored band), beyond which that approximates.
    """
    count = len(values)
    if not count:
        return None
    low, high = _median_band(count, confidence)
    ordered = sorted(values)
    return Interval(ordered[low - 1], ordered[high - 1]) if low >= 1 and high <= count else None


@cache
def _median_band(count: int, confidence: float) -> tuple[int, int]:
    """The ranks, from 1, that the interval lies between; 0 and count + 1 are beyond all values."""
    low = (count + 2) // 2 - 1
    high, mass = low + 1, math.comb(count, low)
    while mass < confidence * 2**count:
        left = math.comb(count, low - 1) if low else 0
        right = math.comb(count, high) if high <= count else 0
        if left >= right:
            low, mass = low - 1, mass + left
        else:
            high, mass = high + 1, mass + right
    return low, high


def ratio_of_medians(
    before: Sequence[float], after: Sequence[float], *, least: float = 0.0, turns: Sequence[int] = ()
) -> Ratio:
    """The ratio of the medians of two sides, each of one run or more, with its 95% interval.

    From 4 runs a side on (or as many pairs: 3 and 5) the interval is that of Hodges and Lehmann: the ratios of all pairs
    of runs, less as many at both ends as the Mann-Whitney test allows (Hollander, Wolfe and Chicken, Nonparametric statistical
    methods, section 4.3), whatever the distribution. Of fewer it is Student's, of the logarithms with the spread of both
    sides in one, which takes the noise for log-normal. Simulated, with normal, skewed and two-state noise
    and one slow run in ten, 96 to 98 of 100 intervals of 5 runs a side hold the truth; of 3 runs 95 to 97, of 2 with two states 87.

    `turns`, of sides that took turns: runs of the same number were next to each other, 1 where before was first, -1 where after
    was. Then the interval is that of the ratios within pairs, less the step of a drift (the slope of the pairs by Theil and
    Sen): from 6 pairs on Wilcoxon's (the same book, section 3.3), of fewer Student's.

    `least` is what the intervals within the runs leave open, a distance as a share of the mean of the two, such as 0.01: the
    interval has both figures that are so far apart. It counts only of fewer than 4 runs a side (or 3 and 5), which may agree by
    luck. Of more the noise within is in their spread already, and what intervals say beyond that evens out within a run: on a
    volume limited to 5,000 IOPS the halves of 3 s are 3% apart, one slice of fifteen, and the runs 0.1%.

    Raises ValueError of a side without runs, or of a figure that is not above zero.
    """
    if not before or not after or min(*before, *after) <= 0:
        raise ValueError("a ratio takes figures above zero on both sides")
    ratio = statistics.median(after) / statistics.median(before)
    open_ = 2 * math.atanh(min(_left_open(before, after, least), _MOST_OPEN) / 2)
    logs = [math.log(value) for value in before], [math.log(value) for value in after]
    interval = _shift_of_pairs(*logs, turns) if turns else _shift(*logs)
    found = _at_least(interval, math.log(ratio), open_)
    return Ratio(ratio, Interval(math.exp(found.low), math.exp(found.high)) if found else None)


def difference_of_medians(
    before: Sequence[float], after: Sequence[float], *, least: float = 0.0, turns: Sequence[int] = ()
) -> Difference:
    """As `ratio_of_medians`, for figures whose difference counts: shares from 0 to 1. `least` is in their unit.

    Raises ValueError of a side without runs.
    """
    if not before or not after:
        raise ValueError("a difference takes figures on both sides")
    difference = statistics.median(after) - statistics.median(before)
    interval = _shift_of_pairs(before, after, turns) if turns else _shift(before, after)
    return Difference(difference, _at_least(interval, difference, _left_open(before, after, least)))


def _left_open(before: Sequence[float], after: Sequence[float], least: float) -> float:
    return 0.0 if _rank_depth(len(before), len(after)) else least


def _at_least(interval: Interval | None, value: float, least: float) -> Interval | None:
    if interval is None:
        return Interval(value - least, value + least) if least > 0 else None
    return interval.with_value(value - least).with_value(value + least)


def _shift(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """By how much `after` is above `before`; None of one run a side."""
    if depth := _rank_depth(len(before), len(after)):
        apart = sorted(later - earlier for earlier in before for later in after)
        return Interval(apart[depth - 1], apart[-depth])
    degrees = len(before) + len(after) - 2
    if not degrees:
        return None
    squares = sum(math.fsum((value - statistics.fmean(side)) ** 2 for value in side) for side in (before, after))
    error = math.sqrt(squares / degrees * (1 / len(before) + 1 / len(after)))
    middle = statistics.fmean(after) - statistics.fmean(before)
    return Interval(middle - student(degrees) * error, middle + student(degrees) * error)


def _shift_of_pairs(before: Sequence[float], after: Sequence[float], turns: Sequence[int]) -> Interval | None:
    """As `_shift`, of pairs; None of one. Raises ValueError of sides of different lengths."""
    step = _drift([(earlier + later) / 2 for earlier, later in zip(before, after, strict=True)]) / 2
    apart = [later - earlier - turn * step for earlier, later, turn in zip(before, after, turns, strict=True)]
    if depth := _signed_rank_depth(len(apart)):
        walsh = sorted((one + other) / 2 for at, one in enumerate(apart) for other in apart[at:])
        return Interval(walsh[depth - 1], walsh[-depth])
    if len(apart) < 2:
        return None
    error = student(len(apart) - 1) * statistics.stdev(apart) / math.sqrt(len(apart))
    middle = statistics.fmean(apart)
    return Interval(middle - error, middle + error)


def _drift(values: Sequence[float]) -> float:
    """By how much one is above the one before it: the median of the slopes between all two of them (Sen, 1968); 0 of one."""
    places = range(len(values))
    slopes = [(values[other] - values[at]) / (other - at) for at in places for other in places[at + 1 :]]
    return statistics.median(slopes) if slopes else 0.0


@cache
def _signed_rank_depth(pairs: int) -> int:
    """As `_rank_depth`, of the means of every two differences and of each with itself."""
    if pairs > _MOST_SIGNED:
        spread = math.sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 24)
        return math.floor(pairs * (pairs + 1) / 4 - Z * spread)
    ways = [1]
    for rank in range(1, pairs + 1):
        ways = [
            (ways[total] if total < len(ways) else 0) + (ways[total - rank] if total >= rank else 0)
            for total in range(len(ways) + rank)
        ]
    return _allowed(ways, 2**pairs)


@cache
def _rank_depth(before: int, after: int) -> int:
    """The lowest so many pairs, and as many of the highest, are outside at most 5 of 100 times; 0: even one is too many."""
    pairs = before * after
    if pairs > _MOST_COUNTED:
        return math.floor(pairs / 2 - Z * math.sqrt(pairs * (before + after + 1) / 12))
    return _allowed(_mann_whitney(before, after), math.comb(before + after, before))


def _allowed(ways: Sequence[int], total: int) -> int:
    """How many of the least sums are together at most half of what is outside the level."""
    seen = 0
    for depth, each in enumerate(ways):
        seen += each
        if 2 * seen > (1 - _LEVEL) * total:
            return depth
    return 0


def _mann_whitney(before: int, after: int) -> list[int]:
    """In how many orders of all runs 0, 1, 2 ... pairs have the later side below: the Gaussian binomial coefficients."""
    ways = [1] + [0] * (before * after)
    for size in range(1, before + 1):
        for count in range(len(ways) - 1, after + size - 1, -1):
            ways[count] -= ways[count - after - size]
        for count in range(size, len(ways)):
            ways[count] += ways[count - size]
    return ways


def verdict(change: Interval | None, better: Better, *, same_within: float = SAME_WITHIN) -> Change:
    """What the interval of a difference says, 0 being none.

    SAME where all of it is within `same_within`, BETTER or WORSE where it leaves out 0, else UNCLEAR. Raises ValueError of a
    figure of which neither way is better.
    """
    if better is Better.NEITHER:
        raise ValueError("neither way is better")
    if change is None:
        return Change.UNCLEAR
    if -same_within <= change.low and change.high <= same_within:
        return Change.SAME
    if change.low <= 0 <= change.high:
        return Change.UNCLEAR
    return Change.BETTER if (change.low > 0) is (better is Better.HIGHER) else Change.WORSE


def more_runs_needed(
    before: int, after: int, difference: float, change: Interval | None, *, same_within: float = SAME_WITHIN
) -> int:
    """About how many more runs a side would settle an UNCLEAR difference, at least 1; `before` and `after` are the runs now.

    An interval narrows with the root of the runs. It is narrow enough when it leaves out 0 or is within `same_within`,
    whichever comes first, if the difference stays what it is. Of fewer than USUAL_RUNS a side at least as many as make those.
    """
    runs = min(before, after)
    fewest = max(1, USUAL_RUNS - runs)
    if change is None or runs < 2:
        return fewest
    half = max(difference - change.low, change.high - difference)
    enough = max(abs(difference), same_within - abs(difference))
    return max(fewest, math.ceil(runs * (half / enough) ** 2) - runs)
