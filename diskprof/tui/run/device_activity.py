"""The machine's devices while the Run screen is open: when they come and go, and how busy they are."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from diskprof.model.device import Activity, DiskCounters
from diskprof.model.errors import DiskprofError

if TYPE_CHECKING:
    from diskprof.runner.session import DeviceMonitor, Session

KEPT = 16
"""Seconds of each device's activity that are kept."""
_GAP_NS = 5_000_000_000
_AT_REST = Activity(0.0, 0.0, 0.0, 0.0, 0.0)


def at_rest(history: Sequence[Activity]) -> bool:
    """Whether a device did nothing in all the seconds that are kept, or none are."""
    return history.count(_AT_REST) == len(history)


class Machine:
    """Calls `changed` when a device or mount came, went or changed. Must be made inside the event loop, and closed."""

    def __init__(self, session: Session, changed: Callable[[], None]) -> None:
        self._session, self._changed = session, changed
        self._exits = contextlib.ExitStack()
        self._monitor: DeviceMonitor | None = None
        self._counters: Mapping[str, DiskCounters] = {}
        self._own: Set[str] = frozenset()
        self.history: dict[str, deque[Activity]] = {}
        self.since_own: dict[str, int] = {}
        """How many seconds of the history are since a run of diskprof's worked on a device, of those where one did."""
        try:
            self._monitor = self._exits.enter_context(session.monitor())
        except (DiskprofError, OSError):
            return  # no events here: `look` is called once a second as well
        loop, number = asyncio.get_running_loop(), self._monitor.fileno()
        loop.add_reader(number, self.look)
        self._exits.callback(loop.remove_reader, number)

    def close(self) -> None:
        self._exits.close()
        self._monitor = None

    def look(self) -> None:
        """Ask whether anything changed: events do not cross into every container, so this is to be called now and then."""
        if self._monitor is not None and self._monitor.changed(0):
            self._changed()

    def catch_up(self) -> None:
        """What changed until now is known, or found out presently: it need not be told."""
        if self._monitor is not None:
            self._monitor.changed(0)

    def count(self, own: Set[str]) -> Set[str]:
        """Read the kernel's counters and add to `history`, by name, what each device did since the last call.

        `own` are the devices that runs of diskprof's work on now: what these or those of the last call did is not a stranger's.

        Gives the names of those that did not rest all the time, before or now: of the others nothing looks otherwise.
        """
        ours, self._own = self._own | own, frozenset(own)
        before, self._counters = self._counters, self._session.read_counters()
        stirred = {name for name, history in self.history.items() if not at_rest(history)}
        for name in self.history.keys() - self._counters.keys():
            del self.history[name]
        for name, counters in self._counters.items():
            activity = _activity(before[name], counters) if name in before else None
            if activity is None or counters.at_ns - before[name].at_ns > _GAP_NS:
                # A new device, or the first look after a while: what is a second old would be taken for long ago.
                self.history.pop(name, None)
            if activity is not None:
                self.history.setdefault(name, deque(maxlen=KEPT)).append(activity)
                if name in ours or name in self.since_own:
                    self.since_own[name] = 0 if name in ours else self.since_own[name] + 1
                if activity is not _AT_REST:
                    stirred.add(name)
        return stirred


def _activity(before: DiskCounters, after: DiskCounters) -> Activity | None:
    """As `Activity.between`; the same value for all that rested, which most do."""
    if (before.reads, before.writes, before.io_ticks_ms) == (after.reads, after.writes, after.io_ticks_ms):
        return _AT_REST if after.at_ns > before.at_ns else None
    return Activity.between(before, after)
