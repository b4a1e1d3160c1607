"""A read/write map: what the disk does together in a sentence, and the latency of reads cell by cell."""

from collections.abc import Callable, Sequence

from diskprof.analysis.comparison import Comparison
from diskprof.analysis.map_found import CellState, FoundMap, found_map
from diskprof.analysis.map_search import Place
from diskprof.model.read_write_map import CellOutcome
from diskprof.model.run import Run, Status
from diskprof.model.units import format_bandwidth, format_latency
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Picture, Table
from diskprof.reports.charts.mosaic import Mosaic, Tile, levels_of
from diskprof.reports.layout import Column
from diskprof.reports.words import STATUSES, Meaning, Word

NOT_REACHED, SKIPPED = Word("not reached", "✗", Meaning.BAD), Word("skipped", "·", Meaning.QUIET)
LEGEND = "x: not reached. A blank: skipped, as it asks for more than one that was not reached. ?: not measured."
PICTURE_LEGEND = f"The line is the edge of what is reached. {LEGEND}"
Figure = Callable[[CellOutcome], float | None]
_HEADS = ("Reads alone", "Writes alone", "All reads beside", "All writes beside")
FIGURES: tuple[tuple[str, Figure], ...] = (("p99", lambda cell: cell.p99), ("p50", lambda cell: cell.p50))
"""The latencies that a map has, in ns."""


def map_sentence(run: Run, *, brief: bool = False) -> str:
    """`Alone 2,000 read IOPS and 20.0 MB/s written. All reads were reached beside up to 17.5 MB/s ...`; empty of another run, and
    before both ends are known. `brief` beside a picture, which tells the rest."""
    found = found_map(run)
    if found is None or found.axes is None:
        return ""
    told = [*_alone(found), *_together(found)]
    if brief:
        return " ".join(told)
    told = [*_before(run, found), *told, *_latency(found)]
    if run.status is Status.COMPLETE and not found.complete:
        told.append(f"The time was over before every cell was measured: `diskprof rerun {run.id}` measures the rest.")
    return " ".join(told)


def _before(run: Run, found: FoundMap) -> list[str]:
    if run.status is Status.COMPLETE:
        return []
    count = figures.count(len(found.cells), "cell")
    if not run.status.over:
        return [f"So far, after {count}:"]
    word = STATUSES[run.status].word
    return [f"{word[0].upper()}{word[1:]} after {count}; so far:"]


def _alone(found: FoundMap) -> list[str]:
    return [f"Alone {found.reads or 0:,.0f} read IOPS and {format_bandwidth(found.written or 0)} written."]


def _together(found: FoundMap) -> list[str]:
    """What was reached of both: the corner, or what all reads and all writes leave of the other."""
    assert found.axes
    reads, writes = found.axes.reads, found.axes.writes
    last = len(reads) - 1, len(writes) - 1
    if last in found.cells and last not in found.failed:
        return ["Both together were reached: neither takes from the other."]
    told = []
    if at_most := found.most_written(last[0]):
        told.append(f"All reads were reached beside up to {format_bandwidth(writes[at_most])}")
    if beside := found.edge(last[1]):
        told.append(f"all writes beside up to {reads[beside - 1]:,} reads/s")
    # Where that is known from all writes, it is told already.
    if (half := _half(found)) and beside <= (len(reads) - 1) // 2:
        told.append(half)
    if not told:
        return []
    words = ", ".join(told)
    return [f"{words[0].upper()}{words[1:]}."]


def _half(found: FoundMap) -> str:
    assert found.axes
    x = (len(found.axes.reads) - 1) // 2
    y = found.most_written(x)
    return f"{found.axes.reads[x]:,} reads/s beside up to {format_bandwidth(found.axes.writes[y])}" if y else ""


def _latency(found: FoundMap) -> list[str]:
    """The p99 of half the reads without writes, and beside the most writes that there were with them."""
    assert found.axes
    x = (len(found.axes.reads) - 1) // 2
    y = found.most_written(x)
    first, last = found.cells.get((x, 0)), found.cells.get((x, y)) if y else None
    if not y or first is None or last is None or first.p99 is None or last.p99 is None:
        return []
    return [
        f"p99 at {found.axes.reads[x]:,} reads/s: {format_latency(first.p99)} without writes, {format_latency(last.p99)} beside"
        f" {format_bandwidth(found.axes.writes[y])}."
    ]


def map_blocks(run: Run, *, told: bool = True, drawn: bool = False) -> list[Block]:
    """The sentence, where it is to be `told`, and a table of each latency, `drawn` as a picture; nothing of another run."""
    found = found_map(run)
    if found is None or found.axes is None:
        return []
    sentence = map_sentence(run) if told else ""
    tables: list[Block] = [
        Picture(_mosaic(found, name, figure)) if drawn else _table(found, name, figure) for name, figure in FIGURES
    ]
    return [
        *([Paragraph(sentence, hanging=True)] if sentence else []),
        *tables,
        Paragraph(PICTURE_LEGEND if drawn else LEGEND),
    ]


def _table(found: FoundMap, name: str, figure: Figure) -> Table:
    assert found.axes
    columns = (Column("Written", right=True), *(Column(f"{rate:,}", right=True) for rate in found.axes.reads))
    rows = []
    for y in reversed(range(len(found.axes.writes))):
        cells = [cell_of(found, (x, y), figure) for x in range(len(found.axes.reads))]
        rows.append((Cell(written_words(found.axes.writes, y)), *cells))
    return Table(columns, tuple(rows), f"Read latency {name} by reads a second (across) beside writes (up)", lead=1)


def written_words(writes: Sequence[int], y: int) -> str:
    """`17.5 MB/s`; `none`."""
    return format_bandwidth(writes[y]) if writes[y] else "none"


def cell_of(found: FoundMap, place: Place, figure: Figure) -> Cell:
    """A latency; of a cell that was not reached a cross in front of it."""
    cell = found.cells.get(place)
    value = figure(cell) if cell else None
    match found.state(place):
        case CellState.REACHED:
            text = figures.MISSING if value is None else format_latency(value)
            return Cell(text, short=text.replace(" ", ""))
        case CellState.NOT_REACHED:
            return Cell("x", NOT_REACHED.meaning)
        case CellState.SKIPPED:
            return Cell("")
        case CellState.OPEN:
            return Cell("?", Meaning.QUIET)


def _mosaic(found: FoundMap, name: str, figure: Figure) -> Mosaic:
    assert found.axes
    reads, writes = found.axes.reads, found.axes.writes
    states = [[found.state((x, y)) for x in range(len(reads))] for y in range(len(writes))]
    values = {
        place: value
        for place, cell in found.cells.items()
        if states[place[1]][place[0]] is CellState.REACHED and (value := figure(cell)) is not None
    }
    levels = levels_of(values)
    rows = [
        [
            Tile(cell_of(found, (x, y), figure).text, levels.get((x, y), 0), states[y][x] is CellState.REACHED)
            for x in range(len(reads))
        ]
        for y in range(len(writes))
    ]
    return Mosaic(
        f"Read latency {name}",
        [f"{rate:,}" for rate in reads],
        "reads a second",
        [written_words(writes, y) for y in range(len(writes))],
        "written",
        rows,
    )


def compared_maps(comparison: Comparison) -> list[Block]:
    """What the runs of a comparison found that drew maps, a row each; nothing without two."""
    runs = [(arm.label, run.read_write_map) for arm in comparison.columns for run in arm.runs if run.read_write_map]
    known = [(label, found) for label, found in runs if found.axes]
    if len(known) < 2:
        return []
    columns = (Column(""), *(Column(head, right=True) for head in _HEADS))
    return [Heading("Read/write map"), Table(columns, tuple(_compared(*each) for each in known), lead=1)]


def maps_beside(comparison: Comparison) -> tuple[tuple[Cell, ...], ...]:
    """For a screen: the same, a row for each figure and a column for each arm, whose first map counts; nothing without two."""
    maps = [next((run.read_write_map for run in arm.runs if run.read_write_map), None) for arm in comparison.columns]
    if sum(found is not None and found.axes is not None for found in maps) < 2:
        return ()
    told = [map_figures(found) if found and found.axes else (figures.MISSING,) * len(_HEADS) for found in maps]
    return tuple(
        tuple(map(Cell, (head.lower(), *row))) for head, row in zip(_HEADS, zip(*told, strict=True), strict=True)
    )


def map_figures(found: FoundMap) -> tuple[str, str, str, str]:
    """All reads alone, all writes alone, what was written beside all reads, and read beside all writes."""
    assert found.axes
    reads, writes = found.axes.reads, found.axes.writes
    beside = found.most_written(len(reads) - 1)
    edge = found.edge(len(writes) - 1)
    return (
        f"{found.reads or 0:,.0f}/s",
        format_bandwidth(found.written or 0),
        figures.MISSING if beside is None else written_words(writes, beside),
        f"{reads[edge - 1]:,}/s" if edge else "none",
    )


def _compared(label: str, found: FoundMap) -> tuple[Cell, ...]:
    return tuple(map(Cell, (label, *map_figures(found))))
