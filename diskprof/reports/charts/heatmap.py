"""The latency heat map: time across, latency upward, the share of requests as colour and as shade.

Exact out of the intervals' histograms, in bounded memory: neighbouring intervals are added up when there are too many.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from diskprof.model.histogram import Histogram, bucket_edges
from diskprof.reports.charts.axes import LogScale
from diskprof.reports.charts.timeline import Folded

_FINE = 2
"""Four neighbouring buckets are one level: sixteen to a power of two, which is finer than a row of any terminal."""
SHARES = (0.0, 0.001, 0.01, 0.1, 0.3)
"""From these shares of a column's requests on a cell has shade 1, 2, 3, 4, 5."""
_KEPT = 4


class Slice(NamedTuple):
    """The requests of `start` to `end` (seconds) by level, the first of them `first`."""

    start: float
    end: float
    first: int
    counts: "array[int]"


class Heat:
    """One direction of a test: at most `limit` slices."""

    def __init__(self, slices: Sequence[Slice] = (), fold: int = 1, *, limit: int = 400, end: float = 0.0) -> None:
        """With `slices` of the time up to `end`, each of `fold` intervals: what is added later is folded as these are."""
        self._slices = Folded(_added, limit, slices, max(1, fold))
        self._slices.end = end
        self._folded = 0
        self._grids: dict[tuple[object, ...], _Grid] = {}
        self._levels: tuple[int, int] | None = None
        for piece in slices:
            self._reach(piece.first, piece.first + len(piece.counts) - 1)

    def __len__(self) -> int:
        return len(self._slices.kept)

    @property
    def slices(self) -> Sequence[Slice]:
        return self._slices.whole

    @property
    def range_ns(self) -> tuple[float, float] | None:
        """The lowest and the highest latency that there was, to the width of a level; None of nothing."""
        if self._levels is None:
            return None
        return _edges(self._levels[0])[0], _edges(self._levels[1])[1]

    def add(self, start: float, end: float, histogram: Histogram) -> None:
        """The requests of one interval, which follow those that are there."""
        if not histogram:
            return
        piece = _slice(self._slices.begin(start, end), max(start, end), _levels(histogram, {}))
        self._reach(piece.first, piece.first + len(piece.counts) - 1)
        self._slices.add(piece)

    def _reach(self, first: int, last: int) -> None:
        before = self._levels or (first, last)
        self._levels = min(before[0], first), max(before[1], last)

    def shades(self, columns: int, seconds: float, rows: int, scale: LogScale) -> list[bytes]:
        """For each row from below the shade of each column, 0 to 5, of the time from 0 to `seconds`."""
        if self._folded != self._slices.folded:
            self._folded = self._slices.folded
            self._grids.clear()
        key = (columns, seconds, rows, scale)
        if (grid := self._grids.get(key)) is None:
            if len(self._grids) >= _KEPT:
                self._grids.clear()
            grid = self._grids[key] = _Grid(columns, seconds, rows, scale)
        grid.take(self._slices.kept)
        return [bytes(row) for row in grid.cells]


def _levels(histogram: Histogram, levels: dict[int, int]) -> dict[int, int]:
    """`levels`, with the requests of `histogram` counted in."""
    for bucket, count in histogram.counts:
        levels[bucket >> _FINE] = levels.get(bucket >> _FINE, 0) + count
    return levels


def _slice(start: float, end: float, levels: Mapping[int, int]) -> Slice:
    first, last = min(levels), max(levels)
    return Slice(start, end, first, array("Q", (levels.get(level, 0) for level in range(first, last + 1))))


class Scattered:
    """The requests of a stretch of time in `bins` parts, whose intervals come in any order: from the first of them on it is a
    picture of all of it, which gets finer."""

    def __init__(self, start: float, end: float, *, bins: int = 400) -> None:
        self._start, self._end, self._width = start, end, max(1e-9, end - start) / bins
        self._bins: list[dict[int, int]] = [{} for _ in range(bins)]
        self._intervals = 0

    def add(self, start: float, end: float, histogram: Histogram) -> None:
        """The requests of one interval, all of them where its middle lies."""
        at = int(((start + end) / 2 - self._start) / self._width)
        _levels(histogram, self._bins[min(len(self._bins) - 1, max(0, at))])
        self._intervals += 1

    def heat(self) -> Heat:
        """The map so far."""
        slices = [
            _slice(self._start + at * self._width, self._start + (at + 1) * self._width, levels)
            for at, levels in enumerate(self._bins)
            if levels
        ]
        return Heat(slices, self._intervals // max(1, len(slices)), limit=len(self._bins), end=self._end)


class _Grid:
    """Cells that remember which slices they hold already: a map that grows costs what is new of it."""

    def __init__(self, columns: int, seconds: float, rows: int, scale: LogScale) -> None:
        self._columns, self._per_second, self._rows, self._scale = columns, columns / seconds, rows, scale
        self._taken = 0
        self._sums: dict[int, array[float]] = {}
        self._parts: dict[int, tuple[tuple[int, float], ...]] = {}
        self.cells = [bytearray(columns) for _ in range(rows)]

    def take(self, slices: Sequence[Slice]) -> None:
        changed: set[int] = set()
        for piece in slices[self._taken :]:
            first, last = piece.start * self._per_second, piece.end * self._per_second
            low = max(0, int(first + 1e-9))
            for column in range(low, min(self._columns - 1, max(low, math.ceil(last - 1e-9) - 1)) + 1):
                # A slice that is narrower than a column counts whole, one that is wider by its part.
                part = min(last, column + 1) - max(first, column)
                self._add(column, piece, min(1.0, max(1e-9, part) / max(1e-9, last - first)))
                changed.add(column)
        self._taken = len(slices)
        for column in changed:
            self._shade(column)

    def _add(self, column: int, piece: Slice, weight: float) -> None:
        if (sums := self._sums.get(column)) is None:
            sums = self._sums[column] = array("d", bytes(8 * self._rows))
        for level, count in enumerate(piece.counts, piece.first):
            if count:
                for row, part in self._parts_of(level):
                    sums[row] += count * part * weight

    def _parts_of(self, level: int) -> tuple[tuple[int, float], ...]:
        """In which rows a level lies, and with what part of it."""
        if (found := self._parts.get(level)) is None:
            low, high = (self._scale.share(edge) * self._rows for edge in _edges(level))
            first, last = min(self._rows - 1, int(low)), min(self._rows - 1, int(high))
            if first == last or high <= low:
                found = ((first, 1.0),)
            else:
                spans = [(row, min(high, row + 1) - max(low, row)) for row in range(first, last + 1)]
                found = tuple((row, span / (high - low)) for row, span in spans if span > 0)
            self._parts[level] = found
        return found

    def _shade(self, column: int) -> None:
        sums = self._sums[column]
        whole = sum(sums)
        for row, value in enumerate(sums):
            self.cells[row][column] = shade_of(value / whole) if whole else 0


def shade_of(share: float) -> int:
    """0 for nothing, else 1 to 5."""
    return sum(share > bound if bound == 0 else share >= bound for bound in SHARES)


def _edges(level: int) -> tuple[float, float]:
    return max(1, bucket_edges(level << _FINE)[0]), max(2, bucket_edges((level << _FINE) + (1 << _FINE) - 1)[1])


def _added(slices: Sequence[Slice]) -> Slice:
    if len(slices) == 1:
        return slices[0]
    first = min(piece.first for piece in slices)
    last = max(piece.first + len(piece.counts) for piece in slices)
    counts = array("Q", bytes(8 * (last - first)))
    for piece in slices:
        for level, count in enumerate(piece.counts, piece.first - first):
            counts[level] += count
    return Slice(slices[0].start, slices[-1].end, first, counts)
