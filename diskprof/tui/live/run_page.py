"""The view of one run: in progress, just ended, or opened from the list. What it shows is read from the store alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from diskprof.model.errors import DiskprofError, RunNotFound
from diskprof.model.metric import Quantity
from diskprof.model.run import Run, RunSummary, Status
from diskprof.reports.formats import Format
from diskprof.runner.session import earlier_results, samples_of_drains
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.containers import Across, Down
from diskprof.tui.kit.painted import Line, Lines, OneLine
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.live.course_view import COURSE_BINDINGS, CourseView
from diskprof.tui.live.finding_banner import FindingBanner
from diskprof.tui.live.live_lines import message_lines, progress_line, run_line, test_line
from diskprof.tui.live.live_panes import DeviceTile, KernelPane, LatencyTile, Page, TestSheet, Tile, Words
from diskprof.tui.live.process_lines import process_lines
from diskprof.tui.live.rounds_line import rounds_line
from diskprof.tui.live.run_reader import Snapshot
from diskprof.tui.live.series_line import SeriesReader, series_line
from diskprof.tui.shell.base import ModeScreen

if TYPE_CHECKING:
    from textual import events

    from diskprof.model.earlier import EarlierResult
    from diskprof.model.run_series import RunSeries
    from diskprof.model.sample import Sample
    from diskprof.reports.content.run_report import ResultRow
    from diskprof.tui.shell.block_lines import Cells

_TINY, _TALL = 19, 32
"""With fewer lines than the first the chart has those of the tests during a run; from the second on there is room for more."""
_WIDE = 110
"""From so many columns on there is a tile for the device."""
_BESIDE_FROM, _TWO_FROM = 150, 45
"""Columns from which more charts are beside the large one, and lines from which there are two of them."""
_LEAST_CHART, _CHART, _SHARE = 6, 10, 45
"""Rows of a chart below which it is better to scroll; its rows by the style sheet, and its share of the page in percent."""
_MESSAGES = 3

HELP_OF_RUNS = """
The tests and their results are in the list. The chart shows the test under the cursor: IOPS and, on the same seconds, the
percentiles of each interval. {live.metric} switches it: bandwidth, percentiles with the maximum, the heat map (how many of
the I/Os of each moment took how long) and, once a test has its result, latency by percentile. Latency axes are logarithmic.
With {live.earlier} and {live.later} a cursor reads off a past moment. {live.open} and {live.zoom} show the chart alone.
From 110 columns on a tile shows how busy the device and the CPUs are, from 150 on the heat map is beside the chart.

p50 is the latency that half of the I/Os stayed within, p99 the one that 99 of 100 stayed within. Latency is fio's lat:
submission and completion of an I/O. MB/s are 10^6 bytes per second. ioping gives no distribution: mean and maximum instead.

{live.kernel} shows what the kernel counted for the device and the machine, in iostat's terms (r_await and w_await in ms,
kB of 1024 bytes): the last interval and the median of the test.

A sweep is shown as its grid, block sizes down and queue depths across. {live.metric} switches the figure, {live.panel} shows
other values of a third axis, {live.open} or {live.sweep} the course of the chosen test. Arrows at the edges mean more cells.

A search for a limit is shown as its trials, one below the other: each with a sign at its load, kept or not kept, and a line over
the loads between the two that the search had closed in on by then. {live.open} or {live.sweep} show the course of a trial. If a
load curve follows, it takes the place of the trials from its first load on; {live.panel} shows the other one.

A preset with rounds repeats all of its tests until one of them is steady. The line of the round has the course of that test's
figure, one value a round, the range and slope of the last rounds and, in brackets, their limits. Results are those of the last
complete rounds together, and change with each round; in the first, those of the tests that are done.

A run that has ended begins with its scorecard: the headline figures, each with a bar against the best earlier run of the same
test, with the same parameters, on the same disk. Below the chart are findings, environment and commands: {list.page-down}.
"""


class RunPage(ModeScreen):
    """A subclass says which run. `course` reads it and draws its chart."""

    AUTO_FOCUS = "#tests"
    CSS_PATH = "../live/run_page.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (_TALL, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "stop", "Stop", id="live.stop", tooltip="Stop the run; what it measured is kept"),
        *COURSE_BINDINGS,
        Binding("f", "follow", "Follow", id="live.follow", tooltip="Follow the current test"),
        Binding(
            "R",
            "again",
            "Run again",
            id="result.again",
            show=False,
            key_display="R",
            tooltip="Run again with the same preset, settings and target",
        ),
        Binding("r", "export", "Report", id="result.export", tooltip="Write the run as Markdown, HTML or CSV"),
        Binding(
            "c",
            "compare",
            "Compare",
            id="result.compare",
            tooltip="Compare with the last run of this preset on the disk, or on another",
        ),
        Binding(
            "M", "mimic", "Mimic", id="result.mimic", show=False, tooltip="Make a preset of the load that was watched"
        ),
        Binding("t", "tags", "Tags", id="result.tags", show=False, tooltip="Change tags and note"),
        Binding(
            "d",
            "delete",
            "Delete",
            id="result.delete",
            show=False,
            tooltip="Delete the run with all that belongs to it",
        ),
        Binding("space", "turn(1)", "More", id="result.more", show=False, tooltip="The next page"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.course = CourseView(self, self._draw, self._side_charts)
        self.lines: Sequence[ResultRow] = ()
        self._cells: Cells | None = None
        self._listed: tuple[object, ...] = ()
        self._told: tuple[object, ...] = ()
        self._earlier: tuple[EarlierResult, ...] = ()
        self._drained: tuple[Sample, ...] = ()
        self._reader = SeriesReader(lambda series_id: self.store.series(series_id))
        self.series: RunSeries | None = None
        """The series that the run is of."""

    def body(self) -> ComposeResult:
        charset = self.diskprof.charset
        with Down(id="live"):
            yield OneLine(id="which")
            yield OneLine(id="series")
            yield OneLine(id="what")
            yield OneLine(id="rounds")
            yield FindingBanner(id="trust")
            yield OneLine(id="progress")
            with Page(self._fit_charts, id="page"):
                yield Words(id="score")
                with Across(id="tiles"):
                    for metric in (Quantity.IOPS, Quantity.BANDWIDTH):
                        yield Tile(metric, charset, id=f"tile-{metric.value}", classes="tile")
                    yield LatencyTile(id="tile-latency", classes="tile")
                    yield DeviceTile(id="tile-device", classes="tile")
                yield TestSheet(self._columns, self.turn, id="tests")
                with Across(id="charts"):
                    yield ChartPane(charset, id="chart")
                    yield KernelPane(id="kernel")
                    with Down(id="beside"):
                        yield ChartPane(charset, id="upper")
                        yield ChartPane(charset, id="lower")
                yield Words(id="best")
                yield Words(id="below")
            yield Words(id="next")
        yield Lines(id="empty")

    # what is known

    @property
    def snapshot(self) -> Snapshot | None:
        """What is known of the run; None until it is read."""
        return self.course.snapshot

    @property
    def run(self) -> Run | None:
        """The run, once it is read."""
        return self.snapshot.run if self.snapshot else None

    @property
    def sheet(self) -> TestSheet:
        return self.query_one("#tests", TestSheet)

    def follow(self, run_id: str | None) -> None:
        """Show this run from now on: the current test, of a run that has ended the first. Raises StoreError."""
        self.course.follow(run_id)
        if self.snapshot and not self.snapshot.going:
            self.course.choose(0)
        if self.is_mounted:
            self._list_tests()
            if self.lines:
                self.sheet.cursor = self._row_of(self.snapshot.test) if self.snapshot else 0
                # The table takes the keys, which brings it into sight.
                self.call_after_refresh(self.query_one("#page", Page).scroll_home, animate=False)

    def _read_earlier(self, run: Run) -> None:
        """What the scorecard compares with, and what bursts are told from. Raises StoreError."""
        self._earlier = earlier_results(self.store, run)
        self._drained = samples_of_drains(self.store, run)

    # what is shown

    def resized(self, event: events.Resize) -> None:
        """Charts beside the large one, and the table, as far as there is room."""
        self.set_class(event.size.height < _TINY, "-tiny")
        self.set_class(event.size.width >= _WIDE, "-wide")
        self.set_class(event.size.width >= _BESIDE_FROM, "-beside")
        self.set_class(event.size.height >= _TWO_FROM, "-two")
        self._told = ()
        self.course.read_more()
        self.course.anew()
        self.call_after_refresh(self._draw)

    def _side_charts(self) -> tuple[ChartPane, ...]:
        if not self.has_class("-beside") or self.has_class("-zoom"):
            return ()
        names = ("#upper", "#lower") if self.has_class("-two") else ("#upper",)
        return tuple(self.query_one(name, ChartPane) for name in names)

    @property
    def _width(self) -> int:
        return self.query_one("#which").size.width or self.size.width

    def _draw(self) -> None:
        seen = self.snapshot
        if not self.app.is_running or seen is None:
            # What was put off until now is of a screen that is being taken down, and has lost some of its parts.
            return
        run = seen.run
        self.set_class(run.status.over, "-over")
        self._head(seen)
        self._arrange()
        if seen.going:
            self._size_tiles(seen)
            self.course.draw_tiles(seen)
        self._list_tests()
        if seen.follows and seen.going:
            self.sheet.cursor = self._row_of(seen.test)
        self._tell_result(run)
        self._fit_charts()
        if run.tests:
            self.course.draw_chart()
        self.course.draw_kernel(seen)

    def head_line(self, run: Run, width: int) -> Line:
        return run_line(run, width)

    def _head(self, seen: Snapshot, *, silent_s: float = 0.0) -> None:
        run, width, charset = seen.run, self._width, self.diskprof.charset
        self.query_one("#which", OneLine).put_line(self.head_line(run, width))
        self._tell_series(run, width)
        rounds = self.query_one("#rounds", OneLine)
        rounds.display = run.plan.rounds is not None
        if run.plan.rounds:
            rounds.put_line(rounds_line(run, width, ascii_only=charset is Charset.ASCII))
        short = self.has_class("-short")
        what = test_line(seen, width, silent_s=silent_s, bar=charset if short else None)
        line = self.query_one("#what", OneLine)
        line.display = bool(what)
        line.put_line(what)
        if seen.going and not short:
            self.query_one("#progress", OneLine).put_line(progress_line(run, width, charset))
        self.query_one(FindingBanner).tell(run, width)

    def _tell_series(self, run: Run, width: int) -> None:
        line = self.query_one("#series", OneLine)
        try:
            series = self._reader.of(run)
        except DiskprofError:
            # It was deleted, with this run, which the next reading tells.
            series = None
        self.series = series
        line.display = series is not None
        if series:
            line.put_line(series_line(run, series, width, ascii_only=self.diskprof.charset is Charset.ASCII))

    def _arrange(self) -> None:
        """The cells of a sweep are above its tests, the chart of a test is below them."""
        cells, charts = self.course.shows_cells, self.query_one("#charts")
        if cells == self.has_class("-cells") and self._told:
            return
        self.set_class(cells, "-cells")
        page = self.query_one("#page")
        if cells:
            page.move_child(self.sheet, after=self.query_one("#best"))
        else:
            page.move_child(self.sheet, before=charts)

    def _fit_charts(self) -> None:
        """Of a run that has ended: as high as the grid of a sweep; a chart that its time axis is in sight, if it can be."""
        if self.snapshot is None:
            return
        charts, height = self.query_one("#charts"), None
        over = self.has_class("-over")
        # A map needs all of its rows from the beginning.
        drawn = self.run is not None and self.run.plan.read_write_map is not None
        if (over or drawn) and self.course.shows_cells:
            height = self.course.grid_height(2 if self.has_class("-tall") else 1)
        elif over and not (self.has_class("-kernel") or self.has_class("-zoom")):
            page = self.query_one("#page").size.height
            gaps = 2 if self.has_class("-tall") else 0
            left = page - self.query_one("#score", Words).lines_high - min(1 + len(self.lines), page // 2) - gaps
            height = left if _LEAST_CHART <= left < max(_CHART, _SHARE * page // 100) else None
        # For None Textual lays the screen out even where it was None before: at each reading of the run.
        if height is not None or charts.styles.inline.has_rule("height"):
            charts.styles.height = charts.styles.min_height = height

    def _size_tiles(self, seen: Snapshot) -> None:
        two = len(seen.track.directions) > 1
        self.set_class(two, "-both")

    def _list_tests(self) -> None:
        """The rows of the table, made again only when a test began, ended or entered another phase."""
        from diskprof.reports.blocks import Form
        from diskprof.reports.content.run_report import result_rows, result_table
        from diskprof.tui.shell.block_lines import Cells

        run = self.run
        if run is None:
            return
        phase = run.progress.phase if run.progress and not run.status.over else None
        listed = (run.id, phase, run.rounds_done, *((test.status, test.result is not None) for test in run.tests))
        if listed == self._listed:
            return
        self._listed = listed
        self.lines = result_rows(run)
        # The head of the screen names the only test of a run, and nothing else is known of it until it has ended.
        self.set_class(len(self.lines) == 1, "-alone")
        self._cells = Cells(result_table(self.lines, Form.SCREEN))
        self.sheet.ask(len(self.lines), self._row)

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        return self._cells.columns(width) if self._cells else ()

    def _row(self, index: int) -> Row:
        assert self._cells
        row = self._cells.row(index, self.sheet.columns)
        run, test = self.run, self.lines[index].test
        if run and run.progress and test.status is Status.RUNNING and row.span is not None:
            return Row(row.key, [*row.line[:-1], (f"▶ {run.progress.phase.value}", "title")], span=row.span)
        return row

    def _row_of(self, test: int) -> int:
        return next((at for at, line in enumerate(self.lines) if line.test.index == test), 0)

    def _tell_result(self, run: Run) -> None:
        """What is known once a run has ended, and what changes only when it is read again; of one in progress, its messages."""
        told = (
            (run, self.size, self.has_class("-short"), self.whole)
            if run.status.over
            else (run.id, run.messages, run.processes, self.size)
        )
        if told == self._told:
            return
        first = not self._told or self._told[0] != told[0]
        self._told = told
        following, best, score, below = (
            self.query_one(f"#{name}", Words) for name in ("next", "best", "score", "below")
        )
        if not run.status.over:
            most = 1 if self.has_class("-short") else _MESSAGES
            lines = process_lines if run.plan.watched else message_lines
            following.tell(lambda width: lines(run, width)[:most])
            for empty in (score, best, below):
                empty.tell(lambda _width: ())
            return
        if first:
            self._read_earlier(run)
        self._tell_ended(run, score, best, below)
        following.tell(lambda width: self.next_steps(run, width))

    def _tell_ended(self, run: Run, score: Words, best: Words, below: Words) -> None:
        from diskprof.reports.content.scorecard import about, scorecard
        from diskprof.tui.live.result_lines import best_lines, burst_lines, report_lines
        from diskprof.tui.live.scorecard_lines import scorecard_lines

        cards, against, roomy = scorecard(run, self._earlier), about(run, self._earlier), not self.has_class("-short")
        drained, charset = self._drained, self.diskprof.charset
        score.tell(
            lambda width: [
                *burst_lines(run, drained, width),
                *scorecard_lines(cards, against, width, charset, roomy=roomy),
            ]
        )
        best.tell(lambda width: best_lines(run, width))
        below.tell(lambda width: report_lines(run, width))

    def next_steps(self, run: Run, width: int) -> list[Line]:
        """What to do with a run that has ended, each with its key."""
        from diskprof.tui.live.result_lines import next_line, next_line_of_series

        if self.whole:
            return [next_line_of_series(self, len(self.whole.targets), width)]
        return [next_line(self, run, width, self._partner_id(run))]

    @property
    def whole(self) -> RunSeries | None:
        """The series that is reported, compared and run again in the place of its run."""
        return None

    # what can be done

    @on(Sheet.Moved, "#tests")
    def _test_chosen(self) -> None:
        seen, at = self.snapshot, self.sheet.cursor
        if seen is None or not 0 <= at < len(self.lines):
            return
        test = self.lines[at].test.index
        if test != seen.test:
            if seen.run.status.over:
                self._chart_in_sight()
            try:
                self.course.choose(test)
            except DiskprofError as error:
                self.diskprof.tell(error)
                return
            self.course.another_test()

    def _chart_in_sight(self) -> None:
        """Scroll so that the table and, as far as there is room, the chart of the chosen test are in sight."""
        page, charts = self.query_one("#page", Page), self.query_one("#charts")
        first = min(self.sheet.virtual_region.y, charts.virtual_region.y)
        last = max(self.sheet.virtual_region.bottom, charts.virtual_region.bottom)
        page.scroll_to(y=min(first, max(0, last - page.size.height)), animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        seen = self.snapshot
        match action:
            case "stop":
                return seen is not None and seen.going
            case "follow":
                return seen is not None and seen.going and not seen.follows
            case "again" if seen and (seen.run.imported_from or seen.run.plan.watched):
                return False
            case "again" | "export" | "compare" | "delete" | "turn":
                return seen is not None and not seen.going
            case "mimic":
                return seen is not None and not seen.going and seen.run.plan.watched
            case "tags":
                return seen is not None
            case "course":
                return self.course.can(str(parameters[0]))
            case _:
                return True

    def action_course(self, action: str, steps: int = 0) -> None:
        self.course.act(action, steps)
        page, charts = self.query_one("#page", Page), self.query_one("#charts")
        # Who reads the findings sees nothing of what the key changed.
        if not page.scroll_y <= charts.virtual_region.y < page.scroll_y + page.size.height:
            self._chart_in_sight()

    def action_follow(self) -> None:
        if self.snapshot:
            self.course.choose(None)
            self.course.another_test()

    def turn(self, pages: int) -> bool:
        """Scroll by pages; False where everything is in sight."""
        page = self.query_one("#page", Page)
        if not page.max_scroll_y:
            return False
        page.scroll_relative(y=pages * max(1, page.size.height - 2), animate=False)
        return True

    def action_turn(self, pages: int) -> None:
        self.turn(pages)

    def copy_text(self) -> Callable[[], str] | None:
        """The report as Markdown, of a run in progress so far; None where there is no run."""
        from diskprof.tui.shell.loading import load_course

        run = self.run
        return (lambda: load_course(self.kept_path, run.id).report(Format.MARKDOWN)) if run else None

    def action_again(self) -> None:
        from diskprof.tui.dialogs import run_actions

        if self.whole:
            run_actions.run_series_again(self, self.whole.id)
        elif run := self.run:
            run_actions.run_again(self, run.id)

    def action_mimic(self) -> None:
        from diskprof.tui.dialogs import run_actions

        if run := self.run:
            run_actions.mimic(self, run.id)

    def action_export(self) -> None:
        from diskprof.tui.dialogs import run_actions
        from diskprof.tui.shell.loading import report_on

        if self.whole:
            run_actions.export_series(self, self.whole.id)
        elif run := self.run:
            ids = (run.id,)
            run_actions.export(self, ids, lambda wanted: report_on(self.kept_path, ids, wanted), f"Report on {run.id}")

    def _summary(self) -> RunSummary | None:
        try:
            return self.store.summary(self.run.id) if self.run else None
        except RunNotFound:  # deleted meanwhile
            return None

    def _partner_id(self, run: Run) -> str:
        """The run to compare with: the newest earlier one that the scorecard knows, else the newest of the preset; or empty."""
        from diskprof.tui.dialogs.run_actions import partner

        if self._earlier:
            return self._earlier[0].run_id
        other = partner(self.diskprof.watcher.state.last, run.id, run.plan.preset)
        return other.id if other and other.status is Status.COMPLETE else ""

    def action_compare(self) -> None:
        from diskprof.tui.dialogs import run_actions

        if self.whole:
            run_actions.compare_series(self, self.store.summaries(), self.whole)
        elif (summary := self._summary()) and self.run:
            run_actions.compare_with_partner(self, self.store.summaries(), summary, self._partner_id(self.run))

    def action_tags(self) -> None:
        from diskprof.tui.dialogs import run_actions

        if summary := self._summary():
            run_actions.edit_tags(self, summary, self._read_again)

    def _read_again(self) -> None:
        """Tags or note were changed."""
        try:
            self.course.read()
        except DiskprofError as error:
            self.diskprof.tell(error)
        self._draw()

    def action_delete(self) -> None:
        from diskprof.tui.dialogs import run_actions

        if summary := self._summary():
            run_actions.delete(self, (summary,), self.deleted)

    def deleted(self) -> None:
        """The run is gone."""

    def action_stop(self) -> None:
        from diskprof.model.text import clean
        from diskprof.tui.dialogs.confirm import Answer, Ask
        from diskprof.tui.shell.run_signs import place

        seen = self.snapshot
        if seen is None or not seen.going:
            return
        run_id, plan = seen.run.id, seen.run.plan
        self.app.push_screen(
            Ask(
                "Stop this series?" if seen.run.series else "Stop this run?",
                f"{clean(plan.preset_title)} on {clean(place(seen.run))}, run {run_id}.\n"
                "The current test stops within two seconds. Results so far are kept.",
                (Answer("s", "Stop it", "stop", danger=True), Answer("esc", "Continue", "stay")),
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
