"""Whether a process has a file of a disk open, without touching that file: a dead server would hang who looks at it."""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from diskprof.devices.scan.files import SYSTEM, Roots, list_names, read_bytes, read_text
from diskprof.devices.scan.mounts import POOLING, MountEntry, mount_by_name, parse_mountinfo, read_mountinfo

_MOUNT = re.compile(rb"^mnt_id:\s*(\d+)$", re.MULTILINE)
_NODES = {"devtmpfs", "tmpfs"}
"""File systems that device nodes are in; they are in memory."""
_MOST = 512
"""So many descriptors of a process are looked at in one go."""
_UPPER = "upperdir="


class DiskFiles:
    """The files of `disks`, kernel names of whole devices: of everything that lies on them, loop devices too."""

    def __init__(self, disks: Sequence[str], roots: Roots = SYSTEM) -> None:
        self._disks, self._roots = tuple(disks), roots
        self._numbers: frozenset[int] = frozenset()
        self._next: dict[int, int] = {}

    def begin(self) -> None:
        """Looks at what lies on the disks now."""
        self._numbers, self._next = numbers_above(self._disks, self._roots), {}

    def used_by(self, pid: int) -> bool:
        """Whether one of them is open there. Of a process with more than some hundred files a part is looked at each time."""
        directory = self._roots.proc / str(pid)
        try:
            names = os.listdir(directory / "fd")  # noqa: PTH208
        except OSError:
            return False
        start = self._next.get(pid, 0) % max(1, len(names))
        self._next[pid] = start + _MOST
        mounts = {entry.id: entry for entry in parse_mountinfo(read_bytes(directory / "mountinfo"))}
        return any(self._is_here(directory, name, mounts) for name in (names[start:] + names[:start])[:_MOST])

    def _is_here(self, directory: Path, descriptor: str, mounts: dict[int, MountEntry]) -> bool:
        found = _MOUNT.search(read_bytes(directory / "fdinfo" / descriptor))
        entry = mounts.get(int(found[1])) if found else None
        if entry is None:
            return False
        if os.makedev(entry.major, entry.minor) in self._numbers:
            return True
        if entry.fs_type in _NODES:
            return _number_of(directory / "fd" / descriptor) in self._numbers
        if entry.fs_type in POOLING:
            return _number_of(Path(entry.source)) in self._numbers
        # A container's own files: its upper layer is a directory of the machine.
        upper = next((each.removeprefix(_UPPER) for each in entry.options if each.startswith(_UPPER)), "")
        below = mount_by_name(upper, read_mountinfo(self._roots)) if upper else None
        return below is not None and os.makedev(below.major, below.minor) in self._numbers


def _number_of(path: Path) -> int | None:
    """The number of a device node; None of anything else."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else None


def numbers_above(disks: Sequence[str], roots: Roots = SYSTEM) -> frozenset[int]:
    """The numbers of these devices and of all that lies on them: partitions, volumes, arrays, loop devices."""
    mounts = read_mountinfo(roots)
    backing = {
        name: mount_by_name(file, mounts)
        for name in list_names(roots.blocks)
        if (file := read_text(roots.blocks / name / "loop" / "backing_file"))
    }
    found: dict[str, int] = {}
    waiting = list(disks)
    while waiting:
        name = waiting.pop()
        major, mark, minor = read_text(roots.blocks / name / "dev").partition(":")
        if name in found or not mark:
            continue
        number = found[name] = os.makedev(int(major), int(minor))
        block = roots.blocks / name
        # A partition bears the name of its disk: what else is there, 40 names a device, need not be asked.
        waiting += [
            each for each in list_names(block) if each.startswith(name) and (block / each / "partition").exists()
        ]
        waiting += list_names(block / "holders")
        waiting += [each for each, entry in backing.items() if entry and os.makedev(entry.major, entry.minor) == number]
    return frozenset(found.values())
