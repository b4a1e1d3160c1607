"""Requests that were issued and completed -> what there was of them in an interval."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from diskprof.devices.requests.pages import RequestEvent
from diskprof.devices.scan.files import read_text
from diskprof.model.histogram import Histogram
from diskprof.model.requests import (
    Counts,
    DirectionRequests,
    Latencies,
    RequestInterval,
    RequestProcess,
    Requests,
    SizeRequests,
    busiest,
)

SECTOR = 512
_ENDS = 64
"""So many streams of a direction may go on side by side: a request that begins where one of so many before it ended is in order."""
_MOST_KINDS = 256
_MOST_PIECES = 1 << 20
_LEAST_PIECE = 1 << 20
_MOST_NAMES = 10_000


class _Side:
    """One direction: what completed in the interval, and where requests ended."""

    def __init__(self) -> None:
        self.ends: dict[int, None] = {}
        self.clear()

    def clear(self) -> None:
        self.latencies: list[int] = []
        self.sizes: dict[int, int] = {}
        self.ordered: dict[int, int] = {}
        self.durable = 0

    def taken(self) -> tuple[DirectionRequests, Latencies]:
        taken, ordered = self.latencies, self.ordered
        sizes = (SizeRequests(each * SECTOR, n, ordered.get(each, 0)) for each, n in sorted(self.sizes.items()))
        requests = DirectionRequests(tuple(sizes), self.durable)
        latencies = (
            Latencies(Histogram.of_latencies(taken), sum(taken), min(taken), max(taken)) if taken else Latencies()
        )
        self.clear()
        return requests, latencies


_Pending = tuple[int, int, bool, bool, _Side]
"""When it was issued, sectors, whether it is in order, whether durable, direction."""


class _Done:
    """What a thread issued."""

    __slots__ = ("name", "read_sectors", "reads", "write_sectors", "writes")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.reads = self.writes = self.read_sectors = self.write_sectors = 0


class RequestSums:
    """Adds up the requests of a device of `size_bytes`, whose first sector on its disk is `first`.

    Two in flight that begin at one sector are counted as one: in the trace a request that was put back into the queue (SCSI's
    "busy") and issued again looks the same, and with both kept one would be in flight for ever.
    """

    def __init__(self, size_bytes: int, first: int, began_ns: int) -> None:
        piece = _LEAST_PIECE
        while size_bytes // piece >= _MOST_PIECES:
            piece *= 2
        self._piece, self._first, self._shift = piece, first, (piece // SECTOR).bit_length() - 1
        self._touched = bytearray(size_bytes // piece + 1)
        self._read, self._write = _Side(), _Side()
        self._kinds: dict[bytes, tuple[_Side | None, bool, bool]] = {}
        self._pending: dict[int, _Pending] = {}
        self._at_ns = self._began_ns = began_ns
        self._clear()

    def _clear(self) -> None:
        self._depths: dict[int, int] = {}
        self._threads: dict[int, _Done] = {}
        self._flushes = 0

    def forget(self) -> None:
        """Events were lost: which requests are in flight is not known any more."""
        self._pending.clear()

    def add(self, events: Iterable[RequestEvent]) -> None:
        """Events in the order of their time, none before those of the last call."""
        kinds, pending, depths, touched = self._kinds, self._pending, self._depths, self._touched
        first, shift, pieces, threads, write = self._first, self._shift, len(touched), self._threads, self._write
        at_ns = self._at_ns
        for now_ns, completes, fields in events:
            if completes:
                sector, sectors = fields
                # What completes without a sector was a flush of the cache, or waited for one.
                if not sectors or (begun := pending.pop(sector, None)) is None:
                    continue
                depth = len(pending) + 1
                depths[depth] = depths.get(depth, 0) + now_ns - at_ns
                at_ns = now_ns
                issued_ns, sectors, ordered, durable, own = begun
                own.latencies.append(now_ns - issued_ns)
                own.sizes[sectors] = own.sizes.get(sectors, 0) + 1
                if ordered:
                    own.ordered[sectors] = own.ordered.get(sectors, 0) + 1
                own.durable += durable
                continue
            thread, sector, sectors, rwbs, name = fields
            if (kind := kinds.get(rwbs)) is None:
                # Behind the letters there may be anything.
                if len(kinds) >= _MOST_KINDS:
                    kinds.clear()
                kind = kinds[rwbs] = self._kind(rwbs)
            side, durable, flush = kind
            self._flushes += flush
            if side is None or not sectors:
                continue
            depth = len(pending)
            depths[depth] = depths.get(depth, 0) + now_ns - at_ns
            at_ns = now_ns
            ends, end = side.ends, sector + sectors
            ordered = sector in ends
            if ordered:
                del ends[sector]
            elif len(ends) >= _ENDS:
                del ends[next(iter(ends))]
            ends[end] = None
            pending[sector] = (now_ns, sectors, ordered, durable, side)
            piece, last = sector - first >> shift, end - 1 - first >> shift
            if 0 <= piece <= last < pieces:
                touched[piece] = touched[last] = 1
                for between in range(piece + 1, last):
                    touched[between] = 1
            if (done := threads.get(thread)) is None:
                done = threads[thread] = _Done(name)
            if side is write:
                done.writes += 1
                done.write_sectors += sectors
            else:
                done.reads += 1
                done.read_sectors += sectors
        self._at_ns = at_ns

    def take(self, until_ns: int, lost: int, processes: "Names") -> RequestInterval | None:
        """What there was since the last call, up to a time (CLOCK_MONOTONIC); None if no time has passed."""
        duration = until_ns - self._began_ns
        if duration <= 0:
            return None
        depth = len(self._pending)
        self._depths[depth] = self._depths.get(depth, 0) + max(0, until_ns - self._at_ns)
        self._at_ns = max(self._at_ns, until_ns)
        self._began_ns = until_ns
        (read, read_latency), (write, write_latency) = self._read.taken(), self._write.taken()
        requests = Requests(
            duration,
            read,
            write,
            _counts(self._depths),
            self._flushes,
            self._touched.count(1) * self._piece,
            self._piece,
            lost,
            busiest(
                RequestProcess(
                    *processes.of(thread, done.name),
                    done.reads,
                    done.writes,
                    done.read_sectors * SECTOR,
                    done.write_sectors * SECTOR,
                )
                for thread, done in self._threads.items()
            ),
        )
        self._clear()
        return RequestInterval(requests, read_latency, write_latency)

    def _kind(self, rwbs: bytes) -> tuple[_Side | None, bool, bool]:
        """Whose it is, whether it is durable (FUA), whether it empties the cache.

        The first letter is F of one that empties the cache before it does anything, then comes what it does: R, W, or F where
        that is all. Others are discards and such.
        """
        letters = rwbs.split(b"\0", 1)[0].decode("latin-1")
        before = letters[:1] == "F"
        what, more = letters[before : before + 1], letters[before + 1 :]
        if what in ("F", "") and before:
            return None, False, True
        return {"R": self._read, "W": self._write}.get(what), "F" in more and what == "W", False


def _counts(found: dict[int, int]) -> Counts:
    return tuple(sorted((value, count) for value, count in found.items() if count))


class Names:
    """Which process a thread is of, as (pid, name), asked once of each thread of a name: ids are given again, and exec renames."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._known: dict[tuple[int, bytes], tuple[int, str]] = {}

    def of(self, thread: int, name: bytes) -> tuple[int, str]:
        """`name` is the thread's own, where its process is over already."""
        if (known := self._known.get((thread, name))) is None:
            group = re.search(r"^Tgid:\s*(\d+)$", read_text(self._proc / str(thread) / "status"), re.MULTILINE)
            pid = int(group[1]) if group else thread
            known = (pid, read_text(self._proc / str(pid) / "comm") or os.fsdecode(name.split(b"\0", 1)[0]))
            if len(self._known) >= _MOST_NAMES:
                self._known.clear()
            self._known[thread, name] = known
        return known
