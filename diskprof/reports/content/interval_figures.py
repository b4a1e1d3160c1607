"""Figures of an interval, and how the samples of a test become a timeline of them."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from diskprof.model.metric import Quantity
from diskprof.model.sample import Sample
from diskprof.reports.charts.timeline import Merging, Timeline


class Timed(Struct, frozen=True):
    """A figure of an interval. Neighbours merge to their mean, a percentile to its worst."""

    quantity: Quantity
    figure: Callable[[Sample], float | None]
    merging: Merging = Merging.MEAN


IOPS = Timed(Quantity.IOPS, lambda sample: sample.iops)
BANDWIDTH = Timed(Quantity.BANDWIDTH, lambda sample: sample.bandwidth)
MEAN = Timed(Quantity.LATENCY, lambda sample: sample.mean_ns)
P50 = Timed(Quantity.LATENCY, lambda sample: sample.quantile(0.5), Merging.MAX)
P99 = Timed(Quantity.LATENCY, lambda sample: sample.quantile(0.99), Merging.MAX)


def timeline_of(samples: Sequence[Sample], timed: Timed) -> Timeline:
    """A figure of the measured samples of one direction, over the seconds since the first of them began."""
    line = Timeline(timed.merging, limit=2048)
    began = samples[0].at_ns - samples[0].duration_ns if samples else 0
    for sample in samples:
        if (value := timed.figure(sample)) is not None:
            end = (sample.at_ns - began) / 1e9
            line.add(end - sample.duration_ns / 1e9, end, value)
    return line
