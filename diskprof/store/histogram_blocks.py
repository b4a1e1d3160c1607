"""Histograms of many samples in one, so that the heat map of a day is made from some thousand of them.

They are merged while the samples are written, by the process that has their counts: to unpack a histogram takes twenty times
as long as to add one that is unpacked. A block of which the writer did not have all, or whose samples came packed from another
store, is not there, and the test is read sample by sample.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from diskprof.model.histogram import Histogram
from diskprof.model.sample import Phase, Sample
from diskprof.store import codec, reading
from diskprof.store.database import Database

FOLDS = (32, 128)
"""So many samples in the order they were stored are a block; those of one test, phase and direction in it are one row."""

MOST_BLOCKS = 1500
"""Of more than this the coarser blocks are read."""

_RUNS = 32
"""Of so many runs at once unfinished blocks are kept: a coordinator writes those of each of its hosts."""

# As codec.SAMPLE_COLUMNS; what is not kept of a block is nothing.
_COLUMNS = "test, phase, direction, at_ns, duration_ns, 0, 0, NULL, NULL, max_ns, histogram, NULL, NULL, NULL, NULL"
_LARGEST = (1 << 63) - 1


@dataclass(slots=True)
class _Part:
    """The samples so far of one test, phase and direction in a block."""

    last: Sample
    seq: int
    duration_ns: int = 0
    max_ns: int | None = None
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, seq: int, sample: Sample, histogram: Histogram) -> None:
        self.last, self.seq = sample, seq
        self.duration_ns += sample.duration_ns
        if sample.max_ns is not None:
            self.max_ns = max(sample.max_ns, self.max_ns or 0)
        counts = self.counts
        for bucket, count in histogram.counts:
            counts[bucket] = counts.get(bucket, 0) + count

    def row(self, run: int, fold: int) -> tuple[object, ...]:
        here = self.last
        return (
            *(run, fold, self.seq, here.test, codec.phase_number(here.phase), codec.direction_number(here.direction)),
            *(here.at_ns, min(self.duration_ns, _LARGEST), self.max_ns, Histogram.of(self.counts).pack()),
        )


@dataclass(slots=True)
class _Unfinished:
    """The block of a run that its next sample, the one with the cursor `following`, belongs to."""

    following: int
    whole: bool
    """Whether all of its samples so far are in `parts`."""
    parts: dict[tuple[object, ...], _Part] = field(default_factory=dict)


class BlockWriter:
    """Makes the blocks of those runs that this process writes."""

    def __init__(self) -> None:
        self._unfinished: dict[tuple[int, int], _Unfinished] = {}

    def add(self, db: sqlite3.Connection, run: int, first: int, samples: Sequence[Sample]) -> None:
        """Adds samples that were stored from the cursor `first` on, and stores what blocks they complete."""
        for fold in FOLDS:
            rows = list(self._rows(run, fold, first, samples))
            if rows:
                db.executemany(f"INSERT INTO histogram_block VALUES ({', '.join('?' * len(rows[0]))})", rows)

    def _rows(self, run: int, fold: int, first: int, samples: Sequence[Sample]) -> Iterator[tuple[object, ...]]:
        block = self._unfinished.pop((run, fold), None)
        if block is None or block.following != first:
            # Another process wrote what comes before, or what was added last was not kept.
            block = _Unfinished(first, whole=first == 1 or first % fold == 0)
        self._unfinished[run, fold] = block
        for seq, sample in enumerate(samples, first):
            histogram = sample.histogram
            if sample.ios and (histogram is None or histogram.is_packed):
                block.whole = False
            elif block.whole:
                key = (sample.test, sample.phase, sample.direction)
                if (part := block.parts.get(key)) is None:
                    part = block.parts[key] = _Part(sample, seq)
                part.add(seq, sample, histogram or Histogram())
            block.following = seq + 1
            if block.following % fold == 0:
                if block.whole:
                    yield from (part.row(run, fold) for part in block.parts.values())
                block.whole, block.parts = True, {}
        while len(self._unfinished) > _RUNS * len(FOLDS):
            del self._unfinished[next(iter(self._unfinished))]


class BlockSpan(Struct, frozen=True):
    """The blocks of a test, `count` of them: `places` are for `HistogramBlocks.at`, `last` is the cursor of their last sample."""

    fold: int
    places: tuple[int, ...] = ()
    last: int = 0

    @property
    def count(self) -> int:
        return len({place // self.fold for place in self.places})


class HistogramBlocks:
    """The blocks of a store, to be read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def span(self, run_id: str, test: int, *, preparing: bool = False) -> BlockSpan:
        """The blocks of a test's samples, or of those of its laying out; without places where any is lacking."""
        phase = codec.phase_number(Phase.PREPARING)
        with self._database.read() as db:
            samples = reading.sample_span(db, run_id, test, preparing)
            fold = next((fold for fold in FOLDS if len(samples) <= fold * MOST_BLOCKS), FOLDS[-1])
            rows = db.execute(
                "SELECT seq FROM histogram_block WHERE run = ? AND fold = ? AND test = ? AND (phase = ?) = ? ORDER BY seq",
                (reading.number_of(db, run_id), fold, test, phase, preparing),
            )
            found = BlockSpan(fold, tuple(seq for (seq,) in rows), samples.stop // fold * fold - 1)
        whole = len(range(samples.start // fold, samples.stop // fold))
        return found if whole and found.count == whole else BlockSpan(fold)

    def at(self, run_id: str, blocks: BlockSpan, places: Sequence[int]) -> tuple[Sample, ...]:
        """Blocks (some hundred at once) as samples of all of their time, in the order they were stored.

        Of a sample they lack amounts, mean and percentiles.
        """
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS}, seq FROM histogram_block WHERE run = ? AND fold = ?"
                f" AND seq IN ({', '.join('?' * len(places))}) ORDER BY seq",
                (reading.number_of(db, run_id), blocks.fold, *places),
            )
            return reading.batch(run_id, rows.fetchall(), 0).samples
