"""What the jobs of a test ask for together."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.model.job import EngineJob, FioJob, IopingJob
from diskprof.model.sample import Direction

_SEEN_S = 0.05
"""A pause from which on time without I/O shows in intervals of 0.25 s: a fifth of one."""


class Demand(Struct, frozen=True):
    """What all jobs together were told to do per second of one direction: I/Os, or bytes where `in_bytes`."""

    direction: Direction
    per_second: float
    in_bytes: bool


class Load(Struct, frozen=True):
    """The jobs of one test, which run side by side."""

    jobs: tuple[EngineJob, ...]

    @property
    def fio(self) -> tuple[FioJob, ...]:
        """The jobs of a fio test; none of an ioping test."""
        return tuple(job for job in self.jobs if isinstance(job, FioJob))

    @property
    def direct(self) -> bool:
        return all(job.direct for job in self.jobs)

    @property
    def random(self) -> bool:
        """Whether every job jumps about."""
        return bool(self.jobs) and all(job.random for job in self.jobs)

    @property
    def ioping(self) -> IopingJob | None:
        """The job of an ioping test; None of a fio test."""
        return next((job for job in self.jobs if isinstance(job, IopingJob)), None)

    @property
    def cached(self) -> bool:
        """Whether the page cache is meant to answer."""
        return self.ioping is not None and self.ioping.cached

    @property
    def idle(self) -> bool:
        """Whether a job asks no disk at all."""
        return any(job.ioengine == "null" for job in self.jobs)

    @property
    def threads(self) -> int:
        """How many jobs run at once."""
        return sum(job.numjobs for job in self.fio) or 1

    @property
    def reported(self) -> int:
        """How many of them fio reports apart, each with its own CPU use (F9)."""
        if any(job.group_reporting for job in self.fio):
            return 1 + sum(job.new_group for job in self.fio[1:])
        return self.threads

    def alike(self, direction: Direction) -> bool:
        """Whether the fio jobs of a direction do the same: pattern, block sizes, queue and way to the disk."""
        write = direction is Direction.WRITE
        mine = [job for job in self.fio if direction in job.directions]
        ways = {(job.random, job.sizes(write=write), job.in_flight, job.direct, job.sync) for job in mine}
        return len(ways) < 2

    @property
    def sync_calls(self) -> tuple[str, ...]:
        """What jobs call after writes: fsync, fdatasync, both or neither."""
        calls = {"fsync": any(job.fsync for job in self.fio), "fdatasync": any(job.fdatasync for job in self.fio)}
        return tuple(name for name, called in calls.items() if called)

    @property
    def depth(self) -> int:
        """The most I/Os that all jobs have under way at once."""
        return sum(job.in_flight * job.numjobs for job in self.fio) or 1

    @property
    def capped(self) -> tuple[tuple[str, int], ...]:
        """I/O engine and iodepth of the jobs that do fewer I/Os at once than they were asked to."""
        return tuple(dict.fromkeys((job.ioengine, job.iodepth) for job in self.fio if job.in_flight < job.iodepth))

    @property
    def size_bytes(self) -> int | None:
        """The largest part of the target that the copies of a job touch, None where the options give no bytes."""
        sizes = [job.footprint if isinstance(job, FioJob) else job.work_size for job in self.jobs]
        return max((size for size in sizes if size is not None), default=None)

    @property
    def interval_s(self) -> float:
        """The time that ioping leaves from one request to the next."""
        return self.ioping.interval_s if self.ioping else 0.0

    @property
    def write_share(self) -> float | None:
        """The part of the I/Os, of 1, that all jobs were told to write; None where they were not told."""
        shares = {job.write_share if job.mixed and job.mix_given else None for job in self.fio}
        return shares.pop() if len(shares) == 1 else None

    @property
    def compressible(self) -> tuple[str, ...]:
        """The options that make the data written easy to compress."""
        return tuple(dict.fromkeys(option for job in self.fio for option in job.compressible))

    @property
    def synced(self) -> bool:
        """Whether the jobs only write, and wait after each write until it is safe."""
        return bool(self.fio) and all(job.synced for job in self.fio)

    @property
    def syncs(self) -> bool:
        """Whether a job waits until what it wrote is safe, now and then at least."""
        return any(job.syncs for job in self.fio)

    @property
    def reads_to_write(self) -> bool:
        """Whether a job makes the kernel read what it writes a part of."""
        return any(job.reads_to_write for job in self.fio)

    @property
    def searches(self) -> bool:
        """Whether fio looks for the deepest queue that keeps a latency."""
        return any(job.searches for job in self.fio)

    @property
    def paced(self) -> bool:
        """Whether a job waits between requests."""
        return any(job.paced for job in self.jobs)

    @property
    def spins(self) -> bool:
        """Whether a job keeps a CPU busy while it waits."""
        return any(job.spins for job in self.fio)

    @property
    def pause_s(self) -> float:
        """The pause between requests that every job makes, 0 where one is as fast as it can be."""
        return min((job.pause_s for job in self.jobs), default=0.0)

    @property
    def rests(self) -> bool:
        """Whether pauses are so long that time without I/O is meant."""
        return max((self.pause_s, *(job.rest_s for job in self.fio))) >= _SEEN_S

    @property
    def demands(self) -> tuple[Demand, ...]:
        """The rates asked for, of the directions in which every job has one and nothing else slows it down."""
        return tuple(demand for direction in Direction if (demand := _demand(self.fio, direction)))


def _demand(jobs: Sequence[FioJob], direction: Direction) -> Demand | None:
    mine = [job for job in jobs if direction in job.directions]
    if not mine or any(job.thinktime_s or job.delay_s for job in mine):
        return None
    if len({(job.runtime_s, job.size) for job in mine}) > 1:
        return None
    write = direction is Direction.WRITE
    for in_bytes in (False, True):
        rates = [(job.rate if in_bytes else job.rate_iops)[write] * job.numjobs for job in mine]
        if all(rates):
            return Demand(direction, sum(rates), in_bytes)
    return None
