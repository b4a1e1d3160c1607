"""Mode 2: the run in progress, and its result when it has ended; a fleet run as a table of all its members."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from diskprof.analysis.fleet.result import noun_of
from diskprof.model.errors import DiskprofError
from diskprof.model.run import Run, RunSummary
from diskprof.model.run_series import RunSeries
from diskprof.model.text import clean
from diskprof.reports.figures import count
from diskprof.reports.formats import Format
from diskprof.store import Item
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.kit.table import Sheet
from diskprof.tui.live.fleet.fleet_pane import FleetPane
from diskprof.tui.live.fleet.fleet_view import FleetView
from diskprof.tui.live.live_lines import run_line, silent_after_s
from diskprof.tui.live.run_page import HELP_OF_RUNS, RunPage
from diskprof.tui.shell.keynames import with_keys
from diskprof.tui.shell.loading import fleet_report_on


class LiveScreen(RunPage):
    """Follows one run or fleet run: the one chosen, else the newest in progress, else the newest."""

    MODE: ClassVar[str] = "live"
    TITLE_OF_HELP: ClassVar[str] = "Live"
    HELP: ClassVar[str] = (
        """
A run in progress, and its result when it has ended. "now" is the last interval, "test" everything measured of the test so
far; the percentage beside a rate compares the two. R are reads, W writes. The run belongs to a process of its own: leaving
this screen, quitting or losing the connection does not stop it. {live.faster} and {live.slower} change how often it is read.

A fleet run is a table: a row for each host or disk with its last second, the sum of all below, with percentiles of all I/Os
together. {fleet.open} opens one host, {live.leave} comes back. When it has ended, below is what stands out.
"""
        + HELP_OF_RUNS
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "course('leave')", "Leave", id="live.leave", tooltip="Close what is over the run: cursor, kernel, zoom"),
        Binding("N", "other(1)", "Next run", id="live.next", key_display="N", tooltip="The next run in progress"),
        Binding("plus", "app.faster(2)", "Faster", id="live.faster", key_display="+", show=False, tooltip="Refresh more often"),
        Binding("minus", "app.faster(0.5)", "Slower", id="live.slower", key_display="-", show=False, tooltip="Refresh less often"),
        Binding("P", "other(-1)", "Previous run", id="live.previous", show=False, tooltip="The previous run in progress"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.fleet = FleetView(self)
        self._asked_for: str | None = None
        self._heard = time.monotonic()
        self._keys: tuple[str | None, bool | None, bool] | None = None

    def body(self) -> ComposeResult:
        yield from super().body()
        yield FleetPane(self.diskprof.charset, id="fleet")

    def on_mount(self) -> None:
        self.set_interval(1.0, self._look_at_clock)

    def show_run(self, run_id: str) -> None:
        """Show this run, or fleet run, until another is asked for."""
        try:
            item = self.store.resolve_item(run_id)
        except DiskprofError:
            # Reading it says why.
            item = Item(run_id)
        # One that has just begun may have no run here yet.
        is_fleet = item.is_fleet or item.id in self.diskprof.watcher.state.fleets
        self.fleet.show(item.id if is_fleet else None)
        self._asked_for = None if is_fleet else self._run_of(run_id)
        self.course.follow(None)
        if self.is_current and self.is_mounted:
            self.store_changed()

    def _run_of(self, name: str) -> str:
        """The run itself; of a series the newest of its runs."""
        try:
            return self.store.runs_named(name)[-1]
        except DiskprofError:
            return name

    def _wanted(self) -> str | None:
        state = self.diskprof.watcher.state
        if self._asked_for:
            self._asked_for = self._next_of_series(self._asked_for)
            return self._asked_for
        if self.snapshot and (self.snapshot.going or not state.running):
            return self.snapshot.run.id
        newest = state.running[0] if state.running else state.newest
        return newest.id if newest else None

    def _next_of_series(self, run_id: str) -> str:
        """The run in progress of the same series, once this one has ended; else itself."""
        shown = self.snapshot.run if self.snapshot and self.snapshot.run.id == run_id else None
        if shown is None or shown.series is None or self.snapshot is None or self.snapshot.going:
            return run_id
        same = shown.series.series_id
        running = self.diskprof.watcher.state.running
        return next((run.id for run in running if run.series and run.series.series_id == same), run_id)

    def _fleet_wanted(self) -> str | None:
        """The fleet run to show, where no run was asked for."""
        if self._asked_for or (self.snapshot and self.snapshot.going):
            return None
        state = self.diskprof.watcher.state
        newest = state.running[0] if state.running else None
        if newest is None and state.fleets:
            # Its hosts are being looked at, or one has just ended and the next begins.
            return state.fleets[0]
        newest = newest or (None if self.snapshot else state.newest)
        return newest.fleet.fleet_id if newest and newest.fleet else None

    @property
    def _in_progress(self) -> list[str]:
        """The runs and fleet runs in progress, newest first."""
        state = self.diskprof.watcher.state
        return list(dict.fromkeys([*map(_thing, state.running), *state.fleets]))

    @property
    def _here(self) -> str | None:
        """What is shown, of a member its fleet run."""
        run = self.snapshot.run if self.snapshot else None
        if self.fleet.id or run is None:
            return self.fleet.id
        return run.fleet.fleet_id if run.fleet else run.id

    @property
    def _others(self) -> list[str]:
        """The ids of what is in progress and not shown, newest first."""
        here = self._here
        return [each for each in self._in_progress if each != here]

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Show what is in progress, not what has ended. Textual calls the base's handler after this one."""
        ended = not self.fleet.going if self.fleet.id else self.snapshot is not None and not self.snapshot.going
        if ended and self._others:
            self._asked_for = None
            self.fleet.show(None)
            self.course.follow(None)

    def store_changed(self) -> None:
        self._heard = time.monotonic()
        if self.fleet.id is None and (fleet_id := self._fleet_wanted()):
            self.fleet.show(fleet_id)
        if self._show_fleet():
            return
        wanted = self._wanted()
        try:
            if wanted is None or self.snapshot is None or self.snapshot.run.id != wanted:
                self.follow(wanted)
            else:
                self.course.read()
                if self._wanted() != wanted:
                    # It has ended just now, and the next of its series has begun.
                    self.follow(self._wanted())
        except DiskprofError as error:
            # The run was deleted, or what is stored of it cannot be read.
            self._asked_for = None
            self.course.follow(None)
            self.diskprof.tell(error)
        self.course.read_more()
        self._draw()
        self._set_keys(self.snapshot.going if self.snapshot else None)

    def _show_fleet(self) -> bool:
        """Show what is new in the table; False where there is none."""
        try:
            self.fleet.read()
        except DiskprofError as error:
            self.fleet.show(None)
            self.diskprof.tell(error)
        table = self.fleet.id is not None
        if table != self.has_class("-fleet"):
            self.set_class(table, "-fleet")
            (self.fleet.pane.sheet if table else self.sheet).focus(scroll_visible=False)
        if table:
            self.top.enter("")
            self.set_class(False, "-empty")
            self._set_keys(self.fleet.going)
        return table

    def _set_keys(self, going: bool | None) -> None:
        keys = (self.fleet.id, going, bool(self._others))
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    def on_resize(self, event: events.Resize) -> None:
        self.resized(event)

    def _look_at_clock(self) -> None:
        """Nothing new was written for a while: say so, also where the runner itself hangs."""
        if self.is_current and not self.fleet.id and self.snapshot and self.snapshot.going:
            silent = time.monotonic() - self._heard
            self.course.catch_up()
            if silent >= silent_after_s(self.snapshot):
                self._head(self.snapshot, silent_s=silent)

    @property
    def whole(self) -> RunSeries | None:
        return self.series if self.series and self.series.status.over else None

    def head_line(self, run: Run, width: int) -> Line:
        return run_line(run, width, others=len(self._others))

    def _draw(self) -> None:
        if not self.app.is_running or self.fleet.id:
            return
        self.set_class(self.snapshot is None, "-empty")
        if self.snapshot is None:
            self._draw_empty()
        self.top.enter(self.run.id if self.run and self.run.fleet else "")
        super()._draw()

    def _draw_empty(self) -> None:
        how = with_keys(self, "Press {app.run}, choose a device and a preset, and press {run.start}.")
        width = self.size.width
        self.query_one("#empty", Lines).put(
            [
                [("No run yet", "title")],
                [],
                *paragraph(how, width, first=()),
                *paragraph("What is measured appears here while it happens.", width, "quiet", first=()),
            ]
        )

    # what can be done

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "other":
            return bool(self._others)
        if self.fleet.id is None:
            back = (
                action == "course" and parameters[0] == "leave" and self.run is not None and self.run.fleet is not None
            )
            return back or super().check_action(action, parameters)
        match action:
            case "stop":
                return self.fleet.going
            case "export" | "again":
                return not self.fleet.going
            case "course" | "follow" | "compare" | "tags" | "delete":
                # Of the whole they are keys of the list of runs.
                return False
            case _:
                return True

    def action_course(self, action: str, steps: int = 0) -> None:
        """Escape goes from a member back to the table."""
        if action == "leave" and not self.course.can(action) and self.run and self.run.fleet:
            self.show_run(self.run.fleet.fleet_id)
            return
        super().action_course(action, steps)

    @on(Sheet.Chosen, "#members")
    def _member_chosen(self) -> None:
        if run_id := self.fleet.chosen:
            self.show_run(run_id)

    def action_other(self, step: int) -> None:
        running, here = self._in_progress, self._here
        at = running.index(here) if here in running else -1
        self.show_run(running[(at + step) % len(running)])

    def turn(self, pages: int) -> bool:
        return self.fleet.pane.turn(pages) if self.fleet.id else super().turn(pages)

    def copy_text(self) -> Callable[[], str] | None:
        if fleet_id := self.fleet.id:
            return lambda: fleet_report_on(self.kept_path, fleet_id, Format.MARKDOWN)
        return super().copy_text()

    def action_export(self) -> None:
        from diskprof.tui.dialogs import run_actions

        if (fleet_id := self.fleet.id) is None:
            super().action_export()
            return
        run_actions.export_fleet(self, fleet_id)

    def action_again(self) -> None:
        from diskprof.tui.dialogs.fleet_again import run_fleet_again

        if fleet_id := self.fleet.id:
            run_fleet_again(self, fleet_id)
        else:
            super().action_again()

    def action_stop(self) -> None:
        """Of a fleet run, or a run of it: all of it."""
        from diskprof.tui.dialogs.confirm import Answer, Ask

        run = self.run
        fleet_id = self.fleet.id or (run.fleet.fleet_id if run and run.fleet else None)
        if fleet_id is None:
            super().action_stop()
            return
        try:
            fleet = self.store.fleet_run(fleet_id)
        except DiskprofError as error:
            self.diskprof.tell(error)
            return
        noun = noun_of(fleet)
        self.app.push_screen(
            Ask(
                "Stop this fleet run?",
                f"{clean(fleet.preset_title)} on {count(len(fleet.members), noun)}, {fleet_id}.\n"
                f"The current test of each {noun} stops within two seconds. Results so far are kept.",
                (Answer("s", "Stop it", "stop", danger=True), Answer("esc", "Continue", "stay")),
            ),
            lambda answer: self._stop_fleet(fleet_id) if answer == "stop" else None,
        )

    def _stop_fleet(self, fleet_id: str) -> None:
        from diskprof.fleet.detached import stop_fleet

        try:
            stop_fleet(self.store, fleet_id)
        except DiskprofError as error:
            self.diskprof.tell(error)
        else:
            self.app.notify("Stopping.", timeout=2, markup=False)

    def deleted(self) -> None:
        self._asked_for = None
        self.course.follow(None)
        self.diskprof.watcher.read()
        self.store_changed()


def _thing(run: RunSummary) -> str:
    """What a run in progress is a part of, else itself."""
    return run.fleet.fleet_id if run.fleet else run.id
