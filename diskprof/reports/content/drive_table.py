"""What the drives counted themselves, as smartctl has it."""

from collections.abc import Callable

from diskprof.model.drive import DriveCount, DriveRecord, Silence
from diskprof.model.run import Run
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Paragraph, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import Meaning

TITLE = "Drive (smartctl)"
_LEGEND = "Counted by the drive from before the first test to after the last."
_WHY = {
    Silence.MISSING: "smartctl is not installed: what the drive counts is not known.",
    Silence.DENIED: "What the drive counts is told to root only.",
    Silence.ASLEEP: "The drive was in standby before the run, and was not woken to be asked what it counts.",
    Silence.LATE: "The drive did not answer smartctl in time: what it counts is not known.",
    Silence.MUTE: "The drive does not tell smartctl what it counts.",
    Silence.SWAPPED: "Another drive has this name since the run began: what either counted is not of the run.",
}


def drive_blocks(run: Run) -> list[Block]:
    """A row for each drive that told something, and once for each reason why others did not."""
    told = [each for each in run.drives if each.silence is None]
    names = [name for name, cell in _COLUMNS.items() if any(map(cell, told))]
    blocks: list[Block] = []
    if names:
        rows = tuple(
            (Cell(each.device), *(Cell(_COLUMNS[name](each) or figures.MISSING) for name in names)) for each in told
        )
        blocks.append(Table((Column("Drive"), *(Column(name, right=True) for name in names)), rows, legend=_LEGEND))
    for silence in dict.fromkeys(each.silence for each in run.drives if each.silence):
        mine = [each for each in run.drives if each.silence is silence]
        advice = f" To see it: {mine[0].advice}" if mine[0].advice else ""
        which = "" if len(run.drives) == 1 else f"{', '.join(clean(each.device) for each in mine)}: "
        blocks.append(Paragraph(f"{which}{_WHY[silence]}{clean(advice)}", Meaning.QUIET))
    return blocks


def _temperature(drive: DriveRecord) -> str:
    if drive.before is None or drive.after is None or drive.after.temperature_c is None:
        return ""
    before, after = drive.before.temperature_c, drive.after.temperature_c
    return f"{after:.0f} °C" if before is None or before == after else f"{before:.0f} to {after:.0f} °C"


def _size(value: int | None) -> str:
    return "" if value is None else format_size(value) if value else "0"


def _new(counts: tuple[DriveCount, ...] | None) -> str:
    return "" if counts is None else ", ".join(f"{each.count:,} {each.name}" for each in counts) or "none"


_COLUMNS: dict[str, Callable[[DriveRecord], str]] = {
    "Host writes": lambda drive: _size(drive.host_bytes),
    "Tests wrote": lambda drive: "" if drive.host_bytes is None else _size(drive.test_bytes),
    "NAND writes": lambda drive: _size(drive.nand_bytes),
    "WAF": lambda drive: "" if drive.amplification is None else f"{drive.amplification:.2f}",
    "Temperature": _temperature,
    "highest": lambda drive: "" if drive.hottest_c is None else f"{drive.hottest_c:.0f} °C",
    "New errors": lambda drive: _new(drive.new_errors),
    "Throttled": lambda drive: _new(drive.new_heat),
}
