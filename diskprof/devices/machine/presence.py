"""Whether the disks of a run are still there: where one went away, reads may come back empty, and without an error (F87)."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from diskprof.devices.scan.files import SYSTEM, KeptOpen, Roots


class _Disk(Struct, frozen=True):
    """Files that are kept open: those of a disk that was removed cannot be read any more, also where another has its name."""

    size: KeptOpen
    diskseq: KeptOpen
    sequence: bytes


class Presence:
    """Devices by kernel name, each with what tells it from another of its name, as of the moment of construction.

    One without a size at that moment, or out of sight, is not watched.
    """

    def __init__(self, names: Iterable[str], roots: Roots = SYSTEM) -> None:
        self._disks: Mapping[str, _Disk] = {name: disk for name in names if not _absence(disk := _opened(name, roots))}

    def lost(self) -> dict[str, str]:
        """What became of those that are gone, as a sentence, by name."""
        return {name: f"{name} {words}" for name, disk in self._disks.items() if (words := _fate(disk))}


def _opened(name: str, roots: Roots) -> _Disk:
    directory = roots.blocks / name
    diskseq = KeptOpen(directory / "diskseq")
    return _Disk(KeptOpen(directory / "size"), diskseq, diskseq.read())


def _absence(disk: _Disk) -> str:
    size = disk.size.read().strip()
    if not size:
        return "was removed during the run."
    return "was removed during the run: its size is 0 now." if size == b"0" else ""


def _fate(disk: _Disk) -> str:
    if words := _absence(disk):
        return words
    return "" if disk.diskseq.read() == disk.sequence else "was replaced by another disk during the run."
