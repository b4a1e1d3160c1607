"""A finished run, opened from the list: its results, the pictures of a test, what was found, the conditions, the exact commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from diskprof.model.errors import DiskprofError
from diskprof.model.run import Run, RunSummary, Weight
from diskprof.model.units import format_duration
from diskprof.reports.content.doubts import tally
from diskprof.reports.formats import Format
from diskprof.reports.words import STATUSES
from diskprof.tui.dialogs import run_actions
from diskprof.tui.kit.charts.chart import Chart
from diskprof.tui.kit.painted import Line, OneLine, Piece, signs_for, spread, width_of
from diskprof.tui.kit.paragraphs import content_of
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.live.course_view import COURSE_BINDINGS, CourseView
from diskprof.tui.live.live_panes import KeepsKeys, KernelPane
from diskprof.tui.live.promise_lines import verdict_piece
from diskprof.tui.live.run_reader import Snapshot
from diskprof.tui.runs.run_list import full_time
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.doubt_banner import DoubtBanner
from diskprof.tui.shell.loading import load_course, report_on
from diskprof.tui.shell.run_signs import ink_of, status_text

if TYPE_CHECKING:
    from diskprof.reports.content.run_report import ResultRow
    from diskprof.tui.shell.block_lines import Cells

_LOW = 32


class ResultTable(KeepsKeys, Sheet, inherit_bindings=False):
    """The cursor chooses the test of the chart; whole pages move the screen, left and right the cursor of the chart."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="The test above"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="The test below"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first test"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last test"),
    ]

    def action_page(self, direction: int) -> None:
        if isinstance(self.screen, ResultScreen):
            self.screen.turn(direction)


def sections(run: Run, width: int) -> list[Line]:
    """Everything below the chart, as lines of at most `width` cells."""
    from diskprof.reports.blocks import Form
    from diskprof.reports.content.run_report import run_report
    from diskprof.tui.shell.block_lines import screen_lines

    return screen_lines(run_report(run, form=Form.SCREEN), width)


class Prose(Static):
    """Lines of styled words that are wrapped anew when the width changes."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._run: Run | None = None
        self._width = 0

    def tell(self, run: Run) -> None:
        self._run, self._width = run, 0
        self._wrap()

    def on_resize(self) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width = self.content_size.width
        if self._run and width and width != self._width:
            self._width = width
            lines = sections(self._run, width)
            self.update(content_of([[(signs_for(self.app, text), ink) for text, ink in line] for line in lines]))


class ResultScreen(ModeScreen):
    MODE = "runs"
    CSS_PATH = "result.tcss"
    TITLE_OF_HELP = "Result"
    HELP = """
A run that is over. The chart shows the test under the cursor; {live.metric} turns it: IOPS, bandwidth, the percentiles of each
interval, the heat map, and the latency by percentile of all that was measured. With {live.earlier} and {live.later} a
cursor reads off a past moment, {live.zoom} shows the chart alone.

{live.kernel} shows what the kernel saw of the device and of the machine, in iostat's terms: the last interval and the median of
the test.

A sweep is shown as its cells: {live.metric} turns their figure, {live.panel} goes to other values of further axes,
{live.sweep} to the course of one test. Arrows at the edges say where there are more cells: those around the chosen test are shown.

Below stand the findings, the environment of the run and the exact commands: go on with {list.page-down}.

Latency is fio's lat: the whole of an I/O, submission and completion; both stand apart below. MB/s are 10^6 bytes per second.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        *COURSE_BINDINGS,
        Binding("space", "turn(1)", "More", id="result.more", tooltip="The next page"),
        Binding(
            "escape", "back", "Back", id="result.back", tooltip="Put away what lies over the result, then the result"
        ),
        Binding(
            "backspace", "dismiss_result", "Back", id="result.list", show=False, tooltip="Back to the list of runs"
        ),
        Binding(
            "c", "compare", "Compare", id="result.compare", tooltip="Compare with the newest other run of this preset"
        ),
        Binding("r", "export", "Report", id="result.export", tooltip="Write the run as Markdown, HTML or CSV"),
        Binding("t", "tags", "Tags", id="result.tags", tooltip="Change tags and note"),
        Binding("d", "delete", "Delete", id="result.delete", tooltip="Delete the run with all that belongs to it"),
    ]

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.course = CourseView(self, self._draw)
        self.run_id = run_id
        self.lines: Sequence[ResultRow] = ()
        self._results: Cells | None = None

    def body(self) -> ComposeResult:
        yield OneLine(id="result-title")
        yield DoubtBanner(id="doubts")
        with VerticalScroll(id="result-page", can_focus=False):
            yield ResultTable(self._columns, fixed=1, id="result-table")
            yield Chart(self.diskprof.charset, id="chart")
            yield KernelPane(id="kernel")
            yield Prose(id="result-text")

    @property
    def sheet(self) -> ResultTable:
        return self.query_one("#result-table", ResultTable)

    @property
    def run(self) -> Run | None:
        """The run, once it is read."""
        return self.snapshot.run if self.snapshot else None

    @property
    def snapshot(self) -> Snapshot | None:
        """What is known of the run; None until it is read."""
        return self.course.snapshot

    def on_mount(self) -> None:
        self.sheet.add_class("keyed")
        self.sheet.focus()

    def on_resize(self, event: events.Resize) -> None:
        # Of a sweep table and cells are in sight together.
        self.set_class(event.size.height < _LOW, "-low")
        self._title()
        self.course.anew()
        self.call_after_refresh(self._draw)

    def store_changed(self) -> None:
        """A run that is over changes only by the person's own hand: it is read once, but for what was put off meanwhile."""
        if self.snapshot is None:
            self._read()
        else:
            self.course.read_more()

    def _read(self) -> None:
        from diskprof.reports.blocks import Form
        from diskprof.reports.content.run_report import result_rows, result_table
        from diskprof.tui.shell.block_lines import Cells

        try:
            self.course.follow(self.run_id)
            run = self.run
            assert run is not None
            self.lines = result_rows(run)
            self._results = Cells(result_table(self.lines, Form.SCREEN))
            self._choose()
        except DiskprofError as error:
            self.diskprof.tell(error)
            self.call_later(self.action_dismiss_result)
            return
        self.sheet.ask(len(self.lines), self._row)
        self.query_one("#result-text", Prose).tell(run)
        self._title()
        self.course.read_more()
        self._draw()
        self.refresh_bindings()

    def _choose(self) -> None:
        """Look at the test under the cursor."""
        if self.snapshot and self.lines:
            self.course.choose(self.lines[max(0, self.sheet.cursor)].test.index)

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        return self._results.columns(width) if self._results else ()

    def _row(self, index: int) -> Row:
        assert self._results
        return self._results.row(index, self.sheet.columns)

    def _title(self) -> None:
        run = self.run
        if run is None:
            self.query_one("#result-title", OneLine).put_line([(" Reading the run ...", "quiet")])
            return
        left: list[Piece] = [
            (f" {status_text(run.status)}", ink_of(STATUSES[run.status])),
            *([("  ", ""), verdict] if (verdict := verdict_piece(run)) else []),
            (f"  {run.plan.preset_title or run.plan.preset}", "strong"),
            (f" on {run.plan.target.path}", ""),
        ]
        found = tally(run.findings)
        doubtful = any(finding.weight is Weight.DOUBT for finding in run.findings)
        took = f", {format_duration((run.ended_at - run.started_at).total_seconds())}" if run.ended_at else ""
        right: list[Piece] = []
        for piece in (
            (f"  {found}" if found else "", "warn" if doubtful else "quiet"),
            (f"  {run.id}", "quiet"),
            (f"  {full_time(run.started_at)[:16]}{took}", "quiet"),
        ):
            if width_of(left) + width_of(right) + len(piece[0]) < self.size.width:
                right.append(piece)
        self.query_one("#result-title", OneLine).put_line(spread(left, [*right, (" ", "")], self.size.width))
        self.query_one(DoubtBanner).tell(run, self.size.width)

    @on(Sheet.Moved, "#result-table")
    def _moved(self) -> None:
        self.query_one("#result-page", VerticalScroll).scroll_home(animate=False)
        before = self.snapshot.test if self.snapshot else None
        try:
            self._choose()
        except DiskprofError as error:
            self.diskprof.tell(error)
            return
        if self.snapshot and self.snapshot.test != before:
            self.course.another_test()

    def _draw(self) -> None:
        if not self.app.is_running:
            return
        if (seen := self.snapshot) and seen.run.tests:
            self.set_class(self.course.shows_cells, "-cells")
            self.course.draw_chart()
            self.course.draw_kernel(seen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.course.can(str(parameters[0])) if action == "course" else True

    def action_course(self, action: str, steps: int = 0) -> None:
        self.course.act(action, steps)

    def turn(self, pages: int) -> None:
        """Scroll by pages."""
        page = self.query_one("#result-page", VerticalScroll)
        page.scroll_relative(y=pages * max(1, page.size.height - 2), animate=False)

    def action_turn(self, pages: int) -> None:
        self.turn(pages)

    def copy_text(self) -> Callable[[], str] | None:
        """The report as Markdown; None where the run cannot be read."""
        return (lambda: load_course(self.kept_path, self.run_id).report(Format.MARKDOWN)) if self.run else None

    def action_export(self) -> None:
        if self.run:
            title = f"Report on {self.run_id}"
            ids = (self.run_id,)
            run_actions.export(self, ids, lambda wanted: report_on(self.kept_path, ids, wanted), title)

    def _summary(self) -> RunSummary | None:
        return next((summary for summary in self.store.summaries() if summary.id == self.run_id), None)

    def action_compare(self) -> None:
        if summary := self._summary():
            run_actions.compare_with_partner(self, self.store.summaries(), summary)

    def action_tags(self) -> None:
        if summary := self._summary():
            run_actions.edit_tags(self, summary, lambda: self._read())

    def action_delete(self) -> None:
        if summary := self._summary():
            run_actions.delete(self, (summary,), lambda: self.dismiss())

    def action_back(self) -> None:
        """What was put over the result goes first."""
        if self.course.can("leave"):
            self.course.act("leave")
        else:
            self.dismiss()

    def action_dismiss_result(self) -> None:
        self.dismiss()
