"""Whole runs with their samples, read beside the screen: a day of samples takes seconds to unpack."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean
from diskprof.runner.comparing import ArmRuns, each_alone, ids_of, with_runs
from diskprof.runner.like_runs import history_of, newest_complete, report_history
from diskprof.runner.session import delete, earlier_results, seen_by_kernel

if TYPE_CHECKING:
    from diskprof.analysis.arms import Arm
    from diskprof.analysis.history import RunHistory
    from diskprof.analysis.kernel import KernelView
    from diskprof.model.device import Device
    from diskprof.model.earlier import EarlierResult
    from diskprof.model.run import Run, RunSummary
    from diskprof.model.sample import Sample
    from diskprof.reports.formats import Format
    from diskprof.runner.session import Outlook, SeriesOutlook, Session
    from diskprof.store import Store


class Loaded(Struct, frozen=True):
    """Runs in the order asked for, and the samples of each by its id. `arms`: which are taken together. `cost_s`: the time it took.

    `courses` are the same samples as charts need them: some of them taken together.
    """

    runs: tuple[Run, ...] = ()
    samples: dict[str, tuple[Sample, ...]] = field(default_factory=dict)
    courses: dict[str, tuple[Sample, ...]] = field(default_factory=dict)
    cost_s: float = 0.0
    kernel: dict[str, dict[int, KernelView]] = field(default_factory=dict)
    arms: tuple[ArmRuns, ...] = ()
    earlier: tuple[EarlierResult, ...] = ()
    history: RunHistory | None = None

    @property
    def sides(self) -> tuple[Arm, ...]:
        """The arms that the runs were asked for as."""
        return with_runs(self.arms, {run.id: run for run in self.runs})

    def report(self, wanted: Format) -> str:
        """The report on them; on more than one arm, their comparison."""
        from diskprof.reports.formats import write

        return write(wanted, self.sides, self.samples, self.kernel, earlier=self.earlier, history=self.history)


class LastResult(Struct, frozen=True):
    """The newest run on a disk, what earlier ones like it measured there, and the last `runs` there, each newest first."""

    run: Run
    earlier: tuple[EarlierResult, ...]
    runs: tuple[RunSummary, ...] = ()


def load(path: Path, arms: Sequence[ArmRuns]) -> Loaded:
    """Read the runs of arms by a connection of its own, so that any thread may call it. Raises DiskprofError."""
    from diskprof.store import Store

    began = time.monotonic()
    ids = ids_of(arms)
    with Store.open(path, create=False) as store:
        runs = tuple(store.run(run_id) for run_id in ids)
        samples = {run_id: store.samples(run_id, histograms=False).samples for run_id in ids}
        courses = {run.id: _course(store, run) for run in runs}
        kernel = {run.id: seen_by_kernel(store, run) for run in runs} if len(runs) == len(arms) else {}
        earlier = earlier_results(store, runs[0]) if len(runs) == 1 else ()
        history = report_history(store, runs[0]) if len(runs) == 1 else None
    return Loaded(runs, samples, courses, time.monotonic() - began, kernel, tuple(arms), earlier, history)


def load_history(path: Path, run_id: str) -> RunHistory:
    """The history of the runs that are like this one, or like those of a series, by a connection of its own. Raises
    DiskprofError."""
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        return history_of(store, newest_complete(store, run_id))


def report_on(path: Path, ids: Sequence[str], wanted: Format) -> str:
    """The report on runs, read by a connection of its own, so that any thread may call it. Raises DiskprofError."""
    from diskprof.store import Store

    arms = each_alone(ids)
    if wanted.needs_samples(len(arms)):
        return load(path, arms).report(wanted)
    with Store.open(path, create=False) as store:
        return Loaded(tuple(store.run(run_id) for run_id in ids_of(arms)), arms=arms).report(wanted)


def series_report_on(path: Path, series_id: str, wanted: Format) -> str:
    """The report on a series, by a connection of its own. Raises DiskprofError."""
    from diskprof.reports.formats import OF_SERIES, Format, write_series
    from diskprof.runner.session import series_result
    from diskprof.store import Store

    if wanted not in OF_SERIES:
        with Store.open(path, create=False) as store:
            ids = store.runs_named(series_id)
        return report_on(path, ids, wanted)
    with Store.open(path, create=False) as store:
        result = series_result(store, series_id)
        runs = [store.run(run.id) for run in result.runs] if wanted is Format.CSV else []
    return write_series(wanted, result, runs)


def fleet_report_on(path: Path, fleet_id: str, wanted: Format) -> str:
    """The report on a fleet run, by a connection of its own. Raises DiskprofError."""
    from diskprof.reports.formats import OF_SERIES, write_fleet
    from diskprof.runner.session import fleet_result
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        if wanted in OF_SERIES:
            return write_fleet(wanted, fleet_result(store, fleet_id))
        ids = store.runs_named(fleet_id)
    return report_on(path, ids, wanted)


def _course(store: Store, run: Run) -> tuple[Sample, ...]:
    return tuple(chain.from_iterable(store.course(run.id, test.index, most=2048).samples for test in run.tests))


def load_course(path: Path, run_id: str) -> Loaded:
    """As `load`, of one run, but its samples only as charts need them. Raises DiskprofError."""
    from diskprof.store import Store

    began = time.monotonic()
    with Store.open(path, create=False) as store:
        run = store.run(run_id)
        course = {run_id: _course(store, run)}
        kernel = {run_id: seen_by_kernel(store, run)}
    return Loaded((run,), course, course, time.monotonic() - began, kernel, each_alone((run_id,)))


async def delete_beside(path: Path, ids: Sequence[str]) -> tuple[int, Sequence[DiskprofError]]:
    """How many of these runs were put into the trash, in a thread, and what was in the way of the others."""
    from diskprof.store import Store

    def delete_there() -> tuple[int, Sequence[DiskprofError]]:
        with Store.open(path, create=False) as store:
            gone, errors = delete(store, ids)
            store.empty_trash()
        return len(gone), errors

    try:
        return await asyncio.to_thread(delete_there)
    except DiskprofError as error:
        return 0, [error]


def restore_last(path: Path) -> Sequence[str]:
    """Take out of the trash what was deleted last, by a connection of its own; gives the ids. Raises DiskprofError."""
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        ids = store.last_discarded()
        for run_id in ids:
            store.restore(run_id)
    return ids


def fleets_report_on(path: Path, fleet_ids: Sequence[str], wanted: Format) -> str:
    """The report on several fleet runs host by host, by a connection of its own. Raises DiskprofError."""
    from diskprof.reports.formats import OF_SERIES, write_fleets
    from diskprof.runner.comparing import fleet_arms, fleets_compared
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        if wanted in OF_SERIES and (fleets := fleet_arms(store, fleet_ids)):
            return write_fleets(wanted, fleets_compared(store, fleets))
        ids = [run_id for fleet_id in fleet_ids for run_id in store.runs_named(fleet_id)]
    return report_on(path, ids, wanted)


def plan_again(session: Session, path: Path, run_id: str) -> Outlook:
    """The plan of a run made anew, which may write to the devices that the run wrote to: their names have to be typed at the start.

    The run is read by a connection of its own, so that any thread may call it. Raises DiskprofErrors.
    """
    from diskprof.model.plan import WritePermission
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        run = store.run(run_id)
    if not run.status.over:
        raise UsageError(f"Run {run_id} is in progress.", "Run it again when it is over.")
    return session.again(run, WritePermission(allowed=bool(run.plan.raw_devices)))


def plan_series_again(session: Session, path: Path, series_id: str) -> SeriesOutlook:
    """As `plan_again`, of a series. Raises DiskprofErrors."""
    from diskprof.model.plan import WritePermission
    from diskprof.store import Item, ItemKind, Store

    with Store.open(path, create=False) as store:
        series = store.series(series_id)
        runs = session.runs_to_repeat(store, Item(series_id, ItemKind.SERIES))
    if not series.status.over:
        raise UsageError(f"The series {series_id} is in progress.", "Run it again when it is over.")
    outlooks = [session.again(run, WritePermission(allowed=bool(run.plan.raw_devices))) for run in runs]
    return session.as_series(outlooks, series.wanted)


def keep_words(path: Path, run_id: str, *, tags: Sequence[str] | None, note: str | None) -> None:
    """Write the tags and the note of a run, those that are not None, by a connection of its own. Raises DiskprofError."""
    from diskprof.store import Store

    if tags is None and note is None:
        return
    with Store.open(path, create=False) as store:
        if tags is not None:
            store.set_tags(run_id, tags)
        if note is not None:
            store.set_note(run_id, note)


def save_runs(store: Store, path: Path) -> int:
    """Write the runs that are over to a new file, as `diskprof export` does, and return how many. Raises DiskprofError.

    For a store whose own file is gone: nobody else can read it any more.
    """
    from diskprof.store.exchange.transfer import export_runs

    ids = [summary.id for summary in reversed(store.summaries()) if summary.status.over]
    try:
        with path.open("xb") as file:
            export_runs(store, ids, file)
    except OSError as error:
        raise DiskprofError(
            f"{path} cannot be written: {error.strerror or error}.", "Try it from another directory."
        ) from None
    return len(ids)


def last_result(path: Path, disks: Sequence[Device], host: str, preset: str) -> LastResult | None:
    """The newest result of these disks, of the preset if there is one, by a connection of its own. Raises DiskprofError."""
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        run_id = store.newest_on(disks, host, preset)
        if run_id is None:
            return None
        run = store.run(run_id)
        return LastResult(run, earlier_results(store, run), tuple(store.summaries_on(disks, host)))


async def load_beside(path: Path, arms: Sequence[ArmRuns]) -> Loaded:
    """As `load`, in a thread. Raises DiskprofError."""
    return await asyncio.to_thread(load, path, tuple(arms))


def mimic_run(session: Session, path: Path, run_id: str, width: int) -> tuple[str, str]:
    """Writes the preset of the load that a run watched; its name, and in `width` columns how true it is and where it is now.

    To be called in a thread. Raises DiskprofError.
    """
    from diskprof.reports.content.mimic_report import mimic_report
    from diskprof.reports.render.lines import text
    from diskprof.runner.observed import observed
    from diskprof.store import Store

    with Store.open(path) as store:
        found = observed(store, store.run(run_id))
    # What another made of the same run is the same preset.
    made = found.preset(f"mimic-{found.device}-{run_id}")
    written = session.save_preset(made.preset, force=True)
    return made.preset.name, f"{text(mimic_report(found.title, found.load, made), width)}\n{clean(str(written))}"
