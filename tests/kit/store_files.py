"""The store's file, seen from outside."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recorded import write_library

from diskprof.store import Store


def library_bytes(directory: Path) -> bytes:
    """A closed store with the ten runs of `record_library`."""
    path = directory / "runs.db"
    write_library(path)
    return path.read_bytes()


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def read_all(store: Store) -> int:
    """Reads every value there is; returns the number of runs."""
    summaries = store.summaries()
    for summary in summaries:
        for test in store.run(summary.id).tests:
            store.document(summary.id, test.index)
        store.samples(summary.id)
        store.system_samples(summary.id)
    return len(summaries)
