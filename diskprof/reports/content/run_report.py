"""A run as a document: what was tested, the results, what they mean, and what went wrong and where.

A section is a function from what is known of the run to blocks. `_SECTIONS` has their order, and which forms have them.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from msgspec import Struct

from diskprof.analysis.bursts import burst_results
from diskprof.analysis.history import RunHistory
from diskprof.analysis.kernel import KernelView
from diskprof.analysis.metrics import Measure
from diskprof.analysis.windows import measured, windows
from diskprof.model.earlier import EarlierResult
from diskprof.model.expectation import Verdict
from diskprof.model.metric import format_value
from diskprof.model.run import DirectionResult, Latency, Run, Status, TestRecord, Weight
from diskprof.model.sample import WITHIN_NS, Direction, Sample
from diskprof.model.units import format_duration, format_iops, format_latency
from diskprof.reports import figures
from diskprof.reports.blocks import (
    Block,
    Cell,
    Chart,
    Code,
    Course,
    Fact,
    Facts,
    Form,
    Heading,
    Note,
    Paragraph,
    Spark,
    Table,
)
from diskprof.reports.content import drive_table, expectation_table, kernel_table, process_table, request_table
from diskprof.reports.content.burst_words import burst_blocks
from diskprof.reports.content.caps_words import caps_blocks
from diskprof.reports.content.class_words import class_blocks, disk_class_words
from diskprof.reports.content.curve_report import curve_blocks
from diskprof.reports.content.doubts import run_in_doubt, run_limits
from diskprof.reports.content.facts import brief, detailed, disks
from diskprof.reports.content.history.history_report import history_report
from diskprof.reports.content.limit_report import limit_blocks
from diskprof.reports.content.map_report import map_blocks
from diskprof.reports.content.plots import pairs_of
from diskprof.reports.content.result_sentences import unfinished, verdict
from diskprof.reports.content.rounds_report import rounds_blocks
from diskprof.reports.content.scorecard import best_table, compared
from diskprof.reports.content.steady_words import steady_sentences
from diskprof.reports.content.sweep_tables import run_panels
from diskprof.reports.content.trouble import reasoned, trouble
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, STATUSES, VERDICTS, WEIGHTS, Meaning

_PAGES = (Form.MARKDOWN, Form.HTML)
_MATRICES = (Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN, Measure.LATENCY_P99)
_CPU = "CPU: user and system time of the jobs, as a share of one CPU."
_SPARES = {Measure.LATENCY_P99_9: 3, Measure.LATENCY_MEAN: 2, Measure.LATENCY_P50: 1}
_SHORTER = {Verdict.TOO_SHORT: "too short"}

Kernel = Mapping[int, KernelView]
"""What the kernel saw of each test of a run, by the test's number."""


class ResultRow(NamedTuple):
    """A test with one of its directions; without a result, both are None."""

    test: TestRecord
    direction: Direction | None
    result: DirectionResult | None


class _Known(Struct, frozen=True):
    """What a section is made of. `level` is that of the run's own heading."""

    run: Run
    samples: Sequence[Sample]
    kernel: Kernel
    form: Form
    level: int
    earlier: Sequence[EarlierResult] = ()
    history: RunHistory | None = None

    def under(self, title: str, blocks: Sequence[Block]) -> list[Block]:
        """A section with its heading; none where it has nothing to say."""
        return [Heading(title, self.level + 1), *blocks] if blocks else []


def run_report(
    run: Run,
    samples: Sequence[Sample] = (),
    kernel: Kernel | None = None,
    *,
    earlier: Sequence[EarlierResult] = (),
    history: RunHistory | None = None,
    form: Form = Form.TERMINAL,
    title: str = "",
    level: int = 1,
) -> tuple[Block, ...]:
    """The document of a run. `title` and `level` are of its heading, where it is a part of another document.

    `earlier` is what runs before it measured of the same tests on the same disk, `history` the history of
    the runs like it.
    """
    known = _Known(run, samples, kernel or {}, form, level, earlier, history)
    head = [] if form is Form.SCREEN else [Heading(title or _title(run, form), level)]
    return (*head, *(block for section, forms in _SECTIONS if form in forms for block in section(known)))


def run_preview(run: Run, samples: Sequence[Sample] = ()) -> tuple[Block, ...]:
    """The figures of a run, how its tests went, and its findings; of a sweep its matrices."""
    known = _Known(run, samples, {}, Form.TERMINAL, 1)
    rows = [row for row in result_rows(run) if not row[0].planned.one_of_many]
    tables = [result_table(rows, Form.TERMINAL)] if rows else []
    findings = _findings(known) if run.findings else ()
    return (
        *limit_blocks(run),
        *map_blocks(run),
        *run_panels(run, (Measure.IOPS,), level=2),
        *tables,
        *_over_time(known),
        *findings,
    )


def _title(run: Run, form: Form) -> str:
    return title_of(run) if form in _PAGES else f"{run.plan.preset_title} ({run.plan.preset})"


def title_of(run: Run) -> str:
    """`Quick check: Samsung SSD 980 PRO 1TB in db-01`."""
    models = list(dict.fromkeys(disk.model for disk in disks(run) if disk.model))
    what = " and ".join(models) or run.plan.target.path
    host = f" in {run.environment.hostname}" if run.environment.hostname else ""
    return f"{run.plan.preset_title}: {what}{host}" if what else f"{run.plan.preset_title}{host}"


def run_line(run: Run) -> str:
    """`k3f9x2qa, complete, 2026-03-04 12:00 UTC, took 34 s`."""
    parts = [run.id, STATUSES[run.status].word, moment(run.started_at)]
    if run.ended_at:
        parts.append(f"took {format_duration((run.ended_at - run.started_at).total_seconds())}")
    return ", ".join(parts)


def moment(when: datetime) -> str:
    """A time of day that means the same to everybody: `2026-03-04 12:00 UTC`."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _in_words(known: _Known) -> list[Block]:
    """What the run comes to; on a page which run it is, and before its figures the doubts and what to do about them."""
    run, pages = known.run, known.form in _PAGES
    more = [Paragraph(told) for told in (unfinished(run), run_limits(run)) if told]
    doubts = run_in_doubt(run)
    if not pages:
        told = [Paragraph(doubts)] if doubts else []
        return known.under("Summary", [Paragraph(verdict(run)), *told, *more, *_syncs(known)])
    advice = dict.fromkeys(each.advice for each in run.findings if each.weight is Weight.DOUBT and each.advice)
    return [
        *([Paragraph(f"{run_line(run)}, on {run.plan.target.path}")] if known.level == 1 else []),
        *([Paragraph(doubts, Meaning.STRONG)] if doubts else []),
        *(Note(f"Before relying on it: {words}") for words in advice),
        Paragraph(verdict(run), Meaning.PLAIN if doubts else Meaning.STRONG),
        *more,
    ]


def _brief(known: _Known) -> list[Block]:
    return [_facts((("Run", run_line(known.run)), *brief(known.run)))]


def _facts(pairs: Sequence[tuple[str, str]]) -> Facts:
    return Facts(tuple(Fact(name, value) for name, value in pairs))


def result_rows(run: Run) -> list[ResultRow]:
    """Every test, and each of its jobs where it has several results, with each direction; without a result once, with None."""
    rows: list[ResultRow] = []
    for test in run.records:
        directions = test.result.directions if test.result else ()
        rows += [ResultRow(test, *each) for each in directions] or [ResultRow(test, None, None)]
    return rows


def _results(known: _Known) -> list[Block]:
    """The sweeps, and a table of the tests that are no cells of one."""
    run, pages = known.run, known.form in _PAGES
    if run.plan.search:
        return []
    # What runs for a latency are about, in the tables of SNIA's PTS.
    more: tuple[Measure, ...] = ()
    if run.plan.about_latency:
        more = (Measure.LATENCY_MAX,) if pages else (Measure.LATENCY_MEAN, Measure.LATENCY_MAX)
    found = run_panels(
        run, (*_MATRICES, *more) if pages else more or (Measure.IOPS,), level=known.level + 2, apart=pages
    )
    rows = [row for row in result_rows(run) if not row[0].planned.cell]
    legend = figures.legend(run.tests)
    if not rows and run.tests:
        found.append(Paragraph(legend))
    else:
        told = pages or any(result for _, _, result in rows)
        found.append(result_table(rows, known.form, f"{legend} {_CPU}" if pages else legend if told else ""))
        found += [Paragraph(text) for text in (within_sentence(rows),) if text and not pages]
    return known.under("Results", found) if pages else found


def result_table(rows: Sequence[ResultRow], form: Form, legend: str = "") -> Table:
    """A row for each, in their order.

    On a page and on the screen with the share of I/Os within the threshold and with what it took of the CPU; on a page with the
    status of each test where they differ, on the screen, in place of figures that there are none of, with the reason.
    """
    pages, screen = form in _PAGES, form is Form.SCREEN
    mixed = screen or any(_both_ways(test) for test, _, _ in rows)
    incomplete = pages and any(test.status is not Status.COMPLETE for test, _, _ in rows)
    columns = [
        Column("Test", least=18, middle=True),
        *([Column("Direction", short="")] if mixed else []),
        *([Column("Status")] if incomplete else []),
        *(Column(head, right=True) for head in ("IOPS", "MB/s")),
        *(
            Column(figures.METRICS[metric].short, right=True, spare=_SPARES.get(metric, 0))
            for metric in figures.LATENCIES
        ),
        *([Column(f"< {format_latency(WITHIN_NS)}", right=True, spare=4)] if pages or screen else []),
        *([Column("CPU", right=True, spare=5)] if pages or screen else []),
    ]
    cells = []
    for test, direction, result in rows:
        again = direction is Direction.WRITE and _both_ways(test)
        row = [_named_cell(test, pages=pages, again=again)]
        if result is None and screen:
            status = STATUSES[test.status]
            cells.append((*row, Cell(reasoned(test.status, test.reason), status.meaning, sign=status.sign)))
            continue
        way = DIRECTIONS[direction] if direction else None
        row += [Cell(way.word, way.meaning) if way else Cell("")] if mixed else []
        row += [Cell(STATUSES[test.status].word)] if incomplete else []
        row += _figures(test, result)
        row += [Cell(_within(result))] if pages or screen else []
        row += [Cell(_cpu(test))] if pages or screen else []
        cells.append(tuple(row))
    return Table(tuple(columns), tuple(cells), legend=legend)


def _within(result: DirectionResult | None) -> str:
    return figures.figure(Measure.WITHIN, result.share_within(WITHIN_NS) if result else None)


def within_sentence(rows: Sequence[ResultRow]) -> str:
    """`I/Os within 250 us: seek 99.2%, mixed 92.5% of the reads, 12% of the writes.` Empty where nothing tells."""
    told = []
    for test, direction, result in rows:
        if direction and (share := _within(result)) != figures.MISSING:
            of = f" of the {DIRECTIONS[direction].word}s" if _both_ways(test) else ""
            told.append(f"{'' if of and direction is Direction.WRITE else f'{test.title} '}{share}{of}")
    return f"{figures.metric_label(Measure.WITHIN)}: {', '.join(told)}." if told else ""


def _named_cell(test: TestRecord, *, pages: bool, again: bool = False) -> Cell:
    """The cell of a job's name: on a terminal it is below its test, a page has both names."""
    short = "" if again else None
    return Cell(f"  {test.job}" if test.job and not pages else test.title, short=short)


def _figures(test: TestRecord, result: DirectionResult | None) -> list[Cell]:
    if result is None:
        word = STATUSES[test.status].word if test.status is not Status.COMPLETE else None
        return [Cell(figures.MISSING, short=word), *[Cell(figures.MISSING)] * (1 + len(figures.LATENCIES))]
    return [
        Cell(figures.number(result.iops), short=format_iops(result.iops)),
        Cell(figures.megabytes(result.bandwidth_bytes_per_s)),
        *(Cell(figures.figure(metric, figures.latency(result, metric))) for metric in figures.LATENCIES),
    ]


def _both_ways(test: TestRecord) -> bool:
    return test.result is not None and len(test.result.directions) > 1


def _latency_parts(known: _Known) -> list[Block]:
    """What of an I/O's time was its submission and what its completion, of each test where fio tells them apart."""
    columns = (
        Column("Test", least=18, middle=True),
        *(Column("Direction", short=""), Column("Latency")),
        *(Column(head, right=True) for head in ("mean", "p50", "p99", "p99.9", "max")),
    )
    rows = []
    for test, direction, result in result_rows(known.run):
        if direction is None or result is None or result.slat is None:
            continue
        whole = {"lat": result.lat} if result.lat else {}
        kinds = {**whole, str(result.latency_kind): result.latency, "clat": result.clat, "slat": result.slat}
        for at, (name, latency) in enumerate(kinds.items()):
            shown = latency.shown if latency else Latency()
            values = (shown.mean, shown.p50, shown.p99, shown.p99_9, shown.max)
            way = DIRECTIONS[direction]
            rows.append(
                (
                    _named_cell(test, pages=known.form in _PAGES, again=bool(at)),
                    Cell(way.word, way.meaning),
                    Cell(name),
                    *(Cell(figures.MISSING if value is None else format_latency(value)) for value in values),
                )
            )
    legend = "lat = slat (submission) + clat (completion)."
    return known.under("Latency: lat, slat, clat", [Table(columns, tuple(rows), legend=legend)] if rows else [])


def _syncs(known: _Known) -> list[Block]:
    return [Paragraph(sentence, hanging=True) for sentence in sync_sentences(known.run)]


def sync_sentences(run: Run) -> list[str]:
    """What it cost to wait until data was safe, which completion latency does not hold (F8), of each test that synced.

    `wal: fdatasync after writes took 1.21 ms mean (p50 1.10 ms, ...).`
    """
    found = []
    for test in run.apart:
        latency = test.result.sync.shown if test.result and test.result.sync else None
        if latency is None or latency.mean is None:
            continue
        call = "fdatasync" if any(job.fdatasync for job in test.planned.load.fio) else "fsync"
        more = (("p50", latency.p50), ("p99", latency.p99), ("p99.9", latency.p99_9), ("max", latency.max))
        words = ", ".join(f"{name} {format_latency(value)}" for name, value in more if value is not None)
        mean = f"{format_latency(latency.mean)} mean"
        found.append(f"{test.title}: {call} after writes took {mean}{f' ({words})' if words else ''}.")
    return found


def _steady(known: _Known) -> list[Block]:
    """When the tests that waited for a steady state were steady."""
    told = [Paragraph(sentence, hanging=True) for sentence in steady_sentences(known.run)]
    found = []
    for test in known.run.tests:
        rule, steady = test.planned.steady, test.result.steady if test.result else None
        if rule and steady and len(steady.values) > 1 and not test.planned.cell:
            lowest, middle, highest = (
                format_value(rule.metric.quantity, each)
                for each in (min(steady.values), median(steady.values), max(steady.values))
            )
            seconds = (rule.window_s,) * len(steady.values)
            found.append(Course(test.title, steady.values, seconds, lowest, middle, highest, cpu=""))
    drawn = [Spark("Window by window, from 0", tuple(found))] if found else []
    return known.under("Steady state", [*told, *drawn])


def _rounds(known: _Known) -> list[Block]:
    """When a run of rounds was steady, and its rounds."""
    return known.under("Rounds", rounds_blocks(known.run))


def _caps(known: _Known) -> list[Block]:
    """What limits, of a sweep of block sizes and queue depths."""
    return known.under("What limits", caps_blocks(known.run))


def _bursts(known: _Known) -> list[Block]:
    """What a burst is worth, of tests that were drained twice with a rest between."""
    return known.under("Bursts", burst_blocks(burst_results(known.run, known.samples)))


def _limit(known: _Known) -> list[Block]:
    """Between which loads the limit is, and the trials that say so."""
    # A page begins with the sentence.
    return known.under("Limit", limit_blocks(known.run, told=known.form not in _PAGES))


def _curve(known: _Known) -> list[Block]:
    return known.under("Load curve", curve_blocks(known.run))


def _map(known: _Known) -> list[Block]:
    """On a page its sentence is said before; on the screen its picture is in this place."""
    return known.under(
        "Read/write map", map_blocks(known.run, told=known.form not in _PAGES, drawn=known.form is Form.HTML)
    )


def _best(known: _Known) -> Sequence[Block]:
    table = best_table(known.run, known.earlier)
    return known.under(compared(known.run, known.earlier), [table] if table else [])


def _class(known: _Known) -> Sequence[Block]:
    """Of a run that has ended; unknown classes are told with the disk."""
    if not known.run.status.over:
        return []
    blocks = class_blocks(known.run, whole=known.form in _PAGES)
    return known.under(f"Against its class: {disk_class_words(known.run)}", blocks)


def _history(known: _Known) -> Sequence[Block]:
    """Of two like runs and more, for one has no history."""
    if known.history is None or known.history.runs < 2:
        return []
    _, *blocks = history_report(known.history, charts=True)
    return known.under("History", blocks)


def _expectations(known: _Known) -> list[Block]:
    """What was promised and whether it was kept."""
    columns = (
        Column("Test", least=8, middle=True),
        *(Column("Metric"), Column("Promised"), Column("Basis", below=True), Column("Measured", right=True)),
        *(Column("Ratio", right=True, spare=1), Column("Verdict"), Column("Note", below=True)),
    )
    rows = tuple(
        (
            *map(Cell, (row.test, row.metric, row.promised, row.basis, row.measured, row.ratio)),
            Cell(
                row.word, VERDICTS[row.verdict].meaning, _SHORTER.get(row.verdict), strong=row.verdict is Verdict.MISSED
            ),
            Cell(row.note),
        )
        for row in expectation_table.rows(known.run)
    )
    return known.under("Expectations", [Table(columns, rows, inset=True)] if rows else [])


def _over_time(known: _Known) -> list[Block]:
    """A course for every test with two intervals or more that is no cell of a sweep.

    IOPS, both directions together; for a test of one direction that sets its own pace, where IOPS say nothing, the mean latency.
    """
    found, title = [], "IOPS over time, from 0"
    for test in known.run.tests:
        if test.planned.one_of_many:
            continue
        mine = measured(known.samples, test.index)
        write: Callable[[float], str] = format_iops
        if test.planned.load.paced and len({sample.direction for sample in mine}) == 1:
            timed = [(sample.mean_ns, sample.duration_ns / 1e9) for sample in mine if sample.mean_ns is not None]
            write, title = format_latency, "IOPS or latency, from 0"
        else:
            timed = [(window.iops, window.seconds) for window in windows(mine)]
        if len(timed) > 1:
            values, seconds = zip(*timed, strict=True)
            lowest, middle, highest = (write(each) for each in (min(values), median(values), max(values)))
            found.append(Course(test.title, values, seconds, lowest, middle, highest, _cpu(test)))
    blocks = [Spark(title, tuple(found))] if found else []
    return known.under(title, blocks) if known.form in _PAGES else [*blocks]


def _cpu(test: TestRecord) -> str:
    cpu = test.result.cpu if test.result else None
    return figures.share(cpu.percent / 100) if cpu else figures.MISSING


def _kernel(known: _Known) -> list[Block]:
    tests = [
        (test.title, view)
        for test in known.run.tests
        if (view := known.kernel.get(test.index)) and not test.planned.one_of_many
    ]
    return known.under(kernel_table.TITLE, kernel_table.kernel_tables(tests, full=known.form in _PAGES))


def _requests(known: _Known) -> list[Block]:
    traced = (test.result.requests for test in known.run.tests if test.result and test.result.requests)
    return known.under(request_table.TITLE, [block for each in traced for block in request_table.request_report(each)])


def _drives(known: _Known) -> list[Block]:
    return known.under(drive_table.TITLE, drive_table.drive_blocks(known.run))


def _findings(known: _Known) -> list[Block]:
    run = known.run
    notes: list[Block] = [
        Note(
            finding.message,
            WEIGHTS[finding.weight].word,
            run.title(finding.test),
            finding.evidence,
            finding.advice,
            WEIGHTS[finding.weight].meaning,
        )
        for finding in run.findings
    ]
    if not notes and known.form in _PAGES and run.status.over and not run.plan.watched:
        good = run.status is Status.COMPLETE
        notes = [Paragraph("None: no rule matched." if good else "None.")]
    return known.under("Findings", notes)


def _processes(known: _Known) -> list[Block]:
    return known.under(process_table.process_title(known.run), process_table.process_tables(known.run))


def _trouble(known: _Known) -> list[Block]:
    return known.under("Errors", [Note(line) for line in trouble(known.run)])


def _charts(known: _Known) -> list[Block]:
    """IOPS and p99 of every test that is no cell of a sweep and has two intervals or more; a comparison has charts of its own."""
    if known.level > 1:
        return []
    return known.under("Charts", [Chart(plots) for plots in pairs_of(known.run, known.samples)])


def _environment(known: _Known) -> list[Block]:
    own = (("Run", run_line(known.run)),) if known.form in _PAGES else ()
    return known.under("Environment", [_facts((*own, *detailed(known.run)))])


def _commands(known: _Known) -> list[Block]:
    """Every command as it was started, each under its test's name; of a result file the options that it has."""
    run = known.run
    lines: list[tuple[str, ...]] = []
    for test in (*run.plan.preparation, *(test.planned for test in run.tests)):
        if not test.command:
            continue
        title = f": {test.title}" if test.title and test.title != test.name else ""
        lines += [(f"# {test.name}{title}",), tuple(map(shlex.quote, test.command))]
    return known.under("Options" if run.imported_from else "Commands", [Code(tuple(lines))] if lines else [])


def _messages(known: _Known) -> list[Block]:
    names = {test.index: test.title for test in known.run.tests}
    facts = tuple(
        Fact(
            f"{message.at_ns / 1e9:.1f} s",
            f"{f'{names[message.test]}: ' if message.test in names else ''}{'warning: ' if message.warning else ''}{message.text}",
            Meaning.WARNING if message.warning else Meaning.QUIET,
        )
        for message in known.run.messages
    )
    return known.under("Messages", [Facts(facts, inset=True)] if facts else [])


_TERMINAL, _SCREEN = (Form.TERMINAL,), (Form.SCREEN,)
_FULL = (*_PAGES, *_SCREEN)
_SECTIONS: tuple[tuple[Callable[[_Known], Sequence[Block]], tuple[Form, ...]], ...] = (
    (_in_words, _FULL),
    (_brief, _TERMINAL),
    (_caps, (*_TERMINAL, *_PAGES)),
    (_limit, (*_TERMINAL, *_PAGES)),
    (_curve, tuple(Form)),
    (_map, (*_TERMINAL, *_PAGES)),
    (_results, (*_TERMINAL, *_PAGES)),
    (_syncs, (*_TERMINAL, *_PAGES)),
    (_rounds, tuple(Form)),
    (_steady, tuple(Form)),
    (_bursts, (*_TERMINAL, *_PAGES)),
    (_best, (*_TERMINAL, *_PAGES)),
    (_class, tuple(Form)),
    (_expectations, tuple(Form)),
    (_over_time, (*_TERMINAL, Form.MARKDOWN)),
    (_kernel, (*_TERMINAL, *_PAGES)),
    (_requests, tuple(Form)),
    (_drives, tuple(Form)),
    (_findings, tuple(Form)),
    (_processes, tuple(Form)),
    (_trouble, tuple(Form)),
    (_latency_parts, _FULL),
    (_charts, (Form.HTML,)),
    (_history, (Form.HTML,)),
    (_environment, _FULL),
    (_commands, _FULL),
    (_messages, (*_TERMINAL, *_SCREEN)),
)
