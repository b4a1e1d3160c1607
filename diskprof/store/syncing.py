"""Brings what was committed onto the disk, beside the work: a disk under test may take seconds for a sync (F78).

SQLite holds no lock on its write-ahead log (F77), so closing another descriptor of that file loses none.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

from diskprof.model.errors import StoreError

SYNC_EVERY_S = 2.5
"""A run commits at least every 1.2 s: with that a sync begins at most 3.7 s after what it brings onto the disk."""


class Syncer:
    """Syncs the write-ahead log `wal` every 2.5 s, as long as something is committed."""

    def __init__(self, wal: Path) -> None:
        self._wal = wal
        self._began_s = -SYNC_EVERY_S
        self._thread: Thread | None = None
        self._error: OSError | None = None

    def check(self) -> None:
        """To be called before something is written. Raises StoreError where a sync failed, once for each."""
        error, self._error = self._error, None
        if error:
            raise StoreError(
                f"What was written to {self._wal} did not get onto the disk: {error.strerror}.",
                "The disk it lies on fails, or is full. See `dmesg`.",
            )

    def committed(self) -> None:
        """To be called after each commit. Waits for nothing."""
        now = time.monotonic()
        if now - self._began_s < SYNC_EVERY_S or (self._thread and self._thread.is_alive()):
            return
        self._began_s = now
        # It must not keep the process from its end: nobody waits for a disk that does not answer.
        self._thread = Thread(target=self._sync, name="sync", daemon=True)
        self._thread.start()

    def _sync(self) -> None:
        try:
            # By its name: where somebody removed the store, there is nothing left to sync.
            with suppress(FileNotFoundError):
                descriptor = os.open(self._wal, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fdatasync(descriptor)
                finally:
                    os.close(descriptor)
        except OSError as error:
            self._error = error
