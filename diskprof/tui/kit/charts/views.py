"""The large chart's views: curves from zero, percentiles and the heat map on a logarithmic scale, and a cursor over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from textual.app import App

from diskprof.tui.kit.charts.chart import GUTTER, Chart, Picture, draw_chart
from diskprof.tui.kit.charts.glyphs import Charset, Track, draw
from diskprof.tui.kit.charts.heatmap import Heat, heat_legend, heat_rows
from diskprof.tui.kit.charts.logscale import LogScale
from diskprof.tui.kit.charts.scale import TimeAxis
from diskprof.tui.kit.charts.time_series import Series
from diskprof.tui.kit.painted import Line, Piece, fit, spread, width_of

_WIDE_GUTTER = 8
_NAMES = 6
_ROWS_FOR_TWO = 10
_NOTHING = "No request has completed yet."
"""From so many rows on two directions stand above each other, with fewer side by side."""


@dataclass(frozen=True, slots=True)
class Percentile:
    """A line of the percentile view; `sign` marks it where lines cannot be drawn finely."""

    name: str
    series: Series
    ink: str
    sign: str


@dataclass(frozen=True, slots=True)
class Side:
    """One direction on a logarithmic scale: its percentiles, or its map. `letter` is R or W."""

    letter: str
    ink: str
    scale: LogScale
    percentiles: tuple[Percentile, ...] = ()
    heat: Heat | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What a logarithmic view shows, `seconds` across."""

    title: str
    seconds: float
    sides: tuple[Side, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A moment that is read off: where it stands, and lines that say what happened then, in place of the title if there are any."""

    seconds: float
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class _Plot:
    """Lines of a plot without its time axis; columns `left` to `left + width` are time."""

    lines: list[Line]
    left: int
    width: int


def draw_view(
    view: View, width: int, height: int, charset: Charset, *, flat: bool, cursor: Cursor | None
) -> list[Line]:
    """`height` lines of `width` cells: title, the sides above or beside each other, time."""
    head = list(cursor.lines) if cursor and cursor.lines else [_title(view, width, charset, flat=flat)]
    rows = height - len(head) - 1
    if not view.sides:
        return [*head, [(_NOTHING, "quiet")]][:height]
    beside = len(view.sides) > 1 and rows < _ROWS_FOR_TWO
    if rows < 1 or width < 24 * (2 if beside else 1):
        return head[:height]
    if not beside:
        parts = [rows // len(view.sides) + (at < rows % len(view.sides)) for at in range(len(view.sides))]
        plots = [
            _side(side, view, width, part, charset, flat=flat) for side, part in zip(view.sides, parts, strict=True)
        ]
        lines = [line for plot in plots for line in plot.lines]
        axis = [*_axis(view.seconds, plots[0])]
        return _marked([*head, *lines, axis], plots[:1], [0], view.seconds, cursor, len(head))
    half = (width - 2) // 2
    plots = [_side(side, view, half, rows, charset, flat=flat) for side in view.sides]
    offsets = [0, half + 2]
    lines = [
        [*_padded(left, half), ("  ", ""), *right] for left, right in zip(plots[0].lines, plots[1].lines, strict=True)
    ]
    axis = [*_padded(_axis(view.seconds, plots[0]), half), ("  ", ""), *_axis(view.seconds, plots[1])]
    return _marked([*head, *lines, axis], plots, offsets, view.seconds, cursor, len(head))


def _padded(line: Line, width: int) -> Line:
    return [*line, (" " * max(0, width - width_of(line)), "")]


def _title(view: View, width: int, charset: Charset, *, flat: bool) -> Line:
    left: list[Piece] = [(view.title, "title"), ("   ", "")]
    if any(side.heat for side in view.sides):
        side = view.sides[0]
        left += [*heat_legend(side.letter.lower(), charset, flat=flat), ("of requests", "quiet")]
    else:
        left += [(f" {side.letter} {side.ink} ", side.ink) for side in view.sides]
        if charset is not Charset.BRAILLE and view.sides:
            left += [(f" {line.sign} {line.name}", "quiet") for line in view.sides[0].percentiles]
    note = view.note if width_of(left) + len(view.note) + 2 <= width else ""
    return spread(left, [(f"  {note}" if note else "", "quiet")], width)


def _axis(seconds: float, plot: _Plot) -> Line:
    return [(" " * plot.left, ""), (TimeAxis.of(seconds, plot.width).line(plot.width), "quiet")]


def _side(side: Side, view: View, width: int, rows: int, charset: Charset, *, flat: bool) -> _Plot:
    names = _NAMES if side.percentiles else 0
    columns = max(1, width - _WIDE_GUTTER - 1 - names)
    if side.heat is not None:
        body = heat_rows(side.heat, columns, view.seconds, rows, side.scale, side.letter.lower(), charset, flat=flat)
        ends: list[Line] = [[] for _ in range(rows)]
    else:
        body, ends = _percentile_rows(side, view.seconds, columns, rows, charset)
    labels = side.scale.labels(rows)
    lines: list[Line] = []
    for at, line in enumerate(body):
        label = labels.get(rows - 1 - at, "")
        first: Piece = (side.letter, side.ink) if at == 0 else (" ", "")
        text = fit(label, _WIDE_GUTTER - 2, right=True) + " "
        edge = "┤" if label else "│"
        lines.append([first, (text, "quiet"), (edge, "rule"), *_padded([*_cut(line, columns), *ends[at]], columns)])
    return _Plot(lines, _WIDE_GUTTER + 1, columns)


def _cut(line: Line, width: int) -> Line:
    """Without the blanks behind the last sign."""
    out = list(line)
    while out and not out[-1][0].rstrip(" "):
        out.pop()
    if out:
        out[-1] = (out[-1][0].rstrip(" "), out[-1][1])
    return out


def _percentile_rows(
    side: Side, seconds: float, columns: int, rows: int, charset: Charset
) -> tuple[list[Line], list[Line]]:
    """The lines, and their names behind them, each in the row where its line ends or near it."""
    steps = columns * charset.columns
    shares = {
        line.name: [None if value is None else side.scale.share(value) for value in line.series.columns(steps, seconds)]
        for line in side.percentiles
    }
    tracks = [
        Track(shares[line.name], line.ink, area=False, label="" if charset is Charset.BRAILLE else line.sign)
        for line in side.percentiles
    ]
    # Steps of blocks would be areas: where lines cannot be fine, each value is a letter.
    body = draw(tracks, columns, rows, Charset.BRAILLE if charset is Charset.BRAILLE else Charset.ASCII)
    ends: list[Line] = [[] for _ in range(rows)]
    ended = [
        (line, at, share)
        for line in side.percentiles
        for at, share in [(at, share) for at, share in enumerate(shares[line.name]) if share is not None][-1:]
    ]
    for (line, last, _), row in zip(ended, label_rows([share for *_, share in ended], rows), strict=False):
        gap = last // charset.columns + 2 - width_of(_cut(body[row], columns))
        ends[row] = [(" " * max(1, gap) + line.name, line.ink)]
    return list(body), ends


def label_rows(shares: Sequence[float], rows: int) -> list[int]:
    """For values as shares of the height the rows of their labels, 0 the uppermost: as near as can be, in the order of the values.

    Of those that end in one row the later stands above: a percentile is the middle of its bucket, which may lie above the
    maximum. Only as many as there are rows get one: the first.
    """
    shares = shares[: max(0, rows)]
    wanted = [rows - 1 - min(rows - 1, int(share * rows)) for share in shares]
    order = sorted(range(len(shares)), key=lambda at: (wanted[at], -at))
    # Without the rows that the labels above take, those that crowd share one place: the mean of those that they want.
    crowds: list[tuple[int, int]] = []
    for above, at in enumerate(order):
        total, count = wanted[at] - above, 1
        while crowds and crowds[-1][0] / crowds[-1][1] > total / count:
            more = crowds.pop()
            total, count = total + more[0], count + more[1]
        crowds.append((total, count))
    places = [round(total / count) for total, count in crowds for _ in range(count)]
    found = [0] * len(order)
    for above, (at, place) in enumerate(zip(order, places, strict=True)):
        found[at] = above + min(max(place, 0), rows - len(order))
    return found


def _marked(
    lines: list[Line], plots: Sequence[_Plot], offsets: Sequence[int], seconds: float, cursor: Cursor | None, head: int
) -> list[Line]:
    """The cursor as a line through the plots, with its sign on the time axis."""
    if cursor is None or seconds <= 0:
        return lines
    for plot, offset in zip(plots, offsets, strict=True):
        column = offset + plot.left + min(plot.width - 1, max(0, int(cursor.seconds / seconds * plot.width)))
        for at in range(head, len(lines)):
            lines[at] = put_sign(lines[at], column, "▲" if at == len(lines) - 1 else "│", "key")
    return lines


def put_sign(line: Line, column: int, sign: str, ink: str) -> Line:
    """A line of single cells with `sign` in the place of the cell `column`."""
    out: list[Piece] = []
    at = 0
    for text, old in line:
        if at <= column < at + len(text):
            cut = column - at
            out += [(text[:cut], old), (sign, ink), (text[cut + 1 :], old)]
        else:
            out.append((text, old))
        at += len(text)
    if at <= column:
        out += [(" " * (column - at), ""), (sign, ink)]
    return [piece for piece in out if piece[0]]


def draw_picture(picture: Picture, width: int, height: int, charset: Charset, cursor: Cursor | None) -> list[Line]:
    """Curves from zero, with the cursor."""
    if cursor is None:
        return draw_chart(picture, width, height, charset)
    more = max(0, len(cursor.lines) - 1)
    drawn = draw_chart(picture, width, height - more, charset)
    if not drawn:
        return list(cursor.lines)[:height]
    plot = _Plot([], GUTTER + 1, width - GUTTER - 1)
    head = list(cursor.lines) or list(drawn[:1])
    return _marked([*head, *drawn[1:]], [plot], [0], picture.seconds, cursor, len(head))


def is_flat(app: App[Any], charset: Charset) -> bool:
    """Whether two neighbouring shades of a colour may be one and the same here."""
    few = app.native_ansi_color or app.console.color_system in ("standard", "windows")
    return charset is Charset.ASCII or app.current_theme.ansi or few


class LargeChart(Chart):
    """Shows curves from zero (`show`), a logarithmic view (`show_view`), any lines for a size (`show_lines`), or words."""

    def __init__(self, charset: Charset, *, id: str | None = None) -> None:
        super().__init__(charset, id=id)
        self._view: View | None = None
        self._make: Callable[[int, int], Sequence[Line]] | None = None
        self._cursor: Cursor | None = None

    @property
    def columns(self) -> int:
        """About how many moments stand beside each other."""
        return max(8, self.size.width - GUTTER - 1)

    def show(self, picture: Picture, cursor: Cursor | None = None) -> None:
        self._view, self._make, self._cursor = None, None, cursor
        super().show(picture)

    def show_view(self, view: View, cursor: Cursor | None = None) -> None:
        """Show percentiles or a heat map."""
        self._view, self._make, self._cursor = view, None, cursor
        self._draw()

    def show_lines(self, make: Callable[[int, int], Sequence[Line]]) -> None:
        """Show what `make` draws for a width and a height."""
        self._view, self._make = None, make
        self._draw()

    def say(self, words: str) -> None:
        self._view = self._make = None
        super().say(words)

    def _draw(self) -> None:
        width, height = self.size
        if self._make:
            self.put(self._make(width, height))
        elif self._view:
            flat = is_flat(self.app, self.charset)
            self.put(draw_view(self._view, width, height, self.charset, flat=flat, cursor=self._cursor))
        elif self._picture:
            self.put(draw_picture(self._picture, width, height, self.charset, self._cursor))
        else:
            super()._draw()
