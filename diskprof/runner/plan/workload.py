"""What a test's options amount to: how long, how much, how much of it written. Read from the options, before any run."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from diskprof.engines.fio.faults import kept_iops
from diskprof.model.device import WITHOUT_PLATTERS, Device, Transport
from diskprof.model.expectation import Expectation
from diskprof.model.job import FioJob, IopingJob
from diskprof.model.metric import Quantity

_IOPING_DEFAULT_WORK = 1 << 20
_IOPING_RAPID_WORK = 64 << 20


_SHORT_TEST_S, _INTERVAL_MS = 20.0, 250
_LONGER_INTERVAL_MS = 500
_LONG_RUN_S, _LONG_RUN_INTERVAL_MS = 600.0, 1000


def interval_ms(test_s: float, run_s: float) -> int:
    """How long a sample of a test that likely lasts `test_s` seconds is, in a run of `run_s` seconds.

    A short test needs many samples in little time. A longer one has enough, and each costs what it measures some processor
    time; over a long run the store, too, has to hold them.
    """
    if run_s > _LONG_RUN_S:
        return _LONG_RUN_INTERVAL_MS
    return _INTERVAL_MS if test_s < _SHORT_TEST_S else _LONGER_INTERVAL_MS


def window_interval_ms(interval: int, window_s: float | None) -> int:
    """`interval`, or a shorter one that a window or round of this length holds four of; None: there are none."""
    if window_s is None:
        return interval
    fits = (each for each in (_LONG_RUN_INTERVAL_MS, _LONGER_INTERVAL_MS) if each * 4 <= window_s * 1000)
    return min(interval, next(fits, _INTERVAL_MS))


class ClassSpeed(Struct, frozen=True):
    """What a device of a class is taken to do at most, to estimate what cannot be known: bytes and I/Os per second.

    `latency_s` is what one small I/O on its own is taken to last, 0 for nothing.
    """

    bandwidth: float
    iops: float
    latency_s: float = 0.0

    def promised(self, expectations: Iterable[Expectation]) -> "ClassSpeed":
        """No more than is promised of it: what a cloud volume promises is what it is held to."""
        most = {Quantity.BANDWIDTH: self.bandwidth, Quantity.IOPS: self.iops}
        for each in expectations:
            quantity = each.metric.quantity
            if quantity in most and each.operator.is_minimum and each.promised:
                most[quantity] = min(most[quantity], each.promised)
        return ClassSpeed(most[Quantity.BANDWIDTH], most[Quantity.IOPS], self.latency_s)


_ROTATIONAL = ClassSpeed(200e6, 300, 8e-3)
_NVME = ClassSpeed(2e9, 200_000, 80e-6)
_OTHER = ClassSpeed(500e6, 50_000, 200e-6)


def assumed_rate(device: Device | None) -> ClassSpeed:
    """The rate that estimates take for this device: a hard disk, an NVMe device, or any other."""
    # The kernel calls these rotating whatever lies behind them.
    if device and device.rotational and device.transport not in WITHOUT_PLATTERS:
        return _ROTATIONAL
    return _NVME if device and device.transport is Transport.NVME else _OTHER


class Workload(Struct, frozen=True):
    """`amount_bytes` of data end the test, None where time alone does; `span_bytes` is the part of the target it touches.

    `runtime_s` is what it measures at most, `likely_s` what it lasts with the ramp where the device does what it is taken to do,
    `delay_s` how much longer it takes because jobs begin later.
    """

    ramp_s: float
    runtime_s: float
    likely_s: float
    amount_bytes: int | None
    span_bytes: int
    bytes_written: int
    writes_exact: bool
    delay_s: float = 0.0


def without_false_mix(job: FioJob) -> FioJob:
    """A job that mixes no writes into its reads, as the reads that it is; any other as it stands.

    fio refuses a mix by its name where it may not write (--readonly), however small the part of the writes (F61).
    """
    if not job.mixed or job.write_share:
        return job
    return job.changed(rw="randread" if job.random else "read")


def fio_workload(jobs: Sequence[FioJob], rate: ClassSpeed, version: str = "") -> Workload:
    """The jobs of one fio process of this version, where it is known; they run side by side."""
    ramp = runtime = likely = last = 0.0
    amount, written, exact, timed = 0, 0, True, False
    for job in jobs:
        share, seconds = job.write_share, job.runtime_s or 0.0
        by_time = not job.amount
        job_amount = job.amount * job.numjobs
        job_rate = _job_rate(job, rate, version)
        if by_time:
            timed = True
            written += round(_write_rate(job, rate, version) * seconds)
            exact = exact and not share
        else:
            written += round(share * job_amount)
            exact = exact and share in (0.0, 1.0)
            amount += job_amount
            seconds = seconds or job_amount / job_rate
        runtime = max(runtime, seconds)
        likely = max(likely, seconds if by_time else min(seconds, job_amount / job_rate))
        ramp = max(ramp, job.ramp_s)
        last = max(last, job.delay_s + job.ramp_s + seconds)
    return Workload(
        ramp_s=ramp,
        runtime_s=runtime,
        likely_s=ramp + likely,
        amount_bytes=None if timed else amount,
        span_bytes=max((job.span for job in jobs), default=0),
        bytes_written=written,
        writes_exact=exact,
        delay_s=max(0.0, last - ramp - runtime),
    )


def _job_rate(job: FioJob, rate: ClassSpeed, version: str) -> float:
    """Bytes per second: what the options limit it to, otherwise what the device is taken to do."""
    ways = (False, True) if job.mixed else (job.write_share > 0,)
    limits = [_limit(job, version, write=write) for write in ways]
    size = job.mean_size(write=ways[-1])
    most = min(rate.bandwidth, rate.iops * size)
    waits = job.synced or (job.direct and job.random)
    if rate.latency_s and waits:
        in_flight = (1 if job.synced else job.in_flight) * job.numjobs
        most = min(most, in_flight * size / rate.latency_s)
    return sum(limits) if all(limits) else min(most, _thinking(job) or most)


def _thinking(job: FioJob) -> float:
    """The bytes per second that the pauses of jobs leave, 0 without any."""
    if job.thinktime_iotime_s:
        return 0.0
    return job.numjobs * job.thinktime_blocks * job.block_size / job.thinktime_s if job.thinktime_s else 0.0


def _write_rate(job: FioJob, rate: ClassSpeed, version: str) -> float:
    """Bytes written per second. fio holds reads and writes to the rate each by itself, whatever the mix: with one of the reads
    alone, writes take what these leave."""
    share = job.write_share
    if not share:
        return 0.0
    most = min(rate.bandwidth, rate.iops * job.mean_size(write=True))
    return _limit(job, version, write=True) or most * (1.0 if _limit(job, version, write=False) else share)


def _limit(job: FioJob, version: str, *, write: bool) -> float:
    """The bytes per second that `rate_iops` or `rate` allow to reads or writes, 0 without them."""
    by_ios = kept_iops(job, version, write=write) * job.mean_size(write=write)
    return (by_ios or job.rate[write]) * job.numjobs


def ioping_workload(job: IopingJob, *, on_directory: bool) -> Workload:
    """One ioping process. On a directory it fills a temporary file of its own, its working set (F31)."""
    usual = _IOPING_RAPID_WORK if job.rapid else _IOPING_DEFAULT_WORK
    work = usual if job.work_size is None else job.work_size
    return Workload(
        ramp_s=0.0,
        runtime_s=job.seconds,
        likely_s=job.seconds,
        amount_bytes=None,
        span_bytes=work,
        bytes_written=work if on_directory else 0,
        writes_exact=True,
    )
