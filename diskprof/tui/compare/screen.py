"""Two or more runs side by side, test by test, with what differs in their conditions said before the figures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Static

from diskprof.analysis.series import measured
from diskprof.model.errors import DiskprofError
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.reports.charts.plot import Named, Plot, by_percentile, over_time
from diskprof.reports.charts.series import Series
from diskprof.reports.content.interval_figures import BANDWIDTH, IOPS, P99, series_of
from diskprof.tui.dialogs import run_actions
from diskprof.tui.kit.charts.chart import CURVE_INKS, Chart
from diskprof.tui.kit.painted import OneLine, Piece, signs_for, spread
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import key_of, with_keys
from diskprof.tui.shell.loading import Loaded, load_beside

if TYPE_CHECKING:
    from diskprof.analysis.comparison import Comparison
    from diskprof.model.histogram import Histogram
    from diskprof.tui.compare.compare_rows import RowForm, RowLine

_EMPTY = (
    "Nothing is chosen to be compared.\n\nPress {app.runs} for the list of runs, mark two or more with {runs.mark}, and press "
    "{runs.compare}.\n"
    "Without marks, {runs.compare} there takes the run under the cursor and the newest other one of its preset."
)
_READ_AGAIN_S = 2.0
_BESIDE_FROM = 150
"""From so many columns on the charts stand beside the table, two of them."""
_SHARE_OF_TIME = 20


class CompareChart(StrEnum):
    """What the chart shows, in the order in which the key goes through them."""

    PERCENTILES = "latency by percentile"
    IOPS = "IOPS over time"
    BANDWIDTH = "bandwidth over time"
    P99 = "latency p99 over time"
    NONE = "no chart"


_TIMED = {CompareChart.IOPS: IOPS, CompareChart.BANDWIDTH: BANDWIDTH, CompareChart.P99: P99}


class CompareScreen(ModeScreen):
    MODE = "compare"
    CSS_PATH = "compare.tcss"
    TITLE_OF_HELP = "Compare"
    COPIES = "the comparison"
    HELP = (
        "Runs side by side. Each has a letter; A is the base that the others are measured against. Conditions that differ stand "
        "before the figures: a difference in results may come from them.\n\n"
        "Better, worse, same or noise is said of each figure. Noise means: they differ, but by no more than the two runs waver "
        "by themselves, so it may be chance. No word means that "
        "too few I/Os were seen to judge, that chance alone could do it, or that neither way is better.\n\n"
        "The chart shows the test under the cursor, the runs over each other; {compare.chart} turns it. More runs than fit are "
        "reached with {list.left} and {list.right}."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "base", "Base", id="compare.base", tooltip="Measure against the next run"),
        Binding(
            "x", "differences", "Differences", id="compare.differences", tooltip="Only what differs, or everything"
        ),
        Binding("m,v", "chart", "Chart", id="compare.chart", tooltip="Another chart: percentiles, over time, none"),
        Binding("r", "export", "Report", id="compare.export", tooltip="Write the comparison as Markdown, HTML or CSV"),
        Binding("n", "test(1)", "Next test", id="compare.next"),
        Binding("p", "test(-1)", "Previous test", id="compare.previous", show=False),
        Binding("escape", "runs", "Runs", id="compare.runs", tooltip="Back to the list of runs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._ids: tuple[str, ...] = ()
        self._loaded = Loaded()
        self._read_at = 0.0
        self._reading = False
        self.comparison: Comparison | None = None
        self.lines: tuple[RowLine, ...] = ()
        self.only_differences = False
        self.chart = CompareChart.PERCENTILES
        self._form: RowForm | None = None

    def body(self) -> ComposeResult:
        yield OneLine(id="compare-title")
        yield Static(with_keys(self, _EMPTY), id="compare-empty", markup=False)
        with Container(id="compare-body"):
            yield Sheet(self._columns, fixed=1, id="compare-table")
            with Vertical(id="compare-charts"):
                yield Chart(self.diskprof.charset, id="compare-curves")
                yield Chart(self.diskprof.charset, id="compare-more")
        yield Static("", id="compare-told", markup=False)

    @property
    def sheet(self) -> Sheet:
        return self.query_one("#compare-table", Sheet)

    def on_mount(self) -> None:
        self.sheet.focus()
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < 22, "-low")
        self.set_class(event.size.width >= _BESIDE_FROM, "-beside")
        self._title()
        self._draw()

    def show_runs(self, run_ids: Sequence[str]) -> None:
        """Compare these runs; the first is the base. May be called before the screen stands."""
        self._ids = tuple(dict.fromkeys(run_ids))
        self._loaded, self.comparison = Loaded(), None
        if self.is_mounted:
            self.sheet.cursor = -1
            self._show()
            self._read()

    def store_changed(self) -> None:
        """Read once; again only while one of the runs goes on."""
        if not self._ids or self._reading:
            return
        going = any(not run.status.over for run in self._loaded.runs)
        pause = max(_READ_AGAIN_S, _SHARE_OF_TIME * self._loaded.cost_s)
        if self.comparison is None or (going and time.monotonic() - self._read_at > pause):
            self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        from diskprof.analysis.comparison import compare

        self._reading = True
        try:
            self._loaded = await load_beside(self.kept_path, self._ids)
        except DiskprofError as error:
            self._ids = ()
            self.diskprof.tell(error)
        else:
            self._read_at = time.monotonic()
            self.comparison = await asyncio.to_thread(compare, self._loaded.runs, self._loaded.series)
        finally:
            self._reading = False
        self._show()

    @work(exclusive=True)
    async def _measure(self) -> None:
        """Compare anew what is read already."""
        from diskprof.analysis.comparison import compare

        self.comparison = await asyncio.to_thread(compare, self._loaded.runs, self._loaded.series)
        self._show()

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        from diskprof.tui.compare.compare_rows import columns_for, form_for

        if self.comparison is None:
            return ()
        form = form_for(width, len(self.comparison.columns))
        if form is not self._form:
            self._form = form
            self.call_later(self._show)
        return columns_for(self.comparison, width)

    def _row(self, index: int) -> Row:
        return self.lines[index].row

    def _show(self) -> None:
        from diskprof.tui.compare.compare_rows import WIDE, lines_of

        self.set_class(not self._ids, "empty")
        if self.comparison is None:
            self.lines = ()
        else:
            form, now = self._form or WIDE, datetime.now(UTC)
            self.lines = lines_of(self.comparison, now, only_differences=self.only_differences, form=form)
        self.sheet.ask(len(self.lines), self._row)
        self._title()
        self._about()
        self.refresh_bindings()

    def _title(self) -> None:
        from diskprof.reports.figures import count

        left: list[Piece] = [(f" {count(len(self._ids), 'run')} compared", "strong")]
        if self.comparison is None:
            left = [(" Reading the runs ...", "quiet")]
        else:
            left.append((f"  base: A {self.comparison.columns[0].label}", "title"))
        right = [("only differences " if self.only_differences else "", "warn")]
        if self.sheet.virtual_size.width > self.sheet.size.width > 0:
            right.append((f"{key_of(self, 'list.right')} for more runs ", "key"))
        self.query_one("#compare-title", OneLine).put_line(spread(left, right, self.size.width))

    @on(Sheet.Moved, "#compare-table")
    def _about(self) -> None:
        from diskprof.tui.compare.compare_rows import told

        if self.comparison is None or not self.lines:
            self.query_one("#compare-curves", Chart).show(Plot(""))
            return
        line = self.lines[max(0, self.sheet.cursor)]
        self.query_one("#compare-told", Static).update(signs_for(self.app, clean(told(line, self.sheet.columns))))
        self._draw()

    def _draw(self) -> None:
        self.set_class(self.chart is CompareChart.NONE, "-plain")
        if self.comparison is None or self.chart is CompareChart.NONE or not self.comparison.tests:
            return
        line = self.lines[max(0, self.sheet.cursor)]
        test = self.comparison.tests[line.test or 0]
        direction = line.direction or next(iter(test.directions), Direction.READ)
        self.query_one("#compare-curves", Chart).show(self._plot(self.chart, test.name, direction))
        if self.has_class("-beside"):
            other = CompareChart.IOPS if self.chart is CompareChart.PERCENTILES else CompareChart.PERCENTILES
            self.query_one("#compare-more", Chart).show(self._plot(other, test.name, direction))

    def _plot(self, chart: CompareChart, name: str, direction: Direction) -> Plot:
        title = f"{clean(name)} {direction}: {chart}"
        if chart is CompareChart.PERCENTILES:
            return by_percentile(title, self._histograms(name, direction))
        return over_time(title, _TIMED[chart].quantity, self._series(name, direction, chart))

    def _named(self) -> list[tuple[int, Named]]:
        """Number and look of each run."""
        from diskprof.tui.compare.compare_rows import letter

        columns = self.comparison.columns if self.comparison else ()
        return [
            (number, (letter(number), clean(column.label), CURVE_INKS[number % len(CURVE_INKS)]))
            for number, column in enumerate(columns)
        ]

    def _histograms(self, name: str, direction: Direction) -> list[tuple[Named, Histogram]]:
        found = []
        for number, named in self._named():
            record = self._loaded.runs[number].test(name)
            result = record.result.direction(direction) if record and record.result else None
            if result and result.histogram:
                found.append((named, result.histogram))
        return found

    def _series(self, name: str, direction: Direction, chart: CompareChart) -> list[tuple[Named, Series]]:
        found = []
        for number, named in self._named():
            run = self._loaded.runs[number]
            if (record := run.test(name)) and run.sampled(record, direction):
                samples = measured(self._loaded.courses[run.id], record.index, direction)
                found.append((named, series_of(samples, _TIMED[chart])))
        return found

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that can do nothing now are not shown."""
        match action:
            case "base":
                return self.comparison is not None and len(self._ids) > 1
            case "differences" | "chart" | "export":
                return self.comparison is not None
            case "test":
                return self.comparison is not None and bool(self.comparison.tests)
            case _:
                return True

    def copy_text(self) -> Callable[[], str] | None:
        """The comparison as Markdown; None where there is none."""
        from diskprof.reports.render.markdown import comparison_markdown

        return partial(comparison_markdown, self.comparison) if self.comparison else None

    def action_base(self) -> None:
        """The next run becomes A, the others keep their order."""
        if self.comparison and len(self._ids) > 1:
            runs = (*self._loaded.runs[1:], self._loaded.runs[0])
            self._ids = tuple(run.id for run in runs)
            self._loaded = replace(self._loaded, runs=runs)
            self._measure()

    def action_differences(self) -> None:
        """Keep the cursor on its row if that is still there."""
        row = self.lines[self.sheet.cursor].row if self.lines else None
        self.only_differences = not self.only_differences
        self._show()
        there = next((index for index, line in enumerate(self.lines) if line.row == row), None)
        if there is not None:
            self.sheet.cursor = there

    def action_chart(self) -> None:
        charts = list(CompareChart)
        self.chart = charts[(charts.index(self.chart) + 1) % len(charts)]
        self._draw()

    def action_test(self, direction: int) -> None:
        """To the heading of the next or the previous test."""
        headings = [index for index, line in enumerate(self.lines) if line.test is not None and line.row.span == 0]
        here = self.sheet.cursor
        if direction > 0:
            target = next((index for index in headings if index > here), None)
        else:
            target = next((index for index in reversed(headings) if index < here), None)
        if target is not None:
            self.sheet.lead(target)

    def action_export(self) -> None:
        if self.comparison:
            run_actions.export(self, self._ids, self._loaded.report, f"Comparison of {len(self._ids)} runs")

    def action_runs(self) -> None:
        self.app.switch_mode("runs")
