"""Barriers in the store: where runs on several hosts wait for each other before their first test measures."""

from datetime import UTC, datetime
from sqlite3 import Connection

from msgspec import Struct

from diskprof.store import codec, reading
from diskprof.store.database import Database


class Barrier(Struct, frozen=True):
    """Where a run waits. Times are UTC by the clock of its own host.

    `ready_at`: it is prepared. `heard_at`: somebody who can let it go was heard of. `go_at`: when it shall go on. `passed_at`:
    when it did.
    """

    ready_at: datetime | None
    heard_at: datetime
    go_at: datetime | None
    passed_at: datetime | None


class Barriers:
    """Every method raises StoreError where the file cannot be read or written, RunNotFound for an id that is not there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, run_id: str) -> Barrier | None:
        """None of a run that waits for nobody."""
        with self._database.read() as db:
            row = db.execute(
                "SELECT ready_at, heard_at, go_at, passed_at FROM barrier WHERE run = ?",
                (reading.number_of(db, run_id),),
            ).fetchone()
        if row is None:
            return None
        ready, heard, go, passed = (None if value is None else codec.from_micros(value) for value in row)
        assert heard
        return Barrier(ready, heard, go, passed)

    def set_ready(self, run_id: str) -> None:
        """The run is prepared, and waits."""
        self._set(run_id, "ready_at", datetime.now(UTC))

    def hear(self, run_id: str) -> None:
        """Somebody who can let the run go is there."""
        self._set(run_id, "heard_at", datetime.now(UTC))

    def let_go(self, run_id: str, at: datetime) -> None:
        """The run shall go on at that time of its own host's clock."""
        self._set(run_id, "go_at", at)

    def passed(self, run_id: str, at: datetime) -> None:
        """The run went on."""
        self._set(run_id, "passed_at", at)

    def _set(self, run_id: str, column: str, at: datetime) -> None:
        with self._database.write(at_once=False) as db:
            db.execute(
                f"UPDATE barrier SET {column} = ? WHERE run = ?", (codec.to_micros(at), reading.number_of(db, run_id))
            )


def insert(db: Connection, run: int, at: datetime) -> None:
    """Puts a barrier before the first test of a run."""
    db.execute("INSERT INTO barrier (run, heard_at) VALUES (?, ?)", (run, codec.to_micros(at)))
