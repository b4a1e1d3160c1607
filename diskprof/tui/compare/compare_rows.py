"""A comparison as rows of a table: conditions first, then each test with its figures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from diskprof.analysis.comparison import ComparedMetric, ComparedValue, Comparison, TestComparison
from diskprof.analysis.metrics import Measure
from diskprof.model.metric import Change
from diskprof.model.run import Status
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Blocks, Cell, Heading, Paragraph, Table
from diskprof.reports.content.comparison_report import conditions, differing, expectations, tally_sentence
from diskprof.reports.words import CHANGES, DIRECTIONS, STATUSES
from diskprof.tui.kit.painted import Piece
from diskprof.tui.kit.table import Row, SheetColumn
from diskprof.tui.shell.block_lines import piece_of
from diskprof.tui.shell.run_signs import ink, ink_of, status_text, when_text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LATENCY = {
    Measure.LATENCY_MEAN: "latency mean",
    Measure.LATENCY_P50: "latency p50",
    Measure.LATENCY_P99: "latency p99",
    Measure.LATENCY_P99_9: "latency p99.9",
    Measure.LATENCY_MAX: "latency max",
    Measure.BANDWIDTH: "bandwidth",
}
_NAME, _BASE, _OTHER = 27, 13, 27
_MOST_MORE = 14


@dataclass(frozen=True, slots=True)
class RowForm:
    """How wide the cells are. Narrow, names go without the word that the unit says, and figures stand closer."""

    name: int
    base: int
    other: int
    value: int
    difference: int
    narrow: bool = False


WIDE = RowForm(_NAME, _BASE, _OTHER, _BASE - 3, 8)
NARROW = RowForm(18, 13, 22, 7, 7, narrow=True)


def form_for(width: int, runs: int) -> RowForm:
    """The form of a table of `runs` runs, so many cells wide: names in full only where all of the runs are in sight."""
    return WIDE if width >= _least(WIDE, runs) else NARROW


def _least(form: RowForm, runs: int) -> int:
    return form.name + 1 + form.base + (runs - 1) * (form.other + 1)


@dataclass(frozen=True, slots=True)
class RowLine:
    """A row of the table. `test` is its test's number in the comparison; `same` if all runs agree in it."""

    row: Row
    test: int | None = None
    direction: Direction | None = None
    same: bool = False


def letter(index: int) -> str:
    """What a run is called in the table's head and on its curve: A, B, C ..."""
    return LETTERS[index] if index < len(LETTERS) else f"{index + 1}"


def columns_for(comparison: Comparison, width: int) -> tuple[SheetColumn, ...]:
    """The name, then a column a run; what room is left goes to the runs."""
    runs = comparison.columns
    form = form_for(width, len(runs))
    spare = max(0, width - _least(form, len(runs)))
    # Conditions are text: the base's column grows first until it is as wide as the others.
    first = min(spare, form.other - form.base)
    each = min((spare - first) // len(runs), _MOST_MORE)
    columns = [SheetColumn("name", "", form.name)]
    for index, run in enumerate(runs):
        base = "  (base)" if index == 0 and len(runs) > 1 else ""
        wide = (form.base + first if index == 0 else form.other) + each
        columns.append(SheetColumn(run.id, f"{letter(index)} {clean(run.label)}{base}", wide, middle=True))
    return tuple(columns)


def lines_of(
    comparison: Comparison, now: datetime, *, only_differences: bool = False, form: RowForm = WIDE
) -> tuple[RowLine, ...]:
    """Every row, or with `only_differences` only those in which the runs are not the same."""
    lines = [*_runs(comparison, now), *_told(conditions(comparison)), *_told(expectations(comparison))]
    for number, test in enumerate(comparison.tests):
        body = [_beside(cells, number) for cells in differing(test)]
        body += _figures(number, test, comparison.within_ns, form)
        if only_differences:
            body = [line for line in body if not line.same]
            if not body:
                continue
        title = test.title if test.title != test.name else ""
        heading = f"{test.name}   {title}" if title else test.name
        lines.append(RowLine(_said(heading, "title"), number))
        lines.extend(body)
    return tuple(lines)


def _row(name: str, cells: Sequence[Piece], ink: str = "quiet") -> Row:
    return Row(name, ((name, ink), *cells))


def _said(text: str, ink: str) -> Row:
    """A row without columns."""
    return Row(text, ((text, ink),), span=0)


def _runs(comparison: Comparison, now: datetime) -> list[RowLine]:
    runs = comparison.columns
    lines = [
        RowLine(_row("run", [(run.id, "") for run in runs])),
        RowLine(_row("when", [(when_text(run.started_at, now).strip(), "") for run in runs])),
    ]
    if any(run.status is not Status.COMPLETE for run in runs):
        cells = [(status_text(run.status), ink_of(STATUSES[run.status])) for run in runs]
        lines.append(RowLine(_row("status", cells)))
    lines += [RowLine(_said(_verdict(comparison, number), "strong")) for number in range(1, len(runs))]
    return lines


def _verdict(comparison: Comparison, number: int) -> str:
    """`B against A: better in 4 of 6 tests, the same in 2 (IOPS from 0 to +6.1%).`"""
    columns = tuple(replace(column, label=letter(index)) for index, column in enumerate(comparison.columns))
    return tally_sentence(replace(comparison, columns=columns), number)


def _told(blocks: Blocks) -> list[RowLine]:
    """A section of the reports, a column a run."""
    lines = []
    for block in blocks:
        match block:
            case Heading():
                lines.append(RowLine(_said(block.text, "title")))
            case Paragraph():
                lines.append(RowLine(_said(block.text, ink(block.meaning))))
            case Table():
                lines += map(_beside, block.rows)
    return lines


def _beside(cells: Sequence[Cell], number: int | None = None) -> RowLine:
    name, *others = cells
    return RowLine(_row(f"  {name.text}", [piece_of(cell) for cell in others], ink(name.meaning)), number)


def _figures(number: int, test: TestComparison, within_ns: int, form: RowForm) -> list[RowLine]:
    lines = []
    for row in test.rows:
        base = (figures.row_value(row, row.cells[0]).rjust(form.value + 1), "")
        cells = [base, *(_cell(row, figure, form) for figure in row.cells[1:])]
        ink = ink_of(DIRECTIONS[row.direction]) if row.direction else ""
        same = len(row.cells) > 1 and all(_agrees(figure, row.cells[0], row.share) for figure in row.cells[1:])
        shown = _row(f"  {name_of(row, within_ns, form)}", cells, ink)
        lines.append(RowLine(shown, number, row.direction, same))
    return lines


def _agrees(figure: ComparedValue, base: ComparedValue, share: bool) -> bool:
    if figure.verdict is None and share and figure.difference is not None:
        return abs(figure.difference) < 0.01
    return figure.verdict is Change.SAME or (figure.verdict is None and figure.value == base.value)


def _cell(row: ComparedMetric, figure: ComparedValue, form: RowForm) -> Piece:
    value = figures.row_value(row, figure).rjust(form.value)
    text = f"{value} {figures.difference(row, figure):>{form.difference}} {figures.verdict(figure, share=row.share)}"
    if len(text) > form.other:
        # Shortened in its middle it would be another figure.
        text = " ".join(text.split())
    return text, ink_of(CHANGES[figure.verdict]) if figure.verdict else ""


def name_of(row: ComparedMetric, within_ns: int, form: RowForm = WIDE) -> str:
    """A row's name in few words: `read latency p99 (us)`, narrow `read p99 us`."""
    words = figures.METRICS[row.metric]
    label = _LATENCY.get(row.metric, words.short)
    if row.metric is Measure.WITHIN:
        label = f"{words.short} {figures.figure(Measure.LATENCY_MAX, within_ns)}"
    unit, _ = figures.row_unit(row)
    if form.narrow:
        label = "" if unit == "MB/s" else label.removeprefix("latency ")
        return " ".join(word for word in (row.direction or "", label, unit) if word)
    name = f"{row.direction} {label}" if row.direction else label
    return f"{name} ({unit})" if unit else name


def told(line: RowLine, columns: Sequence[SheetColumn]) -> str:
    """A row in full, for the line below the table where a cell may be too narrow for it."""
    (name, _), *cells = line.row.line
    if line.row.span is not None:
        return name.strip()
    runs = zip(columns[1:], cells, strict=False)
    values = (f"{column.title.split(' ', 1)[0]}: {' '.join(text.split())}" for column, (text, _) in runs)
    return f"{name.strip()}   {'   '.join(values)}"
