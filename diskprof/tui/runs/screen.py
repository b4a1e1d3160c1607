"""Every run that was kept, newest first: look, mark, compare, export, tag, delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from diskprof.model.errors import DiskprofError
from diskprof.model.fleet import FleetRun
from diskprof.model.run import RunSummary, Status
from diskprof.model.run_series import RunSeries
from diskprof.model.text import clean
from diskprof.reports.content.series_rows import whole_of
from diskprof.runner.comparing import MarkedRun, each_alone, grouped
from diskprof.tui.dialogs import run_actions
from diskprof.tui.dialogs.fleet_again import run_fleet_again
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.containers import Across, Down
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.heading import PaneHeading
from diskprof.tui.kit.painted import Piece, signs_for
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.kit.textual_fixes import set_timer
from diskprof.tui.runs.preview import Preview
from diskprof.tui.runs.run_list import FIELDS, Order, RunList, columns_for, unknown_field
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import with_keys
from diskprof.tui.shell.loading import report_on

_EMPTY = (
    "No runs yet.\n\nPress {app.run}, choose a device and a preset, and press {run.start} to start.\n"
    "Every run is kept here, however it ends."
)
_READ_AGAIN_S, _WHOLE_AGAIN_S = 1.0, 15.0
_NEWEST = 100
_DRAWN_S = 0.05
"""By then the first picture is on its way."""
_SHARE_OF_TIME = 20
_BESIDE = 160
"""From this width on the run under the cursor is shown beside the list."""
_LEAST_ABOUT = 5
"""Lines below which a low terminal shows the list alone."""
_AROUND = 2
"""The heading above the rows of the list, and a line below them."""


class RunsScreen(ModeScreen):
    MODE = "runs"
    CSS_PATH = "runs.tcss"
    TITLE_OF_HELP = "Runs"
    COPIES = "the id of the run"
    HELP = (
        "All saved runs. {runs.open} opens one: its results, a chart, what was found, the exact commands.\n\n"
        "To compare, mark two or more with {runs.mark} and press {runs.compare}; the oldest is the base. Marked runs with the "
        "same tag are compared as repeats of one measurement. Without marks, "
        "{runs.compare} compares the run under the cursor with the newest other one of the same preset.\n\n"
        "Deleted runs stay in the trash for a week; Undo restores those deleted last.\n\n"
        "The lower part, on wide terminals the right one, shows the results of the run under the cursor.\n\n"
        "{runs.history} shows how the results of the runs like the one under the cursor changed.\n\n"
        "{runs.again} runs the run under the cursor again: same preset, settings, target and expectations; a fleet run on the "
        "same hosts.\n\n"
        "A series or a fleet run is one row; {runs.open} shows or hides its runs. What is done to the row is done to all of them. "
        "{runs.attach} shows a fleet run on Live: its hosts or disks, and what stands out.\n\n"
        "The filter looks for words in id, preset, target, device, host, status and tags. A field limits a word: "
        "status:failed disk:sda tag:prod preset:quick host:db-01. Several words must all match. A click on a column heading "
        "sorts by it, a second click reverses the order."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="runs.open"),
        Binding(
            "a",
            "attach",
            "Attach",
            id="runs.attach",
            tooltip="Follow the run in progress on Live; of a fleet run its table",
        ),
        Binding("space", "mark", "Mark", id="runs.mark"),
        Binding("c", "compare", "Compare", id="runs.compare"),
        Binding("escape", "all", "Show all", id="runs.all", tooltip="Clear the filter"),
        Binding(
            "r",
            "export",
            "Report",
            id="runs.export",
            tooltip="Write the run, or the marked ones, as Markdown, HTML or CSV",
        ),
        Binding("slash", "filter", "Filter", id="runs.filter", key_display="/"),
        Binding("S", "order", "Sort", id="runs.order", key_display="S", tooltip="Sort by the next column"),
        Binding("d", "delete", "Delete", id="runs.delete"),
        Binding("u", "undo", "Undo", id="runs.undo", tooltip="Restore the runs that were deleted last"),
        Binding(
            "R", "again", "Run again", id="runs.again", tooltip="Run again with the same preset, settings and target"
        ),
        Binding("t", "tags", "Tags", id="runs.tags", tooltip="Change tags and note"),
        Binding("H", "history", "History", id="runs.history", tooltip="How the results of like runs changed"),
        Binding("U", "unmark", "Unmark", id="runs.unmark", key_display="U", tooltip="Take all marks away"),
        Binding("I", "reverse", "Reverse", id="runs.reverse", show=False, key_display="I", tooltip="Reverse the order"),
    ]

    # Not the filter, which comes first: keys that follow at once would be its text.
    AUTO_FOCUS = "#runs-list"

    def __init__(self) -> None:
        super().__init__()
        self.list = RunList()
        self.preview = Preview(
            lambda: self.kept_path,
            ascii_only=lambda: self.diskprof.charset is Charset.ASCII,
            id="runs-preview",
        )
        self._at = ""
        self._now = datetime.now(UTC)
        self._read_at = self._whole_at = 0.0
        self._cost_s = 0.0
        self._waiting = self._partial = self._trash = False
        self._high: int | None = None

    def body(self) -> ComposeResult:
        yield PaneHeading("runs-list", id="runs-title")
        yield Static(with_keys(self, _EMPTY), id="runs-empty", markup=False)
        yield Field(
            placeholder=with_keys(self, "type to filter; Enter keeps the filter, {runs.all} shows all"),
            id="runs-filter",
            compact=True,
        )
        with Across(id="runs-body"):
            yield Sheet(self._columns, fixed=2, id="runs-list")
            with Down(id="runs-about"):
                yield PaneHeading(id="runs-about-title")
                yield self.preview

    @property
    def sheet(self) -> Sheet:
        return self.query_one("#runs-list", Sheet)

    @property
    def current(self) -> RunSummary | None:
        """The run under the cursor."""
        index = self.sheet.cursor
        return self.list.shown[index] if 0 <= index < len(self.list.shown) else None

    def on_mount(self) -> None:
        self.sheet.focus()
        self.set_interval(30, self._tick)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < 20, "-low")
        self.set_class(event.size.width >= _BESIDE, "-beside")
        self.call_after_refresh(self._share_out)
        self._title()

    def store_changed(self) -> None:
        """Read the list again, with at most 5% of the time during a run."""
        now = time.monotonic()
        wait = self._read_at + max(_READ_AGAIN_S, _SHARE_OF_TIME * self._cost_s) - now
        if not self._whole_at:
            self._begin()
        elif now - self._whole_at > _WHOLE_AGAIN_S:
            self.read()
        elif wait <= 0:
            self._read_newest()
        elif not self._waiting:
            self._waiting = True
            set_timer(self, wait, self._read_late)

    def _read_late(self) -> None:
        self._waiting = False
        if self.is_current:
            self._read_newest()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """The next reading is of the whole list; Textual calls the base's handler after this one."""
        self._whole_at = 0.0

    def _begin(self) -> None:
        """The newest runs first, which is what can be seen; ten thousand older ones come once these are drawn."""
        self._whole_at = time.monotonic()
        if self._partial:
            return
        try:
            newest, wholes = self.store.summaries(limit=_NEWEST), self._wholes()
            self._trash = bool(self.store.last_discarded())
        except DiskprofError as error:
            self.diskprof.tell(error)
            return
        self._partial = len(newest) == _NEWEST
        if not self._partial or not self.list.load_newest(newest, *wholes):
            self.list.load(newest, *wholes)
        self._show()
        if self._partial:
            set_timer(self, _DRAWN_S, self._read_others)

    def _read_others(self) -> None:
        if self._partial:
            self.read()

    def read(self) -> None:
        """Read the whole list from the store now."""
        self._partial = False
        self._load(None)
        self._whole_at = self._read_at

    def _read_newest(self) -> None:
        """Read the newest runs, which a run in progress can change; all others are read again now and then."""
        self._load(_NEWEST)

    def _load(self, limit: int | None) -> None:
        began = time.monotonic()
        try:
            runs, wholes = self.store.summaries(limit=limit), self._wholes()
            self._trash = bool(self.store.last_discarded())
            if limit is None or not self.list.load_newest(runs, *wholes):
                self.list.load(self.store.summaries() if limit else runs, *wholes)
        except DiskprofError as error:
            self.diskprof.tell(error)
            return
        self._show()
        self._read_at = time.monotonic()
        self._cost_s = self._read_at - began

    def _tick(self) -> None:
        """Ages grow by themselves."""
        if self.is_current and self.list.shown:
            self._now = datetime.now(UTC)
            self.sheet.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that can do nothing now are not shown."""
        match action:
            case "filter":
                return bool(self.list.runs) and not (
                    self.is_mounted and self.query_one("#runs-filter", Input).has_focus
                )
            case "all":
                return bool(self.list.view.words) or self.query_one("#runs-filter", Input).has_focus
            case "unmark":
                return bool(self.list.marked)
            case "undo":
                return self._trash
            case "attach":
                return bool((run := self.current) and (run.status is Status.RUNNING or run.id in self.list.fleets))
            case "history":
                return bool((run := self.current) and run.status is Status.COMPLETE and run.id not in self.list.fleets)
            case "again" if (run := self.current) and run.imported_from:
                return False
            case "open" | "mark" | "again" | "export" | "tags" | "delete" | "compare" | "order" | "reverse":
                return bool(self.list.shown)
            case _:
                return True

    def copy_text(self) -> Callable[[], str] | None:
        current = self.current
        return current.id.__str__ if current else None

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        return columns_for(width, self.list.view, self.list.runs)

    def _row(self, index: int) -> Row:
        return self.list.row(self.list.shown[index], self.sheet.columns, self._now)

    def _show(self) -> None:
        """Show the list as it is now, the cursor on the run that it was on."""
        self._now = datetime.now(UTC)
        empty = not self.list.shown
        self.set_class(empty, "empty")
        if empty:
            words = clean(self.list.view.words)
            again = with_keys(self, f"{{runs.all}} shows all {len(self.list.runs)} runs again.")
            nothing = f"Nothing matches “{words}”.\n\n{again}"
            if field := unknown_field(words):
                known = " ".join(f"{name}:" for name in FIELDS)
                nothing = f"Unknown field {field}: in the filter. Fields: {known}\n\n{again}"
            said = nothing if self.list.runs else with_keys(self, _EMPTY)
            self.query_one("#runs-empty", Static).update(signs_for(self.app, said))
        cursor = self.list.index_of(self._at) if self._at else None
        self.sheet.ask(len(self.list.shown), self._row, cursor=cursor)
        self._at = current.id if (current := self.current) else self._at
        self._share_out()
        self._title()
        self._about()

    def _share_out(self) -> None:
        """Below a list of few rows the run has the lines that these do not need. A filter, as it is typed, changes nothing."""
        about, room = self.query_one("#runs-about"), self.query_one("#runs-body").size.height
        if self.list.view.words or not room:
            return
        rows, low = len(self.list.shown) + _AROUND, self.has_class("-low")
        self.set_class(low and room - rows < _LEAST_ABOUT, "-crowded")
        high = None if self.has_class("-beside") or (rows >= room / 2 and not low) else room - rows
        if high != self._high:
            about.styles.height = self._high = high

    def _title(self) -> None:
        shown, total, marked = self.list.found, len(self.list.runs), len(self.list.marked)
        count = f"{total} run{'' if total == 1 else 's'}" if shown == total else f"{shown} of {total} runs"
        if self._partial:
            count = f"the newest {shown} runs, reading the others"
        left: list[Piece] = [(count, "title")]
        if self.list.view.words:
            left.append((f"  filter: {self.list.view.words}", "accent"))
        if marked:
            left.append((f"  ● {marked} marked", "mark"))
        view = self.list.view
        first = "oldest first" if view.backwards else "newest first"
        order = first if view.order is Order.STARTED else f"by {view.order}{', backwards' if view.backwards else ''}"
        place = f"  {self.sheet.cursor + 1} of {shown}" if self.list.shown and not self._partial else ""
        self.query_one("#runs-title", PaneHeading).tell(left, [(f"{order}{place}", "quiet")])
        self.refresh_bindings()

    def _about(self) -> None:
        if run := self.current:
            what = "Series" if run.id in self.list.series else "Fleet run" if run.id in self.list.fleets else "Run"
            self.query_one("#runs-about-title", PaneHeading).tell([(f"{what} {run.id}", "strong")])
        self.preview.tell(self.current)

    @on(Sheet.Moved, "#runs-list")
    def _moved(self) -> None:
        if run := self.current:
            self._at = run.id
        self._about()
        self._title()

    @on(Sheet.Chosen, "#runs-list")
    def _chosen(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        run = self.current
        if run is None:
            return
        if self.list.is_whole(run.id):
            self.list.turn(run.id)
            self._show()
            return
        if run.status is Status.RUNNING:
            self.diskprof.show_run(run.id)
            return
        from diskprof.tui.runs.result import ResultScreen

        self.app.push_screen(ResultScreen(run.id))

    def action_attach(self) -> None:
        if (run := self.current) and run.id in self.list.fleets:
            self.diskprof.show_run(run.id)
        elif run and run.status is Status.RUNNING:
            self.diskprof.show_run(self.list.runs_of(run)[0].id)

    def action_history(self) -> None:
        if run := self.current:
            from diskprof.tui.runs.history import HistoryScreen

            complete = (one for one in self.list.runs_of(run) if one.status is Status.COMPLETE)
            self.app.push_screen(HistoryScreen(next(complete, run).id))

    def action_mark(self) -> None:
        if run := self.current:
            self.list.toggle(run.id)
            self._title()
            self.sheet.refresh()
            self.sheet.action_move(1)

    def action_unmark(self) -> None:
        self.list.marked.clear()
        self._title()
        self.sheet.refresh()

    def action_compare(self) -> None:
        run, marked = self.current, list(reversed(self._marked()))
        if not marked and (whole := self._whole):
            if whole.id in self.list.series:
                run_actions.compare_series(self, self.list.runs, self.list.series[whole.id])
            else:
                run_actions.compare_fleet(self, self.list.fleets[whole.id], self.list.runs_of(whole))
            return
        if len(marked) >= 2:
            arms = grouped([MarkedRun(one.id, one.target, one.tags, one.series) for one in marked])
            self.diskprof.compare_arms(arms or each_alone([one.id for one in marked]))
        elif run is None:
            run_actions.tell(self, "There is nothing to compare: this needs two runs.", warning=True)
        elif marked and marked[0].id != run.id:
            both = run_actions.oldest_first(self.list.runs, marked[0], run)
            self.diskprof.compare_runs([one.id for one in both])
        else:
            run_actions.compare_with_partner(self, self.list.runs, run)

    def _chosen_runs(self) -> tuple[RunSummary, ...]:
        """The marked runs, or the one under the cursor; of a series or a fleet run all."""
        return self._marked() or (self.list.runs_of(run) if (run := self.current) else ())

    def _marked(self) -> tuple[RunSummary, ...]:
        """The marked runs, of a series or a fleet run all, newest first, also those that the filter hides."""
        marked = self.list.marked
        return tuple(run for run in self.list.runs if run.id in marked or whole_of(run) in marked)

    @property
    def _whole(self) -> RunSummary | None:
        """The series or fleet run under the cursor, if nothing is marked, or the only thing that is."""
        marked = self.list.marked
        if len(marked) == 1:
            return next((row for row in self.list.shown if row.id in marked and self.list.is_whole(row.id)), None)
        row = None if marked else self.current
        return row if row and self.list.is_whole(row.id) else None

    def _wholes(self) -> tuple[list[RunSeries], list[FleetRun]]:
        return self.store.series_list(), self.store.fleet_runs()

    def action_again(self) -> None:
        if (run := self.current) and run.id in self.list.series:
            run_actions.run_series_again(self, run.id)
        elif run and run.id in self.list.fleets:
            run_fleet_again(self, run.id)
        elif run:
            run_actions.run_again(self, run.id)

    def action_export(self) -> None:
        if whole := self._whole:
            series = whole.id in self.list.series
            (run_actions.export_series if series else run_actions.export_fleet)(self, whole.id)
            return
        marked, fleets = self.list.marked, self.list.fleets
        if len(marked) > 1 and all(each in fleets for each in marked):
            run_actions.export_fleets(self, sorted(marked, key=lambda each: fleets[each].started_at))
            return
        ids = [run.id for run in reversed(self._chosen_runs())]
        if ids:
            title = f"Report on {ids[0]}" if len(ids) == 1 else f"Report on {len(ids)} runs"
            run_actions.export(self, ids, lambda wanted: report_on(self.kept_path, ids, wanted), title)

    def action_delete(self) -> None:
        here = self.sheet.cursor
        if (whole := self._whole) and whole.status is Status.RUNNING:
            run_actions.refuse_to_delete(self, whole.id)
            return

        def deleted() -> None:
            self._at = ""
            self.read()
            self.sheet.cursor = min(here, len(self.sheet.rows) - 1)

        run_actions.delete(self, self._chosen_runs(), deleted)

    def action_undo(self) -> None:
        run_actions.undo_delete(self, self.read)

    def action_tags(self) -> None:
        if run := self.current:
            run_actions.edit_tags(self, run, self.read, [one.id for one in self.list.runs_of(run)])

    def action_order(self) -> None:
        orders = list(Order)
        order = orders[(orders.index(self.list.view.order) + 1) % len(orders)]
        self._look(order=order, backwards=False)

    @on(Sheet.HeadingChosen, "#runs-list")
    def _heading_chosen(self, event: Sheet.HeadingChosen) -> None:
        key = "status" if event.column.key == "sign" else event.column.key
        if key in list(Order):
            same = self.list.view.order == key
            self._look(order=Order(key), backwards=same and not self.list.view.backwards)

    def action_reverse(self) -> None:
        self._look(backwards=not self.list.view.backwards)

    def _look(self, *, order: Order | None = None, backwards: bool | None = None, words: str | None = None) -> None:
        view = self.list.view
        view = replace(
            view,
            order=view.order if order is None else order,
            backwards=view.backwards if backwards is None else backwards,
            words=view.words if words is None else words,
        )
        self.list.look(view)
        self._show()

    def action_filter(self) -> None:
        field = self.query_one("#runs-filter", Input)
        field.add_class("shown")
        # At once: the words may be there already, and as keys they delete.
        self.set_focus(field)

    def action_all(self) -> None:
        field = self.query_one("#runs-filter", Input)
        field.value = ""
        field.remove_class("shown")
        self._look(words="")
        self.sheet.focus()

    @on(Input.Changed, "#runs-filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._look(words=event.value)

    @on(Input.Submitted, "#runs-filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        if not event.value:
            self.query_one("#runs-filter", Input).remove_class("shown")
        self.sheet.focus()
