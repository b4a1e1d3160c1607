"""What the table of a fleet run says: pure functions of what was read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskprof.model.cells import cut
from diskprof.model.fleet import MemberState
from diskprof.model.run import FleetStage, Status
from diskprof.model.sample import Phase
from diskprof.model.text import clean
from diskprof.model.units import format_clock, format_duration, format_iops, format_latency
from diskprof.reports.content.fleet.fleet_plan import fleet_repeats_words, repeat_words
from diskprof.reports.content.fleet.fleet_report import skew_words
from diskprof.reports.content.fleet.stands_out import who
from diskprof.reports.figures import count, megabytes
from diskprof.reports.render.lines import sparkline
from diskprof.reports.words import MEMBER_STATES, STATUSES, Word
from diskprof.tui.kit.charts.glyphs import Charset, progress_bar
from diskprof.tui.kit.painted import Line, Piece, spread, width_of
from diskprof.tui.kit.table import Row, SheetColumn
from diskprof.tui.shell.run_signs import ink_of, sign_of, word_of

if TYPE_CHECKING:
    from diskprof.tui.live.fleet.fleet_reader import FleetNow, MemberNow, Rates

SUM = "="
"""The key of the row with the sum; no member is called so."""
_FIGURE = 8
_LEAST_LABEL, _MOST_LABEL = 6, 24
_LEAST_COURSE, _MOST_COURSE = 6, 40
_PHASE, _WIDE_PHASE = 18, 40
_WIDE = 100
_STATUS = 13
_OVER_TIME, _SHORT_TIME = "IOPS over time", "over time"
_NONE: Piece = ("", "quiet")


def columns_for(width: int, now: FleetNow, noun: str) -> tuple[SheetColumn, ...]:
    """A column for who, what it does now, how it went, its phase and its messages; of one that has ended how, and its result.

    `noun`: `host` or `disk`.
    """
    label = min(
        max(_LEAST_LABEL, *(len(clean(member.label)) for member in now.members), len(_sum_label(now))), _MOST_LABEL
    )
    if not now.going:
        shown = (SheetColumn("label", noun, label, middle=True), SheetColumn("status", "status", _STATUS))
        return (*shown, SheetColumn("headline", "result", max(10, width - label - _STATUS - 2)))
    phase = _WIDE_PHASE if width >= _WIDE else _PHASE
    left = width - label - 4 * (_FIGURE + 1) - (phase + 1) - 3 - 1
    course = min(max(left, 0), _MOST_COURSE)
    if left < _LEAST_COURSE:
        course, label = _LEAST_COURSE, max(_LEAST_LABEL, label - (_LEAST_COURSE - left))
    return (
        SheetColumn("label", noun, label, middle=True),
        *(SheetColumn(name, title, _FIGURE, right=True) for name, title in _FIGURES),
        SheetColumn("course", _OVER_TIME if course >= len(_OVER_TIME) else _SHORT_TIME[:course], course),
        SheetColumn("phase", "phase", phase),
        SheetColumn("messages", "!", 2, right=True),
    )


_FIGURES = (("iops", "IOPS"), ("bandwidth", "MB/s"), ("p50", "p50"), ("p99", "p99"))


def member_row(member: MemberNow, columns: Sequence[SheetColumn], *, ascii_only: bool) -> Row:
    """A member; of one that has ended or not begun its status in place of figures."""
    return Row(
        member.label,
        tuple(_cell(member, column, ascii_only=ascii_only) for column in columns),
    )


def _cell(member: MemberNow, column: SheetColumn, *, ascii_only: bool) -> Piece:
    match column.key:
        case "label":
            return clean(member.label), ""
        case "course":
            return sparkline(member.course[-column.width :], ascii_only=ascii_only), "accent"
        case "phase":
            return _phase(member, column.width)
        case "status":
            return _status(member)
        case "headline":
            why = clean(member.reason) if member.status is not Status.COMPLETE else ""
            return ": ".join(filter(None, (why, clean(member.headline)))), ""
        case "messages":
            warned = member.said is not None and member.said.warning
            return (str(member.messages), "warn" if warned else "quiet") if member.messages else _NONE
        case _:
            return _figure(member.rates, column.key)


def _figure(rates: Rates | None, name: str, ink: str = "") -> Piece:
    if rates is None:
        return _NONE
    match name:
        case "iops":
            return format_iops(rates.iops), ink
        case "bandwidth":
            return megabytes(rates.bandwidth), ink
        case _:
            value = rates.quantile(0.5 if name == "p50" else 0.99)
            return ("–", "quiet") if value is None else (format_latency(value), ink)


def _phase(member: MemberNow, width: int) -> Piece:
    """`3/6 measuring 45%`, with the test where there is room; of one that does not run its status."""
    if (word := _status_word(member)) is not None:
        why = f"  {clean(member.reason)}" if member.reason and width > _PHASE else ""
        return cut(f"{word.sign} {word.word}{why}", width), ink_of(word)
    progress = member.progress
    if progress is None:
        return "starting", "quiet"
    phase = f"{progress.test + 1}/{member.tests} {_PHASES[progress.phase]} {progress.fraction:.0%}"
    room = width - len(phase) - 2
    title = cut(clean(member.test), room) if room > len(member.test) // 2 and width > _PHASE else ""
    return (f"{phase}  {title}" if title else phase), ""


def _status(member: MemberNow) -> Piece:
    word = _status_word(member) or STATUSES[member.status]
    return f"{word.sign} {word.word}", ink_of(word)


def _status_word(member: MemberNow) -> Word | None:
    """None of one that runs, or is about to."""
    match member.state:
        case MemberState.LOST:
            return STATUSES[Status.LOST]
        case MemberState.LEFT_OUT | MemberState.WAITING if member.status is Status.PENDING:
            return MEMBER_STATES[member.state]
        case _ if member.status in (Status.RUNNING, Status.PENDING):
            return None
        case _:
            return STATUSES[member.status]


_PHASES = {
    Phase.PENDING: "pending",
    Phase.PREPARING: "preparing",
    Phase.WARMING: "warming",
    Phase.MEASURING: "measuring",
    Phase.DONE: "done",
}


def _sum_label(now: FleetNow) -> str:
    return f"sum of {len(now.measuring)}" if now.measuring else "sum"


def sum_row(now: FleetNow, columns: Sequence[SheetColumn]) -> Row:
    """The sum of all that measure, with the percentiles of all their I/Os."""
    total = now.total

    def cell(column: SheetColumn) -> Piece:
        match column.key:
            case "label":
                return _sum_label(now), "title"
            case "course" | "messages":
                return _NONE
            case "phase":
                return (f"{now.ended} of {len(now.members)} ended" if now.ended else ""), "quiet"
            case _:
                return _figure(total, column.key, "strong")

    return Row(SUM, tuple(map(cell, columns)), heading=True)


def fleet_line(now: FleetNow, noun: str, width: int) -> Line:
    """Which fleet run this is: how it ended, what was run, on how many, which repeat, how far apart they began, when, its id."""
    fleet = now.fleet
    word = STATUSES[fleet.status]
    left: list[Piece] = [(" ", ""), sign_of(word), (" ", "")]
    if fleet.status.over:
        left += [word_of(word), ("  ", "")]
    stage = ""
    if now.going and now.stage:
        stage = ", each alone" if now.stage is FleetStage.ALONE else ", all together"
    repeat = repeat_words(fleet, now.place)
    of = f", {repeat if now.going else fleet_repeats_words(fleet.wanted)}" if repeat else ""
    left += [
        (clean(fleet.preset_title or fleet.preset), "strong"),
        (f"  {count(len(now.members), noun)}{stage}{of}", ""),
    ]
    took = f", {format_duration((fleet.ended_at - fleet.started_at).total_seconds())}" if fleet.ended_at else ""
    started = fleet.started_at.astimezone()
    right: list[Piece] = []
    skew = skew_words(fleet)
    for text in (
        f"  {fleet.id}",
        f"  {started:%Y-%m-%d %H:%M}{took}" if fleet.status.over else f"  {started:%H:%M}",
        f"  skew {skew}" if skew else "",
    ):
        if width_of(left) + width_of(right) + len(text) < width:
            right.append((text, "quiet"))
    return spread(left, [*right, (" ", "")], width)


def fleet_progress_line(now: FleetNow, width: int, charset: Charset) -> Line:
    """The bar of the member that is farthest behind, and the time that is left."""
    left = now.remaining_s
    words = f"{format_clock(left)} left" if left is not None else "time left unknown"
    tail = f" {now.overall:4.0%}  {words:>10} "
    return [("   ", ""), *progress_bar(now.overall, max(4, width - 3 - len(tail)), charset), (tail, "")]


def said_lines(now: FleetNow, noun: str, width: int, most: int) -> list[Line]:
    """The newest message of each member, at most `most`: one that several have is told once."""
    told: dict[tuple[str, bool], list[MemberNow]] = {}
    for member in now.members:
        if member.said:
            told.setdefault((member.said.text, member.said.warning), []).append(member)
    newest = sorted(told.items(), key=lambda each: -max(one.said.at_ns for one in each[1] if one.said))[:most]
    return [
        spread(
            [
                (" ! " if warning else "   ", "warn"),
                (f"{who([one.label for one in said], len(now.members), noun)}  ", "quiet"),
                (clean(text), ""),
            ],
            [],
            width,
        )
        for (text, warning), said in newest
    ]
