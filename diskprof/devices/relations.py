"""Which devices are the same bytes as another, under whatever name: what a write to one reaches of the others."""

import os
from collections.abc import Iterable, Iterator

from diskprof.devices.occupants import Backing, backing_of
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.value import dataclass


@dataclass(frozen=True, slots=True)
class Touched:
    """A device whose content a write to the target changes.

    `how` says why, where that is not plain from the tree ("" for the target and what stands on it). `alias` marks a device
    that has to be had exclusively beside the target, since nobody else keeps others from it.
    """

    device: Device
    how: str = ""
    alias: bool = False


def touched_by(target: Device, tree: DeviceTree) -> tuple[Touched, ...]:
    """The target first, then all that a write to it reaches: partitions and volumes on it, loops, and its other names."""
    return tuple(_Walk(target, tree).found.values())


def below(touched: Iterable[Touched], tree: DeviceTree) -> tuple[Device, ...]:
    """What the target and its other names rest on: partitions' disks, volumes' members."""
    listed = list(touched)
    known = {each.device.name for each in listed}
    found: dict[str, Device] = {}

    def descend(device: Device) -> None:
        for name in device.parents:
            if name not in known and name not in found and (parent := tree.get(name)):
                found[name] = parent
                descend(parent)

    for each in (listed[0], *(other for other in listed if other.alias)):
        descend(each.device)
    return tuple(found.values())


class _Walk:
    def __init__(self, target: Device, tree: DeviceTree) -> None:
        self._tree = tree
        self._backings = {
            device.name: backing
            for device in tree.devices
            if device.kind is DeviceKind.LOOP and (backing := backing_of(device))
        }
        self.found: dict[str, Touched] = {}
        self._add(Touched(target))
        self._add_aliases(target)

    def _add(self, touched: Touched) -> None:
        device = touched.device
        if device.name in self.found:
            return
        self.found[device.name] = touched
        for child in self._named(device.children):
            self._add(Touched(child, touched.how))
        for loop in self._loops_on(device):
            self._add(Touched(loop, touched.how))

    def _add_aliases(self, device: Device) -> None:
        for other, how in (
            *self._same_file(device),
            *self._under_loop(device),
            *self._overlapping(device),
            *self._same_disk(device),
            *self._sharing(device),
        ):
            if other.name not in self.found:
                self._add(Touched(other, how, alias=True))
                self._add_aliases(other)

    def _named(self, names: Iterable[str]) -> Iterator[Device]:
        return (device for name in names if (device := self._tree.get(name)))

    def _loops_on(self, device: Device) -> Iterator[Device]:
        number = _number(device)
        return self._named(name for name, backing in self._backings.items() if backing.block_device == number)

    def _same_file(self, device: Device) -> Iterator[tuple[Device, str]]:
        mine = self._backings.get(device.name)
        # Loops on one block device meet at that device.
        if mine is None or mine.block_device:
            return
        for other in self._named(self._backings):
            if other.name != device.name and mine.overlaps(self._backings[other.name]):
                yield other, f"{other.name} is the same file as {device.name}"

    def _under_loop(self, device: Device) -> Iterator[tuple[Device, str]]:
        backing: Backing | None = self._backings.get(device.name)
        for other in self._tree.devices:
            if backing and backing.block_device == _number(other):
                yield other, f"{device.name} is set up on {other.title}"

    def _overlapping(self, device: Device) -> Iterator[tuple[Device, str]]:
        start = device.start_bytes
        for parent in self._named(device.parents):
            for other in self._named(parent.children):
                if start is None or other.start_bytes is None or other.name == device.name:
                    continue
                if start < other.start_bytes + other.size_bytes and other.start_bytes < start + device.size_bytes:
                    yield other, f"{other.name} overlaps with {device.name}"

    def _same_disk(self, device: Device) -> Iterator[tuple[Device, str]]:
        """The paths to one disk, without a multipath map over them."""
        if not device.serial or device.kind is not DeviceKind.DISK:
            return
        identity = (device.serial, device.model, device.size_bytes)
        for other in self._tree.devices:
            if other.name != device.name and (other.serial, other.model, other.size_bytes) == identity:
                yield other, f"{other.name} is the same disk as {device.name}, by its serial number"

    def _sharing(self, device: Device) -> Iterator[tuple[Device, str]]:
        """Other mappings of the same members. LVM keeps its volumes apart, and so do partitions."""
        if device.start_bytes is not None:
            return
        apart = {DeviceKind.LVM, DeviceKind.PARTITION}
        for member in self._named(device.parents):
            for other in self._named(member.children):
                if other.name != device.name and not (other.kind is device.kind and device.kind in apart):
                    yield other, f"{other.title} lies on {member.title} as {device.title} does"


def _number(device: Device) -> int:
    return os.makedev(device.major, device.minor)
