"""A finished run as rows of a table and lines of text."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.analysis.metrics import WITHIN_NS, Metric
from diskprof.model.run import DirectionResult, Run, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.units import format_iops
from diskprof.reports import wording
from diskprof.reports.blocks import Form
from diskprof.reports.content.run_report import reasoned, result_rows, run_report
from diskprof.reports.words import DIRECTIONS, STATUSES
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.table import Column, Row
from diskprof.tui.shell.blocks import screen_lines
from diskprof.tui.shell.signs import ink_of, status_text, word_of

_TEST, _LEAST_TEST, _WIDE = 18, 12, 110
_FIXED = _TEST + 5 + 7 + 7 + 3
"""The columns that are always there, with the gaps between them."""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A row of the result table: a test with one of its directions, or a test without a result."""

    test: TestRecord
    direction: Direction | None


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
    return tuple(ResultLine(test, direction) for test, direction, _ in result_rows(run))


def row_of(line: ResultLine, columns: Sequence[Column]) -> Row:
    """The figures of a line; where there are none, why."""
    result = line.test.result.direction(line.direction) if line.test.result and line.direction else None
    again = line.direction is Direction.WRITE and line.test.result is not None and line.test.result.read is not None
    key = f"{line.test.index} {line.direction or ''}"
    name = ("" if again else line.test.name, "")
    if result is None or line.direction is None:
        status = line.test.status
        why = f"{status_text(status)}{reasoned(status, line.test.reason)[len(STATUSES[status].word) :]}"
        return Row(key, (name, (why, ink_of(STATUSES[status]))), span=1)
    cells = [name, word_of(DIRECTIONS[line.direction])]
    cells += [(_figure(line.test, result, column.key), "") for column in columns[2:]]
    return Row(key, cells)


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


def sections(run: Run, width: int) -> list[Line]:
    """Everything below the chart, as lines of at most `width` cells."""
    return screen_lines(run_report(run, form=Form.SCREEN), width)
