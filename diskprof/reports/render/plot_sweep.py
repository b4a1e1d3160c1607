"""What the charts of a sweep show: IOPS by queue depth, IOPS and bandwidth by block size and queue depth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diskprof.analysis.comparison import Comparison
from diskprof.analysis.sweep import Panel, bandwidth, compared_grids, grids, iops, measured, most_iops, panels
from diskprof.model.preset import Axis
from diskprof.model.run import Run, TestRecord, TestResult
from diskprof.reports import wording
from diskprof.reports.content.sweep_tables import panel_title, value_words

MOST_CURVES = 6
"""As many can be told apart in one chart."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a chart: (x, value) pairs; a value that is None interrupts it."""

    label: str
    points: tuple[tuple[float, float | None], ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart over the values of an axis, which stand at 0, 1, 2 and so on under their names."""

    title: str
    curves: tuple[Curve, ...]
    names: tuple[str, ...]


Figure = Callable[[TestResult], float]


def run_drawings(run: Run) -> tuple[Drawing, ...]:
    """The charts of every panel; where one axis is swept, IOPS and bandwidth along it. One value alone makes no line."""
    found: list[Drawing] = []
    for grid in grids(run):
        for panel in panels(grid):
            if panel.columns:
                found += [
                    _drawing(panel, "IOPS", iops, along=panel.columns, each=panel.rows),
                    _drawing(panel, "IOPS", iops, along=panel.rows, each=panel.columns),
                    _drawing(panel, "MB/s", _megabytes, along=panel.rows, each=panel.columns),
                ]
            else:
                found += [_line(panel, "IOPS", iops), _line(panel, "MB/s", _megabytes)]
    return tuple(drawing for drawing in found if len(drawing.names) > 1)


def _megabytes(result: TestResult) -> float:
    return bandwidth(result) / 1e6


def _drawing(panel: Panel[TestRecord], what: str, figure: Figure, *, along: Axis, each: Axis) -> Drawing:
    """A curve for each value of one axis along the other."""
    curves = []
    for index in _spread(len(each.values)):
        cells = [row[index] for row in panel.cells] if along is panel.rows else panel.cells[index]
        curves.append(Curve(value_words(each.option, each.values[index]), _points(cells, figure)))
    title = (
        f"{panel_title(panel)}: {what} by {wording.option(along.option)}, a line for each {wording.option(each.option)}"
    )
    return Drawing(title, tuple(curves), _names(along))


def _line(panel: Panel[TestRecord], what: str, figure: Figure) -> Drawing:
    points = _points([row[0] for row in panel.cells], figure)
    title = f"{panel_title(panel)}: by {wording.option(panel.rows.option)}"
    return Drawing(title, (Curve(what, points),), _names(panel.rows))


def _points(cells: Sequence[TestRecord | None], figure: Figure) -> tuple[tuple[float, float | None], ...]:
    return tuple((float(at), figure(result) if (result := measured(test)) else None) for at, test in enumerate(cells))


def _names(axis: Axis) -> tuple[str, ...]:
    return tuple(value_words(axis.option, value) for value in axis.values)


def _spread(count: int) -> list[int]:
    """At most MOST_CURVES of so many, evenly apart, the first and the last among them."""
    if count <= MOST_CURVES:
        return list(range(count))
    return [round(index * (count - 1) / (MOST_CURVES - 1)) for index in range(MOST_CURVES)]


def comparison_drawings(comparison: Comparison) -> tuple[Drawing, ...]:
    """The most IOPS of every run along the rows of each panel."""
    found = []
    for grid in compared_grids(comparison):
        for panel in panels(grid):
            curves = tuple(
                Curve(
                    column.label,
                    tuple((float(at), most_iops(tests, index)) for at, tests in enumerate(panel.cells)),
                )
                for index, column in enumerate(comparison.columns)
            )
            what = "most IOPS" if panel.columns else "IOPS"
            title = f"{panel_title(panel)}: {what} by {wording.option(panel.rows.option)}"
            found.append(Drawing(title, curves, _names(panel.rows)))
    return tuple(drawing for drawing in found if len(drawing.names) > 1)
