"""The widget that shows a plot."""

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import App

from diskprof.model.cells import fit
from diskprof.reports.charts.plot import Plot
from diskprof.tui.kit.charts.drawing import draw_plot
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, Lines

CURVE_INKS = ("curve-a", "curve-b", "curve-c", "curve-d")


def is_flat(app: App[Any], charset: Charset) -> bool:
    """Whether two neighbouring shades of a colour may be one and the same here."""
    few = app.native_ansi_color or app.console.color_system in ("standard", "windows")
    return charset is Charset.ASCII or app.current_theme.ansi or few


class ChartPane(Lines):
    """Shows a plot, any lines for a size (`show_lines`), or a sentence in the middle (`say`)."""

    def __init__(self, charset: Charset, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.charset = charset
        self._make: Callable[[int, int], Sequence[Line]] = lambda _width, _height: ()

    @property
    def columns(self) -> int:
        """About how many moments are beside each other."""
        return max(8, self.size.width - 7)

    def show(self, plot: Plot) -> None:
        self.show_for(lambda _height: plot)

    def show_for(self, make: Callable[[int], Plot]) -> None:
        """Show the plot that `make` gives for a height in lines."""
        self.show_lines(
            lambda width, height: draw_plot(
                make(height), width, height, self.charset, flat=is_flat(self.app, self.charset)
            )
        )

    def show_lines(self, make: Callable[[int, int], Sequence[Line]]) -> None:
        """Show what `make` draws for a width and a height."""
        self._make = make
        self._draw()

    def say(self, words: str) -> None:
        self.show_lines(lambda width, height: [[]] * (height // 2) + [[(fit(words.center(width), width), "quiet")]])

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.put(self._make(*self.size))
