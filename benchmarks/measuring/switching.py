"""What fio did while something was switched on and off: seconds beside each other share the moods of a machine, runs do not."""

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from measuring.jobs import Jobs, Times

MARGIN_S = 0.03
"""How far the clocks of fio's intervals and of the switch may be apart."""

MOST_PAIRS = 139
"""A run of ten minutes and more is followed in intervals of a second, which do not fit into the rhythm."""

_LATE_S = 0.1
"""What comes so soon after it was switched on may have waited for that."""

_LEAST_S = 0.5

_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17
_WAIT_FOR_THREADS = 0x40000000  # __WALL


@dataclass(frozen=True)
class Rhythm:
    """How often it is switched off and on, and for how long (seconds).

    On it lasts for two pictures of a large chart, off for some intervals of fio.
    """

    pairs: int
    on_s: float = 2.5
    off_s: float = 1.75

    @property
    def seconds(self) -> float:
        return self.pairs * (self.on_s + self.off_s) + self.off_s


@dataclass(frozen=True)
class Span:
    """A time (of time.time(), in seconds) during which it was on, or off.

    `stolen` is the hypervisor's share of the processors meanwhile, `unhindered` the share of it in which fio's jobs did not wait
    for a processor.
    """

    began: float
    ended: float
    on: bool
    stolen: float = 0.0
    unhindered: float | None = None


@dataclass(frozen=True)
class Interval:
    """What fio did in one of its intervals, which lasted for `seconds` and ended at `ended` (of time.time())."""

    ended: float
    seconds: float
    ios: float


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    """A process that does nothing meanwhile, and cannot know.

    Not by SIGSTOP: a program in a terminal takes SIGCONT for its return from the background and draws everything anew.
    Raises OSError if the process is not ours to be traced (ptrace(2)).
    """
    held: list[int] = []
    try:
        while new := [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir() if int(task.name) not in held]:
            for thread in new:
                _ptrace(_SEIZE, thread)
                held.append(thread)
                _ptrace(_INTERRUPT, thread)
                os.waitpid(thread, _WAIT_FOR_THREADS)
        yield
    finally:
        for thread in held:
            _ptrace(_DETACH, thread)


def _ptrace(request: int, thread: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, None) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace: {os.strerror(number)}")


def switch(
    rhythm: Rhythm, on: Callable[[float], object], off: Callable[[float], object], jobs: Jobs | None = None
) -> list[Span]:
    """Off and on by turns, and off once more. `on` and `off` are called with how long (seconds) they are to last."""
    spans = []
    # By a timetable: on a busy machine each waking is late, and the lateness of hundreds would outlast the run.
    end = time.time()
    for number in range(2 * rhythm.pairs + 1):
        is_on = bool(number % 2)
        end += rhythm.on_s if is_on else rhythm.off_s
        began, stolen = time.time(), _stolen_and_all()
        if is_on:
            # What waited for being switched on is no part of what it takes.
            on(_LATE_S)
        before = _times_of(jobs)
        (on if is_on else off)(max(_LEAST_S, end - time.time()))
        more = [then - first for then, first in zip(_stolen_and_all(), stolen, strict=True)]
        after = _times_of(jobs)
        unhindered = after.share_since(before) if before and after else None
        spans.append(Span(began, time.time(), is_on, more[0] / more[1] if more[1] else 0.0, unhindered))
    return spans


def _times_of(jobs: Jobs | None) -> Times | None:
    """None where they have ended: on a busy machine spans may last longer than fio does."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return jobs.times() if jobs else None
    return None


def _stolen_and_all(path: Path = Path("/proc/stat")) -> tuple[int, int]:
    """Time of all processors since the start (ticks): what a hypervisor gave to others, and all. Guests' is in user and nice."""
    spent = [int(word) for word in path.read_text().split("\n", 1)[0].split()[1:9]]
    return spent[7], sum(spent)


def ratios(spans: Sequence[Span], intervals: Sequence[Interval], *, of_processor: bool) -> list[float]:
    """IOPS of every span that was on, as a share of the mean of its two neighbours.

    Of a span the intervals count that lie in it as a whole: what is caught up with when it is switched on is in none of them.
    Where fio is bound by the processor (`of_processor`), IOPS are those of the time that the hypervisor left.
    """
    return _beside([_iops(span, intervals, 1 - span.stolen if of_processor else 1.0) for span in spans])


def unhindered_ratios(spans: Sequence[Span]) -> list[float]:
    """The same of the time in which fio's jobs did not wait for a processor; nothing where that is not known."""
    return _beside([span.unhindered for span in spans])


def _beside(rates: Sequence[float | None]) -> list[float]:
    """Every second one as a share of the mean of its two neighbours."""
    found = []
    for at in range(1, len(rates) - 1, 2):
        before, during, after = rates[at - 1 : at + 2]
        if before and during and after:
            found.append(during / fmean((before, after)))
    return found


def _iops(span: Span, intervals: Sequence[Interval], share: float) -> float | None:
    began, ended = span.began + (_LATE_S if span.on else MARGIN_S), span.ended - MARGIN_S
    within = [one for one in intervals if one.ended - one.seconds >= began and one.ended <= ended]
    seconds = share * sum(one.seconds for one in within)
    return sum(one.ios for one in within) / seconds if seconds > 0 else None


def timed(arrivals: Sequence[tuple[float, float, float]], spans: Sequence[Span]) -> list[Interval]:
    """When fio's intervals were. `arrivals` are (time at which it came, seconds by fio's clock, requests), in their order.

    What came in time, while it was on, says how fio's clock stands to ours; what came late is dated by fio's.
    """
    off = [span for span in spans if not span.on]
    found: list[Interval] = []
    clock, offset = 0.0, None
    for at, seconds, ios in arrivals:
        clock += seconds
        if not any(span.began <= at <= span.ended + _LATE_S for span in off):
            offset = at - clock
        if offset is not None:
            found.append(Interval(clock + offset, seconds, ios))
    return found
