"""Axes: round numbers, always from zero, with the unit said once."""

import math
from dataclasses import dataclass
from enum import StrEnum

_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_TIME_STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


class Metric(StrEnum):
    """What can be shown over time; the value is the key of it in a screen."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    LATENCY = "latency"


_TITLES = {Metric.IOPS: "IOPS", Metric.BANDWIDTH: "Bandwidth", Metric.LATENCY: "Latency"}
_UNITS = {
    Metric.IOPS: ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")),
    Metric.BANDWIDTH: ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    Metric.LATENCY: ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")),
}


def _plain(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def title_of(metric: Metric) -> str:
    return _TITLES[metric]


def round_up(value: float) -> float:
    """The next round number at or above `value`; 1 for nothing."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _ROUND if step * power >= value * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Scale:
    """From zero to `top`, written in `unit` of `divisor`."""

    metric: Metric
    top: float
    divisor: float
    unit: str

    @staticmethod
    def of(metric: Metric, highest: float, before: "Scale | None" = None) -> "Scale":
        """A scale that holds `highest` with a little room; never smaller than the one `before`, so that nothing jumps."""
        top = round_up(highest * 1.02)
        if before and before.metric is metric and before.top >= top:
            return before
        divisor, unit = next((pair for pair in _UNITS[metric] if top >= pair[0]), _UNITS[metric][-1])
        return Scale(metric, top, divisor, unit)

    def tick(self, value: float) -> str:
        """A value as the axis writes it: `40k`, `250`, `0`; the unit of bandwidth and latency stands apart."""
        if value == 0:
            return "0"
        if self.metric is not Metric.IOPS:
            return _plain(value / self.divisor)
        divisor, unit = next((pair for pair in _UNITS[self.metric] if value >= pair[0]), (1.0, ""))
        return _plain(value / divisor) + unit

    @property
    def suffix(self) -> str:
        """The unit to be said once, empty for IOPS, where each number carries its own."""
        return "" if self.metric is Metric.IOPS else self.unit

    @property
    def extent(self) -> str:
        """`0–80k` or `0–250 MB/s`."""
        return f"0–{self.tick(self.top)} {self.suffix}".rstrip()


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """From zero to `seconds`, a mark every `step`, written in `unit` of `divisor` seconds."""

    seconds: float
    step: float
    divisor: float
    unit: str

    @staticmethod
    def of(seconds: float, width: int) -> "TimeAxis":
        """Marks at least eight cells apart in `width` cells."""
        wanted = max(seconds, 1.0) / max(1, width // 8)
        step = next((step for step in _TIME_STEPS if step >= wanted), math.ceil(wanted / 86400) * 86400)
        if step >= 3600:
            return TimeAxis(seconds, step, 3600.0, "h")
        return TimeAxis(seconds, step, 60.0, "min") if step >= 60 else TimeAxis(seconds, step, 1.0, "s")

    def line(self, width: int) -> str:
        """The marks under a chart of `width` cells, the unit after the last."""
        cells = [" "] * width
        marks = [step * self.step for step in range(int(self.seconds / self.step + 1e-6) + 1)]
        end = 0
        for number, mark in enumerate(marks):
            last = number == len(marks) - 1
            text = f"{mark / self.divisor:g}" + (f" {self.unit}" if last else "")
            at = int(mark / self.seconds * width) if self.seconds > 0 else 0
            at = min(at, width - len(text))
            if at < end:
                continue
            cells[at : at + len(text)] = text
            end = at + len(text) + 1
        return "".join(cells)[:width]
