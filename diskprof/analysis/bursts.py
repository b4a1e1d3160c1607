"""What a burst is worth: a volume's bucket of credits, from a run that drains it, rests, and drains it again.

Credits refill all the time at the baseline's rate, so a burst spends what it does above the baseline; after a rest the second
burst shows what the rest gave back. Where the bucket is empty the disk does its baseline.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from diskprof.analysis.score import LARGE_BLOCK
from diskprof.analysis.statistics import change_point, median
from diskprof.analysis.windows import Window, measured, rolling, windows
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.sample import Sample

FALL = 0.25
EXPLAINED = 0.8
"""A burst that ended: two levels explain four fifths of the variance, and the second is lower by a quarter or more."""

SHORTEST_S = 1.0
"""A burst, and what is left of a test behind it, last so long at least: volumes hand out their limit in slices of 0.1 s."""

FULL = 0.95
"""A second burst that spends so much of the first began with a full bucket."""

_PART_S = 0.5
_LEVEL_S = 1.0
_OWN = frozenset({"name", "startdelay", "runtime", "description"})
"""Options in which a drain and the one after a rest differ."""

RateOf = Callable[[Window], float]
Amount = Callable[[Window], int]


class Pair(Struct, frozen=True):
    """A test that drains and, after a rest, the same again."""

    first: TestRecord
    second: TestRecord


class Bucket(Struct, frozen=True):
    """What a burst is worth. Rates are per second, amounts I/Os or, where `in_bytes`, bytes.

    `burst` is done for `burst_s`, which takes `size` from the bucket, as full as it was then; `baseline` is what goes on.
    `whole` is false where the first drain began with an empty bucket: `size` is what the rest gave back. `refill` is what came
    back per second of the rest of `rest_s`; `at_least` where the bucket was full again, or was not empty at the end.
    """

    baseline: float
    burst: float
    burst_s: float
    size: float
    whole: bool
    refill: float
    at_least: bool
    rest_s: float

    @property
    def full_after_s(self) -> float | None:
        """How long an empty bucket takes to be full; where the refill is a least, at most so long. None where nothing came back."""
        return self.size / self.refill if self.refill > 0 else None

    def seconds_of(self, amount: float) -> float:
        """How long a job of so many I/Os or bytes takes that finds the bucket as full as the first drain did."""
        fast = self.burst * self.burst_s
        return amount / self.burst if amount <= fast else self.burst_s + (amount - fast) / self.baseline


class BurstResult(Struct, frozen=True):
    """A pair of drains and what they show: a bucket, or None and the rate at which the disk stood for `looked_s` at most."""

    pair: Pair
    in_bytes: bool
    bucket: Bucket | None
    level: float
    looked_s: float


def pairs(run: Run) -> tuple[Pair, ...]:
    """The tests of a run that drain, rest and drain again: the second is the first once more, behind a delay."""
    return tuple(
        Pair(first, second)
        for first, second in pairwise(run.tests)
        if second.planned.delay_s > 0 and not first.planned.cell and _load_of(first) == _load_of(second)
        if first.planned.load.fio and not (first.planned.load.rests or first.planned.load.searches)
    )


def _load_of(test: TestRecord) -> list[tuple[tuple[str, str], ...]]:
    return [tuple(pair for pair in job.options if pair[0] not in _OWN) for job in test.planned.jobs]


def burst_results(run: Run, samples: Sequence[Sample]) -> tuple[BurstResult, ...]:
    """What each pair of drains shows that is complete. `samples` are the whole run's."""
    found = []
    for pair in pairs(run):
        first, second = (measured(samples, test.index) for test in (pair.first, pair.second))
        ended = all(test.status is Status.COMPLETE for test in (pair.first, pair.second))
        if ended and first and second and any(sample.ios for sample in first):
            in_bytes = sum(sample.bytes for sample in first) >= LARGE_BLOCK * sum(sample.ios for sample in first)
            one, two = windows(first), windows(second)
            rest_s = max(0.0, _began_s(second, two) - _began_s(first, one) - one[-1].end_s)
            found.append(judge_drains(pair, one, two, rest_s, in_bytes=in_bytes))
    return tuple(found)


def _began_s(samples: Sequence[Sample], parts: Sequence[Window]) -> float:
    """When the measuring began, in seconds of the run: an interval may be read late, never early."""
    ends = sorted({sample.at_ns for sample in samples})
    return min(at_ns / 1e9 - window.end_s for at_ns, window in zip(ends, parts, strict=True))


def judge_drains(
    pair: Pair, first: Sequence[Window], second: Sequence[Window], rest_s: float, *, in_bytes: bool
) -> BurstResult:
    """What two drains with a rest of `rest_s` between them show, by their intervals."""
    rate: RateOf = _bandwidth if in_bytes else _iops
    amount: Amount = _bytes if in_bytes else _ios
    looked_s = max(parts[-1].end_s for parts in (first, second))
    level = _mean(first, rate) or 0.0
    full, again = fall(first, rate), fall(second, rate)
    levels = full or again
    if levels is None or levels.after <= 0:
        return BurstResult(pair, in_bytes, None, level, looked_s)
    spent = spent_above(first, levels.before, levels.after, rate, amount) if full else None
    back, empty = spent_above(second, levels.before, levels.after, rate, amount)
    size = spent[0] if spent else back
    bucket = Bucket(
        baseline=levels.after,
        burst=levels.before,
        burst_s=size / (levels.before - levels.after),
        size=size,
        whole=spent is not None,
        refill=back / rest_s if rest_s > 0 else 0.0,
        at_least=not empty or (spent is not None and back >= FULL * size),
        rest_s=rest_s,
    )
    return BurstResult(pair, in_bytes, bucket, level, looked_s)


class Fall(Struct, frozen=True):
    """Rates per second before and after a burst ended."""

    before: float
    after: float


def fall(parts: Sequence[Window], rate: RateOf) -> Fall | None:
    """The two levels of a test whose burst ended; None where it did not."""
    halves = [_joined(group) for group in _groups(parts)]
    least = max(2, round(SHORTEST_S / _PART_S)) if halves and halves[0].seconds < SHORTEST_S else 2
    change = change_point([rate(window) for window in halves], least)
    if change is None or change.explained < EXPLAINED:
        return None
    # The change fell into one of the two parts beside it, which belongs to neither level; one that is alone has no choice.
    head, tail = halves[: max(1, change.index - 1)], halves[change.index + 1 :]
    before = median([rate(window) for window in rolling(head, _LEVEL_S) or head])
    after = _mean(tail, rate)
    if before is None or after is None or after > (1 - FALL) * before:
        return None
    return Fall(before, after)


def spent_above(
    parts: Sequence[Window], burst: float, baseline: float, rate: RateOf, amount: Amount
) -> tuple[float, bool]:
    """What a burst did above the baseline, and whether it had ended when the test did.

    Summed up to the last interval that is nearer to the burst than to the baseline, and one more, into which the end may fall:
    so it does not matter where in an interval that was.
    """
    middle = (burst + baseline) / 2
    fast = [at for at, window in enumerate(parts) if rate(window) > middle]
    if not fast:
        return 0.0, True
    end = fast[-1] + 2
    left_s = parts[-1].end_s - parts[min(end, len(parts)) - 1].end_s
    spent = sum(amount(window) - baseline * window.seconds for window in parts[:end])
    return max(0.0, spent), left_s >= _PART_S


def _groups(parts: Sequence[Window]) -> list[list[Window]]:
    """Neighbours that last half a second together; what is left over at the end is left out."""
    found: list[list[Window]] = []
    group: list[Window] = []
    for window in parts:
        group.append(window)
        if window.end_s - group[0].start_s >= _PART_S * 0.999:
            found.append(group)
            group = []
    return found


def _joined(group: Sequence[Window]) -> Window:
    return Window(group[0].start_s, group[-1].end_s, sum(each.ios for each in group), sum(each.bytes for each in group))


def _mean(parts: Sequence[Window], rate: RateOf) -> float | None:
    """A rate over the whole of some windows."""
    seconds = sum(window.seconds for window in parts)
    return sum(rate(window) * window.seconds for window in parts) / seconds if seconds else None


def _iops(window: Window) -> float:
    return window.iops


def _bandwidth(window: Window) -> float:
    return window.bandwidth


def _ios(window: Window) -> int:
    return window.ios


def _bytes(window: Window) -> int:
    return window.bytes
