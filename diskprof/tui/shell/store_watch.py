"""Notices that the store changed, at most four times a second, which runs go, and whether its file is still there."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.model.errors import StoreBusy, StoreError
from diskprof.model.run import RunSummary, Status

if TYPE_CHECKING:
    from pathlib import Path

    from diskprof.store import Store

POLL_S = 0.25
REAP_EVERY_S = 3.0
_PATIENCE_S = 0.05
"""Seconds to wait for a lock of another program: the screen does not respond meanwhile."""
_BUSY_S = 5.0


class Whereabouts(StrEnum):
    """What is now at the path of the store; the value is a word for it."""

    SAME = "there"
    GONE = "gone"
    OTHER = "replaced"


_STILL = (
    "What you see is still read from the old one, and nothing more is kept; Save runs (ctrl+p) writes it to a file."
)
_LOST = {
    Whereabouts.GONE: (
        "The file of the runs is gone: {}",
        f"It was deleted or moved while diskprof is open. {_STILL} Put it back, or quit and open diskprof again.",
    ),
    Whereabouts.OTHER: (
        "The file of the runs is another one now: {}",
        f"It was replaced while diskprof is open. {_STILL} Quit and open diskprof again to go on with the new one.",
    ),
}


class StorePlace:
    """Whether the file of an open store is still at its path. May be called from any thread.

    Where it does not, nothing may open what lies there: beside it may be the write-ahead log of the old one, and SQLite would
    take that for its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = self._look()
        self._told = Whereabouts.SAME

    def where(self) -> Whereabouts:
        found = self._look()
        if found is None:
            return Whereabouts.GONE
        return Whereabouts.SAME if found == self._file else Whereabouts.OTHER

    def _look(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            # It cannot be told; the store's own errors say more.
            return self._file
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Raises StoreError, with what to do, unless the file is still there."""
        if (where := self.where()) is not Whereabouts.SAME:
            message, hint = _LOST[where]
            raise StoreError(message.format(self._path), hint)

    def news(self) -> Whereabouts | None:
        """What has become of the file since it was asked the last time; None where that is nothing new."""
        before, self._told = self._told, self.where()
        return self._told if self._told is not before else None


class StoreState(Struct, frozen=True):
    """The newest run, those in progress, and the last runs of all, newest first; the ids of the fleet runs in progress."""

    newest: RunSummary | None
    running: tuple[RunSummary, ...]
    last: tuple[RunSummary, ...] = ()
    fleets: tuple[str, ...] = ()


class StoreWatcher:
    """Asks SQLite for its change counter, which costs next to nothing; reads only when that moved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counter: int | None = None
        self._reap_at = 0.0
        self._busy_since: float | None = None
        self.state = StoreState(None, ())

    def poll(self, now: float | None = None) -> bool:
        """True if the store changed since the last call. Marks runs whose runner died, every few seconds.

        Raises StoreError; of a lock of another program only once it lasts.
        """
        now = time.monotonic() if now is None else now
        try:
            with self._store.waiting(_PATIENCE_S):
                changed = self._look(now)
        except StoreBusy:
            # It comes round again. What lasts is told.
            self._busy_since = now if self._busy_since is None else self._busy_since
            if now - self._busy_since > _BUSY_S:
                raise
            return False
        self._busy_since = None
        return changed

    def _look(self, now: float) -> bool:
        if (self.state.running or self.state.fleets) and now >= self._reap_at:
            self._reap_at = now + REAP_EVERY_S
            self._store.reap()
        counter = self._store.change_counter()
        if counter == self._counter:
            return False
        self.read()
        self._counter = counter
        return True

    def read(self) -> StoreState:
        """The present state, whether or not anything changed."""
        newest = self._store.summaries(limit=20)
        running = tuple(run for run in newest if run.status is Status.RUNNING)
        fleets = tuple(fleet.id for fleet in self._store.fleet_runs() if fleet.status is Status.RUNNING)
        self.state = StoreState(newest[0] if newest else None, running, tuple(newest), fleets)
        return self.state
