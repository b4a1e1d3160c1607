"""What a device that was watched did in all: its kernel figures, the highest of them, and the processes that used it."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.kernel import KernelView, highest, joined, kernel_view
from diskprof.model.process_io import ProcessIo, together
from diskprof.model.requests import Latencies, RequestInterval
from diskprof.model.run import PERCENTILES, DirectionResult, Latency, TestResult
from diskprof.model.sample import Direction, Phase, Sample, SystemSample


class WatchedTotal(Struct, frozen=True):
    """`mean` is over the whole time, `highest` has each figure of its highest interval; None where nothing was counted.

    `processes` are those that used its disks, the busiest first.
    """

    mean: KernelView | None
    highest: KernelView | None
    processes: tuple[ProcessIo, ...]


class WatchedSums:
    """Adds up intervals as they come, and keeps none of them: a watch may last for days."""

    def __init__(self) -> None:
        self._whole: SystemSample | None = None
        self._highest: KernelView | None = None
        self._processes: tuple[ProcessIo, ...] = ()
        self._traced: RequestInterval | None = None

    def trace(self, interval: RequestInterval) -> None:
        """What was seen of each request in an interval."""
        self._traced = self._traced.plus(interval) if self._traced else interval

    def add(self, sample: SystemSample, processes: Sequence[ProcessIo], *, whole: bool = True) -> KernelView | None:
        """What the kernel saw in an interval. One that is not `whole` was cut short: its rates are no highest ones."""
        self._processes = together((*self._processes, *processes))
        view = kernel_view((sample,)) if sample.reads is not None else None
        if view is None:
            return None
        self._whole = joined(self._whole, sample) if self._whole else sample
        if whole or self._highest is None:
            self._highest = highest(self._highest, view) if self._highest else view
        return view

    @property
    def total(self) -> WatchedTotal:
        """What all intervals so far came to."""
        return WatchedTotal(kernel_view((self._whole,)) if self._whole else None, self._highest, self._processes)

    @property
    def result(self) -> TestResult:
        """The same as the result of a test: rates, and r_await and w_await as its mean latency; where each request was traced,
        what they took."""
        if self._traced:
            return traced_result(self._traced)
        return result_of(self._whole) if self._whole else TestResult()

    @property
    def traced(self) -> RequestInterval | None:
        """All requests, where they were traced."""
        return self._traced


def samples_of(system: SystemSample) -> tuple[Sample, ...]:
    """An interval of the kernel's counters as a sample of each direction, its mean latency that of a request (await).

    Nothing where the kernel counted nothing, as of a device that is gone. It counts milliseconds: no mean where all requests
    together took less than one.
    """
    found = []
    for direction in Direction:
        ios, amount, mean = _amounts(system, direction)
        if ios is not None:
            found.append(
                Sample(
                    *(system.test, system.phase, direction, system.at_ns, system.duration_ns, ios, amount),
                    mean_ns=mean or None,
                )
            )
    return tuple(found)


def traced_samples(interval: RequestInterval, test: int, phase: Phase, at_ns: int) -> tuple[Sample, ...]:
    """An interval of requests as a sample of each direction, which ended at `at_ns`."""
    return tuple(
        Sample(
            *(test, phase, direction, at_ns, interval.requests.duration_ns, own.ios, own.bytes),
            mean_ns=took.total_ns / own.ios if own.ios else None,
            min_ns=took.min_ns,
            max_ns=took.max_ns,
            histogram=took.histogram if own.ios else None,
        )
        for direction in Direction
        for own, took in ((interval.requests.direction(direction), interval.latencies(direction)),)
    )


def traced_result(whole: RequestInterval) -> TestResult:
    """Requests as the result of a test."""
    read, write = (_traced(whole, direction) for direction in Direction)
    return TestResult(read, write, requests=whole.requests)


def _traced(whole: RequestInterval, direction: Direction) -> DirectionResult:
    own, seconds = whole.requests.direction(direction), whole.requests.duration_ns / 1e9
    amount = own.bytes
    return DirectionResult(
        *(own.ios, amount, own.ios / seconds, amount / seconds, seconds * 1e3),
        latency_of(whole.latencies(direction)),
        whole.latencies(direction).histogram if own.ios else None,
    )


def latency_of(took: Latencies) -> Latency:
    """The figures of a distribution, none above its longest; none of no requests."""
    histogram = took.histogram
    if not histogram:
        return Latency()
    known = {name: histogram.quantile(share) for name, share in PERCENTILES.items()}
    return Latency(took.total_ns / histogram.total, took.min_ns, took.max_ns, **known).shown


def result_of(whole: SystemSample) -> TestResult:
    """An interval as the result of a test; a direction that the kernel did not count has none."""
    read, write = (_result(whole, direction) for direction in Direction)
    return TestResult(read, write)


def _result(whole: SystemSample, direction: Direction) -> DirectionResult | None:
    ios, amount, mean = _amounts(whole, direction)
    if ios is None or whole.duration_ns <= 0:
        return None
    seconds = whole.duration_ns / 1e9
    return DirectionResult(ios, amount, ios / seconds, amount / seconds, seconds * 1e3, Latency(mean=mean))


def _amounts(system: SystemSample, direction: Direction) -> tuple[int | None, int, float | None]:
    """Requests, bytes, and the mean time of a request in ns."""
    if direction is Direction.READ:
        ios, amount, ticks_ms = system.reads, system.read_bytes, system.read_ticks_ms
    else:
        ios, amount, ticks_ms = system.writes, system.write_bytes, system.write_ticks_ms
    mean = ticks_ms * 1e6 / ios if ios and ticks_ms is not None else None
    return ios, amount or 0, mean
