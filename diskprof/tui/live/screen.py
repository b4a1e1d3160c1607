"""Mode 2: the run in progress, and its result when it has ended."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from diskprof.model.errors import DiskprofError
from diskprof.model.run import Run
from diskprof.model.run_series import RunSeries
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.live.live_lines import run_line, silent_after_s
from diskprof.tui.live.run_page import HELP_OF_RUNS, RunPage
from diskprof.tui.shell.keynames import with_keys


class LiveScreen(RunPage):
    """Follows one run: the one chosen, else the newest in progress, else the newest."""

    MODE: ClassVar[str] = "live"
    TITLE_OF_HELP: ClassVar[str] = "Live"
    HELP: ClassVar[str] = (
        """
A run in progress, and its result when it has ended. "now" is the last interval, "test" everything measured of the test so
far; the percentage beside a rate compares the two. R are reads, W writes. The run belongs to a process of its own: leaving
this screen, quitting or losing the connection does not stop it.
"""
        + HELP_OF_RUNS
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "course('leave')", "Leave", id="live.leave", tooltip="Close what is over the run: cursor, kernel, zoom"),
        Binding("N", "other(1)", "Next run", id="live.next", key_display="N", tooltip="The next run in progress"),
        Binding("P", "other(-1)", "Previous run", id="live.previous", show=False, tooltip="The previous run in progress"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._asked_for: str | None = None
        self._heard = time.monotonic()
        self._keys: tuple[bool | None, bool] | None = None

    def on_mount(self) -> None:
        self.set_interval(1.0, self._look_at_clock)

    def show_run(self, run_id: str) -> None:
        """Show this run until another is asked for."""
        self._asked_for = self._run_of(run_id)
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

    @property
    def _others(self) -> list[str]:
        """The ids of the runs in progress that are not shown, newest first."""
        shown = self.snapshot.run.id if self.snapshot else None
        return [run.id for run in self.diskprof.watcher.state.running if run.id != shown]

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Show what is in progress, not what has ended. Textual calls the base's handler after this one."""
        if self.snapshot and not self.snapshot.going and self._others:
            self._asked_for = None
            self.course.follow(None)

    def store_changed(self) -> None:
        self._heard = time.monotonic()
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
        going = self.snapshot.going if self.snapshot else None
        keys = (going, bool(self._others))
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    def on_resize(self, event: events.Resize) -> None:
        self.resized(event)

    def _look_at_clock(self) -> None:
        """Nothing new was written for a while: say so, also where the runner itself hangs."""
        if self.is_current and self.snapshot and self.snapshot.going:
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
        if not self.app.is_running:
            return
        self.set_class(self.snapshot is None, "-empty")
        if self.snapshot is None:
            self._draw_empty()
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
        return bool(self._others) if action == "other" else super().check_action(action, parameters)

    def action_other(self, step: int) -> None:
        running = [run.id for run in self.diskprof.watcher.state.running]
        here = running.index(self.snapshot.run.id) if self.snapshot and self.snapshot.run.id in running else -1
        self.show_run(running[(here + step) % len(running)])

    def deleted(self) -> None:
        self._asked_for = None
        self.course.follow(None)
        self.diskprof.watcher.read()
        self.store_changed()
