"""What was seen of a disk -> the load it had."""

from collections.abc import Sequence
from statistics import fmean, pstdev

from msgspec.structs import replace

from diskprof.analysis.kernel import KernelView, kernel_view
from diskprof.model.requests import Requests
from diskprof.model.sample import Direction, SystemSample
from diskprof.model.seen_load import LoadSource, Pace, SeenLoad, SeenSize, rate_levels

_AT_THE_LIMIT = 0.2
"""Of the busy time: a load that is held by its depth is that long at its deepest."""
_LEAST_INTERVALS = 5
_SELDOM = 0.999


def load_of_requests(requests: Requests, intervals: Sequence[SystemSample]) -> SeenLoad:
    """Of requests that were traced. `intervals` are the kernel's counters of the same time."""
    # A run that was imported may say anything.
    seconds = max(1, requests.duration_ns) / 1e9
    sizes = tuple(
        SeenSize(direction, each.size, each.ios / seconds, each.in_order / each.ios)
        for direction in Direction
        for each in requests.direction(direction).sizes
        if each.ios > 0 and each.size > 0
    )
    writes = max(0, requests.write.ios)
    return SeenLoad(
        LoadSource.REQUESTS,
        seconds,
        sizes,
        requests.depth,
        requests.depth_within(_SELDOM),
        pace_of(requests, intervals),
        _highest(intervals),
        requests.write.durable / writes if writes else None,
        requests.flushes / writes if writes else None,
        requests.touched_bytes,
        requests.lost,
        rate_levels(_rates(intervals)),
    )


def load_of_counters(intervals: Sequence[SystemSample]) -> SeenLoad:
    """Of the kernel's counters alone."""
    view = kernel_view(intervals) if intervals else None
    if view is None:
        return SeenLoad(LoadSource.COUNTERS, 0.0, ())
    load = load_of_view(view, _highest(intervals), LoadSource.COUNTERS)
    return replace(load, levels=rate_levels(_rates(intervals)))


def load_of_view(view: KernelView, highest_per_s: float | None, source: LoadSource) -> SeenLoad:
    """Of rates and mean sizes."""
    rates = (
        (Direction.READ, view.reads_per_s, view.read_size_bytes),
        (Direction.WRITE, view.writes_per_s, view.write_size_bytes),
    )
    sizes = tuple(SeenSize(direction, round(size), rate) for direction, rate, size in rates if rate and size)
    flushes = view.flushes_per_s / view.writes_per_s if view.flushes_per_s is not None and view.writes_per_s else None
    return SeenLoad(source, view.seconds, sizes, view.queue_depth, highest_per_s=highest_per_s, flushes=flushes)


def pace_of(requests: Requests, intervals: Sequence[SystemSample]) -> Pace:
    """Whether the load was held by the number in flight: it was long at its deepest, and changed less from interval to interval
    than the rate did. A load that comes at a rate keeps that, and what is in flight follows from the disk."""
    most = requests.depth_within(_SELDOM)
    busy = sum(ns for depth, ns in requests.depths if depth)
    deepest = sum(ns for depth, ns in requests.depths if depth >= most)
    if most < 2 or not busy or deepest < _AT_THE_LIMIT * busy:
        return Pace.RATE
    rates, depths = [], []
    for each in intervals:
        seconds = each.duration_ns / 1e9
        if seconds > 0 and each.queue_ticks_ms is not None:
            rates.append(((each.reads or 0) + (each.writes or 0)) / seconds)
            depths.append(each.queue_ticks_ms / 1e3 / seconds)
    if len(rates) < _LEAST_INTERVALS:
        return Pace.DEPTH
    return Pace.DEPTH if _variation(depths) < _variation(rates) else Pace.RATE


def _variation(values: Sequence[float]) -> float:
    mean = fmean(values)
    return pstdev(values) / mean if mean else 0.0


def _highest(intervals: Sequence[SystemSample]) -> float | None:
    return max(_rates(intervals), default=None)


def _rates(intervals: Sequence[SystemSample]) -> list[float]:
    """Requests a second of each."""
    return [
        ((each.reads or 0) + (each.writes or 0)) * 1e9 / each.duration_ns for each in intervals if each.duration_ns > 0
    ]
