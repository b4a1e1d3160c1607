"""A table that draws only the rows in sight: ten thousand runs scroll as ten do, and the first columns can stand still.

Rows are asked for by number when they come into sight, so a list is never copied into the widget. Cells are plain text
(never markup) with a tone, which the style sheet turns into a colour.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from diskprof.model.text import clean, shorten_middle
from diskprof.tui.kit.painted import signs_for


class Tone(StrEnum):
    """What a cell or a row means; each is a component class `sheet--<tone>`."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    TITLE = "title"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    LIVE = "live"
    READ = "read"
    WRITE = "write"
    MARK = "mark"


class Cell(NamedTuple):
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Column:
    """`width` in terminal cells without the gap of one that follows. `middle`: long text loses its middle, not its end."""

    key: str
    title: str
    width: int
    right: bool = False
    middle: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """`span`: the cell of this number runs to the end of the line (0: a heading)."""

    cells: tuple[Cell, ...]
    tone: Tone = Tone.PLAIN
    span: int | None = None


_GUTTER = 1
"""Where the cursor's mark stands, which shows where it is without colour too."""


def fit(text: str, width: int, *, right: bool = False, middle: bool = False) -> str:
    """`text` in exactly `width` terminal cells, an ellipsis where something was left out."""
    text = clean(text)
    length = cell_len(text)
    if length <= width:
        return " " * (width - length) + text if right else text + " " * (width - length)
    if width <= 1:
        return set_cell_size(text, max(width, 0))
    if middle and length == len(text):
        return shorten_middle(text, width)
    return set_cell_size(text, width - 1) + "…"


class Sheet(ScrollView, can_focus=True):
    """The widget. `show` gives it rows; `cursor` is the row number under the cursor, -1 without rows."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "sheet--header",
        "sheet--cursor",
        "sheet--cursor-blurred",
        *(f"sheet--{tone}" for tone in Tone),
    }
    DEFAULT_CSS = """
    Sheet {
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        overflow-x: auto;
        overflow-y: auto;
    }
    Sheet > .sheet--header { color: $quiet; background: $panel; }
    Sheet > .sheet--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    Sheet > .sheet--cursor-blurred { background: $block-cursor-blurred-background; color: $block-cursor-blurred-foreground; }
    Sheet > .sheet--dim { color: $quiet; }
    Sheet > .sheet--strong { color: $foreground; text-style: bold; }
    Sheet > .sheet--title { color: $primary; text-style: bold; }
    Sheet > .sheet--good { color: $good; }
    Sheet > .sheet--bad { color: $danger; }
    Sheet > .sheet--warn { color: $warn; }
    Sheet > .sheet--live { color: $accent; }
    Sheet > .sheet--read { color: $read; }
    Sheet > .sheet--write { color: $write; }
    Sheet > .sheet--mark { color: $accent; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="Move up"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="Move down"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first row"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last row"),
        Binding("left,h", "sideways(-1)", "Left", id="list.left", show=False, tooltip="Scroll to the left"),
        Binding("right,l", "sideways(1)", "Right", id="list.right", show=False, tooltip="Scroll to the right"),
    ]

    cursor: reactive[int] = reactive(-1)

    @dataclass(eq=False, repr=False)
    class Moved(Message):
        """The cursor stands on another row."""

        sheet: "Sheet"
        index: int

        @property
        def control(self) -> "Sheet":
            return self.sheet

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A double click on a row."""

        sheet: "Sheet"
        index: int

        @property
        def control(self) -> "Sheet":
            return self.sheet

    def __init__(
        self,
        layout: Callable[[int], Sequence[Column]],
        *,
        fixed: int = 0,
        header: bool = True,
        id: str | None = None,
    ) -> None:
        """`layout` gives the columns for a width, without the cursor's mark; the first `fixed` do not scroll sideways."""
        super().__init__(id=id)
        self._layout_columns = layout
        self._fixed = fixed
        self._header = 1 if header else 0
        self._columns: tuple[Column, ...] = ()
        self._count = 0
        self._row: Callable[[int], Row] = lambda _index: Row(())

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

    @property
    def count(self) -> int:
        return self._count

    def show(self, count: int, row: Callable[[int], Row], *, cursor: int | None = None) -> None:
        """Show `count` rows, `row(i)` being asked for those in sight; the cursor stays, or goes to `cursor`."""
        self._count, self._row = count, row
        self.relayout()
        wanted = self.cursor if cursor is None else cursor
        moved_to = min(max(wanted, 0), count - 1)
        if moved_to == self.cursor:
            self._keep_in_sight()
        self.cursor = moved_to
        self.refresh()

    def relayout(self) -> None:
        """Ask for the columns again, after a resize or when their contents changed."""
        self._columns = tuple(self._layout_columns(self._room() - _GUTTER))
        width = sum(column.width + 1 for column in self._columns) - 1 + _GUTTER if self._columns else 0
        self.virtual_size = Size(max(width, 0), self._count + self._header)
        self.refresh()

    def _room(self) -> int:
        """The width that rows will have, the scroll bar that they will need already taken off."""
        size = self.container_size
        return size.width - (self._count + self._header > size.height)

    def on_resize(self, _event: events.Resize) -> None:
        self.relayout()
        self._keep_in_sight()

    def watch_cursor(self, old: int, new: int) -> None:
        if old == new:
            return
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved(self, new))

    def _keep_in_sight(self) -> None:
        height = self.scrollable_content_region.height - self._header
        if self.cursor < 0 or height <= 0:
            return
        top = round(self.scroll_y)
        if self.cursor < top:
            top = self.cursor
        elif self.cursor >= top + height:
            top = self.cursor - height + 1
        if top != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def lead(self, index: int) -> None:
        """Put the cursor on a row and that row at the top, as far as there are rows below it."""
        self.cursor = index
        self.scroll_to(y=min(index, self.max_scroll_y), animate=False, immediate=True)

    def action_move(self, step: int) -> None:
        if self._count:
            self.cursor = min(max(self.cursor + step, 0), self._count - 1)

    def action_page(self, direction: int) -> None:
        self.action_move(direction * max(1, self.scrollable_content_region.height - self._header - 1))

    def action_edge(self, direction: int) -> None:
        self.action_move(direction * self._count)

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

    def on_click(self, event: events.Click) -> None:
        index = event.y - self._header + round(self.scroll_y)
        if event.y >= self._header and 0 <= index < self._count:
            self.cursor = index
            if event.chain == 2:
                self.post_message(self.Chosen(self, index))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width or self.size.width
        base = self.rich_style
        if y < self._header:
            style = base + self.get_component_rich_style("sheet--header", partial=True)
            cells = tuple(Cell(column.title) for column in self._columns)
            return self._shown(self._strip(Row(cells), " ", style, width))
        index = y - self._header + round(self.scroll_y)
        if index >= self._count:
            return Strip.blank(width, base)
        row = self._row(index)
        style = base + self.get_component_rich_style(f"sheet--{row.tone}", partial=True)
        mark = " "
        if index == self.cursor:
            mark = "▸" if self.has_focus else "▹"
            name = "sheet--cursor" if self.has_focus else "sheet--cursor-blurred"
            style += self.get_component_rich_style(name, partial=True)
            if self.app.current_theme.ansi:
                # The terminal's own colours cannot be told to be readable on its reverse.
                row = replace(row, cells=tuple(Cell(cell.text) for cell in row.cells))
        return self._shown(self._strip(row, mark, style, width))

    def _shown(self, strip: Strip) -> Strip:
        """The strip with signs that the terminal can show."""
        if not getattr(self.app, "plain", False):
            return strip
        return Strip([Segment(signs_for(self.app, text), style) for text, style, _ in strip], strip.cell_length)

    def _strip(self, row: Row, mark: str, style: Style, width: int) -> Strip:
        if row.span is not None:
            return self._spanning(row, row.span, mark, style, width)
        fixed = [Segment(mark, style)]
        moving: list[Segment] = []
        start = round(self.scroll_x)
        # What is moving stands behind what does not move.
        left = start + width - _GUTTER - sum(column.width + 1 for column in self._columns[: self._fixed])
        for number, (column, cell) in enumerate(zip(self._columns, row.cells, strict=False)):
            part, room = (fixed, column.width) if number < self._fixed else (moving, min(column.width, left))
            text = fit(cell.text, column.width, right=column.right, middle=column.middle)
            if 0 < room < column.width:
                # Cut at the edge of the table, a figure would be another.
                text = fit(text.rstrip(), room)
            part.append(Segment(text, self._toned(style, cell.tone)))
            part.append(Segment(" ", style))
            left -= column.width + 1 if part is moving else 0
        still = Strip(fixed)
        rest = Strip(moving).crop_extend(start, start + max(0, width - still.cell_length), style)
        return Strip.join([still, rest]).adjust_cell_length(width, style)

    def _spanning(self, row: Row, span: int, mark: str, style: Style, width: int) -> Strip:
        segments = [Segment(mark, style)]
        used = _GUTTER
        for column, cell in zip(self._columns[:span], row.cells, strict=False):
            text = fit(cell.text, column.width, right=column.right, middle=column.middle) + " "
            segments.append(Segment(text, self._toned(style, cell.tone)))
            used += column.width + 1
        if span < len(row.cells) and used < width:
            cell = row.cells[span]
            segments.append(Segment(fit(cell.text, width - used), self._toned(style, cell.tone)))
        return Strip(segments).adjust_cell_length(width, style)

    def _toned(self, style: Style, tone: Tone) -> Style:
        return style if tone is Tone.PLAIN else style + self.get_component_rich_style(f"sheet--{tone}", partial=True)

    def row_text(self, index: int) -> tuple[str, ...]:
        """The cells of a row as they were given, for tests and for copying."""
        return tuple(cell.text for cell in self._row(index).cells)

    def cursor_region(self) -> Region:
        """Where the cursor's row is on the widget."""
        return Region(0, self.cursor - round(self.scroll_y) + self._header, self.size.width, 1)
