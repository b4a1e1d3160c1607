"""The overview of a comparison: tests x runs, one figure each, with its difference to the base as a bar on one scale for all."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.between_runs import USUAL_RUNS, Interval
from diskprof.analysis.comparison import ComparedArm, ComparedMetric, ComparedValue, Comparison, TestComparison
from diskprof.analysis.metrics import Better, Measure
from diskprof.analysis.score import LARGE_BLOCK
from diskprof.model.cells import width_of
from diskprof.model.metric import Change
from diskprof.model.run import Finding, Weight
from diskprof.model.sample import Direction
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.content.doubts import short, with_tests
from diskprof.reports.content.limit_compare import limit_change
from diskprof.reports.layout import Column
from diskprof.reports.words import CHANGES, DIRECTIONS, Meaning

DOUBT = "?"
"""Behind a verdict on a run in doubt."""
DOUBT_LEGEND = f"{DOUBT}: one of the two is in doubt"

NOISE_WITHIN = "One run a side: only the noise within runs is known. Repeat each side {runs} times."
NOISE_OF_OTHERS = (
    "One run of {names}: the noise between runs is taken from the other side. Repeat each side {runs} times."
)
NO_DIFFERENCE = "No difference beyond chance: do not act on one."

_LEAST_FULL = 0.10
"""A full bar is at least this difference: noise alone draws no long bars."""
_BAR, _LEAST_WITH_WAY, _LEAST_SPAN = 13, 4, 7
_LEAST_NAME = 10
"""Cells of an arm's label that stay: columns that can be spared, such as the bar, give way before it is cut further."""
_OF_CONTROL_GROUPS = frozenset({"cgroup-limit-reached", "cpu-throttled"})
_NAMED = 4
"""So many tests are named in a sentence."""


class Judged(Struct, frozen=True):
    """A verdict in words and as a mark; grey and with a `?` where one of the two is in doubt."""

    word: str = ""
    mark: str = ""
    meaning: Meaning = Meaning.PLAIN


class OverviewCell(Struct, frozen=True):
    """An arm's figure in a test: `282,359`, with its unit `282k`. `length` of its bar is from -1 to 1; 0 is no bar.

    `span` is its interval on the same scale. `doubts`, in a few words each, are those of the arm and of the base.
    """

    value: str
    with_unit: str
    difference: str = ""
    length: float = 0.0
    judged: Judged = Judged()
    doubts: tuple[str, ...] = ()
    interval: str = ""
    span: Interval | None = None
    more: str = ""


class OverviewRow(Struct, frozen=True):
    """A test in one direction: `test` is its number in the comparison. `metric` is None without a result in any run.

    `unit` is that of `value` of its cells, empty for IOPS.
    """

    test: int
    name: str
    unit: str
    metric: Measure | None
    direction: Direction | None
    cells: tuple[OverviewCell, ...]


class Overview(Struct, frozen=True):
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
    full = full_bar([cell for row in found for cell in row.cells])
    scaled = (replace(row, cells=tuple(scaled_to(cell, full) for cell in row.cells)) for row in found)
    return Overview(tuple(scaled), full)


def full_bar(cells: Iterable[OverviewCell]) -> float:
    """The difference of a full bar of all these."""
    return max((abs(cell.length) for cell in cells), default=0.0) or _LEAST_FULL


def scaled_to(cell: OverviewCell, full: float) -> OverviewCell:
    """With its bar on the scale of a full one; what of its span is beyond is cut off."""
    full = max(full, _LEAST_FULL)
    span = cell.span and Interval(max(-1.0, cell.span.low / full), min(1.0, cell.span.high / full))
    return replace(cell, length=cell.length / full, span=span)


def overview_blocks(comparison: Comparison) -> list[Block]:
    """The overview as a table; none of a sweep's cells, which have matrices, nor of one arm."""
    rows = [row for row in overview(comparison).rows if not comparison.tests[row.test].cell]
    if len(comparison.columns) < 2 or not rows:
        return []
    table = replace(_table(comparison, rows), narrow=_table(comparison, rows, units_apart=False))
    return [Heading("Overview"), table, *_doubt_legend(rows)]


def _table(comparison: Comparison, rows: Sequence[OverviewRow], *, units_apart: bool = True) -> Table:
    """Where the units have no column of their own, they are behind the tests' names, but for that in the head."""
    units = list(dict.fromkeys(filter(None, map(unit_of, rows))))
    usual = units[0] if units else ""
    told = [
        (Cell(row.name), Cell(unit_of(row)))
        if units_apart
        else (Cell(row.name if unit_of(row) in ("", usual) else f"{row.name} {row.unit}"),)
        for row in rows
    ]
    leading = (
        [Column("Test"), Column("Unit")] if units_apart else [Column(f"Test ({usual})", least=14, cut=1, middle=True)]
    )
    columns, full = list(leading), len(comparison.columns) < 3
    for index, run in enumerate(comparison.columns):
        columns.append(arm_column(run.label, [row.cells[index].value for row in rows]))
        columns += compared_columns() if index else []
    body = tuple(
        (*names, *(cell for at, one in enumerate(row.cells) for cell in compared_cells(one, first=not at, full=full)))
        for names, row in zip(told, rows, strict=True)
    )
    return Table(tuple(columns), body, lead=len(leading) + 1, together=4, inset=True)


def arm_column(label: str, values: Iterable[str]) -> Column:
    """The figures of an arm: its label is cut, they are not."""
    return Column(label, right=True, least=max(min(_LEAST_NAME, width_of(label)), *map(width_of, values)), middle=True)


def compared_columns() -> list[Column]:
    """Behind an arm's value: the difference with its interval, its bar, the verdict."""
    return [Column("difference", right=True, short=""), Column("", spare=1), Column("verdict", short="")]


def compared_cells(cell: OverviewCell, *, first: bool, full: bool) -> list[Cell]:
    """A value and, but for the base, what belongs to `compared_columns`. Not `full`, lines have marks and no intervals."""
    if first:
        return [Cell(cell.value)]
    judged = cell.judged
    told = f"{cell.difference} {cell.interval}".rstrip()
    word = f"{judged.word}: {cell.more}" if cell.more else judged.word
    return [
        Cell(cell.value),
        Cell(told, judged.meaning, None if full else cell.difference),
        Cell(bar(cell, _BAR), judged.meaning),
        Cell(word, judged.meaning, judged.word if full else judged.mark),
    ]


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

    One with an interval is a point on its span, beside none: `·━━●━·│······`. It is drawn for every better and worse.
    """
    if cell.span and width >= _LEAST_SPAN:
        return _span(cell.length, cell.span, width)
    parts = 1 if width >= _LEAST_WITH_WAY else 2
    least = cell.judged.word.removesuffix(DOUBT) in (Change.BETTER, Change.WORSE)
    size = max(int(least), round(abs(cell.length) * width * parts)) if cell.length else 0
    if parts > 1:
        return "█" * (size // parts) + "▌" * (size % parts)
    if not size:
        return ""
    return "◀" + "▇" * (size - 1) if cell.length < 0 else "▇" * (size - 1) + "▶"


def _span(length: float, span: Interval, width: int) -> str:
    half = (width - 1) // 2
    low, at, high = (half + round(each * half) for each in (span.low, length, span.high))
    # A span that leaves out 0 is not drawn across it, however short it is.
    low = max(low, half + 1) if span.low > 0 else low
    high = min(high, half - 1) if span.high < 0 else high
    at = min(max(at, low), high)
    # Dots, because a page leaves out blanks.
    signs = ["━" if low <= place <= high else "·" for place in range(2 * half + 1)]
    signs[half] = "┿" if low <= half <= high else "│"
    signs[at] = "●"
    return "".join(signs)


def compact(with_unit: str) -> str:
    """A figure in as few cells as it takes: `563M` of `563 MB/s`."""
    return with_unit.removesuffix("B/s").replace(" ", "")


def judge(cell: ComparedValue, *, doubt: bool) -> Judged:
    """A cell's verdict."""
    word, mark = figures.verdict(cell), figures.mark(cell)
    if cell.verdict is None:
        return Judged()
    if doubt:
        return Judged(word + DOUBT, mark + DOUBT, Meaning.QUIET)
    return Judged(word, mark, CHANGES[cell.verdict].meaning)


def doubts_about(comparison: Comparison, column: int, test: str) -> tuple[str, ...]:
    """Why an arm's verdict on a test is in doubt: `other I/O on the disk (A)`, of the arm and of the base."""
    return _doubts_of([comparison.columns[at] for at in ((0, column) if column else ())], test)


def doubts_of_any(comparison: Comparison, test: str) -> tuple[str, ...]:
    """Why any verdict on a test is in doubt: `CPUs busy (A, B)`; of a single arm there is none."""
    return _doubts_of(comparison.columns, test) if len(comparison.columns) > 1 else ()


def _doubts_of(arms: Sequence[ComparedArm], test: str) -> tuple[str, ...]:
    """Each doubt once, with those whose it is. A median bears a doubt about fewer than half of the runs."""
    found: dict[str, list[str]] = {}
    for arm in arms:
        for words, runs in _doubtful_runs(arm, test).items():
            if 2 * runs >= len(arm.runs):
                found.setdefault(words, []).append(f"{arm.label}{of_runs(runs, arm)}")
    several = any(len(arm.runs) > 1 for arm in arms)
    return tuple(f"{words} ({('; ' if several else ', ').join(named)})" for words, named in found.items())


def of_runs(runs: int, arm: ComparedArm) -> str:
    """`, 2 of 5 runs`; empty of an arm of one."""
    return f", {runs} of {len(arm.runs)} runs" if len(arm.runs) > 1 else ""


def _doubtful_runs(arm: ComparedArm, test: str | None = None) -> Counter[str]:
    """How many runs of an arm have each doubt, about this test or about any."""
    told = (
        [each for each in run.findings if each.weight is Weight.DOUBT and (test is None or each.test in ("", test))]
        for run in arm.runs
    )
    return Counter(words for each in told for words in dict.fromkeys(short(one.name) for one in each))


def doubts_of_test(findings: Sequence[Finding], test: str) -> tuple[str, ...]:
    """Why a run's figures of a test are in doubt, in a few words each."""
    rules = (each.name for each in findings if each.weight is Weight.DOUBT and each.test in ("", test))
    return tuple(map(short, dict.fromkeys(rules)))


def in_doubt_line(comparison: Comparison) -> str:
    """`In doubt: after other I/O on the disk (1M seq read QD8); old CPUs busy`; empty where no run is.

    Of several runs `other I/O on the disk (2 of 5 runs)`; those with the same doubts together, all as `all 4 CPUs busy`.
    """
    told: dict[str, list[str]] = {}
    for arm in comparison.columns:
        if words := _in_doubt(comparison, arm):
            told.setdefault(words, []).append(arm.label)
    total = len(comparison.columns)
    parts = [
        f"{f'all {total}' if len(labels) == total > 2 else ', '.join(labels)} {words}" for words, labels in told.items()
    ]
    return f"In doubt: {'; '.join(parts)}" if parts else ""


def _in_doubt(comparison: Comparison, arm: ComparedArm) -> str:
    if len(arm.runs) > 1:
        return ", ".join(f"{words} ({runs} of {len(arm.runs)} runs)" for words, runs in _doubtful_runs(arm).items())
    at = comparison.columns.index(arm)
    tests = sum(test.statuses[at] is not None for test in comparison.tests)
    return with_tests(arm.runs[0].findings, comparison.title, tests, between=", ")


def limit_lines(comparison: Comparison) -> tuple[str, ...]:
    """The limits of control groups that held back an arm and not all of them, and may be the cause of a difference:
    `after, 4K rand read QD32: cgroup I/O limit reached ...`.
    """
    found = []
    named = [
        {each.name: each for run in arm.runs for each in run.findings if each.name in _OF_CONTROL_GROUPS}
        for arm in comparison.columns
    ]
    for arm, limits in zip(comparison.columns, named, strict=True):
        for name, limit in limits.items():
            if all(name in each for each in named):
                continue
            tests = list(dict.fromkeys(each.test for run in arm.runs for each in run.findings if each.name == name))
            where = comparison.title(tests[0]) if len(tests) == 1 and tests[0] else figures.count(len(tests), "test")
            found.append(f"{arm.label}, {where}: {limit.message} ({limit.evidence})")
    return tuple(found)


def upshot_of_chance(comparison: Comparison) -> tuple[str, ...]:
    """What to do where chance may be the cause: that nothing differs beyond it, how many runs would tell, what one run lacks."""
    if len(comparison.columns) < 2:
        return ()
    cells = [cell for test in comparison.tests for row in headline_rows(test) for cell in row.cells[1:]]
    verdicts = {cell.verdict for cell in cells}
    told = []
    searched = any(limit_change(comparison, column) for column in range(1, len(comparison.columns)))
    if verdicts <= {Change.SAME, Change.UNCLEAR} and Change.UNCLEAR in verdicts and not searched:
        told.append(NO_DIFFERENCE)
    if comparison.repeated and (more := max((cell.more_runs or 0 for cell in cells), default=0)):
        names = [
            test.title
            for test in comparison.tests
            if any(cell.more_runs == more for row in headline_rows(test) for cell in row.cells[1:])
        ]
        told.append(f"{figures.more_runs_words(more).capitalize()} would tell ({names[0]}).")
    base, *others = comparison.columns
    if len(base.runs) == 1 and any(len(arm.runs) == 1 for arm in others):
        told.append(NOISE_WITHIN.format(runs=USUAL_RUNS))
    elif alone := [arm.label for arm in comparison.columns if len(arm.runs) == 1]:
        told.append(NOISE_OF_OTHERS.format(names=", ".join(alone), runs=USUAL_RUNS))
    return tuple(told)


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
    cells = tuple(cell_of(comparison, test, row, at) for at in range(len(row.cells)))
    return OverviewRow(number, name, unit, row.metric, row.direction, cells)


def cell_of(comparison: Comparison, test: TestComparison, row: ComparedMetric, at: int) -> OverviewCell:
    """A figure as it is shown, its bar not yet on a scale."""
    cell = row.cells[at]
    doubts = doubts_about(comparison, at, test.name)
    base = row.cells[0].value
    return OverviewCell(
        value=figures.row_value(row, cell),
        with_unit=figures.figure(row.metric, cell.value),
        difference=figures.difference(row, cell),
        length=_share(base, cell.value) if at and row.better is not Better.NEITHER else 0.0,
        judged=judge(cell, doubt=bool(doubts)),
        doubts=doubts,
        interval=figures.interval(cell),
        span=cell.interval
        and Interval(*(_share_of(end, row, base) for end in (cell.interval.low, cell.interval.high))),
        more=figures.more_runs(cell),
    )


def _share(base: float | None, value: float | None) -> float:
    """The difference as a share of the larger: half is -0.5, twice +0.5."""
    if base is None or value is None or max(base, value) <= 0:
        return 0.0
    return (value - base) / max(base, value)


def _share_of(change: float, row: ComparedMetric, base: float | None) -> float:
    """The same of an end of an interval."""
    return _share(base, (base or 0.0) + change) if row.share else _share(1.0, 1.0 + change)


def _doubt_legend(rows: Sequence[OverviewRow]) -> list[Block]:
    shown = any(DOUBT in cell.judged.mark for row in rows for cell in row.cells)
    return [Paragraph(f"{DOUBT_LEGEND}.")] if shown else []
