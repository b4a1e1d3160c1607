"""Series in the store. Every function works inside the caller's transaction."""

import json
import sqlite3
from datetime import datetime
from typing import Any

from diskprof.model.advice import Advice
from diskprof.model.errors import RunNotFound, StoreError
from diskprof.model.plan import Plan
from diskprof.model.run import SeriesPlace, Status
from diskprof.model.run_series import NewSeries, Repetition, RunSeries, Spread, TargetOrder
from diskprof.store import codec
from diskprof.store.liveness import ProcessIdentity

_COLUMNS = (
    "id, status, reason, preset, preset_title, targets, repeats, until, at_most_s, pause_s, target_order, started_at,"
    " ended_at, spreads"
)
_KEPT = "number IN (SELECT series FROM run WHERE series IS NOT NULL AND deleted_at IS NULL)"


# Writing


def begin(
    db: sqlite3.Connection, series_id: str, new: NewSeries, plan: Plan, runner: ProcessIdentity, at: datetime
) -> SeriesPlace:
    """Inserts the series (running); returns the place of its first run, which `plan` is of."""
    wanted = new.wanted
    insert(
        db,
        RunSeries(series_id, Status.RUNNING, "", plan.preset, plan.preset_title, new.targets, wanted, at),
        runner,
        at,
    )
    repeat, arm = next(wanted.turns(len(new.targets)))
    return SeriesPlace(series_id, repeat, arm)


def insert(db: sqlite3.Connection, series: RunSeries, runner: ProcessIdentity, heard_at: datetime) -> None:
    """Inserts a series as it is."""
    wanted = series.wanted
    columns = f"{_COLUMNS}, heard_at, runner_pid, runner_start, runner_boot, runner_place"
    values = (
        *(series.id, series.status.value, codec.to_text(series.reason)),
        *(codec.to_text(series.preset), codec.to_text(series.preset_title), json.dumps(series.targets)),
        *(wanted.repeats, wanted.until, wanted.at_most_s, wanted.pause_s, wanted.order.value),
        codec.to_micros(series.started_at),
        None if series.ended_at is None else codec.to_micros(series.ended_at),
        codec.to_json(series.spreads),
        *(codec.to_micros(heard_at), runner.pid, runner.start_ticks, runner.boot_id, runner.place),
    )
    db.execute(f"INSERT INTO series ({columns}) VALUES ({', '.join('?' * len(values))})", values)


def put(db: sqlite3.Connection, run: int, place: SeriesPlace) -> None:
    """Gives a run its place, and the tags and the note of the series. Raises RunNotFound where there is no such series."""
    number = number_of(db, place.series_id)
    before = db.execute(
        "SELECT number, note FROM run WHERE series = ? ORDER BY ordinal DESC, number DESC LIMIT 1", (number,)
    ).fetchone()
    db.execute(
        "UPDATE run SET series = ?, repeat = ?, arm = ? WHERE number = ?", (number, place.repeat, place.arm, run)
    )
    if before:
        db.execute("UPDATE run SET note = ? WHERE number = ?", (before[1], run))
        db.execute("DELETE FROM tag WHERE run = ?", (run,))
        db.execute(
            "INSERT INTO tag (run, position, name) SELECT ?, position, name FROM tag WHERE run = ?", (run, before[0])
        )


def touch(db: sqlite3.Connection, series_id: str, at: datetime) -> None:
    """Notes that the runner was heard of."""
    db.execute("UPDATE series SET heard_at = ? WHERE id = ?", (codec.to_micros(at), series_id))


def add_spread(db: sqlite3.Connection, series_id: str, spread: Spread) -> None:
    """Adds what a complete round came to."""
    spreads = (*series(db, series_id).spreads, spread)
    db.execute("UPDATE series SET spreads = ? WHERE id = ?", (codec.to_json(spreads), series_id))


def finish(db: sqlite3.Connection, series_id: str, status: Status, reason: str, at: datetime) -> None:
    """Raises StoreError if it has ended before, other than by `interrupt`."""
    changed = db.execute(
        "UPDATE series SET status = ?, reason = ?, ended_at = ? WHERE id = ? AND status IN (?, ?)",
        (
            *(status.value, codec.to_text(reason), codec.to_micros(at), series_id),
            *(Status.RUNNING.value, Status.INTERRUPTED.value),
        ),
    ).rowcount
    if not changed:
        raise StoreError(f"The series {series_id} has ended already.")


def interrupt(db: sqlite3.Connection, number: int) -> bool:
    """Marks a series whose runner died, after its runs. False if it has ended meanwhile."""
    rows = db.execute("SELECT status, repeat, ended_at FROM run WHERE series = ? ORDER BY ordinal, number", (number,))
    runs = rows.fetchall()
    complete = sum(status == Status.COMPLETE.value for status, _, _ in runs)
    where = f" in repeat {runs[-1][1]}" if runs and runs[-1][0] == Status.INTERRUPTED.value else ""
    whole = "1 run is complete." if complete == 1 else f"{complete} runs are complete."
    ended = max((ended for _, _, ended in runs if ended is not None), default=None)
    changed = db.execute(
        "UPDATE series SET status = ?, reason = ?, ended_at = coalesce(?, heard_at) WHERE number = ? AND status = ?",
        (
            Status.INTERRUPTED.value,
            f"The runner exited unexpectedly{where} (killed, or the machine or the run database failed). {whole}",
            *(ended, number, Status.RUNNING.value),
        ),
    ).rowcount
    return bool(changed)


def remove_empty(db: sqlite3.Connection) -> None:
    """Removes the series whose runs were all deleted for good."""
    db.execute(
        "DELETE FROM series WHERE status <> 'running' AND number NOT IN (SELECT series FROM run WHERE series IS NOT NULL)"
    )


# Reading


def number_of(db: sqlite3.Connection, series_id: str) -> int:
    """The key of a series in the table of runs. Raises RunNotFound."""
    row = db.execute("SELECT number FROM series WHERE id = ?", (codec.to_text(series_id),)).fetchone()
    if row is None:
        raise RunNotFound(f"There is no series {series_id!r}.", Advice("See `diskprof runs`.", "It was deleted."))
    return int(row[0])


def series(db: sqlite3.Connection, series_id: str) -> RunSeries:
    """Raises RunNotFound, StoreError where it cannot be read."""
    row = db.execute(f"SELECT {_COLUMNS} FROM series WHERE number = ?", (number_of(db, series_id),)).fetchone()
    return _series(row)


def series_list(db: sqlite3.Connection) -> list[RunSeries]:
    """Every series with a run that is not in the trash, the one begun last first."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM series WHERE {_KEPT} ORDER BY started_at DESC, number DESC")
    return [_series(row) for row in rows]


def runs_of(db: sqlite3.Connection, series_id: str, *, trash: bool = False) -> list[str]:
    """The ids of its runs in their order; with `trash` of those that are there."""
    kept = "IS NOT NULL" if trash else "IS NULL"
    rows = db.execute(
        f"SELECT id FROM run WHERE series = ? AND deleted_at {kept} ORDER BY ordinal, number",
        (number_of(db, series_id),),
    )
    return [run_id for (run_id,) in rows]


def place_of(row: tuple[str | None, int | None, int | None]) -> SeriesPlace | None:
    """(id of the series, repeat, arm) of a run as a value; None of a run alone."""
    series_id, repeat, arm = row
    return None if series_id is None or repeat is None or arm is None else SeriesPlace(series_id, repeat, arm)


def under_way(db: sqlite3.Connection) -> list[tuple[int, str, int, ProcessIdentity]]:
    """(number, id, when its runner was heard of, its runner) of every series marked as running."""
    rows = db.execute(
        "SELECT number, id, max(heard_at, coalesce((SELECT max(run.heard_at) FROM run WHERE run.series = series.number), 0)),"
        " runner_pid, runner_start, runner_boot, runner_place FROM series WHERE status = 'running'"
    )
    return [(number, series_id, heard, ProcessIdentity(*runner)) for number, series_id, heard, *runner in rows]


def runner(db: sqlite3.Connection, series_id: str) -> ProcessIdentity:
    row = db.execute(
        "SELECT runner_pid, runner_start, runner_boot, runner_place FROM series WHERE number = ?",
        (number_of(db, series_id),),
    ).fetchone()
    return ProcessIdentity(*row)


def _series(row: tuple[Any, ...]) -> RunSeries:
    id, status, reason, preset, title, targets, repeats, until, at_most, pause, order, started, ended, spreads = row
    try:
        wanted = Repetition(repeats, until, at_most, pause, TargetOrder(order))
        paths = tuple(map(str, json.loads(targets)))
    except (ValueError, TypeError) as error:
        raise StoreError(f"The series {id} cannot be read: {error}.", codec.DAMAGED) from None
    return RunSeries(
        id,
        codec.status_from(status),
        reason,
        preset,
        title,
        paths,
        wanted,
        codec.from_micros(started),
        None if ended is None else codec.from_micros(ended),
        codec.spreads_from(spreads),
    )
