"""Why a test of a device would be unwise, or its result doubtful, as far as can be seen before there is a plan. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from diskprof.model.device import NETWORK_FILE_SYSTEMS, Activity, Device, DeviceKind, DeviceTree, Mount, Transport
from diskprof.model.text import clean
from diskprof.model.units import format_size

_BUSY = 0.5
_FULL = 0.1


class Doubt(Struct, frozen=True):
    """`name` is that of the hazard by which a plan would say the same."""

    name: str
    words: str


def system_disks(tree: DeviceTree) -> frozenset[str]:
    """The disks below the root file system."""
    carriers = (device for device in tree.devices if any(mount.path == "/" for mount in device.mounts))
    return frozenset(disk.name for device in carriers for disk in tree.disks_below(device.name))


def doubts(
    device: Device, tree: DeviceTree, recent: Sequence[Activity], system: frozenset[str], own_run: str = ""
) -> tuple[Doubt, ...]:
    """All doubts about a device; `recent` is what it did in the last seconds, `system` are the `system_disks`.

    `own_run` is the id of a run of diskprof's that works on the device now; what such a run did is not to be among `recent`.
    """
    return tuple(_doubts(device, tree, recent, system, own_run))


def _doubts(
    device: Device, tree: DeviceTree, recent: Sequence[Activity], system: frozenset[str], own_run: str
) -> Iterator[Doubt]:
    if device.read_only or (device.mounts and all(mount.read_only for mount in device.mounts)):
        yield Doubt("read-only", "Read-only: no test file can be created here.")
    for mount in device.mounts:
        if _nearly_full(mount):
            free = format_size(mount.free_bytes or 0)
            yield Doubt("space", f"{clean(mount.path)} is nearly full ({free} free): full disks are slower.")
        if mount.fs_type in NETWORK_FILE_SYSTEMS:
            yield Doubt(
                "network",
                f"{clean(mount.path)} is a network file system: results include the network and other clients.",
            )
    if own_run:
        yield Doubt("busy", f"Run {own_run} is testing this disk: two runs at once distort each other's results.")
    elif recent and sum(activity.utilisation for activity in recent) / len(recent) > _BUSY:
        yield Doubt("busy", "Disk is busy: results will be distorted and other programs slowed down.")
    disks = tree.disks_below(device.name)
    if any(disk.transport in (Transport.NBD, Transport.ISCSI) for disk in disks):
        yield Doubt("network", "Network disk: results include network latency.")
    if device.kind in (DeviceKind.RAM, DeviceKind.ZRAM):
        yield Doubt("memory", "RAM disk: a test measures memory, not a disk.")
    if device.swap:
        yield Doubt("swap", "Swap device: a test slows down swapping.")
    if any(disk.name in system for disk in disks):
        yield Doubt("system-disk", "System disk: the test will slow down this machine.")


def _nearly_full(mount: Mount) -> bool:
    if not mount.size_bytes or mount.free_bytes is None or mount.read_only:
        return False
    return mount.free_bytes < _FULL * mount.size_bytes
