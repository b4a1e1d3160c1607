"""How figures are named and written: the labels and units of metrics, numbers, differences, promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.analysis.metrics import LEAST_IOS, TAIL_IOS, Better, Measure
from diskprof.model.expectation import Operator
from diskprof.model.metric import Metric, Quantity
from diskprof.model.preset import EngineName
from diskprof.model.run import DirectionResult, Latency, TestRecord
from diskprof.model.sample import WITHIN_NS, LatencyKind
from diskprof.model.target import TargetKind
from diskprof.model.units import format_bandwidth, format_iops, format_latency
from diskprof.reports import words
from diskprof.reports.words import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from diskprof.analysis.comparison import ComparedMetric, ComparedValue

MISSING = "-"
"""Stands where there is no figure; in words everywhere, so that it also reads without UTF-8."""


class MetricWords(Struct, frozen=True):
    """How a metric is called: `label` in full, `short` where room is scarce. `better` says which way is good."""

    label: str
    short: str
    quantity: Quantity
    better: Better


METRICS: dict[Measure, MetricWords] = {
    Measure.IOPS: MetricWords("IOPS", "IOPS", Quantity.IOPS, Better.HIGHER),
    Measure.BANDWIDTH: MetricWords("Bandwidth", "BW", Quantity.BANDWIDTH, Better.HIGHER),
    Measure.LATENCY_MEAN: MetricWords("Latency, mean", "mean", Quantity.LATENCY, Better.LOWER),
    Measure.LATENCY_P50: MetricWords("Latency, p50", "p50", Quantity.LATENCY, Better.LOWER),
    Measure.LATENCY_P99: MetricWords("Latency, p99", "p99", Quantity.LATENCY, Better.LOWER),
    Measure.LATENCY_P99_9: MetricWords("Latency, p99.9", "p99.9", Quantity.LATENCY, Better.LOWER),
    Measure.LATENCY_MAX: MetricWords("Latency, max", "max", Quantity.LATENCY, Better.LOWER),
    Measure.WITHIN: MetricWords("I/Os within", "within", Quantity.SHARE, Better.HIGHER),
    Measure.SYNC_MEAN: MetricWords("fsync latency, mean", "fsync mean", Quantity.LATENCY, Better.LOWER),
    Measure.SYNC_P50: MetricWords("fsync latency, p50", "fsync p50", Quantity.LATENCY, Better.LOWER),
    Measure.SYNC_P99: MetricWords("fsync latency, p99", "fsync p99", Quantity.LATENCY, Better.LOWER),
    Measure.SYNC_P99_9: MetricWords("fsync latency, p99.9", "fsync p99.9", Quantity.LATENCY, Better.LOWER),
    Measure.SYNC_MAX: MetricWords("fsync latency, max", "fsync max", Quantity.LATENCY, Better.LOWER),
    Measure.CPU: MetricWords("CPU utilisation", "CPU", Quantity.SHARE, Better.NEITHER),
}

LATENCIES = (
    Measure.LATENCY_MEAN,
    Measure.LATENCY_P50,
    Measure.LATENCY_P99,
    Measure.LATENCY_P99_9,
    Measure.LATENCY_MAX,
)

_LATENCY_FIGURES: dict[Measure, Callable[[Latency], float | None]] = {
    Measure.LATENCY_MEAN: lambda latency: latency.mean,
    Measure.LATENCY_P50: lambda latency: latency.p50,
    Measure.LATENCY_P99: lambda latency: latency.p99,
    Measure.LATENCY_P99_9: lambda latency: latency.p99_9,
    Measure.LATENCY_MAX: lambda latency: latency.max,
}

UNJUDGED = f"Blank: fewer than {LEAST_IOS} I/Os in a run, or fewer than {TAIL_IOS} beyond the percentile."

_FACTOR_FROM = 9.995
"""Ten times as much again is written as a factor."""

_END_FACTOR_FROM = 9.995
"""The end of an interval is written as a factor from here on: it needs fewer digits than percent, and the columns line up."""

_MOST_FACTOR = 1000

_MOST_MORE = 100
"""Of more runs than that nobody needs the number."""

OPERATORS: dict[Operator, str] = {
    Operator.AT_LEAST: ">=",
    Operator.MORE_THAN: ">",
    Operator.AT_MOST: "<=",
    Operator.LESS_THAN: "<",
}
"""As `--expect` takes them."""

OPTIONS: dict[str, str] = {
    "bs": "block size",
    "iodepth": "queue depth",
    "numjobs": "jobs",
    "rw": "pattern",
    "ioengine": "I/O engine",
    "rwmixread": "share of reads",
    "rwmixwrite": "share of writes",
}
"""What the axes of a sweep are called; any other option by its own name."""

TARGETS: dict[TargetKind, str] = {
    TargetKind.DIRECTORY: "directory",
    TargetKind.FILE: "file",
    TargetKind.DEVICE: "device",
}


def metric_label(metric: Measure, within_ns: int = WITHIN_NS) -> str:
    """A metric's full name: `Latency, p99`, `I/Os within 250 us`."""
    label = METRICS[metric].label
    return f"{label} {format_latency(within_ns)}" if metric is Measure.WITHIN else label


def figure(metric: Measure, value: float | None) -> str:
    """A metric's value with its unit, in the prefix that suits it: `12.3k`, `173 MB/s`, `476 us`, `92.5%`."""
    if value is None:
        return MISSING
    match METRICS[metric].quantity:
        case Quantity.IOPS:
            return format_iops(value)
        case Quantity.BANDWIDTH:
            return format_bandwidth(value)
        case Quantity.LATENCY:
            return format_latency(value)
        case _:
            return share(value)


def latency(result: DirectionResult, metric: Measure) -> float | None:
    """One of LATENCIES of a result, in ns."""
    return _LATENCY_FIGURES[metric](result.latency.shown)


def share(value: float) -> str:
    """A share of one in percent; near the ends with the digits that tell 99.97% from all of them."""
    percent = 100 * value
    if percent in (0.0, 100.0):
        return f"{percent:.0f}%"
    if percent > 99 or percent < 1:
        # Never round to all or nothing what is not.
        return f"{min(99.99, max(0.01, percent)):.2f}%" if percent < 100 else f"{percent:.0f}%"
    return f"{percent:.1f}%"


def number(value: float) -> str:
    """A figure in a column whose head carries the unit: three digits or more, thousands apart by commas."""
    if abs(value) >= 999.5:
        return f"{value:,.0f}"
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    if abs(value) >= 9.995:
        return f"{value:.1f}"
    return "0" if value == 0 else f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.1g}"


def megabytes(bytes_per_s: float) -> str:
    """Bandwidth in a column headed MB/s."""
    return number(bytes_per_s / 1e6)


def row_unit(row: ComparedMetric) -> tuple[str, float]:
    """The one unit in which all cells of a row are shown, and what to divide by; empty for counts and shares."""
    match METRICS[row.metric].quantity:
        case Quantity.BANDWIDTH:
            return "MB/s", 1e6
        case Quantity.LATENCY:
            smallest = min((cell.value for cell in row.cells if cell.value), default=0.0)
            for unit, scale in (("s", 1e9), ("ms", 1e6)):
                # A value of 0.5 ms is better told as 500 us: the smallest of the row decides.
                if smallest >= 10 * scale:
                    return unit, scale
            return ("us", 1e3) if smallest >= 1e3 or smallest == 0 else ("ns", 1.0)
        case _:
            return "", 1.0


def row_label(row: ComparedMetric, within_ns: int = WITHIN_NS, *, short: bool = False) -> str:
    """A row's name with its unit: `Bandwidth (MB/s)`; `short`: `Latency p99 (us)`."""
    unit, _ = row_unit(row)
    label = metric_label(row.metric, within_ns)
    if short and METRICS[row.metric].quantity is Quantity.LATENCY:
        short_name = METRICS[row.metric].short
        label = f"Latency {short_name}" if row.metric in LATENCIES else short_name
    return f"{label} ({unit})" if unit else label


def row_value(row: ComparedMetric, cell: ComparedValue) -> str:
    """A cell's value in its row's unit."""
    if cell.value is None:
        return MISSING
    _, scale = row_unit(row)
    return share(cell.value) if row.share else number(cell.value / scale)


def difference(row: ComparedMetric, cell: ComparedValue) -> str:
    """A cell's difference to the first run: `+191%`, `x25`, `+77.2 pp` for shares; empty where there is none."""
    if cell.difference is None:
        return ""
    if row.share:
        return f"{_signed(100 * cell.difference)} pp"
    if cell.ratio is None:
        return ""
    if cell.ratio >= _FACTOR_FROM:
        return f"x{cell.ratio + 1:.3g}" if cell.ratio < 999 else f"x{cell.ratio + 1:.0f}"
    return f"{_signed(100 * cell.ratio)}%"


def _factor(ratio: float) -> str:
    return f"x{ratio + 1:.3g}" if ratio < _MOST_FACTOR else f"x{_MOST_FACTOR - 1}+"


def _end(ratio: float) -> str:
    """The end of so wide an interval as a factor, in which digits behind the point would be noise."""
    return f"x{ratio + 1:.0f}" if 9.5 <= ratio < _MOST_FACTOR - 1.5 else _factor(ratio)


def _signed(value: float) -> str:
    text = f"{value:+.1f}" if abs(value) < 9.95 else f"{value:+.0f}"
    return "0" if text in ("+0.0", "-0.0") else text


LATENCY_KINDS: dict[LatencyKind, str] = {
    LatencyKind.LAT: "fio's lat (slat + clat)",
    LatencyKind.CLAT: "fio's clat, without submission",
}


def legend(tests: Collection[TestRecord]) -> str:
    """What the columns of a table of results hold."""
    known = [result for test in tests if test.result for _, result in test.result.directions]
    kinds = {result.latency_kind for result in known} or {LatencyKind.LAT}
    engines = {test.engine for test in tests}
    told = [LATENCY_KINDS[kind] for kind in LatencyKind if kind in kinds] if EngineName.FIO in engines else []
    told += ["the time of a request"] if EngineName.IOPING in engines else []
    told += ["r_await and w_await of the kernel"] if EngineName.KERNEL in engines else []
    told += ["from the issue of a request to the disk to its completion"] if EngineName.TRACE in engines else []
    return f"Latency: {listed(told)}. MB/s: 10^6 bytes a second."


def interval(cell: ComparedValue) -> str:
    """The interval of a cell's difference: `(-9.4 to -6.1)` in percent or, of shares, percentage points; empty without one.

    Of a difference from ten times on: `(x12 to x18)`; one end ten times up: `(-88 to x12)`.
    """
    if cell.interval is None:
        return ""
    ends = (cell.interval.low, cell.interval.high)
    # A factor below one is harder to read than the loss in percent.
    if cell.ratio is not None and cell.ratio >= _FACTOR_FROM and ends[0] >= 0:
        return f"({' to '.join(map(_factor, ends))})"
    return f"({' to '.join(_end(end) if end >= _END_FACTOR_FROM else _signed(100 * end) for end in ends)})"


def verdict(cell: ComparedValue) -> str:
    """`better`, `worse`, `same`, `cannot tell`; empty where nothing was judged."""
    return words.CHANGES[cell.verdict].word if cell.verdict else ""


def mark(cell: ComparedValue) -> str:
    """As `verdict`, in one character."""
    return words.CHANGES[cell.verdict].sign if cell.verdict else ""


def more_runs(cell: ComparedValue) -> str:
    """`about 4 more runs a side needed`; empty where that is not the question."""
    return f"{more_runs_words(cell.more_runs)} needed" if cell.more_runs else ""


def more_runs_words(number_of: int) -> str:
    """`about 4 more runs a side`."""
    if number_of > _MOST_MORE:
        return f"more than {_MOST_MORE} more runs a side"
    return f"about {count(number_of, 'more run', 'more runs')} a side"


def relative(ratio: float) -> str:
    """A difference as a share of the first: `+4.0%`, `x25`."""
    return _factor(ratio) if ratio >= _FACTOR_FROM else f"{_signed(100 * ratio)}%"


def count(number_of: int, one: str, many: str = "") -> str:
    """`1 test`, `3 tests`."""
    return f"{number_of} {one if number_of == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def option_value(value: str | None) -> str:
    """A value of an option, `on` where it has none; MISSING where it is not given."""
    return MISSING if value is None else value or "on"


def option_values(values: Sequence[str | None], names: Sequence[str]) -> str:
    """What an option is in each of the runs that are called so: `1 (before), on (after)`."""
    return ", ".join(f"{option_value(value)} ({name})" for value, name in zip(values, names, strict=True))


def option(name: str) -> str:
    """An axis of a sweep in words: `block size`."""
    return OPTIONS.get(name, name)


def promised_metric(metric: Metric) -> str:
    """What a promise is about: `read IOPS`, `write bandwidth`, `read latency p99`, `reads within 250 us`, `CPU use`."""
    if metric.quantity is Quantity.CPU:
        return "CPU use"
    if metric.quantity is Quantity.SHARE:
        way = DIRECTIONS[metric.direction].word if metric.direction else "I/O"
        return f"{way}s within {_trimmed(format_latency(metric.within_ns))}"
    if metric.quantity is Quantity.LATENCY:
        way = DIRECTIONS[metric.direction].word if metric.direction else "fsync"
        return f"{way} latency {metric.figure.replace('_', '.')}"
    way = DIRECTIONS[metric.direction].word if metric.direction else "total"
    return f"{way} {'IOPS' if metric.quantity is Quantity.IOPS else 'bandwidth'}"


_AMOUNTS: dict[Quantity, tuple[tuple[str, float], ...]] = {
    Quantity.IOPS: (("", 1.0),),
    Quantity.BANDWIDTH: ((" GB/s", 1e9), (" MB/s", 1e6), (" kB/s", 1e3), (" B/s", 1.0)),
    Quantity.LATENCY: ((" s", 1e9), (" ms", 1e6), (" us", 1e3), (" ns", 1.0)),
    Quantity.SHARE: (("%", 0.01),),
    Quantity.CPU: (("%", 1.0),),
}


def amount(quantity: Quantity, value: float, more: int = 0) -> str:
    """A promised or measured value with its unit, IOPS bare: `5,000`, `200 MB/s`, `4.21 ms`; `more` digits than the usual three."""
    if quantity is Quantity.SHARE and not more:
        return share(value)
    units = _AMOUNTS[quantity]
    unit, scale = next(((unit, scale) for unit, scale in units if value >= scale * 0.9995), units[-1])
    value /= scale
    decimals = (0 if value >= 99.95 else 1 if value >= 9.995 else 2) + more
    return f"{value:,.{decimals}f}{unit}"


def amounts(quantity: Quantity, promised: float, measured: float | None) -> tuple[str, str]:
    """A promise without needless zeros and what was measured, with as many digits as tell the two apart."""
    if measured is None:
        return _trimmed(amount(quantity, promised)), MISSING
    more = 0
    while more < 6 and promised != measured and amount(quantity, promised, more) == amount(quantity, measured, more):
        more += 1
    return _trimmed(amount(quantity, promised, more)), amount(quantity, measured, more)


def _trimmed(text: str) -> str:
    """`5.00 ms` as `5 ms`."""
    head, dot, tail = text.partition(".")
    digits = tail.rstrip("abcdefghijklmnopqrstuvwxyzBGKMPT/% ")
    kept = digits.rstrip("0")
    return f"{head}{dot if kept else ''}{kept}{tail[len(digits) :]}"


def promised_ratio(ratio: float | None) -> str:
    """Measured to promised: `84%`, `102%`, `x12.5`; never a round 100% for what is not."""
    if ratio is None:
        return MISSING
    if ratio >= 9.995:
        return f"x{ratio:.3g}" if ratio < 999 else f"x{ratio:.0f}"
    if ratio == 1 or not 0.995 <= ratio < 1.005:
        return f"{100 * ratio:.0f}%" if ratio >= 0.0995 or ratio == 0 else f"{100 * ratio:.2g}%"
    return f"{min(99.99, 100 * ratio):.2f}%" if ratio < 1 else f"{max(100.01, 100 * ratio):.2f}%"
