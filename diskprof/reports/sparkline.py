"""A series as a line of text. It starts at zero: a steady disk looks steady."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-:=+*#"


def sparkline(values: Sequence[float | None], width: int = 0, *, ascii_only: bool = False, top: float = 0.0) -> str:
    """One character a value, or a group's mean where there are more than `width` (0: no limit).

    The tallest character stands for `top`, or for the largest value if that is larger. Zero is `·` (ASCII `0`), which
    makes a stall visible; None, where there is no figure, is a blank.
    """
    levels, zero = (ASCII, "0") if ascii_only else (BLOCKS, "·")
    shown = shrink(values, width) if width > 0 else list(values)
    peak = max([top, *(value for value in shown if value is not None)])

    def one(value: float | None) -> str:
        if value is None:
            return " "
        if value <= 0 or peak <= 0:
            return zero
        return levels[min(len(levels) - 1, int(value / peak * len(levels)))]

    return "".join(map(one, shown))


def shrink(values: Sequence[float | None], width: int) -> list[float | None]:
    """At most `width` values: the mean of each group of neighbours, None where a group has no figure."""
    if len(values) <= width:
        return list(values)
    shown: list[float | None] = []
    for index in range(width):
        group = values[index * len(values) // width : (index + 1) * len(values) // width]
        known = [value for value in group if value is not None]
        shown.append(sum(known) / len(known) if known else None)
    return shown
