"""A finished run as rows of a table and lines of text."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.analysis.metrics import WITHIN_NS, Metric
from diskprof.model.run import DirectionResult, Run, Status, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.model.units import format_iops
from diskprof.reports import wording
from diskprof.reports.content.facts import detailed
from diskprof.reports.content.run_report import reasoned, result_rows
from diskprof.reports.content.syncs import sync_sentences
from diskprof.reports.content.verdict import doubts, verdict
from diskprof.reports.layout import plain, wrap
from diskprof.reports.words import DIRECTIONS, STATUSES, VERDICTS, WEIGHTS
from diskprof.tui.kit.sheet import Cell, Column, Row
from diskprof.tui.live.promise_lines import promise_rows, told
from diskprof.tui.shell.signs import ink_of, sign_of, status_text, tone_of

_TEST, _LEAST_TEST, _WIDE = 18, 12, 110
_FIXED = _TEST + 5 + 7 + 7 + 3
"""The columns that are always there, with the gaps between them."""
_LABEL = 20
Words = tuple[tuple[str, str], ...]
"""Pieces of (text, style) of one line."""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A row of the result table: a test with one of its directions, or a test without a result."""

    test: TestRecord
    direction: Direction | None
    row: Row


def columns_for(run: Run, width: int) -> tuple[Column, ...]:
    """What fits: below 110 cells without the maximum, the share within the threshold and the CPU, then without p99.9 and p50."""
    latencies = list(wording.LATENCIES[:4])
    for metric in (Metric.LATENCY_P99_9, Metric.LATENCY_P50):
        if width < _FIXED + 9 * len(latencies):
            latencies.remove(metric)
    columns = [
        Column("test", "test", _TEST, middle=True),
        Column("direction", "", 5),
        Column("iops", "IOPS", 7, right=True),
        Column("bandwidth", "MB/s", 7, right=True),
        *(Column(metric, wording.METRICS[metric].short, 8, right=True) for metric in latencies),
    ]
    if width >= _WIDE:
        within = f"< {wording.figure(Metric.LATENCY_MAX, WITHIN_NS)}"
        columns += [
            Column(Metric.LATENCY_MAX, wording.METRICS[Metric.LATENCY_MAX].short, 8, right=True),
            Column("within", within, 8, right=True),
            Column("cpu", wording.METRICS[Metric.CPU].short, 6, right=True),
        ]
    spare = width - sum(column.width + 1 for column in columns) + 1
    longest = max((len(test.name) for test in run.tests), default=0)
    wider = max(_LEAST_TEST - _TEST, min(spare, max(0, longest - _TEST)))
    columns[0] = Column("test", "test", _TEST + wider, middle=True)
    return tuple(columns)


def lines_of(run: Run) -> tuple[ResultLine, ...]:
    """Every test with its directions, in the order of the run."""
    return tuple(ResultLine(test, direction, Row(())) for test, direction, _ in result_rows(run))


def row_of(line: ResultLine, columns: Sequence[Column]) -> Row:
    """The figures of a line; where there are none, why."""
    result = line.test.result.direction(line.direction) if line.test.result and line.direction else None
    again = line.direction is Direction.WRITE and line.test.result is not None and line.test.result.read is not None
    name = Cell("" if again else line.test.name)
    if result is None or line.direction is None:
        status = line.test.status
        why = f"{status_text(status)}{reasoned(status, line.test.reason)[len(STATUSES[status].word) :]}"
        return Row((name, Cell(why, tone_of(STATUSES[status]))), span=1)
    cells = [name, Cell(DIRECTIONS[line.direction].word, tone_of(DIRECTIONS[line.direction]))]
    cells += [Cell(_figure(line.test, result, column.key)) for column in columns[2:]]
    return Row(tuple(cells))


def _figure(test: TestRecord, result: DirectionResult, key: str) -> str:
    match key:
        case "iops":
            return format_iops(result.iops)
        case "bandwidth":
            return wording.megabytes(result.bandwidth_bytes_per_s)
        case "within":
            return wording.figure(Metric.WITHIN, result.share_within(WITHIN_NS))
        case "cpu":
            return wording.share(test.result.cpu.percent / 100) if test.result and test.result.cpu else wording.MISSING
        case _:
            return wording.figure(Metric(key), wording.latency(result, Metric(key)))


def sections(run: Run, width: int) -> list[Words]:
    """Everything below the chart, as lines of at most `width` cells: findings, trouble, conditions, commands."""
    lines: list[Words] = []
    for heading, body in (
        ("Expectations", _promises(run, width)),
        ("In words", _words(run, width)),
        ("Findings", _findings(run, width)),
        ("What went wrong", _trouble(run, width)),
        ("Conditions", _conditions(run, width)),
        ("Commands", _commands(run, width)),
        ("Messages", _messages(run, width)),
    ):
        if body:
            lines += [((heading, "$primary bold"),), *body, ()]
    return lines[:-1]


def _hanging(label: str, text: str, width: int, style: str = "$quiet") -> list[Words]:
    """`label` in its column, `text` beside it, wrapped."""
    body = wrap(plain(text), max(20, width - _LABEL))
    return [((f"{label if not index else '':<{_LABEL}}", style), (line, "")) for index, line in enumerate(body)]


def _promises(run: Run, width: int) -> list[Words]:
    lines: list[Words] = []
    for row in promise_rows(run):
        sign, ink = sign_of(VERDICTS[row.verdict])
        lines += _hanging(f"{sign} {row.word}", told(row), width, f"${ink} bold")
        lines += _hanging("", row.remarks, width) if row.remarks else []
    return lines


def _words(run: Run, width: int) -> list[Words]:
    return [
        ((line, ""),)
        for text in (verdict(run), *sync_sentences(run), doubts(run.findings))
        if text
        for line in wrap(plain(text), width)
    ]


def _findings(run: Run, width: int) -> list[Words]:
    lines: list[Words] = []
    for finding in run.findings:
        where = f"{finding.test}: " if finding.test else ""
        lines += _hanging(
            WEIGHTS[finding.weight].word, f"{where}{finding.message}", width, f"${ink_of(WEIGHTS[finding.weight])} bold"
        )
        for text in (finding.evidence, finding.advice):
            lines += _hanging("", text, width) if text else []
    return lines


def _trouble(run: Run, width: int) -> list[Words]:
    stopped = (Status.FAILED, Status.INTERRUPTED, Status.CANCELLED)
    lines: list[Words] = []
    if run.status in stopped:
        lines += _hanging("The run", reasoned(run.status, run.reason), width)
    for test in run.tests:
        if test.status in stopped:
            lines += _hanging(f"Test {test.index + 1}", f"{test.name}: {reasoned(test.status, test.reason)}", width)
    if skipped := [test.name for test in run.tests if test.status is Status.SKIPPED]:
        lines += _hanging("Not started", ", ".join(skipped), width)
    return lines


def _conditions(run: Run, width: int) -> list[Words]:
    return [line for name, value in detailed(run) for line in _hanging(name, value, width)]


def _commands(run: Run, width: int) -> list[Words]:
    """The exact commands, wrapped so that a shell takes them as they stand."""
    lines: list[Words] = []
    for test in run.tests:
        lines.append(((f"# {clean(test.name)}", "$quiet"),))
        current = ""
        for word in map(shlex.quote, map(plain, test.planned.argv)):
            if current and len(current) + len(word) + 3 > width:
                lines.append(((current + " \\", ""),))
                current = f"  {word}"
            else:
                current = f"{current} {word}" if current else word
        lines.append(((current, ""),))
    return lines


def _messages(run: Run, width: int) -> list[Words]:
    names = {test.index: test.name for test in run.tests}
    lines: list[Words] = []
    for message in run.messages:
        where = f"{names[message.test]}: " if message.test in names else ""
        style = "$warn" if message.warning else "$quiet"
        warning = "warning: " if message.warning else ""
        lines += _hanging(f"{message.at_ns / 1e9:.1f} s", f"{where}{warning}{message.text}", width, style)
    return lines
