"""What the Live screen is put together from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from diskprof.model.metric import Quantity
from diskprof.reports.charts.axes import Scale
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.latency_plots import latency_tile
from diskprof.tui.live.live_lines import TileEntry, tile_lines
from diskprof.tui.live.run_reader import Track


class KeepsKeys:
    """A widget whose keys choose what the chart shows: they go on while it is hidden itself, and are its own when it is back."""

    def on_hide(self, event: events.Hide) -> None:
        # Textual takes the keys away from what is hidden, and nobody gives them back.
        event.prevent_default()

    def on_show(self: Any) -> None:
        # What was hidden behind the kernel's view has lost the keys to nobody.
        if self.screen.focused is None:
            self.focus(scroll_visible=False)


class TestList(KeepsKeys, Table, inherit_bindings=False):
    """The tests: moves up and down alone, for left and right move the cursor of the chart."""

    MOVES_UNSEEN = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="The test above"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="The test below"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="Tests a page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="Tests a page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first test"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last test"),
    ]


class Tile(Lines):
    """A metric's figures of the last interval with a sparkline, read and write apart."""

    def __init__(self, metric: Quantity, charset: Charset, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self.metric, self._charset = metric, charset
        self._entries: Sequence[TileEntry] = ()
        self._scale = Scale.of(metric, 0)
        self._seconds = 1.0

    def show(self, entries: Sequence[TileEntry], scale: Scale, seconds: float) -> None:
        self._entries, self._scale, self._seconds = entries, scale, seconds
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.size
        self.put(tile_lines(self.metric, self._entries, self._scale, self._seconds, width, height, self._charset))


class LatencyTile(Lines):
    """The percentiles of the last interval and of the whole test."""

    def __init__(self, charset: Charset, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._charset = charset
        self._make: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()

    def show(self, track: Track, depths: Depths | None, scale: Scale, seconds: float) -> None:
        self._make = lambda width, height: latency_tile(track, depths, scale, seconds, width, height, self._charset)
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.put(self._make(*self.size))


class KernelPane(Table, inherit_bindings=False):
    """What the kernel saw, beside what fio says; it scrolls where there is little room."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="The kernel's view a line up"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="The kernel's view a line down"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first line"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last line"),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, cursor=False)

    def tell(self, make: Callable[[int], Sequence[Line]]) -> None:
        """Show what `make` says for a width."""
        self.show(lambda width: [Row(str(at), line) for at, line in enumerate(make(width))])
