"""The figures that runs are compared by: where each comes from, and which way is better."""

from collections.abc import Callable
from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

from diskprof.model.run import DirectionResult, Latency, TestResult
from diskprof.model.sample import WITHIN_NS, Sample

LEAST_IOS = 10
"""No figure of fewer I/Os is judged: a mean of two requests is one of them, and a next one may be anything."""

TAIL_IOS = 10
"""A quantile is judged only if at least this many I/Os lie beyond it in each run."""


class Measure(StrEnum):
    IOPS = "iops"
    BANDWIDTH = "bandwidth_bytes_per_s"
    LATENCY_MEAN = "latency_mean_ns"
    LATENCY_P50 = "latency_p50_ns"
    LATENCY_P99 = "latency_p99_ns"
    LATENCY_P99_9 = "latency_p99_9_ns"
    LATENCY_MAX = "latency_max_ns"
    WITHIN = "share_within"
    SYNC_MEAN = "sync_latency_mean_ns"
    SYNC_P50 = "sync_latency_p50_ns"
    SYNC_P99 = "sync_latency_p99_ns"
    SYNC_P99_9 = "sync_latency_p99_9_ns"
    SYNC_MAX = "sync_latency_max_ns"
    CPU = "cpu"


OF_LATENCY = frozenset(
    {
        Measure.LATENCY_MEAN,
        Measure.LATENCY_P50,
        Measure.LATENCY_P99,
        Measure.LATENCY_P99_9,
        Measure.LATENCY_MAX,
        Measure.WITHIN,
    }
)
"""What goes by the latency of I/Os."""


class Better(StrEnum):
    """Which way a metric is better. NEITHER: more CPU for more I/O is no fault."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


Part = TypeVar("Part")


class MetricReader(Struct, Generic[Part], frozen=True):
    """How to read a metric of a part of a result.

    `tail` is the share of the I/Os that a quantile leaves above itself. `share` marks metrics from 0 to 1, whose difference
    is told in percentage points. `of_sample` gives the same figure of one interval, for the spread.
    """

    metric: Measure
    better: Better
    of_result: Callable[[Part], float | None]
    of_sample: Callable[[Sample], float | None]
    tail: float | None = None
    share: bool = False


def _quantile(q: float) -> Callable[[Sample], float | None]:
    return lambda sample: sample.quantile(q)


def direction_metrics(within_ns: int = WITHIN_NS) -> tuple[MetricReader[DirectionResult], ...]:
    """The metrics of one direction of a test, in the order in which they are shown."""
    lower = Better.LOWER
    return (
        MetricReader(Measure.IOPS, Better.HIGHER, lambda result: result.iops, lambda sample: sample.iops),
        MetricReader(
            Measure.BANDWIDTH,
            Better.HIGHER,
            lambda result: result.bandwidth_bytes_per_s,
            lambda sample: sample.bandwidth,
        ),
        MetricReader(
            Measure.LATENCY_MEAN, lower, lambda result: result.latency.shown.mean, lambda sample: sample.mean_ns
        ),
        MetricReader(Measure.LATENCY_P50, lower, lambda result: result.latency.shown.p50, _quantile(0.5), tail=0.5),
        MetricReader(Measure.LATENCY_P99, lower, lambda result: result.latency.shown.p99, _quantile(0.99), tail=0.01),
        MetricReader(
            Measure.LATENCY_P99_9, lower, lambda result: result.latency.shown.p99_9, _quantile(0.999), tail=0.001
        ),
        MetricReader(Measure.LATENCY_MAX, lower, lambda result: result.latency.shown.max, lambda sample: sample.max_ns),
        MetricReader(
            Measure.WITHIN,
            Better.HIGHER,
            lambda result: result.share_within(within_ns),
            lambda sample: sample.share_within(within_ns),
            share=True,
        ),
    )


def _pace(sample: Sample) -> float | None:
    return sample.iops


SYNC_METRICS: tuple[MetricReader[Latency], ...] = (
    MetricReader(Measure.SYNC_MEAN, Better.LOWER, lambda sync: sync.mean, _pace),
    MetricReader(Measure.SYNC_P50, Better.LOWER, lambda sync: sync.shown.p50, _pace, tail=0.5),
    MetricReader(Measure.SYNC_P99, Better.LOWER, lambda sync: sync.shown.p99, _quantile(0.99), tail=0.01),
    MetricReader(Measure.SYNC_P99_9, Better.LOWER, lambda sync: sync.shown.p99_9, _quantile(0.999), tail=0.001),
    MetricReader(Measure.SYNC_MAX, Better.LOWER, lambda sync: sync.max, lambda sample: sample.max_ns),
)
"""The metrics of fsync and fdatasync, which are of a test as a whole, in the order in which they are shown.

Intervals do not tell of them. A write waits for the sync before it, so the spread of the writes stands for that of the mean,
and the spread of their tails, on the same disk at the same time, for that of the tails.
"""


def cpu_use(result: TestResult) -> float | None:
    """CPU use (user + system) of the engine's jobs as a share of one CPU; None where the engine does not say."""
    return result.cpu.percent / 100 if result.cpu else None
