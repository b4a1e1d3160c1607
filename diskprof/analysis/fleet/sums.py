"""What all members of a fleet run come to together: sums of rates, and percentiles of all their I/Os."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.analysis.fleet.measured import Measured
from diskprof.model.histogram import Histogram, merge
from diskprof.model.run import DirectionResult, TestRecord
from diskprof.model.sample import Direction


@dataclass(frozen=True, slots=True)
class Sum:
    """A direction of a test over `members` of them: I/Os and bytes per second.

    `histogram` is that of all I/Os: fio's buckets hold whole numbers, so percentiles of it are exact, as a mean of percentiles is
    not. None where a member has no distribution.
    """

    test: str
    title: str
    direction: Direction
    members: int
    iops: float
    bandwidth_bytes_per_s: float
    histogram: Histogram | None

    def quantile(self, q: float) -> int | None:
        """In ns; None without a distribution."""
        return self.histogram.quantile(q) if self.histogram else None


def sums(members: Sequence[Measured]) -> tuple[Sum, ...]:
    """The sums of each test and direction, in the order of the plan; of repeats those of the last run."""
    found: dict[tuple[str, Direction], list[tuple[TestRecord, DirectionResult]]] = {}
    for member in members:
        last = {(record.name, direction): (record, result) for record, direction, result in member.results}
        for key, each in last.items():
            found.setdefault(key, []).append(each)
    return tuple(_sum(direction, parts) for (_, direction), parts in found.items())


def _sum(direction: Direction, parts: Sequence[tuple[TestRecord, DirectionResult]]) -> Sum:
    results = [result for _, result in parts]
    spreads = [result.histogram for result in results if result.histogram]
    return Sum(
        *(parts[0][0].name, parts[0][0].title, direction, len(parts)),
        iops=sum(result.iops for result in results),
        bandwidth_bytes_per_s=sum(result.bandwidth_bytes_per_s for result in results),
        histogram=merge(spreads) if len(spreads) == len(results) else None,
    )
