"""What moves: a chart with its axes, a sparkline, a progress bar. All start at zero and say their unit and scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.tui.kit.charts.glyphs import Charset, Track, draw, progress_bar
from diskprof.tui.kit.charts.scale import Scale, TimeAxis, title_of
from diskprof.tui.kit.charts.time_series import Series
from diskprof.tui.kit.painted import Line, Lines, Piece, fit

GUTTER = 6
_DIMMED = ("read", "write")


@dataclass(frozen=True, slots=True)
class Curve:
    """A series in a chart; the edge of an area is bright, what lies below it dim; `letter` stands at the end of a line."""

    label: str
    series: Series
    ink: str
    area: bool = True
    letter: str = ""

    def track(self, columns: int, seconds: float, top: float) -> Track:
        values = self.series.columns(columns, seconds)
        shares = [None if value is None else value / top for value in values]
        fill = f"{self.ink}-dim" if self.ink in _DIMMED else ""
        return Track(shares, self.ink, self.area, fill, "" if self.area else self.letter)


@dataclass(frozen=True, slots=True)
class Picture:
    """What a chart shows: `seconds` across, the scale upward; `note` stands beside the title."""

    scale: Scale
    seconds: float
    curves: tuple[Curve, ...]
    note: str = ""


def draw_chart(picture: Picture, width: int, height: int, charset: Charset) -> list[Line]:
    """Title and legend, the plot with its y axis, the x axis; `height` lines of `width` cells."""
    scale, plot_height, plot_width = picture.scale, height - 2, width - GUTTER - 1
    if plot_height < 1 or plot_width < 8:
        return []
    columns = plot_width * charset.columns
    tracks = [curve.track(columns, picture.seconds, scale.top) for curve in picture.curves]
    lines: list[Line] = [_legend(picture, width, charset)]
    labels = {plot_height - 1: "0", 0: scale.tick(scale.top)}
    if plot_height >= 5:
        labels[plot_height // 2] = scale.tick(scale.top / 2)
    for row, plotted in enumerate(draw(tracks, plot_width, plot_height, charset)):
        label = labels.get(row, "")
        edge = "┤" if label else "│"
        lines.append([(fit(label, GUTTER - 1, right=True) + " ", "quiet"), (edge, "rule"), *plotted])
    axis = TimeAxis.of(picture.seconds, plot_width)
    lines.append([(" " * (GUTTER + 1), ""), (axis.line(plot_width), "quiet")])
    return lines


def _legend(picture: Picture, width: int, charset: Charset) -> Line:
    title = title_of(picture.scale.metric)
    line: list[Piece] = [(title, "title")]
    if picture.scale.suffix:
        line.append((f" {picture.scale.suffix}", "quiet"))
    line.append(("  ", ""))
    for curve in picture.curves:
        sign = "█" if curve.area or charset is Charset.BLOCKS else "─"
        line += [(f" {sign} ", curve.ink), (curve.label, ""), (" ", "")]
    if picture.note:
        line += [("  ", ""), (picture.note, "quiet")]
    return line


class Chart(Lines):
    """Draws a picture; `say` puts a sentence where there is nothing to draw."""

    def __init__(self, charset: Charset, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.charset = charset
        self._picture: Picture | None = None
        self._words = ""

    def show(self, picture: Picture) -> None:
        self._picture = picture
        self._draw()

    def say(self, words: str) -> None:
        self._picture, self._words = None, words
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.size
        if self._picture:
            self.put(draw_chart(self._picture, width, height, self.charset))
        else:
            self.put([[]] * (height // 2) + [[(fit(self._words.center(width), width), "quiet")]])


class Sparkline(Lines):
    """A series in one or a few lines without axes; whoever shows it says its scale beside it."""

    def __init__(self, charset: Charset, ink: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.charset, self._ink = charset, ink
        self._values: Sequence[float | None] = ()

    def show(self, series: Series, seconds: float, top: float) -> None:
        """The series from 0 to `seconds`, from zero to `top`."""
        width, height = self.size
        track = Curve("", series, self._ink).track(width * self.charset.columns, seconds, top)
        self.put(draw([track], width, height, self.charset))


class ProgressBar(Lines):
    """A bar of one line with its share in percent behind it."""

    DEFAULT_CSS = """
    ProgressBar { height: 1; }
    """

    def __init__(self, charset: Charset, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.charset = charset
        self._fraction = 0.0

    def show(self, fraction: float) -> None:
        self._fraction = fraction
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.size.width
        self.put([[*progress_bar(self._fraction, max(0, width - 5), self.charset), (f"{self._fraction:>5.0%}", "")]])
