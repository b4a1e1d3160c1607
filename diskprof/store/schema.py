"""The tables, and how a store of an earlier version becomes one of this version.

Text columns that a list needs are real columns; `plan`, `environment`, `findings`, `result` and `body` hold JSON
(codec.py). Times of day are microseconds since 1970 (UTC), times of a run ns since it began. Runs are in the order of
`ordinal`: the time at which they began, or just after the last where the clock said that this was earlier. A migration is
never changed once it was released; a new one is added.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

APPLICATION_ID = 0x64707266  # "dprf"


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from version `version - 1` to `version`."""

    version: int
    name: str
    statements: tuple[str, ...]


# What the kernel saw of an interval.
_SAW = """test INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        at_ns INTEGER NOT NULL,
        duration_ns INTEGER NOT NULL,
        reads INTEGER,
        writes INTEGER,
        read_bytes INTEGER,
        write_bytes INTEGER,
        read_ticks_ms INTEGER,
        write_ticks_ms INTEGER,
        io_ticks_ms INTEGER,
        queue_ticks_ms INTEGER,
        merges INTEGER,
        cpu_user REAL,
        cpu_system REAL,
        cpu_iowait REAL,
        cpu_steal REAL,
        temperature_c REAL"""

_FIRST = (
    """CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '',
        preset TEXT NOT NULL,
        preset_title TEXT NOT NULL,
        target TEXT NOT NULL,
        device TEXT NOT NULL,
        hostname TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        heard_at INTEGER NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        headline TEXT NOT NULL DEFAULT '',
        runner_pid INTEGER NOT NULL,
        runner_start INTEGER NOT NULL,
        runner_boot TEXT NOT NULL,
        runner_place TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX run_by_start ON run (started_at, number)",
    "CREATE INDEX run_under_way ON run (number) WHERE status = 'running'",
    # Apart from `run`, so that a list of ten thousand runs reads none of it.
    """CREATE TABLE detail (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        plan TEXT NOT NULL,
        environment TEXT NOT NULL,
        findings TEXT NOT NULL DEFAULT '[]'
    ) STRICT""",
    """CREATE TABLE progress (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        test INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        fraction REAL NOT NULL,
        overall REAL NOT NULL,
        remaining_s REAL,
        at_ns INTEGER NOT NULL,
        silent_s REAL NOT NULL
    ) STRICT""",
    """CREATE TABLE tag (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX tag_by_name ON tag (name, run)",
    """CREATE TABLE test (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        engine TEXT NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '',
        started_ns INTEGER,
        ended_ns INTEGER,
        result TEXT,
        document BLOB,
        PRIMARY KEY (run, position)
    ) STRICT""",
    """CREATE TABLE message (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE sample (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        test INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        direction INTEGER NOT NULL,
        at_ns INTEGER NOT NULL,
        duration_ns INTEGER NOT NULL,
        ios INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        mean_ns REAL,
        min_ns INTEGER,
        max_ns INTEGER,
        histogram BLOB,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE system_sample (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        {_SAW},
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
)

_SAW_LATER = (
    *("read_merges", "write_merges"),
    *("cgroup_reads", "cgroup_writes", "cgroup_read_bytes", "cgroup_write_bytes"),
    *("cpu_periods", "cpu_throttled", "cpu_throttled_ns"),
    *("memory_available_bytes", "cached_bytes", "dirty_bytes"),
)
_KERNELS_VIEW = tuple(f"ALTER TABLE system_sample ADD COLUMN {name} INTEGER" for name in _SAW_LATER)

# So that the course of a day can be told without unpacking 86,400 histograms.
_PERCENTILES = tuple(f"ALTER TABLE sample ADD COLUMN {name} INTEGER" for name in ("p50_ns", "p99_ns", "p99_9_ns"))

# A clock can be set back: what was begun here last is the newest whatever the clock said. What was taken over from
# elsewhere stands where its time puts it, and so does what was there before this column: of that no more is known.
_ORDER = (
    "ALTER TABLE run ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0",
    "UPDATE run SET ordinal = started_at",
    "CREATE INDEX run_by_order ON run (ordinal, number)",
)

# Blocks of samples taken together (courses.py), so that the course of a day is read from 1,350 rows, not from 86,400. Runs of
# before have none, and are read sample by sample.
_COURSES = (
    """CREATE TABLE course (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        test INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        direction INTEGER NOT NULL,
        at_ns INTEGER NOT NULL,
        duration_ns INTEGER NOT NULL,
        ios INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        mean_ns REAL,
        min_ns INTEGER,
        max_ns INTEGER,
        p50_ns INTEGER,
        p99_ns INTEGER,
        p99_9_ns INTEGER,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE system_course (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        {_SAW},
        {", ".join(f"{name} INTEGER" for name in _SAW_LATER)},
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
)

MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "runs, tests, samples", _FIRST),
    Migration(2, "merges by direction, limits of control groups, memory", _KERNELS_VIEW),
    Migration(3, "percentiles of samples", _PERCENTILES),
    Migration(4, "the order of runs", _ORDER),
    Migration(5, "courses of tests", _COURSES),
)


def version_of(db: sqlite3.Connection) -> int | None:
    """The version of the store, 0 if the database is empty, None if it is another program's."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (objects,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == APPLICATION_ID:
        (version,) = db.execute("SELECT coalesce(max(version), 0) FROM migration").fetchone() if objects else (0,)
        return int(version)
    return 0 if application == 0 and objects == 0 else None


def migrate(db: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Brings a store up to the last of `migrations`, each step in a transaction of its own with its record.

    `db` is in autocommit mode. Two processes may do it at once: each step looks again under the lock.
    """
    for migration in migrations:
        db.execute("BEGIN IMMEDIATE")
        try:
            if (version_of(db) or 0) < migration.version:
                _apply(db, migration)
            db.execute("COMMIT")
        except BaseException:  # Interrupted too: half a migration must not stay, nor its lock.
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _apply(db: sqlite3.Connection, migration: Migration) -> None:
    if migration.version == 1:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(
            "CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
        )
    for statement in migration.statements:
        db.execute(statement)
    db.execute(
        "INSERT INTO migration (version, name, applied_at) VALUES (?, ?, ?)",
        (migration.version, migration.name, datetime.now(UTC).isoformat(timespec="seconds")),
    )
    db.execute(f"PRAGMA user_version = {migration.version}")
