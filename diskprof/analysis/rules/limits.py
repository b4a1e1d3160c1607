"""What held a result back, as far as the figures alone can tell: a queue that cannot be filled, a ceiling."""

from diskprof.analysis.options import asked
from diskprof.analysis.rules.groups import io_limit_reached
from diskprof.analysis.rules.processor import JOB_BUSY, job_use
from diskprof.analysis.rules.view import TestView
from diskprof.analysis.statistics import median, share_near
from diskprof.model.finding import Finding, Weight
from diskprof.model.run import Run, TestRecord
from diskprof.model.units import format_bandwidth, format_iops, format_latency, format_percent

FLAT = 0.05
MOST = 0.75
"""IOPS stand at a ceiling if at least this share of the seconds is within 5% of their median: a stall is no other level."""

FULL = 0.8
"""Share of the queue depth that must have been in use (IOPS x latency, Little's law) for the device to be what is waited for."""

WAITING = 5.0
"""How many times longer an I/O takes than one alone before the wait is the limit's and not the work's."""

WAITING_NS = 2e6
"""And how long it takes at the least, for small blocks: a drive that answers 32 at once in less is at work, not held back."""

SOLID_STATE_NS = 1e6
"""What 4 KiB take at the longest on a solid-state disk that has nothing else to do."""

LARGE_BLOCK = 64 << 10
"""From this block size on bytes, and below it I/Os, are what is likely to be limited."""

MIX = 0.05
"""Share of all I/Os by which the mix may miss what was asked for."""

MIXED_IOS = 1000
"""Over fewer, fio's dice alone may come to that."""

LEAST_DEPTH = 4
_LEAST_WINDOWS = 4


def depth_capped(view: TestView) -> Finding | None:
    """A synchronous engine does one I/O at a time, whatever iodepth says (F12)."""
    if not view.asked.capped:
        return None
    return view.found(
        "depth-capped",
        Weight.LIMIT,
        "The queue depth asked for was not used: a synchronous engine does one I/O at a time.",
        "; ".join(f"iodepth={depth} with ioengine={engine}" for engine, depth in view.asked.capped),
        "Use ioengine=libaio or io_uring with direct=1, or numjobs for more at once.",
    )


def mix_missed(view: TestView) -> Finding | None:
    """fio keeps to a limit of each direction before the mix: a disk that keeps up does as many writes as reads."""
    told, write = view.asked.write_share, view.result.write
    if told is None or view.ios < MIXED_IOS:
        return None
    share = (write.ios if write else 0) / view.ios
    if abs(share - told) <= MIX:
        return None
    return view.found(
        "mix-missed",
        Weight.DOUBT,
        "Reads and writes did not come in the mix that was asked for.",
        f"{format_percent(told)} writes asked for, {format_percent(share)} done",
        "A limit such as rate_iops holds reads and writes each, and goes before the mix: limit them apart "
        "(rate_iops=700,300), or not at all.",
    )


def engine_fallback(run: Run) -> Finding | None:
    """The kernel refused the I/O engine that a test asked for, and another took its place (F13)."""
    changed = [hazard for hazard in run.plan.hazards if hazard.name == "engine-fallback"]
    if not changed:
        return None
    more = f" And {len(changed) - 1} more." if len(changed) > 1 else ""
    return Finding(
        "engine-fallback",
        Weight.NOTE,
        "Another I/O engine took the place of the one asked for, which the kernel refused.",
        f"{changed[0].message}{more}",
        "Compare only with runs that used the same engine, or let the kernel allow the one asked for.",
    )


def ceiling(view: TestView) -> Finding | None:
    """Flat IOPS while the queue is full and each I/O waits many times longer than it takes alone: more depth buys nothing."""
    iops = [window.iops for window in view.wholes]
    level = median(iops)
    used = job_use(view)
    if view.asked.paced or view.asked.depth < LEAST_DEPTH or not level or len(iops) < _LEAST_WINDOWS:
        return None
    if (
        share_near(iops, level, FLAT) < MOST
        or (used is not None and used >= JOB_BUSY)
        or len(view.result.directions) != 1
    ):
        return None
    if io_limit_reached(view):
        return None
    ((_, result),) = view.result.directions
    mean, depth = result.latency.mean, view.asked.depth
    if mean is None or result.iops * mean / 1e9 < FULL * depth:
        return None
    alone = _alone(view)
    large = _large(view.record)
    if alone is None or mean < WAITING * alone or (not large and mean < WAITING_NS):
        return None
    stood = (
        format_bandwidth(level * result.bandwidth_bytes_per_s / result.iops) if large else f"{format_iops(level)} IOPS"
    )
    return view.found(
        "bandwidth-ceiling" if large else "iops-ceiling",
        Weight.LIMIT,
        f"{'Bandwidth' if large else 'IOPS'} stood at a ceiling: more queue depth buys only latency.",
        f"a steady {stood} with {depth} at once: {depth} / {format_iops(level)} IOPS = "
        f"{format_latency(depth / level * 1e9)}, where one alone takes about {format_latency(alone)}",
        "A volume's or a plan's limit, or all that the device can do: compare with what the vendor promises.",
    )


def _alone(view: TestView) -> float | None:
    """What one such I/O takes without a queue, in ns: the least of the same test at depth 1, the fastest here, the kind of disk."""
    ((direction, result),) = view.result.directions
    known = [
        twin.result.direction(direction)
        for twin in view.run.tests
        if twin.result and twin.name != view.record.name and _same_but_depth(view.record, twin)
    ]
    times = [other.latency.p50 for other in known if other and other.latency.p50 is not None]
    if result.histogram and (fastest := result.histogram.quantile(0.01)) is not None:
        times.append(float(fastest))
    small = not _large(view.record)
    if small and view.disks and all(disk.rotational is False for disk in view.disks):
        times.append(SOLID_STATE_NS)
    alone = min(times, default=None)
    # A hard disk has nothing to spare: there the wait is the work's.
    return None if alone is not None and small and alone > 2 * SOLID_STATE_NS else alone


def _large(record: TestRecord) -> bool:
    return any(job.block_size >= LARGE_BLOCK for job in record.planned.jobs)


def _same_but_depth(record: TestRecord, other: TestRecord) -> bool:
    return asked(other.planned).depth == 1 and {(job.rw, job.block_size) for job in record.planned.jobs} == {
        (job.rw, job.block_size) for job in other.planned.jobs
    }
