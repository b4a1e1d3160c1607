"""The load of a disk as somebody watched it: what is known of it, for a test to do the same."""

from collections.abc import Sequence
from enum import StrEnum
from statistics import fmean

from msgspec import Struct

from diskprof.model.sample import Direction


class LoadSource(StrEnum):
    """What it is known from: each request, the kernel's counters, or what iostat printed."""

    REQUESTS = "requests"
    COUNTERS = "counters"
    IOSTAT = "iostat"


class Pace(StrEnum):
    """What holds the load: RATE, so many requests a second come, whatever the disk does; DEPTH, so many are always in flight, and
    the next comes when one ends."""

    RATE = "rate"
    DEPTH = "depth"


class SeenSize(Struct, frozen=True):
    """Requests of one direction and size in bytes: how many a second, and the share in order; None where that is not known."""

    direction: Direction
    size: int
    per_s: float
    in_order: float | None = None


class RateLevels(Struct, frozen=True):
    """A rate that changed over time, in requests a second: the mean of the busiest tenth of the intervals, and of the others."""

    usual_per_s: float
    busy_per_s: float


def rate_levels(rates: Sequence[float]) -> RateLevels | None:
    """Of the rates of intervals that are equally long; None of fewer than ten."""
    tenth = len(rates) // 10
    if not tenth:
        return None
    ordered = sorted(rates)
    return RateLevels(fmean(ordered[:-tenth]), fmean(ordered[-tenth:]))


class SeenLoad(Struct, frozen=True):
    """What was asked of a disk in `seconds` (with iostat: in so many reports). None: not known.

    `depth` is the mean number in flight, `most_in_flight` what it seldom exceeded; `highest_per_s` the most requests a second of an
    interval, `levels` how that changed; `durable` the share of writes with FUA, `flushes` those for each write. `lost`: events of a
    trace that are missing.
    Of counters `sizes` has a mean size of each direction.
    """

    source: LoadSource
    seconds: float
    sizes: tuple[SeenSize, ...]
    depth: float | None = None
    most_in_flight: int | None = None
    pace: Pace = Pace.RATE
    highest_per_s: float | None = None
    durable: float | None = None
    flushes: float | None = None
    touched_bytes: int | None = None
    lost: int = 0
    levels: RateLevels | None = None

    def per_s(self, direction: Direction | None = None) -> float:
        """Requests a second, of one direction or of both."""
        return sum(each.per_s for each in self.sizes if direction in (None, each.direction))

    def bytes_per_s(self, direction: Direction) -> float:
        return sum(each.per_s * each.size for each in self.sizes if each.direction is direction)

    @property
    def read_share(self) -> float:
        whole = self.per_s()
        return self.per_s(Direction.READ) / whole if whole else 0.0

    @property
    def in_order(self) -> float | None:
        """The share of requests in order; None where that is not known."""
        known = [each for each in self.sizes if each.in_order is not None]
        whole = sum(each.per_s for each in known)
        return sum(each.per_s * (each.in_order or 0.0) for each in known) / whole if whole else None
