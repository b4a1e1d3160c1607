"""Notices that the machine slept or that the runner stood still: by two clocks, and by turns that come late.

CLOCK_MONOTONIC stands while the machine is suspended and CLOCK_BOOTTIME goes on (F55), so what one gains on the other was sleep. A
process that is stopped, or whose control group is frozen, sees both go on, and its own next turn come late.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from diskprof.model.lapse import LapseKind

LEAST_ASLEEP_S = 1.0
LEAST_LATE_S = 2.0
"""Later than this a turn is not late by chance, on a busy machine either."""


def boottime_ns() -> int:
    """A clock that also goes on while the machine is suspended; nobody sets it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class LapseWatch:
    """Asked at every turn of a loop whose next turn should come within `usual_s`. The clocks give ns."""

    def __init__(
        self,
        usual_s: float,
        monotonic: Callable[[], int] = time.monotonic_ns,
        boottime: Callable[[], int] = boottime_ns,
    ) -> None:
        self.usual_s = usual_s
        self._monotonic, self._boottime = monotonic, boottime
        self._at_ns = monotonic()
        self._ahead_ns = boottime() - self._at_ns
        self._worked_ns = 0
        self._was_stopped = False

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """What is done inside may take its time, such as a store on a disk that is slow: then a late turn means nothing."""
        began = self._monotonic()
        try:
            yield
        finally:
            self._worked_ns += self._monotonic() - began

    def continued(self) -> None:
        """SIGCONT came: somebody had stopped this process, whatever it was at."""
        self._was_stopped = True

    def turn(self) -> tuple[tuple[LapseKind, float], ...]:
        """What happened since the last turn, with its length in seconds."""
        now = self._monotonic()
        ahead = self._boottime() - now
        asleep_s = (ahead - self._ahead_ns) / 1e9
        worked_s = 0.0 if self._was_stopped else self._worked_ns / 1e9
        late_s = (now - self._at_ns) / 1e9 - self.usual_s - worked_s
        self._at_ns, self._ahead_ns, self._worked_ns, self._was_stopped = now, ahead, 0, False
        found = []
        if asleep_s >= LEAST_ASLEEP_S:
            found.append((LapseKind.SLEPT, asleep_s))
        if late_s >= LEAST_LATE_S:
            found.append((LapseKind.STOOD, late_s))
        return tuple(found)
