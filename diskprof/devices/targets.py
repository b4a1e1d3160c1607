"""From what the person typed to what is tested, and what to suggest where nothing was typed."""

import errno
import grp
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from diskprof.devices.scan.files import may
from diskprof.devices.scan.mounts import mount_by_name, mount_of, read_mountinfo, space
from diskprof.devices.scan.tree import device_of
from diskprof.model.advice import Advice, joined
from diskprof.model.device import Device, DeviceKind, DeviceTree, Mount, Transport
from diskprof.model.errors import UsageError
from diskprof.model.target import Target, TargetKind
from diskprof.model.text import clean
from diskprof.own_program import own_program

_KERNELS_OWN = {
    "proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "pstore", "bpf", "configfs",
    "efivarfs", "mqueue", "hugetlbfs", "fusectl", "binfmt_misc", "autofs", "nsfs", "rpc_pipefs",
}  # fmt: skip
BY_SERIAL = "by-serial:"
"""Before the serial number of a disk: its kernel name differs from machine to machine."""
_BOOT = ("/boot", "/efi")
_LIST = Advice("`diskprof devices` lists the disks, with --all empty devices too.", "Choose one from the list.")


def resolve_target(text: str, tree: DeviceTree) -> Target:
    """The target that `text` names: a directory, an existing file, or a device by kernel name, node, symlink or by-id name, or
    by-serial:SERIAL.

    Raises UsageError with what to do instead for everything else.
    """
    if not text:
        raise UsageError("The target is empty.", "Name a directory, a file or a device, such as /var/tmp or /dev/sda.")
    device = _device_meant(text, tree)
    if device:
        return _device_target(device, text)
    status = _status(text)
    if stat.S_ISDIR(status.st_mode):
        return _directory_target(text, tree)
    if stat.S_ISREG(status.st_mode):
        return _file_target(text, status, tree)
    kind = "a named pipe" if stat.S_ISFIFO(status.st_mode) else "a socket" if stat.S_ISSOCK(status.st_mode) else None
    raise UsageError(
        f"{clean(text)} is {kind or 'a character device'}, not a disk, a directory or a regular file.",
        joined(("Name a directory, a regular file or a block device.", _LIST)),
    )


def device_under(text: str, tree: DeviceTree) -> Device:
    """The device that `text` names as for `resolve_target`, or that the directory or file of this name lies on.

    It is for who only looks at what the kernel counts: nothing is opened, and the device need not be readable. Raises UsageError.
    """
    if not text:
        raise UsageError("The target is empty.", "Name a device, or a directory on it, such as /dev/sda or /var/tmp.")
    device = _device_meant(text, tree)
    if device is None:
        path = str(Path(text).resolve()) if _status(text) else text
        mount = mount_of(path)
        device = device_of(mount, tree) if mount else None
        if device is None:
            where = f" ({mount.fs_type})" if mount else ""
            raise UsageError(f"{clean(text)} is not on a block device{where}.", _LIST)
    if not device.size_bytes:
        raise UsageError(f"{device.node} is empty: no medium, or nothing behind it.", _LIST)
    return device


def _device_meant(text: str, tree: DeviceTree) -> Device | None:
    """The device that `text` names in any way, None where it is the path of something else. Raises UsageError."""
    if text.startswith(BY_SERIAL):
        return _by_serial(text.removeprefix(BY_SERIAL), tree)
    device = _named_device(text, tree)
    if device and not text.startswith("/") and may(text, os.F_OK):
        raise UsageError(
            f"{clean(text)} is both a device name and a file in this directory.",
            f"Write {device.node} for the device or ./{clean(text)} for the other.",
        )
    if device:
        return device
    status = _status(text)
    if not stat.S_ISBLK(status.st_mode):
        return None
    device = tree.by_number(os.major(status.st_rdev), os.minor(status.st_rdev))
    if not device:
        raise UsageError(f"{clean(text)} is a block device unknown to this kernel.", _LIST)
    return device


def _named_device(text: str, tree: DeviceTree) -> Device | None:
    def answers(device: Device) -> bool:
        return text in (device.name, device.node, device.dm_name) or text in device.by_id

    return next(filter(answers, tree.devices), None)


def _by_serial(serial: str, tree: DeviceTree) -> Device:
    found = [device for device in tree.devices if serial and device.serial == serial and not device.parents]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(device.node for device in found)
        raise UsageError(
            f"{len(found)} devices have the serial number {clean(serial)!r}: {names}.", "Name one of them."
        )
    raise UsageError(f"No disk has the serial number {clean(serial)!r}.", _LIST)


def _status(text: str) -> os.stat_result:
    shown = clean(text)
    try:
        return Path(text).stat()
    except ValueError:
        raise UsageError("A path cannot contain NUL.") from None
    except PermissionError:
        raise UsageError(
            f"{shown} cannot be reached: no permission to search {clean(str(_first_closed(Path(text))))}.",
            f"Run as root: {sudo_command()}",
        ) from None
    except OSError as error:
        path = Path(text)
        if error.errno == errno.ELOOP:
            raise UsageError(f"{shown} is a symbolic link that leads back to itself.") from None
        if error.errno == errno.ENOENT and path.is_symlink():
            goal = clean(str(path.readlink()))
            raise UsageError(f"{shown} is a symbolic link to {goal}, which does not exist.", _LIST) from None
        if error.errno == errno.ENOTDIR:
            raise UsageError(f"{shown} does not exist: a part of it is not a directory.") from None
        if error.errno != errno.ENOENT:
            raise UsageError(f"{shown} cannot be reached: {error.strerror}.") from None
        raise UsageError(f"{shown} does not exist.", _hint_for_missing(path)) from None


def _hint_for_missing(path: Path) -> str | Advice:
    if "/" not in str(path) or str(path).startswith("/dev/"):
        return joined(("Name a directory, an existing file or a device.", _LIST))
    return f"Name a directory or file that exists. To make a directory: mkdir -p {shlex.quote(clean(str(path)))}"


def _first_closed(path: Path) -> Path:
    absolute = Path.cwd() / path
    return next((parent for parent in reversed(absolute.parents) if not may(parent, os.X_OK)), absolute.parent)


def sudo_command(words: Sequence[str] | None = None) -> str:
    """This very command, or diskprof with `words`, to be run as root: its full path, because sudo searches other directories."""
    program = sys.argv[0]
    found = shutil.which(program) or program
    path = Path(found).resolve()
    start = own_program() if path.name == "__main__.py" else (str(path),)
    return "sudo " + shlex.join([*start, *map(clean, sys.argv[1:] if words is None else words)])


def _device_target(device: Device, given: str) -> Target:
    node = Path(device.node)
    if not may(node, os.F_OK):
        raise UsageError(
            f"The kernel has the device {device.name}, but there is no {device.node} here.",
            "In a container, start it with the device: --device " + device.node,
        )
    if not device.size_bytes:
        raise UsageError(f"{device.node} is empty: no medium, or nothing behind it.", _LIST)
    if not may(node, os.R_OK):
        raise UsageError(f"No permission to read {device.node}.", how_to_open(node, os.O_RDONLY))
    return Target(
        TargetKind.DEVICE, device.node, given, device=device.name, size_bytes=device.size_bytes, dm_name=device.dm_name
    )


def how_to_open(node: str | Path, mode: int) -> str:
    """What somebody can do who may not open a device node for reading (os.O_RDONLY) or writing (os.O_RDWR)."""
    hint = f"Run only this command as root: {sudo_command()}"
    if not may(node, os.F_OK):
        return hint
    needed = stat.S_IRGRP if mode == os.O_RDONLY else stat.S_IRGRP | stat.S_IWGRP
    if os.geteuid() == 0:
        # Root's way is barred by something else: a container's list of devices, most often.
        return f"The container has no access to {node}. Restart it with --device {node}."
    join = how_to_join(node, needed)
    return f"{hint}\nOr {join}, then log in again." if join else hint


def how_to_join(node: str | Path, needed: int = stat.S_IRGRP) -> str:
    """How to join the group of a device node, and what else its members may do; empty where the group lacks what is `needed`."""
    try:
        status = Path(node).stat()
    except OSError:
        return ""
    group = _group_name(status.st_gid)
    if status.st_mode & needed != needed or group in ("", "root"):
        return ""
    every = "every disk" if group == "disk" else "every device of that group"
    what = f"read and write {every}, by any program" if status.st_mode & stat.S_IWGRP else f"read {every}"
    return f"join the group {group}, whose members may {what}: sudo usermod -aG {group} $USER"


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""


def _directory_target(text: str, tree: DeviceTree) -> Target:
    target = _on_file_system(TargetKind.DIRECTORY, text, None, tree)
    if target.fs_type in _KERNELS_OWN:
        raise UsageError(
            f"{clean(target.path)} is a kernel file system ({target.fs_type}), not on a disk.",
            joined(("Name a directory on a disk, or a device such as /dev/sda.", _LIST)),
        )
    if not may(target.path, os.X_OK):
        raise UsageError(f"No permission to enter {clean(target.path)}.", f"Run as root: {sudo_command()}")
    return target


def _file_target(text: str, status: os.stat_result, tree: DeviceTree) -> Target:
    target = _on_file_system(TargetKind.FILE, text, status.st_size, tree)
    if target.fs_type in _KERNELS_OWN:
        raise UsageError(f"{clean(target.path)} is on a kernel file system ({target.fs_type}), not on a disk.", _LIST)
    if not status.st_size:
        raise UsageError(f"{clean(text)} is empty: there is nothing to read.", "Name a file with data, or a directory.")
    if not may(target.path, os.R_OK):
        mode = stat.filemode(status.st_mode)
        raise UsageError(
            f"No permission to read {clean(target.path)} ({mode}, owned by user {status.st_uid}).",
            f"Run as root: {sudo_command()}",
        )
    return target


def _on_file_system(kind: TargetKind, text: str, size: int | None, tree: DeviceTree) -> Target:
    path = str(Path(text).resolve())
    mount = mount_of(path)
    device = device_of(mount, tree) if mount else None
    figures = space(path)
    return Target(
        kind,
        path,
        text,
        device=device.name if device else "",
        mount_point=mount.path if mount else "",
        fs_type=mount.fs_type if mount else "",
        size_bytes=size,
        free_bytes=figures.free_bytes if figures else None,
        fs_size_bytes=figures.size_bytes if figures else None,
        dm_name=device.dm_name if device else "",
    )


def suggest_directory(device: Device) -> str | None:
    """The first sensible directory on the device's mounts that this person may write to: the current one, their home,
    /var/tmp, else the mount point itself. None if there is none."""
    for mount in device.mounts:
        if mount.read_only:
            continue
        for candidate in _candidates(mount):
            # Asked first: pathlib raises for a mount below a directory that this person may not search.
            if may(candidate, os.W_OK | os.X_OK) and candidate.is_dir():
                return str(candidate)
    return None


def _candidates(mount: Mount) -> Iterator[Path]:
    try:
        here = Path.cwd()
    except OSError:  # it has been removed
        here = Path("/")
    entries = read_mountinfo()
    for path in (here, Path(os.environ.get("HOME") or "/"), Path("/var/tmp")):
        by_name = mount_by_name(str(path), entries)
        # Only now is the path touched: a home on a dead server must not hang the list of disks.
        if str(path) != "/" and by_name and by_name.path == mount.path and mount_of(str(path), entries) == by_name:
            yield path
    yield Path(mount.path)


def default_device(tree: DeviceTree) -> Device | None:
    """The device to start with: one that carries a writable directory, rather a real disk than a loop, rather built in
    than pluggable, never the boot partition alone; among those the one with most free space."""

    def rank(device: Device) -> tuple[bool, bool, int]:
        below = tree.disks_below(device.name)
        real = all(disk.kind is DeviceKind.DISK for disk in below)
        pluggable = any(disk.removable or disk.transport is Transport.USB for disk in below)
        return real, not pluggable, max(mount.free_bytes or 0 for mount in device.mounts)

    usable = [device for device in tree.devices if not _only_boots(device) and suggest_directory(device)]
    return max(usable, key=rank, default=None)


def each_disk(tree: DeviceTree) -> tuple[str, ...]:
    """The target of each disk that is built in: the directory with most room on it, where a test file can be made, else its node.

    A file system over several disks is on none of them alone.
    """
    disks = [
        device
        for device in tree.devices
        if device.kind is DeviceKind.DISK and device.size_bytes and not device.removable and not device.parents
    ]
    return tuple(_directory_on(disk, tree) or disk.node for disk in disks)


def _directory_on(disk: Device, tree: DeviceTree) -> str | None:
    own = [device for device in tree.devices if device.mounts and tree.disks_below(device.name) == (disk,)]
    roomy = sorted(own, key=lambda device: -max(mount.free_bytes or 0 for mount in device.mounts))
    found = (suggest_directory(device) for device in roomy if not _only_boots(device))
    return next(filter(None, found), None)


def _only_boots(device: Device) -> bool:
    return all(mount.path.startswith(_BOOT) for mount in device.mounts)
