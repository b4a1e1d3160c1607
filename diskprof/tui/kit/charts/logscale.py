"""Latency upward on a logarithmic scale: what matters lies decades apart."""

import math
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 5.0)
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_LEAST_SPAN = 4.0


@dataclass(frozen=True, slots=True)
class LogScale:
    """From `low` to `high` in ns, both 1, 2 or 5 times a power of ten."""

    low: float
    high: float

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
        """How far up a latency in ns lies, 0 to 1."""
        if value <= self.low:
            return 0.0
        return min(1.0, math.log(value / self.low) / math.log(self.high / self.low))

    def at(self, share: float) -> float:
        """The latency so far up."""
        return float(self.low * (self.high / self.low) ** share)

    def labels(self, rows: int) -> dict[int, str]:
        """Row, counted from below, -> text: the decades, then as many of their 2 and 5 as keep a row between them.

        Where two decades would stand in one row, only every second or third is told: so they are evenly apart.
        """
        decades = self._marks(_STEPS[0], rows)
        stride = next(
            (each for each in range(1, len(decades)) if len(dict(decades[::each])) == len(decades[::each])),
            max(1, len(decades)),
        )
        found = dict(decades[::stride])
        for step in _STEPS[1:] if stride == 1 else ():
            for row, value in self._marks(step, rows):
                if not any(at in found for at in (row - 1, row, row + 1)):
                    found[row] = value
        return {row: latency_mark(value) for row, value in found.items()}

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
    divisor, unit = next((pair for pair in _UNITS if ns >= pair[0] * 0.999), _UNITS[-1])
    return f"{ns / divisor:.0f} {unit}"


def _round_down(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in _STEPS if step * power <= value * (1 + 1e-9))


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (*_STEPS, 10.0) if step * power >= value * (1 - 1e-9))
