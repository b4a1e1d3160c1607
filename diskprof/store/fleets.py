"""Fleet runs in the store. Every function works inside the caller's transaction."""

import sqlite3
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from diskprof.model.advice import Advice
from diskprof.model.errors import RunNotFound, StoreError
from diskprof.model.fleet import FleetEngine, FleetMember, FleetRun, HostClock, MemberState, MemberStatus
from diskprof.model.run import FleetPlace, FleetStage, Status
from diskprof.store import codec
from diskprof.store.liveness import REPLICATED, ProcessIdentity

E = TypeVar("E", bound=StrEnum)
_COLUMNS = "id, status, reason, preset, preset_title, at_once, wanted, engine, started_at, ended_at"
_KEPT = "number IN (SELECT fleet FROM run WHERE fleet IS NOT NULL AND deleted_at IS NULL)"
_LOST = (
    "The coordinator exited unexpectedly (killed, or the machine or the run database failed)."
    " What runs on the hosts goes on there."
)


# Writing


def insert(db: sqlite3.Connection, fleet: FleetRun, runner: ProcessIdentity, heard_at: datetime) -> None:
    """Inserts a fleet run as it is."""
    columns = f"{_COLUMNS}, heard_at, runner_pid, runner_start, runner_boot, runner_place"
    values = (
        *(fleet.id, fleet.status.value, codec.to_text(fleet.reason)),
        *(codec.to_text(fleet.preset), codec.to_text(fleet.preset_title), fleet.at_once),
        *(codec.to_json(fleet.wanted), fleet.engine.value),
        codec.to_micros(fleet.started_at),
        None if fleet.ended_at is None else codec.to_micros(fleet.ended_at),
        *(codec.to_micros(heard_at), runner.pid, runner.start_ticks, runner.boot_id, runner.place),
    )
    number = db.execute(f"INSERT INTO fleet ({columns}) VALUES ({', '.join('?' * len(values))})", values).lastrowid
    db.executemany(
        "INSERT INTO fleet_member (fleet, position, host, target, state) VALUES (?, ?, ?, ?, ?)",
        [
            (
                *(number, position, None if member.host is None else codec.to_text(member.host)),
                *(codec.to_text(member.target), MemberState.WAITING.value),
            )
            for position, member in enumerate(fleet.members)
        ],
    )
    for position, status in enumerate(fleet.statuses):
        set_member(db, fleet.id, position, status)


def put(db: sqlite3.Connection, run: int, place: FleetPlace) -> None:
    """Gives a run its place. Raises RunNotFound where there is no such fleet run."""
    db.execute(
        "UPDATE run SET fleet = ?, member = ?, stage = ?, repeat = ? WHERE number = ?",
        (number_of(db, place.fleet_id), place.member, place.stage.value, place.repeat, run),
    )


def set_member(db: sqlite3.Connection, fleet_id: str, member: int, status: MemberStatus) -> None:
    """Replaces where a member stands. Raises StoreError where there is no such member."""
    clock = status.clock
    changed = db.execute(
        "UPDATE fleet_member SET state = ?, reason = ?, clock_offset_ns = ?, clock_within_ns = ?, began_at = ?, run_id = ?"
        " WHERE fleet = ? AND position = ?",
        (
            *(status.state.value, codec.to_text(status.reason)),
            *((clock.offset_ns, clock.within_ns) if clock else (None, None)),
            None if status.began_at is None else codec.to_micros(status.began_at),
            codec.to_text(status.run_id),
            *(number_of(db, fleet_id), member),
        ),
    ).rowcount
    if not changed:
        raise StoreError(f"The fleet run {fleet_id} has no member {member}.")


def touch(db: sqlite3.Connection, fleet_id: str, at: datetime) -> None:
    """Notes that the coordinator was heard of."""
    db.execute("UPDATE fleet SET heard_at = ? WHERE id = ?", (codec.to_micros(at), fleet_id))


def take(db: sqlite3.Connection, fleet_id: str, runner: ProcessIdentity, at: datetime) -> None:
    """Makes `runner` the coordinator of a fleet run, which is then in progress again."""
    db.execute(
        "UPDATE fleet SET status = ?, reason = '', ended_at = NULL, heard_at = ?, runner_pid = ?, runner_start = ?,"
        " runner_boot = ?, runner_place = ? WHERE id = ?",
        (
            *(Status.RUNNING.value, codec.to_micros(at), runner.pid, runner.start_ticks, runner.boot_id),
            *(runner.place, fleet_id),
        ),
    )


def finish(db: sqlite3.Connection, fleet_id: str, status: Status, reason: str, at: datetime) -> None:
    """Raises StoreError if it has ended before, other than by `interrupt`."""
    changed = db.execute(
        "UPDATE fleet SET status = ?, reason = ?, ended_at = ? WHERE id = ? AND status IN (?, ?)",
        (
            *(status.value, codec.to_text(reason), codec.to_micros(at), fleet_id),
            *(Status.RUNNING.value, Status.INTERRUPTED.value),
        ),
    ).rowcount
    if not changed:
        raise StoreError(f"The fleet run {fleet_id} has ended already.")
    _let_be(db, number_of(db, fleet_id))


def interrupt(db: sqlite3.Connection, number: int) -> bool:
    """Marks a fleet run whose coordinator died, and as lost what runs on its hosts. False if it has ended meanwhile."""
    changed = db.execute(
        "UPDATE fleet SET status = ?, reason = ?, ended_at = heard_at WHERE number = ? AND status = ?",
        (Status.INTERRUPTED.value, _LOST, number, Status.RUNNING.value),
    ).rowcount
    if changed:
        _let_be(db, number)
    return bool(changed)


def _let_be(db: sqlite3.Connection, number: int) -> None:
    """Of a fleet run whose coordinator is gone: what may run on a host is lost, and whose turn did not come is left out."""
    db.execute(
        "UPDATE fleet_member SET state = ? WHERE fleet = ? AND (state = ? OR state = ? AND run_id <> '')",
        (MemberState.LOST.value, number, MemberState.RUNNING.value, MemberState.WAITING.value),
    )
    db.execute(
        "UPDATE fleet_member SET state = ?, reason = ? WHERE fleet = ? AND state = ?",
        (MemberState.LEFT_OUT.value, "Its turn did not come.", number, MemberState.WAITING.value),
    )
    db.execute(
        "UPDATE run SET status = ? WHERE fleet = ? AND status = ? AND runner_place = ?",
        (Status.LOST.value, number, Status.RUNNING.value, REPLICATED.place),
    )


def remove_empty(db: sqlite3.Connection) -> None:
    """Removes the fleet runs whose runs were all deleted for good."""
    db.execute(
        "DELETE FROM fleet WHERE status <> 'running' AND number NOT IN (SELECT fleet FROM run WHERE fleet IS NOT NULL)"
    )


# Reading


def number_of(db: sqlite3.Connection, fleet_id: str) -> int:
    """The key of a fleet run in the table of runs. Raises RunNotFound."""
    row = db.execute("SELECT number FROM fleet WHERE id = ?", (codec.to_text(fleet_id),)).fetchone()
    if row is None:
        raise RunNotFound(f"There is no fleet run {fleet_id!r}.", Advice("See `diskprof runs`.", "It was deleted."))
    return int(row[0])


def fleet_run(db: sqlite3.Connection, fleet_id: str) -> FleetRun:
    """Raises RunNotFound, StoreError where it cannot be read."""
    number = number_of(db, fleet_id)
    row = db.execute(f"SELECT number, {_COLUMNS} FROM fleet WHERE number = ?", (number,)).fetchone()
    return _fleet_run(db, row)


def fleet_runs(db: sqlite3.Connection) -> list[FleetRun]:
    """Every fleet run in progress, with a run that is not in the trash, or with one that is lost; the one begun last first."""
    which = f"status = 'running' OR {_KEPT} OR number IN (SELECT fleet FROM fleet_member WHERE state = 'lost')"
    rows = db.execute(f"SELECT number, {_COLUMNS} FROM fleet WHERE {which} ORDER BY started_at DESC, number DESC")
    return [_fleet_run(db, row) for row in rows.fetchall()]


def runs_of(db: sqlite3.Connection, fleet_id: str, *, trash: bool = False) -> list[str]:
    """The ids of its runs in the order of its members; with `trash` of those that are there."""
    kept = "IS NOT NULL" if trash else "IS NULL"
    rows = db.execute(
        f"SELECT id FROM run WHERE fleet = ? AND deleted_at {kept} ORDER BY member, ordinal, number",
        (number_of(db, fleet_id),),
    )
    return [run_id for (run_id,) in rows]


def place_of(row: tuple[str | None, int | None, str | None, int | None]) -> FleetPlace | None:
    """(id of the fleet run, member, stage, repeat) of a run as a value; None of a run alone."""
    fleet_id, member, stage, repeat = row
    if fleet_id is None or member is None or stage is None or repeat is None:
        return None
    return FleetPlace(fleet_id, member, _known(FleetStage, stage, fleet_id), repeat)


def under_way(db: sqlite3.Connection) -> list[tuple[int, str, int, ProcessIdentity]]:
    """(number, id, when its coordinator was heard of, its coordinator) of every fleet run marked as running."""
    rows = db.execute(
        "SELECT number, id, heard_at, runner_pid, runner_start, runner_boot, runner_place FROM fleet"
        " WHERE status = 'running'"
    )
    return [(number, fleet_id, heard, ProcessIdentity(*runner)) for number, fleet_id, heard, *runner in rows]


def coordinator(db: sqlite3.Connection, fleet_id: str) -> ProcessIdentity:
    row = db.execute(
        "SELECT runner_pid, runner_start, runner_boot, runner_place FROM fleet WHERE number = ?",
        (number_of(db, fleet_id),),
    ).fetchone()
    return ProcessIdentity(*row)


def _fleet_run(db: sqlite3.Connection, row: tuple[Any, ...]) -> FleetRun:
    number, id, status, reason, preset, title, at_once, wanted, engine, started, ended = row
    members = db.execute(
        "SELECT host, target, state, reason, clock_offset_ns, clock_within_ns, began_at, run_id FROM fleet_member"
        " WHERE fleet = ? ORDER BY position",
        (number,),
    ).fetchall()
    return FleetRun(
        id,
        codec.status_from(status),
        reason,
        preset,
        title,
        tuple(FleetMember(host, target) for host, target, *_ in members),
        tuple(_member_status(id, *rest) for _, _, *rest in members),
        codec.from_micros(started),
        None if ended is None else codec.from_micros(ended),
        at_once,
        codec.repetition_from(wanted),
        _known(FleetEngine, engine, id),
    )


def _member_status(
    fleet_id: str, state: str, reason: str, offset: int | None, within: int | None, began: int | None, run_id: str
) -> MemberStatus:
    clock = None if offset is None or within is None else HostClock(offset, within)
    began_at = None if began is None else codec.from_micros(began)
    return MemberStatus(_known(MemberState, state, fleet_id), reason, clock, began_at, run_id)


def _known(kind: type[E], text: str, fleet_id: str) -> E:
    try:
        return kind(text)
    except ValueError:
        raise StoreError(f"The fleet run {fleet_id} cannot be read: {text!r}.", codec.DAMAGED) from None
