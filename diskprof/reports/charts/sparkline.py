"""A series as a line of text. It starts at zero: a steady disk looks steady."""

from collections.abc import Sequence
from statistics import median_low

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-:=+*#"
_CRUMB = 1e-9


def sparkline(values: Sequence[float | None], *, ascii_only: bool = False, top: float = 0.0) -> str:
    """One character a value.

    The tallest character stands for `top`, or for the largest value if that is larger. Zero is `·` (ASCII `0`), which
    makes a stall visible; None, where there is no figure, is a blank.
    """
    levels, zero = (ASCII, "0") if ascii_only else (BLOCKS, "·")
    peak = max([top, *(value for value in values if value is not None)])

    def one(value: float | None) -> str:
        if value is None:
            return " "
        if value <= 0 or peak <= 0:
            return zero
        return levels[min(len(levels) - 1, int(value / peak * len(levels)))]

    return "".join(map(one, values))


def even(values: Sequence[float | None], seconds: Sequence[float], most: int) -> list[float | None]:
    """At most `most` values of equal time, of values that lasted `seconds` each (above zero).

    One for each value, and as many as its time takes for one that lasted longer than usual; where that is too many, the mean
    over each part of the time. None where there is no figure in a part.
    """
    if not values:
        return []
    usual = median_low(seconds)
    times = [max(1, round(length / usual)) for length in seconds]
    if sum(times) <= most:
        return [value for value, count in zip(values, times, strict=True) for _ in range(count)]
    part = sum(seconds) / most
    sums, known = [0.0] * most, [0.0] * most
    clock = 0.0
    for value, length in zip(values, seconds, strict=True):
        start, clock = clock, clock + length
        if value is None:
            continue
        for index in range(int(start / part), min(most, int(clock / part) + 1)):
            share = min(clock, (index + 1) * part) - max(start, index * part)
            if share > part * _CRUMB:
                sums[index] += value * share
                known[index] += share
    return [total / time if time else None for total, time in zip(sums, known, strict=True)]
