"""Axes: where a value is, where the ticks are, and how they are written. An axis upward begins at zero or is logarithmic."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import ClassVar

from msgspec import Struct

from diskprof.model.metric import Quantity

_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_STEPS = (1.0, 2.0, 5.0)
_LEAST_SPAN = 4.0
_TIME_STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
_ROWS_FOR_MORE = 5
"""From so many rows on there are ticks between the lowest and the highest."""

TITLES = {Quantity.IOPS: "IOPS", Quantity.BANDWIDTH: "Bandwidth", Quantity.LATENCY: "Latency"}
_LATENCIES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_UNITS = {
    Quantity.IOPS: ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")),
    Quantity.BANDWIDTH: ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    Quantity.LATENCY: _LATENCIES,
}


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def round_up(value: float) -> float:
    """The next round number at or above `value`; 1 for nothing."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _ROUND if step * power >= value * (1 - 1e-9))


class Scale(Struct, frozen=True):
    """Upward from zero to `top` in `parts` equal steps, written in `unit` of `divisor`; a plain number without a quantity."""

    quantity: Quantity | None
    top: float
    divisor: float = 1.0
    unit: str = ""
    parts: int = 2

    room: ClassVar[int] = 5
    """Cells that the text of a tick takes at most."""

    @staticmethod
    def of(quantity: Quantity, highest: float, before: "Scale | None" = None) -> "Scale":
        """A scale that holds `highest` with a little room; never smaller than the one `before`, so that nothing jumps."""
        top = round_up(highest * 1.02)
        if before and before.quantity is quantity and before.top >= top:
            return before
        return Scale(quantity, top, *_unit_for(quantity, top))

    @staticmethod
    def plain(highest: float, divisor: float = 1.0) -> "Scale":
        """Four to six round figures from 0 to `highest` or the next above it, written in full, as multiples of `divisor`."""
        if highest <= 0:
            return Scale(None, divisor, divisor, parts=1)
        wanted = highest / divisor
        power = 10.0 ** math.floor(math.log10(wanted / 4))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power * 5 >= wanted)
        parts = math.ceil(wanted / step - 1e-9)
        return Scale(None, step * parts * divisor, divisor, parts=parts)

    def tick(self, value: float) -> str:
        """A value as the axis writes it: `40k`, `250`, `0`; the unit of bandwidth and latency is written once, elsewhere."""
        if value == 0:
            return "0"
        if self.quantity is None:
            return f"{value / self.divisor:,.10g}"
        if self.quantity is not Quantity.IOPS:
            return _three_digits(value / self.divisor)
        divisor, unit = next((pair for pair in _UNITS[self.quantity] if value >= pair[0]), (1.0, ""))
        return _three_digits(value / divisor) + unit

    @property
    def ticks(self) -> tuple[float, ...]:
        """The values of the ticks, upward."""
        return tuple(self.top * part / self.parts for part in range(self.parts + 1))

    @property
    def suffix(self) -> str:
        """The unit to be written once, empty for IOPS, where each number carries its own."""
        return "" if self.quantity is Quantity.IOPS else self.unit

    def worded(self, value: float) -> str:
        """`80k` or `250 MB/s`."""
        return f"{self.tick(value)} {self.suffix}".rstrip()

    @property
    def extent(self) -> str:
        """`0–80k` or `0–250 MB/s`."""
        return f"0–{self.worded(self.top)}"

    def shares(self, values: Sequence[float | None]) -> list[float | None]:
        """How far up values are, 0 to 1."""
        top = self.top
        return [None if value is None else value / top for value in values]

    def labels(self, rows: int) -> dict[int, str]:
        """Row, counted from below, -> text: both ends, and what is between them where there is room."""
        found = {rows - 1: self.tick(self.top), 0: self.tick(0)}
        for value in self.ticks[1:-1] if rows >= _ROWS_FOR_MORE else ():
            _put_apart(found, int(value / self.top * (rows - 1) + 1e-6), self.tick(value))
        return found


def _unit_for(quantity: Quantity, top: float) -> tuple[float, str]:
    return next((pair for pair in _UNITS[quantity] if top >= pair[0]), _UNITS[quantity][-1])


def _put_apart(found: dict[int, str], row: int, text: str) -> None:
    """Put a tick in its row unless that or one beside it has one."""
    if not any(at in found for at in (row - 1, row, row + 1)):
        found[row] = text


class LogScale(Struct, frozen=True):
    """Latency upward, logarithmic: what matters is decades apart. `low` and `high` in ns are 1, 2 or 5 times a power of ten."""

    low: float
    high: float

    room: ClassVar[int] = 6

    @staticmethod
    def of(lowest: float, highest: float, before: "LogScale | None" = None) -> "LogScale":
        """A scale that holds both; never narrower than the one `before`, so that nothing jumps."""
        low, high = _round_down(max(1.0, lowest)), _round_up(max(1.0, lowest, highest))
        if before:
            low, high = min(low, before.low), max(high, before.high)
        while high / low < _LEAST_SPAN:
            low, high = (_round_down(low * 0.99) if low > 1 else low), _round_up(high * 1.01)
        return LogScale(low, high)

    def share(self, value: float) -> float:
        """How far up a latency in ns is, 0 to 1."""
        if value <= self.low:
            return 0.0
        return min(1.0, math.log(value / self.low) / math.log(self.high / self.low))

    def shares(self, values: Sequence[float | None]) -> list[float | None]:
        """How far up latencies in ns are, 0 to 1."""
        return [None if value is None else self.share(value) for value in values]

    def labels(self, rows: int) -> dict[int, str]:
        """Row, counted from below, -> text: the decades with their 2 and 5 if all of them keep a row between them, else
        the decades. Where there is but one of these, as many of its 2 and 5 as have room.

        Where two decades would share a row, only every second or third is written: so they are evenly apart.
        """
        decades = self._marks(_STEPS[0], rows)
        fine = sorted(mark for step in _STEPS for mark in self._marks(step, rows))
        if all(after - before > 1 for (before, _), (after, _) in pairwise(fine)):
            return {row: latency_mark(value) for row, value in fine}
        stride = next(
            (each for each in range(1, len(decades)) if len(dict(decades[::each])) == len(decades[::each])),
            max(1, len(decades)),
        )
        found = {row: latency_mark(value) for row, value in decades[::stride]}
        for step in _STEPS[1:] if len(decades) < 2 else ():
            for row, value in self._marks(step, rows):
                _put_apart(found, row, latency_mark(value))
        return found

    def _marks(self, step: float, rows: int) -> list[tuple[int, float]]:
        """(row, value) of each power of ten times `step` on the scale."""
        marks = []
        power = math.floor(math.log10(self.low))
        while (value := step * 10.0**power) < self.high * 1.001:
            if value >= self.low * 0.999:
                marks.append((min(rows - 1, int(self.share(value) * rows + 1e-6)), value))
            power += 1
        return marks


def latency_mark(ns: float) -> str:
    """`100 us`, `1 ms`."""
    divisor, unit = next((pair for pair in _LATENCIES if ns >= pair[0] * 0.999), _LATENCIES[-1])
    return f"{ns / divisor:.0f} {unit}"


def _round_down(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in _STEPS if step * power <= value * (1 + 1e-9))


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (*_STEPS, 10.0) if step * power >= value * (1 - 1e-9))


Tick = tuple[float, str]
"""A place on an axis, and its text."""


def _line(ticks: Iterable[Tick], end: float, width: int) -> str:
    """The texts under a chart of `width` cells, each from its place on; one that would touch the one before is left out."""
    cells, free = [" "] * width, 0
    for place, text in ticks:
        at = min(int(place / end * width) if end > 0 else 0, width - len(text))
        if at >= free:
            cells[at : at + len(text)] = text
            free = at + len(text) + 1
    return "".join(cells)[:width]


class TimeAxis(Struct, frozen=True):
    """Across: seconds from zero to `end`."""

    end: float

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """About `most` round times in s, min or h; the last has the unit."""
        wanted = max(self.end, 1.0) / max(1, most)
        step = next((step for step in _TIME_STEPS if step >= wanted), math.ceil(wanted / 86400) * 86400)
        divisor, unit = (3600, "h") if step >= 3600 else (60, "min") if step >= 60 else (1, "s")
        count = int(self.end / step + 1e-6)
        return tuple(
            (at * step, f"{at * step / divisor:g}" + (f" {unit}" if at == count else "")) for at in range(count + 1)
        )

    def line(self, width: int) -> str:
        """The ticks under a chart of `width` cells, at least eight of them apart."""
        return _line(self.ticks(width // 8), self.end, width)


_NINES = (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"), (0.99999, "p99.999")


class PercentileAxis(Struct, frozen=True):
    """Across: quantiles, each further nine as wide as the one before; `end` is how many nines there are."""

    end: float

    def line(self, width: int) -> str:
        """The percentiles under a chart of `width` cells."""
        places = [(-math.log10(1.0 - q), name) for q, name in _NINES]
        return _line([(place, name) for place, name in places if place <= self.end + 1e-9], self.end, width)


class NameAxis(Struct, frozen=True):
    """Across: names at 0, 1, 2 and so on."""

    names: Sequence[str]

    @property
    def end(self) -> float:
        return float(len(self.names) - 1)

    def line(self, width: int) -> str:
        """The names under a chart of `width` cells."""
        return _line([*enumerate(self.names)], self.end, width)


UpAxis = Scale | LogScale
AcrossAxis = TimeAxis | PercentileAxis | NameAxis
