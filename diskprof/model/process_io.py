"""What processes beside a test did to its disk."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace


class ProcessIo(Struct, frozen=True):
    """What a process read and wrote while test `test` measured, in bytes, with a file of the disk open.

    What it writes to the page cache counts when it does so, whatever the disk does of it later (F95). `start_ticks` is when it
    began, in clock ticks since the machine was booted: a pid is given anew, the two together are not. `first_ns` and `last_ns`
    are between which times it moved something, in ns since the run began.
    """

    test: int
    pid: int
    start_ticks: int
    name: str
    read_bytes: int
    write_bytes: int
    first_ns: int
    last_ns: int

    @property
    def bytes(self) -> int:
        return self.read_bytes + self.write_bytes


def together(parts: Iterable[ProcessIo]) -> tuple[ProcessIo, ...]:
    """Each process of each test once, that which moved most first."""
    found: dict[tuple[int, int, int], ProcessIo] = {}
    for part in parts:
        key = (part.test, part.pid, part.start_ticks)
        one = found.get(key)
        found[key] = part if one is None else _plus(one, part)
    return tuple(sorted(found.values(), key=lambda each: (each.test, -each.bytes, each.pid)))


def _plus(one: ProcessIo, other: ProcessIo) -> ProcessIo:
    return replace(
        one,
        read_bytes=one.read_bytes + other.read_bytes,
        write_bytes=one.write_bytes + other.write_bytes,
        first_ns=min(one.first_ns, other.first_ns),
        last_ns=max(one.last_ns, other.last_ns),
    )
