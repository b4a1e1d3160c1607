"""Known faults of fio that make a test another than was asked for: what options meet them, in which versions, what they do."""

import re
from collections.abc import Callable

from msgspec import Struct

from diskprof.model.job import FioJob
from diskprof.model.plan import FioFault
from diskprof.model.sample import Direction
from diskprof.model.units import format_iops, format_percent

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
_NEVER = (10_000, 0)
_POISSON_KEEPS = 0.7

Version = tuple[int, int]


class _Row(Struct, frozen=True):
    """`met` says whether a job meets the fault, which every version before `mended` has; `tell` what that does to it."""

    mended: Version
    met: Callable[[FioJob], bool]
    tell: Callable[[FioJob, str], FioFault]


def version_of(text: str) -> Version | None:
    """The two numbers that a version such as 3.33-12-gabc begins with; None where there are none."""
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2])) if match else None


def faults_of(job: FioJob, version: str) -> tuple[FioFault, ...]:
    """What a job meets in a fio of this version; nothing where the version is not known."""
    known = version_of(version)
    return tuple(row.tell(job, version) for row in _ROWS if known and known < row.mended and row.met(job))


def kept_iops(job: FioJob, version: str, *, write: bool) -> float:
    """The I/Os a second that this fio holds each copy of a job to in a direction, by its rate_iops; 0 without one."""
    known, smallest = version_of(version), min(job.sizes(write=write))
    if known and known < _BY_SMALLEST.mended and _by_smallest(job):
        return job.rate_iops[write] * smallest / job.mean_size(write=write)
    return float(job.rate_iops[write])


def _by_smallest(job: FioJob) -> bool:
    """Whether a limit of I/Os is held as bytes; poisson counts I/Os (F64)."""
    return not job.poisson and any(
        job.rate_iops[write] and len(set(job.sizes(write=write))) > 1 for write in _written(job)
    )


def _written(job: FioJob) -> tuple[bool, ...]:
    return tuple(direction is Direction.WRITE for direction in job.directions)


def _tell_smallest(job: FioJob, version: str) -> FioFault:
    limited = [write for write in _written(job) if job.rate_iops[write] and len(set(job.sizes(write=write))) > 1]
    kept = {write: kept_iops(job, version, write=write) for write in limited}
    rates = " and ".join(f"{job.rate_iops[write]} {'writes' if write else 'reads'} a second" for write in limited)
    done = " and ".join(format_iops(kept[write]) for write in limited)
    return FioFault(
        f"for {rates}, of which fio {version} does about {done}: before 3.42 it limits the bytes to the rate times the "
        "smallest block.",
        "Use fio 3.42 or later, one block size, or a rate in bytes.",
        min(kept[write] / job.rate_iops[write] for write in limited),
    )


def _tell_poisson(_job: FioJob, version: str) -> FioFault:
    return FioFault(
        f"for a rate by rate_process=poisson at a queue depth above 1, of which fio {version} keeps as little as "
        f"{format_percent(_POISSON_KEEPS)}.",
        "Use the measured rate, or rate_process=linear.",
        _POISSON_KEEPS,
    )


def _tell_target(_job: FioJob, version: str) -> FioFault:
    return FioFault(
        f"for a latency_target in several jobs: fio {version} takes it 1,000 times too large for all but the first.",
        "Use fio 3.36 or later, or one job with numjobs=1.",
    )


_BY_SMALLEST = _Row((3, 42), _by_smallest, _tell_smallest)
_ROWS = (
    _BY_SMALLEST,
    # F65
    _Row(_NEVER, lambda job: job.poisson and any(job.rate_iops) and job.in_flight > 1, _tell_poisson),
    # F67
    _Row((3, 36), lambda job: job.searches and job.numjobs > 1, _tell_target),
)
