"""What the Live screen says, as lines: pure functions of what was read from the store."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.model import cells
from diskprof.model.metric import Quantity
from diskprof.model.plan import Plan, PlannedTest, Severity
from diskprof.model.run import Message, Run, Status, TestRecord, Weight
from diskprof.model.sample import Direction, Phase
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_clock, format_duration, format_iops
from diskprof.reports.charts.axes import TITLES
from diskprof.reports.charts.plot import Curve
from diskprof.reports.content.doubts import tally
from diskprof.reports.content.plan_report import preparing_words
from diskprof.reports.content.scorecard import parts
from diskprof.reports.words import DIRECTIONS, SEVERITIES, STATUSES, outcome
from diskprof.tui.kit.charts.glyphs import Charset, progress_bar
from diskprof.tui.kit.charts.large import HEIGHT as LARGE_HEIGHT
from diskprof.tui.kit.charts.large import large
from diskprof.tui.kit.painted import Line, Piece, spread, titled, width_of
from diskprof.tui.kit.paragraphs import signed
from diskprof.tui.live.promise_lines import verdict_piece
from diskprof.tui.live.run_reader import Snapshot, Track
from diskprof.tui.shell.run_signs import ink_of, place, sign_of, word_of

_SILENT_AFTER_S = 2.0
_MISSED = 3
"""An engine is silent after so many intervals without a status."""
_TIMELINES = {Quantity.IOPS: "iops", Quantity.BANDWIDTH: "bandwidth"}
_LEAST_LEFT = 34
"""Cells for the preset and where it was run: what is at the right end gives way to that much."""
_LEAST_BAR, _LONGEST_BAR = 12, 36
"""Cells that a progress bar takes beside the test's name, and those with its words."""


def run_line(run: Run, width: int, *, others: int = 0) -> Line:
    """Which run this is: how it ended, what was tested and where; the doubts, notes and limits by number, when, and its id."""
    over = run.status.over
    status = outcome(run.status, run.imported_from)
    left: list[Piece] = [(" ", ""), sign_of(status), (" ", "")]
    if over:
        left += [word_of(status), ("  ", "")]
    left += [(clean(run.plan.preset_title or run.plan.preset), "strong"), ("  ", ""), (clean(place(run)), "")]
    took = f", {format_duration((run.ended_at - run.started_at).total_seconds())}" if run.ended_at else ""
    started = run.started_at.astimezone()
    found = tally(run.findings) if over else ""
    doubtful = any(finding.weight is Weight.DOUBT for finding in run.findings)
    right: list[Piece] = []
    for piece in (
        (f"  N: {others} more running" if others else "", "quiet"),
        (f"  {found}" if found else "", "warn" if doubtful else "quiet"),
        (f"  {run.id}", "quiet"),
        (f"  {started:%Y-%m-%d %H:%M}{took}" if over else f"  {started:%H:%M}", "quiet"),
    ):
        if min(width_of(left), _LEAST_LEFT) + width_of(right) + len(piece[0]) < width:
            right.append(piece)
    return spread(left, [*right, (" ", "")], width)


def test_line(seen: Snapshot, width: int, *, silent_s: float = 0.0, bar: Charset | None = None) -> Line:
    """The test in progress and its phase, with `bar` also that of the run; of a run that has ended `ending_line`."""
    run = seen.run
    if not seen.going:
        return ending_line(run, width)
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
    if bar:
        right += [(f" {_left_words(run)} ", "")]
    number, of = record.index + 1, len(run.tests)
    counted = f"{'Trial' if run.plan.limit else 'Cell'} {number}" if run.plan.search else f"Test {number} of {of}"
    left: list[Piece] = [(f"   {counted}  ", "")]
    room = width - width_of(right)
    if seen.preparing:
        words = preparing_words(run.plan)
        left = [("   ", ""), (words[0].upper() + words[1:], "strong")]
    else:
        title = clean(record.title)
        if cells.width_of(title) <= room - width_of(left):
            left.append((title, "strong"))
        else:
            left = [(f"   {number}  " if run.plan.search else f"   {number}/{of}  ", "")]
            whole = cells.width_of(title) <= room - width_of(left)
            left.append((title if whole else clean(record.name), "strong"))
    if bar and (room := room - width_of(left)) >= _LEAST_BAR:
        right[-1:] = progress_line(run, min(_LONGEST_BAR, room + len(right[-1][0]) - 1), bar)[1:]
    return spread(left, right, width)


def ending_line(run: Run, width: int) -> Line:
    """Promises, why it ended early, how many tests are complete; empty where it is complete and nothing was promised."""
    left: list[Piece] = []
    if verdict := verdict_piece(run):
        left += [("   ", ""), verdict]
    if run.reason:
        left += [
            ("   ", ""),
            (clean(run.reason), ink_of(STATUSES[run.status]) if run.status is not Status.COMPLETE else ""),
        ]
    done = sum(test.status is Status.COMPLETE for test in run.tests)
    if done < len(run.tests):
        return spread(left, [(f"  {done} of {len(run.tests)} tests complete ", "quiet")], width)
    return spread(left, [], width) if left else []


def silent_after_s(seen: Snapshot) -> float:
    """Seconds without a status after which Live says so; longer for an engine with a long status interval."""
    run = seen.run
    planned = run.tests[seen.current].planned
    if seen.preparing and run.plan.preparation:
        planned = run.plan.preparation[-1]
    return max(_SILENT_AFTER_S, _MISSED * planned.interval_ms / 1000)


def _left_words(run: Run) -> str:
    remaining = run.progress.remaining_s if run.progress else None
    return f"{format_clock(remaining)} left" if remaining is not None else "time left unknown"


def progress_line(run: Run, width: int, charset: Charset) -> Line:
    """The bar over the whole run and the time that is left."""
    overall = run.progress.overall if run.progress else 0.0
    tail = f" {overall:4.0%}  {_left_words(run):>10} "
    return [("   ", ""), *progress_bar(overall, max(4, width - 3 - len(tail)), charset), (tail, "")]


class TileEntry(Struct, frozen=True):
    """One direction in a tile: its rate in the last interval, and by what share it is above the mean of the test so far."""

    direction: Direction
    now: str
    change: float | None


def waits_s(planned: PlannedTest) -> float:
    """How long ioping waits between requests: its rate is that of the waiting, and its result is without it. 0 elsewhere."""
    return planned.load.interval_s


def tile_entries(metric: Quantity, track: Track) -> list[TileEntry]:
    """Read and write apart, where there was any."""
    entries = []
    for direction in track.directions:
        reading, mean = track.last[direction], track.rates_of(direction)
        iops = metric is Quantity.IOPS
        now = reading.iops if iops else reading.bandwidth
        usual = (mean[0] if iops else mean[1]) if mean else 0.0
        change = now / usual - 1 if usual else None
        entries.append(TileEntry(direction, format_iops(now) if iops else format_bandwidth(now), change))
    return entries


def tile_lines(
    metric: Quantity, entries: Sequence[TileEntry], width: int, height: int, charset: Charset, *, waits: bool
) -> list[Line]:
    """The figures of the last interval, large where there is room, and how far they are from the mean of the test.

    `waits`: the rate is that of an engine which waits between requests.
    """
    if width < 8 or height < 2:
        return []
    title: list[Piece] = [(TITLES[metric], "title")]
    if waits and metric is Quantity.IOPS:
        title.append((" waiting", "quiet"))
    elif len(entries) == 1 and width >= 16:
        word = DIRECTIONS[entries[0].direction]
        title.append((f" {word.word}", ink_of(word)))
    lines: list[Line] = [titled(title, (), width)]
    if not entries:
        return [*lines, [("–", "quiet")]]
    if len(entries) * LARGE_HEIGHT < height and (drawn := _large_lines(entries, width, charset)):
        return [*lines, *drawn]
    for entry in entries:
        side = DIRECTIONS[entry.direction]
        figure: list[Piece] = [(f"{side.sign} ", ink_of(side)), (entry.now, "strong")]
        lines.append(spread(figure, [(f" {_change_words(entry)}", "quiet")], width))
    return lines[:height]


def _large_lines(entries: Sequence[TileEntry], width: int, charset: Charset) -> list[Line]:
    """The figures three rows high; nothing where one of them has no room, or the terminal no such signs."""
    lines: list[Line] = []
    for entry in entries:
        number, unit = parts(entry.now)
        rows, change = large(number, charset), _change_words(entry)
        if rows is None or len(rows[0]) + 1 + max(len(unit), len(change), 2) > width:
            return []
        side = DIRECTIONS[entry.direction]
        beside = ((side.sign, ink_of(side)) if len(entries) > 1 else ("", ""), (change, "quiet"), (unit, "strong"))
        lines += [
            spread([(row, ink_of(side)), (" ", ""), more], [], width) for row, more in zip(rows, beside, strict=True)
        ]
    return lines


def _change_words(entry: TileEntry) -> str:
    if entry.change is None:
        return ""
    percent = round(100 * entry.change)
    return f"{percent:+d}%" if percent else "±0%"


def chart_curves(metric: Quantity, track: Track, charset: Charset) -> tuple[Curve, ...]:
    """IOPS or bandwidth: one direction as an area; two as lines, or areas where lines cannot be fine but steps can."""
    alone = len(track.directions) == 1
    curves = []
    for direction in track.directions:
        line, (side, ink) = track.timeline(_TIMELINES[metric], direction), sign_of(DIRECTIONS[direction])
        if alone or charset is Charset.BLOCKS:
            curves.append(Curve(f"{side} {direction.value}", line, ink, area=True))
        else:
            curves.append(Curve(direction.value, line, ink, sign=side, end=side))
    return tuple(curves)


def message_lines(run: Run, width: int) -> list[Line]:
    """The messages of a run in progress, newest first."""
    return [line for message in reversed(run.messages) for line in _message(message, width)]


def _message(message: Message, width: int) -> list[Line]:
    sign = sign_of(SEVERITIES[Severity.WARNS if message.warning else Severity.NOTES])
    return signed(sign, f"{format_clock(message.at_ns / 1e9)}  {clean(message.text)}", width)


def phase_note(track: Track, record: TestRecord, plan: Plan) -> str:
    """What the chart's title says of the phase that it shows, of an engine that waits, and from when on a test was steady."""
    if track.preparing:
        return preparing_words(plan)
    steady = record.result.steady if record.result else None
    if steady and steady.reached:
        return f"steady from {format_duration(track.warm_s + steady.after_s)}"
    if waiting := waits_s(record.planned):
        return f"ioping waits {format_duration(waiting)} between requests, its result is without that"
    return f"warm-up to {format_duration(track.warm_s)}" if track.warm_s else ""


def waiting_words(seen: Snapshot) -> str:
    """The sentence in place of a chart without samples: why there are none."""
    status = seen.record.status
    if status is Status.PENDING:
        return "This test has not begun."
    if not status.over:
        words = preparing_words(seen.run.plan)
        phase = seen.run.progress.phase if seen.run.progress else Phase.PENDING
        return "Waiting for the first status." if phase is not Phase.PREPARING else f"{words[0].upper()}{words[1:]}."
    return f"No samples: {clean(seen.record.reason)}" if seen.record.reason else "No samples were recorded."
