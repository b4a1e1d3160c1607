"""What is known of a run, in progress or ended: read from the store alone, in bounded memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.model.errors import DiskprofError
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.reports.charts.timeline import Merging, Timeline
from diskprof.tui.kit.redraw_pace import Turns
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.kernel_watch import KernelWatch
from diskprof.tui.live.test_clock import TestClock

if TYPE_CHECKING:
    from diskprof.store import SampleBatch, Store

_KEPT = 500
"""Columns that are read of what there is so far, which may be a day: as many as a timeline holds."""
_ENDING = 8
"""The newest N samples contain at least one of each direction."""
_DEPTHS_EVERY_S = 1.0
"""To unpack distributions is a quarter of what an interval costs, and the whole hardly moves in one."""
_MERGING = {
    "iops": Merging.MEAN,
    "bandwidth": Merging.MEAN,
    "typical": Merging.MEAN,
    "slow": Merging.MAX,
    "tail": Merging.MAX,
    "most": Merging.MAX,
}


class Reading(Struct, frozen=True):
    """The last interval of one direction, of so many seconds: I/Os and bytes per second, latency in ns.

    With `percentiles`, `typical` is p50, `slow` p99 and `tail` p99.9; without a distribution (ioping -R) `typical` is the mean,
    `slow` the maximum, and there is no `tail`. `most` is the maximum.
    """

    iops: float
    bandwidth: float
    typical: float | None
    slow: float | None
    percentiles: bool
    tail: float | None = None
    most: float | None = None
    mean: float | None = None
    seconds: float = 0.0

    @property
    def names(self) -> tuple[str, str]:
        return ("p50", "p99") if self.percentiles else ("mean", "max")


def reading_of(sample: Sample) -> Reading:
    """What a sample tells: percentiles where it holds a distribution, else mean and maximum."""
    spread = sample.distributed
    return Reading(
        sample.iops,
        sample.bandwidth,
        typical=sample.quantile(0.5) if spread else sample.mean_ns,
        slow=sample.quantile(0.99) if spread else sample.max_ns,
        percentiles=spread,
        tail=sample.quantile(0.999) if spread else None,
        most=sample.max_ns,
        mean=sample.mean_ns,
        seconds=sample.duration_ns / 1e9,
    )


class Track:
    """One test, or the laying out of the test file before it: its values over time since it began."""

    def __init__(self, *, preparing: bool, rounds: bool = False) -> None:
        self.preparing = preparing
        self._clock = TestClock(rounds=rounds)
        self.ended_ns: int | None = None
        self.seconds = 0.0
        self.warm_s = 0.0
        self.last: dict[Direction, Reading] = {}
        self._timelines: dict[tuple[str, Direction], Timeline] = {}
        self._told_ns: dict[Direction, int] = {}
        self._sums: dict[Direction, tuple[float, int]] = {}
        self._most: dict[Direction, int] = {}
        self._done: dict[Direction, tuple[float, int, int]] = {}

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(direction for direction in Direction if direction in self.last)

    def timeline(self, name: str, direction: Direction) -> Timeline:
        """`name` is iops, bandwidth, or a latency: typical, slow, tail, most; empty where there is nothing."""
        return self._timelines.get((name, direction)) or Timeline()

    def mean_of(self, direction: Direction) -> float | None:
        """The mean latency in ns of what was measured so far."""
        total, ios = self._sums.get(direction, (0.0, 0))
        return total / ios if ios else None

    def most_of(self, direction: Direction) -> int | None:
        """The longest latency in ns of what was measured so far."""
        return self._most.get(direction)

    def rates_of(self, direction: Direction) -> tuple[float, float] | None:
        """I/Os and bytes per second of what was measured so far; None before that."""
        seconds, ios, amount = self._done.get(direction, (0.0, 0, 0))
        return (ios / seconds, amount / seconds) if seconds else None

    def _count(self, sample: Sample) -> None:
        seconds, done, amount = self._done.get(sample.direction, (0.0, 0, 0))
        self._done[sample.direction] = seconds + sample.duration_ns / 1e9, done + sample.ios, amount + sample.bytes
        if sample.mean_ns is not None:
            total, ios = self._sums.get(sample.direction, (0.0, 0))
            self._sums[sample.direction] = total + sample.mean_ns * sample.ios, ios + sample.ios
        if sample.max_ns is not None:
            self._most[sample.direction] = max(sample.max_ns, self._most.get(sample.direction, 0))

    def add(self, sample: Sample) -> None:
        start, end = self._clock.span(sample)
        self.seconds = max(self.seconds, end)
        if sample.phase is Phase.WARMING:
            self.warm_s = max(self.warm_s, end)
        else:
            self._count(sample)
        self.note_last(sample)
        reading = self.last[sample.direction]
        for name, merging in _MERGING.items():
            value = getattr(reading, name)
            if value is not None:
                key = (name, sample.direction)
                if (line := self._timelines.get(key)) is None:
                    line = self._timelines[key] = Timeline(merging)
                line.add(start, end, value)

    def note_last(self, sample: Sample) -> None:
        """It is the last of its direction now."""
        self.ended_ns = sample.ended_ns(self._told_ns.get(sample.direction))
        self._told_ns[sample.direction] = sample.at_ns
        self.last[sample.direction] = reading_of(sample)


class Snapshot(Struct, frozen=True):
    """What is known of a run at one tick; `test` is the test that is looked at.

    `track` is its laying out while that goes, or while there is nothing else. It, `depths` and `kernel` grow with the next tick.
    `depths` and `kernel` are None until somebody wants to see them.
    """

    run: Run
    test: int
    follows: bool
    """Whether what is shown moves on with the run."""
    track: Track
    depths: Depths | None = None
    kernel: KernelWatch | None = None

    @property
    def going(self) -> bool:
        return self.run.status is Status.RUNNING

    @property
    def current(self) -> int:
        return current_test(self.run)

    @property
    def preparing(self) -> bool:
        return is_preparing(self.run)

    @property
    def record(self) -> TestRecord:
        return self.run.tests[self.test]

    @property
    def span_s(self) -> float:
        """How many seconds the charts are wide: what the test is set to take, or took if that is more.

        What an amount or a person ends grows with what was measured: how long it may take says little of how long it takes.
        """
        planned, track = self.record.planned, self.track
        if self.run.plan.rounds and not track.preparing:
            # As wide as the rounds so far.
            return max(math.ceil(track.seconds / planned.seconds), 1) * planned.seconds if planned.seconds else 1.0
        if not track.preparing and self.record.status.over:
            return max(track.seconds, 1.0)
        by_amount = track.preparing or planned.amount_bytes is not None or self.run.plan.watched
        if by_amount or track.seconds > planned.seconds + 1:
            return _roomy(track.seconds)
        return max(planned.seconds, 1.0)


def current_test(run: Run) -> int:
    """The index of the current test, or of the last that began."""
    if run.status is Status.RUNNING and run.progress:
        return min(run.progress.test, len(run.tests) - 1)
    began = [test.index for test in run.tests if test.started_ns is not None]
    return began[-1] if began else 0


def is_preparing(run: Run) -> bool:
    return bool(run.status is Status.RUNNING and run.progress and run.progress.phase is Phase.PREPARING)


class RunReader:
    """Reads one run: what is new in the store is added to what is known of the test that is looked at.

    Its methods return what is known then, and raise StoreError.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run: Run = store.run(run_id)
        self._chosen: int | None = None
        self._loaded: int | None = None
        self._cursor = 0
        self._track = Track(preparing=False, rounds=self._rounds)
        self._layout: Track | None = None
        self._depths: Depths | None = None
        self._kernel: KernelWatch | None = None
        self._turns = Turns()
        self._read_samples()

    def read(self) -> Snapshot:
        """The run and what samples are new."""
        self._run = self._store.run(self._run.id)
        return self._read_samples()

    def choose(self, test: int | None) -> Snapshot:
        """Show one test; None: follow the current one."""
        self._chosen = test
        return self._read_samples()

    def read_kernel(self) -> Snapshot:
        """What the kernel saw since it was asked for the last time."""
        if self._kernel is None or self._kernel.place != self._place:
            self._kernel = KernelWatch(self._store, self._run.id, self._shown, preparing=self._place[1])
        try:
            while self._kernel.read():
                pass
        except DiskprofError:
            self._kernel = None
            raise
        return self.snapshot

    def open_depths(self) -> Snapshot:
        """With the distributions of the test that is looked at, of which nothing may be read yet."""
        if self._depths is None or self._depths.place != self._place:
            self._depths = Depths(self._store, self._run.id, self._shown, preparing=self._place[1], rounds=self._rounds)
        return self.snapshot

    def read_depths(self) -> bool:
        """Take a step in reading the distributions that are open; returns whether there may be more to take at once."""
        depths = self._depths
        if depths is None:
            return False
        # The first figures do not wait for their turn.
        waits = self.snapshot.going and depths.complete and depths.measured
        if waits and self._turns.left_s("depths", _DEPTHS_EVERY_S):
            return False
        try:
            return depths.read()
        except DiskprofError:
            self._depths = None
            raise

    @property
    def snapshot(self) -> Snapshot:
        """What is known now, without reading anything."""
        depths = self._depths if self._depths and self._depths.place == self._place else None
        kernel = self._kernel if self._kernel and self._kernel.place == self._place else None
        return Snapshot(self._run, self._shown, self._chosen is None, self._visible, depths, kernel)

    @property
    def _rounds(self) -> bool:
        return self._run.plan.rounds is not None

    @property
    def _shown(self) -> int:
        return current_test(self._run) if self._chosen is None else self._chosen

    @property
    def _place(self) -> tuple[int, bool]:
        return self._shown, self._visible.preparing

    @property
    def _visible(self) -> Track:
        if self._layout is not None and self._shown == 0 and (is_preparing(self._run) or not self._track.last):
            return self._layout
        return self._track

    def _read_samples(self) -> Snapshot:
        if self._loaded != self._shown:
            self._loaded, self._cursor = self._shown, 0
            self._track, self._layout = Track(preparing=False, rounds=self._rounds), None
        if self._cursor == 0:
            batch = self._store.course(self._run.id, self._shown, most=_KEPT)
            ending = self._read_after(batch.last - _ENDING)
        else:
            batch = self._read_after(self._cursor)
            ending = None
        self._cursor = batch.last
        for sample in batch.samples:
            self._track_of(sample).add(sample)
        # The last column of the course may be minutes.
        for sample in ending.samples if ending else ():
            self._track_of(sample).note_last(sample)
        return self.snapshot

    def _read_after(self, cursor: int) -> SampleBatch:
        return self._store.samples(self._run.id, test=self._shown, after=max(0, cursor), histograms=False)

    def _track_of(self, sample: Sample) -> Track:
        if sample.phase is not Phase.PREPARING:
            return self._track
        if self._layout is None:
            self._layout = Track(preparing=True)
        return self._layout


def _roomy(seconds: float) -> float:
    """The width of a chart in seconds, with room to grow, so that it is not rescaled every second."""
    width = 10.0
    while width < seconds:
        width *= 1.5
    return width
