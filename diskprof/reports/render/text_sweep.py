"""Sweeps as plain text: tables that break into groups of columns where the terminal is narrow."""

from collections.abc import Sequence

from diskprof.analysis.comparison import Comparison
from diskprof.analysis.metrics import Metric
from diskprof.model.run import Run
from diskprof.reports import wording
from diskprof.reports.content.sweep_compare import comparison_reports
from diskprof.reports.content.sweep_tables import PanelReport, Sheet, run_reports
from diskprof.reports.layout import GAP, Heading, fit, plain, table, width_of, wrap

_NAME = 20


def sweep_lines(run: Run, width: int) -> list[list[str]]:
    """Blocks for each panel of a run's sweeps: the best by block size, the limits, the matrix of IOPS."""
    found = run_reports(run, (Metric.IOPS,))
    blocks = [block for report in found for block in _blocks(report, width)]
    return [*blocks, wrap(wording.legend({test.engine for test in run.tests}), width)] if blocks else []


def comparison_lines(comparison: Comparison, width: int) -> list[list[str]]:
    """Blocks for each panel of the sweeps that runs share: the most IOPS side by side, then how much each cell differs."""
    found = comparison_reports(comparison, (Metric.IOPS, Metric.LATENCY_P99), marks=True)
    return [block for report in found for block in _blocks(report, width)]


def _blocks(report: PanelReport, width: int) -> list[list[str]]:
    head = wrap(plain(report.title), width)
    for sentence in report.sentences:
        head += wrap(plain(sentence), width, "", "  ")
    return [head, *(_sheet(sheet, width) for sheet in report.sheets)]


def _sheet(sheet: Sheet, width: int) -> list[str]:
    rows = [[plain(cell) for cell in row] for row in sheet.rows]
    head = [fit(plain(text), _NAME, middle=True) for text in sheet.head]
    lines = wrap(plain(sheet.title), width, "", "  ")
    for columns in _groups(head, rows, width):
        headings = [Heading(head[index], right=index > 0) for index in columns]
        lines += table(headings, [[row[index] for index in columns] for row in rows], width, rule=True)
    return lines


def _groups(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Columns that fit side by side, the first leading each group."""
    widths = [max(width_of(row[index]) for row in (head, *rows)) for index in range(len(head))]
    groups, taken = [[0]], widths[0]
    for index in range(1, len(head)):
        if taken + len(GAP) + widths[index] > width and len(groups[-1]) > 1:
            groups.append([0])
            taken = widths[0]
        groups[-1].append(index)
        taken += len(GAP) + widths[index]
    return groups
