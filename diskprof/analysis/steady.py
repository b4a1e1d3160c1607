"""Whether the last windows of a test are steady, and the result of windows alone. Pure: values in, values out."""

import statistics
from collections.abc import Sequence
from math import fsum
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.expectations import measure
from diskprof.model.histogram import Histogram, merge
from diskprof.model.load import Load
from diskprof.model.metric import Metric, Quantity
from diskprof.model.run import PERCENTILES, DirectionResult, Latency, RoundFigures, TestResult
from diskprof.model.sample import Direction, LatencyKind, Sample, SystemSample
from diskprof.model.steady import RoundsRule, SteadyRule, SteadyWindows


class WindowFit(Struct, frozen=True):
    """What equally long windows in a row say together.

    `deviation` is the largest distance of one from the mean (fio's steadystate `iops` and `bw`), `step` what the line of least
    squares gains from one window to the next (fio's `iops_slope` and `bw_slope`), both in the figure's unit. `range` is the
    greatest less the least, `slope` what the line gains from the first window to the last, both as shares of the mean (SNIA PTS,
    data and slope excursion).
    """

    mean: float
    deviation: float
    step: float
    range: float
    slope: float


def fit_windows(values: Sequence[float]) -> WindowFit | None:
    """None of fewer than two windows, or where their mean is not above zero."""
    if len(values) < 2 or (mean := statistics.fmean(values)) <= 0:
        return None
    step = statistics.linear_regression(range(len(values)), values).slope
    return WindowFit(
        mean=mean,
        deviation=max(abs(value - mean) for value in values),
        step=step,
        range=(max(values) - min(values)) / mean,
        slope=step * (len(values) - 1) / mean,
    )


def is_steady(rule: SteadyRule | RoundsRule, values: Sequence[float]) -> bool:
    """Whether the last windows of `values`, a figure for each window from the first on, keep the rule."""
    fit = fit_windows(values[-rule.windows :]) if len(values) >= rule.windows else None
    return fit is not None and fit.range <= rule.range and abs(fit.slope) <= rule.slope


def window_figure(metric: Metric, samples: Sequence[Sample]) -> float:
    """The figure of one window, in the metric's unit; 0 where nothing completed in it."""
    return measure(metric, result_of(samples)) or 0.0


def round_figure(metric: Metric, result: TestResult, *, tracked: bool) -> float:
    """The figure of a test in one round, in the metric's unit; 0 where nothing completed in it.

    Of another test than the tracked one it is that of all that the test does: rates add up, latencies are weighed by I/Os.
    """
    if tracked:
        return measure(metric, result) or 0.0
    parts = [
        (part.ios, measure(replace(metric, direction=direction), result) or 0.0)
        for direction, part in result.directions
    ]
    if metric.quantity in (Quantity.IOPS, Quantity.BANDWIDTH):
        return fsum(value for _, value in parts)
    ios = sum(number for number, _ in parts)
    return fsum(number * value for number, value in parts) / ios if ios else 0.0


def round_of(part: DirectionResult | None) -> RoundFigures | None:
    """What is kept of one direction of a test in one round."""
    if part is None:
        return None
    latency = part.latency.shown
    return RoundFigures(part.iops, part.bandwidth_bytes_per_s, latency.mean, latency.p99, latency.max)


T = TypeVar("T", Sample, SystemSample)


def counted(steady: SteadyWindows | None, samples: Sequence[T]) -> tuple[T, ...]:
    """Those of a test's samples that its result counts: all, or those of its steady windows."""
    if steady is None:
        return tuple(samples)
    return tuple(sample for sample in samples if steady.begin_ns < sample.at_ns <= steady.end_ns)


def result_of(samples: Sequence[Sample], load: Load | None = None, kind: LatencyKind = LatencyKind.LAT) -> TestResult:
    """What samples of one test say together, exactly: their sums, and their histograms merged.

    Without what no sample tells (`with_told`). Jobs of `load` that do different things have no latency together. `kind` is that of
    the samples' latencies.
    """
    parts = {
        direction: _direction([sample for sample in samples if sample.direction is direction], kind)
        if load is None or load.alike(direction)
        else _without_latency([sample for sample in samples if sample.direction is direction], kind)
        for direction in Direction
    }
    return TestResult(parts[Direction.READ], parts[Direction.WRITE])


def with_told(result: TestResult, told: TestResult | None) -> TestResult:
    """The result of samples with what the engine `told` of the same time that no sample does: clat and slat, deviations, CPU use,
    fsync latency, and each job apart."""
    if told is None:
        return result
    read, write = (
        _with_told(result.direction(direction), told.direction(direction))
        for direction in (Direction.READ, Direction.WRITE)
    )
    return TestResult(read, write, told.cpu, told.sync, told.jobs)


def _with_told(part: DirectionResult | None, told: DirectionResult | None) -> DirectionResult | None:
    if part is None or told is None:
        return part
    latency = replace(part.latency, stddev=told.latency.stddev)
    return replace(part, latency=latency, clat=told.clat, slat=told.slat, lat=told.lat)


def _direction(samples: Sequence[Sample], kind: LatencyKind) -> DirectionResult | None:
    histogram = merge(sample.histogram for sample in samples if sample.histogram)
    return _result(samples, kind, _latency(samples, histogram), histogram)


def _without_latency(samples: Sequence[Sample], kind: LatencyKind) -> DirectionResult | None:
    return _result(samples, kind, Latency(), None)


def _result(
    samples: Sequence[Sample], kind: LatencyKind, latency: Latency, histogram: Histogram | None
) -> DirectionResult | None:
    ios, size = sum(sample.ios for sample in samples), sum(sample.bytes for sample in samples)
    duration = sum(sample.duration_ns for sample in samples)
    if not (ios or size) or not duration:
        return None
    return DirectionResult(
        ios=ios,
        bytes=size,
        iops=round(ios * 1e9 / duration, 6),
        bandwidth_bytes_per_s=round(size * 1e9 / duration),
        runtime_ms=round(duration / 1e6),
        latency=latency,
        histogram=histogram or None,
        latency_kind=kind,
    )


def _latency(samples: Sequence[Sample], histogram: Histogram) -> Latency:
    timed = [sample for sample in samples if sample.mean_ns is not None and sample.ios]
    if not timed or not histogram:
        return Latency()
    means = fsum((sample.mean_ns or 0.0) * sample.ios for sample in timed)
    return Latency(
        mean=round(means / sum(sample.ios for sample in timed), 6),
        min=min(sample.min_ns for sample in timed if sample.min_ns is not None),
        max=max(sample.max_ns for sample in timed if sample.max_ns is not None),
        **{name: histogram.quantile(q) for name, q in PERCENTILES.items()},
    )
