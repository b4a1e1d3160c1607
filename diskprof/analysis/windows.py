"""Samples of a test: which of them count, and what they say interval by interval."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TypeVar

from msgspec import Struct

from diskprof.model.sample import Direction, Phase, Sample

SHORT_INTERVAL = 0.5
"""Intervals shorter than this share of the median are left out: the last one often lasts a few ms (F6)."""


def measured(samples: Iterable[Sample], test: int, direction: Direction | None = None) -> tuple[Sample, ...]:
    """The samples of a test's measuring phase in the order of time, without laying out, ramp, and the short tail (F6)."""
    measuring = Phase.MEASURING
    chosen = [
        sample
        for sample in samples
        if sample.test == test
        and sample.phase is measuring
        and (direction is None or sample.direction is direction)
        and sample.duration_ns > 0
    ]
    if not chosen:
        return ()
    chosen.sort(key=attrgetter("at_ns"))
    durations = sorted(map(attrgetter("duration_ns"), chosen))
    least = SHORT_INTERVAL * durations[len(durations) // 2]
    return tuple(chosen) if durations[0] >= least else tuple(one for one in chosen if one.duration_ns >= least)


ByTest = Mapping[tuple[int, Direction], Sequence[Sample]]


def by_test(samples: Iterable[Sample]) -> ByTest:
    """Samples by test and direction, found in one pass."""
    found: dict[tuple[int, Direction], list[Sample]] = {}
    for sample in samples:
        found.setdefault((sample.test, sample.direction), []).append(sample)
    return found


T = TypeVar("T")


def thinned(samples: Sequence[T], most: int = 240) -> Sequence[T]:
    """At most `most` of these, evenly apart: enough to know their spread, and quick for a day of them."""
    step = max(1, -(-len(samples) // most))
    return samples[::step]


class Window(Struct, frozen=True):
    """Both directions of one or more neighbouring intervals in one; times in seconds since the measuring began."""

    start_s: float
    end_s: float
    ios: int
    bytes: int

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s

    @property
    def iops(self) -> float:
        return self.ios / (self.end_s - self.start_s)

    @property
    def bandwidth(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds


def windows(samples: Sequence[Sample], shortest_s: float = 0.0) -> tuple[Window, ...]:
    """One test's measured samples, both directions added, in windows of at least `shortest_s`; a shorter rest is left out."""
    found: list[Window] = []
    clock = start = 0
    ios = amount = 0
    ordered = sorted(samples, key=attrgetter("at_ns"))
    last = len(ordered) - 1
    longest = 0
    for index, sample in enumerate(ordered):
        ios += sample.ios
        amount += sample.bytes
        longest = max(longest, sample.duration_ns)
        if index < last and ordered[index + 1].at_ns == sample.at_ns:
            continue
        clock, longest = clock + longest, 0
        if clock > start and clock - start >= shortest_s * 0.999e9:
            found.append(Window(start / 1e9, clock / 1e9, ios, amount))
            start, ios, amount = clock, 0, 0
    return tuple(found)


def joined(parts: Sequence[Window], shortest_s: float) -> tuple[Window, ...]:
    """Neighbouring windows in windows of at least `shortest_s`, as `windows` makes them of their samples."""
    least = shortest_s * 0.999
    if all(part.end_s - part.start_s >= least for part in parts):
        # Of a day each is a second long: these are they.
        return tuple(parts)
    found: list[Window] = []
    start, ios, amount = (parts[0].start_s if parts else 0.0), 0, 0
    for part in parts:
        ios += part.ios
        amount += part.bytes
        if part.end_s - start >= least:
            found.append(Window(start, part.end_s, ios, amount))
            start, ios, amount = part.end_s, 0, 0
    return tuple(found)


def rolling(parts: Sequence[Window], shortest_s: float) -> tuple[Window, ...]:
    """One window of at least `shortest_s` from the beginning of each of neighbouring windows, as far as there are enough."""
    found: list[Window] = []
    ends = [part.end_s for part in parts]
    ios = list(accumulate((part.ios for part in parts), initial=0))
    amounts = list(accumulate((part.bytes for part in parts), initial=0))
    for index, first in enumerate(parts):
        last = bisect_left(ends, first.start_s + shortest_s * 0.999, lo=index)
        if last == len(parts):
            break
        found.append(Window(first.start_s, ends[last], ios[last + 1] - ios[index], amounts[last + 1] - amounts[index]))
    return tuple(found)


SampleFigure = Callable[[Sample], float | None]


def figures(samples: Iterable[Sample], figure: SampleFigure) -> tuple[float, ...]:
    """A figure of every sample that has it."""
    return tuple(value for value in map(figure, samples) if value is not None)
