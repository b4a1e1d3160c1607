"""Values over time in bounded memory, and the columns that a picture makes of them."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import StrEnum
from math import isfinite
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

_WIDTHS_KEPT = 4
_CRUMB = 1e-9


class Merging(StrEnum):
    """How neighbours become one: MEAN weighs by time, MAX keeps the worst (a percentile's peaks must not vanish)."""

    MEAN = "mean"
    MAX = "max"


class Values(Protocol):
    """Values along an axis; `resolution` is how many columns they are worth, 0 of none, `highest` the largest."""

    @property
    def resolution(self) -> int: ...

    @property
    def highest(self) -> float: ...

    def columns(self, count: int, end: float) -> Sequence[float | None]:
        """The values from 0 to `end` of the axis in `count` equal columns; None where there is nothing."""


class Span(NamedTuple):
    """A value that held from `start` to `end`, in seconds."""

    start: float
    end: float
    value: float


class Lasting(Protocol):
    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...


T = TypeVar("T", bound=Lasting)


class Folded(Generic[T]):
    """At most `limit` pieces in the order of time: of more, neighbours are merged in pairs, so that the whole stays even.

    `folded` counts how often that was.
    """

    def __init__(self, merge: Callable[[Sequence[T]], T], limit: int, kept: Sequence[T] = (), fold: int = 1) -> None:
        """With `kept`, each of them already `fold` pieces in one."""
        self._merge, self._limit, self._fold = merge, max(2, limit), fold
        self.kept = list(kept)
        self.end = kept[-1].end if kept else 0.0
        self.pending: list[T] = []
        self.folded = 0

    def add(self, piece: T) -> None:
        self.pending.append(piece)
        self.end = piece.end
        if len(self.pending) < self._fold:
            return
        self.kept.append(self._merge(self.pending))
        self.pending = []
        if len(self.kept) > self._limit:
            self.kept = [self._merge(self.kept[at : at + 2]) for at in range(0, len(self.kept), 2)]
            self._fold *= 2
            self.folded += 1

    @property
    def whole(self) -> Sequence[T]:
        return (*self.kept, *self.pending)

    @property
    def last(self) -> T | None:
        pieces = self.pending or self.kept
        return pieces[-1] if pieces else None

    def begin(self, start: float, end: float) -> float:
        """Where an interval begins: at the end of the one before if that is near, for two clocks leave slits between them."""
        return min(self.end, end) if abs(start - self.end) < (end - start) / 2 else start


class Timeline:
    """Values over time in at most `limit` spans."""

    def __init__(self, merging: Merging = Merging.MEAN, *, limit: int = 512) -> None:
        self._merging = merging
        self._spans = Folded(self._merged, limit)
        self._columns: dict[tuple[int, float], Columns] = {}
        self._folded = 0

    def __len__(self) -> int:
        return len(self._spans.kept)

    def __bool__(self) -> bool:
        return self._spans.last is not None

    def add(self, start: float, end: float, value: float) -> None:
        """Append a value that held from `start` to `end`."""
        self._spans.add(Span(self._spans.begin(start, end), max(start, end), value))

    @property
    def spans(self) -> Sequence[Span]:
        return self._spans.whole

    def at(self, seconds: float) -> Span | None:
        """The value that held at a moment, the nearest where there was none; None of nothing."""
        spans = self.spans
        if not spans:
            return None
        place = min(len(spans) - 1, bisect_right(spans, seconds, key=lambda span: span.end))
        before = spans[max(0, place - 1)]
        here = spans[place]
        return before if here.start > seconds and seconds - before.end < here.start - seconds else here

    @property
    def last(self) -> float | None:
        """The newest value."""
        return self._spans.last.value if self._spans.last else None

    @property
    def end(self) -> float:
        return self._spans.end

    @property
    def highest(self) -> float:
        return max((span.value for span in self.spans), default=0.0)

    @property
    def resolution(self) -> int:
        lengths = sorted(span.end - span.start for span in self.spans)
        usual = lengths[len(lengths) // 2] if lengths else 0.0
        return round(self.end / usual) if usual > 0 else len(lengths)

    def columns(self, count: int, end: float) -> list[float | None]:
        """The values from 0 to `end` seconds in `count` equal columns; None where there is nothing."""
        if count <= 0 or end <= 0:
            return [None] * max(0, count)
        if self._folded != self._spans.folded:
            self._folded = self._spans.folded
            self._columns.clear()
        if (columns := self._columns.get((count, end))) is None:
            if len(self._columns) >= _WIDTHS_KEPT:
                self._columns.clear()
            columns = self._columns[count, end] = Columns(count, end, self._merging)
        return columns.take(self._spans)

    def _merged(self, spans: Sequence[Span]) -> Span:
        if len(spans) == 1:
            return spans[0]
        start, end = spans[0].start, spans[-1].end
        if self._merging is Merging.MAX:
            return Span(start, end, max(span.value for span in spans))
        seconds = sum(span.end - span.start for span in spans)
        if seconds <= 0:
            return Span(start, end, sum(span.value for span in spans) / len(spans))
        return Span(start, end, sum(span.value * (span.end - span.start) for span in spans) / seconds)


class Columns:
    """Equal columns from 0 to `end`. They remember which spans are in them: a chart that grows costs what is new of it."""

    def __init__(self, count: int, end: float, merging: Merging = Merging.MEAN) -> None:
        self._count, self._per_second, self._peak = count, count / end, merging is Merging.MAX
        self._taken = 0
        self._sums: list[float | None] = [None] * count
        self._held = [0.0] * count

    def take(self, spans: Folded[Span]) -> list[float | None]:
        """The values with those of `spans` that came since the last call; what is pending is not remembered."""
        for span in spans.kept[self._taken :]:
            self.add(span)
        self._taken = len(spans.kept)
        if not spans.pending:
            return self.values
        kept = self._sums.copy(), self._held.copy()
        for span in spans.pending:
            self.add(span)
        values = self.values
        self._sums, self._held = kept
        return values

    def add(self, span: Span) -> None:
        first, last = span.start * self._per_second, span.end * self._per_second
        low, high = max(0, int(first + _CRUMB)), int(last - _CRUMB)
        for column in range(low, min(self._count - 1, max(low, high)) + 1):
            before = self._sums[column]
            if self._peak:
                self._sums[column] = span.value if before is None else max(before, span.value)
                continue
            share = max(_CRUMB, min(last, column + 1) - max(first, column))
            self._sums[column] = (before or 0.0) + span.value * share
            self._held[column] += share

    @property
    def values(self) -> list[float | None]:
        if self._peak:
            return self._sums.copy()
        return [None if value is None else value / held for value, held in zip(self._sums, self._held, strict=True)]


class Steps(Struct, frozen=True):
    """A value at 0, 1, 2 and so on."""

    values: Sequence[float | None]

    @property
    def resolution(self) -> int:
        return len(self.values)

    @property
    def highest(self) -> float:
        return max((value for value in self.values if value is not None and isfinite(value)), default=0.0)

    def columns(self, count: int, end: float) -> list[float | None]:
        return (
            [None] * count
            if not self.values
            else [self.values[round(at * (len(self.values) - 1) / max(1, count - 1))] for at in range(count)]
        )


class Slopes(Struct, frozen=True):
    """A value at 0, 1, 2 and so on, with straight lines between them; none to a value that is not there."""

    values: Sequence[float | None]

    @property
    def resolution(self) -> int:
        return len(self.values)

    @property
    def highest(self) -> float:
        return Steps(self.values).highest

    def columns(self, count: int, end: float) -> list[float | None]:
        if not self.values:
            return [None] * count
        return [self._at(column * (len(self.values) - 1) / max(1, count - 1)) for column in range(count)]

    def _at(self, place: float) -> float | None:
        before = min(int(place), len(self.values) - 1)
        low, high = self.values[before], self.values[min(before + 1, len(self.values) - 1)]
        share = place - before
        if share < 1e-9 or low is None or high is None:
            return low if share < 0.5 else high
        return low + (high - low) * share


def even(values: Sequence[float | None], seconds: Sequence[float], most: int) -> list[float | None]:
    """At most `most` values of equal time, of values that lasted `seconds` each (above zero).

    One for each value, and as many as its time takes for one that lasted longer than usual; where that is too many, the mean
    over each part of the time. None where there is no figure in a part.
    """
    if not values:
        return []
    usual = sorted(seconds)[(len(seconds) - 1) // 2]
    times = [max(1, round(length / usual)) for length in seconds]
    if sum(times) <= most:
        return [value for value, count in zip(values, times, strict=True) for _ in range(count)]
    columns, clock = Columns(most, sum(seconds)), 0.0
    for value, length in zip(values, seconds, strict=True):
        if value is not None:
            columns.add(Span(clock, clock + length, value))
        clock += length
    return columns.values
