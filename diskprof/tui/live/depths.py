"""The distributions of a test, by interval and as a whole: read in small steps, so that a day of them holds nothing up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import TYPE_CHECKING

from diskprof.model.histogram import Histogram
from diskprof.model.run import Latency
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.reports.charts.heatmap import Heat, Scattered
from diskprof.tui.live.test_clock import TestClock

if TYPE_CHECKING:
    from diskprof.store import BlockSpan, Store

STEP = 100
"""How many samples are read at once: to unpack them takes some 40 ms."""
_MANY = 4096
"""From so many on what is stored is not read as it comes: each bin of the map holds some intervals."""
_MANY_BLOCKS = 200
"""From so many on they are read instead of the samples: a column of a wide screen has one at least."""
_BINS = 400
_GOLDEN = 0.618034


class Depths:
    """`heat` for the map of one phase of a test (`preparing`: the laying out), `whole` all of the measuring in one.

    Of a long test what is stored already is read here and there: after some steps there is a coarse picture of all of it, which
    each further step makes finer. What comes later follows in the order of time. Of a day what is read is the blocks of samples
    that its runner made: all requests are in the picture, the edge of a column is exact to a block.
    """

    def __init__(self, store: Store, run_id: str, test: int, *, preparing: bool, rounds: bool = False) -> None:
        self._store, self._run, self._test, self._preparing = store, run_id, test, preparing
        self._cursor: int | None = None
        self._places: list[int] = []
        self._blocks: BlockSpan | None = None
        self._bins = _BINS
        self._stored = 0
        self._began_ns: int | None = None
        self._rounds, self._clock = rounds, TestClock(rounds=rounds)
        self._stored_s = 0.0
        self._counts: dict[Direction, dict[int, int]] = {}
        self._most: dict[Direction, int] = {}
        self._scattered: dict[Direction, Scattered] = {}
        self._heats: dict[Direction, Heat] = {}
        self._quantiles: dict[Direction, tuple[float | None, ...]] = {}
        self.complete = False
        """Whether everything that was stored is in, as of the last `read`."""

    @property
    def place(self) -> tuple[int, bool]:
        """Of which test, and whether of its laying out."""
        return self._test, self._preparing

    @property
    def share(self) -> float:
        """How much of what was stored at first is in, 0 to 1."""
        return 1.0 - len(self._places) / self._stored if self._stored else 1.0

    @property
    def directions(self) -> tuple[Direction, ...]:
        found = self._scattered or self._heats
        return tuple(direction for direction in Direction if direction in found)

    @property
    def measured(self) -> bool:
        """Whether there is a distribution of anything that was measured."""
        return bool(self._counts)

    def heat(self, direction: Direction) -> Heat:
        """The map; while `share` is below 1 of those intervals that are in."""
        if direction in self._scattered:
            return self._scattered[direction].heat()
        return self._heats[direction]

    def whole(self, direction: Direction) -> Histogram | None:
        """All requests that were measured; None without a distribution."""
        counts = self._counts.get(direction)
        return Histogram.of(counts) if counts else None

    def quantiles(self, direction: Direction) -> tuple[float | None, ...]:
        """p50, p99 and p99.9 of all that was measured, found once for each step; None without a distribution."""
        if direction not in self._quantiles:
            whole = self.whole(direction) or Histogram()
            p50, p99, p99_9 = map(whole.quantile, (0.5, 0.99, 0.999))
            shown = Latency(max=self.most_ns(direction), p50=p50, p99=p99, p99_9=p99_9).shown
            self._quantiles[direction] = (shown.p50, shown.p99, shown.p99_9)
        return self._quantiles[direction]

    def most_ns(self, direction: Direction) -> int | None:
        """The longest that was measured, to the ns where the engine says it."""
        return self._most.get(direction)

    def read(self) -> bool:
        """Take one step; returns whether there may be more to take."""
        if self._cursor is None:
            self._begin()
        if self._places:
            here = self._places[-STEP:]
            del self._places[-STEP:]
            self._take(self._stored_at(here), self._mapped)
            if not self._places:
                self._heats = {direction: scattered.heat() for direction, scattered in self._scattered.items()}
                self._scattered.clear()
            return True
        batch = self._store.samples(self._run, test=self._test, after=self._cursor or 0, most=STEP)
        self._cursor = batch.last
        self._take(batch.samples, lambda direction: self._heats.setdefault(direction, Heat()))
        self.complete = len(batch.samples) < STEP
        return not self.complete

    def _begin(self) -> None:
        """Find out how much there is, and in which order it is read."""
        span, self._cursor = self._store.sample_span(self._run, self._test, preparing=self._preparing), 0
        if len(span) < _MANY or self._rounds:
            return
        places, last = tuple(span), span[-1]
        blocks = self._store.blocks.span(self._run, self._test, preparing=self._preparing)
        if blocks.count >= _MANY_BLOCKS:
            self._blocks, self._bins = blocks, min(_BINS, blocks.count // 2)
            places, last = blocks.places, blocks.last
        ends = self._store.samples_at(self._run, self._test, (span[0], last))
        self._began_ns = ends[0].at_ns - ends[0].duration_ns
        self._stored_s = (ends[-1].at_ns - self._began_ns) / 1e9
        self._cursor, self._stored = last, len(places)
        # Each further place lies in the largest gap between those before it, and it is the turn of each direction.
        step = next(step for step in range(int(_GOLDEN * len(places)), len(places)) if gcd(step, len(places)) == 1)
        self._places = [places[at * step % len(places)] for at in range(len(places))]

    def _stored_at(self, places: Sequence[int]) -> tuple[Sample, ...]:
        if self._blocks:
            return self._store.blocks.at(self._run, self._blocks, places)
        return self._store.samples_at(self._run, self._test, places)

    def _take(self, samples: tuple[Sample, ...], map_of: Callable[[Direction], Heat | Scattered]) -> None:
        if samples:
            self._quantiles.clear()
        for sample in samples:
            if (sample.phase is Phase.PREPARING) is not self._preparing:
                continue
            direction, histogram, span = sample.direction, sample.histogram, self._span(sample)
            counting = sample.phase is not Phase.WARMING
            if counting and sample.max_ns is not None:
                self._most[direction] = max(sample.max_ns, self._most.get(direction, 0))
            if histogram is None:
                continue
            histogram = histogram.unpacked()
            map_of(direction).add(*span, histogram)
            if counting:
                counts = self._counts.setdefault(direction, {})
                for bucket, count in histogram.counts:
                    counts[bucket] = counts.get(bucket, 0) + count

    def _span(self, sample: Sample) -> tuple[float, float]:
        if self._began_ns is None:
            return self._clock.span(sample)
        end = (sample.at_ns - self._began_ns) / 1e9
        return max(0.0, end - sample.duration_ns / 1e9), end

    def _mapped(self, direction: Direction) -> Scattered:
        if direction not in self._scattered:
            self._scattered[direction] = Scattered(0.0, self._stored_s, bins=self._bins)
        return self._scattered[direction]
