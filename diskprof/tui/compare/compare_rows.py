"""The rows of one test of a comparison: a figure a line, a run a column. Those of the overview are in `overview_rows`."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.comparison import ComparedArm, ComparedMetric, Comparison, TestComparison
from diskprof.analysis.metrics import Measure
from diskprof.model.cells import cut_at_word, width_of, wrap
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Cell
from diskprof.reports.content.comparison_report import differing
from diskprof.reports.content.overview import (
    DOUBT,
    OverviewCell,
    bar,
    cell_of,
    doubts_of_any,
    full_bar,
    scaled_to,
)
from diskprof.reports.words import DIRECTIONS
from diskprof.tui.kit.painted import Piece
from diskprof.tui.kit.table import Row, SheetColumn
from diskprof.tui.shell.block_lines import piece_of
from diskprof.tui.shell.run_signs import ink, ink_of

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LATENCY = {
    Measure.LATENCY_MEAN: "latency mean",
    Measure.LATENCY_P50: "latency p50",
    Measure.LATENCY_P99: "latency p99",
    Measure.LATENCY_P99_9: "latency p99.9",
    Measure.LATENCY_MAX: "latency max",
    Measure.BANDWIDTH: "bandwidth",
}
_INTERVAL = 14
_MOST_MORE = 14
_HAS_INTERVAL = "   difference (95% interval)"
_LEAST_NAMED = 12
"""So many cells a name needs that is shortened: `A qu...16:49` is none."""
_APART = "   "
"""Between the parts of a row in full."""


class RowForm(Struct, frozen=True):
    """How wide the cells are. Narrow, names go without the word that the unit says, and figures are closer; `marks` in place of
    words of verdicts. With a `bar`, a difference has its interval too."""

    name: int
    base: int
    other: int
    value: int
    difference: int
    narrow: bool = False
    marks: bool = False
    bar: int = 0


FULL = RowForm(25, 13, 61, 10, 8, bar=13)
SPANS = RowForm(14, 9, 53, 7, 7, narrow=True, bar=9)
WIDE = RowForm(25, 13, 33, 10, 8)
NARROW = RowForm(15, 9, 26, 7, 6, narrow=True)
TIGHT = RowForm(15, 8, 16, 7, 5, narrow=True, marks=True)


def form_for(width: int, runs: int) -> RowForm:
    """The form of a table of `runs` arms, so many cells wide: the first that has all of them in sight, else NARROW."""
    forms = (FULL, SPANS, WIDE, NARROW, TIGHT)
    return next((form for form in forms if width >= _least(form, runs)), NARROW)


def _least(form: RowForm, runs: int) -> int:
    return form.name + 1 + form.base + (runs - 1) * (form.other + 1)


class RowLine(Struct, frozen=True):
    """A row of the table. `test` is its test's number in the comparison; `told` the row in full, if it says more than its cells.

    `folds`: the row of the conditions that differ.
    """

    row: Row
    test: int | None = None
    direction: Direction | None = None
    told: str = ""
    folds: bool = False


def letter(index: int) -> str:
    """What a run is called in the table's head and on its curve: A, B, C ..."""
    return LETTERS[index] if index < len(LETTERS) else f"{index + 1}"


def named(index: int, arm: ComparedArm, width: int, *, interval: bool = False) -> str:
    """An arm's letter and name; the letter alone where so little of the name could be seen that it is no name.

    `interval`: its column has intervals, and says so where there is room.
    """
    whole = f"{letter(index)} {clean(arm.label)}"
    if interval and index and width_of(whole) + width_of(_HAS_INTERVAL) <= width:
        return whole + _HAS_INTERVAL
    return whole if width_of(whole) <= width or width >= _LEAST_NAMED else letter(index)


def lettered(comparison: Comparison) -> Comparison:
    """The comparison with letters for the runs' names."""
    columns = tuple(replace(column, label=letter(index)) for index, column in enumerate(comparison.columns))
    return replace(comparison, columns=columns)


def columns_for(comparison: Comparison, width: int) -> tuple[SheetColumn, ...]:
    """The name, then a column a run; what room is left goes to the runs."""
    runs = comparison.columns
    form = form_for(width, len(runs))
    spare = max(0, width - _least(form, len(runs)))
    # Options are text: the base's column grows first until it is as wide as the others.
    first = min(spare, form.other - form.base)
    each = min((spare - first) // len(runs), _MOST_MORE)
    columns = [SheetColumn("name", "", form.name)]
    for index, run in enumerate(runs):
        wide = (form.base + first if index == 0 else form.other) + each
        title = named(index, run, wide, interval=form.bar > 0)
        # The heading of the screen says which is the base, too.
        base = "  (base)" if index == 0 and len(runs) > 1 and len(title) + 8 <= wide else ""
        columns.append(SheetColumn(run.key, f"{title}{base}", wide, middle=True))
    return tuple(columns)


def lines_of(comparison: Comparison, number: int, width: int, form: RowForm = WIDE) -> tuple[RowLine, ...]:
    """The rows of a test: its name, why its verdicts are in doubt, the options that differ, its figures."""
    test = comparison.tests[number]
    lines = [RowLine(heading(test.title, "title"), number)]
    letters = lettered(comparison)
    if doubts := doubts_of_any(letters, test.name):
        lines += [RowLine(row, number) for row in wrapped(f"In doubt: {'; '.join(doubts)}", "warn", width)]
    lines += [beside(cells, number) for cells in differing(test, letters.columns)]
    return (*lines, *_figures(letters, number, test, form))


def _row(name: str, cells: Sequence[Piece], ink: str = "quiet") -> Row:
    return Row(name, ((name, ink), *cells))


def heading(text: str, ink: str) -> Row:
    """A row without columns that the cursor skips."""
    return Row(text, ((text, ink),), heading=True, span=0)


def wrapped(text: str, ink: str, width: int) -> list[Row]:
    """As `heading`, in as many rows as it takes."""
    return [heading(line, ink) for line in wrap(clean(text), max(20, width), "", "  ")]


def beside(cells: Sequence[Cell], number: int | None = None) -> RowLine:
    """What differs: a name and a cell a run."""
    name, *others = cells
    return RowLine(_row(name.text, [piece_of(cell) for cell in others], ink(name.meaning)), number)


def _figures(comparison: Comparison, number: int, test: TestComparison, form: RowForm) -> list[RowLine]:
    columns = range(len(comparison.columns))
    shown = [[cell_of(comparison, test, row, at) for at in columns] for row in test.rows]
    full = full_bar([cell for cells in shown for cell in cells])
    lines = []
    for row, (first, *others) in zip(test.rows, shown, strict=True):
        cells = [(first.value.rjust(form.value + 1), ""), *(figure_cell(scaled_to(one, full), form) for one in others)]
        ink = ink_of(DIRECTIONS[row.direction]) if row.direction else ""
        line = _row(name_of(row, comparison.within_ns, form), cells, ink)
        lines.append(
            RowLine(line, number, row.direction, told=in_full(name_of(row, comparison.within_ns), [first, *others]))
        )
    return lines


def in_full(name: str, cells: Sequence[OverviewCell], doubts: Iterable[str] = ()) -> str:
    """A row for the line below the table, which may be cut: what the row itself does not show comes first."""
    unsettled: dict[str, list[str]] = {}
    for at, cell in enumerate(cells):
        if cell.more:
            unsettled.setdefault(f"{cell.judged.word.removesuffix(DOUBT)}, {cell.more}", []).append(letter(at))
    parts = [f"{', '.join(letters)}: {words}" for words, letters in unsettled.items()]
    parts += [name, *([f"in doubt: {'; '.join(doubts)}"] if doubts else [])]
    for at, cell in enumerate(cells):
        words = (f"{letter(at)}: {cell.value}", cell.difference, cell.interval, "" if cell.more else cell.judged.word)
        parts.append(" ".join(word for word in words if word))
    return _APART.join(parts)


def figure_cell(cell: OverviewCell, form: RowForm) -> Piece:
    """`8,085 -54% (-56 to -51) ━●━  │ worse`."""
    word = cell.judged.mark if form.marks else cell.judged.word
    text = f"{cell.value:>{form.value}} {cell.difference:>{form.difference}}"
    if form.bar:
        text += f" {cell.interval:<{_INTERVAL}} {bar(cell, form.bar):<{form.bar}}"
    # The figures of all rows line up: the word gives way first.
    text = f"{text} {word}" if len(f"{text} {word}") <= form.other else f"{text} {cell.judged.mark}"
    if len(text) > form.other:
        # Shortened in its middle it would be another figure.
        text = " ".join(text.split())
    return text, ink(cell.judged.meaning)


def name_of(row: ComparedMetric, within_ns: int, form: RowForm = WIDE) -> str:
    """A row's name in few words: `read latency p99 (us)`, narrow `read p99 us`."""
    words = figures.METRICS[row.metric]
    label = _LATENCY.get(row.metric, words.short)
    if row.metric is Measure.WITHIN:
        label = f"{words.short} {figures.figure(Measure.LATENCY_MAX, within_ns)}"
    unit, _ = figures.row_unit(row)
    if form.narrow:
        label = label.replace("within ", "< ")
        label = "" if unit == "MB/s" else label.removeprefix("latency ")
        return " ".join(word for word in (row.direction or "", label, unit) if word)
    name = f"{row.direction} {label}" if row.direction else label
    return f"{name} ({unit})" if unit else name


def told(line: RowLine, columns: Sequence[SheetColumn], width: int) -> str:
    """A row in full, for the line below the table where a cell may be too narrow for it: its parts that fit in `width`."""
    first, *others = _whole_row(line, columns).split(_APART)
    shown = cut_at_word(first, width)
    for part in others:
        if width_of(shown) + len(_APART) + width_of(part) > width:
            break
        shown += f"{_APART}{part}"
    return shown


def _whole_row(line: RowLine, columns: Sequence[SheetColumn]) -> str:
    if line.told:
        return line.told
    (name, _), *cells = line.row.line
    if line.row.span is not None:
        return name.strip()
    runs = zip(columns[1:], cells, strict=False)
    values = (f"{column.title.split(' ', 1)[0]}: {' '.join(text.split())}" for column, (text, _) in runs)
    return _APART.join((name.strip(), *values))
