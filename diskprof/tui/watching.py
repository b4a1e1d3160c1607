"""Notices that the store changed, at most four times a second, and which runs go."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from diskprof.model.run import RunSummary, Status
from diskprof.model.value import dataclass

if TYPE_CHECKING:
    from diskprof.store import Store

POLL_S = 0.25
REAP_EVERY_S = 3.0


@dataclass(frozen=True, slots=True)
class StoreState:
    """The newest run and those that go, newest first."""

    newest: RunSummary | None
    running: tuple[RunSummary, ...]


class StoreWatcher:
    """Asks SQLite for its change counter, which costs next to nothing; reads only when that moved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counter: int | None = None
        self._reap_at = 0.0
        self.state = StoreState(None, ())

    def poll(self, now: float | None = None) -> bool:
        """True if the store changed since the last call. Marks runs whose runner died, every few seconds."""
        now = time.monotonic() if now is None else now
        if self.state.running and now >= self._reap_at:
            self._reap_at = now + REAP_EVERY_S
            self._store.reap()
        counter = self._store.change_counter()
        if counter == self._counter:
            return False
        self._counter = counter
        self.read()
        return True

    def read(self) -> StoreState:
        """The present state, whether or not anything changed."""
        newest = self._store.summaries(limit=20)
        running = tuple(run for run in newest if run.status is Status.RUNNING)
        self.state = StoreState(newest[0] if newest else None, running)
        return self.state
