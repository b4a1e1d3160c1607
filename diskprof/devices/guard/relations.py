"""Which devices are the same bytes as another, under whatever name: what a write to one reaches of the others.

The kernel links a partition to its disk and a volume to its members. It does not link two paths to one disk, two loop devices
on one file, or a loop device to the block device below it: those are found by where their bytes lie.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from diskprof.devices.guard.occupants import backing_of
from diskprof.model.device import Device, DeviceKind, DeviceTree, Transport

_DEPTH = 32
"""Layers of devices that are followed: a damaged sysfs might show a circle."""


class Touched(Struct, frozen=True):
    """A device whose content a write to the target changes.

    `how` says why, where that is not plain from the tree ("" for the target and what stands on it). `alias` marks a device
    that has to be had exclusively beside the target, since nobody else keeps others from it.
    """

    device: Device
    how: str = ""
    alias: bool = False


class Reach(Struct, frozen=True):
    """What a write to a target reaches.

    `touched`: the target first, then all whose content it changes. `beneath`: what these rest on, on every path to it
    (a partition's disk, a volume's members): who uses one of those as a whole uses the target's bytes too.
    """

    touched: tuple[Touched, ...]
    beneath: tuple[Device, ...]


def reach(target: Device, tree: DeviceTree) -> Reach:
    """What a write to `target` reaches."""
    return _Walk(target, tree).reach()


def all_paths(disks: Iterable[Device], tree: DeviceTree) -> tuple[Device, ...]:
    """Whole devices with the other paths to them, each once."""
    media = _media(tree)
    wanted = {media.get(disk.name, disk.name) for disk in disks}
    return tuple(device for device in tree.devices if media.get(device.name, device.name) in wanted)


def _same_disk(one: Device, other: Device) -> str:
    """By what two paths are known to lead to one disk; "" where they do not."""
    kind, _, name = one.wwid.partition(".")
    if name and other.wwid.startswith(f"{kind}."):
        # A T10 name is what the maker likes to call it: without a serial number in it, all of a kind have the same.
        if one.wwid == other.wwid and (kind != "t10" or one.size_bytes == other.size_bytes):
            # Some NVMe drives have a name that is not theirs alone. Their serial number always is.
            nvme = one.transport is Transport.NVME is other.transport
            return "" if nvme and one.serial != other.serial else "world-wide name"
        if kind != "t10":
            # Namespaces of one NVMe drive, or the LUNs of one array, may share its serial number.
            return ""
    same = one.serial and (one.serial, one.model, one.size_bytes) == (other.serial, other.model, other.size_bytes)
    return "serial number" if same else ""


def _media(tree: DeviceTree) -> dict[str, str]:
    """For every disk the name of the first path to it."""
    media: dict[str, str] = {}
    alike: dict[str, list[Device]] = defaultdict(list)
    for disk in tree.devices:
        if disk.kind is not DeviceKind.DISK:
            continue
        media[disk.name] = disk.name
        for name in filter(None, {disk.wwid, disk.serial}):
            for other in alike[name]:
                if _same_disk(disk, other):
                    first, mine = media[other.name], media[disk.name]
                    media |= {each: first for each, medium in media.items() if medium == mine}
            alike[name].append(disk)
    return media


class _Region(Struct, frozen=True):
    """Bytes `start` to `end` of a medium: a disk by whichever path, the file below loop devices, an array or volume."""

    medium: object
    start: int
    end: int

    def overlaps(self, other: "_Region") -> bool:
        return self.medium == other.medium and self.start < other.end and other.start < self.end


class _Walk:
    def __init__(self, target: Device, tree: DeviceTree) -> None:
        self._target, self._tree = target, tree
        self._backings = {
            device.name: backing
            for device in tree.devices
            if device.kind is DeviceKind.LOOP and (backing := backing_of(device))
        }
        self._by_number = {os.makedev(device.major, device.minor): device for device in tree.devices}
        self._media = _media(tree)
        self._regions = {device.name: self._region(device, _DEPTH) for device in tree.devices}
        self._touched: dict[str, Touched] = {}
        self._beneath: dict[str, Device] = {}
        self._descended: set[str] = set()

    def reach(self) -> Reach:
        self._touch(Touched(self._target))
        self._follow(self._target)
        beneath = tuple(device for name, device in self._beneath.items() if name not in self._touched)
        return Reach(tuple(self._touched.values()), beneath)

    def _touch(self, touched: Touched) -> None:
        device = touched.device
        if device.name in self._touched:
            return
        self._touched[device.name] = touched
        for child in (*self._named(device.children), *self._loops_on(device)):
            self._touch(Touched(child, touched.how))

    def _follow(self, device: Device) -> None:
        for other, how in (*self._same_bytes(device), *self._under_loop(device), *self._sharing(device)):
            if other.name not in self._touched:
                self._touch(Touched(other, how, alias=True))
                self._follow(other)
        self._descend(device)

    def _same_bytes(self, device: Device) -> Iterator[tuple[Device, str]]:
        """Whole devices for a whole one, partitions for a partition: what merely contains it lies beneath it."""
        below = {each.name for each in self._parents_of(device, _DEPTH)}
        for other in self._overlapping(self._regions[device.name]):
            if other.name not in below | {device.name} and _is_part(other) == _is_part(device):
                yield other, self._how(device, other)

    def _under_loop(self, device: Device) -> Iterator[tuple[Device, str]]:
        if other := self._set_up_on(device):
            yield other, f"{device.name} is set up on {other.title}"

    def _sharing(self, device: Device) -> Iterator[tuple[Device, str]]:
        """Other mappings of the same members. LVM keeps its volumes apart, and so do partitions.

        The kernel's partitions of a map's paths lie beneath it: nobody can have them while the map has their disk.
        """
        if _is_part(device):
            return
        apart = {DeviceKind.LVM, DeviceKind.PARTITION}
        beneath = {DeviceKind.PARTITION} if device.kind is DeviceKind.MULTIPATH else set()
        for member in self._named(device.parents):
            for other in self._named(member.children):
                kept_apart = other.kind in beneath or (other.kind is device.kind and device.kind in apart)
                if other.name != device.name and not kept_apart:
                    yield other, f"{other.title} lies on {member.title} as {device.title} does"

    def _descend(self, device: Device) -> None:
        """A partition rests on its bytes of the disk, by every path; anything else may rest on all of what is below it."""
        if device.name in self._descended:
            return
        self._descended.add(device.name)
        for parent in (*self._named(device.parents), *filter(None, (self._set_up_on(device),))):
            self._beneath.setdefault(parent.name, parent)
            region = self._regions[device.name if _is_part(device) else parent.name]
            for other in self._overlapping(region):
                # A map over other paths is a use of the bytes, and nothing that they lie on.
                if other.kind is not DeviceKind.MULTIPATH and not (_is_part(device) and _is_part(other)):
                    self._beneath.setdefault(other.name, other)
            self._descend(parent)

    # --- Where bytes lie ---------------------------------------------------------------------------------------------

    def _overlapping(self, region: _Region) -> Iterator[Device]:
        return (device for device in self._tree.devices if self._regions[device.name].overlaps(region))

    def _region(self, device: Device, depth: int) -> _Region:
        parent = next(self._named(device.parents), None)
        if parent and depth and _is_part(device):
            disk = self._region(parent, depth - 1)
            start = disk.start + (device.start_bytes or 0)
            return _Region(disk.medium, start, start + device.size_bytes)
        if parent and depth and device.kind is DeviceKind.MULTIPATH:
            return self._region(parent, depth - 1)
        backing = self._backings.get(device.name)
        if backing and not backing.block_device:
            return _Region((backing.device, backing.inode), backing.offset, backing.offset + device.size_bytes)
        return _Region(self._media.get(device.name, device.name), 0, device.size_bytes)

    def _parents_of(self, device: Device, depth: int) -> Iterator[Device]:
        for parent in self._named(device.parents) if depth else ():
            yield parent
            yield from self._parents_of(parent, depth - 1)

    def _set_up_on(self, loop: Device) -> Device | None:
        backing = self._backings.get(loop.name)
        return self._by_number.get(backing.block_device) if backing and backing.block_device else None

    def _loops_on(self, device: Device) -> Iterator[Device]:
        number = os.makedev(device.major, device.minor)
        return self._named(name for name, backing in self._backings.items() if backing.block_device == number)

    def _named(self, names: Iterable[str]) -> Iterator[Device]:
        return (device for name in names if (device := self._tree.get(name)))

    # --- Words -------------------------------------------------------------------------------------------------------

    def _how(self, device: Device, other: Device) -> str:
        mine, theirs = self._whole(device), self._whole(other)
        overlap = f"{other.title} overlaps with {device.title}"
        if mine.name == theirs.name:
            return overlap
        why = self._why(mine, theirs)
        return f"{overlap}: {why}" if _is_part(device) else why

    def _whole(self, device: Device) -> Device:
        return next(self._named(device.parents), device) if _is_part(device) else device

    @staticmethod
    def _why(mine: Device, theirs: Device) -> str:
        """Why two whole devices are the same bytes."""
        if mine.kind is DeviceKind.LOOP:
            return f"{theirs.title} is the same file as {mine.title}"
        known = _same_disk(mine, theirs)
        return f"{theirs.title} is the same disk as {mine.title}" + (f", by its {known}" if known else "")


def _is_part(device: Device) -> bool:
    """Whether the kernel says where on its disk it begins."""
    return device.start_bytes is not None
