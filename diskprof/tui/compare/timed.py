"""What can be drawn of a test over time, and how its samples become a curve."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diskprof.analysis.series import measured
from diskprof.model.sample import Direction, Sample
from diskprof.tui.kit.charts.scale import Metric
from diskprof.tui.kit.charts.time_series import Merging, Series


@dataclass(frozen=True, slots=True)
class Timed:
    """A figure of an interval. Neighbours merge to their mean, a percentile to its worst."""

    metric: Metric
    figure: Callable[[Sample], float | None]
    merging: Merging = Merging.MEAN


def _p99(sample: Sample) -> float | None:
    return sample.quantile(0.99)


TIMED = (
    Timed(Metric.IOPS, lambda sample: sample.iops),
    Timed(Metric.BANDWIDTH, lambda sample: sample.bandwidth),
    Timed(Metric.LATENCY, _p99, Merging.MAX),
)


def series_of(samples: Sequence[Sample], test: int, direction: Direction, timed: Timed) -> Series:
    """One direction of a test over the seconds since its measuring began."""
    series, start = Series(timed.merging, limit=2048), None
    for sample in measured(samples, test, direction):
        if start is None:
            start = sample.at_ns - sample.duration_ns
        value = timed.figure(sample)
        if value is not None:
            end = (sample.at_ns - start) / 1e9
            series.add(end - sample.duration_ns / 1e9, end, value)
    return series
