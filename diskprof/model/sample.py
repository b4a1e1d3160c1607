"""Samples: what happened in one interval. Never cumulative."""

from collections.abc import Sequence
from enum import StrEnum
from operator import attrgetter

from msgspec import Struct

from diskprof.model.histogram import Histogram

WITHIN_NS = 250_000
"""The threshold of the share of I/Os that were fast enough: 250 us, as the article that this table comes from has it."""


class Direction(StrEnum):
    READ = "read"
    WRITE = "write"


class LatencyKind(StrEnum):
    """Which of fio's latencies is shown: the whole time of an I/O, or, where fio has no bins for that, without its submission."""

    LAT = "lat"
    CLAT = "clat"


class Phase(StrEnum):
    """PREPARING: the test file is laid out. WARMING: fio's ramp_time. MEASURING: what the result counts."""

    PENDING = "pending"
    PREPARING = "preparing"
    WARMING = "warming up"
    MEASURING = "measuring"
    DONE = "done"


class Sample(Struct, frozen=True):
    """The I/Os of one direction that completed in one interval.

    `at_ns` is the end of the interval in ns since the run began (monotonic); `duration_ns` its length by the engine's own
    clock, or by ours where the engine stalled (F7). `histogram` holds latencies and is None
    where the engine gives no distribution (ioping -R). Latencies in ns; None where nothing completed.

    The percentiles and `within`, the share of I/Os within WITHIN_NS, are told where they are known without the histogram: they
    are what was stored beside it, or what stands for several intervals that were merged, which have no histogram
    (`Store.course`). Samples that differ in them alone are equal.
    """

    test: int
    phase: Phase
    direction: Direction
    at_ns: int
    duration_ns: int
    ios: int
    bytes: int
    mean_ns: float | None = None
    min_ns: int | None = None
    max_ns: int | None = None
    histogram: Histogram | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    p99_9_ns: int | None = None
    within: float | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and _measured(self) == _measured(other)

    def __hash__(self) -> int:
        return hash(_measured(self))

    @property
    def iops(self) -> float:
        return self.ios * 1e9 / self.duration_ns if self.duration_ns > 0 else 0.0

    @property
    def bandwidth(self) -> float:
        """Bytes per second."""
        return self.bytes * 1e9 / self.duration_ns if self.duration_ns > 0 else 0.0

    @property
    def distributed(self) -> bool:
        """Whether the engine gave a distribution, of which there are percentiles."""
        return self.histogram is not None or self.p50_ns is not None

    def quantile(self, q: float) -> int | None:
        """The latency in ns within which a share `q` of the I/Os completed; None without a distribution or I/Os."""
        known = self.p50_ns if q == 0.5 else self.p99_ns if q == 0.99 else self.p99_9_ns if q == 0.999 else None
        return known if known is not None or self.histogram is None else self.quantiles((q,))[0]

    def quantiles(self, shares: Sequence[float]) -> tuple[int | None, ...]:
        """As `quantile`, of several at once."""
        stored = {0.5: self.p50_ns, 0.99: self.p99_ns, 0.999: self.p99_9_ns}
        known = tuple(map(stored.get, shares))
        if self.histogram is None or None not in known:
            return known
        found = self.histogram.quantiles(shares)
        most = self.max_ns
        # The middle of the last bucket can lie above what was measured.
        return tuple(
            had if had is not None else value if value is None or most is None else min(value, most)
            for had, value in zip(known, found, strict=True)
        )

    def share_within(self, ns: int) -> float | None:
        """The share of the I/Os that completed within `ns`; None without a distribution or I/Os."""
        if ns == WITHIN_NS and self.within is not None:
            return self.within
        return self.histogram.share_below(ns) if self.histogram else None

    def ended_ns(self, before_ns: int | None) -> int:
        """When its interval ended, in ns since the run began; `before_ns`: the end of the one before of its direction.

        The engine may report its last interval when it ends, some time after its jobs did. A pause between two samples is not
        that.
        """
        if before_ns is None or abs(self.at_ns - self.duration_ns - before_ns) >= self.duration_ns / 2:
            return self.at_ns
        return min(self.at_ns, before_ns + self.duration_ns)


SAMPLE_FIELDS = Sample.__struct_fields__[:-4]
"""What is measured, without what is told beside the histogram."""
_measured = attrgetter(*SAMPLE_FIELDS)


class SystemSample(Struct, frozen=True):
    """What the kernel saw in one interval: the device under test (iostat's figures as amounts) and the machine's CPUs.

    CPU shares are of all CPUs together, 0 to 1. Device figures are None where the target has no block device. The `cgroup_`
    figures are those of the innermost group that limits the I/O of this process, `cpu_periods` and what follows those of the
    innermost that limits its CPU time; None where none does. Memory is what there was at the end of the interval.
    `own_write_bytes` is what the runner itself, not the engine, wrote to whichever disk: its store, for the most part.
    Discards and flushes are None where the kernel does not count them.
    """

    test: int
    phase: Phase
    at_ns: int
    duration_ns: int
    reads: int | None = None
    writes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    read_ticks_ms: int | None = None
    write_ticks_ms: int | None = None
    io_ticks_ms: int | None = None
    queue_ticks_ms: int | None = None
    merges: int | None = None
    cpu_user: float | None = None
    cpu_system: float | None = None
    cpu_iowait: float | None = None
    cpu_steal: float | None = None
    temperature_c: float | None = None
    read_merges: int | None = None
    write_merges: int | None = None
    cgroup_reads: int | None = None
    cgroup_writes: int | None = None
    cgroup_read_bytes: int | None = None
    cgroup_write_bytes: int | None = None
    cpu_periods: int | None = None
    cpu_throttled: int | None = None
    cpu_throttled_ns: int | None = None
    memory_available_bytes: int | None = None
    cached_bytes: int | None = None
    dirty_bytes: int | None = None
    own_write_bytes: int | None = None
    discards: int | None = None
    discard_bytes: int | None = None
    discard_ticks_ms: int | None = None
    flushes: int | None = None
    flush_ticks_ms: int | None = None
