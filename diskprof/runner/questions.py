"""What is known of a disk, for the preset that answers a question on it."""

from diskprof.analysis.findings.view import is_hypervisors, is_network
from diskprof.devices.machine.cloud import cloud
from diskprof.model.device import Device, DeviceTree
from diskprof.presets.questions import DiskFacts


def facts_of(device: Device | None, tree: DeviceTree, room_bytes: int | None) -> DiskFacts:
    """Of the disks below `device`; `room_bytes` is free where a test file would be. Reads what the firmware says of the machine."""
    disks = (tree.disks_below(device.name) or (device,)) if device else ()
    return DiskFacts(
        size_bytes=device.size_bytes if device else 0,
        room_bytes=room_bytes,
        virtual=any(is_hypervisors(disk) or is_network(disk) for disk in disks),
        cloud=cloud(),
    )
