"""The store's queries. Every function works inside the caller's transaction."""

import re
import sqlite3
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from diskprof.model.advice import Advice
from diskprof.model.errors import EngineError, RunNotFound, StoreError
from diskprof.model.process_io import ProcessIo, together
from diskprof.model.run import Run, RunGlance, RunSummary, SeriesPlace, Status, TestRecord
from diskprof.model.sample import Phase, Sample, SystemSample
from diskprof.model.text import clean
from diskprof.store import codec, fleets, run_series
from diskprof.store.liveness import ProcessIdentity

_KEPT = "deleted_at IS NULL ORDER BY ordinal DESC, number DESC"
_TRASH = "deleted_at IS NOT NULL ORDER BY deleted_at DESC, ordinal DESC, number DESC"
_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_CANDIDATES = 6
_TRASH_HINT = Advice("`diskprof runs --trash` lists it.", "See the trash in the list of runs.")


class SampleBatch(Struct, frozen=True):
    """Samples in the order they were stored. `last` is the cursor for the next `after`."""

    samples: tuple[Sample, ...]
    last: int


class ItemKind(StrEnum):
    """Its values are the names of the columns and tables."""

    RUN = "run"
    SERIES = "series"
    FLEET = "fleet"


class Item(Struct, frozen=True):
    """What a name means: a run, or a series or a fleet run, which are one thing in lists."""

    id: str
    kind: ItemKind = ItemKind.RUN

    @property
    def is_series(self) -> bool:
        return self.kind is ItemKind.SERIES

    @property
    def is_fleet(self) -> bool:
        return self.kind is ItemKind.FLEET


class SystemBatch(Struct, frozen=True):
    samples: tuple[SystemSample, ...]
    last: int


def is_reserved(name: str) -> bool:
    """Whether `resolve` gives the name a meaning of its own, so that no tag can have it."""
    return _LATEST.fullmatch(name) is not None


def number_of(db: sqlite3.Connection, run_id: str, *, trash: bool = False) -> int:
    """The run's key in the other tables; of one in the trash only with `trash`. Raises RunNotFound."""
    row = db.execute("SELECT number, deleted_at FROM run WHERE id = ?", (codec.to_text(run_id),)).fetchone()
    if row is None or (row[1] is not None and not trash):
        raise RunNotFound(f"There is no run {run_id!r}.", Advice(_hint(db), "It was deleted."))
    return int(row[0])


def summaries(db: sqlite3.Connection, limit: int | None = None, *, trash: bool = False) -> list[RunSummary]:
    """The runs, the one that was begun last first; with `trash` those in the trash, the one deleted last first."""
    return _summaries(db, _TRASH if trash else _KEPT, limit)


def running(db: sqlite3.Connection) -> list[RunSummary]:
    """As `summaries`, the runs that are marked as running."""
    # By + an index of its own is used, not that of the order, which has all runs.
    return _summaries(db, f"status = '{Status.RUNNING.value}' AND {_KEPT.replace('ordinal', '+ordinal')}")


def summary(db: sqlite3.Connection, run_id: str) -> RunSummary:
    """Raises RunNotFound."""
    return _summaries(db, f"number = {number_of(db, run_id)} AND {_KEPT}")[0]


def count(db: sqlite3.Connection) -> int:
    """How many runs there are, but for those in the trash."""
    (found,) = db.execute("SELECT count(*) FROM run WHERE deleted_at IS NULL").fetchone()
    return int(found)


def summaries_of_series(db: sqlite3.Connection, series_id: str) -> list[RunSummary]:
    """The runs of a series that are not in the trash, in their order. Raises RunNotFound."""
    number = run_series.number_of(db, series_id)
    return _summaries(db, f"deleted_at IS NULL AND series = {number} ORDER BY ordinal, number")


def summaries_of_fleet(db: sqlite3.Connection, fleet_id: str) -> list[RunSummary]:
    """The runs of a fleet run that are not in the trash, in the order of its members. Raises RunNotFound."""
    number = fleets.number_of(db, fleet_id)
    return _summaries(db, f"deleted_at IS NULL AND fleet = {number} ORDER BY member, ordinal, number")


def summaries_of(db: sqlite3.Connection, numbers: Sequence[int]) -> list[RunSummary]:
    """The runs of these keys that are not in the trash, the one that was begun last first."""
    return _summaries(db, f"number IN ({', '.join(map(str, numbers))}) AND {_KEPT}")


def _summaries(db: sqlite3.Connection, which: str, limit: int | None = None) -> list[RunSummary]:
    wanted = -1 if limit is None else max(limit, 0)
    known = dict(db.execute("SELECT number, id FROM series"))
    known_fleets = dict(db.execute("SELECT number, id FROM fleet"))
    tags: dict[int, tuple[str, ...]] = {}
    # Of all runs all tags: to find each run's would take longer than to read the list.
    of_these = (
        "" if limit is None and which == _KEPT else f" WHERE run IN (SELECT number FROM run WHERE {which} LIMIT :most)"
    )
    for run, name in db.execute(f"SELECT run, name FROM tag{of_these} ORDER BY run, position", {"most": wanted}):
        tags[run] = (*tags.get(run, ()), name)
    moment, status_of = codec.from_micros, codec.status_from
    rows = db.execute(
        "SELECT number, id, status, preset, preset_title, target, device, hostname, started_at,"
        " max(ended_at - started_at, 0) / 1e6, note, headline, doubts, imported_from, series, repeat, arm, fleet, member,"
        f" stage FROM run WHERE {which} LIMIT ?",
        (wanted,),
    )
    return [
        RunSummary(
            id,
            status_of(status),
            preset,
            title,
            target,
            device,
            hostname,
            moment(start),
            seconds,
            tags.get(number, ()),
            note,
            headline,
            tuple(doubts.split()),
            None if series is None else SeriesPlace(known[series], repeat, arm),
            imported,
            None if fleet is None else fleets.place_of((known_fleets[fleet], member, stage, repeat)),
        )
        for number, id, status, preset, title, target, device, hostname, start, seconds, note, headline, doubts, *(
            imported,
            series,
            repeat,
            arm,
            fleet,
            member,
            stage,
        ) in rows
    ]


def resolve(db: sqlite3.Connection, name: str, *, trash: bool = False) -> str:
    """The id of the run, with `trash` of the one in the trash, that a person means by `name`.

    Raises RunNotFound, which names candidates; also for the id of a series or of a fleet run.
    """
    run_id, item = _named(db, name, trash=trash)
    if not run_id:
        ids = ", ".join(runs_of(db, item, trash=trash))
        what = "a fleet run" if item.is_fleet else "a series of runs"
        raise RunNotFound(f"{item.id} is {what}.", f"Give one of them: {ids}.")
    return run_id


def resolve_item(db: sqlite3.Connection, name: str, *, trash: bool = False) -> Item:
    """As `resolve`, where a series or a fleet run is one thing: `latest` may be one, and a tag that all its runs have names it."""
    return _named(db, name, trash=trash)[1]


def runs_of(db: sqlite3.Connection, item: Item, *, trash: bool = False) -> list[str]:
    """The ids of the runs of an item that are not in the trash; with `trash` those that are."""
    match item.kind:
        case ItemKind.SERIES:
            return run_series.runs_of(db, item.id, trash=trash)
        case ItemKind.FLEET:
            return fleets.runs_of(db, item.id, trash=trash)
        case ItemKind.RUN:
            return [item.id]


_GROUP_WORDS = {ItemKind.SERIES: "a series", ItemKind.FLEET: "a fleet run"}
_GROUPS = tuple(_GROUP_WORDS)


def _named(db: sqlite3.Connection, name: str, *, trash: bool) -> tuple[str, Item]:
    """(run, item) of a name: the run is the newest of a series or a fleet run, empty where that is named by its id."""
    name = codec.to_text(name)
    which = _TRASH if trash else _KEPT
    if match := _LATEST.fullmatch(name):
        return _latest(db, int(match[1] or 0), which)
    if row := db.execute(f"SELECT id FROM run WHERE id = ? AND {which}", (name,)).fetchone():
        return str(row[0]), Item(str(row[0]))
    for kind in _GROUPS:
        if db.execute(f"SELECT 1 FROM {kind} WHERE id = ? AND {_with_runs(kind, which)}", (name,)).fetchone():
            return "", Item(name, kind)
    # A tag comes before the beginning of an id: the person chose it.
    row = db.execute(
        "SELECT run.id, run.series, run.fleet FROM tag JOIN run ON run.number = tag.run"
        f" WHERE tag.name = ? AND {which} LIMIT 1",
        (name,),
    ).fetchone()
    if row is None:
        return _by_beginning(db, name, which)
    run_id = str(row[0])
    whole = [
        Item(group, kind)
        for kind, number in zip(_GROUPS, row[1:], strict=True)
        if (group := _whole_group(db, kind, number, name, which))
    ]
    return run_id, whole[0] if whole else Item(run_id)


def tagged(db: sqlite3.Connection, tag: str) -> list[str]:
    """The ids of the runs that have a tag, oldest first."""
    rows = db.execute(
        f"SELECT run.id FROM tag JOIN run ON run.number = tag.run WHERE tag.name = ? AND {_KEPT}", (codec.to_text(tag),)
    ).fetchall()
    return [str(run_id) for (run_id,) in reversed(rows)]


def _whole_group(db: sqlite3.Connection, kind: ItemKind, number: int | None, tag: str, which: str) -> str:
    """The id of a series or a fleet run all of whose runs have the tag; empty otherwise."""
    untagged = f"SELECT 1 FROM run WHERE {kind} = ? AND number NOT IN (SELECT run FROM tag WHERE name = ?) AND "
    if number is None or db.execute(untagged + which, (number, tag)).fetchone():
        return ""
    (group_id,) = db.execute(f"SELECT id FROM {kind} WHERE number = ?", (number,)).fetchone()
    return str(group_id)


def group_of(db: sqlite3.Connection, number: int, kind: ItemKind) -> str:
    """The id of the series or the fleet run that a run is of; empty for a run of none."""
    row = db.execute(
        f"SELECT {kind}.id FROM run JOIN {kind} ON {kind}.number = run.{kind} WHERE run.number = ?", (number,)
    ).fetchone()
    return str(row[0]) if row else ""


def _with_runs(kind: ItemKind, which: str) -> str:
    """The condition that a series or a fleet run has runs of this kind."""
    condition = which.partition(" ORDER BY ")[0]
    return f"number IN (SELECT {kind} FROM run WHERE {kind} IS NOT NULL AND {condition})"


def _latest(db: sqlite3.Connection, back: int, which: str) -> tuple[str, Item]:
    # A series or a fleet run counts once, where its newest run is.
    condition = which.partition(" ORDER BY ")[0]
    last_of_group = " AND ".join(
        f"({kind} IS NULL OR NOT EXISTS (SELECT 1 FROM run AS other WHERE other.{kind} = run.{kind}"
        f" AND other.ordinal > run.ordinal AND {condition.replace('deleted_at', 'other.deleted_at')}))"
        for kind in _GROUPS
    )
    rows = f"FROM run WHERE {last_of_group} AND {which}"
    groups = ", ".join(f"(SELECT id FROM {kind} WHERE number = run.{kind})" for kind in _GROUPS)
    row = db.execute(f"SELECT id, {groups} {rows} LIMIT 1 OFFSET ?", (back,)).fetchone()
    if row:
        whole = [Item(str(group), kind) for kind, group in zip(_GROUPS, row[1:], strict=True) if group is not None]
        return str(row[0]), whole[0] if whole else Item(str(row[0]))
    (count,) = db.execute(f"SELECT count(*) FROM (SELECT 1 {rows})").fetchone()
    if not count:
        raise _nothing(which)
    raise RunNotFound(f"There is no run latest~{back}: there are only {count}.", f"The oldest is latest~{count - 1}.")


def _nothing(which: str) -> RunNotFound:
    if which == _TRASH:
        return RunNotFound("The trash is empty.", "Deleted runs stay in it for a week.")
    return RunNotFound("There are no runs yet.", "Start one with `diskprof run quick DIRECTORY`.")


def _by_beginning(db: sqlite3.Connection, name: str, which: str) -> tuple[str, Item]:
    beginning = name.lower()
    span = (beginning, beginning, beginning + "\U0010ffff")
    found = db.execute(
        f"SELECT id, preset, target FROM run WHERE ? <> '' AND id >= ? AND id < ? AND {which} LIMIT ?",
        (*span, _CANDIDATES + 1),
    ).fetchall()
    several = [
        (row, kind)
        for kind in _GROUPS
        for row in db.execute(
            f"SELECT id, preset, '{_GROUP_WORDS[kind]}' FROM {kind} WHERE ? <> '' AND id >= ? AND id < ?"
            f" AND {_with_runs(kind, which)} LIMIT ?",
            (*span, _CANDIDATES + 1),
        ).fetchall()
    ]
    if len(found) + len(several) == 1:
        if found:
            return str(found[0][0]), Item(str(found[0][0]))
        ((row, kind),) = several
        return "", Item(str(row[0]), kind)
    if found or several:
        candidates = [*(row for row, _ in several), *found]
        raise RunNotFound(f"More than one run begins with {name!r}.", "Candidates: " + _candidates(candidates))
    if which == _TRASH:
        raise RunNotFound(f"There is no run {name!r} in the trash.", _TRASH_HINT)
    taken = " UNION ".join(f"SELECT 1 FROM {kind} WHERE id = ?1" for kind in ItemKind)
    if db.execute(taken, (name,)).fetchone():
        raise RunNotFound(
            f"The run {name} is in the trash.",
            Advice(f"To restore it: diskprof undelete {name}", "Restore it from the trash."),
        )
    raise RunNotFound(f"There is no run {name!r}.", _hint(db))


def _hint(db: sqlite3.Connection) -> str:
    newest = db.execute(f"SELECT id, preset, target FROM run WHERE {_KEPT} LIMIT ?", (_CANDIDATES + 1,)).fetchall()
    if not newest:
        return "There are no runs yet. Start one with `diskprof run quick DIRECTORY`."
    return "The newest: " + _candidates(newest)


def _candidates(rows: list[Any]) -> str:
    shown = ", ".join(
        f"{id} ({clean(f'{preset}, {target}' if target in _GROUP_WORDS.values() else f'{preset} on {target}')})"
        for id, preset, target in rows[:_CANDIDATES]
    )
    return shown + (", ..." if len(rows) > _CANDIDATES else ".")


def test_directories(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(run id, path) of the private directories of runs in progress, failed, interrupted, or complete with a reason."""
    rows = db.execute(
        "SELECT id, plan FROM run JOIN detail ON detail.run = run.number WHERE status NOT IN (?, ?) OR"
        " (status = ? AND reason <> '') ORDER BY ordinal DESC, number DESC",
        (Status.PENDING.value, Status.COMPLETE.value, Status.COMPLETE.value),
    )
    return [(run_id, path) for run_id, plan in rows for path in codec.directories_from(plan)]


def targets(db: sqlite3.Connection) -> list[str]:
    return [
        target for (target,) in db.execute("SELECT DISTINCT target FROM run WHERE imported_from = '' ORDER BY target")
    ]


def run(db: sqlite3.Connection, run_id: str, *, trash: bool = False) -> Run:
    """The whole run; one in the trash only with `trash`. Raises RunNotFound, StoreError where it cannot be read."""
    number = number_of(db, run_id, trash=trash)
    row = db.execute(
        "SELECT run.status, run.reason, run.started_at, run.ended_at, note, run.runner_pid, imported_from, plan,"
        " environment, findings, drives, fleet.id, member, stage, series.id, repeat, arm FROM run"
        " JOIN detail ON detail.run = run.number LEFT JOIN series ON series.number = run.series"
        " LEFT JOIN fleet ON fleet.number = run.fleet WHERE run.number = ?",
        (number,),
    ).fetchone()
    if row is None:
        raise StoreError(f"The run {run_id} cannot be read: its plan is missing.", codec.DAMAGED)
    status, reason, started, ended, note, pid, imported, plan_text, environment, findings, drives, *places = row
    fleet, place = places[:3], places[3:]
    repeat = place[1]
    plan = codec.plan_from(plan_text)
    tests = db.execute(
        "SELECT position, status, reason, started_ns, ended_ns, result FROM test WHERE run = ? ORDER BY position",
        (number,),
    ).fetchall()
    if [row[0] for row in tests] != list(range(len(plan.tests))):
        raise StoreError(f"The run {run_id} cannot be read: its tests are not those of its plan.", codec.DAMAGED)
    progress = db.execute(f"SELECT {codec.PROGRESS_COLUMNS} FROM progress WHERE run = ?", (number,)).fetchone()
    messages = db.execute("SELECT body FROM message WHERE run = ? ORDER BY seq", (number,))
    return Run(
        id=run_id,
        status=codec.status_from(status),
        reason=reason,
        plan=plan,
        environment=codec.environment_from(environment),
        started_at=codec.from_micros(started),
        ended_at=None if ended is None else codec.from_micros(ended),
        tests=tuple(_test(plan.tests[row[0]], row) for row in tests),
        tags=tags(db, number),
        note=note,
        findings=codec.findings_from(findings),
        messages=tuple(codec.message_from(body) for (body,) in messages),
        progress=None if progress is None else codec.progress_from(progress),
        runner_pid=pid,
        series=run_series.place_of((place[0], repeat, place[2])),
        imported_from=imported,
        fleet=fleets.place_of((fleet[0], fleet[1], fleet[2], repeat)),
        processes=_processes(db, number),
        drives=codec.drives_from(drives),
    )


def _processes(db: sqlite3.Connection, number: int) -> tuple[ProcessIo, ...]:
    rows = db.execute(f"SELECT {codec.PROCESS_COLUMNS} FROM process_io WHERE run = ?", (number,))
    return together(ProcessIo(*row) for row in rows)


def glances(db: sqlite3.Connection, run_ids: Sequence[str]) -> list[RunGlance]:
    """Where each of these runs stands, in their order; those that are gone are left out."""
    rows = db.execute(
        f"SELECT id, status, reason, (SELECT count(*) FROM message WHERE run = number), (SELECT body FROM message"
        f" WHERE run = number ORDER BY seq DESC LIMIT 1), progress.run, {codec.PROGRESS_COLUMNS} FROM run LEFT JOIN progress"
        f" ON progress.run = number WHERE id IN ({', '.join('?' * len(run_ids))}) AND {_KEPT}",
        tuple(run_ids),
    )
    found = {
        id: RunGlance(
            *(id, codec.status_from(status), reason),
            progress=None if known is None else codec.progress_from(progress),
            messages=messages,
            said=None if said is None else codec.message_from(said),
        )
        for id, status, reason, messages, said, known, *progress in rows
    }
    return [found[run_id] for run_id in run_ids if run_id in found]


def overall(db: sqlite3.Connection, run_id: str) -> float | None:
    row = db.execute("SELECT overall FROM progress WHERE run = ?", (number_of(db, run_id),)).fetchone()
    return None if row is None else float(row[0])


def _test(planned: Any, row: tuple[Any, ...]) -> TestRecord:
    index, status, reason, started, ended, result = row
    decoded = None if result is None else codec.result_from(result)
    return TestRecord(index, planned, codec.status_from(status), reason, started, ended, decoded)


def tags(db: sqlite3.Connection, number: int) -> tuple[str, ...]:
    rows = db.execute("SELECT name FROM tag WHERE run = ? ORDER BY position", (number,))
    return tuple(name for (name,) in rows)


def _rows(
    db: sqlite3.Connection, table: str, columns: str, run_id: str, test: int | None, after: int, most: int | None
) -> list[tuple[Any, ...]]:
    return db.execute(
        f"SELECT {columns}, seq FROM {table} WHERE run = ? AND seq > ? AND (?3 IS NULL OR test = ?3)"
        " ORDER BY seq LIMIT ?4",
        (number_of(db, run_id), after, test, -1 if most is None else most),
    ).fetchall()


def samples(
    db: sqlite3.Connection,
    run_id: str,
    test: int | None,
    after: int,
    *,
    histograms: bool = True,
    most: int | None = None,
) -> SampleBatch:
    columns = codec.SAMPLE_COLUMNS if histograms else codec.SAMPLE_COLUMNS.replace("histogram", "NULL")
    return batch(run_id, _rows(db, "sample", columns, run_id, test, after, most), after)


def sample_span(db: sqlite3.Connection, run_id: str, test: int, preparing: bool) -> range:
    """The cursors of a test's samples: one test comes after the other, and measuring after preparing, so that they lie together."""
    number, phase = number_of(db, run_id), codec.phase_number(Phase.PREPARING)
    ends = []
    for order in ("ASC", "DESC"):
        query = f"SELECT seq FROM sample WHERE run = ? AND test = ? AND (phase = ?) = ? ORDER BY seq {order} LIMIT 1"
        ends += [row[0] for row in db.execute(query, (number, test, phase, preparing))]
    return range(ends[0], ends[1] + 1) if ends else range(0)


def samples_at(db: sqlite3.Connection, run_id: str, test: int, places: Sequence[int]) -> tuple[Sample, ...]:
    rows = db.execute(
        f"SELECT {codec.SAMPLE_COLUMNS}, seq FROM sample WHERE run = ? AND test = ?"
        f" AND seq IN ({', '.join('?' * len(places))}) ORDER BY seq",
        (number_of(db, run_id), test, *places),
    )
    return batch(run_id, rows.fetchall(), 0).samples


def batch(run_id: str, rows: list[tuple[Any, ...]], after: int) -> SampleBatch:
    try:
        found = codec.samples_from(rows)
    except EngineError as error:
        raise StoreError(f"A sample of the run {run_id} cannot be read: {error}", codec.DAMAGED) from None
    except (IndexError, TypeError) as error:
        raise StoreError(f"A sample of the run {run_id} cannot be read: {error}.", codec.DAMAGED) from None
    return SampleBatch(found, max((row[-1] for row in rows), default=after))


def system_samples(
    db: sqlite3.Connection, run_id: str, test: int | None, after: int, *, most: int | None = None
) -> SystemBatch:
    return system_batch(run_id, _rows(db, "system_sample", codec.SYSTEM_COLUMNS, run_id, test, after, most), after)


def system_batch(run_id: str, rows: list[tuple[Any, ...]], after: int) -> SystemBatch:
    try:
        found = codec.system_from(rows)
    except (IndexError, TypeError) as error:
        raise StoreError(f"A sample of the run {run_id} cannot be read: {error}.", codec.DAMAGED) from None
    return SystemBatch(found, max((row[-1] for row in rows), default=after))


def document(db: sqlite3.Connection, run_id: str, index: int) -> bytes | None:
    """The compressed document of a test, None without one. Raises StoreError where there is no such test."""
    row = db.execute(
        "SELECT document FROM test WHERE run = ? AND position = ?", (number_of(db, run_id), index)
    ).fetchone()
    if row is None:
        raise StoreError(f"The run {run_id} has no test {index}.")
    return None if row[0] is None else bytes(row[0])


def runner(db: sqlite3.Connection, run_id: str) -> ProcessIdentity:
    row = db.execute(
        "SELECT runner_pid, runner_start, runner_boot, runner_place FROM run WHERE number = ?",
        (number_of(db, run_id, trash=True),),
    ).fetchone()
    return ProcessIdentity(*row)
