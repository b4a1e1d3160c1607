"""What the charts of a run, of a comparison and of a sweep show."""

from collections.abc import Callable, Mapping, Sequence

from diskprof.analysis import sweep
from diskprof.analysis.arms import Side, arms_of, runs_of
from diskprof.analysis.comparison import Comparison
from diskprof.analysis.metrics import Measure
from diskprof.analysis.windows import by_test, measured
from diskprof.model.cells import cut
from diskprof.model.preset import Axis
from diskprof.model.run import Run, TestRecord, TestResult
from diskprof.model.sample import Direction, Sample
from diskprof.reports import figures
from diskprof.reports.charts.axes import NameAxis, Scale, TimeAxis
from diskprof.reports.charts.plot import Curve, Facet, Plot, highest
from diskprof.reports.charts.timeline import Steps, Timeline
from diskprof.reports.content.curve_report import curve_plots
from diskprof.reports.content.interval_figures import BANDWIDTH, IOPS, MEAN, P50, P99, timeline_of
from diskprof.reports.content.overview import headline_rows
from diskprof.reports.content.sweep_tables import panel_title, value_words
from diskprof.reports.words import DIRECTIONS

MOST_CURVES = 6
"""As many can be told apart in one chart."""

_LEGEND, _RUN_INKS = 36, 4
"""Characters of a chart's legend, and how many inks of runs a page has."""

Ways = Mapping[Direction, Sequence[Sample]]
PlottedFigure = Callable[[TestResult], float]


def plots_of(run: Run, samples: Sequence[Sample]) -> tuple[Plot, ...]:
    """IOPS, bandwidth and latency (p50, p99) over time, test by test; those of a sweep by its axes; the load curve."""
    found = [*_sweep_plots(run), *curve_plots(run)]
    for test, ways in _tests(run, samples):
        found += _test_plots(test.title, {way: mine for way, mine in ways.items() if len(mine) > 1})
    return tuple(found)


def pairs_of(run: Run, samples: Sequence[Sample]) -> tuple[tuple[Plot, ...], ...]:
    """The load curve; for each test that has a course, IOPS and p99 over time, on scales that end at a round figure."""
    curve = tuple(curve_plots(run))
    found = [curve] if curve else []
    for test, ways in _tests(run, samples):
        plots = []
        for what, timed in (("IOPS", IOPS), ("p99 latency", P99)):
            lines = {str(way): timeline_of(mine, timed) for way, mine in ways.items()}
            curves = tuple(Curve(way, each, way) for way, each in lines.items() if each.resolution > 1)
            if top := highest(curves):
                facet = Facet(Scale.of(timed.quantity, top), curves)
                axis = TimeAxis(max(each.end for each in lines.values()))
                plots.append(Plot(f"{test.title}: {what}", axis, (facet,)))
        if plots:
            found.append(tuple(plots))
    return tuple(found)


def compared_plots(
    comparison: Comparison, sides: Sequence[Side], samples: Mapping[str, Sequence[Sample]]
) -> tuple[Plot, ...]:
    """The IOPS of every arm over time, test by test, on one scale; of sweeps the most IOPS by the first axis."""
    found = [*_compared_sweeps(comparison)]
    taken = _taken(sides, samples)
    for test in comparison.tests:
        for way in Direction if not test.cell else ():
            curves = [
                Curve(column.label, timeline_of(mine, IOPS))
                for column, mine in zip(comparison.columns, taken(test.name, way), strict=True)
                if len(mine) > 1
            ]
            found += _over_time(f"{test.title}: {DIRECTIONS[way].word} IOPS", curves)
    return tuple(found)


def _taken(
    sides: Sequence[Side], samples: Mapping[str, Sequence[Sample]]
) -> Callable[[str, Direction], list[Sequence[Sample]]]:
    """Gives the measured samples of a test and direction of each arm; of several runs those of the one in the middle."""
    arms = arms_of(sides)
    known = {run.id: by_test(samples.get(run.id, ())) for run in runs_of(arms)}

    def mine(run: Run, name: str, way: Direction) -> Sequence[Sample]:
        record = run.test(name)
        own = record is not None and run.sampled(record, way)
        return measured(known[run.id].get((record.index, way), ()), record.index) if record and own else ()

    return lambda name, way: [mine(arm.typical(name), name, way) for arm in arms]


def compared_pairs(
    comparison: Comparison, sides: Sequence[Side], samples: Mapping[str, Sequence[Sample]]
) -> tuple[tuple[Plot, ...], ...]:
    """For each test that is no cell of a sweep, its IOPS (MB/s of large blocks) and p99 over time, every arm on the same axes."""
    found = []
    taken = _taken(sides, samples)
    labels = [cut(column.label, _LEGEND // len(sides), mark="…", middle=True) for column in comparison.columns]
    for test in comparison.tests if len(sides) > 1 else ():
        large = {row.direction for row in headline_rows(test) if row.metric is Measure.BANDWIDTH}
        for way in Direction if not test.cell else ():
            name = f"{test.title} {DIRECTIONS[way].word}" if len(test.directions) > 1 else test.title
            each_arm = taken(test.name, way)
            plots = []
            for what, timed in (("MB/s", BANDWIDTH) if way in large else ("IOPS", IOPS), ("p99 latency", P99)):
                curves = tuple(
                    Curve(label, each, f"run-{min(at, _RUN_INKS - 1)}")
                    for at, (label, mine) in enumerate(zip(labels, each_arm, strict=True))
                    if (each := timeline_of(mine, timed)).resolution > 1
                )
                if top := highest(curves):
                    axis = TimeAxis(max(curve.values.end for curve in curves if isinstance(curve.values, Timeline)))
                    plots.append(Plot(f"{name}: {what}", axis, (Facet(Scale.of(timed.quantity, top), curves),)))
            found += [tuple(plots)] if plots else []
    return tuple(found)


def _tests(run: Run, samples: Sequence[Sample]) -> list[tuple[TestRecord, Ways]]:
    """The tests that are no cell of a sweep, with their measured samples."""
    known = by_test(samples)
    return [
        (test, {way: measured(known.get((test.index, way), ()), test.index) for way in Direction})
        for test in run.tests
        if not test.planned.one_of_many
    ]


def _test_plots(name: str, ways: Ways) -> list[Plot]:
    latencies = []
    for way, mine in ways.items():
        spread = any(sample.distributed for sample in mine)
        for label, timed in (("p50", P50), ("p99", P99)) if spread else (("p50", P50), ("p99", P99), ("mean", MEAN)):
            latencies.append(Curve(f"{DIRECTIONS[way].word} {label}", timeline_of(mine, timed)))
    iops, bandwidth = (
        [Curve(DIRECTIONS[way].word, timeline_of(mine, timed)) for way, mine in ways.items()]
        for timed in (IOPS, BANDWIDTH)
    )
    return [
        *_over_time(f"{name}: IOPS", iops),
        *_over_time(f"{name}: MB/s", bandwidth, 1e6),
        *_over_time(f"{name}: latency, us", latencies, 1e3),
    ]


def _over_time(title: str, curves: Sequence[Curve], divisor: float = 1.0) -> list[Plot]:
    known = tuple(curve for curve in curves if curve.values.resolution)
    if not known:
        return []
    seconds = max(curve.values.end for curve in known if isinstance(curve.values, Timeline))
    return [Plot(title, TimeAxis(seconds), (Facet(Scale.plain(highest(known), divisor), known),))]


def _sweep_plots(run: Run) -> list[Plot]:
    """The charts of every panel; where one axis is swept, IOPS and bandwidth along it. One value alone makes no line."""
    found = list[Plot | None]()
    for grid in sweep.grids(run):
        for panel in sweep.panels(grid):
            if panel.columns:
                found += [
                    _by_both(panel, "IOPS", sweep.iops, along=panel.columns, each=panel.rows),
                    _by_both(panel, "IOPS", sweep.iops, along=panel.rows, each=panel.columns),
                    _by_both(panel, "MB/s", sweep.bandwidth, along=panel.rows, each=panel.columns, divisor=1e6),
                ]
            else:
                title = f"{panel_title(panel)}: by {figures.option(panel.rows.option)}"
                cells = [row[0] for row in panel.cells]
                found += [
                    _by_name(title, panel.rows, [Curve("IOPS", _values(cells, sweep.iops))]),
                    _by_name(title, panel.rows, [Curve("MB/s", _values(cells, sweep.bandwidth))], 1e6),
                ]
    return [plot for plot in found if plot]


def _compared_sweeps(comparison: Comparison) -> list[Plot]:
    """The most IOPS of every run along the rows of each panel."""
    found = []
    for grid in sweep.compared_grids(comparison):
        for panel in sweep.panels(grid):
            curves = [
                Curve(column.label, Steps([sweep.most_iops(tests, index) for tests in panel.cells]))
                for index, column in enumerate(comparison.columns)
            ]
            what = "most IOPS" if panel.columns else "IOPS"
            title = f"{panel_title(panel)}: {what} by {figures.option(panel.rows.option)}"
            found.append(_by_name(title, panel.rows, curves))
    return [plot for plot in found if plot]


def _by_both(
    panel: sweep.Matrix[TestRecord], what: str, figure: PlottedFigure, *, along: Axis, each: Axis, divisor: float = 1.0
) -> Plot | None:
    """A curve for each value of one axis along the other."""
    curves = []
    for index in _spread(len(each.values)):
        cells = [row[index] for row in panel.cells] if along is panel.rows else panel.cells[index]
        curves.append(Curve(value_words(each.option, each.values[index]), _values(cells, figure)))
    title = (
        f"{panel_title(panel)}: {what} by {figures.option(along.option)}, a line for each {figures.option(each.option)}"
    )
    return _by_name(title, along, curves, divisor)


def _by_name(title: str, axis: Axis, curves: Sequence[Curve], divisor: float = 1.0) -> Plot | None:
    names = tuple(value_words(axis.option, value) for value in axis.values)
    known = any(value is not None for curve in curves for value in curve.values.columns(len(names), 1.0))
    if len(names) < 2 or not known:
        return None
    return Plot(title, NameAxis(names), (Facet(Scale.plain(highest(curves), divisor), tuple(curves)),))


def _values(cells: Sequence[TestRecord | None], figure: PlottedFigure) -> Steps:
    return Steps([figure(result) if (result := sweep.measured(test)) else None for test in cells])


def _spread(count: int) -> list[int]:
    """At most MOST_CURVES of so many, evenly apart, the first and the last among them."""
    if count <= MOST_CURVES:
        return list(range(count))
    return [round(index * (count - 1) / (MOST_CURVES - 1)) for index in range(MOST_CURVES)]
