"""The kernel's view of the device under test and of the machine, by iostat's definitions, out of the amounts of system samples."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter, mul
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.statistics import mean, median
from diskprof.analysis.windows import thinned
from diskprof.model.sample import Direction, Phase, Sample, SystemSample


class KernelView(Struct, frozen=True):
    """One or more intervals. What iostat -x calls by another name stands in brackets; None: not known, or nothing to divide by.

    Requests are what the device was asked (r/s, w/s): after the block layer split large I/Os and merged neighbouring ones
    (rrqm/s, wrqm/s). Discards and flushes are d/s, dMB/s, d_await, f/s, f_await. Waits are the time from queueing a request
    to its end (r_await, w_await), in ns. `queue_depth` is how many requests waited or were served on average (aqu-sz), over
    all devices together; `utilisation` the share of the time in which the busiest of them had something to do (%util), which
    says little of a device that does several things at once. `cgroup_` rates are what the group that limits this process let
    through; `throttled` the share of its periods in which the group's CPU time was used up. `own_write_bytes_per_s` is what
    the runner itself wrote, wherever its store is. Memory in bytes at the end; the temperature is the highest.
    """

    seconds: float
    reads_per_s: float | None = None
    writes_per_s: float | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    read_merges_per_s: float | None = None
    write_merges_per_s: float | None = None
    read_wait_ns: float | None = None
    write_wait_ns: float | None = None
    read_size_bytes: float | None = None
    write_size_bytes: float | None = None
    queue_depth: float | None = None
    utilisation: float | None = None
    cpu_user: float | None = None
    cpu_system: float | None = None
    cpu_iowait: float | None = None
    cpu_steal: float | None = None
    cgroup_reads_per_s: float | None = None
    cgroup_writes_per_s: float | None = None
    cgroup_read_bytes_per_s: float | None = None
    cgroup_write_bytes_per_s: float | None = None
    own_write_bytes_per_s: float | None = None
    throttled: float | None = None
    memory_available_bytes: float | None = None
    cached_bytes: float | None = None
    dirty_bytes: float | None = None
    temperature_c: float | None = None
    discards_per_s: float | None = None
    discard_bytes_per_s: float | None = None
    discard_wait_ns: float | None = None
    flushes_per_s: float | None = None
    flush_wait_ns: float | None = None

    @property
    def wait_ns(self) -> float | None:
        """Of reads and writes together (await)."""
        return self._of_each_request(self.read_wait_ns, self.write_wait_ns)

    @property
    def size_bytes(self) -> float | None:
        """Of reads and writes together (areq-sz)."""
        return self._of_each_request(self.read_size_bytes, self.write_size_bytes)

    def _of_each_request(self, read: float | None, write: float | None) -> float | None:
        pairs = ((self.reads_per_s, read), (self.writes_per_s, write))
        known = [(rate, value) for rate, value in pairs if rate and value is not None]
        requests = sum(rate for rate, _ in known)
        return sum(rate * value for rate, value in known) / requests if requests else None


def while_measuring(samples: Iterable[Sample], system: Iterable[SystemSample], test: int) -> tuple[SystemSample, ...]:
    """The system samples of a test's measuring phase; `samples` are the engine's, both in the order of time.

    What the kernel counted before the engine began and after it ended is the engine's starting and ending, in which it did
    no I/O: that time is taken off the first and the last interval, so that amounts by time are what they were while it measured.
    A test that was repeated in rounds has such a time in each, and other tests between them.
    """
    measuring = Phase.MEASURING
    taken = [one for one in samples if one.test == test and one.phase is measuring]
    rounds = [list(found) for its_test, found in groupby(system, key=attrgetter("test")) if its_test == test]
    begins = [mine[0].at_ns - mine[0].duration_ns for mine in rounds]
    if not begins:
        return ()
    ends = [*begins[1:], None]
    begins[0] = -1
    return tuple(
        one
        for mine, begin, end in zip(rounds, begins, ends, strict=True)
        for one in _of_round(_between(taken, begin, end), mine)
    )


def _between(taken: Sequence[Sample], begin: int, end: int | None) -> Sequence[Sample]:
    """Those of samples in the order of time that ended after `begin`, and not after `end`."""
    at = attrgetter("at_ns")
    return taken[bisect_right(taken, begin, key=at) : len(taken) if end is None else bisect_right(taken, end, key=at)]


def _of_round(taken: Sequence[Sample], mine: Sequence[SystemSample]) -> tuple[SystemSample, ...]:
    measuring = Phase.MEASURING
    kept = [one for one in mine if one.phase is measuring]
    if not taken or not kept:
        return tuple(kept)
    # After a ramp there is no such pause.
    first = kept[0] if any(one.phase is Phase.WARMING for one in mine) else taken[0]
    return within(kept, first.at_ns - first.duration_ns, _end_of_all(taken))


def _end_of_all(samples: Sequence[Sample]) -> int:
    """When the last direction ended."""
    ends = []
    for direction in Direction:
        newest = [one for one in samples if one.direction is direction][-2:]
        if newest:
            ends.append(newest[-1].ended_ns(newest[0].at_ns if len(newest) > 1 else None))
    return max(ends)


def within(kept: Sequence[SystemSample], begin: int, end: int) -> tuple[SystemSample, ...]:
    """Of intervals in the order of time what lies between two times (ns since the run began), outside which nothing was done."""
    inside = [one for one in kept if one.at_ns > begin and one.at_ns - one.duration_ns < end]
    if not inside:
        return ()
    inside[0] = replace(inside[0], duration_ns=min(inside[0].duration_ns, inside[0].at_ns - begin))
    # What the engine did last may have been counted after its last word.
    last = inside[-1]
    for later in kept[bisect_right(kept, last.at_ns, key=attrgetter("at_ns")) :]:
        inside[-1] = _plus(inside[-1], later)
    if last.at_ns > end:
        began = max(begin, last.at_ns - last.duration_ns)
        inside[-1] = replace(inside[-1], duration_ns=max(1, end - began))
    return tuple(inside)


def seen_by_test(samples: Iterable[Sample], system: Iterable[SystemSample]) -> dict[int, KernelView]:
    """What the kernel saw over the whole measuring phase of each test that it looked at."""
    taken, seen = list(samples), list(system)
    tests = dict.fromkeys(sample.test for sample in seen)
    views = {test: kernel_view(while_measuring(taken, seen, test)) for test in tests}
    return {test: view for test, view in views.items() if view}


_SHARES = ("cpu_user", "cpu_system", "cpu_iowait", "cpu_steal")
_LEVELS = ("memory_available_bytes", "cached_bytes", "dirty_bytes")
_NO_AMOUNTS = frozenset({"test", "phase", "at_ns", "duration_ns", "temperature_c", *_SHARES, *_LEVELS})
_AMOUNTS = tuple(name for name in SystemSample.__struct_fields__ if name not in _NO_AMOUNTS)
_FIGURES = ("duration_ns", "temperature_c", *_SHARES, *_LEVELS, *_AMOUNTS)
_figures = attrgetter(*_FIGURES)
_NONE = type(None)


def _plus(sample: SystemSample, other: SystemSample) -> SystemSample:
    sums = {}
    for name in _AMOUNTS:
        one, two = getattr(sample, name), getattr(other, name)
        sums[name] = one + two if one is not None and two is not None else one
    return replace(sample, **sums)


def joined(one: SystemSample, other: SystemSample) -> SystemSample:
    """Two neighbouring intervals as one; what only one of them has is that one's."""
    whole = one.duration_ns + other.duration_ns
    found: dict[str, float | None] = {}
    for name in _AMOUNTS:
        known = [value for each in (one, other) if (value := getattr(each, name)) is not None]
        found[name] = sum(known) if known else None
    for name in _SHARES:
        before, after = getattr(one, name), getattr(other, name)
        both = before is not None and after is not None and whole
        found[name] = (
            (before * one.duration_ns + after * other.duration_ns) / whole
            if both
            else after
            if before is None
            else before
        )
    for name in _LEVELS:
        level = getattr(other, name)
        found[name] = getattr(one, name) if level is None else level
    degrees = [each.temperature_c for each in (one, other) if each.temperature_c is not None]
    found["temperature_c"] = max(degrees, default=None)
    return replace(one, at_ns=other.at_ns, duration_ns=whole, **found)


def highest(one: KernelView, other: KernelView) -> KernelView:
    """The higher of each figure."""
    found = {}
    for name in KernelView.__struct_fields__:
        known = [value for each in (one, other) if (value := getattr(each, name)) is not None]
        found[name] = max(known, default=None)
    return KernelView(**found)  # type: ignore[arg-type]


def kernel_view(samples: Sequence[SystemSample]) -> KernelView | None:
    """Neighbouring intervals as one; None of nothing. A figure counts the intervals that have it."""
    counted = [sample for sample in samples if sample.duration_ns > 0]
    if not counted:
        return None
    columns = dict(zip(_FIGURES, zip(*map(_figures, counted), strict=True), strict=True))
    durations = cast("Sequence[int]", columns["duration_ns"])

    kinds = {name: set(map(type, values)) for name, values in columns.items()}
    gaps = {name for name, found in kinds.items() if _NONE in found}

    def values(name: str) -> Sequence[float | None]:
        return columns[name]

    def both(one: str, other: str) -> tuple[Sequence[float], Sequence[float]]:
        if one in gaps or other in gaps:
            never = {_NONE} in (kinds[one], kinds[other])
            return ((), ()) if never else _both(columns[one], columns[other])
        return cast("Sequence[float]", columns[one]), cast("Sequence[float]", columns[other])

    def rate(name: str) -> float | None:
        known = both(name, "duration_ns")
        seconds = sum(known[1]) / 1e9
        return sum(known[0]) / seconds if seconds else None

    def share(name: str) -> float | None:
        known = both(name, "duration_ns")
        whole = sum(known[1])
        return sum(map(mul, *known)) / whole if whole else None

    def each(what: str, of: str, unit: float = 1.0) -> float | None:
        """So much of one thing for each of another."""
        amounts, counts = both(what, of)
        count = sum(counts)
        return unit * sum(amounts) / count if count else None

    def last(name: str) -> float | None:
        return next((value for value in reversed(values(name)) if value is not None), None)

    queue_ms, busy_ms = rate("queue_ticks_ms"), rate("io_ticks_ms")
    return KernelView(
        seconds=sum(durations) / 1e9,
        reads_per_s=rate("reads"),
        writes_per_s=rate("writes"),
        read_bytes_per_s=rate("read_bytes"),
        write_bytes_per_s=rate("write_bytes"),
        read_merges_per_s=rate("read_merges"),
        write_merges_per_s=rate("write_merges"),
        read_wait_ns=each("read_ticks_ms", "reads", 1e6),
        write_wait_ns=each("write_ticks_ms", "writes", 1e6),
        read_size_bytes=each("read_bytes", "reads"),
        write_size_bytes=each("write_bytes", "writes"),
        queue_depth=None if queue_ms is None else queue_ms / 1e3,
        utilisation=None if busy_ms is None else min(1.0, busy_ms / 1e3),
        cpu_user=share("cpu_user"),
        cpu_system=share("cpu_system"),
        cpu_iowait=share("cpu_iowait"),
        cpu_steal=share("cpu_steal"),
        cgroup_reads_per_s=rate("cgroup_reads"),
        cgroup_writes_per_s=rate("cgroup_writes"),
        cgroup_read_bytes_per_s=rate("cgroup_read_bytes"),
        cgroup_write_bytes_per_s=rate("cgroup_write_bytes"),
        own_write_bytes_per_s=rate("own_write_bytes"),
        throttled=each("cpu_throttled", "cpu_periods"),
        memory_available_bytes=last("memory_available_bytes"),
        cached_bytes=last("cached_bytes"),
        dirty_bytes=last("dirty_bytes"),
        temperature_c=max((value for value in values("temperature_c") if value is not None), default=None),
        discards_per_s=rate("discards"),
        discard_bytes_per_s=rate("discard_bytes"),
        discard_wait_ns=each("discard_ticks_ms", "discards", 1e6),
        flushes_per_s=rate("flushes"),
        flush_wait_ns=each("flush_ticks_ms", "flushes", 1e6),
    )


def _both(these: Sequence[float | None], those: Sequence[float | None]) -> tuple[Sequence[float], Sequence[float]]:
    """The values of those intervals that have one in both."""
    known = [(one, other) for one, other in zip(these, those, strict=True) if one is not None and other is not None]
    return [one for one, _ in known], [other for _, other in known]


def medians(samples: Sequence[SystemSample]) -> KernelView | None:
    """The median interval, figure by figure: what it was like most of the time. None of nothing.

    Of a long run some hundred intervals stand for all of them.
    """
    views = [view for sample in thinned(samples) if (view := kernel_view((sample,)))]
    if not views:
        return None
    found = {}
    for name in KernelView.__struct_fields__:
        known = [value for view in views if (value := getattr(view, name)) is not None]
        found[name] = median(known)
    found["seconds"] = mean([view.seconds for view in views])
    return KernelView(**{name: value for name, value in found.items() if value is not None})
