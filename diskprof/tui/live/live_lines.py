"""What the Live screen says, as lines: pure functions of what was read from the store."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diskprof.model.cells import fit, shorten_middle
from diskprof.model.metric import Quantity
from diskprof.model.plan import PlannedTest, Severity
from diskprof.model.run import DirectionResult, Message, Run, Status, TestRecord
from diskprof.model.sample import Direction, Phase
from diskprof.model.text import clean
from diskprof.model.title import brief
from diskprof.model.units import (
    format_bandwidth,
    format_clock,
    format_duration,
    format_iops,
    format_latency,
)
from diskprof.reports.charts.axes import TITLES, Scale
from diskprof.reports.charts.plot import Curve
from diskprof.reports.charts.series import Series
from diskprof.reports.words import DIRECTIONS, SEVERITIES, STATUSES, WEIGHTS
from diskprof.tui.kit.charts.drawing import draw_values
from diskprof.tui.kit.charts.glyphs import Charset, progress_bar
from diskprof.tui.kit.painted import Line, Piece, spread, width_of
from diskprof.tui.kit.paragraphs import signed
from diskprof.tui.kit.table import Row
from diskprof.tui.live.promise_lines import promise_lines, verdict_piece
from diskprof.tui.live.run_reader import Reading, Snapshot, Track
from diskprof.tui.shell.run_signs import ink_of, place, sign_of, word_of

_SILENT_AFTER_S = 2.0
_MISSED = 3
"""So many of its intervals without a word, and an engine is silent."""
_SERIES = {Quantity.IOPS: "iops", Quantity.BANDWIDTH: "bandwidth", Quantity.LATENCY: "slow"}


def run_line(run: Run, width: int, *, others: int = 0) -> Line:
    """Which run this is."""
    left: list[Piece] = [
        (" ", ""),
        sign_of(STATUSES[run.status]),
        (" ", ""),
        (clean(run.plan.preset_title or run.plan.preset), "strong"),
        ("  ", ""),
        (clean(place(run)), ""),
    ]
    words = [f"{run.started_at.astimezone():%H:%M}"] if width >= 100 or not others else []
    words.append(f"run {run.id}")
    if others:
        words.append(f"N: {others} more running")
    return spread(left, [("  ", ""), ("  ".join(words), "quiet"), (" ", "")], width)


def test_line(seen: Snapshot, width: int, *, silent_s: float = 0.0) -> Line:
    """Which test goes and in what phase; of a run that is over, how it ended."""
    run = seen.run
    if not seen.going:
        return _ending(run, width)
    progress = run.progress
    record = run.tests[seen.current]
    right: list[Piece] = []
    silent = max(silent_s, progress.silent_s if progress else 0.0)
    if silent >= silent_after_s(seen):
        right.append((f"! no status for {int(silent)} s", "warn"))
    elif progress is None:
        right.append(("starting", "quiet"))
    else:
        right += [(progress.phase.value, ""), (f" {progress.fraction:4.0%}", "")]
    right = [("  ", ""), *right, (" ", "")]
    if seen.preparing:
        return spread([("   Preparing ", ""), ("laying out the test file", "strong")], right, width)
    left = f"   Test {record.index + 1} of {len(run.tests)}  "
    called = _called(run, width - width_of([(left, "")]) - width_of(right))[record.index]
    return spread([(left, ""), (called, "strong")], right, width)


def silent_after_s(seen: Snapshot) -> float:
    """From how many seconds on it is told that nothing is heard: an engine that says something once a second may take longer."""
    run = seen.run
    planned = run.tests[seen.current].planned
    if seen.preparing and run.plan.layout:
        planned = run.plan.layout
    return max(_SILENT_AFTER_S, _MISSED * planned.interval_ms / 1000)


def _ending(run: Run, width: int) -> Line:
    seconds = (run.ended_at - run.started_at).total_seconds() if run.ended_at else None
    words, ink = word_of(STATUSES[run.status])
    left: list[Piece] = [("   ", ""), (words, ink)]
    if seconds is not None:
        left.append((f" after {format_duration(seconds)}", ""))
    if verdict := verdict_piece(run):
        left += [("   ", ""), verdict]
    if run.reason:
        left.append((f": {clean(run.reason)}", ink if run.status is not Status.COMPLETE else ""))
    done = sum(test.status is Status.COMPLETE for test in run.tests)
    total = len(run.tests)
    right = f"{done} of {total} tests complete" if done < total else f"{total} test{'s' if total > 1 else ''}"
    return spread(left, [("  ", ""), (right, "quiet"), (" ", "")], width)


def progress_line(run: Run, width: int, charset: Charset) -> Line:
    """The bar over the whole run and the time that is left."""
    overall = run.progress.overall if run.progress else 0.0
    remaining = run.progress.remaining_s if run.progress else None
    left = f"{format_clock(remaining)} left" if remaining is not None else "time left unknown"
    tail = f" {overall:4.0%}  {left:>10} "
    return [("   ", ""), *progress_bar(overall, max(4, width - 3 - len(tail)), charset), (tail, "")]


@dataclass(frozen=True, slots=True)
class TileEntry:
    """One direction in a tile: its figures now and the series of its sparkline."""

    direction: Direction
    figures: Line
    series: Series


def waits_s(planned: PlannedTest) -> float:
    """How long ioping waits between requests: its rate is that of the waiting, and its result is without it. 0 elsewhere."""
    return planned.load.interval_s


def tile_entries(metric: Quantity, track: Track, *, waits: bool = False) -> list[TileEntry]:
    """Read and write apart, where there was any; `waits`: their rate is that of an engine which waits between requests."""
    entries = []
    for direction in track.directions:
        reading = track.last[direction]
        figures = _figures(metric, reading)
        if waits and metric is Quantity.IOPS:
            figures = [*figures, (" waiting", "quiet")]
        entries.append(TileEntry(direction, figures, track.series(_SERIES[metric], direction)))
    return entries


def _figures(metric: Quantity, reading: Reading) -> Line:
    if metric is Quantity.IOPS:
        return [(format_iops(reading.iops), "strong")]
    if metric is Quantity.BANDWIDTH:
        return [(format_bandwidth(reading.bandwidth), "strong")]
    if reading.typical is None or reading.slow is None:
        return [("no I/O", "quiet")]
    typical, slow = reading.names
    return [
        (f"{typical} ", "quiet"),
        (format_latency(reading.typical), "strong"),
        (f" {slow} ", "quiet"),
        (format_latency(reading.slow), "strong"),
    ]


def tile_lines(
    metric: Quantity,
    entries: Sequence[TileEntry],
    scale: Scale,
    seconds: float,
    width: int,
    height: int,
    charset: Charset,
) -> list[Line]:
    """A title with the scale of the sparklines, then the figures of each direction with its sparkline under it."""
    if width < 8 or height < 2:
        return []
    what, extent = TITLES[metric], scale.extent if entries else ""
    if len(what) + 1 + len(extent) > width and scale.suffix:
        # The unit says what it is.
        what, extent = scale.suffix, extent.removesuffix(scale.suffix).rstrip()
    lines: list[Line] = [spread([(what, "title")], [(" " + extent, "quiet")], width)]
    if not entries:
        return [*lines, [("–", "quiet")]]
    rows = height - 1
    for number, entry in enumerate(entries):
        share = rows // len(entries) + (1 if number < rows % len(entries) else 0)
        ink = ink_of(DIRECTIONS[entry.direction])
        lines.append(spread([(f"{DIRECTIONS[entry.direction].sign} ", ink), *entry.figures], [], width))
        if share > 1:
            lines += draw_values(entry.series, ink, seconds, scale, width, share - 1, charset)
    return lines[:height]


def chart_curves(metric: Quantity, track: Track, charset: Charset) -> tuple[Curve, ...]:
    """IOPS or bandwidth: one direction as an area; two as lines, or areas where lines cannot be fine but steps can."""
    alone = len(track.directions) == 1
    curves = []
    for direction in track.directions:
        series, (side, ink) = track.series(_SERIES[metric], direction), sign_of(DIRECTIONS[direction])
        if alone or charset is Charset.BLOCKS:
            curves.append(Curve(f"{side} {direction.value}", series, ink, area=True))
        else:
            curves.append(Curve(direction.value, series, ink, sign=side, end=side))
    return tuple(curves)


def highest(series: Iterable[Series]) -> float:
    """The largest value of all, 0 of none."""
    return max((each.highest for each in series), default=0.0)


_WIDE_FROM = 104


def table_head(width: int) -> Line:
    return [
        ("    ", ""),
        *_cells(("Test", "", "IOPS", "Bandwidth", "p50", "p99", "p99.9", "mean", "CPU"), width, "quiet"),
    ]


def _cells(texts: Sequence[str], width: int, ink: str, *, side_ink: str = "") -> Line:
    """The columns of the table of tests: title, R or W, figures. What has no room is left out from the right."""
    name, side, *figures = texts
    line: list[Piece] = [(fit(name, _title_room(width)), ink), (f" {side or ' '} ", side_ink or ink)]
    line += [(fit(text, size, right=True), ink) for text, size in zip(figures, _figure_widths(width), strict=False)]
    return line


def _figure_widths(width: int) -> tuple[int, ...]:
    return (8, 10, 9, 9) if width < _WIDE_FROM else (8, 11, 10, 10, 10, 10, 6)


def _title_room(width: int) -> int:
    return max(4, width - 4 - 3 - sum(_figure_widths(width)) - 1)


def _called(run: Run, room: int) -> list[str]:
    """The titles of the tests in `room` cells, cut where they remain apart."""
    titles = [clean(test.title) for test in run.tests]
    if all(width_of([(title, "")]) <= room for title in titles):
        return titles
    titles = brief(titles)
    ends = [title if len(title) <= room else "…" + title[1 - room :] for title in titles]
    cut = [fit(title, room) for title in titles]
    forms = (cut, [shorten_middle(title, room) for title in titles], ends)
    return next((form for form in forms if len(set(form)) == len(form)), cut)


def test_rows(run: Run, width: int) -> list[Row]:
    """A row for each direction of each test; what has no result yet says how it stands."""
    rows: list[Row] = []
    room = _title_room(width)
    for test, called in zip(run.tests, _called(run, room), strict=True):
        sign, ink = sign_of(STATUSES[test.status])
        head: list[Piece] = [("  ", ""), (sign, ink), (" ", "")]
        directions = test.result.directions if test.result else ()
        if not directions:
            title = fit(called, room) + " "
            rows.append(Row(str(test.index), [*head, (title, ""), *_standing(test, run)]))
            continue
        cpu = f"{test.result.cpu.percent:.0f}%" if test.result and test.result.cpu else ""
        for number, (direction, result) in enumerate(directions):
            first = number == 0
            texts = (
                called if first else "",
                DIRECTIONS[direction].sign,
                *_figures_of(result),
                cpu if first else "",
            )
            cells = _cells(texts, width, "", side_ink=ink_of(DIRECTIONS[direction]))
            rows.append(Row(str(test.index), [*(head if first else [("    ", "")]), *cells], heading=not first))
        rows += _job_rows(test, width)
    return rows


def _job_rows(test: TestRecord, width: int) -> list[Row]:
    """A row for each direction of each job of a test that has several results."""
    rows = []
    for job in test.result.jobs if test.result and test.parts else ():
        cpu = f"{job.cpu.percent:.0f}%" if job.cpu else ""
        for number, (direction, result) in enumerate(job.directions):
            name = fit(f"  {job.name}", _title_room(width)) if not number else ""
            texts = (name, DIRECTIONS[direction].sign, *_figures_of(result), "" if number else cpu)
            cells = _cells(texts, width, "quiet", side_ink=ink_of(DIRECTIONS[direction]))
            rows.append(Row(str(test.index), [("    ", ""), *cells], heading=True))
    return rows


def _standing(test: TestRecord, run: Run) -> Line:
    words, ink = word_of(STATUSES[test.status])
    if test.status is Status.RUNNING and run.progress:
        return [(run.progress.phase.value, ink)]
    if test.reason:
        return [(words, ink), (f": {clean(test.reason)}", "")]
    return [(words, ink)]


def _figures_of(result: DirectionResult) -> tuple[str, ...]:
    latency = result.latency.shown
    values = (latency.p50, latency.p99, latency.p99_9, latency.mean)
    return (
        format_iops(result.iops),
        format_bandwidth(result.bandwidth_bytes_per_s),
        *("–" if value is None else format_latency(value) for value in values),
    )


def note_lines(run: Run, width: int) -> list[Line]:
    """Promises and findings of a run that is over with what to do next; messages of one that goes, newest first."""
    lines: list[Line] = promise_lines(run, width)
    for finding in run.findings:
        where = f"{clean(run.title(finding.test))}: " if finding.test else ""
        sign = sign_of(WEIGHTS[finding.weight])
        lines += signed(sign, f"{where}{clean(finding.message)} {clean(finding.evidence)}", width)
        lines += signed((" ", ""), clean(finding.advice), width, "quiet")
    messages = run.messages if run.status.over else tuple(reversed(run.messages))
    for message in messages:
        lines += _message(message, width)
    return lines


def _message(message: Message, width: int) -> list[Line]:
    sign = sign_of(SEVERITIES[Severity.WARNS if message.warning else Severity.NOTES])
    return signed(sign, f"{format_clock(message.at_ns / 1e9)}  {clean(message.text)}", width)


def phase_note(track: Track, planned: PlannedTest) -> str:
    """What the chart's title says of the phase that it shows, and of an engine that waits."""
    if track.preparing:
        return "laying out the test file"
    if waiting := waits_s(planned):
        return f"ioping waits {format_duration(waiting)} between requests, its result is without that"
    return f"warm-up to {format_duration(track.warm_s)}" if track.warm_s else ""


def waiting_words(seen: Snapshot) -> str:
    """What stands where there is no curve yet."""
    status = seen.record.status
    if status is Status.PENDING:
        return "This test has not begun."
    if not status.over:
        phase = seen.run.progress.phase if seen.run.progress else Phase.PENDING
        return "Waiting for the first status." if phase is not Phase.PREPARING else "Laying out the test file."
    return f"No samples: {clean(seen.record.reason)}" if seen.record.reason else "No samples were recorded."
