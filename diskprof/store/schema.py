"""The tables.

Text columns that a list needs are real columns; `plan`, `environment`, `findings`, `drives`, `result` and `body` hold JSON
(codec.py). Times of day are microseconds since 1970 (UTC), times of a run ns since it began.
"""

import sqlite3

from diskprof.store import figures

APPLICATION_ID = 0x64707266  # "dprf"
VERSION = 13

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
        temperature_c REAL,
        read_merges INTEGER,
        write_merges INTEGER,
        cgroup_reads INTEGER,
        cgroup_writes INTEGER,
        cgroup_read_bytes INTEGER,
        cgroup_write_bytes INTEGER,
        cpu_periods INTEGER,
        cpu_throttled INTEGER,
        cpu_throttled_ns INTEGER,
        memory_available_bytes INTEGER,
        cached_bytes INTEGER,
        dirty_bytes INTEGER,
        own_write_bytes INTEGER,
        discards INTEGER,
        discard_bytes INTEGER,
        discard_ticks_ms INTEGER,
        flushes INTEGER,
        flush_ticks_ms INTEGER"""

_TABLES = (
    # `targets` and `spreads` are JSON. Of `repeats` and `until` one is NULL.
    """CREATE TABLE series (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '',
        preset TEXT NOT NULL,
        preset_title TEXT NOT NULL,
        targets TEXT NOT NULL,
        target_order TEXT NOT NULL,
        repeats INTEGER,
        until REAL,
        at_most_s REAL,
        pause_s REAL NOT NULL,
        spreads TEXT NOT NULL DEFAULT '[]',
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        heard_at INTEGER NOT NULL,
        runner_pid INTEGER NOT NULL,
        runner_start INTEGER NOT NULL,
        runner_boot TEXT NOT NULL,
        runner_place TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX series_under_way ON series (number) WHERE status = 'running'",
    # The coordinator is to a fleet run what the runner is to a run. `wanted` is JSON.
    """CREATE TABLE fleet (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '',
        preset TEXT NOT NULL,
        preset_title TEXT NOT NULL,
        at_once INTEGER,
        wanted TEXT NOT NULL,
        engine TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        heard_at INTEGER NOT NULL,
        runner_pid INTEGER NOT NULL,
        runner_start INTEGER NOT NULL,
        runner_boot TEXT NOT NULL,
        runner_place TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX fleet_under_way ON fleet (number) WHERE status = 'running'",
    # A host of NULL is this machine.
    """CREATE TABLE fleet_member (
        fleet INTEGER NOT NULL REFERENCES fleet ON DELETE CASCADE,
        position INTEGER NOT NULL,
        host TEXT,
        target TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '',
        clock_offset_ns INTEGER,
        clock_within_ns INTEGER,
        began_at INTEGER,
        run_id TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (fleet, position)
    ) STRICT, WITHOUT ROWID""",
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
        ordinal INTEGER NOT NULL,
        ended_at INTEGER,
        deleted_at INTEGER,
        heard_at INTEGER NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        headline TEXT NOT NULL DEFAULT '',
        doubts TEXT NOT NULL DEFAULT '',
        runner_pid INTEGER NOT NULL,
        runner_start INTEGER NOT NULL,
        runner_boot TEXT NOT NULL,
        runner_place TEXT NOT NULL,
        series INTEGER REFERENCES series,
        repeat INTEGER,
        arm INTEGER,
        fleet INTEGER REFERENCES fleet,
        member INTEGER,
        stage TEXT,
        imported_from TEXT NOT NULL DEFAULT '',
        started_text TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%SZ', started_at / 1000000, 'unixepoch')) VIRTUAL
    ) STRICT""",
    "CREATE INDEX run_of_series ON run (series, ordinal) WHERE series IS NOT NULL",
    "CREATE INDEX run_of_fleet ON run (fleet, member, ordinal) WHERE fleet IS NOT NULL",
    "CREATE INDEX run_by_start ON run (started_at, number)",
    # Runs are in the order of `ordinal`: when they began, or just after the last where the clock was set back. What was
    # imported stands where its time puts it.
    "CREATE INDEX run_by_order ON run (ordinal, number)",
    "CREATE INDEX run_under_way ON run (number) WHERE status = 'running'",
    # The trash. Every other list leaves it out.
    "CREATE INDEX run_deleted ON run (deleted_at) WHERE deleted_at IS NOT NULL",
    # Apart from `run`, so that a list of ten thousand runs reads none of it.
    """CREATE TABLE detail (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        plan TEXT NOT NULL,
        environment TEXT NOT NULL,
        findings TEXT NOT NULL DEFAULT '[]',
        drives TEXT NOT NULL DEFAULT '[]'
    ) STRICT""",
    # What makes runs of a preset alike (model/fingerprint.py), so that a history is found without opening any of them.
    """CREATE TABLE fingerprint (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        tests TEXT NOT NULL,
        disk TEXT NOT NULL,
        file_system TEXT NOT NULL,
        kernel TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX run_by_preset ON run (preset, ordinal, number)",
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
    # Where a run waits for those of other hosts, before its first test measures (barriers.py).
    """CREATE TABLE barrier (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        ready_at INTEGER,
        heard_at INTEGER NOT NULL,
        go_at INTEGER,
        passed_at INTEGER
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
        p50_ns INTEGER,
        p99_ns INTEGER,
        p99_9_ns INTEGER,
        within REAL,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE system_sample (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        {_SAW},
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
    # What processes beside the test did while it measured: a row for each process of a test.
    """CREATE TABLE process_io (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        test INTEGER NOT NULL,
        pid INTEGER NOT NULL,
        start_ticks INTEGER NOT NULL,
        name TEXT NOT NULL,
        read_bytes INTEGER NOT NULL,
        write_bytes INTEGER NOT NULL,
        first_ns INTEGER NOT NULL,
        last_ns INTEGER NOT NULL,
        PRIMARY KEY (run, test, pid, start_ticks)
    ) STRICT, WITHOUT ROWID""",
    # Blocks of samples taken together (courses.py), so that the course of a day is read from 1,350 rows, not from 86,400.
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
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID""",
    # Histograms of `fold` samples in one (histogram_blocks.py), for the heat map of a day.
    """CREATE TABLE histogram_block (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        fold INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        test INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        direction INTEGER NOT NULL,
        at_ns INTEGER NOT NULL,
        duration_ns INTEGER NOT NULL,
        max_ns INTEGER,
        histogram BLOB NOT NULL,
        PRIMARY KEY (run, fold, seq)
    ) STRICT, WITHOUT ROWID""",
    *figures.TABLES,
)


def version_of(db: sqlite3.Connection) -> int | None:
    """The version of the store, 0 if the database is empty, None if it is another program's."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (objects,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == APPLICATION_ID:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        return int(version)
    return 0 if application == 0 and objects == 0 else None


def make_tables(db: sqlite3.Connection) -> None:
    """Makes an empty database a store, inside the caller's transaction."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in _TABLES:
        db.execute(statement)
    figures.fill_kinds(db)
    db.execute(f"PRAGMA user_version = {VERSION}")
