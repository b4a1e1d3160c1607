"""What disks of one machine lose when all work at once, and what they share."""

from collections import Counter
from collections.abc import Sequence

from diskprof.analysis.fleet.together import SharedPart, Together
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Paragraph, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, Meaning

_WHAT_TO_DO = {
    SharedPart.PROCESSOR: "Compare on a machine with more CPU, or with larger blocks.",
    SharedPart.CGROUP: "Raise io.max of the group, or run outside it.",
    SharedPart.DISK: "Spread them over disks of their own.",
    SharedPart.EXPANDER: "Check its uplink: lanes and link speed in /sys/class/sas_phy.",
    SharedPart.CONTROLLER: "Check its link: lspci -vv, LnkSta.",
    SharedPart.BRIDGE: "Check its link: lspci -vv, LnkSta.",
    SharedPart.HUB: "Use ports of different controllers.",
    SharedPart.UNKNOWN: "",
}


def together_blocks(found: Sequence[Together]) -> list[Block]:
    """What is lost in a sentence each, a reason that several tests have once; then every figure, alone and together."""
    if not found:
        return [Paragraph("No test is complete of all disks, alone and together.", Meaning.QUIET)]
    reasons = Counter(_shared(each) for each in found if each.part is not None)
    said: list[Block] = [
        Paragraph(
            together_words(each, reason=reasons[_shared(each)] == 1),
            Meaning.LIMIT if each.part is not None else Meaning.PLAIN,
            hanging=True,
        )
        for each in found
    ]
    said += [
        Paragraph(f"{several} of {len(found)} tests: {reason}", Meaning.LIMIT, hanging=True)
        for reason, several in reasons.items()
        if several > 1
    ]
    columns = (
        *(Column("Test", least=18, middle=True), Column("Direction", short=""), Column("Disk", least=8, middle=True)),
        *(Column("Alone", right=True), Column("Together", right=True), Column("Lost", right=True)),
    )
    rows = tuple(row for each in found for row in _rows(each))
    return [*said, Table(columns, rows, inset=True)]


def together_words(each: Together, *, reason: bool = True) -> str:
    """`4K rand read QD32: together 1.10M IOPS, 45% less than each alone (2.00M). Shared: controller 0000:00:1f.2.`"""
    measure = each.name.measure
    unit = f" {figures.METRICS[measure].label}" if figures.figure(measure, 1.0)[-1].isdigit() else ""
    title = clean(each.name.words)
    sums = f"together {figures.figure(measure, each.together)}{unit}"
    if each.part is None:
        return f"{title}: {sums}, nothing lost (alone {figures.figure(measure, each.alone)})."
    lost = f"{title}: {sums}, {each.lost:.0%} less than the sum of each alone ({figures.figure(measure, each.alone)})."
    return f"{lost} {_shared(each)}" if reason else lost


def _shared(each: Together) -> str:
    who = figures.listed([clean(disk.label) for disk in each.losers])
    match each.part:
        case SharedPart.PROCESSOR:
            words = "The CPUs were the limit, not the disks."
        case SharedPart.CGROUP:
            words = "A cgroup I/O limit was reached."
        case SharedPart.DISK:
            words = f"{who} lie on one disk: {each.place}."
        case SharedPart.UNKNOWN | None:
            return f"{who} lost; sysfs knows of nothing that they share, and the CPUs were not the limit."
        case part:
            words = f"{who} share the {part} {each.place}."
    return f"{words} {_WHAT_TO_DO[each.part]}"


def _rows(each: Together) -> list[tuple[Cell, ...]]:
    way, measure = DIRECTIONS[each.name.direction], each.name.measure
    first = (Cell(clean(each.name.title)), Cell(way.word, way.meaning))
    losers = {disk.label for disk in each.losers}
    rows = [
        (
            *(first if at == 0 else (Cell(""), Cell(""))),
            Cell(clean(disk.label)),
            *(Cell(figures.figure(measure, disk.alone)), Cell(figures.figure(measure, disk.together))),
            Cell(_lost(disk.lost), Meaning.LIMIT if disk.label in losers and each.part else Meaning.PLAIN),
        )
        for at, disk in enumerate(each.disks)
    ]
    total = (figures.figure(measure, each.alone), figures.figure(measure, each.together), _lost(each.lost))
    return [*rows, (Cell(""), Cell(""), Cell("Sum"), *(Cell(text, strong=True) for text in total))]


def _lost(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "–" if share > -0.005 else f"+{-share:.0%}"
