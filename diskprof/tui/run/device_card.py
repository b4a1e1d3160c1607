"""What is known of one device: what it is, its health, what it does now, its file systems, its last results. Pure functions."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from diskprof.devices.guard.target_doubts import Doubt
from diskprof.model.cells import fit, shorten_middle
from diskprof.model.device import Activity, Device, Health, Mount
from diskprof.model.run import RunSummary, Weight
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_iops, format_size
from diskprof.reports.content.doubts import run_in_doubt
from diskprof.reports.content.scorecard import ScoreLine, scorecard
from diskprof.reports.words import WEIGHTS
from diskprof.tui.kit.charts.glyphs import Charset, GlyphTrack, draw
from diskprof.tui.kit.painted import Line, Piece, spread, width_of
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.run.device_rows import DevicesView, doubt_lines, traffic, used_bar
from diskprof.tui.shell.loading import LastResult
from diskprof.tui.shell.run_signs import ink, sign_of, whole_parts

_FLUSH: Line = ((" ", ""),)
_LABEL = 8
_LOAD = 16
"""Cells of the graph of the last seconds."""
_TREND = 12
_CHART, _BROAD = 2, 5
"""Lines of a chart with a bar for each run, and cells of a bar at most."""
_WIDE = 52
"""From these cells on a line has its graph beside it."""
_BAR, _LEAST_BAR = 10, 5
_MOUNTS = 3
_WORN = 90
"""Percent of the rated endurance from which it is a warning."""
_OTHERS = 5
_RESULTS = 3
"""Earlier runs are listed below the figures where there is room for so many."""


class DeviceFacts(Struct, frozen=True, dict=True):
    """A device with the whole `disks` below it, what they say of their health, and their last result."""

    device: Device
    disks: Sequence[Device] = ()
    health: Sequence[Health] = ()
    last: LastResult | None = None


def device_lines(facts: DeviceFacts, found: Sequence[Doubt], view: DevicesView, width: int) -> list[Line]:
    """The device without its results: what it is, its health, what speaks against testing it, what it does now."""
    device = facts.device
    lines = _model_lines(facts, width)
    lines += doubt_lines(found, width)
    lines += _health_lines(facts, width)
    lines += _load_lines(view, device.name, width)
    for mount in device.mounts[:_MOUNTS]:
        lines += _mount_lines(mount, width, view.charset)
    if more := len(device.mounts) - _MOUNTS:
        lines += _labelled("", f"and {more} more mount points", width) if more > 0 else ()
    details = [
        device.scheduler and f"scheduler {device.scheduler}",
        f"blocks {device.logical_block_size}/{device.physical_block_size}",
        "" if device.mounts else f"{device.fs_type} {device.fs_label}".strip(),
        device.serial and f"serial {device.serial}",
    ]
    return lines + _labelled("Details", ", ".join(part for part in details if part), width)


def _model_lines(facts: DeviceFacts, width: int) -> list[Line]:
    device = facts.device
    below = [disk for disk in facts.disks if disk.name != device.name and disk.model]
    on = " and ".join(f"{disk.model} ({disk.name})" for disk in below)
    about = [device.model or on, device.transport.value or _transports(facts.disks), device.medium]
    words = ", ".join(clean(part) for part in (*about, format_size(device.size_bytes)) if part)
    return paragraph(words, width, "strong", first=_FLUSH)


def _transports(disks: Sequence[Device]) -> str:
    return " and ".join(dict.fromkeys(disk.transport.value for disk in disks if disk.transport.value))


def _health_lines(facts: DeviceFacts, width: int) -> list[Line]:
    """A line for each disk that tells anything."""
    lines: list[Line] = []
    for health in facts.health:
        name = "" if len(facts.disks) == 1 else f"{clean(health.device)}: "
        line: list[Piece] = [(name, "quiet")] if name else []
        for words, its_ink in _health_words(health):
            line += [(", ", "quiet")] if len(line) > bool(name) else []
            line.append((words, its_ink))
        label = "" if lines else "Health"
        lines.append(_cut([(" ", ""), (fit(label, _LABEL), "quiet"), *line], width))
    return lines


def _health_words(health: Health) -> Iterator[Piece]:
    if health.passed is not None:
        yield ("SMART passed", "good") if health.passed else ("SMART: FAILING", "danger")
    if health.temperature_c is not None:
        yield f"{health.temperature_c:.0f} °C", ""
    if wear := health.wear:
        by = f" ({format_size(wear.written_bytes)} written)" if wear.written_bytes else ""
        yield f"wear {wear.used_percent}%{by}", "warn" if wear.used_percent >= _WORN else ""


def _load_lines(view: DevicesView, name: str, width: int) -> list[Line]:
    """Always as many lines: what stands below must not jump."""
    activity = view.last(name) or Activity(0.0, 0.0, 0.0, 0.0, 0.0)
    lines: list[Line] = []
    for label, letter, its_ink, rate, amount in (
        ("Load", "R", "read", activity.reads_per_s, activity.read_bytes_per_s),
        ("", "W", "write", activity.writes_per_s, activity.write_bytes_per_s),
    ):
        words = f" {fit(format_iops(rate), 6, right=True)} IOPS  {format_bandwidth(amount)}"
        left: Line = [(" ", ""), (fit(label, _LABEL), "quiet"), (letter, its_ink), (words, "")]
        right: list[Piece] = []
        if label and width >= _WIDE:
            right = [*traffic(view.history.get(name, ()), _LOAD // view.charset.columns, view.charset), (" ", "")]
        elif not label:
            right = [(f"{activity.utilisation:.0%} busy ", "quiet")]
        lines.append(spread(left, right, width))
    return lines


def _mount_lines(mount: Mount, width: int, charset: Charset) -> list[Line]:
    name = clean(f"{mount.path} {mount.fs_type}{', read-only' if mount.read_only else ''}")
    if mount.free_bytes is None:
        return _labelled("Mount", name, width)
    free = f"{format_size(mount.free_bytes)} free"
    if not mount.size_bytes:
        return [*_labelled("Mount", name, width), *_labelled("", free, width)]
    free += f" of {format_size(mount.size_bytes)}"
    left: Line = [(" ", ""), (fit("Mount", _LABEL), "quiet"), (name, "")]
    bar = min(_BAR, width - width_of(left) - len(free) - 4)
    if bar >= _LEAST_BAR:
        return [spread(left, [*used_bar(mount, bar, charset), (f" {free} ", "quiet")], width)]
    below: Line = [(" " * (_LABEL + 1), ""), *used_bar(mount, _BAR, charset), (f" {free}", "quiet")]
    return [*_labelled("Mount", name, width), _cut(below, width)]


def result_lines(facts: DeviceFacts, width: int, height: int, charset: Charset) -> list[Line]:
    """The figures of the last run with their course over the earlier ones, then other runs, as `height` allows."""
    if facts.last is None:
        return []
    run, earlier = facts.last.run, facts.last.earlier
    scores = scorecard(run, earlier)
    when = f"{run.started_at.astimezone():%d %b %H:%M}"
    count = len({one.run_id for one in earlier})
    against = f"{when}, {count} earlier run{'s' if count > 1 else ''}" if count else when
    doubt = (sign_of(WEIGHTS[Weight.DOUBT]), (" ", "")) if run_in_doubt(run) else ()
    title = shorten_middle(clean(run.plan.preset_title), max(8, width - len(against) - _LABEL - 5))
    head: Line = [(" ", ""), (fit("Last", _LABEL), "quiet"), *doubt, (title, "strong")]
    lines: list[Line] = [spread(head, [(against, "quiet"), (" ", "")], width)]
    charted = [score for score in scores if len(score.trend) > 1]
    roomy = bool(charted) and height > len(scores) + (_CHART + 1) * len(charted)
    for score in scores if roomy else scores[: max(1, height - 1)]:
        lines.append(_score_line(score, width, charset, bare=roomy))
        if roomy and score in charted:
            lines += [*_chart(score, width, charset), []]
    others = [one for one in facts.last.runs if one.id != run.id and one.preset == run.plan.preset and one.headline]
    room = height - len(lines) - 2
    if others and room > 0 and (not scores or room >= _RESULTS):
        lines += [
            *([[]] if lines[-1] else ()),
            *(
                line
                for at, one in enumerate(others[: room + 1])
                for line in _run_line(one, width, label="" if at else "Before")
            ),
        ]
    return lines


def more_lines(facts: DeviceFacts, steps: Sequence[str], width: int, height: int) -> list[Line]:
    """What fills a card that is as high as the screen: the last runs of other presets, and the next steps; each if it fits."""
    lines: list[Line] = []
    taken = {facts.last.run.plan.preset} if facts.last else set()
    others: list[Line] = []
    for run in facts.last.runs if facts.last else ():
        if run.headline and run.preset not in taken and len(others) < _OTHERS:
            taken.add(run.preset)
            others += _run_line(run, width, label="" if others else "Others", name=f"{run.preset}: ")
    if others and len(others) < height:
        lines += [[], *others]
    next_steps: list[Line] = []
    for step in steps:
        label = fit("" if next_steps else "Next", _LABEL)
        next_steps += paragraph(clean(step), width, first=((" ", ""), (label, "quiet")))
    return lines + ([[], *next_steps] if next_steps and len(lines) + len(next_steps) < height else [])


def _chart(score: ScoreLine, width: int, charset: Charset) -> list[Line]:
    """A bar for each run, the newest at the right; all as wide as there is room for."""
    room = width - 6
    shown = score.trend[-(room // 2) :]
    cells = max(1, min(_BROAD, room // len(shown) - 1))
    top = max(shown) or 1.0
    bars = [each for value in shown for each in (*[value / top] * cells * charset.columns, *[0.0] * charset.columns)]
    drawn = draw([GlyphTrack(bars, ink(score.direction))], (cells + 1) * len(shown), _CHART, charset)
    return [[("   ", ""), *line] for line in drawn]


def _score_line(score: ScoreLine, width: int, charset: Charset, *, bare: bool = False) -> Line:
    """`4K rand read QD32  282k  (its course)  92% of best`; without the course where `bare`."""
    figure = fit(score.figure, 10, right=True)
    top = max(score.trend, default=0.0)
    course: list[Piece] = []
    if not bare and len(score.trend) > 1 and top and width >= _WIDE - 4:
        shown = score.trend[-_TREND * charset.columns :]
        if len(shown) <= _TREND:
            # A cell for each, as long as there are so many.
            shown = tuple(value for value in shown for _ in range(charset.columns))
        cells = -(-len(shown) // charset.columns)
        blank = [None] * (cells * charset.columns - len(shown))
        track = GlyphTrack([*blank, *(value / top for value in shown)], ink(score.direction), area=True)
        course = [("  ", ""), *draw([track], cells, 1, charset)[0]]
    words = f"  {score.against}" if score.against else ""
    name = fit(clean(score.name), max(8, min(24, width - 4 - len(figure) - width_of(course) - len(words))))
    line = [("   ", ""), (name, ""), (figure, ink(score.direction)), *course, (words, ink(score.meaning))]
    return _cut(line, width)


def _run_line(run: RunSummary, width: int, *, label: str, name: str = "") -> list[Line]:
    when = f"{run.started_at.astimezone():%d %b %H:%M}"
    sign = sign_of(WEIGHTS[Weight.DOUBT]) if run.doubts else (" ", "")
    room = max(8, width - _LABEL - len(when) - 5)
    headline = shorten_middle(whole_parts(clean(f"{name}{run.headline}"), room), room)
    words = (headline, "quiet" if run.doubts else "")
    return [[(f" {fit(label, _LABEL)}", "quiet"), (f"{when} ", "quiet"), sign, (" ", ""), words]]


def _labelled(label: str, words: str, width: int) -> list[Line]:
    return paragraph(clean(words), width, first=((" ", ""), (fit(label, _LABEL), "quiet"))) if words else []


def _cut(line: Sequence[Piece], width: int) -> Line:
    return spread(line, (), width)
