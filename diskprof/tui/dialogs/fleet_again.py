"""A fleet run once more: its hosts plan in a thread, the person is asked, the coordinator starts."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from textual.content import Content

from diskprof.analysis.fleet.result import noun_of
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.fleet import FleetEngine
from diskprof.model.text import clean
from diskprof.reports.figures import count
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.dialogs.run_actions import tell
from diskprof.tui.shell.base import ModeScreen

if TYPE_CHECKING:
    from diskprof.fleet.planned_again import FleetRecord
    from diskprof.fleet.planning import Prospect
    from diskprof.model.fleet import FleetPlan
    from diskprof.runner.session import Session


class _Planned(Struct, frozen=True):
    record: FleetRecord
    prospects: tuple[Prospect, ...]
    plan: FleetPlan


def run_fleet_again(screen: ModeScreen, fleet_id: str) -> None:
    """Plan a fleet run again on all of its hosts, ask, and start it; say what is in the way."""

    async def begin() -> None:
        try:
            planned = await asyncio.to_thread(_plan, screen.session, screen.kept_path, fleet_id)
        except DiskprofError as error:
            screen.diskprof.tell(error)
        else:
            if screen.is_current:
                _ask(screen, planned)

    tell(screen, f"Planning {fleet_id} again.")
    screen.run_worker(begin(), group="again", exclusive=True)


def _plan(session: Session, path: Path, fleet_id: str) -> _Planned:
    """By a connection of its own. Raises what is in the way of any member."""
    from diskprof.fleet.hosts.remote_program import program_of_member
    from diskprof.fleet.planned_again import fleet_record, plan_fleet_again
    from diskprof.fleet.planning import refusal_of, served
    from diskprof.model.plan import WritePermission
    from diskprof.runner.plan.repeats import plan_fleet
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        record = fleet_record(store, fleet_id)
    if record.writes_raw:
        raise UsageError(
            "This fleet run overwrites devices, each of which is to be named.",
            f"Run it again on the command line: diskprof rerun {fleet_id} --allow-write",
        )
    of = functools.partial(program_of_member, saying=lambda _: None)
    found = asyncio.run(plan_fleet_again(record, session.load_library(), of, WritePermission(), str(path)))
    if refusal := refusal_of(found):
        raise refusal
    if record.fleet.engine is FleetEngine.FIO_SERVER:
        found = served(found)
    plans = [each.plan for each in found if each.plan]
    fleet = record.fleet
    return _Planned(record, tuple(found), plan_fleet(plans, fleet.wanted, fleet.at_once, record.stages))


def _ask(screen: ModeScreen, planned: _Planned) -> None:
    fleet = planned.record.fleet
    screen.app.push_screen(
        Ask(
            f"Start {clean(fleet.preset_title)} again on {count(len(fleet.members), noun_of(fleet))}?",
            _told(planned),
            (Answer("s", "Start", "start"), Answer("esc", "Cancel", "")),
        ),
        lambda answer: _start(screen, planned) if answer == "start" else None,
    )


def _told(planned: _Planned) -> Content:
    """The plan of each member, then what is to be known of them; what all have, once."""
    from diskprof.reports.blocks import Form, Note
    from diskprof.reports.content.fleet.fleet_plan import fleet_plan_sentence
    from diskprof.reports.content.plan_report import hazard_notes, plan_sentence
    from diskprof.tui.shell.run_signs import ink

    noun = noun_of(planned.record.fleet)
    parts: list[str | tuple[str, str]] = [fleet_plan_sentence(planned.plan, noun), "\n"]
    notes: dict[Note, list[str]] = {}
    for each in planned.prospects:
        if each.plan:
            label = clean(each.member.label)
            parts += ["\n", (label, "bold"), f": {clean(plan_sentence(each.plan))}"]
            for note in hazard_notes(each.plan, Form.SCREEN):
                notes.setdefault(note, []).append(label)
    for note, labels in notes.items():
        together = len(labels) == len(planned.prospects) > 1
        who = f"all {count(len(labels), noun)}" if together else ", ".join(labels)
        colour = ink(note.meaning)
        style = f"${colour}" if colour in ("warn", "danger", "quiet") else ""
        words = clean(f"{note.text} {note.advice}").rstrip()
        parts += ["\n\n", (f"{note.sign} ", style), (who, "bold"), (f": {words}", style)]
    return Content.assemble(*parts)


def _start(screen: ModeScreen, planned: _Planned) -> None:
    async def begin() -> None:
        try:
            fleet_id = await asyncio.to_thread(_started, planned, screen.diskprof.store_path)
        except DiskprofError as error:
            screen.diskprof.tell(error)
            return
        screen.diskprof.watcher.read()
        if screen.is_current:
            screen.diskprof.show_run(fleet_id)

    screen.run_worker(begin(), group="start")


def _started(planned: _Planned, store: Path) -> str:
    """It waits for the coordinator to say that all have begun. Raises DiskprofError."""
    from diskprof.fleet.detached import start_coordinator
    from diskprof.fleet.order import FleetOrder
    from diskprof.fleet.planning import member_plans

    record = planned.record
    return start_coordinator(FleetOrder(record.new, member_plans(planned.prospects), str(store), stages=record.stages))
