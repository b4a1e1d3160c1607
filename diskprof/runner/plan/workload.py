"""What a test's options amount to: how long, how much, how much of it written. Read from the options, before any run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diskprof.model.device import WITHOUT_PLATTERS, Device, Transport
from diskprof.model.job import FioJob, fio_job
from diskprof.model.plan import PlannedJob
from diskprof.model.preset import Job
from diskprof.model.units import each_way, parse_duration, parse_size

_IOPING_DEFAULT_WORK = 1 << 20
_IOPING_RAPID_WORK = 64 << 20
_IOPING_LINEAR_BLOCK = 256 << 10


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


@dataclass(frozen=True, slots=True)
class Rate:
    """What a device of a class is taken to do at most, to estimate what cannot be known: bytes and I/Os per second."""

    bandwidth: float
    iops: float


_ROTATIONAL = Rate(200e6, 300)
_NVME = Rate(2e9, 200_000)
_OTHER = Rate(500e6, 50_000)


def assumed_rate(device: Device | None) -> Rate:
    """The rate that estimates take for this device: a hard disk, an NVMe device, or any other."""
    # The kernel calls these rotating whatever lies behind them.
    if device and device.rotational and device.transport not in WITHOUT_PLATTERS:
        return _ROTATIONAL
    return _NVME if device and device.transport is Transport.NVME else _OTHER


@dataclass(frozen=True, slots=True)
class Workload:
    """`amount_bytes` of data end the test, None where time alone does; `span_bytes` is the part of the target it touches.

    `runtime_s` is what it measures at most, `likely_s` what it lasts with the ramp where the device does what it is taken to do,
    `delay_s` how much longer it takes because jobs begin later.
    """

    jobs: tuple[PlannedJob, ...]
    ramp_s: float
    runtime_s: float
    likely_s: float
    amount_bytes: int | None
    span_bytes: int
    bytes_written: int
    writes_exact: bool
    direct: bool
    delay_s: float = 0.0


def _number(options: dict[str, str], name: str, default: int) -> int:
    return int(options.get(name, default))


def without_false_mix(job: Job) -> Job:
    """A job that mixes no writes into its reads, as the reads that it is; any other as it stands.

    fio refuses a mix by its name where it may not write (--readonly), however small the part of the writes (F61).
    """
    told = fio_job(job.options)
    if not told.mixed or told.write_share:
        return job
    options = dict(job.options) | {"rw": "randread" if told.random else "read"}
    return replace(job, options=tuple(options.items()))


def fio_workload(jobs: Sequence[Job], rate: Rate) -> Workload:
    """The jobs of one fio process, which run side by side. Raises UnitError or ValueError for options not checked before."""
    planned: list[PlannedJob] = []
    ramp = runtime = likely = last = 0.0
    amount, span, written, exact, timed, direct = 0, 0, 0, True, False, False
    for job in jobs:
        options, told = dict(job.options), fio_job(job.options)
        copies, share = told.numjobs, told.write_share
        size = parse_size(options["size"]) if "size" in options else 0
        io_size = parse_size(options["io_size"]) if "io_size" in options else size
        seconds = parse_duration(options["runtime"]) if "runtime" in options else 0.0
        by_time = told.time_based or not io_size
        job_amount = io_size * copies * _number(options, "loops", 1)
        job_rate = _job_rate(options, told, rate)
        if by_time:
            timed = True
            written += round(_write_rate(options, told, rate) * seconds)
            exact = exact and not share
        else:
            written += round(share * job_amount)
            exact = exact and share in (0.0, 1.0)
            amount += job_amount
            seconds = seconds or job_amount / job_rate
        runtime = max(runtime, seconds)
        likely = max(likely, seconds if by_time else min(seconds, job_amount / job_rate))
        own_ramp = parse_duration(options.get("ramp_time", "0"))
        ramp = max(ramp, own_ramp)
        last = max(last, parse_duration(options.get("startdelay", "0")) + own_ramp + seconds)
        span = max(span, size + (parse_size(options["offset"]) if "offset" in options else 0))
        direct = direct or told.direct
        planned.append(
            PlannedJob(
                name=job.name,
                rw=told.rw,
                block_size=told.mean_size(),
                iodepth=told.iodepth,
                numjobs=copies,
                ioengine=told.ioengine,
            )
        )
    return Workload(
        tuple(planned),
        ramp,
        runtime,
        ramp + likely,
        None if timed else amount,
        span,
        written,
        exact,
        direct,
        max(0.0, last - ramp - runtime),
    )


def _job_rate(options: dict[str, str], told: FioJob, rate: Rate) -> float:
    """Bytes per second: what the options limit it to, otherwise what the device is taken to do."""
    ways = (False, True) if told.mixed else (told.write_share > 0,)
    limits = [_limit(options, told, write=write) for write in ways]
    most = min(rate.bandwidth, rate.iops * told.mean_size(write=ways[-1]))
    return sum(limits) if all(limits) else min(most, _thinking(options, told) or most)


def _thinking(options: dict[str, str], told: FioJob) -> float:
    """The bytes per second that the pauses of jobs leave, 0 without any."""
    pause_s = int(options.get("thinktime", "0")) / 1e6
    return told.numjobs * _number(options, "thinktime_blocks", 1) * told.mean_size() / pause_s if pause_s else 0.0


def _write_rate(options: dict[str, str], told: FioJob, rate: Rate) -> float:
    """Bytes written per second. fio holds reads and writes to the rate each by itself, whatever the mix: with one of the reads
    alone, writes take what these leave."""
    share = told.write_share
    if not share:
        return 0.0
    most = min(rate.bandwidth, rate.iops * told.mean_size(write=True))
    return _limit(options, told, write=True) or most * (1.0 if _limit(options, told, write=False) else share)


def _limit(options: dict[str, str], told: FioJob, *, write: bool) -> float:
    """The bytes per second that `rate_iops` or `rate` allow to reads or writes, 0 without them."""
    for name, unit in (("rate_iops", told.mean_size(write=write)), ("rate", 1)):
        if name in options:
            return float(parse_size(each_way(options[name])[write] or "0") * unit * told.numjobs)
    return 0.0


def ioping_workload(job: Job, *, on_directory: bool) -> Workload:
    """One ioping process. On a directory it fills a temporary file of its own, its working set (F31)."""
    options = dict(job.options)
    rapid = options.get("rapid") == "1"
    linear = options.get("linear") == "1"
    interval = parse_duration(options.get("interval", "0" if rapid else "1"))
    deadline = parse_duration(options["work-time"]) if "work-time" in options else (3.0 if rapid else 0.0)
    seconds = deadline or interval * max(1, _number(options, "count", 1))
    work = parse_size(options["work-size"]) if "work-size" in options else _ioping_work(rapid)
    block = parse_size(options["size"]) if "size" in options else (_IOPING_LINEAR_BLOCK if linear else 4096)
    planned = PlannedJob(
        name=job.name, rw="read" if linear else "randread", block_size=block, iodepth=1, numjobs=1, ioengine="sync"
    )
    return Workload(
        jobs=(planned,),
        ramp_s=0.0,
        runtime_s=seconds,
        likely_s=seconds,
        amount_bytes=None,
        span_bytes=work,
        bytes_written=work if on_directory else 0,
        writes_exact=True,
        direct=options.get("direct") == "1",
    )


def _ioping_work(rapid: bool) -> int:
    return _IOPING_RAPID_WORK if rapid else _IOPING_DEFAULT_WORK
