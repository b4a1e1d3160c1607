"""The figures of results one by one, for the view `results`, which is interface (docs/scripting.md): they stand in the results
as JSON too, which other programs cannot count with."""

import sqlite3
from collections.abc import Iterator
from math import isfinite

from diskprof.model.run import Latency, Result, TestResult
from diskprof.model.sample import Direction
from diskprof.store import codec

_LATENCIES = Latency.__struct_fields__
_SYNC = "sync"
# (direction, name, unit); a name is that of its column in CSV. Their places are numbers that stand in stores.
_KINDS: tuple[tuple[str | None, str, str], ...] = (
    *(
        kind
        for direction in Direction
        for kind in (
            (direction.value, "ios", "I/Os"),
            (direction.value, "bytes", "bytes"),
            (direction.value, "iops", "I/Os per s"),
            (direction.value, "bandwidth_bytes_per_s", "bytes per s"),
            (direction.value, "runtime_ms", "ms"),
            *(
                (direction.value, f"{part}_{name}_ns", "ns")
                for part in ("latency", "clat", "slat")
                for name in _LATENCIES
            ),
        )
    ),
    *((_SYNC, f"latency_{name}_ns", "ns") for name in _LATENCIES),
    (None, "cpu_user_percent", "percent of a CPU"),
    (None, "cpu_system_percent", "percent of a CPU"),
)
_NUMBERS = {(direction, name): number for number, (direction, name, _) in enumerate(_KINDS)}

TABLES = (
    "CREATE TABLE figure_kind (number INTEGER PRIMARY KEY, direction TEXT, name TEXT NOT NULL, unit TEXT NOT NULL) STRICT",
    # `job` is empty for a test as a whole.
    """CREATE TABLE figure (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        test INTEGER NOT NULL,
        job TEXT NOT NULL,
        kind INTEGER NOT NULL REFERENCES figure_kind,
        value REAL NOT NULL,
        PRIMARY KEY (run, test, job, kind)
    ) STRICT, WITHOUT ROWID""",
    # Columns alone, no expressions: those would have no type where this is read (DuckDB, JDBC). CROSS: in this order, so that what
    # is asked of few runs reads the figures of those alone.
    """CREATE VIEW results AS
        SELECT run.id AS run, series.id AS series, run.repeat AS repeat, run.started_text AS started_at, run.hostname AS host,
            run.preset AS preset, run.target AS target, run.device AS device, run.status AS run_status, run.doubts AS doubts,
            run.imported_from AS imported_from,
            test.name AS test, figure.job AS job, test.engine AS engine, test.status AS test_status,
            figure_kind.direction AS direction, figure_kind.name AS figure, figure.value AS value, figure_kind.unit AS unit
        FROM run CROSS JOIN test CROSS JOIN figure CROSS JOIN figure_kind
        LEFT JOIN series ON series.number = run.series
        WHERE test.run = run.number AND figure.run = run.number AND figure.test = test.position
            AND figure_kind.number = figure.kind AND run.deleted_at IS NULL""",
    "CREATE VIEW tags AS SELECT run.id AS run, tag.name AS tag FROM tag JOIN run ON run.number = tag.run"
    " WHERE run.deleted_at IS NULL",
)


def fill_kinds(db: sqlite3.Connection) -> None:
    """What figures there are, into new tables."""
    db.executemany("INSERT INTO figure_kind VALUES (?, ?, ?, ?)", [(at, *kind) for at, kind in enumerate(_KINDS)])


def put(db: sqlite3.Connection, number: int, index: int, result: TestResult | None) -> None:
    """The figures of a test's result in the place of those that are there. What is not a finite number is left out."""
    db.execute("DELETE FROM figure WHERE run = ? AND test = ?", (number, index))
    parts = [("", result), *((codec.to_text(job.name), job) for job in result.jobs)] if result else []
    db.executemany(
        "INSERT OR IGNORE INTO figure VALUES (?, ?, ?, ?, ?)",
        [
            (number, index, job, _NUMBERS[direction, name], value)
            for job, part in parts
            for direction, name, value in _figures(part)
            if value is not None and isfinite(value)
        ],
    )


def _figures(part: Result) -> Iterator[tuple[str | None, str, float | None]]:
    for direction, result in part.directions:
        yield direction.value, "ios", result.ios
        yield direction.value, "bytes", result.bytes
        yield direction.value, "iops", result.iops
        yield direction.value, "bandwidth_bytes_per_s", result.bandwidth_bytes_per_s
        yield direction.value, "runtime_ms", result.runtime_ms
        for name, latency in (("latency", result.latency), ("clat", result.clat), ("slat", result.slat)):
            yield from _latency(direction.value, name, latency)
    yield from _latency(_SYNC, "latency", part.sync)
    if part.cpu:
        yield None, "cpu_user_percent", part.cpu.user_percent
        yield None, "cpu_system_percent", part.cpu.system_percent


def _latency(direction: str, part: str, latency: Latency | None) -> Iterator[tuple[str, str, float | None]]:
    if latency:
        for name in _LATENCIES:
            yield direction, f"{part}_{name}_ns", getattr(latency, name)
