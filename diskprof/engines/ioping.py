"""ioping: the command line of a test, and what comes out of it."""

from dataclasses import dataclass, field

from msgspec import Struct

from diskprof.engines.events import Ending, Event, Noted, Notes, Outcome, PhaseChanged, Sampled
from diskprof.engines.jsonstream import ArrayStream, Broken, Document, JsonObject, Noise, count, figure, section
from diskprof.engines.reasons import advise, empty_handed, killed
from diskprof.model.errors import UsageError
from diskprof.model.histogram import Histogram, bucket_of
from diskprof.model.job import IopingJob
from diskprof.model.plan import PlannedTest
from diskprof.model.run import PERCENTILES, DirectionResult, Latency, Status, TestResult
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.model.units import format_duration

_FLAGS = {
    "async": "-A",
    "cached": "-C",
    "direct": "-D",
    "dsync": "-y",
    "hipri": "-H",
    "linear": "-L",
    "nowait": "-N",
    "rapid": "-R",
    "sync": "-Y",
    "write": "-W",
}
_VALUES = {
    "burst": "-b",
    "count": "-c",
    "entropy": "-e",
    "interval": "-i",
    "max-time": "-T",
    "min-time": "-t",
    "rate-limit": "-r",
    "size": "-s",
    "speed-limit": "-l",
    "warmup": "-a",
    "work-offset": "-o",
    "work-size": "-S",
    "work-time": "-w",
}
_SLOW_S = 0.1
"""Requests closer together than this are summed up by ioping, period by period, instead of written out one by one."""

_LESS = "request returned less than expected"
_EMPTY_HANDED = empty_handed("An ioping request returned less than requested")
_PREPARES_AT_LEAST = 10e6
_MS = 1_000_000


def ioping_argv(program: str, job: IopingJob, *, interval_ms: int) -> tuple[str, ...]:
    """The command of one test. Quick requests are summed up by the interval.

    Raises UsageError for an option that a test may not set: `keep` follows symbolic links (F31).
    """
    argv = [program, "-J"]
    if job.rapid:
        # First, since it sets others that the test may set otherwise (F32).
        argv.append(_FLAGS["rapid"])
    for name, value in job.options:
        if name in _FLAGS:
            argv += [_FLAGS[name]] if value != "0" and name != "rapid" else []
        elif name in _VALUES and value and not value.startswith("-"):
            argv += [_VALUES[name], value]
        else:
            raise UsageError(f"{name!r} is not an allowed ioping option.")
    if _seconds_between(job) < _SLOW_S:
        argv += ["-q", "-P", f"{interval_ms}ms"]
    return (*argv, job.path)


def _seconds_between(job: IopingJob) -> float:
    return 0.0 if job.burst else max(job.interval_s, 1 / job.rate_limit if job.rate_limit else 0.0)


class Statistics(Struct, frozen=True):
    """ioping's `stat` (valid requests; their own time alone) and `load` (all of them, in real time) of a period, in ns."""

    stat: JsonObject
    load: JsonObject

    @property
    def count(self) -> int:
        return count(self.stat, "count")

    @property
    def bytes(self) -> int:
        return count(self.stat, "size")

    @property
    def latency_sum(self) -> int:
        return count(self.stat, "time")

    @property
    def load_count(self) -> int:
        return count(self.load, "count")

    @property
    def duration_ns(self) -> int:
        return count(self.load, "time")


@dataclass
class _Sums:
    count: int = 0
    bytes: int = 0
    latency_sum: int = 0
    load_count: int = 0
    duration_ns: int = 0

    def add(self, period: Statistics) -> None:
        self.count += period.count
        self.bytes += period.bytes
        self.latency_sum += period.latency_sum
        self.load_count += period.load_count
        self.duration_ns += period.duration_ns


@dataclass
class Requests:
    """Single requests, kept as a histogram: a test of a day takes no more memory than one of a minute."""

    bins: dict[int, int] = field(default_factory=dict)
    count: int = 0

    def add(self, ns: int) -> None:
        index = bucket_of(ns)
        self.bins[index] = self.bins.get(index, 0) + 1
        self.count += 1


class IopingReader:
    """ioping's output -> events, and in the end an outcome."""

    name = "ioping"

    def __init__(self, planned: PlannedTest, *, index: int, started_ns: int) -> None:
        self.heard_ns = started_ns
        """When the last element came."""
        self.complaint = ""
        """Why ioping has to be ended; empty as long as all is well."""
        self._planned, self._test = planned, index
        (self._job,) = (job for job in planned.jobs if isinstance(job, IopingJob))
        self._direction = Direction.WRITE if self._job.write else Direction.READ
        self._quiet = _seconds_between(self._job) < _SLOW_S
        self._stream = ArrayStream()
        self._notes = Notes()
        self._pending: list[tuple[Statistics, int]] = []
        self._sums = _Sums()
        self._requests = Requests()
        self._last_ns = started_ns
        self._phase = Phase.PENDING
        self._total: Statistics | None = None

    @property
    def gap_s(self) -> float:
        """The time between two signs of life; before the first ioping fills its working set, and says nothing (F31)."""
        if self._phase is not Phase.MEASURING:
            return 1.0 + self._planned.bytes_written / _PREPARES_AT_LEAST
        return self._planned.interval_ms / 1000 if self._quiet else _seconds_between(self._job)

    @property
    def hold_s(self) -> float | None:
        return None

    def feed(self, chunk: bytes, at_ns: int) -> list[Event]:
        """Raises EngineError where the output is beyond all bounds."""
        return [event for piece in self._stream.feed(chunk) for event in self._piece(piece, at_ns)]

    def say(self, line: str) -> list[Event]:
        """A line of stderr, or a stray one of stdout."""
        if _LESS in line:
            # It does not count the request, and ends as if all were well (F76).
            self.complaint = _EMPTY_HANDED
        return self._notes.say(line, warning=True)

    def idle(self) -> list[Event]:
        return []

    def close(self, at_ns: int) -> list[Event]:
        events = [event for piece in self._stream.close() for event in self._piece(piece, at_ns)]
        if self._stream.closed and self._pending:
            self._total, total_at = self._pending.pop()
            events += self._last_samples(self._total, total_at)
        else:
            events += [Sampled((self._period(*pending),)) for pending in self._pending]
        self._pending.clear()
        return events + self._notes.close(self.name)

    def _piece(self, piece: Document | Noise | Broken, at_ns: int) -> list[Event]:
        match piece:
            case Noise(text):
                return self.say(text)
            case Broken():
                return [Noted("Truncated ioping output.", warning=True)]
        self.heard_ns = at_ns
        if request := section(piece.value, "io"):
            return self._request(request, at_ns)
        if stat := section(piece.value, "stat"):
            return self._statistics(Statistics(stat, section(piece.value, "load")), at_ns)
        return []

    def _request(self, request: JsonObject, at_ns: int) -> list[Event]:
        took = count(request, "time")
        events = self._measuring(at_ns - took)
        duration, self._last_ns = max(at_ns - self._last_ns, took), at_ns
        if request.get("ignored") is not False:
            return events
        size = count(request, "size")
        self._requests.add(took)
        self._sums.count += 1
        self._sums.bytes += size
        self._sums.latency_sum += took
        histogram = Histogram.of_latencies((took,))
        return [*events, Sampled((self._sample(at_ns, duration, 1, size, took, took, took, histogram),))]

    def _statistics(self, statistics: Statistics, at_ns: int) -> list[Event]:
        """The newest element may be the total, which nothing marks until the array ends: it waits for the next one."""
        events = self._measuring(at_ns - statistics.duration_ns)
        if self._pending:
            self._sums.add(self._pending[-1][0])
        like_total = statistics.load_count >= self._sums.load_count and statistics.duration_ns >= self._sums.duration_ns
        self._pending.append((statistics, at_ns))
        # Before a total a period waits too: the short rest after it belongs to it.
        ready = self._pending[: -2 if like_total else -1]
        self._pending = self._pending[len(ready) :]
        return [*events, *(Sampled((self._period(*period),)) for period in ready)]

    def _measuring(self, at_ns: int) -> list[Event]:
        if self._phase is Phase.MEASURING:
            return []
        self._phase = Phase.MEASURING
        return [PhaseChanged(Phase.MEASURING, max(0, at_ns))]

    def _last_samples(self, total: Statistics, at_ns: int) -> list[Event]:
        """The periods that waited and what the total holds beyond all periods, which ioping does not print on its own."""
        samples = [self._period(*period) for period in self._pending]
        ios = total.count - self._sums.count
        duration = total.duration_ns - self._sums.duration_ns if self._quiet else 0
        if ios < 0 or (not ios and duration < self._half_ns):
            return [Sampled((sample,)) for sample in samples]
        latency_sum = max(0, total.latency_sum - self._sums.latency_sum)
        size = max(0, total.bytes - self._sums.bytes)
        if samples and duration < self._half_ns:
            last = self._pending[-1][0]
            ios, size, duration = ios + last.count, size + last.bytes, max(0, duration) + last.duration_ns
            latency_sum += last.latency_sum
            samples.pop()
        known = not self._sums.count
        samples.append(
            self._sample(
                at_ns,
                duration,
                ios,
                size,
                latency_sum / ios if ios else None,
                count(total.stat, "min") if known and ios else None,
                count(total.stat, "max") if known and ios else None,
            )
        )
        return [Sampled((sample,)) for sample in samples]

    @property
    def _half_ns(self) -> int:
        return int(self.gap_s * 1e9 / 2)

    def _period(self, period: Statistics, at_ns: int) -> Sample:
        some = period.count > 0
        return self._sample(
            at_ns,
            period.duration_ns,
            period.count,
            period.bytes,
            period.latency_sum / period.count if some else None,
            count(period.stat, "min") if some else None,
            count(period.stat, "max") if some else None,
        )

    def _sample(
        self,
        at_ns: int,
        duration_ns: int,
        ios: int,
        size: int,
        mean_ns: float | None,
        min_ns: int | None,
        max_ns: int | None,
        histogram: Histogram | None = None,
    ) -> Sample:
        return Sample(
            test=self._test,
            phase=Phase.MEASURING,
            direction=self._direction,
            at_ns=at_ns,
            duration_ns=max(duration_ns, _MS),
            ios=ios,
            bytes=size,
            mean_ns=mean_ns,
            min_ns=min_ns,
            max_ns=max_ns,
            histogram=histogram,
        )

    def conclude(self, ending: Ending) -> Outcome:
        """What became of the test, after `close`."""
        result = self._result() if self._total and self._total.count and not self.complaint else None
        status, reason = self._verdict(ending)
        return Outcome(status, reason, result, self._stream.last if self._total else b"")

    def _result(self) -> TestResult:
        assert self._total
        return total_result(self._total, self._requests, self._direction)

    def _verdict(self, ending: Ending) -> tuple[Status, str]:
        if ending.failure:
            return Status.CANCELLED if ending.cancelled else Status.FAILED, ending.failure
        if ending.cancelled:
            return Status.CANCELLED, ""
        reason = self._shortcoming(ending.code)
        return (Status.FAILED, reason) if reason else (Status.COMPLETE, "")

    def _shortcoming(self, code: int | None) -> str:
        if code is None or code < 0:
            return killed(self.name, code)
        if code:
            return advise(self._notes.last or f"ioping ended with exit code {code}")
        if self.complaint:
            return self.complaint
        if self._total is None:
            return "ioping produced no final statistics."
        if not self._total.count:
            why = self._notes.last or "the first request is warm-up only: raise count, or set warmup=0."
            return f"ioping measured no request: {why}"
        # Told to stop by somebody else it ends as if all were well (F30).
        seconds, asked = self._total.duration_ns / 1e9, self._planned.runtime_s
        enough = self._job.count is not None and self._total.load_count >= self._job.count
        if not enough and seconds < asked - max(0.05 * asked, 0.5):
            return f"ioping measured for {format_duration(seconds)} instead of {format_duration(asked)}."
        return ""


def total_result(total: Statistics, requests: Requests, direction: Direction) -> TestResult:
    """ioping's own final statistics; where it wrote every request out, with the distribution of these."""
    stat, low, high = total.stat, figure(total.stat, "min"), figure(total.stat, "max")
    histogram = None
    percentiles: dict[str, float | None] = {}
    if requests.count == total.count:
        histogram = Histogram.of(requests.bins)
        percentiles = {name: _between(histogram.quantile(q), low, high) for name, q in PERCENTILES.items()}
    result = DirectionResult(
        ios=total.count,
        bytes=total.bytes,
        iops=figure(stat, "iops") or 0.0,
        bandwidth_bytes_per_s=figure(stat, "bps") or 0.0,
        runtime_ms=total.duration_ns / _MS,
        latency=Latency(mean=figure(stat, "avg"), min=low, max=high, stddev=figure(stat, "mdev"), **percentiles),
        histogram=histogram,
    )
    return TestResult(write=result) if direction is Direction.WRITE else TestResult(read=result)


def _between(value: float | None, low: float | None, high: float | None) -> float | None:
    """The middle of a bucket, kept within what was seen."""
    if value is None or low is None or high is None:
        return value
    return min(max(value, low), high)
