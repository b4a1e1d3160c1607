"""What held a result back, as far as the figures alone can tell: a queue that cannot be filled, a ceiling."""

from collections.abc import Callable
from functools import partial

from diskprof.analysis.findings.cgroup_limits import cpu_throttled, io_limit_reached
from diskprof.analysis.findings.processor import JOB_BUSY, busy_machine, job_use
from diskprof.analysis.findings.rates import rate_kept
from diskprof.analysis.findings.view import LEAST_INTERVALS, TestView
from diskprof.analysis.statistics import median, share_near
from diskprof.analysis.windows import joined
from diskprof.model.run import DirectionResult, Finding, Run, TestRecord, Weight
from diskprof.model.sample import Direction, LatencyKind
from diskprof.model.units import format_bandwidth, format_duration, format_iops, format_latency

FLAT = 0.05
MOST = 0.75
PAIR_S = 2.0
"""IOPS stand at a ceiling if at least three quarters of the seconds are within 5% of their median: a stall is no other level.

Or of the pairs of seconds: of a limit that is handed out in slices of 0.1 s (F52) a second holds ten, and one more is a tenth.
"""

FULL = 0.8
"""Share of the queue depth that must have been in use (IOPS x latency, Little's law) for the device to be what is waited for."""

WAITING = 5.0
"""How many times longer an I/O takes than one alone before the wait is the limit's and not the work's."""

WAITING_NS = 2e6
"""And how long it takes at the least, for small blocks: a drive that answers 32 at once in less is at work, not held back."""

AT_WORK_NS = 2e6
"""A disk that takes longer for one small I/O alone, such as a hard disk, has nothing to spare: there the wait is the work's."""

LARGE_BLOCK = 64 << 10
"""From this block size on bytes, and below it I/Os, are what is likely to be limited."""

SUBMITTING = 0.25
LEAST_SLAT_NS = 10e3
"""Submission is a good part of an I/O's time from a quarter on, and counts from 10 us on, which the call alone does not take."""

LEAST_DEPTH = 4
_LEAST_SECONDS = 4
_LEAST_PAIRS = 3


def depth_capped(view: TestView) -> Finding | None:
    """A synchronous engine does one I/O at a time, whatever iodepth says (F12), and libaio too buffered."""
    if not view.load.capped:
        return None
    return view.found(
        "depth-capped",
        Weight.LIMIT,
        "iodepth had no effect: the test ran at QD1.",
        "; ".join(
            f"iodepth={depth} with ioengine={engine}{': buffered I/O is synchronous' if engine == 'libaio' else ''}"
            for engine, depth in view.load.capped
        ),
        "Use ioengine=libaio or io_uring with direct=1, or more numjobs.",
    )


def submission(view: TestView) -> Finding | None:
    """An I/O's time passes inside the call that submits it: a longer queue does not help there."""
    slow = [words for direction, result in view.result.directions if (words := _submitted(direction, result))]
    if view.idle or not slow:
        return None
    return view.found(
        "submission",
        Weight.NOTE,
        "Submission latency is high (slat).",
        "; ".join(slow),
        "Full queue, or the host completed I/O inside the call: a deeper queue changes little."
        if view.load.direct
        else "Use direct=1 or ioengine=psync, which has no submission.",
    )


def _submitted(direction: Direction, result: DirectionResult) -> str:
    """Empty where submission is a small part of the time."""
    slat = result.slat.mean if result.slat else None
    clat = result.clat.mean if result.clat else None
    if slat is None or clat is None or slat < max(LEAST_SLAT_NS, SUBMITTING * (slat + clat)):
        return ""
    return f"{direction}s: slat {format_latency(slat)}, clat {format_latency(clat)} mean"


def only_clat(run: Run) -> Finding | None:
    """fio reported no lat percentiles: too old, or lat_percentiles=0."""
    kinds = {result.latency_kind for test in run.tests if test.result for _, result in test.result.directions}
    if LatencyKind.CLAT not in kinds:
        return None
    if run.imported_from:
        return Finding(
            "only-clat",
            Weight.NOTE,
            "Latencies are clat, without submission: the result file has no percentiles of lat.",
            f"fio {run.environment.fio_version}" if run.environment.fio_version else "",
            "For total latency (lat) run fio 3.18 or later with --lat_percentiles=1.",
        )
    return Finding(
        "only-clat",
        Weight.NOTE,
        "Latencies are clat, without submission: this fio has no lat percentiles.",
        f"fio {run.environment.fio_version}" if run.environment.fio_version else "fio before 3.18",
        "Use fio 3.18 or later for total latency (lat).",
    )


def jobs_apart(view: TestView) -> Finding | None:
    """fio gives the rate of a group over its longest job's time: of jobs one after another that is what no disk did."""
    if not view.apart:
        return None
    rates = ", ".join(
        f"{format_iops(result.ios / view.seconds)} {direction}s/s for the {format_iops(result.iops)} shown"
        for direction, result in view.result.directions
    )
    return view.found(
        "jobs-apart",
        Weight.DOUBT,
        "The jobs did not run at the same time: fio divides all I/Os by the longest job's time.",
        f"{format_duration(view.seconds)} from the first to the last, the longest {format_duration(view.longest_s)}; over all "
        f"of it {rates}",
        "Put jobs that run one after another into separate tests.",
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
        "The kernel refused the I/O engine; another one was used.",
        f"{changed[0].message}{more}",
        "Compare only with runs on the same engine, or allow the requested one in the kernel.",
    )


def ceiling(view: TestView) -> Finding | None:
    """Flat IOPS while the queue is full and each I/O waits many times longer than it takes alone: more depth buys nothing."""
    iops = sum(result.iops for _, result in view.result.directions)
    level, depth, used = _flat(view, iops), view.load.depth, job_use(view)
    if view.load.rests or depth < LEAST_DEPTH or not level:
        return None
    if (used is not None and used >= JOB_BUSY) or io_limit_reached(view) or rate_kept(view):
        return None
    # I/Os that wait for a CPU wait long too, and a disk that is not asked stands at no ceiling.
    if cpu_throttled(view) or busy_machine(view):
        return None
    mean, one = _mean(view, lambda _, result: result.latency.mean), _one_alone(view)
    if mean is None or one is None or iops * mean / 1e9 < FULL * depth:
        return None
    alone, told = one
    large = _large(view.record)
    if not large and (alone > AT_WORK_NS or mean < WAITING_NS):
        return None
    if mean < WAITING * alone:
        return None
    block = sum(result.bandwidth_bytes_per_s for _, result in view.result.directions) / iops
    stood = format_bandwidth(level * block) if large else f"{format_iops(level)} IOPS"
    return view.found(
        "bandwidth-ceiling" if large else "iops-ceiling",
        Weight.LIMIT,
        f"{'Bandwidth' if large else 'IOPS'} capped: deeper queues only add latency.",
        f"a steady {stood} at QD{depth}: {depth} / {format_iops(level)} IOPS = "
        f"{format_latency(depth / level * 1e9)}, where {told} {format_latency(alone)}",
        "A volume or plan limit, or the device's maximum: compare with the vendor's figure.",
    )


def _flat(view: TestView, whole: float) -> float | None:
    """The IOPS at which a test stood, in seconds or in pairs of them; None if it did not.

    Those of the `whole` test, which the slices of a limit move least, unless stalls have part in them.
    """
    for parts, least in ((view.wholes, _LEAST_SECONDS), (joined(view.intervals, PAIR_S), _LEAST_PAIRS)):
        iops = [window.iops for window in parts]
        level = median(iops)
        if level and len(iops) >= least and share_near(iops, level, FLAT) >= MOST:
            return whole if share_near([whole], level, FLAT) else level
    return None


def _mean(view: TestView, figure: Callable[[Direction, DirectionResult], float | None]) -> float | None:
    """A figure over all I/Os of a test, by those of each direction; None where one has it not."""
    both = [(result.ios, figure(direction, result)) for direction, result in view.result.directions]
    known = [(ios, value) for ios, value in both if value is not None]
    if not view.ios or len(known) < len(both):
        return None
    return sum(ios * value for ios, value in known) / view.ios


def _one_alone(view: TestView) -> tuple[float, str] | None:
    """What one such I/O takes without a queue, in ns, with the words for how that is known; None where nothing measured tells.

    The least of: the same test at depth 1 in this run, the fastest hundredth here, and the first I/O, which had no queue yet.
    """
    ways: tuple[tuple[Callable[[Direction, DirectionResult], float | None], str], ...] = (
        (partial(_at_depth_one, view), "one alone takes about"),
        (_fastest_hundredth, "the fastest hundredth took about"),
        (partial(_first, view), "the first took"),
    )
    known = [(time, words) for figure, words in ways if (time := _mean(view, figure)) is not None]
    return min(known, default=None)


def _at_depth_one(view: TestView, direction: Direction, _: DirectionResult) -> float | None:
    twins = [
        twin.result.direction(direction)
        for twin in view.run.tests
        if twin.result and twin.name != view.record.name and _same_but_depth(view.record, twin)
    ]
    return min((twin.latency.p50 for twin in twins if twin and twin.latency.p50 is not None), default=None)


def _fastest_hundredth(_: Direction, result: DirectionResult) -> float | None:
    return result.histogram.quantile(0.01) if result.histogram else None


def _first(view: TestView, direction: Direction, _: DirectionResult) -> float | None:
    """The fastest of the first interval, in which the queue fills; None where it was full before, or later ones are as fast.

    Those would be a cache's, or of a disk that now and then is quick: no queue. Of platters one may be, by its cache.
    """
    samples = [sample for sample in view.samples if sample.direction is direction and sample.min_ns is not None]
    if view.platters or view.record.planned.ramp_s or len(samples) < LEAST_INTERVALS:
        return None
    first, *later = [float(sample.min_ns or 0) for sample in samples]
    usual = median(later)
    return first if usual is not None and usual >= WAITING * first else None


def _large(record: TestRecord) -> bool:
    return any(job.block_size >= LARGE_BLOCK for job in record.planned.jobs)


def _same_but_depth(record: TestRecord, other: TestRecord) -> bool:
    return other.planned.load.depth == 1 and {(job.rw, job.block_size) for job in record.planned.jobs} == {
        (job.rw, job.block_size) for job in other.planned.jobs
    }
