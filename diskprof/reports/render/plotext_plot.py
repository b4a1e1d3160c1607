"""Plots as text for a terminal, drawn by plotext, which is imported when first called."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from diskprof.analysis.arms import Side
from diskprof.analysis.comparison import Comparison
from diskprof.analysis.history import RunHistory
from diskprof.model.cells import width_of, wrap
from diskprof.model.run import Run
from diskprof.model.sample import Sample
from diskprof.model.text import in_ascii
from diskprof.reports.charts.axes import NameAxis, Scale, TimeAxis
from diskprof.reports.charts.plot import Curve, Plot
from diskprof.reports.content.history.history_report import history_plots
from diskprof.reports.content.plots import compared_plots, plots_of
from diskprof.reports.layout import plain

HEIGHT = 13
_LEAST_WIDTH = 30
_COLOURS = ("cyan", "magenta", "blue+", "gray", "blue", "white")
"""Reads and writes are the first two; green, amber and red judge."""
_ASCII = ("*", "o", "+", "x", "#", "@")
_BLOCKS = "hd"
_POINTS_A_COLUMN = 2
_CELLS_A_TICK = 12


def run_plots(
    run: Run, samples: Sequence[Sample], width: int = 80, *, colour: bool = False, ascii_only: bool = False
) -> str:
    """The charts of a run one below the other; empty where nothing was measured."""
    return _charts(plots_of(run, samples), width, colour=colour, ascii_only=ascii_only)


def comparison_plots(
    comparison: Comparison,
    sides: Sequence[Side],
    samples: Mapping[str, Sequence[Sample]],
    width: int = 80,
    *,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """The charts of a comparison one below the other; `samples` by run id."""
    return _charts(compared_plots(comparison, sides, samples), width, colour=colour, ascii_only=ascii_only)


def history_charts(history: RunHistory, width: int = 80, *, colour: bool = False, ascii_only: bool = False) -> str:
    """The charts of a history one below the other; empty of a single run."""
    return _charts(history_plots(history), width, colour=colour, ascii_only=ascii_only)


def _charts(plots: Sequence[Plot], width: int, *, colour: bool, ascii_only: bool) -> str:
    charts = [chart(plot, width, colour=colour, ascii_only=ascii_only) for plot in plots]
    return "\n".join(filter(None, charts))


def chart(plot: Plot, width: int, *, colour: bool = False, ascii_only: bool = False) -> str:
    """A plot of one facet with a linear scale, its title and a legend above; empty where there is nothing to draw."""
    width = max(_LEAST_WIDTH, width)
    curves, scale, across = plot.curves, plot.facets[0].scale, plot.across
    assert isinstance(scale, Scale)
    if isinstance(across, TimeAxis):
        ticks = across.ticks(width // _CELLS_A_TICK)
        count = width * _POINTS_A_COLUMN
        places = [(at + 0.5) * across.end / count for at in range(count)]
    else:
        assert isinstance(across, NameAxis)
        ticks = tuple((float(at), plain(across.names[at])) for at in _room_for(across.names, width))
        places = [float(at) for at in range(len(across.names))]
    pieces = [_stretches(places, curve.values.columns(len(places), across.end)) for curve in curves]
    if not any(pieces):
        return ""
    import plotext

    plotext.clear_figure()
    # plotext shrinks a figure to the terminal it finds itself in, which here is not where the text goes.
    plotext.limit_size(False, False)
    plotext.plotsize(width, HEIGHT)
    plotext.theme("clear")
    plotext.ylim(0, scale.top)
    plotext.xlim(0, across.end or 1.0)
    plotext.yticks(scale.ticks, [scale.tick(value) for value in scale.ticks])
    plotext.xticks([place for place, _ in ticks], [text for _, text in ticks])
    for index, piece in enumerate(pieces):
        for points in piece:
            plotext.plot(
                [at for at, _ in points],
                [value for _, value in points],
                marker=_marker(index, len(curves), ascii_only),
                color=_COLOURS[index % len(_COLOURS)] if colour else "default",
            )
    drawn: str = plotext.build()
    plotext.clear_figure()
    if not colour:
        drawn = plotext.uncolorize(drawn)
    if ascii_only:
        drawn = in_ascii(drawn)
    lines = [line.rstrip() for line in drawn.splitlines()]
    return "\n".join([*_head(plot.title, curves, width, ascii_only), *lines]) + "\n"


def _room_for(names: Sequence[str], width: int) -> list[int]:
    """Which of the names fit under a chart: every one, every second, and so on."""
    widest = max(width_of(plain(name)) for name in names) + 2
    return list(range(0, len(names), max(1, math.ceil(len(names) * widest / width))))


def _head(title: str, curves: Sequence[Curve], width: int, ascii_only: bool) -> list[str]:
    """The title, and which mark is which curve, on a second line where the first has no room."""
    if len(curves) == 1:
        return wrap(f"{plain(title)} ({plain(curves[0].label)})", width)
    marks = [f"{_marker(index, len(curves), ascii_only)} {plain(curve.label)}" for index, curve in enumerate(curves)]
    line = f"{plain(title)}:  {'   '.join(marks)}"
    return [line] if width_of(line) <= width else [*wrap(plain(title), width), *wrap(", ".join(marks), width, "  ")]


def _marker(index: int, count: int, ascii_only: bool) -> str:
    """Curves that share a chart are told apart by their marks, colour or not."""
    if count == 1 and not ascii_only:
        return _BLOCKS
    return _ASCII[index % len(_ASCII)]


def _stretches(places: Sequence[float], values: Sequence[float | None]) -> list[list[tuple[float, float]]]:
    """A curve in pieces without gaps."""
    points = zip(places, values, strict=True)
    return [
        [(at, value) for at, value in piece if value is not None]
        for known, piece in groupby(points, lambda point: point[1] is not None and math.isfinite(point[1]))
        if known
    ]
