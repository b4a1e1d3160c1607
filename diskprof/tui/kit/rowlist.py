"""A list to move in with the arrow keys: rows have keys, so the cursor stays on its row when others come and go."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from diskprof.tui.kit.painted import Line, Painted


@dataclass(frozen=True, slots=True)
class Row:
    """`heading` rows are passed over by the cursor."""

    key: str
    line: Line
    heading: bool = False


_UNSEEN = 80
"""Cells for which rows are built that nobody sees."""


class RowList(Painted, ScrollView, can_focus=True):
    """`show` is given a function from a width in cells to rows; it is called again after a resize.

    The cursor's row has a mark in its first cell, which every row leaves free.
    """

    MOVES_UNSEEN: ClassVar[bool] = False
    """Whether its keys go on while it is hidden, since what it chooses is shown elsewhere."""
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rowlist--cursor", "rowlist--cursor-blurred"}
    DEFAULT_CSS = """
    RowList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        & > .rowlist--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:ansi > .rowlist--cursor { text-style: reverse; }
        & > .rowlist--cursor-blurred { background: $block-cursor-blurred-background; color: $foreground; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="Move up"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="Move down"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home", "edge(-1)", "First", id="list.first", show=False, tooltip="The first"),
        Binding("end", "edge(1)", "Last", id="list.last", show=False, tooltip="The last"),
    ]

    @dataclass(eq=False, repr=False)
    class Moved(Message):
        """The cursor stands on another row; None: there is none."""

        rows: "RowList"
        key: str | None

        @property
        def control(self) -> "RowList":
            return self.rows

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A double click on a row."""

        rows: "RowList"
        key: str

        @property
        def control(self) -> "RowList":
            return self.rows

    def __init__(self, *, id: str | None = None, classes: str | None = None, cursor: bool = True) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Callable[[int], Sequence[Row]] = lambda _width: ()
        self._rows: Sequence[Row] = ()
        self._at: int | None = None
        self._wanted: str | None = None
        self._shows_cursor = cursor
        self._width = 0

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
                return

    def show(self, build: Callable[[int], Sequence[Row]]) -> None:
        """Show the rows that `build` makes for the width of the list."""
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
        top = round(self.scroll_y)
        for at, (old, new) in enumerate(zip(before, self._rows, strict=True)):
            moved = (at in (old_at, self._at)) and old_at != self._at
            if moved or old.line != new.line:
                self.refresh(Region(0, at - top, self._width, 1))

    def _go(self, at: int) -> None:
        if at == self._at or not self._shows_cursor:
            return
        top = round(self.scroll_y)
        for row in (self._at, at):
            if row is not None:
                self.refresh(Region(0, row - top, self.size.width, 1))
        self._at, self._wanted = at, None
        self._keep_in_sight()
        self.post_message(self.Moved(self, self.key))

    def _keep_in_sight(self) -> None:
        height = self.scrollable_content_region.height
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
        at = self._at
        while at is not None and 0 <= (at := at + (1 if step > 0 else -1)) < len(self._rows):
            if not self._rows[at].heading:
                self._go(at)
                step -= 1 if step > 0 else -1
                if step == 0:
                    return

    def action_page(self, direction: int) -> None:
        self.action_move(direction * max(1, self.scrollable_content_region.height - 1))

    def action_edge(self, direction: int) -> None:
        able = [at for at, row in enumerate(self._rows) if not row.heading]
        if not self._shows_cursor:
            self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
        elif able:
            self._go(able[0] if direction < 0 else able[-1])

    def on_click(self, event: events.Click) -> None:
        at = event.y - self.content_offset.y + round(self.scroll_y)
        if 0 <= at < len(self._rows) and not self._rows[at].heading:
            self._go(at)
            if event.chain == 2:
                self.post_message(self.Chosen(self, self._rows[at].key))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        at = y + round(self.scroll_y)
        if at >= len(self._rows):
            return self.strip((), width)
        line = self._rows[at].line
        if at != self._at:
            return self.strip(line, width)
        first, ink = line[0] if line else (" ", "")
        line = [("▸" if self.has_focus else "▹", "strong"), (first[1:], ink), *line[1:]]
        if self.app.native_ansi_color:
            # Reversed, every ink would become a patch of its own colour.
            line = [(text, "") for text, _ in line]
        return self.strip(line, width, base=self._cursor_style())

    def _cursor_style(self) -> Style:
        name = "rowlist--cursor" if self.has_focus else "rowlist--cursor-blurred"
        return self.rich_style + self.get_component_rich_style(name, partial=True)
