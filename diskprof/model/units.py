"""Sizes, durations, rates: read as fio reads them, written as a person reads them.

Sizes take fio's suffixes (k, m, g, t, p: powers of 1024). Bandwidth is shown in MB/s (10^6 bytes) unless a
function says MiB/s. Latency is held in ns.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from diskprof.model.errors import UnitError

Number = TypeVar("Number", int, float)
# Without ASCII, `ſ` would be an s and the Kelvin sign a k.
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?b)?|b)?", re.IGNORECASE | re.ASCII)
_SIZE_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|us|s|sec|m|min|h|d)?", re.IGNORECASE | re.ASCII)
_DURATION_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_MAX_SIZE = 2**63 - 1
_LONGEST = 60
"""Characters of a size or duration; Python refuses to read numbers of some thousand digits."""


def each_way(value: str) -> tuple[str, str]:
    """What counts for reads and for writes of a value such as `500`, `700,300`, or `,300` for writes alone (F63); "" is nothing."""
    reads, writes = (value.split(",") * 2)[:2]
    return reads.strip(), writes.strip()


def parse_size(text: str | int) -> int:
    """Bytes of a size such as `4k`, `1024K`, `1.5g`, `256MiB` or `4096`.

    Raises UnitError, also for `4kB`, which fio takes as 1024 and most people as 1000.
    """
    if isinstance(text, int):
        value: float = text
    else:
        match = _SIZE.fullmatch(text.strip()) if len(text) <= _LONGEST else None
        if not match:
            raise UnitError(
                f"{text[:_LONGEST]!r} is not a size", "Write bytes or a number with k, m, g or t, such as 4k or 1g."
            )
        number, suffix, unit = match.groups()
        if unit and unit.lower() == "b":
            raise UnitError(
                f"{text!r} is ambiguous: 1000 or 1024?",
                f"Write {number}{suffix.lower()} or {number}{suffix.upper()}iB for powers of 1024.",
            )
        power = 1024 ** _SIZE_POWERS[suffix.lower()] if suffix else 1
        value = int(number) * power if number.isdigit() else float(number) * power
    if not 0 <= value <= _MAX_SIZE:
        raise UnitError(f"{text!r} is out of range", "A size must be between 0 and 8 EiB.")
    return int(value)


def parse_duration(text: str | int | float) -> float:
    """Seconds of a duration such as `30`, `30s`, `250ms`, `2m` or `24h`. Raises UnitError."""
    if isinstance(text, int | float):
        value = float(text)
    else:
        match = _DURATION.fullmatch(text.strip()) if len(text) <= _LONGEST else None
        if not match:
            raise UnitError(
                f"{text[:_LONGEST]!r} is not a duration",
                "Write seconds or a number with ms, s, m, h or d, such as 30s.",
            )
        value = float(match[1]) * _DURATION_SECONDS[(match[2] or "s").lower()]
    if not 0 <= value <= 366 * 86400:
        raise UnitError(f"{text!r} is out of range", "A duration must be between 0 and 366 days.")
    return value


def amount(unit: Callable[[str], Number], text: str | None) -> Number | None:
    """What `unit`, such as `parse_size`, makes of a text; None where there is none, or no plain amount (`50%`)."""
    try:
        return unit(text) if text else None
    except UnitError:
        return None


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def format_size(value: int | float) -> str:
    """A size in powers of 1024: `1.00 GiB`, `256 MiB`, `512 B`; exact multiples without decimals."""
    amount, unit = float(value), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if abs(amount) < 1024:
            break
        amount, unit = amount / 1024, larger
    if amount == int(amount):
        return f"{int(amount)} {unit}"
    return f"{_three_digits(amount)} {unit}"


def format_fio_size(value: int) -> str:
    """A size as fio writes it in options: `4k`, `1m`, `512`."""
    for suffix, power in (("t", 4), ("g", 3), ("m", 2), ("k", 1)):
        if value and value % 1024**power == 0:
            return f"{value // 1024**power}{suffix}"
    return str(value)


def format_bandwidth(bytes_per_s: float) -> str:
    """Bandwidth in powers of ten: `173 MB/s`, `1.25 GB/s`, `820 kB/s`."""
    for unit, scale in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_s >= scale * 0.9995:
            return f"{_three_digits(bytes_per_s / scale)} {unit}"
    return f"{bytes_per_s:.0f} B/s"


def format_bandwidths(values: Sequence[float]) -> str:
    """Several in the unit of the largest: `6.66/4.85 GB/s`."""
    unit = format_bandwidth(max(values)).split()[1]
    scale = {"GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3, "B/s": 1.0}[unit]
    return f"{'/'.join(_three_digits(value / scale) for value in values)} {unit}"


def format_mib(bytes_per_s: float) -> str:
    """Bandwidth in powers of two: `165 MiB/s`."""
    return f"{_three_digits(bytes_per_s / 2**20)} MiB/s"


def format_iops(value: float) -> str:
    """I/Os per second, short: `950`, `12.3k`, `1.25M`."""
    for suffix, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale * 0.9995:
            return f"{_three_digits(value / scale)}{suffix}"
    return f"{value:.0f}" if value >= 9.95 or value == int(value) else f"{value:.1f}"


def format_latency(ns: float) -> str:
    """A latency in the unit that suits it: `850 ns`, `476 us`, `1.23 ms`, `2.50 s`."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale * 0.9995:
            return f"{_three_digits(ns / scale)} {unit}"
    return f"{ns:.0f} ns"


def format_duration(seconds: float) -> str:
    """A duration for a person: `40 ms`, `0.5 s`, `32 s`, `2 min 05 s`, `3 h 20 min`, `1 d 2 h`."""
    if 0 < seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10 and round(seconds, 1) != int(seconds):
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s" if whole % 60 else f"{whole // 60} min"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min" if whole % 3600 >= 60 else f"{whole // 3600} h"
    return f"{whole // 86400} d {whole % 86400 // 3600} h" if whole % 86400 >= 3600 else f"{whole // 86400} d"


def format_clock(seconds: float) -> str:
    """A countdown: `0:07`, `12:34`, `1:02:03`."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def percent_words(fraction: float) -> str:
    """A share of one as it was given: `3%`, `2.5%`."""
    return f"{100 * fraction:.6g}%"


def format_percent(fraction: float, digits: int = 0) -> str:
    """A share of one as percent: `63%`."""
    return f"{100 * fraction:.{digits}f}%"
