"""A comparison as plain text."""

from collections.abc import Sequence

from diskprof.analysis.comparison import Comparison, Row, TestComparison
from diskprof.analysis.metrics import Better
from diskprof.model.finding import Weight
from diskprof.model.run import Status
from diskprof.reports import wording
from diskprof.reports.content import expectation_table, upshot
from diskprof.reports.layout import GAP, Heading, fit, pad, plain, table, width_of, wrap
from diskprof.reports.render.text_sweep import comparison_lines
from diskprof.reports.words import CHANGES_LEGEND, DIRECTIONS, STATUSES

_WIDEST_CONDITION = 22
_LEAST_CONDITION = 16
_NAME = 18


def comparison_text(comparison: Comparison, width: int = 80) -> str:
    """Runs side by side: where their conditions differ, then test by test against the first, then the upshot."""
    compact = len(comparison.columns) > 2
    swept = comparison_lines(comparison, width)
    blocks = [_who(comparison, width), _conditions(comparison, width), _expectations(comparison, width), *swept]
    blocks += [_test(comparison, test, width, compact) for test in comparison.tests if not test.cell]
    blocks.append(_upshot(comparison, width, compact or bool(swept)))
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _who(comparison: Comparison, width: int) -> list[str]:
    names = [plain(column.label) for column in comparison.columns]
    room = min(max(map(width_of, names)), 24)
    lines = []
    for index, column in enumerate(comparison.columns):
        status = "" if column.status is Status.COMPLETE else f", {STATUSES[column.status].word}"
        base = " (the base)" if index == 0 and len(names) > 1 else ""
        text = f"run {column.id}{status}, {plain(column.preset)} on {plain(column.target)}"
        when = f"{column.started_at:%Y-%m-%d %H:%M} UTC"
        lines += wrap(f"{text}, {when}{base}", width, pad(fit(names[index], room, middle=True), room) + GAP)
    return lines


def _conditions(comparison: Comparison, width: int) -> list[str]:
    if len(comparison.columns) < 2:
        return []
    if not comparison.conditions:
        return wrap("The conditions were the same in all runs, as far as diskprof knows them.", width)
    lines = ["Conditions that differ"]
    widest = max(width_of(plain(condition.name)) for condition in comparison.conditions)
    label = min(widest, _WIDEST_CONDITION) + len(GAP)
    names = [plain(column.label) for column in comparison.columns]
    for chunk in _chunks(len(names), max(2, (width - label - 2) // _LEAST_CONDITION)):
        room = (width - label - 2) // len(chunk) - len(GAP)

        def line(name: str, values: Sequence[str], room: int = room) -> str:
            cells = [pad(fit(value, room, middle=True), room) for value in values]
            return f"  {pad(fit(name, label - 2), label)}{GAP.join(cells)}".rstrip()

        lines.append(line("", [names[index] for index in chunk]))
        for condition in comparison.conditions:
            values = [plain(condition.values[index]) or wording.MISSING for index in chunk]
            lines.append(line(plain(condition.name), values))
    return lines


def expectation_rows(comparison: Comparison) -> list[tuple[str, list[str]]]:
    """(what is expected, each run's `4,210 MISSED`); foreign text as it came. The promise stands beside it where it differs."""
    found = []
    for each in comparison.expectations:
        judged = [one for one in each.judgements if one]
        promised = list(dict.fromkeys(expectation_table.expected_words(one.expectation) for one in judged))
        same = len(promised) == 1
        metric = wording.promised_metric(each.metric)
        cells = []
        for one in each.judgements:
            told = expectation_table.judged_words(one) if one else wording.MISSING
            if one and not same:
                told += f" ({expectation_table.expected_words(one.expectation).removeprefix(metric).strip()})"
            cells.append(told)
        found.append((f"{each.test}: {promised[0] if same else metric}", cells))
    return found


def _expectations(comparison: Comparison, width: int) -> list[str]:
    """What is expected, and below it a line a run: verdicts must not be cut."""
    names = [plain(column.label) for column in comparison.columns]
    room = min(max(map(width_of, names)), _NAME)
    lines = []
    for expected, cells in expectation_rows(comparison):
        lines += wrap(plain(expected), width, "  ", "    ")
        for name, cell in zip(names, cells, strict=True):
            lines += wrap(plain(cell), width, f"    {pad(fit(name, room, middle=True), room)}{GAP}")
    return ["Expectations", *lines] if lines else []


def _chunks(count: int, most: int) -> list[list[int]]:
    """Column numbers, at most `most` side by side; the first run leads each, so that every group can be read alone."""
    others = list(range(1, count))
    step = max(1, most - 1)
    return [[0, *others[start : start + step]] for start in range(0, len(others), step)] or [[0]]


def _test(comparison: Comparison, test: TestComparison, width: int, compact: bool) -> list[str]:
    title = plain(test.title)
    lines = wrap(f"{plain(test.name)}: {title}" if title and title != test.name else plain(test.name), width)
    names = [plain(column.label) for column in comparison.columns]
    for name, status in zip(names, test.statuses, strict=True):
        if status is None:
            lines += wrap(f"{name}: has no such test", width, "  ", "    ")
        elif status is not Status.COMPLETE:
            lines += wrap(f"{name}: {STATUSES[status].word}", width, "  ", "    ")
    for option in test.options:
        values = [wording.MISSING if value is None else plain(value) or "on" for value in option.values]
        told = ", ".join(f"{value} ({name})" for name, value in zip(names, values, strict=True))
        job = f" of {plain(option.job)}" if option.job else ""
        lines += wrap(f"option {plain(option.option)}{job}: {told}", width, "  ", "    ")
    if not test.rows:
        return [*lines, "  no results"]
    return lines + _tables(comparison, test, names, width, compact)


def _tables(comparison: Comparison, test: TestComparison, names: Sequence[str], width: int, compact: bool) -> list[str]:
    """As many runs beside the first as fit."""
    for most in range(len(names), 1, -1):
        groups = [_table(comparison, test, names, chunk, compact) for chunk in _chunks(len(names), most)]
        if most == 2 or all(width_of(line) <= width for lines in groups for line in lines):
            return [line for lines in groups for line in lines]
    return _table(comparison, test, names, [0], compact)


def _table(
    comparison: Comparison, test: TestComparison, names: Sequence[str], chunk: Sequence[int], compact: bool
) -> list[str]:
    several = len(test.directions) > 1
    headings = [Heading("")]
    for index in chunk:
        headings.append(Heading(fit(names[index], _NAME, middle=True), right=True))
        if index:
            headings += [Heading("", right=True), Heading("")]
    rows = [_row(comparison, row, chunk, several, compact) for row in test.rows]
    return table(headings, rows, 1 << 16, indent="  ")


def _row(comparison: Comparison, row: Row, chunk: Sequence[int], several: bool, compact: bool) -> list[str]:
    label = wording.row_label(row, comparison.within_ns, short=True)
    cells = [f"{DIRECTIONS[row.direction].word} {label}" if several and row.direction else label]
    for index in chunk:
        cell = row.cells[index]
        cells.append(wording.row_value(row, cell))
        if index:
            told = (wording.mark if compact else wording.verdict)(cell, share=row.share)
            cells += [wording.difference(row, cell), told]
    return cells


def _upshot(comparison: Comparison, width: int, compact: bool) -> list[str]:
    if len(comparison.columns) < 2:
        return []
    lines = []
    for index in range(1, len(comparison.columns)):
        lines += wrap(plain(upshot.tally_sentence(comparison, index)), width, "", "  ")
    for column in comparison.columns:
        doubts = dict.fromkeys(finding.name for finding in column.findings if finding.weight is Weight.DOUBT)
        if doubts:
            lines += wrap(
                f"In doubt: {plain(column.label)}, by {', '.join(doubts)} (run {column.id}).", width, "", "  "
            )
    if compact:
        lines += wrap(f"{CHANGES_LEGEND}. pp: percentage points.", width)
    if unjudged(comparison):
        lines += wrap(wording.UNJUDGED, width, "", "  ")
    return lines


def unjudged(comparison: Comparison) -> bool:
    """Whether a figure that has a better and a worse could not be judged."""
    return any(
        cell.difference is not None and cell.verdict is None
        for test in comparison.tests
        for row in test.rows
        if row.better is not Better.NEITHER
        for cell in row.cells
    )
