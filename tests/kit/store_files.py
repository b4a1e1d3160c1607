"""The store's file, seen from outside."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recorded import write_library

from diskprof.store import Store
from diskprof.store.database import Database
from diskprof.store.schema import MIGRATIONS, Migration

LAST = MIGRATIONS[-1].version
"""The version of a store as this diskprof makes it."""

NEXT = Migration(LAST + 1, "runs have colours", ("ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",))
IMPOSSIBLE = Migration(
    LAST + 2, "not possible", ("CREATE TABLE third (x INTEGER) STRICT", "ALTER TABLE nowhere ADD COLUMN y")
)


def open_with(path: Path, *more: Migration) -> Database:
    """The store as a diskprof with more migrations opens it."""
    return Database.open(path, create=True, timeout_s=5, migrations=(*MIGRATIONS, *more))


def library_bytes(directory: Path) -> bytes:
    """A closed store with the ten runs of `record_library`."""
    path = directory / "runs.db"
    write_library(path)
    return path.read_bytes()


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def drop_courses(db: sqlite3.Connection) -> None:
    """Makes a store, open as `raw`, one of before the fifth version, but for its history."""
    db.execute("DROP TABLE course")
    db.execute("DROP TABLE system_course")


def read_all(store: Store) -> int:
    """Reads every value there is; returns the number of runs."""
    summaries = store.summaries()
    for summary in summaries:
        for test in store.run(summary.id).tests:
            store.document(summary.id, test.index)
        store.samples(summary.id)
        store.system_samples(summary.id)
    return len(summaries)
