"""What fio's jobs got of the processors that they wanted, by the kernel's account of its run queues."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from measuring.processes import children


@dataclass(frozen=True)
class Times:
    """What threads have run, and waited for a processor, since they began (ns)."""

    ran: int
    waited: int

    def share_since(self, before: "Times") -> float | None:
        """How much of what they wanted they got; None if they wanted nothing."""
        ran, waited = self.ran - before.ran, self.waited - before.waited
        return ran / (ran + waited) if ran + waited else None


class Jobs:
    """The `count` busiest threads of the fio that is `pid`, or that it started, but for the one that began it, which does no I/O.

    Raises OSError where there is none, or the kernel keeps no such account (/proc/PID/schedstat, CONFIG_SCHED_INFO).
    """

    def __init__(self, pid: int, count: int) -> None:
        fio = next((one for one in _family(pid) if (_proc(one) / "comm").read_text().strip() == "fio"), None)
        if fio is None:
            raise OSError(f"process {pid} has started no fio")
        self._threads = _busiest(_proc(fio) / "task", str(fio))[:count]

    def times(self) -> Times:
        each = [_times(thread) for thread in self._threads]
        return Times(sum(one.ran for one in each), sum(one.waited for one in each))


def _busiest(tasks: Path, but: str) -> list[Path]:
    """The threads that are still there when they are looked at: fio has some that live for an instant."""
    ran = {}
    for thread in tasks.iterdir():
        if thread.name != but:
            with suppress(FileNotFoundError, ProcessLookupError):
                ran[thread] = _times(thread).ran
    return sorted(ran, key=lambda thread: -ran[thread])


def _times(thread: Path) -> Times:
    ran, waited, _ = (thread / "schedstat").read_text().split()
    return Times(int(ran), int(waited))


def _family(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    for child in children(pid):
        yield from _family(child)


def _proc(pid: int) -> Path:
    return Path("/proc") / str(pid)
