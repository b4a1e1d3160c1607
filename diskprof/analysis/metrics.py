"""The figures that runs are compared by: where each comes from, and which way is better."""

from collections.abc import Callable
from enum import StrEnum

from diskprof.model.run import DirectionResult, TestResult
from diskprof.model.sample import Sample
from diskprof.model.value import dataclass

WITHIN_NS = 250_000
"""The threshold of the share of I/Os that were fast enough: 250 us, as the article that this table comes from has it."""


class Metric(StrEnum):
    IOPS = "iops"
    BANDWIDTH = "bandwidth_bytes_per_s"
    LATENCY_MEAN = "latency_mean_ns"
    LATENCY_P50 = "latency_p50_ns"
    LATENCY_P99 = "latency_p99_ns"
    LATENCY_P99_9 = "latency_p99_9_ns"
    LATENCY_MAX = "latency_max_ns"
    WITHIN = "share_within"
    CPU = "cpu"


class Better(StrEnum):
    """Which way a metric is better. NEITHER: more CPU for more I/O is no fault."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Source:
    """How to read a metric.

    `tail` is the share of the I/Os that a quantile leaves above itself. `share` marks metrics from 0 to 1, whose difference
    is told in percentage points. `of_sample` gives the same figure of one interval, for the spread.
    """

    metric: Metric
    better: Better
    of_result: Callable[[DirectionResult], float | None]
    of_sample: Callable[[Sample], float | None]
    tail: float | None = None
    share: bool = False


def _quantile(q: float) -> Callable[[Sample], float | None]:
    return lambda sample: sample.quantile(q)


def direction_metrics(within_ns: int = WITHIN_NS) -> tuple[Source, ...]:
    """The metrics of one direction of a test, in the order in which they are shown."""
    lower = Better.LOWER
    return (
        Source(Metric.IOPS, Better.HIGHER, lambda result: result.iops, lambda sample: sample.iops),
        Source(
            Metric.BANDWIDTH,
            Better.HIGHER,
            lambda result: result.bandwidth_bytes_per_s,
            lambda sample: sample.bandwidth,
        ),
        Source(Metric.LATENCY_MEAN, lower, lambda result: result.latency.mean, lambda sample: sample.mean_ns),
        Source(Metric.LATENCY_P50, lower, lambda result: result.latency.p50, _quantile(0.5), tail=0.5),
        Source(Metric.LATENCY_P99, lower, lambda result: result.latency.p99, _quantile(0.99), tail=0.01),
        Source(Metric.LATENCY_P99_9, lower, lambda result: result.latency.p99_9, _quantile(0.999), tail=0.001),
        Source(Metric.LATENCY_MAX, lower, lambda result: result.latency.max, lambda sample: sample.max_ns),
        Source(
            Metric.WITHIN,
            Better.HIGHER,
            lambda result: result.share_within(within_ns),
            lambda sample: sample.histogram.share_below(within_ns) if sample.histogram else None,
            share=True,
        ),
    )


def cpu_use(result: TestResult) -> float | None:
    """CPU use (user + system) of the engine's jobs as a share of one CPU; None where the engine does not say."""
    return result.cpu.percent / 100 if result.cpu else None
