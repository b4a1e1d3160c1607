"""What is mounted where, and what is swap."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.files import SYSTEM, Roots, read_bytes
from diskprof.model.device import NETWORK_FILE_SYSTEMS, Mount

# Their mounts carry an anonymous device number; the source names the disk.
POOLING = {"btrfs", "bcachefs"}
NETWORK = NETWORK_FILE_SYSTEMS
_ESCAPE = re.compile(rb"\\([0-7]{3})")


class MountEntry(Struct, frozen=True):
    """A line of /proc/self/mountinfo. `root` is the directory of the file system that is mounted (bind mounts, subvolumes)."""

    id: int
    major: int
    minor: int
    root: str
    path: str
    fs_type: str
    source: str
    options: tuple[str, ...]


class Space(Struct, frozen=True):
    """A file system's size and what is free for everybody, in bytes."""

    size_bytes: int
    free_bytes: int


def _unescape(field: bytes) -> str:
    return os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field))


def _options(mount: str, super_block: str) -> tuple[str, ...]:
    """Both sets in one, without repeats; read-only in either is read-only."""
    every = [*mount.split(","), *super_block.split(",")]
    if "ro" in every:
        every = ["ro", *every]
        every = [option for option in every if option != "rw"]
    return tuple(dict.fromkeys(option for option in every if option))


def _entry(line: bytes) -> MountEntry | None:
    fields = line.split(b" ")
    try:
        dash = fields.index(b"-", 6)
        major, minor = fields[2].split(b":")
        fs_type, source, super_block = map(_unescape, fields[dash + 1 : dash + 4])
        return MountEntry(
            id=int(fields[0]),
            major=int(major),
            minor=int(minor),
            root=_unescape(fields[3]),
            path=_unescape(fields[4]),
            fs_type=fs_type,
            source=source,
            options=_options(_unescape(fields[5]), super_block),
        )
    except (ValueError, IndexError):
        return None


def read_mountinfo(roots: Roots = SYSTEM) -> tuple[MountEntry, ...]:
    """Every mount of this process's namespace, in the order they were made."""
    return parse_mountinfo(read_bytes(roots.proc / "self" / "mountinfo"))


def parse_mountinfo(content: bytes) -> tuple[MountEntry, ...]:
    """What a mountinfo file says, of this process or of another."""
    return tuple(entry for entry in map(_entry, content.split(b"\n")) if entry)


def read_swaps(roots: Roots = SYSTEM) -> tuple[str, ...]:
    """The devices and files that are swapped to."""
    lines = read_bytes(roots.proc / "swaps").split(b"\n")[1:]
    return tuple(_unescape(line.split()[0]) for line in lines if line.split())


def space(path: str) -> Space | None:
    """What statvfs says, None where it says nothing. Not for network file systems: a dead server would hang it."""
    try:
        figures = os.statvfs(path)
    except (OSError, ValueError):
        return None
    if not figures.f_blocks:
        return None
    return Space(figures.f_blocks * figures.f_frsize, figures.f_bavail * figures.f_frsize)


def as_mount(entry: MountEntry, figures: Space | None) -> Mount:
    return Mount(
        path=entry.path,
        fs_type=entry.fs_type,
        options=entry.options,
        size_bytes=figures.size_bytes if figures else None,
        free_bytes=figures.free_bytes if figures else None,
    )


def mount_of(path: str, entries: Iterable[MountEntry] | None = None, roots: Roots = SYSTEM) -> MountEntry | None:
    """The mount that a path lies on; where mounts cover each other, the one that is really reached."""
    listed = tuple(read_mountinfo(roots) if entries is None else entries)
    number = _mount_id(path)
    found = next((entry for entry in listed if entry.id == number), None)
    return found or mount_by_name(path, listed)


def mount_by_name(path: str, entries: Iterable[MountEntry]) -> MountEntry | None:
    """As `mount_of`, by the path's words alone: does not touch it, so no dead server can hang it."""
    above = {path, *map(str, Path(path).parents)}
    covering = [entry for entry in entries if entry.path in above]
    return max(reversed(covering), key=lambda entry: len(entry.path), default=None)


def may_hang(entry: MountEntry) -> bool:
    """Whether a server or a program answers for this file system, or may not."""
    return entry.fs_type in NETWORK or entry.fs_type == "autofs" or entry.fs_type.startswith("fuse.")


def _mount_id(path: str) -> int | None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        match = re.search(rb"^mnt_id:\s*(\d+)$", read_bytes(Path(f"/proc/self/fdinfo/{descriptor}")), re.MULTILINE)
        return int(match[1]) if match else None
    finally:
        os.close(descriptor)
