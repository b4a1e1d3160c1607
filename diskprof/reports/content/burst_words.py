"""What a burst is worth: a row for each load that was drained twice, what jobs take, and that there is none."""

import math
from collections.abc import Sequence

from diskprof.analysis.bursts import Bucket, BurstResult
from diskprof.model.title import sweep_title
from diskprof.model.units import format_bandwidth, format_duration, format_iops
from diskprof.reports.blocks import Block, Cell, Paragraph, Table
from diskprof.reports.figures import MISSING
from diskprof.reports.layout import Column

_LEGEND = (
    "Bucket: what a burst does above the baseline until the bucket is empty, as full as it was at the start. "
    "Full after: an empty bucket, without I/O."
)
_JOBS = 3
"""Jobs are told in so many sizes, each ten times the one before."""


def burst_blocks(found: Sequence[BurstResult]) -> list[Block]:
    """A table of the buckets, a sentence on jobs for each, and one for each load that has none."""
    rows = [_row(one, one.bucket) for one in found if one.bucket]
    columns = (
        Column("Test", least=10, middle=True),
        *(Column(head, right=True) for head in ("Baseline", "Burst", "for", "Bucket", "Refill", "Full after")),
    )
    blocks: list[Block] = [Table(columns, tuple(rows), legend=_LEGEND)] if rows else []
    return [*blocks, *(Paragraph(sentence, hanging=True) for sentence in burst_sentences(found))]


def burst_sentences(found: Sequence[BurstResult]) -> list[str]:
    """`4K rand read QD32: a job of 10.0k I/Os takes 3.3 s, one of 100k I/Os takes 2 min 13 s, ...`; or that there is none."""
    return [f"{_title(one)}: {_jobs(one, one.bucket) if one.bucket else _none(one)}" for one in found]


def _title(one: BurstResult) -> str:
    return sweep_title(one.pair.first.planned.jobs, ()) or one.pair.first.title


def _row(one: BurstResult, bucket: Bucket) -> tuple[Cell, ...]:
    least = ">= " if bucket.at_least else ""
    after = bucket.full_after_s
    return tuple(
        map(
            Cell,
            (
                _title(one),
                rate_words(bucket.baseline, in_bytes=one.in_bytes),
                rate_words(bucket.burst, in_bytes=one.in_bytes),
                format_duration(bucket.burst_s),
                f"{'' if bucket.whole else '>= '}{amount_words(bucket.size, in_bytes=one.in_bytes)}",
                f"{least}{per_second(bucket.refill, in_bytes=one.in_bytes)}",
                MISSING if after is None else f"{'<= ' if bucket.at_least else ''}{format_duration(after)}",
            ),
        )
    )


def _jobs(one: BurstResult, bucket: Bucket) -> str:
    """Of jobs from within the burst to far beyond it."""
    # Beside the burst itself: a tenth part of what it does, rounded up to a power of ten, and ten and a hundred times that.
    first = 10 ** math.ceil(math.log10(max(10.0, bucket.burst * bucket.burst_s)) - 1)
    sizes = [first * 10**at for at in range(_JOBS)]
    told = [
        f"{amount_words(size, in_bytes=one.in_bytes)} takes {format_duration(bucket.seconds_of(size))}"
        for size in sizes
    ]
    return f"a job of {', one of '.join(told)}."


def _none(one: BurstResult) -> str:
    """That none was seen, and what would not have been."""
    looked = format_duration(one.looked_s)
    level = rate_words(one.level, in_bytes=one.in_bytes)
    return f"no burst in {looked} ({level} on average). One that lasts longer would not show."


def rate_words(value: float, *, in_bytes: bool) -> str:
    """`3.00k IOPS`, `200 MB/s`."""
    return format_bandwidth(value) if in_bytes else f"{format_iops(value)} IOPS"


def per_second(value: float, *, in_bytes: bool) -> str:
    """`300/s`, `200 MB/s`: of credits, which are no I/Os yet."""
    return format_bandwidth(value) if in_bytes else f"{format_iops(value)}/s"


def amount_words(value: float, *, in_bytes: bool) -> str:
    """`60.0k I/Os`, `12.0 GB`."""
    return format_bandwidth(value).removesuffix("/s") if in_bytes else f"{format_iops(value)} I/Os"
