"""The kernel's view beside fio's: iostat's figures under iostat's names, of the last interval and the median of the test."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from diskprof.analysis.kernel import KernelView, kernel_view, medians, within
from diskprof.model.cells import fit
from diskprof.model.run import Run
from diskprof.model.sample import Direction, Phase, SystemSample
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.tui.kit.painted import Line, Piece, spread, width_of
from diskprof.tui.live.following import Reading, Track

if TYPE_CHECKING:
    from diskprof.store import Store

_STEP = 1000
_KEPT = 480
_ENDING = 4
"""So many of the last intervals are longer than one of the engine's, and among them is one that is no tail."""
_TAIL_NS = 50_000_000
"""What is shorter is the end of a test, in which nothing was done any more (F6)."""
_NAME, _FIGURE = 10, 10


class KernelWatch:
    """What the kernel saw of one test: the last interval, and as much of all of them as the median needs.

    What there is at first may be a day: the store takes neighbours together.
    """

    def __init__(self, store: Store, run_id: str, test: int, *, preparing: bool) -> None:
        self._store, self._run, self._test, self._preparing = store, run_id, test, preparing
        self._cursor: int | None = None
        self._seen = 0
        self._every = 1
        self._kept: list[SystemSample] = []
        self._newest: deque[SystemSample] = deque(maxlen=_ENDING)
        self._median: KernelView | None = None
        self._median_of = 0

    @property
    def place(self) -> tuple[str, int, bool]:
        return self._run, self._test, self._preparing

    @property
    def kept(self) -> int:
        return len(self._kept)

    def read(self) -> bool:
        """Take one step; returns whether there may be more to take."""
        if self._cursor is None:
            self._begin()
            return False
        batch = self._store.system_samples(self._run, test=self._test, after=self._cursor, most=_STEP)
        self._cursor = batch.last
        for sample in batch.samples:
            if not self._belongs(sample):
                continue
            self._newest.append(sample)
            if sample.duration_ns < _TAIL_NS:
                continue
            if self._seen % self._every == 0:
                self._kept.append(sample)
            self._seen += 1
            if len(self._kept) > _KEPT:
                self._kept = self._kept[::2]
                self._every *= 2
        return len(batch.samples) == _STEP

    def _begin(self) -> None:
        """With what there is: all of it, some intervals taken together, and the last of them as they were."""
        there = self._store.system_course(self._run, self._test, most=_KEPT)
        ending = self._store.system_samples(self._run, test=self._test, after=max(0, there.last - _ENDING))
        self._cursor = there.last
        self._kept = [one for one in there.samples if self._belongs(one) and one.duration_ns >= _TAIL_NS]
        self._seen = len(self._kept)
        self._newest.extend(filter(self._belongs, ending.samples))
        if self._kept and self._newest:
            # What comes counts as much as what was.
            self._every = max(1, round(self._kept[0].duration_ns / max(one.duration_ns for one in self._newest)))

    def _belongs(self, sample: SystemSample) -> bool:
        return sample.phase is not Phase.WARMING and (sample.phase is Phase.PREPARING) is self._preparing

    @property
    def last(self) -> KernelView | None:
        """The newest interval that is no tail."""
        found = [one for one in self._newest if one.duration_ns >= _TAIL_NS] or self._kept
        return kernel_view(found[-1:])

    def last_before(self, end_ns: int, seconds: float) -> KernelView | None:
        """Of a test that is over: its last intervals, about as many `seconds` as the engine's last, which ended at `end_ns`.

        What the engine takes to end is no time of the disk, and the kernel's last interval may be little else.
        """
        newest = tuple(self._newest)
        if not newest:
            return self.last
        inside = within(newest, newest[0].at_ns - newest[0].duration_ns, end_ns)
        first = len(inside) - 1
        while first > 0 and sum(one.duration_ns for one in inside[first:]) < seconds * 9e8:
            first -= 1
        return kernel_view(inside[max(0, first) :]) or self.last

    @property
    def median(self) -> KernelView | None:
        """Found anew when a twentieth more is known than before: it takes some ms, and by then it hardly moves."""
        if self._seen > self._median_of * 1.05:
            self._median, self._median_of = medians(self._kept), self._seen
        return self._median


Figure = Callable[[KernelView], float | None]
Fio = Callable[[Reading], float | None]
Entry = tuple[str, Figure, Callable[[float], str], Direction | None, Fio | None]


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
_DEVICE: tuple[Entry, ...] = (
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
)
_MACHINE: tuple[Entry, ...] = (
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


def kernel_lines(run: Run, track: Track, watch: KernelWatch, width: int) -> list[Line]:
    """The device and what fio said of the same interval, beside them the machine; on a narrow screen one under the other."""
    last, median = _last(run, track, watch), watch.median
    if last is None or median is None:
        return [[], [("   Nothing is known yet of what the kernel saw.", "quiet")]]
    device = _table("device", _DEVICE, last, median, track, _ALWAYS)
    machine = _table("machine", _MACHINE, last, median, None, 4)
    where = clean(run.plan.target.device_title) or "no block device"
    disks = [disk.name for disk in run.environment.disks if disk.name != run.plan.target.device]
    below = f", on {', '.join(map(clean, disks))}" if disks else ""
    head: list[Piece] = [("Kernel's view", "title"), (f"  {where}{below}", "strong")]
    if len(run.tests) > 1:
        # The list of tests may be out of sight, and the figures are of one of them.
        head.append((f"  {clean(run.tests[watch.place[1]].planned.title)}", ""))
    names: list[Piece] = [("names as in iostat -x", "quiet")]
    lines: list[Line] = [spread(head, names if width_of(head) + 2 + width_of(names) <= width else [], width)]
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


def _last(run: Run, track: Track, watch: KernelWatch) -> KernelView | None:
    test = run.tests[watch.place[1]]
    if not test.status.over or track.ended_ns is None or not track.last:
        return watch.last
    return watch.last_before(track.ended_ns, max(reading.seconds for reading in track.last.values()))


def _table(
    title: str, entries: tuple[Entry, ...], last: KernelView, median: KernelView, track: Track | None, always: int
) -> list[Line]:
    heads = ["last", "median", *(["fio last"] if track else [])]
    lines: list[Line] = [[(fit(title, _NAME), "quiet"), *((fit(head, _FIGURE, right=True), "quiet") for head in heads)]]
    for number, (name, figure, words, direction, fio) in enumerate(entries):
        now, usual = figure(last), figure(median)
        if now is None and usual is None and number >= always:
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
