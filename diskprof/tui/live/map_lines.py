"""A read/write map on the screen: reads across, writes upward, each cell its latency, filled as it is measured. Pure functions."""

from __future__ import annotations

from diskprof.analysis.map_found import CellState, FoundMap, found_map
from diskprof.analysis.map_search import Place
from diskprof.model.cells import fit
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.units import format_iops, format_latency
from diskprof.reports import figures
from diskprof.reports.charts.mosaic import LEVELS, levels_of
from diskprof.reports.content.map_report import FIGURES, NOT_REACHED, Figure, map_sentence, written_words
from diskprof.reports.words import STATUSES
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, Piece, titled
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.shell.run_signs import ink_of, sign_of

_LABEL, _LEAST, _MOST = 10, 7, 12
_HEAD = 4
"""Lines beside the rows: the title, two of what is known, and the read rates."""
_SHADES, _ASCII = "·░▒▓█", ".:+*#"


def map_height(run: Run) -> int:
    """The lines that it needs."""
    rule = run.plan.read_write_map
    return _HEAD + (rule.writes + 1 if rule else 0)


def map_lines(
    run: Run, figure: int, current: int, width: int, height: int, charset: Charset, *, flat: bool
) -> list[Line]:
    """The map so far by the latency number `figure` of FIGURES; where there are more cells than room, those about the cell of the
    test `current`, which is marked."""
    found = found_map(run)
    if found is None or height < _HEAD + 1 or width < _LABEL + 2 * _LEAST:
        return []
    name, of = FIGURES[figure]
    title: list[Piece] = [("Read/write map", "title"), (f"  read latency {name}", "strong")]
    lines: list[Line] = [titled(title, [(_counted(run, found), "quiet")], width)]
    if found.axes is None:
        return [*lines, [(fit("All writes and all reads come first: they give the axes.", width), "quiet")]]
    test = run.tests[current] if current < len(run.tests) else None
    here = found.axes.place(test.planned.trial) if test and test.planned.trial else None
    lines += paragraph(map_sentence(run, brief=True), width, "strong", first=())[:2]
    count = len(found.axes.reads)
    size = max(_LEAST, min(_MOST, (width - _LABEL) // count))
    columns = _window(count, (width - _LABEL) // size, here[0] if here else 0)
    room = height - len(lines) - 1
    rows = _window(len(found.axes.writes), room, here[1] if here else 0)
    tall = max(1, min(2, room // len(rows)))
    # Those of cells that were not reached, which are not shown, are far above.
    reached = {place: cell for place, cell in found.cells.items() if found.state(place) is CellState.REACHED}
    levels = levels_of({place: value for place, cell in reached.items() if (value := of(cell)) is not None})
    for y in reversed(rows):
        for part in range(tall):
            middle = part == tall // 2
            label = written_words(found.axes.writes, y) if middle else ""
            row: list[Piece] = [(fit(label, _LABEL - 1, right=True), ""), (" ", "")]
            for x in columns:
                cell = _cell(run, found, (x, y), of, levels, size - 1, charset, flat=flat, middle=middle, test=test)
                row += [cell, _edge(found, (x, y), charset)]
            lines.append(row)
    heads = "".join(fit(format_iops(found.axes.reads[x]), size - 1, right=True) + " " for x in columns)
    lines.append([(fit("reads/s", _LABEL - 1, right=True) + " " + heads, "quiet")])
    return lines[:height]


def _counted(run: Run, found: FoundMap) -> str:
    known = len(found.cells)
    of = len(found.axes.reads) * len(found.axes.writes) if found.axes else found.rule.cells - 2
    return f"{figures.count(known, 'cell')} of {of}" + ("" if run.status.over else ", some may be skipped")


def _window(count: int, room: int, at: int) -> range:
    """So many neighbours, with `at` among them."""
    start = max(0, min(at - room // 2, count - room))
    return range(start, min(count, start + max(1, room)))


def _edge(found: FoundMap, place: Place, charset: Charset) -> Piece:
    """The edge of what is reached, behind the last cell that is."""
    x, y = place
    assert found.axes
    beyond = x + 1 < len(found.axes.reads) and found.state((x + 1, y)) in (CellState.NOT_REACHED, CellState.SKIPPED)
    if beyond and found.state(place) is CellState.REACHED:
        return "|" if charset is Charset.ASCII else "┃", ink_of(NOT_REACHED)
    return " ", ""


def _cell(
    run: Run,
    found: FoundMap,
    place: Place,
    of: Figure,
    levels: dict[Place, int],
    size: int,
    charset: Charset,
    *,
    flat: bool,
    middle: bool,
    test: TestRecord | None,
) -> Piece:
    assert found.axes
    here = bool(test and test.planned.trial and found.axes.place(test.planned.trial) == place)
    text, ink = _state(run, found, place, test if here else None)
    cell, state = found.cells.get(place), found.state(place)
    value = of(cell) if cell and state is CellState.REACHED else None
    if value is not None:
        level = levels[place]
        words = format_latency(value)
        words = words if len(words) < size else words.replace(" ", "")
        mark = "▸" if here else (_ASCII if charset is Charset.ASCII else _SHADES)[level - 1] if flat else " "
        text = f"{mark} {words}" if len(words) + 1 < size else mark + words
        ink = ("strong" if here else "") if flat else f"cell-{level}{'-here' if here else ''}"
    return fit(text if middle else "", size, right=True), ink


def _state(run: Run, found: FoundMap, place: Place, test: TestRecord | None) -> Piece:
    """What stands in a cell without a latency."""
    if test and test.status is Status.RUNNING and run.progress:
        sign, ink = sign_of(STATUSES[test.status])
        return f"{sign} {run.progress.fraction:.0%}", ink
    match found.state(place):
        case CellState.NOT_REACHED:
            return sign_of(NOT_REACHED)
        case CellState.OPEN:
            return "?", "quiet"
        case _:
            return "", ""


assert len(_SHADES) == LEVELS
