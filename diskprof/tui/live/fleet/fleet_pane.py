"""The table of a fleet run: a row a host or disk, the sum below them, and what they said; of one that has ended what it came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from diskprof.analysis.fleet.result import noun_of
from diskprof.model.text import clean
from diskprof.reports.blocks import Blocks
from diskprof.reports.words import STATUSES
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.containers import Down
from diskprof.tui.kit.painted import OneLine
from diskprof.tui.kit.table import Row, Sheet, SheetColumn
from diskprof.tui.live.fleet.fleet_lines import (
    columns_for,
    fleet_line,
    fleet_progress_line,
    member_row,
    said_lines,
    sum_row,
)
from diskprof.tui.live.fleet.fleet_reader import FleetNow, MemberNow
from diskprof.tui.live.live_panes import Page, Words
from diskprof.tui.shell.run_signs import ink_of

_SAID = 4
"""Messages of so many members are shown."""


class FleetSheet(Sheet, inherit_bindings=False):
    """The members; pages move what is around it where that scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="The row above"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="The row below"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first row"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last row"),
        Binding("enter", "open", "Open", id="fleet.open", tooltip="Show this host or disk by itself"),
    ]

    def __init__(self, layout: Callable[[int], Sequence[SheetColumn]], turn: Callable[[int], bool], *, id: str) -> None:
        super().__init__(layout, fixed=1, id=id)
        self._turn = turn

    def action_page(self, direction: int) -> None:
        if not self._turn(direction):
            super().action_page(direction)

    def action_open(self) -> None:
        if self.key:
            self.post_message(self.Chosen(self, self.key))


class FleetPane(Down):
    """`tell` shows where the members stand, `tell_result` what is known once all have ended."""

    def __init__(self, charset: Charset, *, id: str) -> None:
        super().__init__(id=id)
        self._charset = charset
        self._now: FleetNow | None = None
        self._told: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield OneLine(id="fleet-which")
        yield OneLine(id="fleet-what")
        with Page(lambda: None, id="fleet-page"):
            yield FleetSheet(self._columns, self.turn, id="members")
            yield Words(id="fleet-said")
            yield Words(id="fleet-result")

    @property
    def sheet(self) -> FleetSheet:
        return self.query_one("#members", FleetSheet)

    @property
    def members(self) -> Sequence[MemberNow]:
        return self._now.members if self._now else ()

    @property
    def chosen(self) -> str | None:
        """The run of the member under the cursor, if it has one."""
        at = self.sheet.cursor
        return self.members[at].run_id if 0 <= at < len(self.members) else None

    def tell(self, now: FleetNow) -> None:
        """Where the members stand."""
        fresh = self._now is None or self._now.fleet.id != now.fleet.id
        self._now, width = now, self.size.width
        self.query_one("#fleet-which", OneLine).put_line(fleet_line(now, noun_of(now.fleet), width))
        what = self.query_one("#fleet-what", OneLine)
        reason = clean(now.fleet.reason)
        what.display = now.going or bool(reason)
        what.put_line(
            fleet_progress_line(now, width, self._charset)
            if now.going
            else [("   ", ""), (reason, ink_of(STATUSES[now.fleet.status]))]
        )
        self.sheet.ask(len(now.members) + now.going, self._row, cursor=0 if fresh else None)
        told = tuple(member.said for member in now.members), now.going, width
        if told != self._told:
            self._told = told
            self.query_one("#fleet-said", Words).tell(
                lambda width: said_lines(now, noun_of(now.fleet), width, _SAID) if now.going else []
            )
        if now.going:
            self.query_one("#fleet-result", Words).tell(lambda _width: ())

    def on_resize(self) -> None:
        """Hidden it has no width."""
        if self._now:
            self.tell(self._now)

    def tell_result(self, blocks: Blocks) -> None:
        from diskprof.tui.shell.block_lines import screen_lines

        ascii_only = self._charset is Charset.ASCII
        self.query_one("#fleet-result", Words).tell(lambda width: screen_lines(blocks, width, ascii_only=ascii_only))

    def turn(self, pages: int) -> bool:
        """Scroll by pages; False where everything is in sight."""
        page = self.query_one("#fleet-page", Page)
        if not page.max_scroll_y:
            return False
        page.scroll_relative(y=pages * max(1, page.size.height - 2), animate=False)
        return True

    def _columns(self, width: int) -> Sequence[SheetColumn]:
        return columns_for(width, self._now, noun_of(self._now.fleet)) if self._now else ()

    def _row(self, at: int) -> Row:
        assert self._now
        columns = self.sheet.columns
        if at == len(self.members):
            return sum_row(self._now, columns)
        return member_row(self.members[at], columns, ascii_only=self._charset is Charset.ASCII)
