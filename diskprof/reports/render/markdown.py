"""A report in Markdown: renders on GitHub, and its source reads well as plain text."""

import shlex
from collections.abc import Mapping, Sequence

from diskprof.analysis.comparison import Comparison, TestComparison, compare
from diskprof.analysis.kernel import KernelView
from diskprof.analysis.metrics import Metric
from diskprof.model.expectation import Verdict as Kept
from diskprof.model.run import Run, Status
from diskprof.model.sample import Sample
from diskprof.reports import wording
from diskprof.reports.content import expectation_table, upshot
from diskprof.reports.content.facts import detailed, disks
from diskprof.reports.content.kernel_rows import KERNEL_LEGEND, KERNEL_TITLE, kernel_lines
from diskprof.reports.content.over_time import courses
from diskprof.reports.content.sweep_compare import comparison_reports
from diskprof.reports.content.sweep_tables import PanelReport, run_reports
from diskprof.reports.content.syncs import sync_sentences
from diskprof.reports.content.verdict import doubts, unfinished, verdict
from diskprof.reports.layout import pad, plain, width_of
from diskprof.reports.render.markup import escape, fenced, markdown_table, paragraph
from diskprof.reports.render.text_compare import expectation_rows, unjudged
from diskprof.reports.render.text_run import result_rows, run_line, trouble
from diskprof.reports.words import DIRECTIONS, STATUSES, WEIGHTS

_MATRICES = (Metric.IOPS, Metric.BANDWIDTH, Metric.LATENCY_MEAN, Metric.LATENCY_P99)
_DIFFERENCES = (Metric.IOPS, Metric.LATENCY_MEAN, Metric.LATENCY_P99)
_FIGURES = ("Measured", "Ratio")
_SPARK = 40
_TEXT = 120
_CPU = "CPU: user and system time of the jobs, as a share of one CPU."

Blocks = list[list[str]]


Kernel = Mapping[int, KernelView]
"""What the kernel saw of each test of a run, by the test's number."""


def report(
    runs: Sequence[Run],
    series: Mapping[str, Sequence[Sample]] | None = None,
    *,
    kernel: Mapping[str, Kernel] | None = None,
    ascii_only: bool = False,
) -> str:
    """A report of one run; of several, side by side first and then each. `series` and `kernel` are by run id.

    Raises ValueError of no runs.
    """
    if not runs:
        raise ValueError("nothing to report")
    samples, seen = series or {}, kernel or {}
    if len(runs) == 1:
        run = runs[0]
        return _document(_single(run, title_of(run), samples.get(run.id, ()), seen.get(run.id, {}), ascii_only))
    comparison = compare(runs, samples)
    blocks = _several(comparison)
    for run, column in zip(runs, comparison.columns, strict=True):
        title = f"{column.label}: {title_of(run)}"
        blocks += _single(run, title, samples.get(run.id, ()), seen.get(run.id, {}), ascii_only, level=2)
    return _document(blocks)


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison alone, without each run's own report."""
    return _document(_several(comparison))


def title_of(run: Run) -> str:
    """`Quick check: Samsung SSD 980 PRO 1TB in db-01`."""
    models = list(dict.fromkeys(disk.model for disk in disks(run) if disk.model))
    what = " and ".join(models) or run.plan.target.path
    host = f" in {run.environment.hostname}" if run.environment.hostname else ""
    return f"{run.plan.preset_title}: {what}{host}"


def _document(blocks: Blocks) -> str:
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _single(run: Run, title: str, samples: Sequence[Sample], seen: Kernel, ascii_only: bool, level: int = 1) -> Blocks:
    below = "#" * (level + 1)
    facts = [[escape(name), escape(value)] for name, value in (("Run", run_line(run)), *detailed(run))]
    findings = [[f"{below} Findings"], _findings(run)] if run.findings or run.status.over else []
    return [
        [f"{'#' * level} {escape(title)}"],
        paragraph(f"**{escape(verdict(run))}**", _TEXT),
        paragraph(escape(unfinished(run)), _TEXT) if unfinished(run) else [],
        paragraph(escape(doubts(run.findings)), _TEXT) if doubts(run.findings) else [],
        [f"{below} Results"],
        *_sweep(run_reports(run, _MATRICES), below),
        _results(run),
        paragraph(_legend(run), _TEXT),
        *(paragraph(escape(sentence), _TEXT) for sentence in sync_sentences(run)),
        *_expectations(run, below),
        *_over_time(run, samples, ascii_only, below),
        *_kernel(run, seen, below),
        *findings,
        *_trouble(run, below),
        [f"{below} Environment"],
        markdown_table(facts[0], facts[1:], (False, False)),
        [f"{below} Commands"],
        fenced(_commands(run), "sh"),
    ]


def _legend(run: Run) -> str:
    told = wording.legend({test.engine for test in run.tests})
    return told if run.tests and all(test.planned.cell for test in run.tests) else f"{told} {_CPU}"


def _commands(run: Run) -> list[str]:
    """Every command as it was started, each under its test's name."""
    lines: list[str] = []
    planned = (*((run.plan.layout,) if run.plan.layout else ()), *(test.planned for test in run.tests))
    for test in planned:
        title = test.title if test.title != test.name else ""
        lines += [f"# {plain(test.name)}{': ' if title else ''}{plain(title)}", plain(shlex.join(test.argv))]
    return lines


def _results(run: Run) -> list[str]:
    """The tests that are no cells of a sweep."""
    rows = [row for row in result_rows(run) if not row[0].planned.cell]
    if not rows and run.tests:
        return []
    mixed = any(test.result is not None and len(test.result.directions) > 1 for test, _, _ in rows)
    incomplete = any(test.status is not Status.COMPLETE for test, _, _ in rows)
    head = [
        "Test",
        *(["Direction"] if mixed else []),
        *(["Status"] if incomplete else []),
        "IOPS",
        "MB/s",
        *(wording.METRICS[metric].short for metric in wording.LATENCIES),
        "CPU",
    ]
    cells = []
    for test, direction, result in rows:
        row = [escape(test.name)]
        row += [DIRECTIONS[direction].word if direction else ""] if mixed else []
        row += [STATUSES[test.status].word] if incomplete else []
        if result is None:
            row += [wording.MISSING] * (2 + len(wording.LATENCIES))
        else:
            row += [wording.number(result.iops), wording.megabytes(result.bandwidth_bytes_per_s)]
            row += [wording.figure(metric, wording.latency(result, metric)) for metric in wording.LATENCIES]
        cpu = test.result.cpu if test.result else None
        cells.append([*row, wording.share(cpu.percent / 100) if cpu else wording.MISSING])
    words = 1 + mixed + incomplete
    return markdown_table(head, cells, [index >= words for index in range(len(head))])


def _sweep(reports: Sequence[PanelReport], heading: str) -> Blocks:
    """Every table of every panel, under a heading each."""
    blocks: Blocks = []
    for report in reports:
        blocks.append([f"{heading}# {escape(report.title)}"])
        blocks += [paragraph(escape(sentence), _TEXT) for sentence in report.sentences]
        for sheet in report.sheets:
            rows = [list(map(_cell, row)) for row in sheet.rows]
            head = list(map(_cell, sheet.head))
            blocks += [paragraph(f"{escape(sheet.title)}:", _TEXT)]
            blocks.append(markdown_table(head, rows, [index > 0 for index in range(len(head))]))
    return blocks


def _cell(text: str) -> str:
    return text if text == wording.MISSING else escape(text)


def _expectations(run: Run, heading: str) -> Blocks:
    """What was promised and whether it was kept."""
    rows = [
        [
            *(escape(row.test), row.metric, row.promised, _cell(row.basis) or wording.MISSING),
            *(row.measured, row.ratio, f"**{row.word}**" if row.verdict is Kept.MISSED else row.word),
        ]
        for row in expectation_table.rows(run)
    ]
    if not rows:
        return []
    head = ("Test", "Metric", "Promised", "Basis", "Measured", "Ratio", "Verdict")
    blocks = [[f"{heading} Expectations"], markdown_table(head, rows, [name in _FIGURES for name in head])]
    notes = [f"{row.test} {row.metric}: {row.note}" for row in expectation_table.rows(run) if row.note]
    return [*blocks, *([paragraph(escape(f"{'; '.join(notes)}."), _TEXT)] if notes else [])]


def _over_time(run: Run, samples: Sequence[Sample], ascii_only: bool, heading: str) -> Blocks:
    """A sparkline for each test, from zero up to its largest interval."""
    title, found = courses(run, samples, _SPARK, ascii_only=ascii_only)
    if not found:
        return []
    name_width, line_width = max(width_of(plain(one.test)) for one in found), max(width_of(one.line) for one in found)
    lines = [
        f"{pad(plain(one.test), name_width)}  {pad(one.line, line_width)}  min {one.lowest}, median {one.median}, max {one.highest}"
        for one in found
    ]
    return [[f"{heading} {title}"], fenced(lines, "text")]


def _kernel(run: Run, seen: Kernel, heading: str) -> Blocks:
    """A line for each test that is no cell of a sweep, a column for each thing that the kernel told of."""
    told = [
        (test.name, dict(kernel_lines(view)))
        for test in run.tests
        if (view := seen.get(test.index)) and not test.planned.cell
    ]
    names = list(dict.fromkeys(name for _, lines in told for name in lines))
    if not names:
        return []
    cells = [
        [escape(test), *(escape(lines.get(name, "")) or wording.MISSING for name in names)] for test, lines in told
    ]
    table = markdown_table(["Test", *names], cells, [False] * (1 + len(names)))
    return [[f"{heading} {KERNEL_TITLE}"], table, paragraph(KERNEL_LEGEND, _TEXT)]


def _findings(run: Run) -> list[str]:
    if not run.findings:
        return ["None: no rule speaks against relying on this result." if run.status is Status.COMPLETE else "None."]
    lines: list[str] = []
    for finding in run.findings:
        where = f" ({escape(finding.test)})" if finding.test else ""
        lines += paragraph(f"- **{WEIGHTS[finding.weight].word}**{where}: {escape(finding.message)}", _TEXT, "", "  ")
        # A line each, in the source and as shown: the backslash is Markdown's line break.
        lines[-1] += "\\"
        lines += paragraph(escape(finding.evidence), _TEXT, "  ", "  ")
        lines[-1] += "\\"
        lines += paragraph(f"*{escape(finding.advice)}*", _TEXT, "  ", "  ")
    return lines


def _trouble(run: Run, heading: str) -> Blocks:
    lines = [line for text in trouble(run) for line in paragraph(escape(text), _TEXT, "- ", "  ")]
    return [[f"{heading} What went wrong"], lines] if lines else []


def _several(comparison: Comparison) -> Blocks:
    names = [escape(column.label) for column in comparison.columns]
    blocks: Blocks = [[f"# Comparison of {wording.listed(names)}"]]
    told_of = [f"- **{escape(upshot.tally_sentence(comparison, index))}**" for index in range(1, len(names))]
    for name, column in zip(names, comparison.columns, strict=True):
        if told := doubts(column.findings):
            told_of += paragraph(f"{name}: {escape(told)}", _TEXT, "- ", "  ")
    blocks.append(told_of)
    blocks.append(_who(comparison, names))
    blocks += _conditions(comparison, names)
    blocks += _promises(comparison, names)
    blocks += _sweep(comparison_reports(comparison, _DIFFERENCES, marks=False), "#")
    for test in comparison.tests:
        if not test.cell:
            blocks += _test(comparison, test, names)
    if unjudged(comparison):
        blocks.append(paragraph(wording.UNJUDGED, _TEXT))
    return blocks


def _who(comparison: Comparison, names: Sequence[str]) -> list[str]:
    rows = [
        [
            name,
            column.id,
            STATUSES[column.status].word,
            escape(column.preset),
            escape(column.target),
            f"{column.started_at:%Y-%m-%d %H:%M} UTC",
        ]
        for name, column in zip(names, comparison.columns, strict=True)
    ]
    rows[0][0] += " (the base)"
    return markdown_table(["", "Run", "Status", "Preset", "Target", "Started"], rows, [False] * 6)


def _conditions(comparison: Comparison, names: Sequence[str]) -> Blocks:
    if not comparison.conditions:
        return [paragraph("The conditions were the same in all runs, as far as diskprof knows them.", _TEXT)]
    rows = [
        [escape(condition.name), *(escape(value) or wording.MISSING for value in condition.values)]
        for condition in comparison.conditions
    ]
    return [["## Conditions that differ"], markdown_table(["", *names], rows, [False] * (1 + len(names)))]


def _promises(comparison: Comparison, names: Sequence[str]) -> Blocks:
    """What several runs expect, side by side."""
    if not comparison.expectations:
        return []
    rows = [[escape(name), *map(_cell, cells)] for name, cells in expectation_rows(comparison)]
    return [["## Expectations"], markdown_table(["", *names], rows, [False] * (1 + len(names)))]


def _test(comparison: Comparison, test: TestComparison, names: Sequence[str]) -> Blocks:
    title = f"{test.name}: {test.title}" if test.title and test.title != test.name else test.name
    blocks: Blocks = [[f"## {escape(title)}"], _differences(test, names)]
    if not test.rows:
        return [*blocks, ["No results."]]
    head, right = [""], [False]
    for index, name in enumerate(names):
        head += [name, "difference", "verdict"] if index else [name]
        right += [True, True, False] if index else [True]
    several = len(test.directions) > 1
    cells = []
    for row in test.rows:
        label = wording.row_label(row, comparison.within_ns)
        line = [f"{DIRECTIONS[row.direction].word}: {label}" if several and row.direction else label]
        for index, cell in enumerate(row.cells):
            line.append(wording.row_value(row, cell))
            if index:
                line += [wording.difference(row, cell), wording.verdict(cell, share=row.share)]
        cells.append(line)
    return [*blocks, markdown_table(head, cells, right)]


def _differences(test: TestComparison, names: Sequence[str]) -> list[str]:
    """What was not the same about this test: its options, and how it ended."""
    lines: list[str] = []
    for name, status in zip(names, test.statuses, strict=True):
        if status is None:
            lines.append(f"- {name} has no such test.")
        elif status is not Status.COMPLETE:
            lines.append(f"- {name}: {STATUSES[status].word}.")
    for option in test.options:
        values = [wording.MISSING if value is None else escape(value) or "on" for value in option.values]
        told = ", ".join(f"{value} ({name})" for name, value in zip(names, values, strict=True))
        job = f" of {escape(option.job)}" if option.job else ""
        lines += paragraph(f"Option {escape(option.option)}{job}: {told}", _TEXT, "- ", "  ")
    return lines
