"""What can be done with runs from more than one screen: run again, export, tag, delete, compare."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from diskprof.model.errors import DiskprofError
from diskprof.model.run import RunSummary, Status
from diskprof.model.text import clean
from diskprof.reports.formats import Format
from diskprof.runner.comparing import ArmRuns, by_member, each_alone, repeats
from diskprof.tui.dialogs.confirm_delete import DELETE, DeleteModal
from diskprof.tui.dialogs.report_dialog import ExportModal
from diskprof.tui.dialogs.tags import TagsEdit, TagsModal
from diskprof.tui.dialogs.text_page import TextPage
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import with_keys
from diskprof.tui.shell.loading import (
    delete_beside,
    fleet_report_on,
    fleets_report_on,
    keep_words,
    mimic_run,
    plan_again,
    plan_series_again,
    restore_last,
    save_runs,
    series_report_on,
)

if TYPE_CHECKING:
    from diskprof.model.fleet import FleetRun
    from diskprof.model.run_series import RunSeries
    from diskprof.runner.session import Session
    from diskprof.tui.app import DiskprofApp

Done = Callable[[], object]
_Planned = TypeVar("_Planned")

_LEAST_WIDTH, _FRAME = 60, 12
_LONGEST_NAME = 100
"""In characters; a file system takes 255 bytes."""


def tell(screen: ModeScreen, text: str, *, warning: bool = False) -> None:
    """Say a sentence that may hold foreign text."""
    screen.notify(clean(text), severity="warning" if warning else "information", markup=False)


def run_again(screen: ModeScreen, run_id: str) -> None:
    """Plan a run again, in a thread, and open the start dialog with that plan; say what is in the way."""
    _again(screen, run_id, plan_again, screen.diskprof.start_plan)


def run_series_again(screen: ModeScreen, series_id: str) -> None:
    """As `run_again`, of a series."""
    _again(screen, series_id, plan_series_again, screen.diskprof.start_series)


def _again(
    screen: ModeScreen, name: str, plan: Callable[[Session, Path, str], _Planned], start: Callable[[_Planned], object]
) -> None:
    async def begin() -> None:
        try:
            planned = await asyncio.to_thread(plan, screen.session, screen.kept_path, name)
        except DiskprofError as error:
            screen.diskprof.tell(error)
        else:
            if screen.is_current:
                start(planned)

    tell(screen, f"Planning {name} again.")
    screen.run_worker(begin(), group="again", exclusive=True)


def mimic(screen: ModeScreen, run_id: str) -> None:
    """Make a preset of the load that a run watched, in a thread, and show how true it is."""

    async def make() -> None:
        width = max(_LEAST_WIDTH, screen.size.width - _FRAME)
        try:
            name, told = await asyncio.to_thread(mimic_run, screen.session, screen.kept_path, run_id, width)
        except DiskprofError as error:
            screen.diskprof.tell(error)
        else:
            if screen.is_current:
                screen.app.push_screen(TextPage(f"Preset {name}", Content(told)))

    screen.run_worker(make(), group="mimic", exclusive=True)


def report_name(names: Sequence[str]) -> str:
    """`diskprof-before-after.md`, of the first three names. An arm may be called after its target: a path or a tag of any kind."""
    plain = (re.sub(r"[^\w.]+", "-", name).strip("-.") for name in names[:3])
    return "-".join(("diskprof", *filter(None, plain)))[:_LONGEST_NAME] + ".md"


def export_fleet(screen: ModeScreen, fleet_id: str) -> None:
    """As `export`, of a fleet run."""
    make = functools.partial(fleet_report_on, screen.kept_path, fleet_id)
    export(screen, [fleet_id], make, f"Report on fleet run {fleet_id}")


def export_fleets(screen: ModeScreen, fleet_ids: Sequence[str]) -> None:
    """As `export`, of several fleet runs host by host."""
    make = functools.partial(fleets_report_on, screen.kept_path, fleet_ids)
    export(screen, fleet_ids, make, f"Report on {len(fleet_ids)} fleet runs")


def compare_fleet(screen: ModeScreen, fleet: FleetRun, runs: Sequence[RunSummary]) -> None:
    """The members of a fleet run with each other. `runs` are its, newest first."""
    arms = by_member(fleet, [run for run in reversed(runs) if run.status is Status.COMPLETE])
    if len(arms) > 1:
        screen.diskprof.compare_arms(arms)
    else:
        tell(screen, "There is nothing to compare: this needs two complete runs.", warning=True)


def export(screen: ModeScreen, ids: Sequence[str], make: Callable[[Format], str], title: str) -> None:
    """Ask for a file and write the report that `make` gives; its name is proposed."""

    def written(path: Path | None) -> None:
        if path:
            tell(screen, f"Wrote {path}")

    path = _here() / report_name(ids)
    screen.app.push_screen(ExportModal(title, path, make), written)


def export_series(screen: ModeScreen, series_id: str) -> None:
    """As `export`, of a series."""
    make = functools.partial(series_report_on, screen.kept_path, series_id)
    export(screen, [series_id], make, f"Report on series {series_id}")


def save_lost_runs(app: DiskprofApp) -> None:
    """Write the runs of a store whose file is gone to a file that `diskprof import` takes, and say where."""
    path = _here() / f"runs-saved-{datetime.now():%Y%m%d-%H%M%S}.jsonl.gz"
    try:
        count = save_runs(app.store, path)
    except DiskprofError as error:
        app.tell(error)
        return
    said = f"{count} run{'' if count == 1 else 's'} written. `diskprof import {path.name}` takes them into a store."
    app.notify(clean(said), title=clean(str(path)), timeout=20, markup=False)


def _here() -> Path:
    """The current directory, or the home of the person where that was removed under us."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()


def edit_tags(screen: ModeScreen, run: RunSummary, done: Done, ids: Sequence[str] = ()) -> None:
    """Ask for tags and note, which are kept before the question goes; then call `done`. `ids` are the runs of a series."""

    def save(edit: TagsEdit) -> None:
        for run_id in ids or (run.id,):
            keep_words(
                screen.kept_path,
                run_id,
                tags=edit.tags if edit.tags != run.tags else None,
                note=edit.note if edit.note != run.note else None,
            )

    def answered(saved: bool | None) -> None:
        if saved:
            done()

    screen.app.push_screen(TagsModal(run, save), answered)


def delete(screen: ModeScreen, runs: Sequence[RunSummary], done: Done) -> None:
    """Ask, put into the trash, then call `done`; refused if one of them is in progress."""
    going = next((run for run in runs if run.status is Status.RUNNING), None)
    if going:
        refuse_to_delete(screen, going.id)
        return

    def answered(answer: str | None) -> None:
        if answer != DELETE:
            return
        # Another program may hold the store locked for a while.
        screen.run_worker(_delete(screen, runs, done), group="delete")

    if runs:
        screen.app.push_screen(DeleteModal(runs), answered)


def refuse_to_delete(screen: ModeScreen, name: str) -> None:
    """Say that a run or a series in progress is not deleted."""
    how = with_keys(screen, "Stop it first: {runs.attach} shows it, {live.stop} stops it there.")
    tell(screen, f"{name} is in progress: nothing was deleted. {how}", warning=True)


async def _delete(screen: ModeScreen, runs: Sequence[RunSummary], done: Done) -> None:
    try:
        gone, errors = await delete_beside(screen.kept_path, [run.id for run in runs])
    except DiskprofError as error:
        screen.diskprof.tell(error)
        return
    for each in errors:
        screen.diskprof.tell(each)
    done()
    if gone:
        what = runs[0].id if gone == len(runs) == 1 else f"{gone} runs"
        tell(screen, with_keys(screen, f"Deleted {what}. {{runs.undo}} undoes."))


def undo_delete(screen: ModeScreen, done: Done) -> None:
    """Restore what was deleted last, then call `done`."""
    screen.run_worker(_undo_delete(screen, done), group="delete")


async def _undo_delete(screen: ModeScreen, done: Done) -> None:
    try:
        ids = await asyncio.to_thread(restore_last, screen.kept_path)
    except DiskprofError as error:
        screen.diskprof.tell(error)
        return
    done()
    tell(
        screen, f"Restored {', '.join(ids) if len(ids) < 4 else f'{len(ids)} runs'}." if ids else "The trash is empty."
    )


def partner(runs: Sequence[RunSummary], run_id: str, preset: str) -> RunSummary | None:
    """The newest other run of the same preset that is over and has results; `runs` is newest first."""
    others = [other for other in runs if other.id != run_id and other.preset == preset and other.status.over]
    complete = (other for other in others if other.status is Status.COMPLETE)
    return next(complete, others[0] if others else None)


def compare_with_partner(screen: ModeScreen, runs: Sequence[RunSummary], run: RunSummary, wanted: str = "") -> None:
    """Compare a run with `wanted`, or the newest other of its preset, the older as the base; say what is missing otherwise."""
    other = next((one for one in runs if one.id == wanted), None) or partner(runs, run.id, run.preset)
    if other is None:
        how = with_keys(screen, "Mark two runs with {runs.mark}, then press {runs.compare}.")
        tell(screen, f"There is no other finished run of {run.preset}. {how}", warning=True)
        return
    screen.diskprof.compare_runs([one.id for one in oldest_first(runs, run, other)])


def compare_series(screen: ModeScreen, runs: Sequence[RunSummary], series: RunSeries) -> None:
    """Compare the targets of a series; one of a single target with the newest earlier run or series of its preset.

    `runs` is newest first.
    """
    complete = [run for run in reversed(runs) if run.status is Status.COMPLETE]
    arms = repeats([run for run in complete if run.series and run.series.series_id == series.id])
    if len(arms) == 1:
        first = next(at for at, run in enumerate(complete) if run.id == arms[0].ids[0])
        arms = (*_newest_arm([run for run in complete[:first] if run.preset == series.preset]), *arms)
    if len(arms) > 1:
        screen.diskprof.compare_arms(arms)
    else:
        how = with_keys(screen, "Mark another with {runs.mark}, then press {runs.compare}.")
        tell(screen, f"There is nothing to compare the series with. {how}", warning=True)


def _newest_arm(runs: Sequence[RunSummary]) -> tuple[ArmRuns, ...]:
    """The newest of `runs`, which is oldest first, with the other repeats of it; none of no run."""
    if not runs:
        return ()
    place = runs[-1].series
    if place is None:
        return each_alone([runs[-1].id])
    same = [run for run in runs if run.series and run.series.series_id == place.series_id]
    return repeats([run for run in same if run.series and run.series.arm == place.arm])


def oldest_first(runs: Sequence[RunSummary], *chosen: RunSummary) -> list[RunSummary]:
    """The chosen of `runs`, which is newest first: not by their times, for a clock may have been set back."""
    return [one for one in reversed(runs) if any(one.id == other.id for other in chosen)]
