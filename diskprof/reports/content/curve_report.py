"""The load curve of a run: where the latency doubles, in a sentence, a row for each load, and its picture."""

from collections.abc import Sequence

from diskprof.analysis.limit_found import found_limit
from diskprof.analysis.load_curve import DOUBLE, LoadCurve, LoadPoint, found_curve
from diskprof.model.metric import Quantity
from diskprof.model.run import Run
from diskprof.model.units import format_iops, format_latency
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Paragraph, Table
from diskprof.reports.charts.axes import LogScale, NameAxis, Scale
from diskprof.reports.charts.plot import Cursor, Curve, Facet, Plot, highest
from diskprof.reports.charts.timeline import Slopes
from diskprof.reports.layout import Column

_NAMES = ("p50", "p90", "p99", "p99.9")
_OFF = 0.1
"""A mean number in flight that is further from its depth says that the latency was not measured as it was waited for."""

TITLE = "Latency by load"


def curve_blocks(run: Run) -> list[Block]:
    """Nothing of another run."""
    curve = found_curve(run)
    if curve is None:
        return []
    limit = found_limit(run)
    kept = limit.bracket.kept if limit else None
    told = [knee_words(curve), *_headroom_words(curve, kept.done if kept else 0.0), *_little_words(curve)]
    return [*(Paragraph(sentence, hanging=True) for sentence in told), _table(curve)]


def knee_note(curve: LoadCurve) -> str:
    """`p99 doubles between 1.48k and 1.62k IOPS`; empty where it does not."""
    knee = curve.knee
    return f"p99 doubles between {format_iops(knee.below.done)} and {format_iops(knee.above.done)} IOPS" if knee else ""


def knee_words(curve: LoadCurve) -> str:
    if knee := curve.knee:
        little, below, above = (
            format_latency(value)
            for value in (knee.little_ns, knee.below.latency.p99 or 0, knee.above.latency.p99 or 0)
        )
        return (
            f"Knee: p99 doubles between {knee.below.done:,.0f} IOPS ({below}) and {knee.above.done:,.0f} IOPS ({above});"
            f" with little load it is {little}."
        )
    last = curve.points[-1]
    p99 = last.latency.p99
    reached = f": {format_latency(p99)} at {last.done:,.0f} IOPS" if p99 is not None else ""
    return f"No knee: p99 is nowhere {DOUBLE:.0f} times that of little load{reached}."


def _headroom_words(curve: LoadCurve, limit: float) -> list[str]:
    """What lies between the knee and the limit, in I/Os a second, to whoever sends them; nothing where the knee is not below it."""
    knee = curve.knee
    if knee is None or knee.below.done >= limit:
        return []
    calm = knee.below.done
    return [
        f"For a database: up to {calm:,.0f} IOPS an I/O waits hardly longer than on an idle disk. The {limit - calm:,.0f} IOPS from"
        f" there to the limit ({100 * (1 - calm / limit):.0f}% of it) are for peaks; with more the promise is broken."
    ]


def _little_words(curve: LoadCurve) -> list[str]:
    """Of each depth the trial that is furthest off."""
    worst: dict[int, float] = {}
    for queue in curve.queues:
        if queue.depth not in worst or abs(queue.in_flight - queue.depth) > abs(worst[queue.depth] - queue.depth):
            worst[queue.depth] = queue.in_flight
    if not worst:
        return []
    each = ", ".join(f"{value:.3g} at QD{depth}" for depth, value in sorted(worst.items()))
    told = f"Little's law: IOPS times mean latency is {each}."
    if any(abs(value / depth - 1) > _OFF for depth, value in worst.items()):
        told += " It should be the depth: I/Os waited where their latency does not count, as for a CPU."
    return [told]


def _table(curve: LoadCurve) -> Table:
    columns = (
        *(Column("Load", right=True), Column("IOPS", right=True), Column("In flight", right=True)),
        *(Column(name, right=True) for name in ("mean", *_NAMES)),
    )
    ends = {curve.knee.below.asked, curve.knee.above.asked} if curve.knee else set[int]()
    rows = [
        (
            Cell(f"{point.asked:,}/s", strong=point.asked in ends),
            Cell(figures.number(point.done), strong=point.asked in ends),
            Cell(f"{point.in_flight:.2f}"),
            *(Cell(figures.MISSING if value is None else format_latency(value)) for value in _values(point)),
        )
        for point in curve.points
    ]
    legend = "In flight: IOPS times mean latency (Little's law)."
    return Table(columns, tuple(rows), legend=legend, lead=1)


def _values(point: LoadPoint) -> tuple[float | None, ...]:
    latency = point.latency
    return (latency.mean, latency.p50, latency.p90, latency.p99, latency.p99_9)


def curve_plots(run: Run) -> list[Plot]:
    """For a page: p50 and p99 by load, from zero. Nothing of another run, and of one load alone."""
    curve = found_curve(run)
    if curve is None or len(curve.points) < 2:
        return []
    curves = _curves(curve, ("read", "write"))
    scale = Scale.of(Quantity.LATENCY, highest(curves))
    return [Plot(f"{TITLE} ({scale.suffix})", _loads(curve), (Facet(scale, tuple(curves)),), cursor=_knee_mark(curve))]


def curve_picture(curve: LoadCurve, inks: Sequence[str], note: str = "") -> Plot:
    """For a screen: p50, p99 and p99.9 by load, on a logarithmic scale, each in its ink."""
    curves = _curves(curve, inks)
    values = [value for each in curves for value in each.values.columns(len(curve.points), 1.0) if value]
    if not values:
        return Plot(TITLE, nothing="There is no distribution.")
    facet = Facet(LogScale.of(min(values), max(values)), tuple(curves))
    return Plot(TITLE, _loads(curve), (facet,), note=note, cursor=_knee_mark(curve))


def _knee_mark(curve: LoadCurve) -> Cursor | None:
    """In the middle between the two loads that the knee lies between."""
    knee = curve.knee
    return Cursor(curve.points.index(knee.above) - 0.5, name="knee") if knee else None


def _curves(curve: LoadCurve, inks: Sequence[str]) -> list[Curve]:
    """As many as there are inks."""
    rows = [(point.latency.p50, point.latency.p99, point.latency.p99_9) for point in curve.points]
    columns = zip(*rows, strict=True)
    return [
        Curve(name, Slopes(list(values)), ink, sign, end=name)
        for (name, sign), values, ink in zip((("p50", "5"), ("p99", "9"), ("p99.9", "+")), columns, inks, strict=False)
        if any(value is not None for value in values)
    ]


def _loads(curve: LoadCurve) -> NameAxis:
    return NameAxis([format_iops(point.done) for point in curve.points])
