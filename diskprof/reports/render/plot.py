"""Charts of what stands still, drawn by plotext, which is imported when first called."""

import math
from collections.abc import Mapping, Sequence
from statistics import median_low

from diskprof.analysis.comparison import Comparison
from diskprof.analysis.series import measured
from diskprof.model.run import Run, TestRecord
from diskprof.model.sample import Direction, Sample
from diskprof.reports.charts.sparkline import even
from diskprof.reports.layout import plain, width_of, wrap
from diskprof.reports.render.plot_sweep import Curve as Curve
from diskprof.reports.render.plot_sweep import Drawing, comparison_drawings, run_drawings
from diskprof.reports.words import DIRECTIONS

HEIGHT = 13
_LEAST_WIDTH = 30
_COLOURS = ("cyan", "orange", "green", "magenta", "blue", "red")
_ASCII = ("*", "o", "+", "x", "#", "@")
_BLOCKS = "hd"
_POINTS_A_COLUMN = 2
_LONG = 1.5
"""An interval that lasted so much longer than is usual is drawn with its beginning: the disk may have stood still in it."""


def run_plots(
    run: Run, samples: Sequence[Sample], width: int = 80, *, colour: bool = False, ascii_only: bool = False
) -> str:
    """IOPS, bandwidth and latency (p50, p99) over time, test by test; of a sweep IOPS and bandwidth by its axes.

    Empty where nothing was measured.
    """
    blocks = _drawn(run_drawings(run), width, colour=colour, ascii_only=ascii_only)
    for test in run.tests:
        if test.planned.cell:
            continue
        charts = [
            chart(title, curves, width, colour=colour, ascii_only=ascii_only)
            for title, curves in _curves(test, measured(samples, test.index), width * _POINTS_A_COLUMN)
        ]
        blocks += [block for block in charts if block]
    return "\n".join(blocks)


def comparison_plots(
    comparison: Comparison,
    runs: Sequence[Run],
    series: Mapping[str, Sequence[Sample]],
    width: int = 80,
    *,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """The IOPS of every run over time, test by test, on one scale; of sweeps the most IOPS by the first axis."""
    blocks = _drawn(comparison_drawings(comparison), width, colour=colour, ascii_only=ascii_only)
    most = width * _POINTS_A_COLUMN
    for test in comparison.tests:
        for direction in Direction if not test.cell else ():
            curves = []
            for run, column in zip(runs, comparison.columns, strict=True):
                record = run.test(test.name)
                mine = measured(series.get(run.id, ()), record.index, direction) if record else ()
                if len(mine) > 1:
                    curves.append(Curve(column.label, _over_time(mine, [sample.iops for sample in mine], most)))
            title = f"{test.name}: {DIRECTIONS[direction].word} IOPS"
            if block := chart(title, curves, width, colour=colour, ascii_only=ascii_only):
                blocks.append(block)
    return "\n".join(blocks)


def _drawn(drawings: Sequence[Drawing], width: int, *, colour: bool, ascii_only: bool) -> list[str]:
    charts = [
        chart(drawing.title, drawing.curves, width, drawing.names, colour=colour, ascii_only=ascii_only)
        for drawing in drawings
    ]
    return [block for block in charts if block]


def _curves(test: TestRecord, samples: Sequence[Sample], most: int) -> list[tuple[str, list[Curve]]]:
    iops, bandwidth, latency = list[Curve](), list[Curve](), list[Curve]()
    for direction in Direction:
        mine = [sample for sample in samples if sample.direction is direction]
        if len(mine) < 2:
            continue
        name = DIRECTIONS[direction].word
        iops.append(Curve(name, _over_time(mine, [sample.iops for sample in mine], most)))
        bandwidth.append(Curve(name, _over_time(mine, [sample.bandwidth / 1e6 for sample in mine], most)))
        for label, q in (("p50", 0.5), ("p99", 0.99)):
            values = [sample.quantile(q) for sample in mine]
            if any(value is not None for value in values):
                shown = [value / 1e3 if value is not None else None for value in values]
                latency.append(Curve(f"{name} {label}", _over_time(mine, shown, most)))
        if all(sample.histogram is None for sample in mine):
            means = [sample.mean_ns / 1e3 if sample.mean_ns is not None else None for sample in mine]
            if any(mean is not None for mean in means):
                latency.append(Curve(f"{name} mean", _over_time(mine, means, most)))
    return [
        (f"{test.name}: IOPS", iops),
        (f"{test.name}: MB/s", bandwidth),
        (f"{test.name}: completion latency, us", latency),
    ]


def _over_time(
    samples: Sequence[Sample], values: Sequence[float | None], most: int
) -> tuple[tuple[float, float | None], ...]:
    """At most `most` points: seconds since the measuring began, at each interval's end, and at its beginning if it was long.

    Of more intervals the means over equal parts of the time.
    """
    start, end = samples[0].at_ns - samples[0].duration_ns, samples[-1].at_ns
    lasting = [sample.duration_ns for sample in samples]
    long = _LONG * median_low(lasting)
    if len(samples) + sum(length > long for length in lasting) > most:
        means = even(values, lasting, most)
        return tuple(((end - start) * (index + 1) / len(means) / 1e9, value) for index, value in enumerate(means))
    points, before = list[tuple[float, float | None]](), start
    for sample, value in zip(samples, values, strict=True):
        if sample.duration_ns > long:
            points.append(((max(before, sample.at_ns - sample.duration_ns) - start) / 1e9, value))
        points.append(((sample.at_ns - start) / 1e9, value))
        before = sample.at_ns
    return tuple(points)


def chart(
    title: str,
    curves: Sequence[Curve],
    width: int,
    names: Sequence[str] = (),
    *,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """One chart from zero up, its title and a legend above; empty where there is nothing to draw.

    Along it go seconds, or `names` at 0, 1, 2 and so on.
    """
    known = [value for curve in curves for _, value in curve.points if value is not None and math.isfinite(value)]
    if not known:
        return ""
    import plotext

    width = max(_LEAST_WIDTH, width)
    plotext.clear_figure()
    # plotext shrinks a figure to the terminal it finds itself in, which here is not where the text goes.
    plotext.limit_size(False, False)
    plotext.plotsize(width, HEIGHT)
    plotext.theme("clear")
    ticks = round_ticks(max(known))
    last = max(at for curve in curves for at, _ in curve.points)
    seconds = [at for at in round_ticks(last) if at <= last]
    plotext.ylim(0, ticks[-1])
    plotext.xlim(0, last or 1.0)
    plotext.yticks(ticks, [f"{tick:,.10g}" for tick in ticks])
    if names:
        shown = _room_for(names, width)
        plotext.xticks(shown, [plain(names[index]) for index in shown])
    else:
        plotext.xticks(seconds, [f"{at:.10g} s" for at in seconds])
    for index, curve in enumerate(curves):
        marker = _marker(index, len(curves), ascii_only)
        for points in _stretches(curve):
            plotext.plot(
                [at for at, _ in points],
                [value for _, value in points],
                marker=marker,
                color=_COLOURS[index % len(_COLOURS)] if colour else "default",
            )
    drawn: str = plotext.build()
    plotext.clear_figure()
    if not colour:
        drawn = plotext.uncolorize(drawn)
    if ascii_only:
        drawn = drawn.translate(_FRAME)
    lines = [line.rstrip() for line in drawn.splitlines()]
    return "\n".join([*_head(title, curves, width, ascii_only), *lines]) + "\n"


def _room_for(names: Sequence[str], width: int) -> list[int]:
    """Which of the names fit under a chart: every one, every second, and so on."""
    widest = max(width_of(plain(name)) for name in names) + 2
    return list(range(0, len(names), max(1, math.ceil(len(names) * widest / width))))


def round_ticks(top: float) -> list[float]:
    """Four to six round figures from 0 to `top` or the next above it."""
    if top <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(top / 4))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power * 5 >= top)
    return [step * index for index in range(math.ceil(top / step - 1e-9) + 1)]


def _head(title: str, curves: Sequence[Curve], width: int, ascii_only: bool) -> list[str]:
    """The title, and which mark is which curve, on a second line where the first has no room."""
    if len(curves) == 1:
        return wrap(f"{plain(title)} ({plain(curves[0].label)})", width)
    marks = [f"{_marker(index, len(curves), ascii_only)} {plain(curve.label)}" for index, curve in enumerate(curves)]
    line = f"{plain(title)}:  {'   '.join(marks)}"
    return [line] if width_of(line) <= width else [*wrap(plain(title), width), *wrap(", ".join(marks), width, "  ")]


_FRAME = str.maketrans("┌┐└┘─│┤├┬┴┼", "++++-|++++" + "+")


def _marker(index: int, count: int, ascii_only: bool) -> str:
    """Curves that share a chart are told apart by their marks, colour or not."""
    if count == 1 and not ascii_only:
        return _BLOCKS
    return _ASCII[index % len(_ASCII)]


def _stretches(curve: Curve) -> list[list[tuple[float, float]]]:
    """A curve in pieces without gaps."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for at, value in curve.points:
        if value is None or not math.isfinite(value):
            pieces.append([])
        else:
            pieces[-1].append((at, value))
    return [piece for piece in pieces if piece]
