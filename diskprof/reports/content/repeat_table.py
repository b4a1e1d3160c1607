"""Headline figures over repeats, with their intervals: of the targets of a series, or the members of a fleet run."""

from collections.abc import Mapping, Sequence, Set

from diskprof.analysis.series_figures import SeriesFigure
from diskprof.model.run import Weight
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Course, Spark, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, WEIGHTS

_DOUBT = WEIGHTS[Weight.DOUBT]


def repeat_blocks(
    known: Sequence[SeriesFigure], names: Mapping[int, str], noun: str, doubted: Set[int] = frozenset()
) -> list[Block]:
    """A row for each figure of each arm, then its course; arms are called as in `names`, and not at all where that is empty.

    `doubted` are the arms with a run in doubt.
    """
    ordered = sorted(known, key=lambda each: _order(known, each))
    columns = (
        Column("Test", least=18, middle=True),
        *(Column("Direction", short=""), *((Column(noun),) if names else ())),
        *(Column("Runs", right=True), Column("Median", right=True), Column("95% interval", right=True)),
        Column("+-", right=True, spare=1),
    )
    rows = tuple(_row(figure, names, doubted=figure.arm in doubted) for figure in ordered)
    few = any(figure.spread.range_only for figure in ordered)
    legend = "95% interval: of the median, from run to run"
    if few and any(len(figure.values) > 1 for figure in ordered):
        legend += ". In parentheses: lowest and highest, as an interval needs 6 runs."
    else:
        legend += "; it needs 6 runs." if few else "."
    found: list[Block] = [Table(columns, rows, legend=legend, inset=True)]
    if any(len(figure.values) > 1 for figure in ordered):
        found.append(Spark("By repeat", tuple(_course(figure, names) for figure in ordered)))
    return found


def _order(known: Sequence[SeriesFigure], figure: SeriesFigure) -> tuple[int, int]:
    """The arms of one figure beside each other."""
    names = list(dict.fromkeys((each.test, each.direction) for each in known))
    return names.index((figure.test, figure.direction)), figure.arm


def _row(figure: SeriesFigure, names: Mapping[int, str], *, doubted: bool) -> tuple[Cell, ...]:
    spread, way = figure.spread, DIRECTIONS[figure.direction]
    bounds = f"{figures.figure(figure.measure, spread.low)} to {figures.figure(figure.measure, spread.high)}"
    alone = len(figure.values) == 1
    return (
        Cell(clean(figure.title)),
        Cell(way.word, way.meaning),
        *([Cell(clean(names[figure.arm]))] if names else []),
        Cell(f"{_DOUBT.sign} {len(figure.values)}", _DOUBT.meaning) if doubted else Cell(str(len(figure.values))),
        Cell(figures.figure(figure.measure, figure.median), strong=True),
        Cell("" if alone else f"({bounds})" if spread.range_only else bounds),
        Cell("" if alone or spread.range_only else figures.share(spread.share)),
    )


def _course(figure: SeriesFigure, names: Mapping[int, str]) -> Course:
    low, middle, high = (
        figures.figure(figure.measure, value) for value in (min(figure.values), figure.median, max(figure.values))
    )
    where = f" {clean(names[figure.arm])}" if names else ""
    name = f"{clean(figure.title)} {DIRECTIONS[figure.direction].word}{where}"
    return Course(name, figure.values, (1.0,) * len(figure.values), low, middle, high, cpu="")
