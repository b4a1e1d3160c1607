"""What stands out in a fleet run: the odd host or disk among those that are like it, and what several have in common."""

from collections.abc import Sequence

from diskprof.analysis.fleet.measured import Measured, Peers, peers
from diskprof.analysis.fleet.odd_ones import FEWEST, RATES, OddFigure, OddOne, odd_ones
from diskprof.analysis.fleet.shared_findings import SharedFinding, shared_findings
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Note, Paragraph, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, WEIGHTS, Meaning

_FEW = 4
"""So many members are named; of more their number is."""


def all_odd_ones(members: Sequence[Measured]) -> tuple[OddOne, ...]:
    """Of all kinds of members."""
    return tuple(odd for alike in peers(members) for odd in odd_ones(alike))


def standing_out_blocks(members: Sequence[Measured], odd: Sequence[OddOne], noun: str) -> list[Block]:
    """Each odd one in a sentence, all its figures, and what was held against what."""
    kinds = peers(members)
    told: list[Block] = [Paragraph(odd_words(each), Meaning.WARNING, hanging=True) for each in odd]
    if odd:
        told.append(_table(odd, noun))
    elif any(len(alike.members) >= FEWEST for alike in kinds):
        told = [Paragraph(f"None: no {noun} is beyond what the {noun}s that are like it differ among themselves.")]
    return [*told, *(Paragraph(_kind_words(alike, noun), Meaning.QUIET, hanging=True) for alike in kinds)]


def odd_words(odd: OddOne) -> str:
    """`db3: 31% below the other 11, beyond what they differ among themselves (4K rand read QD32).`"""
    first = odd.figures[0]
    measure = "" if first.name.measure in RATES else f", {figures.METRICS[first.name.measure].short}"
    return f"{clean(odd.label)}: {_apart(first)}, beyond what they differ among themselves ({clean(first.name.words)}{measure})."


def _table(odd: Sequence[OddOne], noun: str) -> Table:
    columns = (
        *(Column(noun.capitalize(), least=8, middle=True), Column("Test", least=18, middle=True)),
        *(Column("Direction", short=""), Column("Figure"), Column("Value", right=True)),
        *(Column("Others", right=True), Column("Apart", right=True)),
    )
    rows = tuple(
        _figure_row(each.label if at == 0 else "", figure) for each in odd for at, figure in enumerate(each.figures)
    )
    return Table(columns, rows, legend="Others: the median of those that are like it.", inset=True)


def _figure_row(label: str, figure: OddFigure) -> tuple[Cell, ...]:
    name, way = figure.name, DIRECTIONS[figure.name.direction]
    return (
        *(Cell(clean(label)), Cell(clean(name.title)), Cell(way.word, way.meaning)),
        Cell(figures.METRICS[name.measure].label, short=figures.METRICS[name.measure].short),
        Cell(figures.figure(name.measure, figure.value), strong=True),
        Cell(figures.figure(name.measure, figure.median)),
        Cell(figures.relative(figure.apart), Meaning.WARNING if figure.worse else Meaning.PLAIN),
    )


def _apart(figure: OddFigure) -> str:
    """`31% below the other 11`, `5.2 x the other 11`."""
    others = f"the other {figure.others}"
    if figure.apart >= 1:
        return f"{figure.apart + 1:.1f} x {others}"
    return f"{abs(figure.apart):.0%} {'below' if figure.apart < 0 else 'above'} {others}"


def _kind_words(alike: Peers, noun: str) -> str:
    """`4 hosts alike: Example 1000, 932 GiB, nvme; ext4; 6.1.0.`"""
    count = len(alike.members)
    like = "; ".join(clean(part) for part in (alike.disks, alike.file_system, alike.kernel) if part)
    if count == 1:
        return f"{clean(alike.members[0].label)} alone: {like}. There is no other like it."
    few = f" Too few to name an odd one: it takes {FEWEST}." if count < FEWEST else ""
    return f"{figures.count(count, noun)} alike: {like}.{few}"


def finding_blocks(members: Sequence[Measured], noun: str) -> list[Block]:
    """Each finding once, with the members that have it."""
    notes: list[Block] = [_note(shared, noun) for shared in shared_findings(members)]
    return notes or [Paragraph("None: no rule matched.", Meaning.QUIET)]


def _note(shared: SharedFinding, noun: str) -> Note:
    finding, word = shared.finding, WEIGHTS[shared.finding.weight]
    where = who(shared.labels, shared.of, noun)
    if shared.tests:
        where += (
            f": {', '.join(map(clean, shared.tests))}" if len(shared.tests) <= _FEW else f": {len(shared.tests)} tests"
        )
    several = len(shared.labels) > 1 or len(shared.tests) > 1
    evidence = f"{clean(shared.labels[0])}: {finding.evidence}" if several and finding.evidence else finding.evidence
    return Note(finding.message, word.word, where, evidence, finding.advice, word.meaning, word.sign)


def who(labels: Sequence[str], of: int, noun: str) -> str:
    """`all 12 hosts`, `both disks`, `db1 and db3`, `7 of 12 hosts`."""
    if len(labels) == of > 1:
        return f"both {noun}s" if of == 2 else f"all {of} {noun}s"
    if len(labels) <= _FEW:
        return figures.listed([clean(label) for label in labels])
    return f"{len(labels)} of {of} {noun}s"
