"""Runs out of one store and into another, whole: an imported run shows, compares and reports as it did where it was made."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.advice import Advice
from diskprof.model.errors import RunNotFound, StoreError, UsageError
from diskprof.model.fleet import FleetRun, MemberState
from diskprof.model.run import FleetPlace, Message, Status
from diskprof.model.run_series import RunSeries
from diskprof.model.sample import Sample, SystemSample
from diskprof.model.text import clean
from diskprof.store import codec, figures, fleets, reading, run_series, writing
from diskprof.store.database import Database
from diskprof.store.exchange.runfile import RunWriter, read
from diskprof.store.exchange.runfile_values import BadFile, Batch, End, Head, Record, TestEnd
from diskprof.store.exchange.staging import RunSource, Staging, new_staging, staging_for
from diskprof.store.liveness import REPLICATED, ProcessIdentity
from diskprof.store.store import Store

# No more than the histograms that are kept unpacked (model/histogram.py): each is then unpacked once.
_BATCH = 200
_AT_ONCE = 100
"""So many runs of a source are kept together: what a killed import has to read again."""
_IN_MEMORY = 4 << 20
"""Bytes of a run on its way that need no file."""
# Nobody here carried it out. The place is no machine's, and the number no process's: so nothing is ever signalled for it, and
# no file on this machine is taken for one that it left behind.
_ELSEWHERE = ProcessIdentity(pid=2**31 - 1, start_ticks=0, boot_id="", place="imported")


class ImportedRun(Struct, frozen=True):
    """A run of a file: `given` is its id there, `run_id` here; `new` is False where it was here already."""

    given: str
    run_id: str
    new: bool


_STAGED = "staged_runs"
_Table = tuple[str, Sequence[str]]
"""A table and its columns."""


# --- Out ------------------------------------------------------------------------------------------------------------


def export_runs(store: Store, ids: Sequence[str], file: IO[bytes]) -> None:
    """Writes the runs to `file`. Raises UsageError for one that is under way, OSError where `file` cannot be written."""
    for run_id in ids:
        if not store.run(run_id).status.over:
            raise UsageError(
                f"Run {run_id} is in progress.",
                Advice(f"Wait for its end: diskprof attach {run_id}", "Wait until it has finished."),
            )
    writer = RunWriter(file)
    told = set[str]()
    for run_id in ids:
        place = store.run(run_id).series
        if place and place.series_id not in told:
            told.add(place.series_id)
            writer.add(_over(store.series(place.series_id)))
        within = store.run(run_id).fleet
        if within and within.fleet_id not in told:
            told.add(within.fleet_id)
            writer.add(_fleet_over(store.fleet_run(within.fleet_id)))
        _write(store, run_id, store.summary(run_id).headline, writer)
    writer.close()


def _over(series: RunSeries) -> RunSeries:
    """Of a series in progress those runs travel that are there: elsewhere nobody goes on with it."""
    if series.status.over:
        return series
    reason = "It was in progress when it was exported."
    return replace(series, status=Status.INTERRUPTED, reason=reason)


def _fleet_over(fleet: FleetRun) -> FleetRun:
    """As `_over`, of a fleet run: who is not done by then is lost to those who read the file."""
    if fleet.status.over:
        return fleet
    reason = "It was in progress when it was exported."
    statuses = tuple(
        status if status.state.over else replace(status, state=MemberState.LOST, reason=reason)
        for status in fleet.statuses
    )
    return replace(fleet, status=Status.INTERRUPTED, reason=reason, statuses=statuses)


def _write(store: Store, run_id: str, headline: str, writer: RunWriter) -> None:
    run = store.run(run_id)
    writer.add(
        Head(
            id=run.id,
            status=run.status,
            reason=run.reason,
            started_at=run.started_at,
            ended_at=run.ended_at,
            tags=run.tags,
            note=run.note,
            headline=headline,
            plan=run.plan,
            environment=run.environment,
            findings=run.findings,
            progress=run.progress,
            series=run.series,
            imported_from=run.imported_from,
            fleet=run.fleet,
            drives=run.drives,
        )
    )
    for test in run.tests:
        document = store.document(run_id, test.index)
        others = tuple(each for each in run.processes if each.test == test.index)
        ended = (test.status, test.reason, test.started_ns, test.ended_ns, test.result)
        writer.add(TestEnd(test.index, *ended, document, others))
    for start in range(0, len(run.messages), _BATCH):
        writer.add(run.messages[start : start + _BATCH])
    samples = system = 0
    for batch in _sample_batches(store, run_id):
        samples += len(batch)
        writer.add(batch)
    for kernel in _system_batches(store, run_id):
        system += len(kernel)
        writer.add(kernel)
    writer.add(End(len(run.tests), len(run.messages), samples, system))


def _sample_batches(store: Store, run_id: str) -> Iterator[tuple[Sample, ...]]:
    after = 0
    while (batch := store.samples(run_id, after=after, most=_BATCH)).samples:
        yield batch.samples
        after = batch.last


def _system_batches(store: Store, run_id: str) -> Iterator[tuple[SystemSample, ...]]:
    after = 0
    while (batch := store.system_samples(run_id, after=after, most=_BATCH)).samples:
        yield batch.samples
        after = batch.last


# --- In -------------------------------------------------------------------------------------------------------------


def import_runs(store: Store, files: Sequence[tuple[str, IO[bytes]]]) -> list[ImportedRun]:
    """Takes the runs of all files that `export_runs` wrote (name for messages, content); see `import_records`."""
    return import_records(store, [RunSource(name, partial(read, file, name)) for name, file in files])


@contextmanager
def _both(database: Database, staging: Staging) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
    """The staged runs, and the store to be written, which has them as `staged` too; closes the store."""
    with closing(database):
        database.attach(staging.database.path, _STAGED)
        with staging.database.read() as source, database.write() as db:
            yield source, db


def id_of_results(*documents: bytes) -> str:
    """The id of a run that was read from these documents: the same for the same ones, so that they are known again."""
    digest = sha256()
    for document in documents:
        digest.update(len(document).to_bytes(8) + document)
    return writing.id_from(int.from_bytes(digest.digest()))


def import_records(store: Store, sources: Sequence[RunSource]) -> list[ImportedRun]:
    """Takes the runs of all sources into the store, or none of them. Where it was killed, it goes on where it had come to.

    A run that is here already is left as it is, or taken out of the trash; one whose id another run has here gets a new id.
    Raises BadFile, and whatever a source raises.
    """
    # The store is locked for the copying alone, not for the reading of files: a run may be under way in it.
    with staging_for(store.path, sources) as staging:
        given = [head for source in sources for head in _stage(staging, source)]
        database = Database.open(store.path, create=True, timeout_s=5.0)
        with _both(database, staging) as (source, db):
            tables = _tables(source)
            return [_take_over(source, tables, number, db, run_id) for number, run_id in given]


@contextmanager
def on_its_way(store: Store) -> Iterator[IO[bytes]]:
    """A file without a name for a run between two hosts: in memory while it is small, then beside the store.

    What keeps it from being written is raised as a StoreError.
    """
    try:
        with SpooledTemporaryFile(_IN_MEMORY, dir=str(store.path.parent)) as file:
            yield file
    except OSError as error:
        raise StoreError(f"The run cannot be written beside {store.path}: {error.strerror or error}.") from None


def take_whole(store: Store, run_id: str, file: IO[bytes], name: str, place: FleetPlace) -> None:
    """Takes a run of a host, which `export_runs` wrote there, in place of what was told of it while it was in progress.

    It keeps the tags and the note that it has here. Raises BadFile where `file` is not that of this run alone.
    """
    with new_staging() as staging:
        given = list(_stage(staging, RunSource(name, partial(read, file, name))))
        if [known for _, known in given] != [run_id]:
            raise BadFile(f"{clean(name)} sent another run than {run_id}.")
        database = Database.open(store.path, create=True, timeout_s=60.0)
        with _both(database, staging) as (source, db):
            kept = _remove_replica(db, run_id)
            taken = _take_over(source, _tables(source), given[0][0], db, run_id)
            number = reading.number_of(db, taken.run_id, trash=True)
            fleets.put(db, number, place)
            if kept:
                writing.set_tags(db, number, kept[0])
                db.execute("UPDATE run SET note = ? WHERE number = ?", (kept[1], number))


def _remove_replica(db: sqlite3.Connection, run_id: str) -> tuple[tuple[str, ...], str] | None:
    """Removes what was told of a run in progress on a host; its tags and its note."""
    row = db.execute(
        "SELECT number, note FROM run WHERE id = ? AND runner_place = ?", (run_id, REPLICATED.place)
    ).fetchone()
    if row is None:
        return None
    tags = reading.tags(db, row[0])
    db.execute("DELETE FROM run WHERE number = ?", (row[0],))
    return tags, str(row[1])


def _stage(staging: Staging, source: RunSource) -> Iterator[tuple[int, str]]:
    """Puts the runs of a source into a store of their own; yields the number of each there and the id that it had."""
    staged = staging.runs_of(source)
    yield from staged
    records = source.records(len(staged))
    while True:
        # Nobody waits for a disk here: what a power cut takes is read again.
        with staging.database.write(at_once=False) as db:
            found = list(islice(_staged(db, source.name, records), _AT_ONCE))
            marks = [(source.key, *each) for each in found if source.key]
            db.executemany("INSERT INTO staged (source, number, given) VALUES (?, ?, ?)", marks)
        yield from found
        if len(found) < _AT_ONCE:
            return


def _staged(db: sqlite3.Connection, name: str, records: Iterator[Record]) -> Iterator[tuple[int, str]]:
    head: Head | None = None
    number, counts = 0, [0, 0, 0, 0]
    for record in records:
        if head and isinstance(record, RunSeries | FleetRun | Head):
            raise _wrong(name, head, "its end is missing")
        if isinstance(record, RunSeries):
            _stage_series(db, name, record)
        elif isinstance(record, FleetRun):
            _stage_fleet(db, name, record)
        elif isinstance(record, Head):
            head, counts = record, [0, 0, 0, 0]
            number = _create(db, name, head)
        elif head is None:
            raise BadFile(f"{clean(name)}: a part of a run stands before the run. Nothing was imported.")
        elif isinstance(record, End):
            if counts != [record.tests, record.messages, record.samples, record.system]:
                raise _wrong(name, head, "parts of it are missing")
            if counts[0] != len(head.plan.tests):
                raise _wrong(name, head, "its tests are not those of its plan")
            yield number, head.id
            head = None
        elif isinstance(record, TestEnd):
            if record.index != counts[0] or counts[0] >= len(head.plan.tests):
                raise _wrong(name, head, "its tests are not those of its plan")
            if any(each.test != record.index for each in record.processes):
                raise _wrong(name, head, "a part of it is of a test that it does not have")
            _finish_test(db, number, record)
            counts[0] += 1
        else:
            counts[_append(db, number, name, head, record)] += len(record)
    if head:
        raise _wrong(name, head, "its end is missing")


def _stage_series(db: sqlite3.Connection, name: str, series: RunSeries) -> None:
    try:
        if not writing.is_taken(db, series.id):
            run_series.insert(db, replace(series, id=writing.check_id(db, series.id)), _ELSEWHERE, datetime.now(UTC))
            return
        same = run_series.series(db, series.id)
    except (UsageError, RunNotFound) as error:
        raise BadFile(f"{clean(name)}: {clean(error.message)} Nothing was imported.") from None
    if (same.started_at, same.targets, same.preset) != (series.started_at, series.targets, series.preset):
        raise BadFile(f"{clean(name)}: another series has the id {clean(series.id)}. Nothing was imported.")


def _stage_fleet(db: sqlite3.Connection, name: str, fleet: FleetRun) -> None:
    try:
        if not writing.is_taken(db, fleet.id):
            fleets.insert(db, replace(fleet, id=writing.check_id(db, fleet.id)), _ELSEWHERE, datetime.now(UTC))
            return
        same = fleets.fleet_run(db, fleet.id)
    except (UsageError, RunNotFound) as error:
        raise BadFile(f"{clean(name)}: {clean(error.message)} Nothing was imported.") from None
    if (same.started_at, same.members, same.preset) != (fleet.started_at, fleet.members, fleet.preset):
        raise BadFile(f"{clean(name)}: another fleet run has the id {clean(fleet.id)}. Nothing was imported.")


def _wrong(name: str, head: Head, what: str) -> BadFile:
    return BadFile(
        f"{clean(name)}: the run {clean(head.id[:40])}: {clean(what)}. Nothing was imported.",
        "Export it again, or copy it again.",
    )


def _create(db: sqlite3.Connection, name: str, head: Head) -> int:
    if head.progress and head.progress.test >= len(head.plan.tests):
        raise _wrong(name, head, "its progress is that of another run")
    try:
        writing.check_id(db, head.id)
        number = writing.create(
            *(db, writing.new_id(db), head.plan, head.environment),
            note=head.note,
            runner=_ELSEWHERE,
            started_at=head.started_at,
            heard_at=datetime.now(UTC),
        )
        if place := head.series:
            series = run_series.series(db, place.series_id)
            if not 0 <= place.arm < len(series.targets) or place.repeat < 1:
                raise _wrong(name, head, "it has no place in its series")
            run_series.put(db, number, place)
            db.execute("UPDATE run SET note = ? WHERE number = ?", (codec.to_text(head.note), number))
        if within := head.fleet:
            if not 0 <= within.member < len(fleets.fleet_run(db, within.fleet_id).members) or within.repeat < 1:
                raise _wrong(name, head, "it has no place in its fleet run")
            fleets.put(db, number, within)
        writing.set_tags(db, number, head.tags)
    except RunNotFound:
        raise _wrong(name, head, "its series or fleet run is missing") from None
    except UsageError as error:
        raise _wrong(name, head, error.message.rstrip(".")) from None
    db.execute(
        "UPDATE run SET status = ?, reason = ?, headline = ?, imported_from = ?, ended_at = ? WHERE number = ?",
        (
            *(head.status.value, codec.to_text(head.reason), codec.to_text(head.headline)),
            codec.to_text(head.imported_from),
            None if head.ended_at is None else codec.to_micros(head.ended_at),
            number,
        ),
    )
    writing.set_findings(db, number, head.findings)
    writing.set_drives(db, number, head.drives)
    writing.append(db, number, (), (), (), head.progress)
    return number


def _finish_test(db: sqlite3.Connection, number: int, test: TestEnd) -> None:
    figures.put(db, number, test.index, test.result)
    db.execute(
        "UPDATE test SET status = ?, reason = ?, started_ns = ?, ended_ns = ?, result = ?, document = ?"
        " WHERE run = ? AND position = ?",
        (
            *(test.status.value, codec.to_text(test.reason), test.started_ns, test.ended_ns),
            None if test.result is None else codec.to_json(test.result),
            zlib.compress(test.document) if test.document else None,
            *(number, test.index),
        ),
    )
    writing.add_processes(db, number, test.processes)


def _append(db: sqlite3.Connection, number: int, name: str, head: Head, records: Batch) -> int:
    """Adds messages or samples; returns which place in the counts they have."""
    if any(record.test is not None and not 0 <= record.test < len(head.plan.tests) for record in records):
        raise _wrong(name, head, "a part of it is of a test that it does not have")
    messages = [record for record in records if isinstance(record, Message)]
    samples = [record for record in records if isinstance(record, Sample)]
    system = [record for record in records if isinstance(record, SystemSample)]
    writing.append(db, number, samples, system, messages, None)
    return 1 if messages else 2 if samples else 3


def _take_over(
    source: sqlite3.Connection, tables: Sequence[_Table], number: int, db: sqlite3.Connection, wanted: str
) -> ImportedRun:
    """Copies a run, with all that belongs to it, into the store."""
    if known := _same_results(source, number, db, wanted) or _same_run(source, number, db):
        writing.restore(db, reading.number_of(db, known, trash=True))
        return ImportedRun(wanted, known, new=False)
    run_id = writing.new_id(db) if writing.is_taken(db, wanted) else wanted
    here: int | None = None
    for table, columns in tables:
        names = ", ".join(columns)
        if table == "run":
            rows = source.execute(f"SELECT {names} FROM run WHERE number = ?", (number,))
            values = dict(zip(columns, rows.fetchone(), strict=True)) | {"id": run_id, "number": None}
            if values["series"] is not None:
                values["series"] = _series_here(source, values["series"], db)
            if values["fleet"] is not None:
                values["fleet"] = _fleet_here(source, values["fleet"], db)
            here = db.execute(_insert(table, columns), tuple(values.values())).lastrowid
        else:
            values_of = ", ".join("?1" if name == "run" else name for name in columns)
            db.execute(
                f"INSERT INTO main.{table} ({names}) SELECT {values_of} FROM {_STAGED}.{table} WHERE run = ?2",
                (here, number),
            )
    return ImportedRun(wanted, run_id, new=True)


def _fleet_here(source: sqlite3.Connection, number: int, db: sqlite3.Connection) -> int:
    """As `_series_here`, of a fleet run."""
    (staged,) = source.execute("SELECT id FROM fleet WHERE number = ?", (number,)).fetchone()
    fleet = fleets.fleet_run(source, staged)
    known = db.execute(
        "SELECT id FROM fleet WHERE started_at = ? AND preset = ?",
        (codec.to_micros(fleet.started_at), codec.to_text(fleet.preset)),
    ).fetchall()
    same = next((name for (name,) in known if fleets.fleet_run(db, name).members == fleet.members), None)
    if same is None:
        same = writing.new_id(db) if writing.is_taken(db, staged) else staged
        fleets.insert(db, replace(fleet, id=same), _ELSEWHERE, datetime.now(UTC))
    return fleets.number_of(db, same)


def _series_here(source: sqlite3.Connection, number: int, db: sqlite3.Connection) -> int:
    """The number here of a series of `source`: that of the same series, begun at the same microsecond, or of a copy."""
    (staged,) = source.execute("SELECT id FROM series WHERE number = ?", (number,)).fetchone()
    series = run_series.series(source, staged)
    known = db.execute(
        "SELECT number FROM series WHERE started_at = ? AND preset = ? AND targets = ?",
        (codec.to_micros(series.started_at), codec.to_text(series.preset), json.dumps(series.targets)),
    ).fetchone()
    if known:
        return int(known[0])
    series_id = writing.new_id(db) if writing.is_taken(db, staged) else staged
    run_series.insert(db, replace(series, id=series_id), _ELSEWHERE, datetime.now(UTC))
    return run_series.number_of(db, series_id)


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _tables(source: sqlite3.Connection) -> list[_Table]:
    """The table of runs and then those that belong to it, with their columns: those of this version, whatever they are."""
    found = []
    for (table,) in source.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
        if table == "run" or "run" in columns:
            found.append((table, columns))
    return sorted(found, key=lambda entry: entry[0] != "run")


def _same_results(source: sqlite3.Connection, number: int, db: sqlite3.Connection, wanted: str) -> str:
    """The id of the run here that was read from the same results, whatever their file is called and when it was copied."""
    (imported,) = source.execute("SELECT imported_from <> '' FROM run WHERE number = ?", (number,)).fetchone()
    known = db.execute("SELECT id FROM run WHERE id = ? AND imported_from <> ''", (wanted,)).fetchone()
    return str(known[0]) if imported and known else ""


def _same_run(source: sqlite3.Connection, number: int, db: sqlite3.Connection) -> str:
    """The id of the run here that is this one: begun at the same microsecond, with the same plan, machine and results."""
    staged, started = source.execute("SELECT id, started_at FROM run WHERE number = ?", (number,)).fetchone()
    candidates = db.execute("SELECT id FROM run WHERE started_at = ?", (started,)).fetchall()
    run = reading.run(source, staged) if candidates else None
    for (run_id,) in candidates:
        other = reading.run(db, run_id, trash=True)
        if run and (run.plan, run.environment, run.tests) == (other.plan, other.environment, other.tests):
            return str(run_id)
    return ""


__all__ = ["BadFile", "ImportedRun", "export_runs", "id_of_results", "import_records", "import_runs", "take_whole"]
