"""How long fio's jobs waited for a processor, by the kernel's account of its run queues."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from measuring.processes import children

_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Times:
    """What each of `threads` has run, and waited for a processor, since it began, all together (ns), at a time (ns)."""

    at: int
    threads: int
    ran: int
    waited: int

    def share_since(self, before: "Times") -> float | None:
        """The share of the time since then in which they did not wait for a processor; None if none has passed."""
        time_ns = (self.at - before.at) * self.threads
        return 1 - (self.waited - before.waited) / time_ns if time_ns else None


class Jobs:
    """The `count` busiest threads of the fio that is `pid`, or that it started, but for the one that began it, which does no I/O.

    Raises OSError where there is none, or the kernel keeps no such account (/proc/PID/schedstat, CONFIG_SCHED_INFO).
    """

    def __init__(self, pid: int, count: int) -> None:
        fio = _fio_of(pid)
        if fio is None:
            raise OSError(f"process {pid} has started no fio")
        self._threads = _busiest(_proc(fio) / "task", str(fio))[:count]

    def times(self) -> Times:
        at = time.monotonic_ns()
        each = [_times(thread) for thread in self._threads]
        return Times(at, len(each), sum(ran for ran, _ in each), sum(waited for _, waited in each))


def wait_for_fio(pid: int) -> None:
    """Until the process, or what it started, is fio. Raises OSError after a minute."""
    end = time.monotonic() + _PATIENCE_S
    while _fio_of(pid) is None:
        if time.monotonic() > end:
            raise OSError(f"process {pid} has started no fio")
        time.sleep(0.05)


def _fio_of(pid: int) -> int | None:
    for one in _family(pid):
        # What it starts may live for an instant.
        with suppress(FileNotFoundError, ProcessLookupError):
            if (_proc(one) / "comm").read_text().strip() == "fio":
                return one
    return None


def _busiest(tasks: Path, but: str) -> list[Path]:
    """The threads that are still there when they are looked at: fio has some that live for an instant."""
    ran = {}
    for thread in tasks.iterdir():
        if thread.name != but:
            with suppress(FileNotFoundError, ProcessLookupError):
                ran[thread] = _times(thread)[0]
    return sorted(ran, key=lambda thread: -ran[thread])


def _times(thread: Path) -> tuple[int, int]:
    ran, waited, _ = (thread / "schedstat").read_text().split()
    return int(ran), int(waited)


def _family(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    for child in children(pid):
        yield from _family(child)


def _proc(pid: int) -> Path:
    return Path("/proc") / str(pid)
