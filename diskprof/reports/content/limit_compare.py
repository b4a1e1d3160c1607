"""Searches for a limit side by side: the loads that each ended between, and their load curves."""

from collections.abc import Sequence
from math import inf

from msgspec import Struct

from diskprof.analysis.comparison import ComparedArm, ComparedRun, Comparison
from diskprof.analysis.limit_search import Level
from diskprof.analysis.load_curve import LoadCurve
from diskprof.model.limit import promises_words
from diskprof.model.metric import Quantity
from diskprof.model.units import format_iops, format_latency
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.charts.axes import NameAxis, Scale
from diskprof.reports.charts.plot import Curve, Facet, Named, Plot, highest
from diskprof.reports.content.curve_report import TITLE, knee_words
from diskprof.reports.layout import Column

_COLUMNS = 120
_RUN_INKS = 4


def compared_limits(comparison: Comparison) -> list[Block]:
    """What the runs of a comparison found that searched for a limit, a row for each run, against the first; nothing without two."""
    runs = [(arm.label, run) for arm in comparison.columns for run in arm.runs if run.limit and run.limit.trials]
    if len(runs) < 2:
        return []
    columns = (
        Column(""),
        *(Column(head, right=True) for head in ("Kept", "Trials", "Not kept", "Trials", "Difference")),
        Column("Promise", below=True),
    )
    base = _kept_of(runs[0][1])
    rows = []
    for at, (label, run) in enumerate(runs):
        assert run.limit
        bracket, value = run.limit.bracket, _kept_of(run)
        change = figures.relative(value / base - 1) if at and base and value is not None else ""
        cells = (
            *_end(bracket.kept, kept=True),
            *_end(bracket.missed, kept=False),
            change,
            promises_words(run.limit.rule),
        )
        rows.append(tuple(map(Cell, (label, *cells))))
    legend = "IOPS: the highest load that kept what was promised, and the lowest that did not."
    return [Heading("Limit"), Table(columns, tuple(rows), legend=legend, lead=1)]


def _kept_of(run: ComparedRun) -> float | None:
    kept = run.limit.bracket.kept if run.limit else None
    return kept.done if kept else None


def limit_change(comparison: Comparison, column: int) -> str:
    """What the limit of an arm is beside that of the base: `limit 3,124 IOPS, was 3,842 (-19%)`; empty without one run each that
    has a limit. Where what lies between the two loads of one and of the other has something in common, they may be the same."""
    arms = [comparison.columns[at].runs for at in (0, column)]
    brackets = [runs[0].limit.bracket for runs in arms if len(runs) == 1 and runs[0].limit]
    if len(brackets) < 2 or not all(bracket.kept for bracket in brackets):
        return ""
    (low, high), (base_low, base_high) = (
        (bracket.kept.done if bracket.kept else 0.0, bracket.missed.done if bracket.missed else inf)
        for bracket in reversed(brackets)
    )
    if low <= base_high and base_low <= high:
        return f"limit {low:,.0f} IOPS, was {base_low:,.0f}: within what the searches left open"
    return f"limit {low:,.0f} IOPS, was {base_low:,.0f} ({figures.relative(low / base_low - 1)})"


def _end(level: Level | None, *, kept: bool) -> tuple[str, str]:
    if level is None:
        return figures.MISSING, ""
    times = level.times_kept if kept else level.times - level.times_kept
    return figures.number(level.done), f"{times} of {level.times}"


def _of_runs(comparison: Comparison) -> list[tuple[int, LoadCurve]]:
    """The load curves of the runs of a comparison with the numbers of their arms; none without two."""
    found = [(at, run.curve) for at, arm in enumerate(comparison.columns) for run in arm.runs if run.curve]
    return found if len(found) > 1 else []


def compared_curves(comparison: Comparison) -> list[Block]:
    """The loads of all runs in their order, each with its latency in the column of its run: nothing between them is made up."""
    curves = [(comparison.columns[at].label, curve) for at, curve in _of_runs(comparison)]
    if not curves:
        return []
    few = len(curves) == 2
    heads = [f"{label} {name}" for label, _ in curves for name in (("p50", "p99") if few else ("p99",))]
    columns = (Column("IOPS", right=True), *(Column(head, right=True) for head in heads))
    rows = []
    for at, point in sorted(
        ((at, point) for at, (_, curve) in enumerate(curves) for point in curve.points), key=lambda each: each[1].done
    ):
        mine = (point.latency.p50, point.latency.p99) if few else (point.latency.p99,)
        cells = [""] * len(heads)
        cells[at * len(mine) : (at + 1) * len(mine)] = [
            figures.MISSING if value is None else format_latency(value) for value in mine
        ]
        rows.append(tuple(map(Cell, (figures.number(point.done), *cells))))
    told: list[Block] = [Paragraph(f"{label}: {knee_words(curve)}", hanging=True) for label, curve in curves]
    return [Heading(TITLE), *told, Table(columns, tuple(rows), lead=1)]


class _ByLoad(Struct, frozen=True):
    """The p99 of a curve over IOPS, `top` of which are the end of the axis: straight lines between its points."""

    points: tuple[tuple[float, float], ...]
    top: float

    @property
    def resolution(self) -> int:
        return _COLUMNS if len(self.points) > 1 else 0

    @property
    def highest(self) -> float:
        return max((value for _, value in self.points), default=0.0)

    def columns(self, count: int, end: float) -> list[float | None]:
        return [self._at(self.top * column / max(1, count - 1)) for column in range(count)]

    def _at(self, load: float) -> float | None:
        for (low, before), (high, after) in zip(self.points, self.points[1:], strict=False):
            if low <= load <= high:
                return before + (after - before) * ((load - low) / (high - low) if high > low else 1.0)
        return None


def compared_curve_plots(comparison: Comparison) -> tuple[tuple[Plot, ...], ...]:
    """For a page: the p99 of every run by its load, on one axis of IOPS from zero."""
    looks = [("", arm.label, f"run-{min(at, _RUN_INKS - 1)}") for at, arm in enumerate(comparison.columns)]
    plot = compared_curve_plot(comparison, looks)
    return ((plot,),) if plot else ()


def compared_curve_plot(comparison: Comparison, looks: Sequence[Named]) -> Plot | None:
    """The p99 of each load curve by its load, on one axis of IOPS from zero, in the look of its arm; None without two curves."""
    known = [
        (looks[at], tuple(sorted((one.done, one.latency.p99) for one in curve.points if one.latency.p99 is not None)))
        for at, curve in _of_runs(comparison)
    ]
    loads = Scale.plain(max((load for _, points in known for load, _ in points), default=0.0))
    lines = tuple(
        Curve(label, _ByLoad(points, loads.top), ink, sign, end=sign)
        for (sign, label, ink), points in known
        if len(points) > 1
    )
    if len(lines) < 2:
        return None
    scale = Scale.of(Quantity.LATENCY, highest(lines))
    names = NameAxis([format_iops(load) for load in loads.ticks])
    return Plot(f"{TITLE}: p99 ({scale.suffix}) by IOPS", names, (Facet(scale, lines),))


def limits_beside(comparison: Comparison) -> tuple[tuple[Cell, ...], ...]:
    """For a screen: what was found, a row each, in a column for each arm; nothing without two searches.

    Of an arm of several runs the IOPS of each.
    """
    arms = [[run for run in arm.runs if run.limit and run.limit.trials] for arm in comparison.columns]
    if sum(map(len, arms)) < 2:
        return ()
    rows = [
        ("kept the promise", *(_ends(runs, kept=True) for runs in arms)),
        ("did not keep it", *(_ends(runs, kept=False) for runs in arms)),
    ]
    curves = [_only_curve(arm) for arm in comparison.columns]
    if sum(curve is not None for curve in curves) > 1:
        rows.append(("p99 doubles from", *(_knee(curve) for curve in curves)))
    return tuple(tuple(map(Cell, row)) for row in rows)


def _ends(runs: list[ComparedRun], *, kept: bool) -> str:
    ends = [(run.limit.bracket.kept if kept else run.limit.bracket.missed) for run in runs if run.limit]
    return ", ".join(figures.MISSING if end is None else figures.number(end.done) for end in ends) or figures.MISSING


def _only_curve(arm: ComparedArm) -> LoadCurve | None:
    return arm.runs[0].curve if len(arm.runs) == 1 else None


def _knee(curve: LoadCurve | None) -> str:
    return figures.number(curve.knee.above.done) if curve and curve.knee else figures.MISSING
