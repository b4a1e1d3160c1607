"""What was seen of the requests that a device was given, each of them by itself."""

from collections.abc import Iterable

from msgspec import Struct, field

from diskprof.model.histogram import Histogram
from diskprof.model.sample import Direction

Counts = tuple[tuple[int, int], ...]
"""(value, how often), in the order of the values."""


class SizeRequests(Struct, frozen=True):
    """Requests of one size in bytes, of which `in_order` began where one before them ended."""

    size: int
    ios: int
    in_order: int = 0


class DirectionRequests(Struct, frozen=True):
    """Completed requests of one direction, by their size, the smallest first. `durable` had to be on the medium before they were
    answered (FUA)."""

    sizes: tuple[SizeRequests, ...] = ()
    durable: int = 0

    @property
    def ios(self) -> int:
        return sum(each.ios for each in self.sizes)

    @property
    def bytes(self) -> int:
        return sum(each.size * each.ios for each in self.sizes)

    @property
    def in_order(self) -> int:
        return sum(each.in_order for each in self.sizes)

    def plus(self, other: "DirectionRequests") -> "DirectionRequests":
        """Those of both."""
        found = {each.size: each for each in self.sizes}
        for each in other.sizes:
            if one := found.get(each.size):
                each = SizeRequests(each.size, one.ios + each.ios, one.in_order + each.in_order)
            found[each.size] = each
        return DirectionRequests(tuple(found[size] for size in sorted(found)), self.durable + other.durable)


class RequestProcess(Struct, frozen=True):
    """A process, and what was asked of the device in its name. What others write for it, such as the page cache, is theirs."""

    pid: int
    name: str
    reads: int
    writes: int
    read_bytes: int
    write_bytes: int

    @property
    def ios(self) -> int:
        return self.reads + self.writes


class Requests(Struct, frozen=True):
    """The requests of some time, in ns. `depths` are (requests in flight, ns), `flushes` requests to empty the disk's cache.

    `touched_bytes` is how much of the device was read or written since the watch began, in pieces of `piece_bytes`; `lost` how
    many events nobody could read in time: with them every figure is of less than there was. `processes`: the busiest first.
    """

    duration_ns: int
    read: DirectionRequests = field(default_factory=DirectionRequests)
    write: DirectionRequests = field(default_factory=DirectionRequests)
    depths: Counts = ()
    flushes: int = 0
    touched_bytes: int = 0
    piece_bytes: int = 0
    lost: int = 0
    processes: tuple[RequestProcess, ...] = ()

    def direction(self, direction: Direction) -> DirectionRequests:
        return self.read if direction is Direction.READ else self.write

    @property
    def ios(self) -> int:
        return self.read.ios + self.write.ios

    @property
    def read_share(self) -> float | None:
        """The share of reads among the requests; None without any."""
        return self.read.ios / self.ios if self.ios else None

    @property
    def in_order(self) -> float | None:
        """The share of requests that began where one before them ended; None without any."""
        return (self.read.in_order + self.write.in_order) / self.ios if self.ios else None

    @property
    def depth(self) -> float | None:
        """The mean number of requests in flight, over all the time."""
        taken = sum(ns for _, ns in self.depths)
        return sum(depth * ns for depth, ns in self.depths) / taken if taken else None

    def depth_within(self, share: float) -> int:
        """The number in flight that was not exceeded in this share of the time in which any was; 0 where none was."""
        busy = [(depth, ns) for depth, ns in self.depths if depth]
        left = share * sum(ns for _, ns in busy)
        for depth, ns in busy:
            left -= ns
            if left <= 0:
                return depth
        return busy[-1][0] if busy else 0

    def plus(self, later: "Requests") -> "Requests":
        """Those of both, where `later` came after."""
        return Requests(
            self.duration_ns + later.duration_ns,
            self.read.plus(later.read),
            self.write.plus(later.write),
            summed(self.depths, later.depths),
            self.flushes + later.flushes,
            max(self.touched_bytes, later.touched_bytes),
            later.piece_bytes,
            self.lost + later.lost,
            busiest((*self.processes, *later.processes)),
        )


class Latencies(Struct, frozen=True):
    """Of the requests of one direction: how long each took from its issue to its completion, in ns, all of them together, the
    shortest and the longest."""

    histogram: Histogram = field(default_factory=Histogram)
    total_ns: int = 0
    min_ns: int | None = None
    max_ns: int | None = None

    def plus(self, other: "Latencies") -> "Latencies":
        """Those of both."""
        least = [ns for ns in (self.min_ns, other.min_ns) if ns is not None]
        most = [ns for ns in (self.max_ns, other.max_ns) if ns is not None]
        return Latencies(
            self.histogram + other.histogram,
            self.total_ns + other.total_ns,
            min(least, default=None),
            max(most, default=None),
        )


class RequestInterval(Struct, frozen=True):
    """The requests of an interval, and their latencies."""

    requests: Requests
    read: Latencies = field(default_factory=Latencies)
    write: Latencies = field(default_factory=Latencies)

    def latencies(self, direction: Direction) -> Latencies:
        return self.read if direction is Direction.READ else self.write

    def plus(self, later: "RequestInterval") -> "RequestInterval":
        """Both, where `later` came after."""
        return RequestInterval(
            self.requests.plus(later.requests), self.read.plus(later.read), self.write.plus(later.write)
        )


def summed(one: Counts, other: Counts) -> Counts:
    """Counts of both."""
    found = dict(one)
    for value, count in other:
        found[value] = found.get(value, 0) + count
    return tuple(sorted(found.items()))


MOST_PROCESSES = 32
"""So many are told of."""


def busiest(processes: Iterable[RequestProcess]) -> tuple[RequestProcess, ...]:
    """Each process once, that with most requests first, and no more than MOST_PROCESSES."""
    found: dict[tuple[int, str], RequestProcess] = {}
    for each in processes:
        key = (each.pid, each.name)
        one = found.get(key)
        found[key] = (
            RequestProcess(
                each.pid,
                each.name,
                one.reads + each.reads,
                one.writes + each.writes,
                one.read_bytes + each.read_bytes,
                one.write_bytes + each.write_bytes,
            )
            if one
            else each
        )
    return tuple(sorted(found.values(), key=lambda each: (-each.ios, each.pid))[:MOST_PROCESSES])
