"""A run as the Live screen sees it: read from the store alone, in bounded memory, whether it still goes or is long over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from diskprof.analysis.kernel import end_of
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.reports.charts.series import Merging, Series

if TYPE_CHECKING:
    from diskprof.store import SampleBatch, Store

_KEPT = 500
"""Columns that are read of what there is so far, which may be a day: as many as the series hold."""
_ENDING = 8
"""Among so many of the last samples is one of each direction."""
_MERGING = {
    "iops": Merging.MEAN,
    "bandwidth": Merging.MEAN,
    "typical": Merging.MEAN,
    "slow": Merging.MAX,
    "tail": Merging.MAX,
    "most": Merging.MAX,
}


@dataclass(frozen=True, slots=True)
class Reading:
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

    def __init__(self, *, preparing: bool) -> None:
        self.preparing = preparing
        self.began_ns: int | None = None
        self.ended_ns: int | None = None
        self.seconds = 0.0
        self.warm_s = 0.0
        self.last: dict[Direction, Reading] = {}
        self._series: dict[tuple[str, Direction], Series] = {}
        self._told_ns: dict[Direction, int] = {}
        self._sums: dict[Direction, tuple[float, int]] = {}
        self._most: dict[Direction, int] = {}

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(direction for direction in Direction if direction in self.last)

    def series(self, name: str, direction: Direction) -> Series:
        """`name` is iops, bandwidth, or a latency: typical, slow, tail, most; empty where there is nothing."""
        return self._series.get((name, direction)) or Series()

    def mean_of(self, direction: Direction) -> float | None:
        """The mean latency in ns of what was measured so far."""
        total, ios = self._sums.get(direction, (0.0, 0))
        return total / ios if ios else None

    def most_of(self, direction: Direction) -> int | None:
        """The longest latency in ns of what was measured so far."""
        return self._most.get(direction)

    def _count(self, sample: Sample) -> None:
        if sample.mean_ns is not None:
            total, ios = self._sums.get(sample.direction, (0.0, 0))
            self._sums[sample.direction] = total + sample.mean_ns * sample.ios, ios + sample.ios
        if sample.max_ns is not None:
            self._most[sample.direction] = max(sample.max_ns, self._most.get(sample.direction, 0))

    def add(self, sample: Sample) -> None:
        if self.began_ns is None:
            self.began_ns = sample.at_ns - sample.duration_ns
        end = (sample.at_ns - self.began_ns) / 1e9
        start = max(0.0, end - sample.duration_ns / 1e9)
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
                if (series := self._series.get(key)) is None:
                    series = self._series[key] = Series(merging)
                series.add(start, end, value)

    def note_last(self, sample: Sample) -> None:
        """It is the last of its direction now."""
        self.ended_ns = end_of(sample, self._told_ns.get(sample.direction))
        self._told_ns[sample.direction] = sample.at_ns
        self.last[sample.direction] = reading_of(sample)


class Following:
    """Follows one run. `read` asks the store for what is new; `shown` is the test whose samples are held."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self.run: Run = store.run(run_id)
        self._chosen: int | None = None
        self._loaded: int | None = None
        self._cursor = 0
        self.track = Track(preparing=False)
        self._layout: Track | None = None
        self.read()

    @property
    def going(self) -> bool:
        return self.run.status is Status.RUNNING

    @property
    def current(self) -> int:
        """The test that goes now, or the last that began."""
        if self.going and self.run.progress:
            return min(self.run.progress.test, len(self.run.tests) - 1)
        began = [test.index for test in self.run.tests if test.started_ns is not None]
        return began[-1] if began else 0

    @property
    def preparing(self) -> bool:
        progress = self.run.progress
        return bool(self.going and progress and progress.phase is Phase.PREPARING)

    @property
    def shown(self) -> int:
        """The test that is looked at: the one chosen, else the current one."""
        return self.current if self._chosen is None else self._chosen

    @property
    def follows(self) -> bool:
        """Whether what is shown moves on with the run."""
        return self._chosen is None

    def choose(self, test: int | None) -> None:
        """Look at one test; None: at whichever goes."""
        self._chosen = test
        self.read_samples()

    @property
    def record(self) -> TestRecord:
        return self.run.tests[self.shown]

    def read(self) -> None:
        """Read the run and what samples are new."""
        self.run = self._store.run(self.run.id)
        self.read_samples()

    def read_samples(self) -> None:
        """Read what samples of the shown test are new."""
        if self._loaded != self.shown:
            self._loaded, self._cursor = self.shown, 0
            self.track, self._layout = Track(preparing=False), None
        if self._cursor == 0:
            batch = self._store.course(self.run.id, self.shown, most=_KEPT)
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

    def _read_after(self, cursor: int) -> SampleBatch:
        return self._store.samples(self.run.id, test=self.shown, after=max(0, cursor), histograms=False)

    def _track_of(self, sample: Sample) -> Track:
        if sample.phase is not Phase.PREPARING:
            return self.track
        if self._layout is None:
            self._layout = Track(preparing=True)
        return self._layout

    @property
    def visible(self) -> Track:
        """The laying out while it goes, or while there is nothing else; otherwise the test."""
        if self._layout is not None and (self.preparing or not self.track.last) and self.shown == 0:
            return self._layout
        return self.track

    @property
    def span_s(self) -> float:
        """How many seconds the charts are wide: what the test is set to take, or took if that is more.

        What an amount ends grows with what was measured: how long it may take at most says little of how long it takes.
        """
        planned, track = self.record.planned, self.visible
        if not track.preparing and self.record.status.over:
            return max(track.seconds, 1.0)
        by_amount = track.preparing or planned.amount_bytes is not None
        if by_amount or track.seconds > planned.seconds + 1:
            return _roomy(track.seconds)
        return max(planned.seconds, 1.0)


def _roomy(seconds: float) -> float:
    """A width with room to grow, so that the picture is not drawn anew for every second that comes."""
    width = 10.0
    while width < seconds:
        width *= 1.5
    return width
