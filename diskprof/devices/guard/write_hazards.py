"""What a write to a raw device would destroy, in words. In use is final; what only lies there may be given up by name.

fio's own check compares names and is passed by any other name (F25): here devices are compared by number, and followed
through partitions, volumes, loops and their other names.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from diskprof.devices.guard.contents import TABLES, contents, holds_data, reader
from diskprof.devices.guard.exports import exports
from diskprof.devices.guard.occupants import (
    Elsewhere,
    Writer,
    backing_of,
    held_exclusively,
    loops_on,
    mounts_elsewhere,
    pool_members,
    source_number,
    swapped_files,
    writers,
)
from diskprof.devices.guard.relations import Touched, all_paths, reach
from diskprof.devices.scan.files import SYSTEM, Roots
from diskprof.devices.scan.mounts import MountEntry, may_hang, mount_by_name, read_mountinfo
from diskprof.devices.scan.signatures import Signature
from diskprof.devices.scan.tree import device_of
from diskprof.model.advice import Advice
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.plan import Hazard, Severity, WritePermission
from diskprof.model.text import clean

_MEMBERS: Mapping[str, str] = {
    "LVM2_member": "its part of a volume group",
    "LVM1_member": "its part of a volume group",
    "linux_raid_member": "its part of a RAID array",
    "isw_raid_member": "its part of a RAID array",
    "nvidia_raid_member": "its part of a RAID array",
    "ddf_raid_member": "its part of a RAID array",
    "zfs_member": "its part of a ZFS pool",
    "crypto_LUKS": "the key to all that is encrypted on it",
    "BitLocker": "the key to all that is encrypted on it",
    "bcache": "a cache, or what is cached",
    "ceph_bluestore": "its part of a Ceph cluster",
    "oracleasm": "its part of a database",
    "swap": "what is swapped out or hibernated there",
    "swsuspend": "a hibernated system",
}
_FREE_IT = "Choose another device, or take this one out of use first."


def write_hazards(
    target: Device,
    tree: DeviceTree,
    permission: WritePermission,
    places: Mapping[str, str],
    *,
    held: int | None = None,
    roots: Roots = SYSTEM,
) -> tuple[Hazard, ...]:
    """Everything that speaks against writing to `target` itself, what blocks it first.

    `places` are paths that the machine or diskprof itself needs, with a word for each: their disks are not written to.
    `held` is a descriptor by which this process has the target exclusively already. Reads the first and last blocks.
    """
    reached = reach(target, tree)
    touched, beneath = reached.touched, reached.beneath
    found = [
        *_read_only(target),
        *_system_disk(touched, tree, places, roots),
        *_Uses(touched, beneath, tree, held=held is not None, roots=roots).hazards(),
        *_signatures(touched, permission, held),
        *_neighbours(touched, beneath, tree),
    ]
    order = list(Severity)
    return tuple(sorted(dict.fromkeys(found), key=lambda hazard: order.index(hazard.severity)))


def to_hold(target: Device, tree: DeviceTree) -> tuple[Device, ...]:
    """The target's other names, which have to be had exclusively beside it."""
    return tuple(each.device for each in reach(target, tree).touched if each.alias)


def _read_only(target: Device) -> Iterator[Hazard]:
    if target.read_only:
        yield Hazard("read-only", Severity.BLOCKS, f"{target.node} is read-only.", "Choose another device.")


# --- What the machine itself lies on ---------------------------------------------------------------------------------


def _system_disk(
    touched: Sequence[Touched], tree: DeviceTree, places: Mapping[str, str], roots: Roots
) -> Iterator[Hazard]:
    below = [disk for each in touched for disk in tree.disks_below(each.device.name)]
    disks = {disk.name for disk in all_paths(below, tree)}
    needed: dict[str, list[str]] = defaultdict(list)
    entries = read_mountinfo(roots)
    for path, word in places.items():
        for name in _disks_of(path, tree, entries):
            if name in disks:
                needed[name].append(word)
    for name, said in needed.items():
        words = list(dict.fromkeys(said))
        several = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
        yield Hazard(
            "system-disk",
            Severity.BLOCKS,
            f"{name} holds {several}: this machine runs from that disk.",
            "Choose an unused disk, or a directory: a temporary test file is created there.",
        )


def _disks_of(path: str, tree: DeviceTree, entries: Sequence[MountEntry]) -> set[str]:
    """The disks below a path, also those below the file of a loop device."""
    found: set[str] = set()
    waiting, seen = [path], set[str]()
    while waiting:
        entry = _mount_of(waiting.pop(), entries)
        if entry is None or entry.path in seen:
            continue
        seen.add(entry.path)
        device = device_of(entry, tree)
        members = [device] if device else []
        members += [each for each in tree.devices if any(mount.path == entry.path for mount in each.mounts)]
        for disk in {disk for member in members for disk in tree.disks_below(member.name)}:
            found.add(disk.name)
            if disk.backing_file:
                waiting.append(disk.backing_file)
    return found


def _mount_of(path: str, entries: Sequence[MountEntry]) -> MountEntry | None:
    """By name first, so that the path of a dead server is never touched; a link is then followed."""
    entry = mount_by_name(path, entries)
    if entry is None or may_hang(entry):
        return entry
    try:
        return mount_by_name(str(Path(path).resolve()), entries)
    except (OSError, RuntimeError):
        return entry


# --- What is in use --------------------------------------------------------------------------------------------------


class _Uses:
    """Who uses the bytes that would be written, or the devices they lie on."""

    def __init__(
        self, touched: Sequence[Touched], beneath: Sequence[Device], tree: DeviceTree, *, held: bool, roots: Roots
    ) -> None:
        self._touched, self._beneath, self._tree, self._held = touched, beneath, tree, held
        self._known = {each.device.name for each in touched}
        every = [*(each.device for each in touched), *beneath]
        self._pooled, self._swapped = pool_members(roots), swapped_files(roots)
        self._exports = exports(roots)
        self._elsewhere: dict[str, list[Elsewhere]] = defaultdict(list)
        own = (Elsewhere(entry, os.getpid(), "this program") for entry in read_mountinfo(roots))
        for mount in (*own, *mounts_elsewhere(roots)):
            for device in every:
                if _is_of(mount.entry, device):
                    self._elsewhere[device.name].append(mount)
        self._writers: dict[str, list[Writer]] = defaultdict(list)
        for writer in writers(every, roots):
            self._writers[writer.device].append(writer)

    def hazards(self) -> Iterator[Hazard]:
        found = {each.device.name: [*self._of(each.device), *self._carried(each.device)] for each in self._touched}
        for each in self._touched:
            uses = found[each.device.name]
            # Whoever has a partition keeps its disk from being had as a whole.
            explained = any(found.get(name) for name in (each.device.name, *each.device.children))
            if not explained and self._claimable(each) and held_exclusively(each.device):
                uses.append(
                    _in_use(
                        f"Something uses {each.device.title} exclusively: a ZFS pool, a volume, "
                        "or a mount not visible here. Its data would be lost."
                    )
                )
            yield from (_because(each.how, use) for use in uses)
        for device in self._beneath:
            yield from self._of(device)
            yield from self._carried_beside(device)

    def _claimable(self, each: Touched) -> bool:
        return not self._held and (each is self._touched[0] or each.alias)

    def _of(self, device: Device) -> Iterator[Hazard]:
        name, title = device.name, device.title
        for mount in device.mounts:
            where = clean(mount.path)
            yield _in_use(
                f"{title} is mounted on {where}: the files there would be destroyed while they are in use.",
                _FREE_IT if where == "/" else f"Unmount {where} first, or choose another device.",
            )
        for other in [] if device.mounts else self._elsewhere[name][:1]:
            yield _in_use(
                f"{title} is mounted on {clean(other.entry.path)} where {other.program} (process {other.pid}) lives: the files "
                "there would be destroyed while they are in use."
            )
        if name in self._pooled and not device.mounts and not self._elsewhere[name]:
            yield _in_use(f"{title} belongs to a mounted btrfs file system: the files there would be destroyed.")
        if device.swap:
            yield _in_use(
                f"{title} is swap: memory of running programs would be destroyed.",
                f"Disable it (swapoff {device.node}), or choose another device.",
            )
        backing = backing_of(device)
        if backing and (backing.device, backing.inode) in self._swapped:
            yield _in_use(f"The file behind {name} is swap: memory of running programs would be destroyed.")
        for export in self._exports:
            if export.is_of(device):
                yield _in_use(
                    f"{title} is exported to other machines by {export.how}: their data would be lost.",
                    "End the export first, or choose another device.",
                )
        for writer in self._writers[name]:
            what = f"the file behind {name}" if writer.behind else title
            yield _in_use(
                f"{writer.program} (process {writer.pid}) has {what} open for writing: its data would be lost.",
                f"End {writer.program} first, or choose another device.",
            )

    def _carried(self, device: Device) -> Iterator[Hazard]:
        """Volumes and arrays that are assembled on a device, and loops set up on it."""
        for child in filter(None, map(self._tree.get, device.children)):
            if not _plain_partition(child):
                yield _in_use(f"{device.title} carries {child.title}: its data would be lost.")
        for loop in loops_on(device, self._tree):
            if loop.name != self._touched[0].device.name:
                yield _in_use(
                    f"{loop.name} is set up on {device.title}: its data would be lost.",
                    f"Detach it first (losetup --detach {loop.node}), or choose another device.",
                )

    def _carried_beside(self, device: Device) -> Iterator[Hazard]:
        """As `_carried`, of a device below the target: the target itself and what LVM keeps apart from it aside."""
        children = [child for name in device.children if (child := self._tree.get(name))]
        volumes = any(child.kind is DeviceKind.LVM and child.name in self._known for child in children)
        for child in children:
            apart = child.kind is DeviceKind.PARTITION or (child.kind is DeviceKind.LVM and volumes)
            if child.name not in self._known and child not in self._beneath and not apart:
                yield self._beside(child, device)
        for loop in loops_on(device, self._tree):
            if loop.name not in self._known and loop not in self._beneath:
                yield _in_use(f"{loop.name} is set up on {device.title}: its data would be lost.")

    def _beside(self, other: Device, device: Device) -> Hazard:
        """Of what lies on `device` as the target does, and may be the same blocks: a snapshot of the target's, or another's."""
        target = self._touched[0].device
        above = [child for name in other.children if (child := self._tree.get(name)) and name not in self._known]
        beneath = {each.name for each in self._beneath}
        for snapshot in above:
            # The blocks that it keeps lie in `other`, all else below the target.
            if beneath.intersection(snapshot.parents):
                return _in_use(
                    f"{snapshot.title} is a snapshot of {target.title}: what is overwritten is copied to it first, and once "
                    "it is full it is lost.",
                    "Remove the snapshot first, or choose another device.",
                )
        return _in_use(
            f"{other.title} lies on {device.title} as {target.title} does, and whether they share blocks cannot be seen from "
            f"here: what is on {other.title} might be lost."
        )


def _is_of(entry: MountEntry, device: Device) -> bool:
    """Whether a mount is of this device, by its number or by its source."""
    number = os.makedev(device.major, device.minor)
    named = entry.source in (device.node, f"/dev/mapper/{device.dm_name}")
    return named or os.makedev(entry.major, entry.minor) == number or source_number(entry) == number


def _in_use(message: str, advice: str = _FREE_IT) -> Hazard:
    return Hazard("in-use", Severity.BLOCKS, message, advice)


def _because(how: str, hazard: Hazard) -> Hazard:
    return replace(hazard, message=f"{how}. {hazard.message}") if how else hazard


def _plain_partition(device: Device) -> bool:
    return device.kind is DeviceKind.PARTITION and not device.dm_name


# --- What lies there -------------------------------------------------------------------------------------------------


def _signatures(touched: Sequence[Touched], permission: WritePermission, held: int | None) -> Iterator[Hazard]:
    titles = {each.device.name: each.device.title for each in touched}
    for each in touched:
        device = each.device
        partitions = [titles.get(name, name) for name in device.children]
        target = each is touched[0]
        if not (target or each.alias or _plain_partition(device)):
            # A volume or a loop that is set up is in use: what it holds is told, but it is left alone.
            if device.fs_type and not device.mounts:
                signature = Signature(device.fs_type, device.fs_label, device.fs_uuid)
                yield _because(each.how, _of_signature(signature, device, partitions, permission.signatures))
            continue
        try:
            found, data = _content_of(device, held if target else None)
        except OSError as error:
            yield Hazard(
                "unreadable",
                Severity.BLOCKS,
                f"{device.node} cannot be read, so nobody knows what would be lost: {error.strerror}.",
                "Choose another device.",
            )
            continue
        for signature in found:
            yield _because(each.how, _of_signature(signature, device, partitions, permission.signatures))
        if data and not found and target:
            yield Hazard(
                "unknown-data",
                Severity.WARNS,
                f"{device.title} holds data without a known signature, which would be lost.",
                "Check its contents first: hexdump -C " + device.node + " | less",
            )


def _content_of(device: Device, held: int | None) -> tuple[tuple[Signature, ...], bool]:
    """All signatures, those that udev knows included, and whether there is any data at all. Raises OSError."""
    descriptor = os.open(device.node, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK) if held is None else held
    try:
        read = reader(descriptor)
        found = contents(read, device.size_bytes)
        data = holds_data(read, device.size_bytes)
    finally:
        if held is None:
            os.close(descriptor)
    known = [signature.fs_type for signature in found]
    if device.fs_type and device.fs_type not in known and not device.mounts:
        found = (*found, Signature(device.fs_type, device.fs_label, device.fs_uuid))
    return found, data


def _of_signature(signature: Signature, device: Device, partitions: Sequence[str], given_up: Collection[str]) -> Hazard:
    kind = clean(signature.fs_type)
    label = f" {clean(signature.label)!r}" if signature.label else ""
    identity = f" (UUID {clean(signature.uuid)})" if signature.uuid else ""
    if signature.fs_type in TABLES:
        parts = f": {', '.join(partitions)}" if partitions else ""
        message = f"{device.title} has a partition table ({kind}): its partitions would be lost{parts}."
    else:
        lost = _MEMBERS.get(signature.fs_type, "all files on it")
        message = f"{device.title} holds {kind}{label}{identity}: {lost} would be lost."
    if signature.fs_type in given_up:
        return Hazard("signature", Severity.WARNS, message, "Overwriting it was allowed by name.")
    return Hazard(
        "signature",
        Severity.BLOCKS,
        message,
        Advice(
            f"If it is no longer needed: --overwrite-signature {kind}",
            "If it is no longer needed, you can overwrite it: the start asks you to type its type.",
        ),
        signature.fs_type,
    )


# --- What suffers ----------------------------------------------------------------------------------------------------


def _neighbours(touched: Sequence[Touched], beneath: Sequence[Device], tree: DeviceTree) -> Iterator[Hazard]:
    """What else is mounted from the same disks: it keeps its data, and gets slower."""
    known = {each.device.name for each in touched}
    disks = {device.name for device in beneath}
    for device in tree.devices:
        if device.name in known or device.name in disks or not device.mounts:
            continue
        if disks.intersection(disk.name for disk in tree.disks_below(device.name)):
            yield Hazard(
                "neighbour",
                Severity.WARNS,
                f"{device.title} on the same disk is mounted on {clean(device.mounts[0].path)}: the test slows its users down.",
            )
