"""What stands out in a fleet run: the odd host or disk among those that are like it, and what several have in common."""

from collections.abc import Sequence

from diskprof.analysis.fleet.measured import Measured, Peers, peers
from diskprof.analysis.fleet.odd_ones import FEWEST, OddFigure, OddOne, odd_ones
from diskprof.analysis.fleet.shared_findings import SharedFinding, shared_findings
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Note, Paragraph
from diskprof.reports.words import DIRECTIONS, WEIGHTS, Meaning

_FEW = 4
"""So many members are named; of more their number is."""


def all_odd_ones(members: Sequence[Measured]) -> tuple[OddOne, ...]:
    """Of all kinds of members."""
    return tuple(odd for alike in peers(members) for odd in odd_ones(alike))


def standing_out_blocks(members: Sequence[Measured], odd: Sequence[OddOne], noun: str) -> list[Block]:
    """Each odd one with its figures, and what was held against what."""
    kinds = peers(members)
    told = [Paragraph(words, Meaning.WARNING, hanging=True) for each in odd for words in odd_words(each)]
    if not odd and any(len(alike.members) >= FEWEST for alike in kinds):
        told = [Paragraph(f"None: no {noun} is beyond what the {noun}s that are like it differ among themselves.")]
    return [*told, *(Paragraph(_kind_words(alike, noun), Meaning.QUIET, hanging=True) for alike in kinds)]


def odd_words(odd: OddOne) -> list[str]:
    """`db3: 31% below the other 11, beyond what they differ among themselves: 4K rand read QD32 read 3.45k, the others 5.01k.`"""
    return [_figure_words(clean(odd.label), figure) for figure in odd.figures]


def short_odd_words(odd: OddOne) -> str:
    """`db3: 31% below the other 11 (4K rand read QD32)`, of the figure that is farthest apart."""
    first = odd.figures[0]
    return f"{clean(odd.label)}: {_apart(first)} ({clean(first.name.title)})"


def _figure_words(label: str, figure: OddFigure) -> str:
    name = figure.name
    measure = figures.METRICS[name.measure].label
    values = f"{figures.figure(name.measure, figure.value)}, the others {figures.figure(name.measure, figure.median)}"
    where = f"{clean(name.title)} {DIRECTIONS[name.direction].word}, {measure}"
    return f"{label}: {_apart(figure)}, beyond what they differ among themselves. {where}: {values} (median)."


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
    """`all 12 hosts`, `db1 and db3`, `7 of 12 hosts`."""
    if len(labels) == of > 1:
        return f"all {of} {noun}s"
    if len(labels) <= _FEW:
        return figures.listed([clean(label) for label in labels])
    return f"{len(labels)} of {of} {noun}s"
