"""Values over time in bounded memory: neighbours are merged when there are too many of them."""

from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Merging(StrEnum):
    """How neighbours become one: MEAN weighs by time, MAX keeps the worst (a percentile's peaks must not vanish)."""

    MEAN = "mean"
    MAX = "max"


class Span(NamedTuple):
    """A value that held from `start` to `end`, in seconds."""

    start: float
    end: float
    value: float


class Series:
    """At most `limit` spans in the order of time; the newest detail is given up with the oldest, so the picture is even."""

    def __init__(self, merging: Merging = Merging.MEAN, *, limit: int = 512) -> None:
        self._merging = merging
        self._limit = max(2, limit)
        self._spans: list[Span] = []
        self._fold = 1
        self._pending: list[Span] = []
        self._columns: dict[tuple[int, float], _Columns] = {}

    def __len__(self) -> int:
        return len(self._spans)

    def __bool__(self) -> bool:
        return bool(self._spans or self._pending)

    def add(self, start: float, end: float, value: float) -> None:
        """Append a value that held from `start` to `end`."""
        self._pending.append(Span(start, max(start, end), value))
        if len(self._pending) < self._fold:
            return
        self._spans.append(_merged(self._pending, self._merging))
        self._pending = []
        if len(self._spans) > self._limit:
            spans = self._spans
            self._spans = [_merged(spans[at : at + 2], self._merging) for at in range(0, len(spans), 2)]
            self._fold *= 2
            self._columns.clear()

    @property
    def spans(self) -> Sequence[Span]:
        return (*self._spans, *self._pending)

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
        if self._pending:
            return self._pending[-1].value
        return self._spans[-1].value if self._spans else None

    @property
    def end(self) -> float:
        spans = self._pending or self._spans
        return spans[-1].end if spans else 0.0

    @property
    def highest(self) -> float:
        return max((span.value for span in self.spans), default=0.0)

    def columns(self, count: int, seconds: float) -> list[float | None]:
        """The values from 0 to `seconds` in `count` equal columns; None where there is nothing."""
        if count <= 0 or seconds <= 0:
            return [None] * max(0, count)
        if (columns := self._columns.get((count, seconds))) is None:
            if len(self._columns) >= _WIDTHS_KEPT:
                self._columns.clear()
            columns = self._columns[count, seconds] = _Columns(count, seconds, peak=self._merging is Merging.MAX)
        columns.take(self._spans)
        return columns.with_spans(self._pending)


_WIDTHS_KEPT = 4


class _Columns:
    """Columns that remember which spans they hold already: a chart that grows costs what is new of it."""

    def __init__(self, count: int, seconds: float, *, peak: bool) -> None:
        self._count, self._per_second, self._peak = count, count / seconds, peak
        self._taken = 0
        self._sums: list[float | None] = [None] * count
        self._held = [0.0] * count

    def take(self, spans: Sequence[Span]) -> None:
        """Add those of `spans` that came since the last call."""
        for span in spans[self._taken :]:
            self._add(span)
        self._taken = len(spans)

    def with_spans(self, spans: Sequence[Span]) -> list[float | None]:
        """The values, with some more spans that are not kept."""
        if not spans:
            return self._values()
        kept = self._sums.copy(), self._held.copy()
        for span in spans:
            self._add(span)
        values = self._values()
        self._sums, self._held = kept
        return values

    def _add(self, span: Span) -> None:
        first, last = span.start * self._per_second, span.end * self._per_second
        low = max(0, int(first))
        high = min(self._count - 1, int(last) if last > int(last) else int(last) - 1)
        for column in range(low, min(self._count - 1, max(low, high)) + 1):
            before = self._sums[column]
            if self._peak:
                self._sums[column] = span.value if before is None else max(before, span.value)
                continue
            share = max(1e-9, min(last, column + 1) - max(first, column))
            self._sums[column] = (before or 0.0) + span.value * share
            self._held[column] += share

    def _values(self) -> list[float | None]:
        if self._peak:
            return self._sums.copy()
        return [None if value is None else value / held for value, held in zip(self._sums, self._held, strict=True)]


def _merged(spans: Sequence[Span], merging: Merging) -> Span:
    if len(spans) == 1:
        return spans[0]
    start, end = spans[0].start, spans[-1].end
    if merging is Merging.MAX:
        return Span(start, end, max(span.value for span in spans))
    seconds = sum(span.end - span.start for span in spans)
    if seconds <= 0:
        return Span(start, end, sum(span.value for span in spans) / len(spans))
    return Span(start, end, sum(span.value * (span.end - span.start) for span in spans) / seconds)
