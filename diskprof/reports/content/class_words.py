"""Is that good? In words: the class of a disk, where a figure is in it, and its place among the runs of the same test."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.disk_standing import (
    Position,
    Rank,
    Recognised,
    Standing,
    capacity_gib,
    class_of,
    standing,
)
from diskprof.model.disk_class import ClassFigure, DiskClass
from diskprof.model.expectation import formula_words
from diskprof.model.metric import Quantity
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.model.units import format_fio_size
from diskprof.presets.disk_classes import disk_classes
from diskprof.reports.blocks import Block, Cell, Fact, Facts, Heading, Paragraph, Table
from diskprof.reports.figures import number
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, Meaning

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_MEANINGS = {Position.BELOW: Meaning.WARNING, Position.WITHIN: Meaning.PLAIN, Position.ABOVE: Meaning.PLAIN}


class StandingLine(Struct, frozen=True):
    """Where a figure is in the class of its disk, whose `title` is that of one. `words` are from long to short, all of one meaning.

    `share` is the length of its bar, 0 to 1: full is the most that the class does, or the least where no most is known.
    """

    title: str
    words: tuple[str, ...]
    share: float
    meaning: Meaning


def recognised(run: Run) -> Recognised:
    """The class of the disk of a run among those that are shipped."""
    return class_of(run, disk_classes())


def disk_class_words(run: Run) -> str:
    """`SATA SSD`; `AWS gp3 (chosen)`; `unknown: a virtual machine hides the disk`."""
    found = recognised(run)
    if found.disk_class is None:
        return f"unknown: {clean(found.why)}"
    return f"{found.disk_class.title} (chosen)" if found.chosen else found.disk_class.title


def standings(run: Run) -> tuple[tuple[TestRecord, Direction, Standing], ...]:
    """Every complete test of which the documents of the disk's class say something, in the order of the plan."""
    found = recognised(run).disk_class
    if found is None:
        return ()
    gib = capacity_gib(run.environment)
    return tuple(
        (record, direction, one)
        for record in run.tests
        if record.status is Status.COMPLETE and record.result
        for direction, result in record.result.directions
        if (one := standing(record, direction, result, found, gib))
    )


def standing_line(one: Standing) -> StandingLine:
    """What the scorecard says."""
    disks, span = one.disk_class.plural, range_words(one)
    match one.position:
        case Position.WITHIN:
            words = (
                f"within what {disks} do ({span})",
                f"within {one.disk_class.title} ({span})",
                f"in class ({span})",
            )
            short = "in class"
        case Position.ABOVE:
            words = (
                f"above what {disks} do ({span})",
                f"above {one.disk_class.title} ({span})",
                f"above class ({span})",
            )
            short = "above class"
        case Position.BELOW:
            part = f"{one.value / one.least:.0%}" if one.least else ""
            words = (
                f"{part} of what {disks} do ({span})",
                f"{part} of {one.disk_class.title} ({span})",
                f"{part} of class ({span})",
            )
            short = f"{part} of class"
    # One end at least is known.
    full = one.most or one.least or one.value
    return StandingLine(
        one.disk_class.title, (*words, short), min(1.0, one.value / full) if full else 0.0, _MEANINGS[one.position]
    )


def range_words(one: Standing) -> str:
    """`3,000 to 80,000 IOPS`, `540 to 560 MB/s`, `at least 1,500 IOPS`, `up to 6,000 IOPS`, `13,000 IOPS`."""
    return _range(one.figure.quantity, one.least, one.most)


def _range(quantity: Quantity, least: float | None, most: float | None) -> str:
    ends = [end for end in (least, most) if end is not None]
    if quantity is Quantity.IOPS:
        told, unit = [f"{end:,.0f}" for end in ends], "IOPS"
    else:
        told, unit = _bandwidths(ends)
    if len(ends) > 1:
        return f"{told[0]} {unit}" if told[0] == told[1] else f"{told[0]} to {told[1]} {unit}"
    return f"{'at least' if most is None else 'up to'} {told[0]} {unit}"


def _bandwidths(values: Sequence[float]) -> tuple[list[str], str]:
    """In the unit of the smallest."""
    scale, unit = next((each for each in ((1e9, "GB/s"), (1e6, "MB/s")) if min(values) >= each[0]), (1e3, "kB/s"))
    return [number(value / scale) for value in values], unit


def rank_words(place: Rank | None) -> str:
    """`3rd best of 41 runs`, `best of 41 runs`; empty for the first run of a test."""
    if place is None:
        return ""
    ending = "th" if place.place % 100 in (11, 12, 13) else _ENDINGS.get(place.place % 10, "th")
    return f"{'' if place.place == 1 else f'{place.place}{ending} '}best of {place.of:,} runs"


def class_blocks(run: Run, *, whole: bool) -> list[Block]:
    """A table of the tests against the class; `whole`, for a page: with the documents and how to read them."""
    found = standings(run)
    if not found:
        return []
    columns = (
        Column("Test", least=10, middle=True),
        *(Column("Direction", short=""), Column("This run", right=True), Column("Class", least=14), Column("Standing")),
    )
    rows = []
    for record, direction, one in found:
        way, line = DIRECTIONS[direction], standing_line(one)
        measured, unit = _bandwidths([one.value]) if one.figure.quantity is not Quantity.IOPS else ([], "")
        figure = f"{measured[0]} {unit}" if measured else f"{one.value:,.0f} IOPS"
        cells = (Cell(record.title), Cell(way.word, way.meaning), Cell(figure), Cell(range_words(one)))
        rows.append((*cells, Cell(_short(one), line.meaning)))
    blocks: list[Block] = [Table(columns, tuple(rows), inset=True)]
    return [*blocks, *class_notes(found[0][2].disk_class, documents=whole)]


def _short(one: Standing) -> str:
    """`within`, `above`, `61%`."""
    below = one.position is Position.BELOW and one.least
    return f"{one.value / one.least:.0%} of the least" if below and one.least else str(one.position)


def class_notes(disk_class: DiskClass, *, documents: bool) -> list[Block]:
    """How to read the figures of a class, and the documents that say them."""
    notes: list[Block] = [Paragraph(disk_class.note)] if disk_class.note else []
    if documents:
        facts = tuple(Fact(f"{each.read:%Y-%m-%d}", f"{each.title}: {each.address}") for each in disk_class.sources)
        notes.append(Facts(facts, inset=True))
    return notes


def classes_block(classes: Sequence[DiskClass]) -> Table:
    """Every class by name, with what the documents say of its reads."""
    columns = (Column("Class"), Column("Disk", spare=1), Column("Random reads"), Column("Sequential reads"))
    rows = tuple(
        (Cell(each.name), Cell(each.title), Cell(_reads(each, random=True)), Cell(_reads(each, random=False)))
        for each in classes
    )
    return Table(columns, rows)


def _reads(disk_class: DiskClass, *, random: bool) -> str:
    """The figure at the deepest queue."""
    found = [each for each in disk_class.figures if each.random is random and each.direction is Direction.READ]
    return _told_range(found[-1]) if found else ""


def class_report(disk_class: DiskClass) -> list[Block]:
    """A class with all its figures, how to read them, and the documents."""
    columns = (Column("Test", least=10), Column("Block size"), Column("QD"), Column("Documents say", least=16))
    rows = tuple(
        (
            Cell(f"{'rand' if each.random else 'seq'} {each.direction}"),
            Cell(_span(*map(format_fio_size, each.block))),
            Cell(_span(str(each.depth[0]), str(each.depth[1]) if each.depth[1] else "")),
            Cell(_told_range(each)),
        )
        for each in disk_class.figures
    )
    head: list[Block] = [Heading(f"{disk_class.title} ({disk_class.name})", 1), Table(columns, rows)]
    return [*head, *class_notes(disk_class, documents=True)]


def _span(low: str, high: str) -> str:
    """`4k`, `4k to 16k`, `32 and more`."""
    return low if low == high else f"{low} to {high}" if high else f"{low} and more"


def _told_range(figure: ClassFigure) -> str:
    """As `range_words`; what grows with the capacity as the formula."""
    if figure.least and figure.least.per_gib:
        return formula_words(figure.quantity, figure.least).replace("(0 + ", "(")
    return _range(figure.quantity, figure.least.base if figure.least else None, figure.most)
