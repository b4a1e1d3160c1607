"""Live: what happens while it happens, out of the store alone; when the run is over its results stand here."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from diskprof.model.errors import DiskprofError
from diskprof.model.metric import Quantity
from diskprof.model.text import clean
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.kit.charts.chart import Chart
from diskprof.tui.kit.containers import Across, Down
from diskprof.tui.kit.painted import Lines, OneLine
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.live.course_view import COURSE_BINDINGS, CourseView
from diskprof.tui.live.live_lines import (
    note_lines,
    progress_line,
    run_line,
    silent_after_s,
    table_head,
    test_line,
    test_rows,
)
from diskprof.tui.live.live_panes import KernelPane, LatencyTile, TestList, Tile
from diskprof.tui.live.run_reader import Snapshot
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.doubt_banner import DoubtBanner
from diskprof.tui.shell.keynames import with_keys
from diskprof.tui.shell.run_signs import place

_TINY = 19
"""With fewer lines the table of tests would be its heading alone: the chart gets them while the run goes."""

_BESIDE_FROM, _TWO_FROM = 150, 45
"""Columns from which more charts stand beside the large one, and lines from which there are two of them."""


class LiveScreen(ModeScreen):
    """Follows one run. Which: the one asked for, else the newest that goes, else the newest."""

    MODE: ClassVar[str] = "live"
    AUTO_FOCUS = "#tests"
    CSS_PATH = "live.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012
    TITLE_OF_HELP: ClassVar[str] = "Live"
    COPIES: ClassVar[str] = "the id of the run"
    HELP: ClassVar[str] = """
A run while it goes, and its results when it is over. The tiles show the last interval, reading (R) and writing (W)
apart; "whole" is all that was measured of the test so far. The chart shows the whole test from its beginning.

p50 is the latency that half of the requests stayed within, p99 the one that 99 of 100 stayed within. Where ioping gives
no distribution, their mean and maximum stand instead.

{live.metric} turns the chart: IOPS and bandwidth (from zero), the percentiles of each interval, and the heat map: how many of the
requests of each moment took how long; of a test that is over also the latency by percentile. Latencies are on a
logarithmic scale. With {live.earlier} and {live.later} a cursor reads off a past moment; in a test too long for the screen
neighbouring intervals are one, with their highest p99, p99.9 and maximum. Where there is room, from 150 columns on, the
percentiles and the heat map stand beside it.

{live.kernel} shows what the kernel saw of the device under test, in iostat's terms (r_await and w_await in ms, kB of 1024 bytes),
of the machine's processors and memory, for the last interval and the median of the test, beside what fio said.

A sweep is shown as its cells: the figure of each as it is measured. {live.metric} turns it, {live.panel} goes to other values of
further axes, {live.sweep} to the course of the test that goes. Arrows at the edges say where there are more cells than there is
room for: those around the test that is chosen in the list are shown.

The run belongs to a process of its own: leaving this screen, quitting or losing the connection does not stop it.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "stop", "Stop", id="live.stop", tooltip="Stop the run; what it measured is kept"),
        *COURSE_BINDINGS,
        Binding(
            "escape",
            "course('leave')",
            "Leave",
            id="live.leave",
            tooltip="Put away what lies over the run: cursor, kernel, zoom",
        ),
        Binding("f", "follow", "Follow", id="live.follow", tooltip="Look at the test that goes now"),
        Binding("N", "other(1)", "Next run", id="live.next", key_display="N", tooltip="The next run that goes"),
        Binding(
            "P",
            "other(-1)",
            "Previous run",
            id="live.previous",
            show=False,
            tooltip="The run before among those that go",
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.course = CourseView(self, self._draw, self._side_charts)
        self._asked_for: str | None = None
        self._heard = time.monotonic()
        self._keys: tuple[bool | None, bool] | None = None

    def body(self) -> ComposeResult:
        charset = self.diskprof.charset
        with Down(id="live"):
            yield OneLine(id="which")
            yield OneLine(id="what")
            yield DoubtBanner(id="doubts")
            yield OneLine(id="progress")
            with Across(id="tiles"):
                for metric in (Quantity.IOPS, Quantity.BANDWIDTH):
                    yield Tile(metric, charset, id=f"tile-{metric.value}", classes="tile")
                yield LatencyTile(charset, id="tile-latency", classes="tile")
            with Across(id="charts"):
                yield Chart(charset, id="chart")
                yield KernelPane(id="kernel")
                with Down(id="beside"):
                    yield Chart(charset, id="upper")
                    yield Chart(charset, id="lower")
            yield OneLine(id="head")
            yield TestList(id="tests", classes="keyed")
            yield OneLine(id="notes-head")
            yield Table(id="notes", cursor=False)
        yield Lines(id="empty")

    def on_mount(self) -> None:
        self.set_interval(1.0, self._look_at_clock)

    @property
    def snapshot(self) -> Snapshot | None:
        """What is known of the run that is shown."""
        return self.course.snapshot

    def _side_charts(self) -> tuple[Chart, ...]:
        if not self.has_class("-beside") or self.has_class("-zoom"):
            return ()
        names = ("#upper", "#lower") if self.has_class("-two") else ("#upper",)
        return tuple(self.query_one(name, Chart) for name in names)

    # what is shown

    def show_run(self, run_id: str) -> None:
        """Show this run until another is asked for."""
        self._asked_for = run_id
        self.course.follow(None)
        if self.is_current and self.is_mounted:
            self.store_changed()

    def _wanted(self) -> str | None:
        if self._asked_for:
            return self._asked_for
        state = self.diskprof.watcher.state
        if self.snapshot and (self.snapshot.going or not state.running):
            return self.snapshot.run.id
        newest = state.running[0] if state.running else state.newest
        return newest.id if newest else None

    @property
    def _others(self) -> list[str]:
        """The ids of the runs that go and are not shown, newest first."""
        shown = self.snapshot.run.id if self.snapshot else None
        return [run.id for run in self.diskprof.watcher.state.running if run.id != shown]

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Whoever comes back wants to see what goes, not a run that has ended; Textual calls the base's handler after this one."""
        if self.snapshot and not self.snapshot.going and self._others:
            self._asked_for = None
            self.course.follow(None)

    def store_changed(self) -> None:
        self._heard = time.monotonic()
        wanted = self._wanted()
        try:
            if wanted is None or self.snapshot is None or self.snapshot.run.id != wanted:
                self.course.follow(wanted)
            else:
                self.course.read()
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
        self.set_class(event.size.height < _TINY, "-tiny")
        self.set_class(event.size.width >= _BESIDE_FROM, "-beside")
        self.set_class(event.size.height >= _TWO_FROM, "-two")
        self.course.read_more()
        self.course.anew()
        self.call_after_refresh(self._draw)

    def _look_at_clock(self) -> None:
        """Nothing new was written for a while: say so, also where the runner itself hangs."""
        if self.is_current and self.snapshot and self.snapshot.going:
            silent = time.monotonic() - self._heard
            if silent >= silent_after_s(self.snapshot):
                line = test_line(self.snapshot, self._width, silent_s=silent)
                self.query_one("#what", OneLine).put_line(line)

    @property
    def _width(self) -> int:
        return self.query_one("#which").size.width or self.size.width

    def _draw(self) -> None:
        if not self.app.is_running:
            # What was put off until now is of a screen that is being taken down, and has lost some of its parts.
            return
        seen = self.snapshot
        self.set_class(seen is None, "-empty")
        if seen is None:
            self._draw_empty()
            return
        run, width = seen.run, self._width
        self.set_class(run.status.over, "-over")
        self.query_one("#which", OneLine).put_line(run_line(run, width, others=len(self._others)))
        self.query_one("#what", OneLine).put_line(test_line(seen, width))
        if seen.going:
            self.query_one("#progress", OneLine).put_line(progress_line(run, width, self.diskprof.charset))
            self.course.draw_tiles(seen)
        self.set_class(self.course.shows_cells, "-cells")
        self.course.draw_chart()
        self.course.draw_kernel(seen)
        self.query_one("#head", OneLine).put_line(table_head(width))
        self._draw_tests(seen)
        self._draw_notes(seen)
        self.query_one(DoubtBanner).tell(run, width)

    def _draw_empty(self) -> None:
        how = with_keys(self, "Press {app.run}, choose a device and a preset, and press {run.start}.")
        width = self._width
        self.query_one("#empty", Lines).put(
            [
                [("No run yet", "title")],
                [],
                *paragraph(how, width, first=()),
                *paragraph("What is measured appears here while it happens.", width, "quiet", first=()),
            ]
        )

    def _draw_tests(self, seen: Snapshot) -> None:
        tests = self.query_one("#tests", Table)
        run = seen.run

        def build(width: int) -> list[Row]:
            return test_rows(run, width)

        tests.show(build)
        if seen.follows:
            tests.key = str(seen.test)
        tests.styles.height = max(1, min(len(test_rows(run, self._width)), 8 if self.size.height < 32 else 14))

    def _draw_notes(self, seen: Snapshot) -> None:
        notes = self.query_one("#notes", Table)
        run = seen.run
        promised = run.status.over and run.plan.expectations
        self.set_class(not (promised or run.findings or run.messages), "-quiet")
        parts = [
            *(["expectations"] if promised else []),
            *(["findings"] if run.findings else []),
            *(["messages"] if run.messages else []),
        ]
        heading = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts).capitalize()
        self.query_one("#notes-head", OneLine).put_line([("   ", ""), (heading, "quiet")])
        notes.show(lambda width: [Row(str(at), line) for at, line in enumerate(note_lines(run, width))])
        # Its own width may not be known yet; one cell is for the scroll bar.
        notes.styles.height = max(1, len(note_lines(run, self._width - 1)))

    # what can be done

    def copy_text(self) -> Callable[[], str] | None:
        seen = self.snapshot
        return seen.run.id.__str__ if seen else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        seen = self.snapshot
        if action == "stop":
            return seen is not None and seen.going
        if action == "other":
            return bool(self._others)
        if action == "follow":
            return seen is not None and seen.going and not seen.follows
        return self.course.can(str(parameters[0])) if action == "course" else True

    def action_course(self, action: str, steps: int = 0) -> None:
        self.course.act(action, steps)

    @on(Table.Moved, "#tests")
    def _test_chosen(self, event: Table.Moved) -> None:
        if self.snapshot and event.key is not None and int(event.key) != self.snapshot.test:
            self.course.choose(int(event.key))
            self.course.another_test()

    def action_follow(self) -> None:
        if self.snapshot:
            self.course.choose(None)
            self.course.another_test()

    def action_other(self, step: int) -> None:
        running = [run.id for run in self.diskprof.watcher.state.running]
        here = running.index(self.snapshot.run.id) if self.snapshot and self.snapshot.run.id in running else -1
        self.show_run(running[(here + step) % len(running)])

    def action_stop(self) -> None:
        seen = self.snapshot
        if seen is None or not seen.going:
            return
        run_id, plan = seen.run.id, seen.run.plan
        self.app.push_screen(
            Ask(
                "Stop this run?",
                f"{clean(plan.preset_title)} on {clean(place(seen.run))}, run {run_id}.\n"
                "The test that goes is ended within two seconds. What was measured so far is kept.",
                (Answer("s", "Stop it", "stop", danger=True), Answer("esc", "Let it go on", "stay")),
            ),
            lambda answer: self._stop(run_id) if answer == "stop" else None,
        )

    def _stop(self, run_id: str) -> None:
        try:
            self.session.request_stop(self.store, run_id)
        except DiskprofError as error:
            self.diskprof.tell(error)
        else:
            self.app.notify("Stopping.", timeout=2, markup=False)
