"""Who uses a device beside what the device tree shows: other mount namespaces, programs, loops, and who holds it exclusively."""

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.files import SYSTEM, Roots, list_names, read_bytes, read_text
from diskprof.devices.scan.mounts import (
    MountEntry,
    may_hang,
    mount_by_name,
    parse_mountinfo,
    read_mountinfo,
    read_swaps,
)
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.text import clean

_LOOP_GET_STATUS64 = 0x4C05
_LOOP_INFO = struct.Struct("=QQQQQ")
_LOOP_INFO_SIZE = 232
_MAY_HANG_OPEN = (DeviceKind.ROM,)


class Elsewhere(Struct, frozen=True):
    """A mount in another mount namespace, and a process that lives in it."""

    entry: MountEntry
    pid: int
    program: str


class Writer(Struct, frozen=True):
    """A process that has a device, or the file behind a loop device, open for writing."""

    device: str
    pid: int
    program: str
    behind: bool = False


class Backing(Struct, frozen=True):
    """What lies below a loop device: the file or block device, and the bytes of it (`length` 0: to its end)."""

    device: int
    inode: int
    block_device: int
    offset: int = 0
    length: int = 0


def backing_of(loop: Device) -> Backing | None:
    """What a loop device lies on, None for an unused one. The kernel is asked: it knows, whatever became of the file's name."""
    if not loop.backing_file:
        return None
    try:
        descriptor = os.open(loop.node, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _backing_by_name(loop.backing_file)
    try:
        info = bytearray(_LOOP_INFO_SIZE)
        fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, info)
        return Backing(*_LOOP_INFO.unpack_from(info))
    except OSError:
        return _backing_by_name(loop.backing_file)
    finally:
        os.close(descriptor)


def _backing_by_name(path: str) -> Backing | None:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return Backing(status.st_dev, status.st_ino, status.st_rdev)


def mounts_elsewhere(roots: Roots = SYSTEM) -> Iterator[Elsewhere]:
    """What is mounted where this process does not see it: in other mount namespaces, and outside a changed root."""
    told = {entry.id for entry in read_mountinfo(roots)}
    seen = {_view(roots, "self")}
    for pid in _processes(roots):
        view = _view(roots, pid)
        if not view or view in seen:
            continue
        seen.add(view)
        program = clean(read_text(roots.proc / pid / "comm"))
        for entry in parse_mountinfo(read_bytes(roots.proc / pid / "mountinfo")):
            if entry.id not in told:
                told.add(entry.id)
                yield Elsewhere(entry, int(pid), program)


def pool_members(roots: Roots = SYSTEM) -> frozenset[str]:
    """The devices of all mounted btrfs file systems, wherever they are mounted: mountinfo names one of them at most."""
    pools = roots.sys / "fs" / "btrfs"
    return frozenset(name for pool in list_names(pools) for name in list_names(pools / pool / "devices"))


def writers(devices: Collection[Device], roots: Roots = SYSTEM) -> Iterator[Writer]:
    """Which processes have one of the devices open for writing, this one aside: a mount or a volume is not the only user.

    A program such as a virtual machine's need not hold its disk exclusively. Sees no more than /proc shows.
    """
    numbers = {os.makedev(device.major, device.minor): device.name for device in devices}
    files = {(found.device, found.inode): device.name for device in devices if (found := backing_of(device))}
    doubtful = [entry for entry in read_mountinfo(roots) if may_hang(entry) and entry.path != "/"]
    own = str(os.getpid())
    for pid in _processes(roots):
        if pid == own:
            continue
        directory = roots.proc / pid / "fd"
        for number in list_names(directory):
            link = directory / number
            try:
                goal = str(link.readlink())
                # Looking at a file of a dead server would hang, and it is no device.
                if not goal.startswith("/") or mount_by_name(goal, doubtful):
                    continue
                status = link.stat()
            except OSError:
                continue
            behind = not stat.S_ISBLK(status.st_mode)
            device = files.get((status.st_dev, status.st_ino)) if behind else numbers.get(status.st_rdev)
            if device and _writes(read_bytes(roots.proc / pid / "fdinfo" / number)):
                yield Writer(device, int(pid), clean(read_text(roots.proc / pid / "comm")), behind)
                break


def _writes(fdinfo: bytes) -> bool:
    for line in fdinfo.splitlines():
        if line.startswith(b"flags:"):
            return int(line.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    return False


def swapped_files(roots: Roots = SYSTEM) -> frozenset[tuple[int, int]]:
    """The files that are swapped to, as (device, inode)."""
    found = set()
    for path in read_swaps(roots):
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            found.add((status.st_dev, status.st_ino))
    return frozenset(found)


def source_number(entry: MountEntry) -> int | None:
    """The number of the device that a mount names as its source, where its own number is another: btrfs, and file systems that
    a program serves."""
    if not entry.source.startswith("/dev/"):
        return None
    try:
        status = Path(entry.source).stat()
    except (OSError, ValueError):
        return None
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else None


def held_exclusively(device: Device) -> bool:
    """Whether the kernel refuses to give this device to one owner alone: a mount, swap, a volume or a program has it (F25)."""
    if device.kind in _MAY_HANG_OPEN:
        return False
    try:
        descriptor = os.open(device.node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return error.errno == errno.EBUSY
    os.close(descriptor)
    return False


def loops_on(device: Device, tree: DeviceTree) -> Iterator[Device]:
    """Loop devices that are set up on a device itself. The kernel links neither to the other, and claims nothing for them."""
    number = os.makedev(device.major, device.minor)
    for loop in tree.devices:
        if loop.kind is DeviceKind.LOOP and loop.name != device.name:
            backing = backing_of(loop)
            if backing and backing.block_device == number:
                yield loop


def _processes(roots: Roots) -> tuple[str, ...]:
    return tuple(name for name in list_names(roots.proc) if name.isdigit())


def _view(roots: Roots, pid: str) -> tuple[Path, Path] | None:
    """The mount namespace of a process and its root, which together decide what it sees; None if that may not be known."""
    try:
        return (roots.proc / pid / "ns" / "mnt").readlink(), (roots.proc / pid / "root").readlink()
    except OSError:
        return None
