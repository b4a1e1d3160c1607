"""Which processes use a disk beside those of this program: /proc/PID/io, read time and again.

It counts what a process asks of all disks, so only a process with an open file on this one is named. What is written to
the page cache counts when it is written there; what a file loses before it came to the disk is taken off (F95).
"""

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diskprof.devices.machine.disk_files import DiskFiles
from diskprof.devices.scan.files import SYSTEM, Roots
from diskprof.model.process_io import ProcessIo

LEAST_BYTES = 256 << 10
"""What moved less while a test measured is not told of: logs and access times."""

_EVERY_NS = 200_000_000
_COST = 100
"""Looking takes at most one part in so many of a processor: where there are many processes it looks less often."""

_KERNEL_THREAD = 0x00200000
_AMOUNTS = re.compile(rb"^read_bytes: (\d+)\nwrite_bytes: (\d+)\ncancelled_write_bytes: (\d+)$", re.MULTILINE)


class Amounts(NamedTuple):
    """Bytes since a process began, those of its children that it has waited for among them (F95). `cancelled` was in the page
    cache and never written to a disk, for its file was removed or cut before."""

    read: int = 0
    written: int = 0
    cancelled: int = 0

    def less(self, other: "Amounts") -> "Amounts":
        return Amounts(*(one - two for one, two in zip(self, other, strict=True)))

    @property
    def moved(self) -> int:
        return self.read + max(0, self.written - self.cancelled)


@dataclass(slots=True)
class _Process:
    """`io` is None where that may not be read; `moved` is what it did in the last interval, in bytes. `own`: of this program."""

    start_ticks: int
    parent: int
    name: str
    io: Amounts | None
    own: bool = False
    kernel: bool = False
    here: bool = False
    told: bool = False
    moved: int = 0
    read: int = 0
    written: int = 0
    first_ns: int = 0


class ProcessWatch:
    """What other processes did to the disks since it began, one difference a look.

    `disks` are kernel names of whole devices. Sees what this user may see: another user's processes only as root. Processes
    of the kernel and those that begin and end between two looks are not told of.
    """

    def __init__(self, disks: Sequence[str], roots: Roots = SYSTEM, own: int | None = None) -> None:
        self._proc, self._own = str(roots.proc), own or os.getpid()
        self._files = DiskFiles(disks, roots)
        self._known: dict[int, _Process] = {}
        self._at_ns = 0
        self._due_ns = 0

    def begin(self, at_ns: int) -> None:
        """From now on it counts. `at_ns` here and below is a time in ns since the run began."""
        self._files.begin()
        self._known, self._at_ns = {}, at_ns
        self._see(first=True)

    @property
    def due(self) -> bool:
        """Whether it is time to look again: at most five times a second, and less often where that costs much."""
        return time.monotonic_ns() >= self._due_ns

    def look(self, test: int, at_ns: int, *, last: bool = False) -> tuple[ProcessIo, ...]:
        """What each process did since it was told of last. `last`: also what is too little to tell of yet."""
        began = time.thread_time_ns()
        ended = self._see()
        found = []
        for pid, one in (*ended, *self._known.items()):
            moved = one.read + max(0, one.written)
            if not moved or one.kernel or one.own:
                continue
            enough = moved >= LEAST_BYTES
            if enough and not one.here:
                one.here = self._files.used_by(pid)
            if one.here and (enough or (one.told and (last or pid not in self._known))):
                found.append(self._told(pid, one, test, at_ns))
        self._at_ns = at_ns
        self._due_ns = time.monotonic_ns() + max(_EVERY_NS, _COST * (time.thread_time_ns() - began))
        return tuple(found)

    def _told(self, pid: int, one: _Process, test: int, at_ns: int) -> ProcessIo:
        # What was lost in the page cache may be more than was written since: it is taken off what comes.
        written = max(0, one.written)
        told = ProcessIo(test, pid, one.start_ticks, one.name, one.read, written, one.first_ns, at_ns)
        one.read, one.written, one.told = 0, one.written - written, True
        return told

    def _see(self, *, first: bool = False) -> list[tuple[int, _Process]]:
        """Brings every process up to date; gives those that ended since, by their pid."""
        before, self._known = self._known, {}
        grown: dict[int, Amounts] = {}
        for pid in _pids(self._proc):
            known = before.get(pid)
            io = _amounts(_raw(f"{self._proc}/{pid}/io"))
            if known and known.io == io:
                known.moved = 0
                self._known[pid] = known
                continue
            one = self._described(pid, io, before)
            if one is None:
                continue
            self._known[pid] = one
            if known and known.start_ticks == one.start_ticks:
                one.own, one.here, one.told = known.own, known.here, known.told
                one.read, one.written, one.first_ns = known.read, known.written, known.first_ns
                del before[pid]
                if io and known.io:
                    grown[pid] = io.less(known.io)
            elif io and not first:
                grown[pid] = io
        ended = {pid: one for pid, one in before.items() if self._known.get(pid) is not one}
        self._credit(ended, grown)
        return list(ended.items())

    def _described(self, pid: int, io: Amounts | None, before: Mapping[int, _Process]) -> _Process | None:
        """A process that is new or has done something; None of one that has just gone."""
        found = _stat(_raw(f"{self._proc}/{pid}/stat"))
        if found is None:
            return None
        name, parent, flags, start_ticks = found
        return _Process(
            *(start_ticks, parent, name, io),
            own=pid == self._own or self._is_own(parent, before),
            kernel=bool(flags & _KERNEL_THREAD),
            first_ns=self._at_ns,
        )

    def _is_own(self, pid: int, before: Mapping[int, _Process]) -> bool:
        """Whether a process is this program or was started by it, through whomever."""
        seen = set[int]()
        while pid > 1 and pid not in seen:
            if pid == self._own:
                return True
            seen.add(pid)
            if known := self._known.get(pid) or before.get(pid):
                return known.own
            found = _stat(_raw(f"{self._proc}/{pid}/stat"))
            pid = found[1] if found else 0
        return False

    def _credit(self, ended: Mapping[int, _Process], grown: dict[int, Amounts]) -> None:
        """Gives to each process what it did. What a child did in all its life comes to its parent when that waits for it."""
        children: dict[int, list[int]] = {}
        for pid, one in ended.items():
            parent = one.parent
            while parent in ended and parent != ended[parent].parent:
                parent = ended[parent].parent
            children.setdefault(parent, []).append(pid)
            one.moved = one.moved if one.io else 0
        for pid, amounts in grown.items():
            one = self._known[pid]
            reaped: list[_Process] = []
            for child in sorted(children.get(pid, ()), key=lambda each: -(ended[each].io or Amounts()).moved):
                rest = amounts.less(ended[child].io or Amounts())
                if min(rest) >= 0:
                    amounts, reaped = rest, [*reaped, ended[child]]
            # The last that a child did is not known apart: it is his whose work it was before.
            busiest = max((one, *reaped), key=lambda each: each.moved)
            if busiest is not one:
                one.moved = 0
            busiest.moved = amounts.moved
            if not busiest.read and busiest.written <= 0:
                busiest.first_ns = self._at_ns
            busiest.read += amounts.read
            busiest.written += amounts.written - amounts.cancelled


def hidden_processes(roots: Roots = SYSTEM) -> int:
    """How many processes there are whose I/O this user may not see."""
    proc = str(roots.proc)
    # One that has just ended cannot be read, either.
    return sum(not _amounts(_raw(f"{proc}/{pid}/io")) and (roots.proc / str(pid)).exists() for pid in _pids(proc))


def _pids(proc: str) -> Iterable[int]:
    try:
        return [int(name) for name in os.listdir(proc) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []


def _raw(path: str) -> bytes:
    """A small file of /proc; nothing of a process that has gone, or that this user may not see."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _amounts(io: bytes) -> Amounts | None:
    found = _AMOUNTS.search(io)
    return Amounts(*map(int, found.groups())) if found else None


def _stat(stat: bytes) -> tuple[str, int, int, int] | None:
    """(name, parent's pid, flags, start in ticks); the name may hold anything, brackets too."""
    head, mark, rest = stat.rpartition(b")")
    fields = rest.split()
    if not mark or len(fields) < 20:
        return None
    name = os.fsdecode(head.partition(b"(")[2])
    return name, int(fields[1]), int(fields[6]), int(fields[19])
