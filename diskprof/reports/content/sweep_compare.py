"""Sweeps side by side as tables of words: the most IOPS of each run, and matrices of differences to the first."""

from collections import Counter

from diskprof.analysis.comparison import ComparedMetric, ComparedValue, Comparison, TestComparison
from diskprof.analysis.metrics import Measure
from diskprof.analysis.sweep import Matrix, compared_grids, most_iops, panels
from diskprof.model.run import Status
from diskprof.model.sample import Direction
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.content.sweep_tables import (
    by_axes,
    capital,
    matrix_head,
    panel_title,
    sheet,
    value_words,
)
from diskprof.reports.words import DIRECTIONS, STATUSES


def compared_panels(comparison: Comparison, *, terminal: bool, level: int) -> list[Block]:
    """Every panel of the sweeps of a comparison, with a matrix for each figure of each run beside the first: of those that it is
    judged by, on a page of more."""
    found: list[Block] = []
    for grid in compared_grids(comparison):
        for panel in panels(grid):
            found += [Heading(panel_title(panel), level), *_sentences(comparison, panel)]
            if all(test.leading is Measure.LATENCY_MEAN for row in panel.cells for test in row if test):
                metrics = [Measure.LATENCY_MEAN, Measure.LATENCY_P99, Measure.LATENCY_MAX]
            else:
                found.append(_most(comparison, panel))
                metrics = [Measure.IOPS, *([] if terminal else [Measure.LATENCY_MEAN]), Measure.LATENCY_P99]
            for column in range(1, len(comparison.columns)):
                found += [table for metric in metrics for table in _differences(comparison, panel, column, metric)]
    return found


def _sentences(comparison: Comparison, panel: Matrix[TestComparison]) -> list[Block]:
    """Cells that a run lacks, and options that are not the same."""
    tests = [test for row in panel.cells for test in row if test]
    told = []
    for index, column in enumerate(comparison.columns):
        counted = Counter(test.statuses[index] for test in tests if test.statuses[index] is not Status.COMPLETE)
        words = [(times, STATUSES[status].word if status else "not in this run") for status, times in counted.items()]
        if words:
            (times, word), *others = words
            more = "".join(f", {count} {each}" for count, each in others)
            told.append(f"{column.label}: {times} of {figures.count(len(tests), 'cell')} {word}{more}.")
    options = Counter(option for test in tests for option in test.options)
    for option, times in options.items():
        of = figures.option_values(option.values, [column.label for column in comparison.columns])
        job = f" of {option.job}" if option.job else ""
        told.append(f"Option {option.option}{job}: {of}, in {figures.count(times, 'cell')} of {len(tests)}.")
    return [Paragraph(sentence, hanging=True) for sentence in told]


def _most(comparison: Comparison, panel: Matrix[TestComparison]) -> Table:
    """The most IOPS of each row, reads and writes together, run by run."""
    head = [capital(figures.option(panel.rows.option))]
    for index, column in enumerate(comparison.columns):
        head += [column.label, "difference"] if index else [column.label]
    rows = []
    for value, tests in zip(panel.rows.values, panel.cells, strict=True):
        line = [value_words(panel.rows.option, value)]
        base = most_iops(tests, 0)
        for index in range(len(comparison.columns)):
            most = most_iops(tests, index)
            line.append(figures.MISSING if most is None else figures.number(most))
            if index:
                line.append(figures.relative(most / base - 1) if most is not None and base else "")
        rows.append(list(map(Cell, line)))
    what = "Most IOPS" if panel.columns else "IOPS"
    return sheet(f"{what} by {figures.option(panel.rows.option)}", head, rows)


def _differences(comparison: Comparison, panel: Matrix[TestComparison], column: int, metric: Measure) -> list[Table]:
    """A matrix a direction; none where the two runs have no cell in common."""
    ways = [way for way in Direction if any(_pair(test, metric, way, column) for row in panel.cells for test in row)]
    base, name = comparison.columns[0].label, comparison.columns[column].label
    return [
        sheet(
            f"{_title(panel, metric, way, named=len(ways) > 1)}: {name} against {base}",
            matrix_head(panel) if panel.columns else (capital(figures.option(panel.rows.option)), "difference"),
            [
                [
                    Cell(value_words(panel.rows.option, value)),
                    *(_cell(_pair(test, metric, way, column)) for test in row),
                ]
                for value, row in zip(panel.rows.values, panel.cells, strict=True)
            ],
        )
        for way in ways
    ]


def _title(panel: Matrix[TestComparison], metric: Measure, way: Direction, *, named: bool) -> str:
    label = figures.METRICS[metric].label
    label = f"{capital(DIRECTIONS[way].word)}: {label}" if named else label
    return by_axes(label, panel) if panel.columns else f"{label} by {figures.option(panel.rows.option)}"


def _pair(
    test: TestComparison | None, metric: Measure, way: Direction, column: int
) -> tuple[ComparedMetric, ComparedValue] | None:
    """What is told of one cell; None where one of the two runs did not measure it whole."""
    row = test.row(metric, way) if test else None
    if row is None or row.direction is not way or test is None:
        return None
    whole = test.statuses[0] is Status.COMPLETE and test.statuses[column] is Status.COMPLETE
    return (row, row.cells[column]) if whole and row.cells[column].difference is not None else None


def _cell(pair: tuple[ComparedMetric, ComparedValue] | None) -> Cell:
    if pair is None:
        return Cell(figures.MISSING)
    row, cell = pair
    told = figures.difference(row, cell)
    return Cell(f"{told} {figures.verdict(cell)}".rstrip(), short=f"{told} {figures.mark(cell)}".rstrip())
