"""What is in progress, as far as this machine knows, and what may not be done to it meanwhile."""

import sqlite3

from diskprof.model.advice import Advice
from diskprof.model.errors import Refused
from diskprof.store import fleets, reading, run_series
from diskprof.store.liveness import REPLICATED, ProcessIdentity, is_dead
from diskprof.store.reading import ItemKind


def runs(db: sqlite3.Connection) -> list[tuple[int, str, bool]]:
    """(number, id, whether its runner is dead) of every run of this machine that is marked as running."""
    rows = db.execute(
        "SELECT number, id, heard_at, runner_pid, runner_start, runner_boot, runner_place FROM run"
        " WHERE status = 'running' AND runner_place <> ?",
        (REPLICATED.place,),
    ).fetchall()
    return [(number, id, is_dead(ProcessIdentity(*runner), heard)) for number, id, heard, *runner in rows]


def busy(db: sqlite3.Connection) -> bool:
    """Whether a disk is measured, or is as soon as a series goes on."""
    return bool(runs(db) or run_series.under_way(db) or fleets.under_way(db))


def refuse_run(db: sqlite3.Connection, number: int, run_id: str) -> None:
    """Raises Refused while a run, its series or its fleet run is in progress."""
    if any(number == alive for alive, _, dead in runs(db) if not dead):
        raise _refused(f"The run {run_id}", run_id)
    # Without its runs nobody would find it, to watch it or to stop it.
    if series_id := reading.group_of(db, number, ItemKind.SERIES):
        refuse_series(db, series_id)
    alive = [name for _, name, heard, runner in fleets.under_way(db) if not is_dead(runner, heard)]
    if (fleet_id := reading.group_of(db, number, ItemKind.FLEET)) and fleet_id in alive:
        raise _refused(f"The fleet run {fleet_id}", fleet_id)


def refuse_series(db: sqlite3.Connection, series_id: str) -> None:
    """Raises Refused while a series is in progress, also between two of its runs."""
    if series_id in [name for _, name, heard, runner in run_series.under_way(db) if not is_dead(runner, heard)]:
        raise _refused(f"The series {series_id}", series_id)


def _refused(what: str, name: str) -> Refused:
    return Refused(f"{what} is in progress.", Advice(f"Stop it first: diskprof stop {name}", "Stop it first."))
