"""Which of fio's I/O engines this machine lets a process use, and what to take instead (F13)."""

import ctypes
import errno
import os
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from diskprof.model.job import EngineJob, FioJob
from diskprof.model.plan import Severity
from diskprof.presets.resolve import ResolvedTest
from diskprof.runner.plan.remarks import Remark

_FALLBACKS = {"io_uring": "libaio", "libaio": "psync"}
_IO_URING_SETUP = 425
_IO_SETUP = {"x86_64": 206, "aarch64": 0}
"""The numbers of the system calls (unistd.h); io_uring's is the same for all."""


@cache
def why_unusable(engine: str) -> str:
    """Why the kernel refuses this engine to us; empty where it does not."""
    if engine == "io_uring":
        return _io_uring_refusal()
    if engine == "libaio":
        return _libaio_refusal()
    return ""


def _io_uring_refusal() -> str:
    # A probe with no entries cannot succeed: EINVAL says that the call is there and allowed.
    error = _error_of(_IO_URING_SETUP)
    if error == errno.EPERM:
        return "the kernel does not permit it (kernel.io_uring_disabled, or a container's seccomp filter)"
    return "not in this kernel" if error == errno.ENOSYS else ""


def _libaio_refusal() -> str:
    # Without a place for the context this cannot succeed either.
    call = _IO_SETUP.get(os.uname().machine)
    if call is not None and _error_of(call) == errno.ENOSYS:
        return "not in this kernel"
    try:
        used, most = (int(Path("/proc/sys/fs", name).read_text()) for name in ("aio-nr", "aio-max-nr"))
    except (OSError, ValueError):
        return ""
    return f"all {most} asynchronous requests of the machine are taken (fs.aio-max-nr)" if used >= most else ""


def _error_of(call: int) -> int:
    """The errno of a system call with 0 and no address."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(call, 0, None)
    return ctypes.get_errno()


def with_usable_engines(test: ResolvedTest) -> tuple[ResolvedTest, list[Remark]]:
    """The test with engines that work here, and a note for each that had to change or that caps the queue depth (F12)."""
    jobs: list[EngineJob] = []
    notes: list[Remark] = []
    for job in test.load.fio:
        usable, more = _usable(job)
        jobs.append(usable)
        notes += more
    return replace(test, jobs=tuple(jobs)), notes


def _usable(job: FioJob) -> tuple[FioJob, list[Remark]]:
    engine, notes = job.ioengine, []
    while (reason := why_unusable(engine)) and engine in _FALLBACKS:
        engine = _FALLBACKS[engine]
        notes.append(
            Remark(
                "engine-fallback",
                Severity.WARNS,
                "use",
                f"{engine} instead of {job.ioengine}: {reason}.",
                "Do not compare with results of the requested engine.",
            )
        )
    if engine != job.ioengine:
        job = job.changed(ioengine=engine)
    if job.depth < job.iodepth:
        notes.append(
            Remark(
                "depth-capped",
                Severity.WARNS,
                "ask",
                f"for queue depth {job.iodepth}, but {engine} runs at QD1.",
                "For a deeper queue, use ioengine=libaio or io_uring.",
            )
        )
    return job, notes
