"""What a run could destroy or disturb, and what would spoil its result, in words."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from diskprof.devices.guard.exports import export_hazards
from diskprof.devices.guard.extents import unwritten_bytes
from diskprof.devices.guard.write_hazards import write_hazards
from diskprof.devices.scan.files import SYSTEM, Roots, may
from diskprof.devices.scan.members import parts_hazards
from diskprof.devices.scan.mounts import NETWORK, mount_of
from diskprof.devices.targets import how_to_open, sudo_command
from diskprof.model.advice import Advice
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.plan import Hazard, Severity, WritePermission
from diskprof.model.target import Target, TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_size

_MEMORY = {"tmpfs", "ramfs"}
_COPY_ON_WRITE = {"btrfs", "zfs", "bcachefs"}
_FOUR_GIB = 4 << 30
_MOST_FILES = 256
_ELSEWHERE = "Choose a directory on the disk, or a test that only reads. To overwrite the disk"
_RESERVE_RULE = "a tenth of the file system, at least 64 MiB, at most 1 GiB; from 20 GiB on 5%"
NO_PERMISSION = WritePermission()


def reserve(fs_size_bytes: int | None) -> int:
    """What stays free on a file system, in bytes: `_RESERVE_RULE`, which has no step in it. None: its size is not known."""
    if fs_size_bytes is None:
        return 1 << 30
    return max(64 << 20, min(1 << 30, fs_size_bytes // 10), fs_size_bytes // 20)


def target_hazards(
    target: Target,
    tree: DeviceTree,
    *,
    writes_file: bool,
    writes_device: bool,
    space_needed: int,
    size: int = 0,
    permission: WritePermission = NO_PERMISSION,
    places: Mapping[str, str] = MappingProxyType({}),
    roots: Roots = SYSTEM,
) -> tuple[Hazard, ...]:
    """Every reason to think twice about a run on `target`, what blocks it first.

    `writes_file`: a test file is made in the directory; `space_needed`: what it takes, in bytes; `size`: the parameter of that
    name, 0 if there is none. `permission` and `places` are for writes to a raw device (devices/guard.py).
    """
    device = tree.get(target.device)
    found: list[Hazard] = []
    if target.kind is TargetKind.DEVICE:
        found += _of_raw_device(device, target, tree, writes=writes_device, permission=permission, places=places)
    elif target.kind is TargetKind.FILE:
        found += _of_file(target, writes=writes_file or writes_device)
    else:
        found += _of_directory(target, tree, writes=writes_file, space_needed=space_needed, size=size)
    if target.kind is not TargetKind.DEVICE:
        found += [*_of_file_system(target), *_of_pool(target, tree)]
    if device:
        found += _of_stack(device, tree)
        found += parts_hazards((layer.name for layer in _with_below(device, tree)), roots)
        if not writes_device:
            found += export_hazards(device, tree, roots)
    order = list(Severity)
    return tuple(sorted(found, key=lambda hazard: order.index(hazard.severity)))


def _of_raw_device(
    device: Device | None,
    target: Target,
    tree: DeviceTree,
    *,
    writes: bool,
    permission: WritePermission,
    places: Mapping[str, str],
) -> Iterator[Hazard]:
    yield from _unopenable(target, os.O_RDWR if writes else os.O_RDONLY)
    if writes and permission.allowed and device:
        yield from write_hazards(device, tree, permission, places)
        return
    uses = tuple(uses_of(device, tree)) if device else ()
    if writes:
        lost = f" Would be lost: {'; '.join(uses)}." if uses else ""
        yield Hazard(
            "raw-write",
            Severity.BLOCKS,
            f"The test would overwrite the data on {target.path}.{lost}",
            Advice(
                f"{_ELSEWHERE}: --allow-write; you will have to type its name.",
                f"{_ELSEWHERE}, allow raw writes; you will have to type its name.",
            ),
        )
        if device and device.read_only:
            yield Hazard("read-only", Severity.BLOCKS, f"{target.path} is read-only.", "Choose another device.")
    elif uses:
        yield Hazard(
            "in-use",
            Severity.NOTES,
            f"{target.path} is in use: {'; '.join(uses)}.",
            "The test only reads. Other users slow the test and are slowed by it.",
        )


def _unopenable(target: Target, mode: int) -> Iterator[Hazard]:
    """Permission is asked of the node: opening for writing to find out would be heard by udev."""
    if not may(target.path, os.F_OK):
        return
    verb = "read" if mode == os.O_RDONLY else "write to"
    denied = not may(target.path, os.R_OK if mode == os.O_RDONLY else os.R_OK | os.W_OK)
    if not denied:
        try:
            os.close(os.open(target.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
        except PermissionError:
            denied = True
        except OSError:
            # It is gone, or has no medium: the run says so.
            return
    if denied:
        yield Hazard(
            "no-permission",
            Severity.BLOCKS,
            f"No permission to {verb} {target.path}.",
            how_to_open(target.path, mode),
        )


def uses_of(device: Device, tree: DeviceTree) -> Iterator[str]:
    """What the device and everything on it is used for, in words: mounts, swap, arrays and volumes, contents."""
    for mount in device.mounts:
        yield f"{device.title} is mounted on {clean(mount.path)}"
    if device.swap:
        yield f"{device.title} is swap"
    label = f" {device.fs_label!r}" if device.fs_label else ""
    if device.fs_type and not device.mounts and not device.swap:
        yield f"{device.title} holds {device.fs_type}{label}"
    for name in device.children:
        if child := tree.get(name):
            inner = tuple(uses_of(child, tree))
            yield from inner or (f"{device.title} carries {child.title}",)


def _of_file(target: Target, *, writes: bool) -> Iterator[Hazard]:
    if writes:
        yield Hazard(
            "file-write",
            Severity.BLOCKS,
            f"The test would overwrite the existing file {clean(target.path)}.",
            "diskprof only reads existing files. Choose the directory: a temporary test file is created there.",
        )
    try:
        status = Path(target.path).stat()
    except OSError:
        return
    stored = min(status.st_blocks * 512, status.st_size) - unwritten_bytes(target.path, status.st_size)
    if stored < status.st_size * 0.99:
        yield Hazard(
            "sparse",
            Severity.WARNS,
            f"Of the file's {format_size(status.st_size)} only {format_size(max(0, stored))} are allocated "
            "(holes, unwritten space or compression); the rest is read without the disk.",
            "Choose a fully allocated file, or a directory.",
        )


def _of_directory(target: Target, tree: DeviceTree, *, writes: bool, space_needed: int, size: int) -> Iterator[Hazard]:
    entry = mount_of(target.path)
    if writes and (entry and "ro" in entry.options):
        yield Hazard(
            "read-only",
            Severity.BLOCKS,
            f"{clean(target.mount_point)} is mounted read-only: no test file can be created there.",
            "Choose another directory, or test the device itself with a reading preset.",
        )
    elif writes and not may(target.path, os.W_OK | os.X_OK):
        yield Hazard(
            "not-writable",
            Severity.BLOCKS,
            f"No permission to create a file in {clean(target.path)}.",
            f"Choose a directory of your own, or run as root: {sudo_command()}",
        )
    yield from _of_space(target, space_needed, size)
    if writes and target.fs_type in ("vfat", "msdos") and space_needed >= _FOUR_GIB:
        yield Hazard(
            "file-size-limit",
            Severity.BLOCKS,
            f"A file on {target.fs_type} cannot be {format_size(space_needed)}: 4 GiB is its limit.",
            Advice("Make the test file smaller, such as --set size=1g.", "Make the test file smaller: edit the size."),
        )
    device = tree.get(target.device)
    if writes and device and device.read_only and not (entry and "ro" in entry.options):
        yield Hazard("read-only", Severity.BLOCKS, f"{device.node} is read-only.", "Choose another directory.")


def _of_space(target: Target, needed: int, size: int) -> Iterator[Hazard]:
    if not needed or target.free_bytes is None:
        return
    keep = reserve(target.fs_size_bytes)
    if target.free_bytes - needed >= keep:
        return
    room = max(0, target.free_bytes - keep)
    yield Hazard(
        "space",
        Severity.BLOCKS,
        f"Test files need {format_size(needed)}; {clean(target.mount_point or target.path)} has "
        f"{format_size(target.free_bytes)} free, and {format_size(keep)} must stay free "
        f"({_RESERVE_RULE}).",
        _how_to_fit(room, needed, size),
    )


def _how_to_fit(room: int, needed: int, size: int) -> str | Advice:
    """What helps where `needed` bytes do not fit into `room`; they are some times the parameter `size`, and a rest.

    What is more than that many files of `size` comes from other options, such as `offset_increment`.
    """
    times, rest = divmod(needed, size) if 0 < size <= needed <= size * _MOST_FILES else (0, 0)
    if times and (mebibytes := (room - rest) // times >> 20) > 0:
        return Advice(
            f"Free some, or make the test file smaller: --set size={mebibytes}m fits.",
            f"Free some, or make the test file smaller: edit the size, {mebibytes}m fits.",
        )
    if room and not times:
        return f"Free some, or make the test file smaller: at most {format_size(room)}."
    return "Free some space first."


def _of_file_system(target: Target) -> Iterator[Hazard]:
    where, fs_type = clean(target.mount_point or target.path), clean(target.fs_type)
    entry = mount_of(target.path)
    options = entry.options if entry else ()
    if fs_type in _MEMORY:
        yield Hazard(
            "memory",
            Severity.WARNS,
            f"{where} is {fs_type}: in RAM, so the test measures memory, not a disk.",
            "Choose a directory on a disk, such as /var/tmp.",
        )
    elif fs_type in NETWORK:
        yield Hazard(
            "network",
            Severity.WARNS,
            f"{where} is a network file system ({fs_type}): results include the network and the server.",
            "To measure the disk, test on the server itself.",
        )
    elif fs_type in ("overlay", "aufs", "fuse.fuse-overlayfs"):
        yield Hazard(
            "overlay",
            Severity.WARNS,
            f"{where} is a layered file system ({fs_type}), as in containers: the disk below is unknown.",
            "Choose a volume or a bind mount of the host's disk.",
        )
    elif fs_type.startswith("fuse."):
        yield Hazard(
            "fuse",
            Severity.WARNS,
            f"{where} is a FUSE file system ({fs_type}): results include its overhead.",
            "Choose a directory on a native file system.",
        )
    compressing = next((option for option in options if option.startswith("compress")), "")
    if compressing and not compressing.endswith(("=no", "=none")):
        yield Hazard(
            "compression",
            Severity.NOTES,
            f"{where} is mounted with {compressing}: compressible data is written faster than the disk.",
            "Test files contain incompressible data.",
        )
    if fs_type in _COPY_ON_WRITE:
        yield Hazard(
            "copy-on-write",
            Severity.NOTES,
            f"{where} is {fs_type}, copy-on-write: random writes cost more than on the raw disk.",
            "The result is that of the file system, checksums and copies included.",
        )


def _of_stack(device: Device, tree: DeviceTree) -> Iterator[Hazard]:
    """What lies between the target and the hardware."""
    for layer in _with_below(device, tree):
        if layer.kind is DeviceKind.PARTITION and layer.misaligned:
            yield Hazard(
                "misaligned",
                Severity.WARNS,
                f"The partition {layer.name} is misaligned (starts at byte {layer.start_bytes}, not a "
                f"multiple of {layer.boundary}): a 4 KiB write touches two disk blocks.",
                "Recreate the partition aligned to 1 MiB.",
            )
        if layer.kind in (DeviceKind.RAM, DeviceKind.ZRAM):
            yield Hazard("memory", Severity.WARNS, f"{layer.name} is in RAM: the test measures memory, not a disk.")
        if layer.kind is DeviceKind.CRYPT:
            yield Hazard(
                "encrypted",
                Severity.NOTES,
                f"{layer.title} is encrypted: results include CPU cost.",
            )
        if layer.kind is DeviceKind.LOOP:
            yield Hazard(
                "loop",
                Severity.NOTES,
                f"{layer.name} is the file {clean(layer.backing_file) or '(unknown)'}: "
                "results include the file system and cache below it.",
            )


def _of_pool(target: Target, tree: DeviceTree) -> Iterator[Hazard]:
    members = [
        device.title for device in tree.devices if any(mount.path == target.mount_point for mount in device.mounts)
    ]
    if len(members) > 1:
        yield Hazard(
            "several-devices",
            Severity.NOTES,
            f"{clean(target.mount_point)} is on {len(members)} devices: {', '.join(members)}.",
            f"The result is that of all together; only {target.device_title} is watched.",
        )


def _with_below(device: Device, tree: DeviceTree) -> tuple[Device, ...]:
    found: dict[str, Device] = {}

    def descend(layer: Device) -> None:
        found[layer.name] = layer
        for name in layer.parents:
            if name not in found and (parent := tree.get(name)):
                descend(parent)

    descend(device)
    return tuple(found.values())
