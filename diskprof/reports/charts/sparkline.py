"""A series as a line of text. It starts at zero: a steady disk looks steady."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-:=+*#"


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
