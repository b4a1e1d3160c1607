"""What is written to the store. Every function works inside the caller's transaction."""

import re
import sqlite3
import zlib
from collections.abc import Sequence
from datetime import datetime
from random import SystemRandom

from msgspec.structs import replace

from diskprof.model.drive import DriveRecord
from diskprof.model.errors import RunNotFound, StoreError, UsageError
from diskprof.model.fingerprint import fingerprint
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Environment, Finding, Message, Progress, Status, TestResult, doubts_of
from diskprof.model.sample import Sample, SystemSample
from diskprof.model.text import split_tags
from diskprof.store import codec, courses, figures, reading
from diskprof.store.histogram_blocks import BlockWriter
from diskprof.store.liveness import ProcessIdentity

# No 0 and o, 1, i and l, nor u and v: an id is read from one screen and typed into another.
_LETTERS = "23456789abcdefghjkmnpqrstwxyz"
_ID = re.compile(r"[0-9a-z][0-9a-z_-]{0,63}")
_OVER = tuple(status for status in Status if status.over and status is not Status.SKIPPED)


def new_id(db: sqlite3.Connection) -> str:
    """An id that no run, no series and no fleet run has."""
    while True:
        candidate = "".join(SystemRandom().choice(_LETTERS) for _ in range(8))
        if not is_taken(db, candidate):
            return candidate


def is_taken(db: sqlite3.Connection, name: str) -> bool:
    """Whether a run, a series or a fleet run has this id."""
    found = " UNION ALL ".join(f"SELECT 1 FROM {kind} WHERE id = ?1" for kind in reading.ItemKind)
    return bool(db.execute(found, (name,)).fetchone())


def id_from(number: int) -> str:
    """The id that stands for a number of 40 bits and more."""
    letters = ""
    for _ in range(8):
        number, place = divmod(number, len(_LETTERS))
        letters += _LETTERS[place]
    return letters


def check_id(db: sqlite3.Connection, run_id: str) -> str:
    """Raises UsageError if a run cannot have this id."""
    if not _ID.fullmatch(run_id) or reading.is_reserved(run_id):
        raise UsageError(f"{run_id!r} cannot be the id of a run.", "Ids are of small letters and digits.")
    if is_taken(db, run_id):
        raise UsageError(f"There is already a run {run_id}.", "Delete it first, or give this one another id.")
    return run_id


def create(
    db: sqlite3.Connection,
    run_id: str,
    plan: Plan,
    environment: Environment,
    *,
    note: str,
    runner: ProcessIdentity,
    started_at: datetime | None,
    heard_at: datetime,
) -> int:
    """Inserts the run (running) and its tests (pending); returns its number.

    Without `started_at` it begins now, `heard_at`, and is the newest whatever the clock says; else it stands where that puts it.
    """
    started = codec.to_micros(started_at or heard_at)
    ordinal = started
    if started_at is None:
        (last,) = db.execute("SELECT max(ordinal) FROM run").fetchone()
        ordinal = started if last is None else max(started, last + 1)
    number = db.execute(
        "INSERT INTO run (id, status, preset, preset_title, target, device, hostname, started_at, ordinal, heard_at,"
        " note, runner_pid, runner_start, runner_boot, runner_place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(run_id, Status.RUNNING.value),
            *map(codec.to_text, (plan.preset, plan.preset_title, plan.target.path)),
            codec.to_text(device_label(plan, environment)),
            codec.to_text(environment.hostname),
            *(started, ordinal),
            codec.to_micros(heard_at),
            codec.to_text(note),
            *(runner.pid, runner.start_ticks, runner.boot_id, runner.place),
        ),
    ).lastrowid
    assert number is not None
    db.execute(
        "INSERT INTO detail (run, plan, environment) VALUES (?, ?, ?)",
        (number, codec.to_json(plan), codec.to_json(environment)),
    )
    like = fingerprint(plan, environment)
    db.execute(
        "INSERT INTO fingerprint (run, tests, disk, file_system, kernel) VALUES (?, ?, ?, ?, ?)",
        (number, *map(codec.to_text, (like.tests, like.disk, like.file_system, like.kernel))),
    )
    db.executemany(
        "INSERT INTO test (run, position, name, engine, status) VALUES (?, ?, ?, ?, ?)",
        [
            (number, index, codec.to_text(test.name), test.engine.value, Status.PENDING.value)
            for index, test in enumerate(plan.tests)
        ],
    )
    return number


def device_label(plan: Plan, environment: Environment) -> str:
    """What a list of runs calls the disk: its model, else its name."""
    known = (*environment.disks, *((environment.device,) if environment.device else ()))
    return next((device.model for device in known if device.model), "") or plan.target.device_title


def _add_test(db: sqlite3.Connection, number: int, planned: PlannedTest) -> None:
    """Adds a pending test behind those of the run. Raises StoreError where its plan cannot be read."""
    (text,) = db.execute("SELECT plan FROM detail WHERE run = ?", (number,)).fetchone()
    plan = codec.plan_from(text)
    longer = replace(plan, tests=(*plan.tests, planned))
    db.execute("UPDATE detail SET plan = ? WHERE run = ?", (codec.to_json(longer), number))
    db.execute(
        "INSERT INTO test (run, position, name, engine, status) VALUES (?, ?, ?, ?, ?)",
        (number, len(plan.tests), codec.to_text(planned.name), planned.engine.value, Status.PENDING.value),
    )


def begin_test(db: sqlite3.Connection, number: int, index: int, at_ns: int, added: PlannedTest | None = None) -> bool:
    """False where there is no such test. One that is `added` comes behind those of the plan: a search decides on its way what it
    tries."""
    if added:
        _add_test(db, number, added)
    return (
        db.execute(
            "UPDATE test SET status = ?, started_ns = ? WHERE run = ? AND position = ?",
            (Status.RUNNING.value, at_ns, number, index),
        ).rowcount
        == 1
    )


def append(
    db: sqlite3.Connection,
    number: int,
    samples: Sequence[Sample],
    system: Sequence[SystemSample],
    messages: Sequence[Message],
    progress: Progress | None,
    blocks: BlockWriter | None = None,
    processes: Sequence[ProcessIo] = (),
) -> None:
    """Adds what happened; `blocks`, of the process that carries the run out, also what its heat map is made from."""
    seq = _next(db, "sample", number) if samples else 0
    rows = [codec.sample_row(number, seq + i, sample) for i, sample in enumerate(samples)]
    _insert(db, f"sample (run, seq, {codec.SAMPLE_COLUMNS})", len(rows[0]) if rows else 0, rows)
    courses.fold_samples(db, number, seq, seq + len(rows))
    if blocks and samples:
        blocks.add(db, number, seq, samples)
    seq = _next(db, "system_sample", number) if system else 0
    rows = [codec.system_row(number, seq + i, sample) for i, sample in enumerate(system)]
    _insert(db, f"system_sample (run, seq, {codec.SYSTEM_COLUMNS})", len(rows[0]) if rows else 0, rows)
    courses.fold_system(db, number, seq, seq + len(rows))
    seq = _next(db, "message", number) if messages else 0
    _insert(db, "message", 3, [(number, seq + i, codec.to_json(message)) for i, message in enumerate(messages)])
    if progress is not None:
        db.execute(
            "INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?, ?, ?)", codec.progress_row(number, progress)
        )
    add_processes(db, number, processes)


def add_processes(db: sqlite3.Connection, number: int, processes: Sequence[ProcessIo]) -> None:
    """Adds to what is known of each process."""
    db.executemany(
        f"INSERT INTO process_io (run, {codec.PROCESS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " read_bytes = read_bytes + excluded.read_bytes, write_bytes = write_bytes + excluded.write_bytes,"
        " first_ns = min(first_ns, excluded.first_ns), last_ns = max(last_ns, excluded.last_ns)",
        [codec.process_row(number, each) for each in processes],
    )


def _next(db: sqlite3.Connection, table: str, number: int) -> int:
    (seq,) = db.execute(f"SELECT coalesce(max(seq), 0) + 1 FROM {table} WHERE run = ?", (number,)).fetchone()
    return int(seq)


def _insert(db: sqlite3.Connection, table: str, width: int, rows: list[tuple[object, ...]]) -> None:
    if rows:
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows)


def finish_test(
    db: sqlite3.Connection,
    number: int,
    index: int,
    status: Status,
    reason: str,
    at_ns: int,
    result: TestResult | None,
    document: bytes,
) -> bool:
    figures.put(db, number, index, result)
    return (
        db.execute(
            "UPDATE test SET status = ?, reason = ?, ended_ns = ?, result = ?, document = ? WHERE run = ? AND position = ?",
            (
                *(status.value, codec.to_text(reason), at_ns),
                None if result is None else codec.to_json(result),
                zlib.compress(document) if document else None,
                *(number, index),
            ),
        ).rowcount
        == 1
    )


def finish_run(
    db: sqlite3.Connection,
    run_id: str,
    status: Status,
    reason: str,
    findings: Sequence[Finding],
    headline: str,
    ended_at: datetime,
) -> None:
    """Raises RunNotFound; StoreError if the run has ended before, other than by `interrupt`."""
    number = reading.number_of(db, run_id)
    changed = db.execute(
        "UPDATE run SET status = ?, reason = ?, headline = ?, ended_at = ? WHERE number = ? AND status IN (?, ?)",
        (
            *(status.value, codec.to_text(reason), codec.to_text(headline), codec.to_micros(ended_at), number),
            *(Status.RUNNING.value, Status.INTERRUPTED.value),
        ),
    ).rowcount
    if not changed:
        raise StoreError(f"The run {run_id} has ended already.")
    set_findings(db, number, findings)
    _close_tests(db, number, status)


def set_findings(db: sqlite3.Connection, number: int, findings: Sequence[Finding]) -> None:
    """The findings of a run, and the names of its doubts where the list of runs has them."""
    db.execute("UPDATE detail SET findings = ? WHERE run = ?", (codec.to_json(tuple(findings)), number))
    db.execute("UPDATE run SET doubts = ? WHERE number = ?", (codec.to_text(" ".join(doubts_of(findings))), number))


def set_drives(db: sqlite3.Connection, number: int, drives: Sequence[DriveRecord]) -> None:
    """What the drives of a run counted."""
    db.execute("UPDATE detail SET drives = ? WHERE run = ?", (codec.to_json(tuple(drives)), number))


def interrupt(db: sqlite3.Connection, number: int, reason: str) -> bool:
    """Marks a run whose runner died; it ended where its progress ended. False if it has ended meanwhile."""
    changed = db.execute(
        "UPDATE run SET status = ?, reason = ?, ended_at ="
        " started_at + coalesce((SELECT at_ns FROM progress WHERE progress.run = run.number), 0) / 1000"
        " WHERE number = ? AND status = ?",
        (Status.INTERRUPTED.value, reason, number, Status.RUNNING.value),
    ).rowcount
    if changed:
        _close_tests(db, number, Status.INTERRUPTED)
    return bool(changed)


def _close_tests(db: sqlite3.Connection, number: int, status: Status) -> None:
    db.execute(
        "UPDATE test SET status = ?, ended_ns = coalesce(ended_ns, (SELECT max(at_ns, started_ns) FROM progress WHERE run = ?))"
        " WHERE run = ? AND status = ?",
        (status.value, number, number, Status.RUNNING.value),
    )
    db.execute(
        "UPDATE test SET status = ? WHERE run = ? AND status = ?",
        (Status.SKIPPED.value, number, Status.PENDING.value),
    )


def set_tags(db: sqlite3.Connection, number: int, tags: Sequence[str]) -> None:
    """Replaces the tags: split at blanks and commas, each once, in the order given.

    Raises UsageError for a name that `resolve` keeps.
    """
    names = dict.fromkeys(codec.to_text(name) for tag in tags for name in split_tags(tag))
    for name in names:
        if reading.is_reserved(name):
            raise UsageError(f"{name!r} cannot be a tag: it always means the newest run.", "Choose another word.")
    db.execute("DELETE FROM tag WHERE run = ?", (number,))
    db.executemany(
        "INSERT INTO tag (run, position, name) VALUES (?, ?, ?)",
        [(number, position, name) for position, name in enumerate(names)],
    )


def discard(db: sqlite3.Connection, number: int, at: datetime) -> None:
    """Puts a run into the trash."""
    db.execute("UPDATE run SET deleted_at = ? WHERE number = ?", (codec.to_micros(at), number))


def restore(db: sqlite3.Connection, number: int) -> None:
    """Takes a run out of the trash."""
    db.execute("UPDATE run SET deleted_at = NULL WHERE number = ?", (number,))


def check_ending(status: Status) -> None:
    """Raises ValueError for a status that is no end of a run."""
    if status not in _OVER:
        raise ValueError(f"a run cannot end as {status.value}")


def touch(db: sqlite3.Connection, run_id: str, at: datetime) -> int:
    """Notes that the runner was heard of; returns the run's number. Raises RunNotFound."""
    row = db.execute(
        "UPDATE run SET heard_at = ? WHERE id = ? RETURNING number", (codec.to_micros(at), run_id)
    ).fetchone()
    if row is None:
        raise RunNotFound(f"There is no run {run_id!r}.", "It was deleted.")
    return int(row[0])
