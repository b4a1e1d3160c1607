"""What the Live screen is put together from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget

from diskprof.model.metric import Quantity
from diskprof.model.run import Run
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.table import Row, Sheet, SheetColumn, Table
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.kernel_lines import device_tile
from diskprof.tui.live.kernel_watch import KernelWatch
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


class TestSheet(KeepsKeys, Sheet, inherit_bindings=False):
    """The tests and their results: the cursor chooses that of the chart, left and right move the cursor of the chart.

    Pages move what is around it where that scrolls, the cursor otherwise.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False, tooltip="The test above"),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False, tooltip="The test below"),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False, tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "edge(-1)", "First", id="list.first", show=False, tooltip="The first test"),
        Binding("end,G", "edge(1)", "Last", id="list.last", show=False, tooltip="The last test"),
    ]

    def __init__(self, layout: Callable[[int], Sequence[SheetColumn]], turn: Callable[[int], bool], *, id: str) -> None:
        """`turn` scrolls what is around it by pages; False where there is nothing to scroll."""
        super().__init__(layout, fixed=1, id=id)
        self._turn = turn
        self.add_class("keyed")

    def action_page(self, direction: int) -> None:
        if not self._turn(direction):
            super().action_page(direction)


class Page(VerticalScroll, can_focus=False, inherit_bindings=False):
    """Scrolls what has no room at once. Left and right are keys of the chart, not of this."""

    def __init__(self, fit: Callable[[], None], *, id: str) -> None:
        """`fit` is called when its size has changed."""
        super().__init__(id=id)
        self._fit = fit

    def on_resize(self) -> None:
        self._fit()


class Words(Lines):
    """The lines that `make` gives for its width, made again when that changes; hidden if there are none."""

    DEFAULT_CSS = "Words.-none { display: none; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._make: Callable[[int], Sequence[Line]] = lambda _width: ()
        self._width = self.lines_high = 0

    def tell(self, make: Callable[[int], Sequence[Line]]) -> None:
        self._make, self._width = make, 0
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        # Before it was in sight its width is that of what it is in.
        width = self.size.width or (self.parent.size.width - 2 if isinstance(self.parent, Widget) else 0)
        if width > 0 and width != self._width:
            self._width = width
            lines = self._make(width)
            self.set_class(not lines, "-none")
            self.styles.height = self.lines_high = len(lines)
            self.put(lines)


class Tile(Lines):
    """A rate in the last interval, read and write apart, and its change against the mean of the test."""

    def __init__(self, metric: Quantity, charset: Charset, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self.metric, self._charset = metric, charset
        self._entries: Sequence[TileEntry] = ()
        self._waits = False

    def show(self, entries: Sequence[TileEntry], *, waits: bool) -> None:
        self._entries, self._waits = entries, waits
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.size
        self.put(tile_lines(self.metric, self._entries, width, height, self._charset, waits=self._waits))


class LatencyTile(Lines):
    """The percentiles of the last interval and of the test so far."""

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._make: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()

    def show(self, track: Track, depths: Depths | None) -> None:
        self._make = lambda width, height: latency_tile(track, depths, width, height)
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.put(self._make(*self.size))


class DeviceTile(Lines):
    """How busy the device and the CPUs are, in the last interval and in the test so far."""

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._make: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()

    def show(self, run: Run, watch: KernelWatch | None) -> None:
        self._make = lambda width, height: device_tile(run, watch, width, height)
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
