"""Curves over each other, standing still: a test of several runs, over time or by percentile.

Each curve has a letter, which stands at its end and in the legend, so that it is told from the others without colour.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from diskprof.model.histogram import Histogram
from diskprof.tui.kit.charts.glyphs import Charset, Track, draw, this_charset
from diskprof.tui.kit.charts.scale import Metric, Scale, TimeAxis
from diskprof.tui.kit.charts.time_series import Series
from diskprof.tui.kit.painted import Line, Lines, Piece, fit, spread, width_of

CURVE_INKS = ("curve-a", "curve-b", "curve-c", "curve-d")


@dataclass(frozen=True, slots=True)
class Curve:
    """`values(n)` gives n figures from left to right, None where there is nothing; `ink` is its colour's name."""

    letter: str
    label: str
    ink: str
    values: Callable[[int], Sequence[float | None]]


Tick = tuple[float, str]
"""Where a mark stands (0 to 1 of an axis), and its text."""


@dataclass(frozen=True, slots=True)
class Plot:
    """What a chart shows. `height_of` turns a figure into a share of the height; `marks(width)` is the line under it."""

    title: str
    curves: tuple[Curve, ...] = ()
    height_of: Callable[[float], float] = float
    ticks: tuple[Tick, ...] = ()
    marks: Callable[[int], str] = " ".__mul__
    nothing: str = ""
    filled: bool = False


def over_time(title: str, metric: Metric, curves: Sequence[tuple[str, str, str, Series]]) -> Plot:
    """Curves of (letter, label, ink, series) over the seconds since the measuring began, from zero."""
    known = [entry for entry in curves if entry[3]]
    if not known:
        return Plot(title, nothing="There are no samples of this test.")
    seconds = max(series.end for _, _, _, series in known)
    scale = Scale.of(metric, max(series.highest for _, _, _, series in known))

    def values(series: Series) -> Callable[[int], Sequence[float | None]]:
        return lambda count: series.columns(count, seconds)

    return Plot(
        f"{title} ({scale.suffix})" if scale.suffix else title,
        tuple(Curve(letter, label, ink, values(series)) for letter, label, ink, series in known),
        lambda value: value / scale.top,
        ((0.0, "0"), (0.5, scale.tick(scale.top / 2)), (1.0, scale.tick(scale.top))),
        lambda width: TimeAxis.of(seconds, width).line(width),
        filled=True,
    )


_NINES = (
    *((0.5, "p50"), (0.9, "p90"), (0.99, "p99")),
    *((0.999, "p99.9"), (0.9999, "p99.99"), (0.99999, "p99.999")),
)


def nines(q: float) -> float:
    """Where a quantile stands: each further nine is as wide as the one before it."""
    return -math.log10(max(1e-12, 1.0 - q))


def by_percentile(title: str, curves: Sequence[tuple[str, str, str, Histogram]]) -> Plot:
    """Curves of (letter, label, ink, histogram): the latency below which a share of the I/Os completed; both axes logarithmic."""
    known = [entry for entry in curves if entry[3]]
    if not known:
        return Plot(title, nothing="This test has no latency distribution.")
    # A quantile beyond which there is less than one I/O says nothing.
    widest = min(5.0, max(1.0, max(math.log10(histogram.total) for _, _, _, histogram in known)))
    lows = [histogram.minimum for _, _, _, histogram in known]
    highs = [histogram.maximum for _, _, _, histogram in known]
    low, high = _decade(max(1, min(filter(None, lows), default=1)), max(1, max(filter(None, highs), default=1)))
    span = math.log10(high / low)

    def values(histogram: Histogram) -> Callable[[int], Sequence[float | None]]:
        end = math.log10(histogram.total)

        def columns(count: int) -> list[float | None]:
            places = (widest * column / max(1, count - 1) for column in range(count))
            return [histogram.quantile(1.0 - 10.0**-place) if place <= end + 1e-9 else None for place in places]

        return columns

    def marks(width: int) -> str:
        shown = [(nines(q) / widest, name) for q, name in _NINES if nines(q) <= widest + 1e-9]
        return _row_of(shown, width)

    return Plot(
        f"{title} (log)",
        tuple(Curve(letter, label, ink, values(histogram)) for letter, label, ink, histogram in known),
        lambda ns: math.log10(max(ns, 1.0) / low) / span,
        tuple((math.log10(value / low) / span, _short(value)) for value in _log_ticks(low, high)),
        marks,
    )


def _short(ns: float) -> str:
    """A round latency: `50 us`."""
    unit, scale = next(
        ((unit, scale) for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if ns >= scale), ("ns", 1.0)
    )
    return f"{ns / scale:g} {unit}"


def _steps() -> list[float]:
    return [digit * 10.0**power for power in range(12) for digit in (1, 2, 5)]


def _decade(low: float, high: float) -> tuple[float, float]:
    """The nearest 1, 2 or 5 below and above."""
    steps = _steps()
    below = max((step for step in steps if step <= low), default=1.0)
    above = min((step for step in steps if step >= high), default=high)
    return below, above if above > below else below * 10


def _log_ticks(low: float, high: float) -> list[float]:
    tens = [step for step in (10.0**power for power in range(13)) if low <= step <= high]
    return tens if len(tens) >= 3 else [step for step in _steps() if low <= step <= high]


def _row_of(ticks: Sequence[Tick], width: int) -> str:
    """Tick texts under an axis, each centred on its place; one that would touch the one before it is left out."""
    cells, end = [" "] * width, -1
    for share, text in ticks:
        at = min(max(0, round(share * (width - 1)) - len(text) // 2), width - len(text))
        if at > end:
            cells[at : at + len(text)] = text
            end = at + len(text)
    return "".join(cells)[:width]


class Curves(Lines):
    """The chart: a title with a legend, the curves with their scale at the left, the marks below."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{name}" for name in CURVE_INKS}
    DEFAULT_CSS = """
    Curves {
        height: 10;
        & > .ink--curve-a { color: $primary; text-style: bold; }
        & > .ink--curve-b { color: $warn; text-style: bold; }
        & > .ink--curve-c { color: $good; text-style: bold; }
        & > .ink--curve-d { color: $danger; text-style: bold; }
    }
    """

    def __init__(self, *, charset: Charset | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self.charset = charset or this_charset()
        self.plot = Plot("")

    def show(self, plot: Plot) -> None:
        self.plot = plot
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.content_size
        self.put(draw_plot(self.plot, width, height, self.charset) if width and height else [])


def draw_plot(plot: Plot, width: int, height: int, charset: Charset) -> list[Line]:
    """A title with a legend, the curves with their scale at the left, the marks below: at most `height` lines."""
    legend: list[Piece] = []
    for curve in plot.curves:
        legend += [(f"{curve.letter} ", curve.ink), (f"{fit(curve.label, min(len(curve.label), 16))}  ", "quiet")]
    room = len(plot.title) + 2 + width_of(legend) <= width
    head = spread([(plot.title, "strong")], legend if room else [], width)
    if not plot.curves:
        return [head, (), [(f"  {plot.nothing}", "quiet")]]
    left = max((len(text) for _, text in plot.ticks), default=0) + 1
    right = 1 + max(len(curve.letter) for curve in plot.curves) * min(3, len(plot.curves))
    inner, rows = width - left - right, height - 2
    if inner < 8 or rows < 2:
        return [head]
    per_cell = Charset.BRAILLE.columns if charset is Charset.BRAILLE else 1
    shares = [
        [None if value is None else plot.height_of(value) for value in curve.values(inner * per_cell)]
        for curve in plot.curves
    ]
    if charset is Charset.BRAILLE:
        # A curve alone is filled, as on the Live screen.
        area = plot.filled and len(shares) == 1
        tracks = [Track(values, curve.ink, area) for values, curve in zip(shares, plot.curves, strict=True)]
        body = draw(tracks, inner, rows, charset)
    else:
        body = _letters(plot, shares, inner, rows)
    names = _tick_rows(plot.ticks, rows)
    ends = _ends(plot, shares, rows)
    lines: list[Line] = [head]
    for row, line in enumerate(body):
        rest = inner - width_of(line)
        lines.append([(names.get(row, "").rjust(left - 1) + " ", "quiet"), *line, (" " * (rest + 1), ""), *ends[row]])
    lines.append([(" " * left + plot.marks(inner), "quiet")])
    return lines


def _letters(plot: Plot, shares: Sequence[Sequence[float | None]], width: int, rows: int) -> list[Line]:
    """Where there are no dots, each curve is drawn in its own letter."""
    grid: list[list[Piece]] = [[(" ", "")] * width for _ in range(rows)]
    for values, curve in zip(shares, plot.curves, strict=True):
        for column, value in enumerate(values[:width]):
            if value is not None:
                grid[_row(value, rows)][column] = (curve.letter[0], curve.ink)
    return [_merged(line) for line in grid]


def _ends(plot: Plot, shares: Sequence[Sequence[float | None]], rows: int) -> list[Line]:
    """The letters at the right, each in the row in which its curve ends."""
    ends: list[list[Piece]] = [[] for _ in range(rows)]
    for values, curve in zip(shares, plot.curves, strict=True):
        last = next((value for value in reversed(values) if value is not None), None)
        if last is not None:
            row = ends[_row(last, rows)]
            if len(row) < 3:
                row.append((curve.letter, curve.ink))
    return [*ends]


def _tick_rows(ticks: Sequence[Tick], rows: int) -> dict[int, str]:
    """Row -> text: the lowest and the highest tick, and of the others those that keep a row free between them."""
    places = [(min(rows - 1, max(0, round((1 - share) * (rows - 1)))), text) for share, text in ticks]
    kept = dict([places[-1], places[0]]) if places else {}
    for row, text in places[1:-1]:
        if all(abs(row - other) >= 2 for other in kept):
            kept[row] = text
    return kept


def _row(share: float, rows: int) -> int:
    return rows - 1 - min(rows - 1, max(0, math.ceil(share * rows) - 1))


def _merged(cells: Sequence[Piece]) -> list[Piece]:
    line: list[Piece] = []
    for text, ink in cells:
        if line and line[-1][1] == ink:
            line[-1] = (line[-1][0] + text, ink)
        else:
            line.append((text, ink))
    return line
