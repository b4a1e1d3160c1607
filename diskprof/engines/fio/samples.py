"""fio's cumulative documents -> samples, each the I/Os of one interval and their exact histogram (F3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from msgspec import Struct

from diskprof.engines.events import Counted, Event, PhaseChanged, Sampled
from diskprof.engines.fio.document import Counters, Entry, StatusDocument
from diskprof.model.histogram import Histogram, bucket_edges, bucket_value
from diskprof.model.job import FioJob
from diskprof.model.sample import Direction, Phase, Sample

_MS = 1_000_000
_NOTHING = Counters(0, 0, 0, 0, 0.0, 0, 0, {})
_TIMED_SHARE = 0.9
"""A ramp is over for an entry once this share of its I/Os has a latency; the rest is what a document mixes at the reset."""

_LOOKS_S = 0.25
"""How often fio looks whether its jobs have ended: 3.41 writes its last document so much later, 3.33 a few ms."""
_LATE_NS = 500 * _MS
"""At most so much of the time before the last document belongs to no job, in the time between two looks and two documents."""

_ORDER = (Phase.PENDING, Phase.PREPARING, Phase.WARMING, Phase.MEASURING)


_SHORT = 7
"""A request now and then that returns less than its size is no reason to throw a test away: one of 2^7 of an amount."""


class Least(Struct, frozen=True):
    """What an I/O of a test moves at least, in bytes, by direction, and how many can be in flight at once.

    `mixed`: requests of a direction have several sizes, so that larger ones may hide in an interval those that moved nothing.
    """

    sizes: Mapping[Direction, int]
    in_flight: int
    mixed: bool

    def lacks(self, direction: Direction, ios: int, bytes_: int) -> bool:
        """Whether `bytes_` are fewer than `ios` must have moved, but for those in flight: fio counts what it has issued (F62)."""
        return ios - self.in_flight - (ios >> _SHORT) > bytes_ // self.sizes[direction]


def least_of(jobs: Sequence[FioJob]) -> Least | None:
    """None where there is no job."""
    if not jobs:
        return None
    sizes = {
        direction: [size for job in jobs for size in job.sizes(write=direction is Direction.WRITE)]
        for direction in Direction
    }
    return Least(
        {direction: min(found) for direction, found in sizes.items()},
        sum(job.iodepth * job.numjobs for job in jobs),
        any(len(set(found)) > 1 for found in sizes.values()),
    )


@dataclass
class _Amount:
    """What completed in an interval, one direction of all jobs."""

    ios: int = 0
    bytes: int = 0
    timed: int = 0
    latency_sum: float = 0.0
    min_ns: int | None = None
    max_ns: int | None = None
    bins: dict[int, int] = field(default_factory=dict)

    def add(self, before: Counters, now: Counters, *, timed: bool) -> None:
        """Adds the difference of two readings of one epoch. `timed`: I/Os have a latency once they are done.

        fio counts an I/O when it issues it, and its bytes and its latency when it is done (F89): a queue that fills would be
        many I/Os that moved nothing.
        """
        self.ios += max(0, now.timed - before.timed if timed else now.ios - before.ios)
        self.bytes += max(0, now.bytes - before.bytes)
        then = before.bins.get
        bins = {index: new for index, count in now.bins.items() if (new := count - then(index, 0)) > 0}
        if (more := now.timed - before.timed) > 0:
            self.timed += more
            self.latency_sum += max(0.0, now.timed * now.mean_ns - before.timed * before.mean_ns)
        if bins:
            self._take(bins, *_extremes(before, now, bins))

    @property
    def mean_ns(self) -> float | None:
        """Mean latency in ns by fio's means and counts; by the histogram if rounding put it outside the interval's buckets."""
        if not self.timed:
            return None
        mean = self.latency_sum / self.timed
        if self.bins and not bucket_edges(min(self.bins))[0] <= mean <= bucket_edges(max(self.bins))[1]:
            return Histogram.of(self.bins).mean
        return mean

    def merge(self, other: "_Amount") -> None:
        self.ios += other.ios
        self.bytes += other.bytes
        self.timed += other.timed
        self.latency_sum += other.latency_sum
        if other.min_ns is not None and other.max_ns is not None:
            self._take(other.bins, other.min_ns, other.max_ns)

    def _take(self, bins: Mapping[int, int], low: int, high: int) -> None:
        if self.bins:
            for index, count in bins.items():
                self.bins[index] = self.bins.get(index, 0) + count
        else:
            self.bins.update(bins)
        self.min_ns = low if self.min_ns is None else min(self.min_ns, low)
        self.max_ns = high if self.max_ns is None else max(self.max_ns, high)


def _extremes(before: Counters, now: Counters, bins: Mapping[int, int]) -> tuple[int, int]:
    """Least and greatest latency of an interval: exact where it set a record of its epoch, else the middle of a bucket."""
    low, high = bucket_value(min(bins)), bucket_value(max(bins))
    if not before.timed or now.min_ns < before.min_ns:
        low = now.min_ns
    if now.max_ns > before.max_ns:
        high = now.max_ns
    return max(low, now.min_ns), min(high, now.max_ns) or high


@dataclass
class _Interval:
    at_ns: int
    duration_ns: int
    amounts: dict[tuple[Phase, Direction], _Amount]
    doubtful: bool
    """Its I/Os seem to have moved too few bytes, which the next document shows."""
    counted: Counted | None = None

    @property
    def empty(self) -> bool:
        return not any(amount.ios or amount.bytes for amount in self.amounts.values())


@dataclass
class _Job:
    """What is known of one job entry: its last two readings of an epoch, and whether its ramp is still on."""

    warming: bool
    last: Entry = field(default_factory=dict)
    older: Entry = field(default_factory=dict)

    def begin_anew(self) -> None:
        self.last, self.older = {}, {}

    def keep(self, entry: Entry) -> None:
        self.last, self.older = entry, self.last


class Sampler:
    """Documents in, samples out. Every I/O of the final document is in exactly one sample of the measuring phase.

    The newest interval is held back for `hold_s`, in which the short tail before the final document comes, which then joins
    it instead of showing as a rate of its own (F6): whoever feeds the sampler calls `idle` when that time has passed.
    `lays_out`: fio may have to lay out a file itself, before its first I/O.

    Once it is clear that I/Os moved less than the `least` that they can, `unmoved` is true and nothing more comes: the
    intervals that held them are left out.
    """

    def __init__(
        self,
        *,
        test: int,
        started_ns: int,
        interval_ms: int,
        ramp: bool,
        preparing: bool,
        lays_out: bool = True,
        least: Least | None = None,
    ) -> None:
        self.unmoved = False
        self.phase = Phase.PREPARING if preparing else Phase.PENDING
        self._test, self._ramp, self._preparing, self._lays_out = test, ramp, preparing, lays_out
        self._short_ns = interval_ms * _MS // 2
        self._jobs: dict[int, _Job] = {}
        self._directions: set[Direction] = set()
        self._least, self._mixed = least, least is not None and least.mixed
        self._held: _Interval | None = None
        self._before: _Interval | None = None
        """The interval before a doubtful one, where requests of several sizes may hide what was wrong in it already."""
        self._owed_ns = self._late_ns = 0
        self._at_ns = self._busy_ns = self._floor_ns = started_ns
        self._engine_ns = self._counted_ns = 0
        self._timestamp_ms = 0
        self._began = False

    @property
    def hold_s(self) -> float | None:
        """How long to wait for another document before `idle` is called; None if nothing is held back."""
        return None if self._held is None else self._short_ns / 1e9 + _LOOKS_S

    @property
    def measured(self) -> bool:
        """Whether anything was measured yet, rather than laid out or warmed up."""
        return self.phase is Phase.MEASURING or (self._preparing and self._began)

    def add(self, document: StatusDocument, at_ns: int, counted: Counted | None = None) -> list[Event]:
        """One document, which arrived at `at_ns`; `counted` is what it says in all."""
        if document.ios == 0 and not self._began:
            # fio says nothing of a file that it lays out itself but that time passes (F4), as where a disk stands still.
            self._stamp(document, at_ns)
            return self._enter(Phase.PREPARING, at_ns) if self._lays_out else []
        amounts: dict[tuple[Phase, Direction], _Amount] = {}
        engine_ms, reset, doubtful = 0, not self._began, False
        for number, entry in enumerate(document.entries):
            job = self._jobs.setdefault(number, _Job(warming=self._ramp and not self._preparing))
            reset |= self._progress(job, entry)
            doubtful |= self._is_doubtful(job, entry)
            phase = self._phase_of(job)
            for direction, now in entry.items():
                before = job.last.get(direction, _NOTHING)
                engine_ms = max(engine_ms, now.runtime_ms - before.runtime_ms)
                if now.ios or now.bytes:
                    self._directions.add(direction)
                if direction in self._directions:
                    amounts.setdefault((phase, direction), _Amount()).add(before, now, timed=not job.warming)
            job.keep(entry)
        if self.unmoved:
            self._leave_out()
            return []
        if self._held:
            self._held.doubtful = False
        if not amounts:
            return []
        interval = _Interval(at_ns, self._duration(document, at_ns, engine_ms, reset), amounts, doubtful, counted)
        # The time that passed since fio's own clock for the test stood still.
        uncounted = max(0, interval.duration_ns - engine_ms * _MS)
        self._late_ns = uncounted if engine_ms > 0 else self._late_ns + uncounted
        self._began = True
        self._stamp(document, at_ns)
        if document.ios:
            self._busy_ns = at_ns
        return self._take(interval, engine_ms)

    def idle(self) -> list[Event]:
        """Half an interval has passed without a document: what is held back need not wait for a tail."""
        held = self._held
        return [] if held and (held.doubtful or self._mixed or self._is_short(held)) else self.flush()

    def flush(self) -> list[Event]:
        """What was held back."""
        held = [interval for interval in (self._before, self._held) if interval]
        self._before = self._held = None
        return [self._sampled(interval) for interval in held]

    def finish(self) -> list[Event]:
        """The end of the stream: the document before was the final one, written a little after the jobs had ended."""
        held = self._held
        if held and held.doubtful:
            self.unmoved = True
            self._leave_out()
            return self.flush()
        if held and self._late_ns < max(self._short_ns, _LATE_NS):
            held.duration_ns = max(0, held.duration_ns - self._late_ns)
        if held and held.empty and self._is_short(held):
            self._held = None
        elif held:
            self._settle(held)
        return self.flush()

    def _settle(self, last: _Interval) -> None:
        """All that fio issued is done now, but that of what was under way at the end of a ramp it counts the bytes alone (F89)."""
        for job in self._jobs.values():
            for direction, counters in job.last.items():
                if amount := last.amounts.get((self._phase_of(job), direction)):
                    amount.ios = max(0, amount.ios + counters.ios - counters.timed)

    def _is_doubtful(self, job: _Job, entry: Entry) -> bool:
        """Whether the I/Os since the document before, or since the epoch began, seem to have moved too little.

        fio reads the bytes first, then waits for each of its jobs, then reads the I/Os (F88). So only the bytes of the next
        document prove it, which are read after the I/Os of this one were.
        """
        if self._least is None:
            return False
        lacks, doubtful = self._least.lacks, False
        for direction, now in entry.items():
            last, older = job.last.get(direction, _NOTHING), job.older.get(direction, _NOTHING)
            for start in (_NOTHING, older):
                self.unmoved |= lacks(direction, last.ios - start.ios, now.bytes - start.bytes)
            for start in (_NOTHING, last):
                doubtful |= lacks(direction, now.ios - start.ios, now.bytes - start.bytes)
        return doubtful

    def _leave_out(self) -> None:
        """Of what is held back, what may hold I/Os that moved nothing."""
        if self._before or (self._held and self._held.doubtful):
            self._before = self._held = None

    def _stamp(self, document: StatusDocument, at_ns: int) -> None:
        self._at_ns, self._timestamp_ms = at_ns, document.timestamp_ms or 0

    def _progress(self, job: _Job, entry: Entry) -> bool:
        """Notices where the entry's counters began anew (F4); what it counted before is then forgotten."""
        ios, timed = _total(entry)
        before, _ = _total(job.last)
        fell = ios < before - max(16, before >> 10) or (job.warming and ios < before)
        if job.warming:
            over = timed >= ios * _TIMED_SHARE if timed else fell
            if ios and over:
                job.warming = False
                job.begin_anew()
                return True
        if fell:
            job.begin_anew()
        return fell

    def _phase_of(self, job: _Job) -> Phase:
        if self._preparing:
            return Phase.PREPARING
        return Phase.WARMING if job.warming else Phase.MEASURING

    def _duration(self, document: StatusDocument, at_ns: int, engine_ms: int, reset: bool) -> int:
        """The length of the interval in ns.

        After a hang fio's `runtime` lags behind its counters, its wall clock may be set, and we may be late to read: each
        clock has its own way to fail, so the middle one of the three is taken (F7). When an epoch began only `runtime` says,
        which stands at zero until the first I/O has completed (F59): of what it then says, all that was not counted is made up for.
        """
        arrival, engine_ns = at_ns - self._at_ns, engine_ms * _MS
        if reset:
            self._floor_ns, self._engine_ns, self._counted_ns = self._busy_ns, 0, 0
            told = 0
        elif not self._timestamp_ms or not document.timestamp_ms:
            told = min(engine_ns, arrival) if engine_ms > 0 else arrival
        else:
            told = max(0, sorted((engine_ns, arrival, (document.timestamp_ms - self._timestamp_ms) * _MS))[1])
        self._engine_ns += engine_ns
        lacking = min(self._engine_ns, at_ns - self._floor_ns) - self._counted_ns
        duration = max(told, lacking)
        self._counted_ns += duration
        return duration

    def _take(self, interval: _Interval, engine_ms: int) -> list[Event]:
        events = self._enter(max((phase for phase, _ in interval.amounts), key=_ORDER.index), interval.at_ns, engine_ms)
        held = self._held
        # Of a whole interval in which fio's clock hardly moved, the jobs may have ended in it.
        short = self._is_short(interval) or engine_ms * _MS < self._short_ns
        joins = not interval.doubtful and (short or (held is not None and self._is_short(held)))
        if held and joins and held.amounts.keys() >= interval.amounts.keys():
            self._join(held, interval)
            return events
        if short and interval.empty and not held:
            self._owed_ns += interval.duration_ns
            return events
        interval.duration_ns += self._owed_ns
        self._owed_ns = 0
        if interval.doubtful and self._mixed and not self._before:
            self._before, self._held = held, interval
            return events
        flushed = self.flush()
        self._held = interval
        return flushed + events

    def _is_short(self, interval: _Interval) -> bool:
        return interval.duration_ns < self._short_ns

    def _join(self, held: _Interval, tail: _Interval) -> None:
        held.at_ns, held.duration_ns, held.counted = tail.at_ns, held.duration_ns + tail.duration_ns, tail.counted
        for key, amount in tail.amounts.items():
            held.amounts[key].merge(amount)

    def _enter(self, phase: Phase, at_ns: int, engine_ms: int = 0) -> list[Event]:
        if _ORDER.index(phase) <= _ORDER.index(self.phase):
            return []
        self.phase = phase
        return [PhaseChanged(phase, max(0, at_ns - engine_ms * _MS))]

    def _sampled(self, interval: _Interval) -> Sampled:
        return Sampled(
            tuple(
                self._sample(interval, phase, direction, amount)
                for (phase, direction), amount in interval.amounts.items()
            ),
            interval.counted,
        )

    def _sample(self, interval: _Interval, phase: Phase, direction: Direction, amount: _Amount) -> Sample:
        mean, low, high = amount.mean_ns, amount.min_ns, amount.max_ns
        if mean is not None and low is not None and high is not None:
            low, high = min(low, int(mean)), max(high, ceil(mean))
        return Sample(
            test=self._test,
            phase=phase,
            direction=direction,
            at_ns=interval.at_ns,
            duration_ns=max(interval.duration_ns, _MS),
            ios=amount.ios,
            bytes=amount.bytes,
            mean_ns=mean,
            min_ns=low,
            max_ns=high,
            histogram=None if phase is Phase.WARMING else Histogram.of(amount.bins),
        )


def _total(entry: Entry) -> tuple[int, int]:
    return sum(counters.ios for counters in entry.values()), sum(counters.timed for counters in entry.values())
