"""The kernel's view beside fio's: iostat's figures under iostat's names, of the last interval and the median of the test."""

from __future__ import annotations

from collections.abc import Callable

from diskprof.analysis.kernel import KernelView
from diskprof.model.cells import fit
from diskprof.model.run import Run
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.tui.kit.painted import Line, Piece, titled, width_of
from diskprof.tui.live.kernel_watch import KernelWatch
from diskprof.tui.live.run_reader import Reading, Snapshot, Track

_NAME, _FIGURE = 10, 10


ShownFigure = Callable[[KernelView], float | None]
Fio = Callable[[Reading], float | None]
KernelEntry = tuple[str, ShownFigure, Callable[[float], str], Direction | None, Fio | None]


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.2f}"


def _kib(value: float) -> str:
    return _rate(value / 1024)


def _ms(value: float) -> str:
    ms = value / 1e6
    return f"{ms:.1f}" if ms >= 99.95 else f"{ms:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _celsius(value: float) -> str:
    return f"{value:.0f} C"


_READ, _WRITE = Direction.READ, Direction.WRITE
_DEVICE: tuple[KernelEntry, ...] = (
    ("r/s", lambda v: v.reads_per_s, _rate, _READ, lambda r: r.iops),
    ("w/s", lambda v: v.writes_per_s, _rate, _WRITE, lambda r: r.iops),
    ("rkB/s", lambda v: v.read_bytes_per_s, _kib, _READ, lambda r: r.bandwidth),
    ("wkB/s", lambda v: v.write_bytes_per_s, _kib, _WRITE, lambda r: r.bandwidth),
    ("r_await", lambda v: v.read_wait_ns, _ms, _READ, lambda r: r.mean),
    ("w_await", lambda v: v.write_wait_ns, _ms, _WRITE, lambda r: r.mean),
    ("aqu-sz", lambda v: v.queue_depth, _rate, None, None),
    ("%util", lambda v: v.utilisation, _percent, None, None),
    ("rrqm/s", lambda v: v.read_merges_per_s, _rate, None, None),
    ("wrqm/s", lambda v: v.write_merges_per_s, _rate, None, None),
    ("rareq-sz", lambda v: v.read_size_bytes, _kib, None, None),
    ("wareq-sz", lambda v: v.write_size_bytes, _kib, None, None),
    ("f/s", lambda v: v.flushes_per_s, _rate, None, None),
    ("f_await", lambda v: v.flush_wait_ns, _ms, None, None),
    ("d/s", lambda v: v.discards_per_s, _rate, None, None),
    ("dkB/s", lambda v: v.discard_bytes_per_s, _kib, None, None),
    ("d_await", lambda v: v.discard_wait_ns, _ms, None, None),
)
_IF_ANY = frozenset({"f/s", "d/s", "dkB/s"})
"""Where there are none, there is no line: most loads have neither flushes nor discards."""
_MACHINE: tuple[KernelEntry, ...] = (
    ("%user", lambda v: v.cpu_user, _percent, None, None),
    ("%system", lambda v: v.cpu_system, _percent, None, None),
    ("%iowait", lambda v: v.cpu_iowait, _percent, None, None),
    ("%steal", lambda v: v.cpu_steal, _percent, None, None),
    ("throttled%", lambda v: v.throttled, _percent, None, None),
    ("cgrp r/s", lambda v: v.cgroup_reads_per_s, _rate, None, None),
    ("cgrp w/s", lambda v: v.cgroup_writes_per_s, _rate, None, None),
    ("cgrp rkB/s", lambda v: v.cgroup_read_bytes_per_s, _kib, None, None),
    ("cgrp wkB/s", lambda v: v.cgroup_write_bytes_per_s, _kib, None, None),
    ("available", lambda v: v.memory_available_bytes, format_size, None, None),
    ("page cache", lambda v: v.cached_bytes, format_size, None, None),
    ("dirty", lambda v: v.dirty_bytes, format_size, None, None),
    ("hottest", lambda v: v.temperature_c, _celsius, None, None),
)
_ALWAYS = 8
"""The first of the device's figures stand there even where they are not known."""


def kernel_lines(seen: Snapshot, watch: KernelWatch, width: int) -> list[Line]:
    """The device and what fio said of the same interval, beside them the machine; on a narrow screen one under the other."""
    run, track = seen.run, seen.track
    last, median = _last(run, track, watch), watch.median
    if last is None or median is None:
        return [[], [("   No kernel statistics yet.", "quiet")]]
    # Of a disk that is watched the figures are the kernel's own.
    beside = None if run.plan.watched else track
    device = _table("device", _DEVICE, last, median, beside, _ALWAYS)
    machine = _table("machine", _MACHINE, last, median, None, 4)
    where = clean(run.plan.target.device_title) or "no block device"
    disks = [disk.name for disk in run.environment.disks if disk.name != run.plan.target.device]
    below = f", on {', '.join(map(clean, disks))}" if disks else ""
    head: list[Piece] = [("Kernel (iostat -x)", "title"), (f"  {where}{below}", "strong")]
    if len(run.tests) > 1:
        # The list of tests may be out of sight, and the figures are of one of them.
        head.append((f"  {clean(run.tests[watch.place[0]].title)}", ""))
    names: list[Piece] = [("names as in iostat", "quiet")]
    lines: list[Line] = [titled(head, names if width_of(head) + 2 + width_of(names) <= width else [], width)]
    column = _NAME + 3 * _FIGURE
    if width >= 2 * column - 8:
        rows = max(len(device), len(machine))
        for at in range(rows):
            left: Line = device[at] if at < len(device) else ()
            right: Line = machine[at] if at < len(machine) else ()
            gap = max(2, column + 3 - width_of(left)) if width >= 2 * column else column + 2 - width_of(left)
            lines.append([*left, (" " * gap, ""), *right])
    else:
        lines += [*device, *machine]
    return lines


_TILE: tuple[tuple[str, ShownFigure, Callable[[float], str]], ...] = (
    ("%util", lambda v: v.utilisation, _percent),
    ("aqu-sz", lambda v: v.queue_depth, _rate),
    ("%CPU", lambda v: _both(v.cpu_user, v.cpu_system), _percent),
    ("hottest", lambda v: v.temperature_c, _celsius),
    ("%iowait", lambda v: v.cpu_iowait, _percent),
    ("%steal", lambda v: v.cpu_steal, _percent),
)
_TILE_NAME, _TILE_MOST, _TILE_FIGURE = 8, 12, 7


def _both(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def device_tile(run: Run, watch: KernelWatch | None, width: int, height: int) -> list[Line]:
    """How busy the device and all CPUs are, named as in iostat: in the last interval, and the median of the test so far."""
    places = ("now", "test") if width >= _TILE_NAME + 2 * _TILE_FIGURE else ("now",)
    name = run.plan.target.device or "Device"
    room = min(_TILE_MOST, width - _TILE_FIGURE * len(places))
    heads: list[Piece] = [(fit(place, _TILE_FIGURE, right=True), "") for place in places]
    lines: list[Line] = [[(fit(clean(name), room), "title"), *heads]]
    last, median = (watch.last, watch.median) if watch else (None, None)
    if last is None:
        return [lines[0], [("–", "quiet")]]
    for label, figure, words in _TILE:
        if (now := figure(last)) is None:
            continue
        line: list[Piece] = [(fit(label, room), "quiet"), (fit(words(now), _TILE_FIGURE, right=True), "strong")]
        if len(places) > 1:
            usual = figure(median) if median else None
            line.append((fit("–" if usual is None else words(usual), _TILE_FIGURE, right=True), ""))
        lines.append(line)
    return lines[:height]


def _last(run: Run, track: Track, watch: KernelWatch) -> KernelView | None:
    test = run.tests[watch.place[0]]
    if not test.status.over or track.ended_ns is None or not track.last:
        return watch.last
    return watch.last_before(track.ended_ns, max(reading.seconds for reading in track.last.values()))


def _table(
    title: str, entries: tuple[KernelEntry, ...], last: KernelView, median: KernelView, track: Track | None, always: int
) -> list[Line]:
    heads = ["last", "median", *(["fio last"] if track else [])]
    lines: list[Line] = [[(fit(title, _NAME), "quiet"), *((fit(head, _FIGURE, right=True), "quiet") for head in heads)]]
    for number, (name, figure, words, direction, fio) in enumerate(entries):
        now, usual = figure(last), figure(median)
        if now is None and usual is None and number >= always:
            continue
        if name in _IF_ANY and not now and not usual:
            continue
        line: list[Piece] = [(fit(name, _NAME), direction.value if direction else "")]
        line += [(_told(now, words), "strong"), (_told(usual, words), "")]
        if track and fio and direction:
            reading = track.last.get(direction)
            value = fio(reading) if reading else None
            line.append((_told(value, words) if reading else "", "quiet"))
        lines.append(line)
    return lines


def _told(value: float | None, words: Callable[[float], str]) -> str:
    return fit("–" if value is None else words(value), _FIGURE, right=True)
