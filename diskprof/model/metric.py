"""Metrics by name: `read.iops`, `write.bandwidth`, `total.iops`, `read.latency.p99`, `read.within.250us`, `sync.latency.p99`."""

import re
from enum import StrEnum

from msgspec import Struct

from diskprof.model.errors import UsageError
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_latency, format_percent, parse_duration

LATENCIES = {
    "mean": "mean",
    "min": "min",
    "max": "max",
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99_9": "p99_9",
    "p99.9": "p99_9",
}
"""Names of a latency's figures -> fields of Latency."""


class Quantity(StrEnum):
    """What a metric is an amount of, and so the unit of its values: I/Os/s, bytes/s, ns, a share of 1, percent of a CPU."""

    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    LATENCY = "latency"
    SHARE = "within"
    CPU = "cpu"


class Change(StrEnum):
    """A difference as it is judged. SAME: none to speak of. UNCLEAR: chance alone may be the cause."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNCLEAR = "cannot tell"


class Metric(Struct, frozen=True):
    """`direction` is None for reads and writes together (`total`), fsync latency and CPU use.

    `figure` is a field of Latency; `within_ns` a threshold.
    """

    name: str
    quantity: Quantity
    direction: Direction | None = None
    figure: str = ""
    within_ns: int = 0

    @property
    def higher_is_better(self) -> bool:
        return self.quantity in (Quantity.IOPS, Quantity.BANDWIDTH, Quantity.SHARE)


def parse_metric(text: str) -> Metric:
    """The metric called `text`. Raises UsageError that says which there are."""
    head, _, rest = text.partition(".")
    if text == "cpu":
        return Metric(text, Quantity.CPU)
    if head == "sync":
        quantity, _, figure = rest.partition(".")
        if quantity == "latency" and figure in LATENCIES:
            return Metric(text, Quantity.LATENCY, None, LATENCIES[figure])
    elif head == "total" and rest in ("iops", "bandwidth"):
        return Metric(text, Quantity(rest))
    elif head in ("read", "write"):
        direction = Direction(head)
        quantity, _, figure = rest.partition(".")
        if not figure and quantity in ("iops", "bandwidth"):
            return Metric(text, Quantity(quantity), direction)
        if quantity == "latency" and figure in LATENCIES:
            return Metric(text, Quantity.LATENCY, direction, LATENCIES[figure])
        if quantity == "within" and figure:
            return Metric(text, Quantity.SHARE, direction, "", round(parse_duration(_with_unit(figure)) * 1e9))
    raise UsageError(
        f"unknown metric {text[:60]!r}",
        "Metrics: read.iops, read.bandwidth, read.latency.mean (min, max, p50, p90, p95, p99, p99_9), read.within.250us, "
        "the same with write, total.iops, total.bandwidth, sync.latency.p99 and so on, cpu.",
    )


def _with_unit(text: str) -> str:
    if text[-1:].isdigit():
        raise UsageError(f"{text[:40]!r} lacks a unit", "Write a threshold such as 250us or 5ms.")
    return text


_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z/%]*)")
_RATES = {"": 1.0, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30}
_COUNTS = {"": 1.0, "k": 1e3, "m": 1e6}
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_SHARES = {"": 1.0, "%": 0.01}
_CPUS = {"": 1.0, "%": 1.0}
_UNITS = {
    Quantity.IOPS: _COUNTS,
    Quantity.BANDWIDTH: _RATES,
    Quantity.LATENCY: _TIMES,
    Quantity.SHARE: _SHARES,
    Quantity.CPU: _CPUS,
}


def parse_value(quantity: Quantity, text: str) -> float:
    """A value such as `5000`, `200MB/s`, `5ms` or `95%` in the quantity's unit. Raises UsageError."""
    match = _NUMBER.fullmatch(text.strip())
    units = _UNITS[quantity]
    scales = {unit.lower(): scale for unit, scale in units.items()}
    known = ", ".join(unit for unit in units if unit)
    if quantity is Quantity.BANDWIDTH and match and "b" in match[2]:
        raise UsageError(f"{text[:40]!r} could be bits", f"Write bytes, with a capital B, in one of: {known}.")
    if not match or match[2].lower() not in scales:
        raise UsageError(f"{text[:40]!r} is not a valid {quantity}", f"Write a number with a unit of: {known}.")
    return float(match[1]) * scales[match[2].lower()]


def format_value(quantity: Quantity, value: float) -> str:
    """A value for a person, with its unit."""
    match quantity:
        case Quantity.IOPS:
            return f"{value:,.0f} IOPS"
        case Quantity.BANDWIDTH:
            return format_bandwidth(value)
        case Quantity.LATENCY:
            return format_latency(value)
        case Quantity.SHARE:
            return format_percent(value, 2)
        case Quantity.CPU:
            return f"{value:.0f}% CPU"
