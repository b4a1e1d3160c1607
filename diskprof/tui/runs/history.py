"""The runs that are like one of the list: how their figures went, and at which run one changed by more than chance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from diskprof.model.errors import DiskprofError
from diskprof.tui.kit.charts.chart import CURVE_INKS, ChartPane
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.heading import PaneHeading
from diskprof.tui.kit.painted import Lines, OneLine
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.block_lines import Cells, screen_lines
from diskprof.tui.shell.loading import load_history

if TYPE_CHECKING:
    from diskprof.analysis.history import FigureHistory, RunHistory

_NONE = "This figure has no change beyond chance."
_MOST_LINES = 8
_INKS = (CURVE_INKS[0], CURVE_INKS[1])


class HistoryScreen(ModeScreen):
    MODE = "runs"
    CSS_PATH = "history.tcss"
    TITLE_OF_HELP = "History"
    COPIES = "the history"
    HELP = (
        "Like runs: complete runs of the same tests and options on the same disk, file system and kernel, oldest first.\n\n"
        "A row is a figure of a test; the chart shows it run by run, and the levels that it lay around. A change is a run from "
        "which on the level is another, by more than chance (1 in 100) and more than 2%. Ten like runs are needed.\n\n"
        "`diskprof history PRESET TARGET --across kernel` also takes runs with another kernel. "
        "`diskprof gate PRESET TARGET --against history` makes a run and fails if it is worse.\n\n"
        "{history.back} goes back to the list of runs."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="history.back", tooltip="Back to the list of runs"),
        Binding("backspace", "back", "Back", id="history.list", show=False, tooltip="Back to the list of runs"),
    ]

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self.history: RunHistory | None = None
        self._cells: Cells | None = None
        self.top.enter(f"{run_id} > history")

    def body(self) -> ComposeResult:
        yield PaneHeading("history-figures", id="history-title")
        yield OneLine(id="history-sentence")
        yield Sheet(self._columns, fixed=1, id="history-figures")
        yield ChartPane(self.diskprof.charset, id="history-chart")
        yield Lines(id="history-changes")

    @property
    def sheet(self) -> Sheet:
        return self.query_one("#history-figures", Sheet)

    @property
    def figure(self) -> FigureHistory | None:
        """The figure under the cursor."""
        at = self.sheet.cursor
        return self.history.figures[at] if self.history and 0 <= at < len(self.history.figures) else None

    def on_resize(self, event: events.Resize) -> None:
        if self.history:
            self.call_after_refresh(self._draw)

    def on_mount(self) -> None:
        self.sheet.focus()
        self.query_one("#history-title", PaneHeading).tell([(f"History of runs like {self.run_id}", "title")])
        self.run_worker(self._read(), exclusive=True)

    async def _read(self) -> None:
        try:
            self.history = await asyncio.to_thread(load_history, self.kept_path, self.run_id)
        except DiskprofError as error:
            self.diskprof.tell(error)
            self.dismiss()
            return
        from diskprof.reports.content.history.history_report import figure_table, sentence, title

        history = self.history
        self._cells = Cells(figure_table(history))
        self.query_one("#history-title", PaneHeading).tell([(title(history), "title")])
        self.query_one("#history-sentence", OneLine).put_line([(f" {sentence(history)}", "")])
        changed = (at for at, figure in enumerate(history.figures) if figure.changes)
        self.sheet.styles.height = len(history.figures) + 1
        self.sheet.ask(len(history.figures), self._row, cursor=next(changed, 0))
        self._draw()
        self.refresh_bindings()

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        return self._cells.columns(width) if self._cells else ()

    def _row(self, at: int) -> Row:
        assert self._cells is not None
        return self._cells.row(at, self.sheet.columns)

    @on(Sheet.Moved, "#history-figures")
    def _moved(self) -> None:
        self._draw()

    def _draw(self) -> None:
        chart, figure = self.query_one("#history-chart", ChartPane), self.figure
        if figure is None:
            vain = self.history and self.history.none_kept
            chart.say("No limit: nothing kept it." if vain else "There are no complete runs like this one.")
            return
        from diskprof.reports.content.history.history_report import change_table, history_plot

        if len(figure.runs) > 1:
            chart.show(history_plot(figure, _INKS))
        else:
            chart.say("One run: a chart takes two.")
        changes = self.query_one("#history-changes", Lines)
        table = change_table([figure])
        ascii_only = self.diskprof.charset is Charset.ASCII
        width = max(20, changes.size.width - 2)
        lines = screen_lines([table], width, ascii_only=ascii_only) if table else [[(_NONE, "quiet")]]
        changes.styles.height = min(len(lines), _MOST_LINES)
        changes.put([[(" ", ""), *line] for line in lines])

    def copy_text(self) -> Callable[[], str] | None:
        history = self.history
        if history is None:
            return None

        def text() -> str:
            from diskprof.reports.content.history.history_report import history_report
            from diskprof.reports.render.markdown import markdown

            return markdown(history_report(history))

        return text

    def action_back(self) -> None:
        self.dismiss()
