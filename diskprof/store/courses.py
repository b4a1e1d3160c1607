"""The course of a test: its samples with neighbours taken together, as pictures need them.

Blocks of FOLD samples are taken together when they are complete, by the writer, so that the course of a day is read from
its 1,350 blocks, not from its 86,400 samples. What is short is read sample by sample. Every function works inside the
caller's transaction.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from diskprof.model.errors import StoreError
from diskprof.store import codec, reading
from diskprof.store.reading import SampleBatch, SystemBatch

FOLD = 64
"""So many samples in the order they were stored are a block; those of one test, phase and direction in it are one row."""

_NEVER = (1 << 63) - 1
"""Beyond every cursor."""


def _sum(column: str) -> str:
    # By `total`: the sum of whatever numbers an engine or a file told fits; `sum` fails beyond 64 bits. Exact below 2^53.
    return f"CAST(total({column}) AS INTEGER)"


def _mean(column: str, weight: str) -> str:
    """The weighted mean of what is known."""
    return f"total({column} * 1.0 * {weight}) / nullif(total(iif({column} IS NULL, 0, {weight})), 0)"


_SAMPLE = {
    "test": "test",
    "phase": "phase",
    "direction": "direction",
    "at_ns": "max(at_ns)",
    "duration_ns": _sum("duration_ns"),
    "ios": _sum("ios"),
    "bytes": _sum("bytes"),
    "mean_ns": _mean("mean_ns", "ios"),
    "min_ns": "min(min_ns)",
    "max_ns": "max(max_ns)",
    "p50_ns": f"CAST({_mean('p50_ns', 'ios')} AS INTEGER)",
    "p99_ns": "max(p99_ns)",
    "p99_9_ns": "max(p99_9_ns)",
}
"""How each column of several samples becomes one value; that of several of these rows is the same."""


def _system(column: str) -> str:
    """As _SAMPLE, of kernel statistics; what is not known does not count."""
    if column in ("test", "phase"):
        return column
    if column in ("at_ns", "temperature_c"):
        return f"max({column})"
    if column in codec.SYSTEM_LEVELS:
        mean = _mean(column, "duration_ns")
        return mean if column.startswith("cpu_") else f"CAST({mean} AS INTEGER)"
    return f"iif(count({column}), {_sum(column)}, NULL)"


class _Tables(Struct, frozen=True):
    """A table of samples, that of their blocks, the columns that a value is made from, and what is never taken together."""

    samples: str
    blocks: str
    columns: tuple[str, ...]
    together: Mapping[str, str]
    apart: str

    def grouped(self, columns: Iterable[str], source: str, key: str) -> str:
        """The query for one row of `columns` and the last cursor for each value of `key` in `source`."""
        values = ", ".join(self.together.get(column, "NULL") for column in columns)
        return f"SELECT {values}, max(seq) AS last FROM {source} GROUP BY {key}, {self.apart}"


_SAMPLES = _Tables("sample", "course", tuple(codec.SAMPLE_COLUMNS.split(", ")), _SAMPLE, "phase, direction")
_OF_SYSTEM = tuple(codec.SYSTEM_COLUMNS.split(", "))
_SYSTEM = _Tables("system_sample", "system_course", _OF_SYSTEM, {name: _system(name) for name in _OF_SYSTEM}, "phase")


def fold_samples(db: sqlite3.Connection, number: int, first: int, following: int) -> None:
    """Makes the rows of those blocks that became complete when the samples from `first` to before `following` were added."""
    _fold(db, _SAMPLES, number, first, following)


def fold_system(db: sqlite3.Connection, number: int, first: int, following: int) -> None:
    """As `fold_samples`, of kernel statistics."""
    _fold(db, _SYSTEM, number, first, following)


def _fold(db: sqlite3.Connection, tables: _Tables, number: int, first: int, following: int) -> None:
    if first // FOLD == following // FOLD:
        return
    names = ", ".join(tables.together)
    source = f"{tables.samples} WHERE run = :run AND seq >= :first AND seq < :following"
    db.execute(
        f"INSERT INTO {tables.blocks} ({names}, seq, run) SELECT *, :run FROM"
        f" ({tables.grouped(tables.together, source, f'seq / {FOLD}, test')})",
        {"run": number, "first": _unfolded(db, tables, number), "following": following // FOLD * FOLD},
    )


def _unfolded(db: sqlite3.Connection, tables: _Tables, number: int) -> int:
    """The first cursor that belongs to no block yet."""
    (last,) = db.execute(f"SELECT max(seq) FROM {tables.blocks} WHERE run = ?", (number,)).fetchone()
    return 0 if last is None else (int(last) // FOLD + 1) * FOLD


def samples(db: sqlite3.Connection, run_id: str, test: int, most: int) -> SampleBatch:
    """The course of a test. Raises StoreError where there is no such test, or what is stored cannot be read."""
    return reading.batch(run_id, _rows(db, _SAMPLES, run_id, test, most), 0)


def system_samples(db: sqlite3.Connection, run_id: str, test: int, most: int) -> SystemBatch:
    """As `samples`, of kernel statistics."""
    return reading.system_batch(run_id, _rows(db, _SYSTEM, run_id, test, most), 0)


def _rows(db: sqlite3.Connection, tables: _Tables, run_id: str, test: int, most: int) -> list[tuple[Any, ...]]:
    values = _span(db, run_id, test, most)
    values |= {"unfolded": _unfolded(db, tables, values["run"])}
    blocks, first, last = db.execute(
        f"SELECT count(DISTINCT seq / {FOLD}), min(seq), max(seq) FROM {tables.blocks} WHERE run = :run AND test = :test",
        values,
    ).fetchone()
    rest = f"{tables.samples} WHERE run = :run AND seq >= :unfolded AND test = :test"
    if 2 * blocks >= most:
        names = ", ".join((*tables.together, "seq"))
        whole = f"SELECT {names} FROM {tables.blocks} WHERE run = :run AND test = :test"
        source = f"({whole} UNION ALL SELECT {names} FROM {rest})"
    else:
        goes_on = db.execute(f"SELECT 1 FROM {rest} LIMIT 1", values).fetchone()
        values["low"] = first // FOLD * FOLD if blocks else values["unfolded"]
        values["high"] = _NEVER if goes_on else (last // FOLD + 1) * FOLD if blocks else 0
        source = f"{tables.samples} WHERE run = :run AND seq >= :low AND seq < :high AND test = :test"
    query = tables.grouped(tables.columns, source, "(at_ns - :start - 1) / :width")
    return db.execute(f"{query} ORDER BY max(at_ns), last", values).fetchall()


def _span(db: sqlite3.Connection, run_id: str, test: int, most: int) -> dict[str, int]:
    """The run, the test, its start and the width of `most` columns over it in ns. Raises StoreError without such a test."""
    number = reading.number_of(db, run_id)
    row = db.execute(
        "SELECT started_ns, coalesce(ended_ns, (SELECT at_ns FROM progress WHERE run = :run)) FROM test"
        " WHERE run = :run AND position = :test",
        {"run": number, "test": test},
    ).fetchone()
    if row is None:
        raise StoreError(f"The run {run_id} has no test {test}.")
    start, end = row[0] or 0, row[1] or 0
    return {"run": number, "test": test, "start": start, "width": max(1, -((start - end) // max(1, most)))}
