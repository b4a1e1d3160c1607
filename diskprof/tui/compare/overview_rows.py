"""The rows of the overview: a test a line, a run a column, each with its figure and its difference to the base as a bar."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from diskprof.analysis.comparison import ComparedArm, Comparison
from diskprof.analysis.metrics import Measure
from diskprof.model.cells import cut_at_word, width_of
from diskprof.model.run import Status
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Blocks, Cell, Heading, Paragraph, Table
from diskprof.reports.content.comparison_report import conditions, expectations, tally_sentence
from diskprof.reports.content.limit_compare import limits_beside
from diskprof.reports.content.map_report import maps_beside
from diskprof.reports.content.overview import (
    DOUBT,
    DOUBT_LEGEND,
    Overview,
    OverviewCell,
    OverviewRow,
    bar,
    compact,
    in_doubt_line,
    limit_lines,
    overview,
    unit_of,
    upshot_of_chance,
)
from diskprof.reports.words import DIRECTIONS, STATUSES
from diskprof.tui.compare.compare_rows import RowLine, beside, heading, in_full, lettered, named, wrapped
from diskprof.tui.kit.painted import Piece
from diskprof.tui.kit.table import Row, SheetColumn
from diskprof.tui.shell.run_signs import ink, ink_of, status_text, when_text

_LEAST_NAME, _MOST_NAME, _LEAST_BASE, _MOST_BASE = 12, 24, 9, 30
_VALUE, _DIFFERENCE, _INTERVAL, _WORD = 9, 6, 14, 12
_SHORT_BASE, _SHORT_VALUE, _SHORT_DIFFERENCE = 8, 5, 5
_WHEN = 12
"""Cells of a day and a time."""
_LEAST_BAR, _GOOD_BAR, _SPAN_BAR, _MOST_BAR = 2, 6, 7, 13
_WAYS = (
    # Units, interval, words in place of marks, and the cells of the bar at the least: the first that has room.
    (True, True, True, _SPAN_BAR),
    (False, True, True, _SPAN_BAR),
    (False, True, False, _SPAN_BAR),
    (True, False, True, _GOOD_BAR),
    (False, False, True, _LEAST_BAR),
    (False, False, False, _LEAST_BAR),
)


class OverviewForm(Struct, frozen=True):
    """How wide columns and their parts are. `words`: of verdicts, in place of their marks; `units`: with every figure;
    `interval`: behind every difference.
    """

    name: int
    base: int
    other: int
    value: int
    difference: int
    bar: int
    words: bool
    units: bool
    interval: bool = False


def overview_form(width: int, comparison: Comparison, found: Overview, *, unfolded: bool = False) -> OverviewForm:
    """For so many cells; where the runs have no room side by side, as narrow as can be read.

    Figures of the base are next to those they are compared with; `unfolded`, its column has room for conditions.
    """
    runs = len(comparison.columns)
    longest = max((width_of(clean(row.name)) for row in found.rows), default=0)
    name = min(max(longest, width_of(units_of(found)), _LEAST_NAME), _MOST_NAME)
    room = width - name - 1
    if runs == 1:
        return OverviewForm(name, max(_LEAST_BASE, min(room, _MOST_BASE)), 0, 0, 0, 0, words=True, units=True)
    mark = 2 if any(DOUBT in cell.judged.mark for row in found.rows for cell in row.cells) else 1
    each = (room - _LEAST_BASE) // (runs - 1) - 1
    spans = any(cell.interval for row in found.rows for cell in row.cells)
    for units, interval, words, least in _WAYS:
        value, difference = (_VALUE, _DIFFERENCE) if units else (_SHORT_VALUE, _SHORT_DIFFERENCE)
        other = value + difference + 3 + (_INTERVAL + 1 if interval else 0) + (_WORD if words else mark)
        if other + least <= each and (spans or not interval):
            break
    drawn = max(_LEAST_BAR, min(_MOST_BAR, each - other))
    other += drawn
    wanted = _MOST_BASE if unfolded else max(_WHEN, width_of(clean(comparison.columns[0].label)) + 2)
    base = max(_LEAST_BASE if units else _SHORT_BASE, min(_MOST_BASE, wanted, room - (runs - 1) * (other + 1)))
    other += max(0, (room - base - (runs - 1) * (other + 1)) // (runs - 1))
    return OverviewForm(name, base, other, value, difference, drawn, words, units, interval)


def units_of(found: Overview, *, units: bool = True) -> str:
    """What the figures are: `IOPS or MB/s`, of ioping `mean latency`. Without their `units`, MB/s are B/s: `6.70G`."""
    called = {Measure.IOPS: "IOPS", Measure.BANDWIDTH: "MB/s" if units else "B/s"}
    metrics = dict.fromkeys(row.metric for row in found.rows if row.metric)
    return " or ".join(called.get(metric, figures.METRICS[metric].short) for metric in metrics)


def overview_columns(comparison: Comparison, found: Overview, form: OverviewForm) -> tuple[SheetColumn, ...]:
    """The tests, headed by what their figures are, and a column a run."""
    columns = [SheetColumn("name", units_of(found, units=form.units), form.name)]
    for index, run in enumerate(comparison.columns):
        wide = form.other if index else form.base
        columns.append(SheetColumn(run.key, named(index, run, wide, interval=form.interval), wide, middle=True))
    return tuple(columns)


def overview_lines(
    comparison: Comparison,
    found: Overview,
    now: datetime,
    form: OverviewForm,
    width: int,
    *,
    unfolded: bool = False,
    hint: str = "",
) -> tuple[RowLine, ...]:
    """The runs, the conditions that differ, the tests, and each run against the base in a sentence.

    The conditions are one line that ends in `hint`, `unfolded` a line each.
    """
    letters = lettered(comparison)
    lines = [*_runs(comparison, now, form)]
    if doubts := in_doubt_line(letters):
        lines += map(RowLine, wrapped(doubts, "warn", width))
    lines += [RowLine(row) for line in limit_lines(letters) for row in wrapped(f"Limit: {line}", "strong", width)]
    if searched := limits_beside(comparison):
        lines += [RowLine(heading("Limit (IOPS)", "title")), *map(beside, searched)]
    if drawn := maps_beside(comparison):
        lines += [RowLine(heading("Read/write map", "title")), *map(beside, drawn)]
    lines += _conditions(comparison, width, hint, unfolded=unfolded)
    lines += [_line(comparison, row, form) for row in found.rows]
    for number in range(1, len(comparison.columns)):
        lines += map(RowLine, wrapped(tally_sentence(letters, number), "strong", width))
    if any(DOUBT in cell.judged.mark for row in found.rows for cell in row.cells):
        lines += map(RowLine, wrapped(f"{DOUBT_LEGEND}.", "quiet", width))
    lines += [RowLine(row) for line in upshot_of_chance(letters) for row in wrapped(line, "", width)]
    return (*lines, *_told(expectations(comparison)))


def found_overview(comparison: Comparison) -> Overview:
    """The overview, in which reasons name a run by its letter."""
    return overview(lettered(comparison))


def _runs(comparison: Comparison, now: datetime, form: OverviewForm) -> list[RowLine]:
    """Facts of the arms, which the cursor skips."""
    arms = comparison.columns
    widths = [form.other if index else form.base for index in range(len(arms))]
    started = [when_text(arm.runs[0].started_at, now).strip() for arm in arms]
    named = [arm.runs[0].id if len(arm.runs) == 1 else figures.count(len(arm.runs), "run") for arm in arms]
    rows: list[tuple[str, list[Piece]]] = [
        ("run", [(name, "quiet") for name in named]),
    ]
    # Runs without tags are called by their time.
    if any(f"{arm.runs[0].started_at:%m-%d %H:%M}" not in arm.label for arm in arms):
        rows.append(("when", [(_first(text, wide), "quiet") for text, wide in zip(started, widths, strict=True)]))
    if any(run.status is not Status.COMPLETE for arm in arms for run in arm.runs):
        ends = [_end(arm) for arm in arms]
        rows.append(("status", [(_first(text, wide), ink) for (text, ink), wide in zip(ends, widths, strict=True)]))
    return [RowLine(Row(name, ((name, "quiet"), *cells), heading=True)) for name, cells in rows]


def _end(arm: ComparedArm) -> Piece:
    """How the first run ended that is not complete, with how many there are of several."""
    ended = next((run.status for run in arm.runs if run.status is not Status.COMPLETE), Status.COMPLETE)
    lacking = sum(run.status is not Status.COMPLETE for run in arm.runs)
    of = f" {lacking}/{len(arm.runs)}" if lacking and len(arm.runs) > 1 else ""
    return f"{status_text(ended)}{of}", ink_of(STATUSES[ended])


def _first(words: str, width: int) -> str:
    """Without the last word where there is no room for it: the day of a time, the sign of a status."""
    return words if width_of(words) <= width else words.rpartition(" ")[0]


def _conditions(comparison: Comparison, width: int, hint: str, *, unfolded: bool) -> list[RowLine]:
    """`▸ 3 conditions differ: kernel, scheduler, device model  a: show`, or that they are the same."""
    blocks = conditions(comparison)
    names = [clean(each.name) for each in comparison.conditions]
    if len(comparison.columns) < 2 or not names:
        return _told(blocks)
    differ = f"{figures.count(len(names), 'condition')} {'differs' if len(names) == 1 else 'differ'}"
    if unfolded:
        lines = [RowLine(Row("conditions", ((f"▾ {differ}", "title"),), span=0), folds=True)]
        return lines + [
            beside((Cell(f"  {row[0].text}", row[0].meaning), *row[1:]))
            for block in blocks
            if isinstance(block, Table)
            for row in block.rows
        ]
    whole = f"{differ}: {', '.join(names)}"
    line = cut_at_word(f"▸ {whole}", max(len(differ) + 4, width - width_of(hint))) + hint
    return [RowLine(Row("conditions", ((line, "title"),), span=0), told=whole, folds=True)]


def _line(comparison: Comparison, row: OverviewRow, form: OverviewForm) -> RowLine:
    status = comparison.tests[row.test].statuses
    cells: list[Piece] = []
    for at, cell in enumerate(row.cells):
        ended = status[at]
        if cell.value == figures.MISSING:
            missing = "no test" if ended is None else f"- {STATUSES[ended].word}"
            cells.append((missing if ended is not Status.COMPLETE else figures.MISSING, "quiet"))
        else:
            cells.append(_cell(cell, form) if at else (_base(cell, form), ""))
    about = ink_of(DIRECTIONS[row.direction]) if row.direction else ""
    shown = Row(f"{row.test} {row.direction}", ((row.name, about), *cells))
    unit = unit_of(row)
    name = f"{row.name} ({unit})" if unit else row.name
    doubts = dict.fromkeys(doubt for cell in row.cells for doubt in cell.doubts)
    return RowLine(shown, row.test, row.direction, told=in_full(name, row.cells, doubts))


def _base(cell: OverviewCell, form: OverviewForm) -> str:
    value = cell.with_unit if len(cell.with_unit) <= form.base else compact(cell.with_unit)
    return value.rjust(min(_VALUE, form.base))


def _cell(cell: OverviewCell, form: OverviewForm) -> Piece:
    value = cell.with_unit if form.units else compact(cell.with_unit)
    word = cell.judged.word if form.words else cell.judged.mark
    told = f"{value:>{form.value}} {cell.difference:>{form.difference}}"
    told += f" {cell.interval:<{_INTERVAL}}" if form.interval else ""
    drawn = bar(cell, form.bar).ljust(form.bar)
    text = f"{told} {drawn} {word}"
    if (over := len(text) - form.other) > 0:
        # A long figure takes cells of the bar, never its own.
        drawn = bar(cell, max(1, form.bar - over)).ljust(max(0, form.bar - over))
        text = f"{told} {drawn} {word}"
    return text, ink(cell.judged.meaning)


def _told(blocks: Blocks) -> list[RowLine]:
    """A section of the reports, a column a run."""
    lines: list[RowLine] = []
    for block in blocks:
        match block:
            case Heading():
                lines.append(RowLine(heading(block.text, "title")))
            case Paragraph():
                lines.append(RowLine(heading(block.text, ink(block.meaning))))
            case Table():
                lines += map(beside, block.rows)
    return lines


def first_test(lines: Sequence[RowLine]) -> int:
    """Where the cursor begins: on the first test, -1 where no row can be chosen."""
    able = [at for at, line in enumerate(lines) if not line.row.heading]
    return next((at for at in able if lines[at].test is not None), able[0] if able else -1)
