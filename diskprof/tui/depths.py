"""The distributions of a test, by interval and as a whole: read in small steps, so that a day of them holds nothing up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskprof.model.histogram import Histogram
from diskprof.model.sample import Direction, Phase
from diskprof.tui.widgets.heatmap import Heat

if TYPE_CHECKING:
    from diskprof.store import Store

STEP = 400
"""How many samples are read at once: some 30 ms."""


class Depths:
    """`heat` for the map of one phase of a test (`preparing`: the laying out), `whole` all of the measuring in one."""

    def __init__(self, store: Store, run_id: str, test: int, *, preparing: bool) -> None:
        self._store, self._run, self._test, self._preparing = store, run_id, test, preparing
        self._cursor = 0
        self._began_ns: int | None = None
        self._counts: dict[Direction, dict[int, int]] = {}
        self._most: dict[Direction, int] = {}
        self._heats: dict[Direction, Heat] = {}
        self._quantiles: dict[Direction, tuple[float | None, ...]] = {}
        self.complete = False
        """Whether everything that was stored is in, as of the last `read`."""

    @property
    def place(self) -> tuple[int, bool]:
        """Of which test, and whether of its laying out."""
        return self._test, self._preparing

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(direction for direction in Direction if direction in self._heats)

    def heat(self, direction: Direction) -> Heat:
        return self._heats[direction]

    def whole(self, direction: Direction) -> Histogram | None:
        """All requests that were measured; None without a distribution."""
        counts = self._counts.get(direction)
        return Histogram.of(counts) if counts else None

    def quantiles(self, direction: Direction) -> tuple[float | None, ...]:
        """p50, p99 and p99.9 of all that was measured, found once for each step; None without a distribution."""
        if direction not in self._quantiles:
            whole = self.whole(direction)
            self._quantiles[direction] = tuple(whole.quantile(q) if whole else None for q in (0.5, 0.99, 0.999))
        return self._quantiles[direction]

    def most_ns(self, direction: Direction) -> int | None:
        """The longest that was measured, to the ns where the engine says it."""
        return self._most.get(direction)

    def read(self) -> bool:
        """Take one step; returns whether there may be more to take."""
        batch = self._store.samples(self._run, test=self._test, after=self._cursor, most=STEP)
        self._cursor = batch.last
        if batch.samples:
            self._quantiles.clear()
        for sample in batch.samples:
            if (sample.phase is Phase.PREPARING) is not self._preparing:
                continue
            if self._began_ns is None:
                self._began_ns = sample.at_ns - sample.duration_ns
            direction, histogram = sample.direction, sample.histogram
            counting = sample.phase is not Phase.WARMING
            if counting and sample.max_ns is not None:
                self._most[direction] = max(sample.max_ns, self._most.get(direction, 0))
            if histogram is None:
                continue
            end = (sample.at_ns - self._began_ns) / 1e9
            if direction not in self._heats:
                self._heats[direction] = Heat()
            self._heats[direction].add(max(0.0, end - sample.duration_ns / 1e9), end, histogram)
            if counting:
                counts = self._counts.setdefault(direction, {})
                for bucket, count in histogram.counts:
                    counts[bucket] = counts.get(bucket, 0) + count
        self.complete = len(batch.samples) < STEP
        return not self.complete
