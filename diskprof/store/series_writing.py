"""What the runner of a series writes to the store, beside its runs."""

from datetime import UTC, datetime

from diskprof.model.run import Status
from diskprof.model.run_series import Spread
from diskprof.store import run_series, writing
from diskprof.store.database import Database


class SeriesWriting:
    """Every method raises StoreError where the file cannot be written, RunNotFound for an id that is not there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_spread(self, series_id: str, spread: Spread) -> None:
        """Adds what a complete round of a series came to."""
        with self._database.write() as db:
            run_series.add_spread(db, series_id, spread)

    def touch(self, series_id: str) -> None:
        """Notes that the runner of a series lives, while it pauses."""
        with self._database.write(at_once=False) as db:
            run_series.touch(db, series_id, datetime.now(UTC))

    def finish(self, series_id: str, *, status: Status, reason: str = "", ended_at: datetime | None = None) -> None:
        """Records how a series ended, after its last run. Raises StoreError if it has ended already, other than by `reap`."""
        writing.check_ending(status)
        with self._database.write() as db:
            run_series.finish(db, series_id, status, reason, ended_at or datetime.now(UTC))
