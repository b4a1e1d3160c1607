"""What all members of a fleet run come to together: sums of rates, and percentiles of all their I/Os."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.fleet.measured import Measured
from diskprof.model.histogram import Histogram, merge
from diskprof.model.run import DirectionResult, TestRecord
from diskprof.model.sample import Direction


class Sum(Struct, frozen=True):
    """A direction of a test over `members` of them: I/Os and bytes per second, of repeats the median.

    `histogram` is that of all I/Os of all repeats: fio's buckets hold whole numbers, so percentiles of it are exact, as a mean of
    percentiles is not. None where a member has no distribution.
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
    """The sums of each test and direction, in the order of the plan; of repeats those that most members have."""
    found: dict[tuple[str, Direction], dict[int, list[tuple[TestRecord, DirectionResult]]]] = {}
    for member in members:
        for run in member.runs:
            repeat = run.fleet.repeat if run.fleet else 1
            for record, direction, result in Measured(member.label, (run,)).results:
                repeats = found.setdefault((record.name, direction), {})
                repeats.setdefault(repeat, []).append((record, result))
    return tuple(_sum(direction, list(repeats.values())) for (_, direction), repeats in found.items())


def _sum(direction: Direction, repeats: Sequence[Sequence[tuple[TestRecord, DirectionResult]]]) -> Sum:
    most = max(map(len, repeats))
    whole = [[result for _, result in parts] for parts in repeats if len(parts) == most]
    results = [result for parts in whole for result in parts]
    spreads = [result.histogram for result in results if result.histogram]
    first = repeats[0][0][0]
    return Sum(
        *(first.name, first.title, direction, most),
        iops=statistics.median(sum(result.iops for result in parts) for parts in whole),
        bandwidth_bytes_per_s=statistics.median(sum(each.bandwidth_bytes_per_s for each in parts) for parts in whole),
        histogram=merge(spreads) if len(spreads) == len(results) else None,
    )
