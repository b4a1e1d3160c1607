"""Results as plain text for a terminal, without colour."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter

from diskprof.analysis.kernel import KernelView
from diskprof.analysis.metrics import Metric
from diskprof.model.expectation import Verdict
from diskprof.model.finding import Finding
from diskprof.model.run import DirectionResult, Message, Run, RunSummary, Status, TestRecord
from diskprof.model.sample import Direction, Sample
from diskprof.model.units import format_duration, format_iops
from diskprof.reports import wording
from diskprof.reports.content import expectation_table
from diskprof.reports.content.facts import brief
from diskprof.reports.content.over_time import courses
from diskprof.reports.content.syncs import sync_sentences
from diskprof.reports.layout import Heading, columns_table, pad, plain, plain_column, table, width_of, wrap
from diskprof.reports.render.text_compare import comparison_text as comparison_text
from diskprof.reports.render.text_kernel import kernel_table
from diskprof.reports.render.text_plan import plan_text as plan_text
from diskprof.reports.render.text_sweep import sweep_lines
from diskprof.reports.words import DIRECTIONS, STATUSES, WEIGHTS

WIDTH = 80
_LABEL = 12
_SPARK, _LEAST_SPARK, _BESIDE_SPARK = 24, 8, 52
_WIDE, _NARROW = 110, 72
_THIS_YEAR = timedelta(days=300)
_DISPENSABLE = (Metric.LATENCY_P99_9, Metric.LATENCY_MEAN, Metric.LATENCY_P50)
_NAMED = 6
_SHORTER = {Verdict.TOO_SHORT: "too short"}
_ENDED_EARLY = (Status.FAILED, Status.INTERRUPTED, Status.CANCELLED)

ResultRow = tuple[TestRecord, Direction | None, DirectionResult | None]


def show(
    run: Run,
    samples: Sequence[Sample] = (),
    width: int = WIDTH,
    *,
    kernel: Mapping[int, KernelView] | None = None,
    ascii_only: bool = False,
) -> str:
    """A whole run: what was tested, the results, what they mean, and what went wrong and where.

    `kernel` is what the kernel saw of each test, by the test's number.
    """
    blocks = [
        _header(run, width),
        *sweep_lines(run, width),
        _results(run, width),
        [line for sentence in sync_sentences(run) for line in wrap(plain(sentence), width)],
        _expectations(run, width),
        _over_time(run, samples, width, ascii_only),
        kernel_table(run, kernel or {}, width, ascii_only=ascii_only),
        _findings(run.findings, width),
        _trouble(run, width),
        _messages(run.messages, run.tests, width),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _header(run: Run, width: int) -> list[str]:
    lines = wrap(f"{plain(run.plan.preset_title)} ({plain(run.plan.preset)})", width)
    for name, value in (("Run", run_line(run)), *brief(run)):
        lines += wrap(plain(value), width, pad(name, _LABEL))
    return lines


def run_line(run: Run) -> str:
    """`k3f9x2qa, complete, 2026-03-04 12:00 UTC, took 34 s`."""
    parts = [run.id, STATUSES[run.status].word, moment(run.started_at)]
    if run.ended_at:
        parts.append(f"took {format_duration((run.ended_at - run.started_at).total_seconds())}")
    return ", ".join(parts)


def moment(when: datetime) -> str:
    """A time of day that means the same to everybody: `2026-03-04 12:00 UTC`."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def result_rows(run: Run) -> list[ResultRow]:
    """Every test with each of its directions; a test without a result once, with None."""
    rows: list[ResultRow] = []
    for test in run.tests:
        directions = test.result.directions if test.result else ()
        rows += [(test, direction, result) for direction, result in directions] or [(test, None, None)]
    return rows


def _results(run: Run, width: int) -> list[str]:
    """The tests that are no cells of a sweep."""
    rows = [row for row in result_rows(run) if not row[0].planned.cell]
    if not rows and run.tests:
        return []
    latencies = list(wording.LATENCIES)
    lines = _result_table(rows, latencies, width)
    for metric in _DISPENSABLE:
        if max(map(width_of, lines)) <= width:
            break
        latencies.remove(metric)
        lines = _result_table(rows, latencies, width)
    if all(result is None for _, _, result in rows):
        return lines
    return [*lines, *wrap(wording.legend({test.engine for test, _, _ in rows}), width)]


def _result_table(rows: Sequence[ResultRow], latencies: Sequence[Metric], width: int) -> list[str]:
    mixed = any(_both_ways(test) for test, _, _ in rows)
    headings = [
        Heading("Test", least=10, middle=True),
        *([Heading("")] if mixed else []),
        Heading("IOPS", right=True),
        Heading("MB/s", right=True),
        *(Heading(wording.METRICS[metric].short, right=True) for metric in latencies),
    ]
    cells: list[list[str]] = []
    for test, direction, result in rows:
        again = direction is Direction.WRITE and _both_ways(test)
        row = ["" if again else plain(test.name)]
        if mixed:
            row.append(DIRECTIONS[direction].word if direction else "")
        if result is None:
            word = STATUSES[test.status].word if test.status is not Status.COMPLETE else wording.MISSING
            row += [word] + [wording.MISSING] * (1 + len(latencies))
        else:
            row += [format_iops(result.iops), wording.megabytes(result.bandwidth_bytes_per_s)]
            row += [wording.figure(metric, wording.latency(result, metric)) for metric in latencies]
        cells.append(row)
    return table(headings, cells, width, rule=True)


def _both_ways(test: TestRecord) -> bool:
    return test.result is not None and len(test.result.directions) > 1


def _expectations(run: Run, width: int) -> list[str]:
    found = expectation_table.rows(run)
    if not found:
        return []
    headings = [
        Heading("Test", least=8, middle=True),
        *(Heading(text, right=text in ("Measured", "Ratio")) for text in ("Metric", "Promised", "Measured", "Ratio")),
        Heading("Verdict"),
    ]
    cells = [
        [plain(row.test), row.metric, row.promised, row.measured, row.ratio, _SHORTER.get(row.verdict, row.word)]
        for row in found
    ]
    head, *lines = table(headings, cells, width, indent="  ")
    shown, told = [[line] for line in lines], ["Expectations", head]
    if max(map(width_of, (head, *lines))) > width:
        told = ["Expectations"]
        shown = [
            wrap(f"{test} {metric}: {word}: {measured} ({promised}; {ratio})", width, "  ", "    ")
            for test, metric, promised, measured, ratio, word in cells
        ]
    shared = found[0].remarks if len({row.remarks for row in found}) == 1 else ""
    for row, body in zip(found, shown, strict=True):
        told += body
        if row.remarks and not shared:
            told += wrap(plain(row.remarks), width, "      ")
    return [*told, *wrap(plain(shared), width, "      ")] if shared else told


def _over_time(run: Run, samples: Sequence[Sample], width: int, ascii_only: bool) -> list[str]:
    line_width = max(_LEAST_SPARK, min(_SPARK, width - _BESIDE_SPARK))
    title, found = courses(run, samples, line_width, ascii_only=ascii_only)
    if not found:
        return []
    headings = [Heading("Test", least=10, middle=True), Heading(title, least=line_width)]
    headings += [Heading(text, right=True) for text in ("lowest", "median", "highest", "CPU")]
    rows = []
    for course in found:
        cpu = wording.MISSING if course.cpu is None else wording.share(course.cpu)
        rows.append([plain(course.test), course.line, course.lowest, course.median, course.highest, cpu])
    return table(headings, rows, width, rule=True)


def _findings(findings: Sequence[Finding], width: int) -> list[str]:
    if not findings:
        return []
    lines = ["Findings"]
    for finding in findings:
        where = f" {plain(finding.test)}:" if finding.test else ""
        lines += wrap(f"{WEIGHTS[finding.weight].word}:{where} {plain(finding.message)}", width, "  ", "    ")
        lines += wrap(plain(finding.evidence), width, "    ")
        lines += wrap(plain(finding.advice), width, "    -> ")
    return lines


def trouble(run: Run) -> list[str]:
    """What did not come to its end, and where: one line for each, or for many that say the same. Foreign text as it came."""
    failed = [test for test in run.tests if test.status in _ENDED_EARLY]
    told: dict[str, list[TestRecord]] = {}
    for test in failed:
        told.setdefault(reasoned(test.status, test.reason or run.reason), []).append(test)
    lines = []
    for words, tests in told.items():
        if len(tests) > _NAMED:
            lines.append(f"{len(tests)} of {wording.count(len(run.tests), 'test')}: {words} ({_named(tests)})")
        else:
            lines += [f"Test {test.index + 1} of {len(run.tests)}, {test.name}: {words}" for test in tests]
    known = {"", *(test.reason for test in failed), "\n".join(f"{test.name}: {test.reason}" for test in failed)}
    if run.status in _ENDED_EARLY and (not failed or run.reason not in known):
        lines.insert(0, f"The run: {reasoned(run.status, run.reason)}")
    skipped = [test for test in run.tests if test.status is Status.SKIPPED]
    return [*lines, f"Not started: {_named(skipped)}"] if skipped else lines


def _named(tests: Sequence[TestRecord]) -> str:
    """`a, b, c, d, e, f and 29 more`."""
    names = [test.name for test in tests]
    more = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])} and {more} more" if more > 1 else ", ".join(names)


def reasoned(status: Status, reason: str) -> str:
    """`failed: No space left on device`; the status alone where no reason is known."""
    word = STATUSES[status].word
    return f"{word}: {reason}" if reason else word


def _trouble(run: Run, width: int) -> list[str]:
    lines = [line for text in trouble(run) for line in wrap(plain(text), width, "  ", "    ")]
    return ["What went wrong", *lines] if lines else []


def _messages(messages: Iterable[Message], tests: Sequence[TestRecord], width: int) -> list[str]:
    names = {test.index: plain(test.name) for test in tests}
    lines: list[str] = []
    for message in messages:
        where = f"{names[message.test]}: " if message.test in names else ""
        mark = "warning: " if message.warning else ""
        at = pad(f"{message.at_ns / 1e9:.1f} s", 8, right=True)
        lines += wrap(f"{where}{mark}{plain(message.text)}", width, f"  {at}  ")
    return ["Messages", *lines] if lines else []


def runs_table(summaries: Sequence[RunSummary], width: int = WIDTH) -> str:
    """One line a run, in the order given. A run that is not complete says so in place of its result."""
    moments = [summary.started_at for summary in summaries]
    recent = bool(moments) and max(moments) - min(moments) < _THIS_YEAR
    # Of "2026-03-02 09:15:00+00:00": strftime takes as long as all else of a row.
    shown = slice(5, 16) if recent and width < _WIDE else slice(0, 16)
    wide, narrow = width >= _WIDE, width < _NARROW
    headings = [
        Heading("Run"),
        Heading("UTC"),
        Heading("Preset", least=8 if narrow else 14, cut=1, middle=True),
        *([Heading("Host", least=8, cut=0, middle=True), Heading("Device")] if wide else []),
        *([] if narrow else [Heading("Target", least=10, cut=0, middle=True)]),
        Heading("Result", least=20, cut=2),
    ]
    *columns, headlines = (
        plain_column(list(map(attrgetter(name), summaries)))
        for name in ("preset", *(("hostname", "device") if wide else ()), *(() if narrow else ("target",)), "headline")
    )
    results = [
        headline if summary.status is Status.COMPLETE and not summary.tags else result_words(summary)
        for summary, headline in zip(summaries, headlines, strict=True)
    ]
    ids, times = [summary.id for summary in summaries], [moment.isoformat(" ")[shown] for moment in moments]
    return "\n".join(columns_table(headings, [ids, times, *columns, results], width, rule=True)) + "\n"


def result_words(summary: RunSummary) -> str:
    """The headline; before it, how the run ended if it did not end well; behind it, its tags."""
    parts = [] if summary.status is Status.COMPLETE else [STATUSES[summary.status].word]
    if summary.headline:
        parts.append(plain(summary.headline))
    tags = [f"[{plain(tag)}]" for tag in summary.tags]
    return " ".join([": ".join(parts), *tags] if parts else tags)
