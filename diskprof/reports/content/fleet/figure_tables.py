"""The figures of a fleet run: the sums of all members, and each member by itself."""

from collections.abc import Sequence

from diskprof.analysis.fleet.measured import FigureName, Measured, figures
from diskprof.analysis.fleet.odd_ones import OddOne
from diskprof.analysis.fleet.sums import Sum, sums
from diskprof.analysis.metrics import Measure
from diskprof.model.run import Status, Weight
from diskprof.model.text import clean
from diskprof.reports import figures as written
from diskprof.reports.blocks import Block, Cell, Paragraph, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, STATUSES, WEIGHTS, Meaning

_ODD = WEIGHTS[Weight.DOUBT].sign
_QUANTILES = (0.5, 0.99, 0.999)


def sum_blocks(members: Sequence[Measured], noun: str) -> list[Block]:
    """A row for each test and direction: the sum of all members, and percentiles of all their I/Os."""
    found = sums(members)
    if not found:
        return [Paragraph("No complete test.", Meaning.QUIET)]
    columns = (
        *(Column("Test", least=18, middle=True), Column("Direction", short="")),
        *(Column(f"{noun.capitalize()}s", right=True), Column("IOPS", right=True), Column("MB/s", right=True)),
        *(Column("p50", right=True), Column("p99", right=True), Column("p99.9", right=True, spare=1)),
    )
    legend = f"p50, p99, p99.9: of all I/Os of all {noun}s, from the sum of fio's histograms, not from a mean of percentiles."
    return [Table(columns, tuple(map(_sum_row, found)), legend=legend, inset=True)]


def _sum_row(each: Sum) -> tuple[Cell, ...]:
    way = DIRECTIONS[each.direction]
    return (
        *(Cell(clean(each.title)), Cell(way.word, way.meaning), Cell(str(each.members))),
        Cell(written.number(each.iops), strong=True),
        Cell(written.megabytes(each.bandwidth_bytes_per_s), strong=True),
        *(Cell(written.figure(Measure.LATENCY_P99, each.quantile(q))) for q in _QUANTILES),
    )


def member_blocks(members: Sequence[Measured], odd: Sequence[OddOne], noun: str) -> list[Block]:
    """A row for each member, a column for what each test is judged by first; what stands out has a sign."""
    known = [figures(member) for member in members]
    names = [name for name in dict.fromkeys(name for found in known for name in found) if name.measure not in _BESIDE]
    status = any(run.status is not Status.COMPLETE for member in members for run in member.runs)
    marked = {(each.label, figure.name) for each in odd for figure in each.figures}
    columns = (
        Column(noun.capitalize(), least=10, middle=True),
        *(Column(_head(name), right=True) for name in names),
        *((Column("Status"),) if status else ()),
    )
    rows = tuple(
        (
            Cell(clean(member.label)),
            *(_figure(name, found.get(name), odd=(member.label, name) in marked) for name in names),
            *([_status(member)] if status else ()),
        )
        for member, found in zip(members, known, strict=True)
    )
    return [Table(columns, rows, lead=1, inset=True)]


_BESIDE = frozenset({Measure.LATENCY_P99})
"""What is looked at for the odd one, but no column."""


def _head(name: FigureName) -> str:
    return clean(name.words)


def _figure(name: FigureName, value: float | None, *, odd: bool) -> Cell:
    text = written.figure(name.measure, value)
    return Cell(f"{_ODD} {text}", Meaning.WARNING, strong=True) if odd else Cell(text)


def _status(member: Measured) -> Cell:
    """How its runs ended; of several the first that is not complete."""
    last = next((run for run in member.runs if run.status is not Status.COMPLETE), member.runs[-1])
    word = STATUSES[last.status]
    return Cell(word.word, word.meaning)
