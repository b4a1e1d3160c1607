"""The overview of a comparison: tests x runs, one figure each, with its difference to the base as a bar on one scale for all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diskprof.analysis.comparison import ComparedMetric, ComparedValue, Comparison, TestComparison
from diskprof.analysis.metrics import Measure
from diskprof.analysis.score import LARGE_BLOCK
from diskprof.model.metric import Change
from diskprof.model.run import Finding, Weight
from diskprof.model.sample import Direction
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.content.doubts import short, with_tests
from diskprof.reports.layout import Column
from diskprof.reports.words import CHANGES, DIRECTIONS, Meaning

DOUBT = "?"
"""Behind a verdict on a run in doubt."""
DOUBT_LEGEND = f"{DOUBT}: a run of the two is in doubt"

_LEAST_FULL = 0.10
"""A full bar is at least this difference: noise alone draws no long bars."""
_BAR, _LEAST_WITH_WAY = 8, 4
_LEAST_NAME = 9
_NAMED = 4
"""So many tests are named in a sentence."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict in words and as a mark; grey and with a `?` where a run of the two is in doubt."""

    word: str = ""
    mark: str = ""
    meaning: Meaning = Meaning.PLAIN


@dataclass(frozen=True, slots=True)
class OverviewCell:
    """A run's figure in a test: `282,359`, with its unit `282k`. `length` of its bar is from -1 to 1; 0 is no bar.

    `doubts`, in a few words each, are those of the run and of the base.
    """

    value: str
    with_unit: str
    difference: str = ""
    length: float = 0.0
    judged: Judged = Judged()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A test in one direction: `test` is its number in the comparison. `metric` is None without a result in any run.

    `unit` is that of `value` of its cells, empty for IOPS.
    """

    test: int
    name: str
    unit: str
    metric: Measure | None
    direction: Direction | None
    cells: tuple[OverviewCell, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """`full` is the difference of a full bar, as a share of the larger figure."""

    rows: tuple[OverviewRow, ...]
    full: float


def overview(comparison: Comparison) -> Overview:
    """A row for each test, two for one of reads and writes."""
    found: list[OverviewRow] = []
    for number, test in enumerate(comparison.tests):
        rows = headline_rows(test)
        found += [_row(comparison, number, row, several=len(rows) > 1) for row in rows]
        if not rows:
            empty = OverviewCell(figures.MISSING, figures.MISSING)
            found.append(OverviewRow(number, test.title, "", None, None, (empty,) * len(comparison.columns)))
    full = max((abs(cell.length) for row in found for cell in row.cells), default=0.0)
    full = max(full, _LEAST_FULL)
    scaled = (
        replace(row, cells=tuple(replace(cell, length=cell.length / full) for cell in row.cells)) for row in found
    )
    return Overview(tuple(scaled), full)


def overview_blocks(comparison: Comparison) -> list[Block]:
    """The overview as a table; none of a sweep's cells, which have matrices, nor of one run."""
    rows = [row for row in overview(comparison).rows if not comparison.tests[row.test].cell]
    if len(comparison.columns) < 2 or not rows:
        return []
    columns = [Column("Test"), Column("Unit")]
    for index, run in enumerate(comparison.columns):
        columns.append(Column(run.label, right=True, least=_LEAST_NAME, middle=True))
        columns += (
            [Column("difference", right=True, short=""), Column("", spare=1), Column("verdict", short="")]
            if index
            else []
        )
    few = len(comparison.columns) < 3
    body = tuple(
        (
            Cell(row.name),
            Cell(unit_of(row)),
            *(cell for at, one in enumerate(row.cells) for cell in _cells(one, first=not at, words=few)),
        )
        for row in rows
    )
    table = Table(tuple(columns), body, lead=3, together=4, inset=True)
    return [Heading("Overview"), table, *_doubt_legend(rows)]


def unit_of(row: OverviewRow) -> str:
    """`IOPS`, `MB/s` or `us`: that of `value` of its cells; empty without a result."""
    return row.unit or ("IOPS" if row.metric is Measure.IOPS else "")


def changed_tests(comparison: Comparison, column: int) -> str:
    """`Worse: 4K rand write QD1 -62%. Better: 1M seq read QD8 +14%.`; empty where none is, or all are alike."""
    rows = overview(comparison).rows
    words = [row.cells[column].judged.word.removesuffix(DOUBT) for row in rows]
    told = []
    for word in (Change.WORSE, Change.BETTER) if len(set(words)) > 1 else ():
        names = [
            f"{row.name} {row.cells[column].difference}"
            for row, judged in zip(rows, words, strict=True)
            if judged == word
        ]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        told += [f"{word.value.capitalize()}: {', '.join(names[:_NAMED])}{more}."] if names else []
    return " ".join(told)


def bar(cell: OverviewCell, width: int) -> str:
    """A difference as a bar of at most so many cells, with its way: `◀▇▇▇`, `▇▇▶`; in few cells without, to half a cell: `█▌`.

    It is drawn for every better and worse.
    """
    parts = 1 if width >= _LEAST_WITH_WAY else 2
    least = cell.judged.word.removesuffix(DOUBT) in (Change.BETTER, Change.WORSE)
    size = max(int(least), round(abs(cell.length) * width * parts)) if cell.length else 0
    if parts > 1:
        return "█" * (size // parts) + "▌" * (size % parts)
    if not size:
        return ""
    return "◀" + "▇" * (size - 1) if cell.length < 0 else "▇" * (size - 1) + "▶"


def compact(with_unit: str) -> str:
    """A figure in as few cells as it takes: `563M` of `563 MB/s`."""
    return with_unit.removesuffix("B/s").replace(" ", "")


def judge(row: ComparedMetric, cell: ComparedValue, *, doubt: bool) -> Judged:
    """A cell's verdict."""
    word, mark = figures.verdict(cell, share=row.share), figures.mark(cell, share=row.share)
    if cell.verdict is None:
        return Judged()
    if doubt:
        return Judged(word + DOUBT, mark + DOUBT, Meaning.QUIET)
    return Judged(word, mark, CHANGES[cell.verdict].meaning)


def doubts_about(comparison: Comparison, column: int, test: str) -> tuple[str, ...]:
    """Why a run's verdict on a test is in doubt: `other I/O on the disk (A)`, of the run and of the base."""
    found = []
    for at in (0, column) if column else ():
        run = comparison.columns[at]
        found += [f"{words} ({run.label})" for words in doubts_of_test(run.findings, test)]
    return tuple(found)


def doubts_of_test(findings: Sequence[Finding], test: str) -> tuple[str, ...]:
    """Why a run's figures of a test are in doubt, in a few words each."""
    rules = (each.name for each in findings if each.weight is Weight.DOUBT and each.test in ("", test))
    return tuple(map(short, dict.fromkeys(rules)))


def in_doubt_line(comparison: Comparison) -> str:
    """`In doubt: after other I/O on the disk (1M seq read QD8); old CPUs busy`; empty where no run is."""
    told = [
        f"{run.label} {words}" for run, words in zip(comparison.columns, _in_doubt(comparison), strict=True) if words
    ]
    return f"In doubt: {'; '.join(told)}" if told else ""


def _in_doubt(comparison: Comparison) -> list[str]:
    """Of each run its doubts, empty without."""
    return [
        with_tests(
            run.findings,
            comparison.title,
            sum(test.statuses[at] is not None for test in comparison.tests),
            between=", ",
        )
        for at, run in enumerate(comparison.columns)
    ]


def headline_rows(test: TestComparison) -> list[ComparedMetric]:
    """The rows of the figure that the test is judged by, each direction's; of large blocks MB/s in place of IOPS."""
    found = [row for row in test.rows if row.metric is test.leading]
    if test.leading is not Measure.IOPS:
        return found
    return [rate if (rate := _bandwidth(test, row)) else row for row in found]


def _bandwidth(test: TestComparison, iops: ComparedMetric) -> ComparedMetric | None:
    """The row of MB/s of a direction whose blocks are large."""
    row = next((row for row in test.rows if (row.metric, row.direction) == (Measure.BANDWIDTH, iops.direction)), None)
    if row is None:
        return None
    sizes = [
        rate.value / ios.value for rate, ios in zip(row.cells, iops.cells, strict=True) if rate.value and ios.value
    ]
    # A hair less: rates are rounded.
    return row if sizes and min(sizes) >= 0.99 * LARGE_BLOCK else None


def _row(comparison: Comparison, number: int, row: ComparedMetric, *, several: bool) -> OverviewRow:
    test = comparison.tests[number]
    name = f"{test.title} {DIRECTIONS[row.direction].word}" if several and row.direction else test.title
    unit = "" if row.metric is Measure.IOPS else figures.row_unit(row)[0]
    cells = []
    for at, cell in enumerate(row.cells):
        doubts = doubts_about(comparison, at, test.name)
        cells.append(
            OverviewCell(
                value=figures.row_value(row, cell),
                with_unit=figures.figure(row.metric, cell.value),
                difference=figures.difference(row, cell),
                length=_share(row.cells[0].value, cell.value) if at else 0.0,
                judged=judge(row, cell, doubt=bool(doubts)),
                doubts=doubts,
            )
        )
    return OverviewRow(number, name, unit, row.metric, row.direction, tuple(cells))


def _share(base: float | None, value: float | None) -> float:
    """The difference as a share of the larger: half is -0.5, twice +0.5."""
    if base is None or value is None or max(base, value) <= 0:
        return 0.0
    return (value - base) / max(base, value)


def _cells(cell: OverviewCell, *, first: bool, words: bool) -> list[Cell]:
    if first:
        return [Cell(cell.value)]
    judged = cell.judged
    return [
        Cell(cell.value),
        Cell(cell.difference, judged.meaning),
        Cell(bar(cell, _BAR), judged.meaning),
        Cell(judged.word, judged.meaning, None if words else judged.mark),
    ]


def _doubt_legend(rows: Sequence[OverviewRow]) -> list[Block]:
    shown = any(DOUBT in cell.judged.mark for row in rows for cell in row.cells)
    return [Paragraph(f"{DOUBT_LEGEND}.")] if shown else []
