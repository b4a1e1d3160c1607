"""A volume with burst credits (F41): a thread takes from a bucket what was done, and sets the limit by what is left."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from throttle import Volume

_TICK_S = 0.02
_BURST_FROM_S = 0.5
"""An empty bucket allows a burst again when it holds what so long a refill gives."""


_RESTS_S = 1.0
"""What is still for longer rests between two drains: a throttled volume works every tenth of a second."""

_LOOKS = 8


@dataclass(frozen=True)
class Tick:
    """At a moment, in seconds: the I/Os done since the volume was made, and whether it may burst."""

    at: float
    ios: int
    fast: bool


@dataclass(frozen=True)
class Drain:
    """What the kernel counted of a drain: a burst, then the baseline. Rates are I/Os a second."""

    start: float
    end: float
    burst: float
    burst_s: float
    baseline: float

    @property
    def spent(self) -> float:
        """I/Os of the burst above the baseline."""
        return (self.burst - self.baseline) * self.burst_s


@dataclass(frozen=True)
class Ledger:
    """What a bucket saw. A busy machine is late with limits and I/Os: what it gave is known, not what it was to give."""

    ticks: list[Tick] = field(default_factory=list)

    def drains(self) -> list[Drain]:
        """Each drain whose burst ended."""
        # A few reads, of those who look what is on the volume, are no drain.
        moving = [later for one, later in pairwise(self.ticks) if later.ios > one.ios + _LOOKS]
        starts = [0, *(at + 1 for at, (one, later) in enumerate(pairwise(moving)) if later.at - one.at > _RESTS_S)]
        parts = [moving[start:end] for start, end in zip(starts, [*starts[1:], len(moving)], strict=True)]
        return [_drain(part) for part in parts if part[0].fast and not part[-1].fast]


def _drain(part: Sequence[Tick]) -> Drain:
    first, last = part[0], part[-1]
    fell = next(tick for tick in part if not tick.fast)
    burst_s = fell.at - first.at
    return Drain(
        start=first.at,
        end=last.at,
        burst=(fell.ios - first.ios) / burst_s,
        burst_s=burst_s,
        baseline=(last.ios - fell.ios) / (last.at - fell.at),
    )


@contextmanager
def token_bucket(
    volume: Volume, *, size: int, burst: int, refill: int, way: str = "read", in_bytes: bool = False
) -> Iterator[Ledger]:
    """The volume does `burst` a second while the bucket of `size`, filled with `refill` a second, is not empty, else `refill`.

    I/Os, or bytes.
    """
    counter = Path(f"/sys/block/{volume.name}/stat")
    over = threading.Event()
    ledger = Ledger()

    def done_so_far() -> tuple[int, int]:
        """I/Os, and what counts."""
        ios, _, sectors = (int(each) for each in counter.read_text().split()[0 if way == "read" else 4 :][:3])
        return ios, sectors * 512 if in_bytes else ios

    def limit(rate: int) -> None:
        if in_bytes:
            volume.throttle.limit(way, bytes_per_s=rate)
        else:
            volume.throttle.limit(way, iops=rate)

    def work() -> None:
        tokens, (_, done), at, fast = float(size), done_so_far(), time.monotonic(), True
        while not over.wait(_TICK_S):
            now, (ios, seen) = time.monotonic(), done_so_far()
            tokens = min(size, tokens + refill * (now - at) - (seen - done))
            at, done = now, seen
            if fast != (tokens > (0.0 if fast else refill * _BURST_FROM_S)):
                fast = not fast
                limit(burst if fast else refill)
            ledger.ticks.append(Tick(now, ios, fast))

    limit(burst)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield ledger
    finally:
        over.set()
        thread.join()
