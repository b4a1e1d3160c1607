"""Two or more runs side by side: an overview of all tests, and the rows of one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.css.scalar import Scalar
from textual.widgets import Static

from diskprof.analysis.windows import measured
from diskprof.model.errors import DiskprofError
from diskprof.model.histogram import Histogram, merge
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.reports.charts.plot import Named, Plot, by_percentile, over_time
from diskprof.reports.charts.timeline import Timeline
from diskprof.reports.content.interval_figures import BANDWIDTH, IOPS, P99, timeline_of
from diskprof.runner.comparing import ArmRuns, MarkedRun, each_alone, grouped, ids_of
from diskprof.tui.dialogs import run_actions
from diskprof.tui.kit.charts.chart import CURVE_INKS, ChartPane
from diskprof.tui.kit.heading import PaneHeading
from diskprof.tui.kit.painted import Piece, signs_for
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import key_of, with_keys
from diskprof.tui.shell.loading import Loaded, load_beside

if TYPE_CHECKING:
    from diskprof.analysis.comparison import Comparison
    from diskprof.reports.content.overview import Overview
    from diskprof.tui.compare.compare_rows import RowLine

_NONE = "No runs selected."
_EMPTY = (
    "\n\nPress {app.runs} for the list of runs, mark two or more with {runs.mark}, and press {runs.compare}.\n"
    "With nothing marked, {runs.compare} compares the selected run with the latest other run of the same preset."
)
_READ_AGAIN_S = 2.0
_BESIDE_FROM = 150
"""From so many columns on the charts stand beside the table, two of them."""
_ROWS_FROM = 36
"""From so many lines on, beside the charts, the rows of the selected test are below the overview."""
_SHARE_OF_TIME = 20
_AROUND_TABLE = 2
"""The head of the table, and an empty row below it."""
_LEAST_CHART, _MOST_CHART = 7, 24


class CompareChart(StrEnum):
    """What the chart shows, in the order in which the key goes through them; LOADS where searches have load curves."""

    LOADS = "latency by load"
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
        "Runs side by side. Each has a letter; A is the base. The overview has a line for each test: IOPS, or MB/s for "
        "large blocks, the difference to the base, and a bar, all bars on one scale. {compare.open} opens the rows of a test, "
        "{compare.back} closes them.\n\n"
        "Conditions that differ are folded into one line; {compare.conditions} shows them: a difference in results may come from "
        "them.\n\n"
        "Each figure is better, worse, the same or cannot tell, by the 95% interval of its difference: `-7.9% (-9.4 to -6.1)`. "
        "The bar shows that interval, with its middle and where no difference is. Cannot tell: chance may be the cause; "
        "the line below says about how many more runs would tell. No word: too few I/Os to judge, or neither way is "
        "better. Grey with a ?: one of the two is in doubt.\n\n"
        "Several runs a side: tag them, mark all of them and compare: {compare.arms} takes runs with the same tag together, as "
        "repeats of one measurement. Their figure is the median. Of one run a side only the noise within it is known.\n\n"
        "The chart shows the selected test; of several runs all their I/Os, or over time the run in the middle; of searches with "
        "load curves p99 by load; {compare.chart} changes it. Scroll to runs that do not fit with "
        "{list.left} and {list.right}."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "open",
            "Open",
            id="compare.open",
            tooltip="All rows of the test; on the conditions: show or fold them",
        ),
        Binding("b", "base", "Base", id="compare.base", tooltip="The next column becomes the base"),
        Binding(
            "B", "arms", "By tag", id="compare.arms", tooltip="Runs with the same tag together, or each run by itself"
        ),
        Binding(
            "a", "conditions", "Conditions", id="compare.conditions", tooltip="Show or fold the conditions that differ"
        ),
        Binding("m", "chart", "Chart", id="compare.chart", tooltip="Another chart: percentiles, over time, none"),
        Binding("r", "export", "Report", id="compare.export", tooltip="Write the comparison as Markdown, HTML or CSV"),
        Binding("n", "test(1)", "Next test", id="compare.next"),
        Binding("p", "test(-1)", "Previous test", id="compare.previous", show=False),
        Binding(
            "escape", "back", "Back", id="compare.back", tooltip="Back to the overview, from there to the list of runs"
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._arms: tuple[ArmRuns, ...] = ()
        self._loaded = Loaded()
        self._read_at = 0.0
        self._reading = False
        self.comparison: Comparison | None = None
        self.lines: tuple[RowLine, ...] = ()
        self.overview: Overview | None = None
        self.opened: int | None = None
        """The number of the test whose rows are shown; None: the overview."""
        self.unfolded = False
        self.chart = CompareChart.PERCENTILES
        self._by_load: Plot | None = None
        self._arms_seen = False
        self._wide = self._rows_wide = 0

    def body(self) -> ComposeResult:
        yield PaneHeading("compare-table", id="compare-title")
        yield Static(_NONE + with_keys(self, _EMPTY), id="compare-empty", markup=False)
        with Container(id="compare-body"):
            yield Sheet(self._columns, fixed=1, id="compare-table")
            with Vertical(id="compare-charts"):
                yield ChartPane(self.diskprof.charset, id="compare-curves")
                yield ChartPane(self.diskprof.charset, id="compare-more")
            yield Sheet(self._columns_of_test, fixed=1, id="compare-rows", cursor=False)
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
        self.set_class(event.size.width >= _BESIDE_FROM and event.size.height >= _ROWS_FROM, "-roomy")
        self._title()
        self._draw()
        self.call_after_refresh(self._share_room)

    def show_arms(self, arms: Sequence[ArmRuns]) -> None:
        """Compare these arms; the first is the base. May be called before the screen is mounted."""
        self._arms = tuple(arms)
        self._loaded, self.comparison, self.opened, self.unfolded = Loaded(), None, None, False
        self._arms_seen = False
        if self.is_mounted:
            self.sheet.cursor = -1
            self._show()
            self._read()

    def store_changed(self) -> None:
        """Read once; again only while one of the runs is running."""
        if not self._arms or self._reading:
            return
        going = any(not run.status.over for run in self._loaded.runs)
        pause = max(_READ_AGAIN_S, _SHARE_OF_TIME * self._loaded.cost_s)
        if self.comparison is None or (going and time.monotonic() - self._read_at > pause):
            self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        from diskprof.analysis.arms import require_comparable
        from diskprof.analysis.comparison import compare

        self._reading = True
        try:
            loaded = await load_beside(self.kept_path, self._arms)
            require_comparable(loaded.sides)
        except DiskprofError as error:
            self._arms = ()
            self.diskprof.tell(error)
            told = signs_for(self.app, clean(error.kept, keep_newlines=True) + with_keys(self, _EMPTY))
            self.query_one("#compare-empty", Static).update(told)
        else:
            self._loaded = loaded
            self._read_at = time.monotonic()
            self._take(await asyncio.to_thread(compare, self._loaded.sides, self._loaded.samples))
        finally:
            self._reading = False
        self._show()

    @work(exclusive=True)
    async def _measure(self) -> None:
        """Compare again what is read already."""
        from diskprof.analysis.comparison import compare

        self._take(await asyncio.to_thread(compare, self._loaded.sides, self._loaded.samples))
        self._show()

    def _take(self, comparison: Comparison) -> None:
        from diskprof.reports.content.limit_compare import compared_curve_plot
        from diskprof.tui.compare.overview_rows import found_overview

        self.comparison, self.overview = comparison, found_overview(comparison)
        self._by_load = compared_curve_plot(comparison, [named for _, named in self._named()])
        if self._by_load and not self._arms_seen:
            self.chart = CompareChart.LOADS
        elif not self._by_load and self.chart is CompareChart.LOADS:
            self.chart = CompareChart.PERCENTILES
        self._arms_seen = True
        if self.opened is not None and self.opened >= len(comparison.tests):
            self.opened = None

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        if self.comparison is None or self.overview is None:
            return ()
        if width != self._wide:
            self._wide = width
            self.call_later(self._show)
        if self.opened is not None:
            from diskprof.tui.compare.compare_rows import columns_for

            return columns_for(self.comparison, width)
        from diskprof.tui.compare.overview_rows import overview_columns, overview_form

        form = overview_form(width, self.comparison, self.overview, unfolded=self.unfolded)
        return overview_columns(self.comparison, self.overview, form)

    def _row(self, index: int) -> Row:
        return self.lines[index].row

    def _columns_of_test(self, width: int) -> Sequence[SheetColumn]:
        from diskprof.tui.compare.compare_rows import columns_for

        if width != self._rows_wide:
            self._rows_wide = width
            self.call_later(self._draw_rows)
        return columns_for(self.comparison, width) if self.comparison else ()

    def _draw_rows(self) -> None:
        """All figures of the test under the cursor, below the overview."""
        from diskprof.tui.compare.compare_rows import form_for, lines_of

        sheet, test = self.query_one("#compare-rows", Sheet), self._test
        sheet.display = self.has_class("-roomy") and self.opened is None and test is not None
        if self.comparison and test is not None and sheet.display:
            width = self._rows_wide or self.size.width
            lines = lines_of(self.comparison, test, width, form_for(width, len(self.comparison.columns)))
            sheet.ask(len(lines), lambda at: lines[at].row)

    def _show(self, *, cursor: int | None = None) -> None:
        """The cursor stays on its row, or moves to the row of number `cursor`."""
        from diskprof.tui.compare.overview_rows import first_test

        self.set_class(not self._arms, "empty")
        self.lines = self._lines()
        at = self.sheet.cursor if cursor is None else cursor
        if not 0 <= at < len(self.lines) or self.lines[at].row.heading:
            at = first_test(self.lines)
        self.sheet.ask(len(self.lines), self._row, cursor=at)
        self._share_room()
        self._title()
        self._about()
        self.refresh_bindings()

    def _share_room(self) -> None:
        """Rows that a short table leaves empty are the chart's."""
        charts = self.query_one("#compare-charts")
        left = self.query_one("#compare-body").size.height - len(self.lines) - _AROUND_TABLE
        able = self.comparison is not None and not self.has_class("-beside")
        tall = min(left, _MOST_CHART) if able and left > _LEAST_CHART else None
        if charts.styles.inline.height != (tall and Scalar.from_number(tall)):
            charts.styles.height = tall

    def _lines(self) -> tuple[RowLine, ...]:
        from diskprof.tui.compare.compare_rows import form_for, lines_of
        from diskprof.tui.compare.overview_rows import overview_form, overview_lines

        if self.comparison is None or self.overview is None:
            return ()
        width = self._wide or self.size.width
        if self.opened is not None:
            return lines_of(self.comparison, self.opened, width, form_for(width, len(self.comparison.columns)))
        form = overview_form(width, self.comparison, self.overview, unfolded=self.unfolded)
        hint = f"  {key_of(self, 'compare.conditions')}: show"
        shown = (self.comparison, self.overview, datetime.now(UTC), form, width)
        return overview_lines(*shown, unfolded=self.unfolded, hint=hint)

    @property
    def _test(self) -> int | None:
        """The number of the test that is opened, else of the one under the cursor."""
        at = self.sheet.cursor
        return self.lines[at].test if self.opened is None and 0 <= at < len(self.lines) else self.opened

    def _title(self) -> None:
        from diskprof.reports.figures import count

        runs = len(ids_of(self._arms))
        of = f" as {len(self._arms)} arms" if runs > len(self._arms) else ""
        left: list[Piece] = [(f"{count(runs, 'run')}{of} compared", "title")]
        if self.comparison is None:
            left = [("Reading the runs ...", "quiet")]
        else:
            left.append((f"  base: A {self.comparison.columns[0].label}", "strong"))
        right: list[Piece] = []
        if self.comparison and (test := self._test) is not None:
            right.append((f"test {test + 1} of {len(self.comparison.tests)}", "quiet"))
        if self.sheet.virtual_size.width > self.sheet.size.width > 0:
            right.append((f"{'  ' if right else ''}{key_of(self, 'list.right')} for more", "key"))
        self.query_one("#compare-title", PaneHeading).tell(left, right)
        opened = self.comparison.tests[self.opened] if self.comparison and self.opened is not None else None
        self.top.enter(clean(opened.title) if opened else "")

    @on(Sheet.Moved, "#compare-table")
    def _moved(self) -> None:
        self._title()
        self._about()

    def _about(self) -> None:
        from diskprof.tui.compare.compare_rows import told

        if self.comparison is None or not self.lines:
            self.query_one("#compare-curves", ChartPane).show(Plot(""))
            return
        line = self.lines[max(0, self.sheet.cursor)]
        shown = clean(told(line, self.sheet.columns, self.size.width - 2))
        self.query_one("#compare-told", Static).update(signs_for(self.app, shown))
        self.refresh_bindings()
        self._draw()

    def _draw(self) -> None:
        self._draw_rows()
        self.set_class(self.chart is CompareChart.NONE, "-plain")
        if self.comparison is None or self.chart is CompareChart.NONE:
            return
        if self._by_load and self.chart is CompareChart.LOADS:
            self.query_one("#compare-curves", ChartPane).show(self._by_load)
        if not self.comparison.tests:
            return
        line = self.lines[max(0, self.sheet.cursor)]
        test = self.comparison.tests[line.test or 0]
        direction = line.direction or next(iter(test.directions), Direction.READ)
        if self.chart is not CompareChart.LOADS:
            self.query_one("#compare-curves", ChartPane).show(self._plot(self.chart, test.name, direction))
        if self.has_class("-beside"):
            other = CompareChart.IOPS if self.chart is CompareChart.PERCENTILES else CompareChart.PERCENTILES
            self.query_one("#compare-more", ChartPane).show(self._plot(other, test.name, direction))

    def _plot(self, chart: CompareChart, name: str, direction: Direction) -> Plot:
        test = next((each for each in self.comparison.tests if each.name == name), None) if self.comparison else None
        called = clean(test.title if test else name)
        # The title of a test says which way it goes, unless it goes both.
        both = test is not None and len(test.directions) > 1
        title = f"{called} {direction}: {chart}" if both else f"{called}: {chart}"
        if chart is CompareChart.PERCENTILES:
            return by_percentile(title, self._histograms(name, direction))
        return over_time(title, _TIMED[chart].quantity, self._timelines(name, direction, chart))

    def _named(self) -> list[tuple[int, Named]]:
        """Number and look of each run."""
        from diskprof.tui.compare.compare_rows import letter

        columns = self.comparison.columns if self.comparison else ()
        return [
            (number, (letter(number), clean(column.label), CURVE_INKS[number % len(CURVE_INKS)]))
            for number, column in enumerate(columns)
        ]

    def _histograms(self, name: str, direction: Direction) -> list[tuple[Named, Histogram]]:
        """Of each arm that of all its runs together."""
        found = []
        for number, named in self._named():
            results = [record.result for _, record in self._loaded.sides[number].figured(name) if record.result]
            parts = [part.histogram for result in results if (part := result.direction(direction)) and part.histogram]
            if parts:
                found.append((named, merge(parts) if len(parts) > 1 else parts[0]))
        return found

    def _timelines(self, name: str, direction: Direction, chart: CompareChart) -> list[tuple[Named, Timeline]]:
        """Of each arm that of the run in the middle."""
        found = []
        for number, named in self._named():
            run = self._loaded.sides[number].typical(name)
            if (record := run.test(name)) and run.sampled(record, direction):
                samples = measured(self._loaded.courses[run.id], record.index, direction)
                found.append((named, timeline_of(samples, _TIMED[chart])))
        return found

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that can do nothing now are not shown."""
        match action:
            case "base":
                return self.comparison is not None and len(self._arms) > 1
            case "arms":
                return self.comparison is not None and (self._grouped or bool(self._grouping()))
            case "conditions":
                return self.comparison is not None and bool(self.comparison.conditions) and self.opened is None
            case "open":
                line = self._line
                return self.opened is None and line is not None and (line.folds or line.test is not None)
            case "chart" | "export":
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
        """The next arm becomes A, the others keep their order."""
        if self.comparison and len(self._arms) > 1:
            self._compare_again((*self._arms[1:], self._arms[0]))

    def action_arms(self) -> None:
        """Runs with the same tag as one arm, or each run by itself."""
        if self.comparison:
            arms = each_alone(ids_of(self._arms)) if self._grouped else self._grouping()
            self.opened = None
            self._compare_again(arms)

    def _compare_again(self, arms: Sequence[ArmRuns]) -> None:
        self._arms = tuple(arms)
        self._loaded = replace(self._loaded, arms=self._arms)
        self._measure()

    @property
    def _grouped(self) -> bool:
        return any(len(arm.ids) > 1 for arm in self._arms)

    def _grouping(self) -> tuple[ArmRuns, ...]:
        return grouped([MarkedRun(run.id, run.plan.target.path, run.tags, run.series) for run in self._loaded.runs])

    @property
    def _line(self) -> RowLine | None:
        """The row under the cursor."""
        return self.lines[self.sheet.cursor] if 0 <= self.sheet.cursor < len(self.lines) else None

    @on(Sheet.Chosen, "#compare-table")
    def action_open(self) -> None:
        """The rows of the test under the cursor, or the conditions."""
        line = self._line
        if line is None or self.opened is not None:
            return
        if line.folds:
            self.action_conditions()
        elif line.test is not None:
            self._open(line.test)

    def _open(self, test: int) -> None:
        self.opened = test
        self.sheet.scroll_to(y=0, animate=False, immediate=True)
        self._show(cursor=-1)

    def action_conditions(self) -> None:
        """Show or fold them; the cursor stays on its row, or moves to their line."""
        row = self._line.row.key if self._line else ""
        self.unfolded = not self.unfolded
        lines = self._lines()
        at = next((at for at, line in enumerate(lines) if line.row.key == row), None)
        if self.unfolded or at is None:
            at = next((at for at, line in enumerate(lines) if line.folds), -1)
        self._show(cursor=at)

    def action_chart(self) -> None:
        charts = [each for each in CompareChart if each is not CompareChart.LOADS or self._by_load]
        self.chart = charts[(charts.index(self.chart) + 1) % len(charts)]
        self._draw()

    def action_test(self, direction: int) -> None:
        """The rows of the next or the previous test; in the overview, to its row."""
        if self.opened is not None:
            if self.comparison and 0 <= self.opened + direction < len(self.comparison.tests):
                self._open(self.opened + direction)
            return
        tests = [at for at, line in enumerate(self.lines) if line.test is not None]
        here = self.sheet.cursor
        beyond = [at for at in tests if (at > here if direction > 0 else at < here)]
        if beyond:
            self.sheet.cursor = beyond[0] if direction > 0 else beyond[-1]

    def action_export(self) -> None:
        if self.comparison:
            names = [arm.label or arm.ids[0] for arm in self._arms]
            run_actions.export(self, names, self._loaded.report, f"Comparison of {len(names)} runs or tags")

    def action_back(self) -> None:
        """From a test to its row of the overview, from there to the runs."""
        if self.opened is None:
            self.app.switch_mode("runs")
            return
        test, self.opened = self.opened, None
        at = next((at for at, line in enumerate(self._lines()) if line.test == test), -1)
        self._show(cursor=at)
