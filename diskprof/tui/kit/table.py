"""Tables to move in with the keys: `Table` draws lines that are made for its width, `Sheet` cells under columns.

A row has a key, so the cursor stays on its row when others come and go. The cursor's row has a mark in its first cell, which
shows where it is without colour too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, overload

from msgspec import Struct
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from diskprof.model.cells import fit
from diskprof.model.text import clean
from diskprof.tui.kit.painted import Line, Painted, Piece, width_of


class Row(Struct, frozen=True):
    """`line` leaves its first cell free; in a Sheet it is one piece for each column.

    The cursor skips `heading` rows. `span`: in a Sheet the cell of this number runs to the end of the line.
    """

    key: str
    line: Line
    heading: bool = False
    span: int | None = None


class SheetColumn(Struct, frozen=True):
    """`width` in terminal cells without the gap of one that follows. `middle`: long text loses its middle, not its end."""

    key: str
    title: str
    width: int
    right: bool = False
    middle: bool = False


_UNSEEN = 80
"""Cells for which rows are built that nobody sees."""
_GUTTER = 1
"""Where the cursor's mark is in a Sheet."""


class Table(Painted, ScrollView, can_focus=True):
    """`show` gets a function from a width in cells to rows; it is called again after a resize."""

    MOVES_UNSEEN: ClassVar[bool] = False
    """Whether its keys go on while it is hidden, since what it chooses is shown elsewhere."""
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--cursor", "table--cursor-blurred"}
    DEFAULT_CSS = """
    Table {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        & > .table--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:ansi > .table--cursor { text-style: reverse; }
        & > .table--cursor-blurred { background: $block-cursor-blurred-background; color: $foreground; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="Move up"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="Move down"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last"),
    ]

    @dataclass(eq=False, repr=False)
    class Moved(Message):
        """The cursor is on another row; None: there is none."""

        table: "Table"
        key: str | None

        @property
        def control(self) -> "Table":
            return self.table

    @dataclass(eq=False, repr=False)
    class PastEnd(Message):
        """A step up from the first row, or down from the last."""

        table: "Table"
        step: int

        @property
        def control(self) -> "Table":
            return self.table

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A double click on a row."""

        table: "Table"
        key: str

        @property
        def control(self) -> "Table":
            return self.table

    def __init__(self, *, id: str | None = None, classes: str | None = None, cursor: bool = True) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Callable[[int], Sequence[Row]] = lambda _width: ()
        self._rows: Sequence[Row] = ()
        self._at: int | None = None
        self._wanted: str | None = None
        self._shows_cursor = cursor
        self._width = 0
        self._header = 0

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    @property
    def text(self) -> str:
        """All rows as text, for tests."""
        return "\n".join("".join(text for text, _ in row.line) for row in self._rows)

    @property
    def key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._rows[self._at].key if self._at is not None else None

    @key.setter
    def key(self, key: str | None) -> None:
        self._wanted = key
        for at, row in enumerate(self._rows):
            if row.key == key and not row.heading:
                self._go(at)
                if self._at == at:
                    # It is there: from now on the cursor stays where it is moved to.
                    self._wanted = None
                return

    @property
    def place(self) -> str:
        """Which of the rows the cursor is on, headings not counted: `3 of 42`. Empty without a cursor."""
        if self._at is None:
            return ""
        able = [at for at, row in enumerate(self._rows) if not row.heading]
        return f"{able.index(self._at) + 1} of {len(able)}"

    def show(self, build: Callable[[int], Sequence[Row]]) -> None:
        """Show the rows that `build` makes for the width of the table."""
        self._build = build
        self._rebuild()

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._width:
            self._rebuild()
        self._keep_in_sight()

    def _rebuild(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            # Hidden: once it is seen again there are other rows to build, also for the width that it had.
            self._width = 0
            if self.MOVES_UNSEEN:
                wanted = self._wanted or self.key
                self._rows = self._build(_UNSEEN)
                self._at = self._place(wanted, self._at or 0)
            return
        before, old_key, old_at, same_width = self._rows, self.key, self._at, width == self._width
        self._rows, self._width = self._build(width), width
        wanted = self._wanted or old_key
        self._at = self._place(wanted, self._at or 0)
        if self._at is not None and self._rows[self._at].key == self._wanted:
            self._wanted = None
        if len(before) != len(self._rows) or not same_width:
            self.virtual_size = Size(width, len(self._rows))
            self.refresh()
        else:
            self._refresh_changed(before, old_at)
        self._keep_in_sight()
        if self.key != old_key:
            self.post_message(self.Moved(self, self.key))

    def _place(self, key: str | None, near: int) -> int | None:
        """The row of a key, else the one nearest to where the cursor was."""
        able = [at for at, row in enumerate(self._rows) if not row.heading]
        if not able or not self._shows_cursor:
            return None
        return next((at for at in able if self._rows[at].key == key), min(able, key=lambda at: abs(at - near)))

    def _refresh_changed(self, before: Sequence[Row], old_at: int | None) -> None:
        for at, (old, new) in enumerate(zip(before, self._rows, strict=True)):
            moved = (at in (old_at, self._at)) and old_at != self._at
            if moved or old.line != new.line:
                self._refresh_row(at)

    def _refresh_row(self, at: int) -> None:
        self.refresh(Region(0, at - round(self.scroll_y) + self._header, self.size.width, 1))

    def _go(self, at: int) -> None:
        if at == self._at or not self._shows_cursor:
            return
        for row in (self._at, at):
            if row is not None:
                self._refresh_row(row)
        self._at, self._wanted = at, None
        self._keep_in_sight()
        self.post_message(self.Moved(self, self.key))

    def _keep_in_sight(self) -> None:
        height = self.scrollable_content_region.height - self._header
        if self._at is None or height <= 0:
            return
        top, at = round(self.scroll_y), self._at
        # A heading just above the cursor comes into sight with it.
        first = at - 1 if at > 0 and self._rows[at - 1].heading else at
        wanted = min(top, first) if first < top else max(top, at - height + 1)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)

    def action_move(self, step: int) -> None:
        if not self._shows_cursor:
            self.scroll_relative(y=step, animate=False)
            return
        at, way = self._at, 1 if step > 0 else -1
        found = at
        while at is not None and step and 0 <= (at := at + way) < len(self._rows):
            if not self._rows[at].heading:
                found = at
                step -= way
        if found == self._at and abs(step) == 1:
            self.post_message(self.PastEnd(self, step))
        elif found is not None:
            self._go(found)

    def action_page(self, direction: int) -> None:
        self.action_move(direction * max(1, self.scrollable_content_region.height - self._header - 1))

    def action_edge(self, direction: int) -> None:
        if not self._shows_cursor:
            self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
            return
        places = range(len(self._rows)) if direction < 0 else reversed(range(len(self._rows)))
        if (at := next((at for at in places if not self._rows[at].heading), None)) is not None:
            self._go(at)

    def on_click(self, event: events.Click) -> None:
        line = event.y - self.content_offset.y - self._header
        at = line + round(self.scroll_y)
        if line >= 0 and 0 <= at < len(self._rows) and not self._rows[at].heading:
            self._go(at)
            if event.chain == 2:
                self.post_message(self.Chosen(self, self._rows[at].key))

    @property
    def has_keys(self) -> bool:
        """Whether keys that move or choose act here."""
        return self.has_focus

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at = y - self._header + round(self.scroll_y)
        if not 0 <= at < len(self._rows):
            return self.strip((), self.size.width)
        row = self._rows[at]
        if at != self._at:
            return self._draw_row(row, row.line, "", None)
        # Reversed, every ink would become a patch of its own colour; what is quiet could not be read on the cursor's ground.
        plain = self.app.native_ansi_color
        line = [(text, "" if plain or ink == "quiet" else ink) for text, ink in row.line]
        return self._draw_row(row, line, "▸" if self.has_keys else "▹", self._cursor_style())

    def _draw_row(self, row: Row, line: Line, mark: str, base: Style | None) -> Strip:
        """`line` is that of `row` in the inks that can be seen there."""
        if mark:
            first, ink = line[0] if line else (" ", "")
            line = [(mark, "" if self.app.native_ansi_color else "strong"), (first[1:], ink), *line[1:]]
        return self.strip(line, self.size.width, base=base)

    def _cursor_style(self) -> Style:
        name = "table--cursor" if self.has_keys else "table--cursor-blurred"
        return self.rich_style + self.get_component_rich_style(name, partial=True)


class _Asked(Sequence[Row]):
    """Rows that are asked for by number when they come into sight, so that a long list is never copied."""

    def __init__(self, count: int, row: Callable[[int], Row]) -> None:
        self._count, self._row = count, row

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice):
            return [self._row(each) for each in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        return self._row(at)


class Sheet(Table):
    """Cells under columns, of which the first can stand still while the others scroll sideways.

    Only the rows in sight are asked for: ten thousand scroll as ten do. `cursor` is the number of a row, -1 without rows.
    """

    @dataclass(eq=False, repr=False)
    class HeadingChosen(Message):
        """A click on the heading of a column."""

        sheet: "Sheet"
        column: SheetColumn

        @property
        def control(self) -> "Sheet":
            return self.sheet

    COMPONENT_CLASSES: ClassVar[set[str]] = {"sheet--header"}
    DEFAULT_CSS = """
    Sheet {
        scrollbar-gutter: auto;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        overflow-x: auto;
        & > .sheet--header { color: $quiet; background: $panel; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "sideways(-1)", "Left", id="list.left", show=False, tooltip="Scroll to the left"),
        Binding("right,l", "sideways(1)", "Right", id="list.right", show=False, tooltip="Scroll to the right"),
    ]

    def __init__(
        self,
        layout: Callable[[int], Sequence[SheetColumn]],
        *,
        fixed: int = 0,
        id: str | None = None,
        cursor: bool = True,
    ) -> None:
        """`layout` gives the columns for a width, without the cursor's mark; the first `fixed` do not scroll sideways."""
        super().__init__(id=id, cursor=cursor)
        self._layout_columns = layout
        self._fixed = fixed
        self._header = 1
        self._columns: tuple[SheetColumn, ...] = ()

    @property
    def columns(self) -> tuple[SheetColumn, ...]:
        return self._columns

    @property
    def cursor(self) -> int:
        return -1 if self._at is None else self._at

    @cursor.setter
    def cursor(self, at: int) -> None:
        if at < 0:
            self._at = None
        else:
            self._go(at)

    def ask(self, count: int, row: Callable[[int], Row], *, cursor: int | None = None) -> None:
        """Show `count` rows, `row(at)` being asked for those in sight; the cursor stays, or goes to `cursor`."""
        self._rows = _Asked(count, row)
        self._rebuild()
        at = min(max(self.cursor if cursor is None else cursor, 0), count - 1)
        if at < 0:
            self._at = None
        elif at == self._at:
            self._keep_in_sight()
        else:
            self._go(at)

    def _rebuild(self) -> None:
        """Ask for the columns again, after a resize or when their contents changed."""
        size, rows = self.container_size, len(self._rows) + self._header
        # The scroll bar that the rows will need takes its cell.
        self._columns = tuple(self._layout_columns(size.width - (rows > size.height) - _GUTTER))
        width = sum(column.width + 1 for column in self._columns) - 1 + _GUTTER if self._columns else 0
        self.virtual_size = Size(max(width, 0), rows)
        self.refresh()

    @property
    def _in_sight(self) -> str:
        """Which rows are in sight, where those are not all: `3-6 of 6`."""
        room, count = self.scrollable_content_region.height - self._header, len(self._rows)
        first = round(self.scroll_y)
        return f"{first + 1}-{first + room} of {count}" if 0 < room < count else ""

    def lead(self, at: int) -> None:
        """Put the cursor on a row and that row at the top, as far as there are rows below it."""
        self.cursor = at
        self.scroll_to(y=min(at, self.max_scroll_y), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        # Textual calls the handler of Table too.
        if event.y != self.content_offset.y:
            return
        at, scrolled = _GUTTER, round(self.scroll_x)
        for number, column in enumerate(self._columns):
            start = at if number < self._fixed else at - scrolled
            at += column.width + 1
            if start <= event.x < start + column.width:
                self.post_message(self.HeadingChosen(self, column))
                return

    def action_sideways(self, direction: int) -> None:
        """Scroll by one column, so that a column is never cut at its left."""
        edges, at = [0], 0
        for column in self._columns[self._fixed :]:
            at += column.width + 1
            edges.append(at)
        here = round(self.scroll_x)
        if direction > 0:
            target = next((edge for edge in edges if edge > here), here)
        else:
            target = next((edge for edge in reversed(edges) if edge < here), 0)
        self.scroll_to(x=min(target, self.max_scroll_x), animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        if y >= self._header:
            return super().render_line(y)
        base = self.rich_style + self.get_component_rich_style("sheet--header", partial=True)
        titles = [(column.title, "") for column in self._columns]
        if titles and self._in_sight:
            told = f"{self._columns[0].title}  {self._in_sight}"
            titles[0] = (told if len(told) <= self._columns[0].width else titles[0][0], "")
        return self._draw_row(Row("", titles), titles, "", base)

    def _draw_row(self, row: Row, line: Line, mark: str, base: Style | None) -> Strip:
        width = self.scrollable_content_region.width or self.size.width
        cells = [_cell(column, piece) for column, piece in zip(self._columns, line, strict=False)]
        still: list[Piece] = [(mark or " ", "")]
        if row.span is not None:
            for piece in cells[: row.span]:
                still += [piece, (" ", "")]
            for text, ink in line[row.span : row.span + 1]:
                still.append((fit(clean(text), max(0, width - width_of(still))), ink))
            return self.strip(still, width, base=base)
        for piece in cells[: self._fixed]:
            still += [piece, (" ", "")]
        used = _GUTTER + sum(column.width + 1 for column in self._columns[: self._fixed])
        start = round(self.scroll_x)
        moving: list[Piece] = []
        # What is moving is behind what does not move.
        left = start + width - used
        for column, (text, ink) in zip(self._columns[self._fixed :], cells[self._fixed :], strict=False):
            if 0 < left < column.width:
                # Cut at the edge of the table, a figure would be another.
                text = fit(text.rstrip(), left)
            moving += [(text, ink), (" ", "")]
            left -= column.width + 1
        rest = self.strip(moving, max(start + width - used, 0), base=base).crop(start)
        return Strip.join([self.strip(still, min(used, width), base=base), rest])


def _cell(column: SheetColumn, piece: Piece) -> Piece:
    text, ink = piece
    return fit(clean(text), column.width, right=column.right, middle=column.middle), ink
