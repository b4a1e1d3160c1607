"""Where a series of results, one a run, changes its level by more than chance.

A split is judged by the ranks of the values, so that a single wild run moves nothing: the largest standardised sum of ranks over
all splits (Lausen and Schumacher, Maximally Selected Rank Statistics, 1992). Each part is then split again (binary segmentation),
and each change is at last held against its two neighbouring levels alone.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median

from msgspec import Struct

SHORTEST = 3
"""A level has at least so many values."""

LEAST = 10
"""Of fewer values no split is more than chance: even five below five others come so in 1 of 126 cases."""

_SURE = {
    10: 2.611,
    11: 2.739,
    12: 2.722,
    13: 2.781,
    14: 2.840,
    15: 2.872,
    16: 2.910,
    18: 2.943,
    20: 3.001,
    25: 3.066,
    30: 3.120,
    40: 3.210,
    50: 3.260,
    60: 3.315,
    80: 3.360,
    100: 3.395,
    150: 3.474,
    200: 3.505,
    300: 3.553,
    500: 3.646,
    1000: 3.654,
    2000: 3.722,
}
"""What the statistic of so many values without a change stays below in 99 of 100 cases; simulated."""

_ROUNDED = 0.001
_WINDOW = 60
_MORE = 0.6
"""What a split of one part out of many has to be above the limit: 1 in 1,000 and not in 100."""

_SIZES = tuple(_SURE)


class Stretch(Struct, frozen=True):
    """`values[first:end]` lie around `median`."""

    first: int
    end: int
    median: float


def levels(values: Sequence[float], least: float = 0.0) -> tuple[Stretch, ...]:
    """The levels of a series, in order; one where nothing changed, none of nothing.

    Neighbours differ by more than chance (1 in 100) and, in their medians, by more than the share `least`.
    """
    if not values:
        return ()
    cuts = _cuts(values, 0, len(values))
    # Each round takes one away or moves some; that moves one another to and fro are left where they are.
    for _ in range(2 * len(cuts)):
        settled = _settled(values, cuts, least)
        if settled == cuts:
            break
        cuts = settled
    return tuple(Stretch(first, end, median(values[first:end])) for first, end in pairwise((0, *cuts, len(values))))


def _cuts(values: Sequence[float], first: int, end: int) -> list[int]:
    cut = _best_cut(values, first, end)
    if cut is None:
        cut = _cut_in_windows(values, first, end)
    return [] if cut is None else [*_cuts(values, first, cut), cut, *_cuts(values, cut, end)]


def _cut_in_windows(values: Sequence[float], first: int, end: int) -> int | None:
    """A split within a part: a level that comes back again hides the change from the whole."""
    size = min(_WINDOW, (end - first) // 2)
    if size < LEAST:
        return None
    starts = (*range(first, end - size, size // 2), end - size)
    found = (_best_cut(values, start, start + size, _MORE) for start in starts)
    return next((cut for cut in found if cut is not None), None)


def _settled(values: Sequence[float], cuts: list[int], least: float) -> list[int]:
    """The cuts, each moved to where it is best between its neighbours; without the first that is none there."""
    found = list(cuts)
    for at in range(len(found)):
        first = found[at - 1] if at else 0
        end = found[at + 1] if at + 1 < len(found) else len(values)
        cut = _best_cut(values, first, end)
        if cut is None or not _apart(median(values[first:cut]), median(values[cut:end]), least):
            return [*found[:at], *found[at + 1 :]]
        found[at] = cut
    return found


def _apart(before: float, after: float, least: float) -> bool:
    return abs(after - before) > least * abs(before)


def _best_cut(values: Sequence[float], first: int, end: int, more: float = 0.0) -> int | None:
    """Where the best split of `values[first:end]` is; None where chance may have made it. `more` is added to the limit."""
    part = values[first:end]
    count = len(part)
    if count < LEAST:
        return None
    ranks = _ranks(part)
    middle = (count + 1) / 2
    spread = math.fsum((rank - middle) ** 2 for rank in ranks) / (count - 1)
    if spread == 0:
        return None
    best_cut, best = 0, -1.0
    for cut, total in enumerate(accumulate(ranks), start=1):
        if SHORTEST <= cut <= count - SHORTEST:
            # The variance of a sum of `cut` ranks drawn from all of them.
            found = (total - cut * middle) ** 2 / (cut * (count - cut))
            if found > best:
                best_cut, best = cut, found
    sure = math.sqrt(best * count / spread) >= _sure(count) + more - _ROUNDED
    return first + _placed(part, best_cut) if sure else None


def _placed(part: Sequence[float], cut: int) -> int:
    """The place of a split where the values are nearest to the medians of both sides, which ranks alone do not tell."""
    before, after = median(part[:cut]), median(part[cut:])
    # How much the sum of distances falls with each value moved from the right side to the left.
    gains = [abs(value - after) - abs(value - before) for value in part]
    sums = list(accumulate(gains))
    return max(range(SHORTEST, len(part) - SHORTEST + 1), key=lambda place: (sums[place - 1], -abs(place - cut)))


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1, equal ones sharing the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        last = at
        while last + 1 < len(order) and values[order[last + 1]] == values[order[at]]:
            last += 1
        for place in order[at : last + 1]:
            ranks[place] = (at + last) / 2 + 1
        at = last + 1
    return ranks


def _sure(count: int) -> float:
    """The limit for so many values, between those of the table by the logarithm of the number."""
    at = bisect_left(_SIZES, count)
    if at == len(_SIZES):
        return _SURE[_SIZES[-1]] + 0.1
    if _SIZES[at] == count:
        return _SURE[count]
    low, high = _SIZES[at - 1], _SIZES[at]
    share = math.log(count / low) / math.log(high / low)
    return _SURE[low] + share * (_SURE[high] - _SURE[low])
