"""Every block device as one value, from sysfs, the mounts and the swaps, enriched by whatever properties udev has."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from diskprof.devices.scan import sysfs
from diskprof.devices.scan.files import SYSTEM, Roots, list_names, read_int, read_text
from diskprof.devices.scan.mounts import (
    POOLING,
    MountEntry,
    Space,
    as_mount,
    may_hang,
    mount_by_name,
    read_mountinfo,
    read_swaps,
    space,
)
from diskprof.devices.scan.signatures import Signature, read_signature
from diskprof.devices.scan.sysfs import Node, natural
from diskprof.model.device import Device, DeviceKind, DeviceTree, Mount, Transport
from diskprof.model.text import clean

PropertyLookup = Callable[[str], Mapping[str, str]]
Probe = Callable[[str, int], Signature | None]

_BUSES = {"usb": Transport.USB, "ata": Transport.SATA, "nvme": Transport.NVME}
_RANKS = {DeviceKind.DISK: 0, DeviceKind.LOOP: 2, DeviceKind.ROM: 3, DeviceKind.ZRAM: 4, DeviceKind.RAM: 5}
_OPAQUE_IDS = ("wwn-", "nvme-eui.", "nvme-nvme.", "nvme-uuid.", "scsi-", "dm-uuid-", "md-uuid-", "lvm-pv-uuid-")
_BY_ID = "/dev/disk/by-id/"


def no_properties(_name: str) -> Mapping[str, str]:
    """What udev says where it says nothing."""
    return {}


def build_tree(
    roots: Roots = SYSTEM, lookup: PropertyLookup = no_properties, probe: Probe = read_signature
) -> DeviceTree:
    """Every block device: disks first, then what has no hardware of its own, then loops, ROMs and memory.

    `probe` says what lies on a device, by its path and size in bytes, where `lookup` does not say it.
    """
    nodes = sysfs.read_nodes(roots)
    parents = _parents(nodes)
    children: dict[str, list[str]] = defaultdict(list)
    for name, below in parents.items():
        for parent in below:
            children[parent].append(name)
    names = _Names(nodes)
    mounts, swaps, links = _mounts(names, roots), _swaps(names, roots), _by_id_links(roots)
    devices = [
        _device(
            node,
            roots,
            lookup(name),
            probe,
            parents=parents[name],
            children=tuple(sorted(children[name], key=natural)),
            mounts=mounts.get(name, ()),
            swap=name in swaps,
            links=links.get(node.device_name, ()),
            partitioned=any(nodes[child].partition for child in children[name]),
        )
        for name, node in nodes.items()
    ]
    return DeviceTree(tuple(sorted(devices, key=lambda device: _RANKS.get(device.kind, 1))))


def _parents(nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    parents = {}
    for name, node in nodes.items():
        below = (node.disk,) if node.partition else node.slaves
        parents[name] = tuple(sorted((parent for parent in below if parent in nodes and parent != name), key=natural))
    return parents


def _device(
    node: Node,
    roots: Roots,
    properties: Mapping[str, str],
    probe: Probe,
    *,
    parents: tuple[str, ...],
    children: tuple[str, ...],
    mounts: tuple[Mount, ...],
    swap: bool,
    links: tuple[str, ...],
    partitioned: bool,
) -> Device:
    path = _path(node, roots)
    queue = sysfs.queue(node)
    holds = _content(node, path, properties, probe, partitioned=partitioned)
    named = tuple(link.removeprefix(_BY_ID) for link in properties.get("DEVLINKS", "").split() if _BY_ID in link)
    return Device(
        name=node.name,
        node=path,
        kind=sysfs.kind(node),
        major=node.major,
        minor=node.minor,
        size_bytes=node.size_bytes,
        model=clean(_model(node, properties)),
        serial=clean(_serial(node, properties)),
        wwid=clean(sysfs.wwid(node)),
        by_id=_readable_first({*named, *links}),
        transport=_transport(node, properties),
        rotational=queue.rotational,
        scheduler=clean(queue.scheduler),
        logical_block_size=queue.logical_block_size,
        physical_block_size=queue.physical_block_size,
        fs_type=clean(holds.fs_type or (mounts[0].fs_type if mounts else "")),
        fs_label=clean(holds.label),
        fs_uuid=clean(holds.uuid),
        mounts=mounts,
        swap=swap,
        read_only=read_text(node.path / "ro") == "1",
        removable=read_text(node.disk_path / "removable") == "1",
        diskseq=read_int(node.disk_path / "diskseq"),
        start_bytes=node.start_bytes,
        backing_file=read_text(node.disk_path / "loop" / "backing_file"),
        parents=parents,
        children=children,
        dm_name=clean(read_text(node.path / "dm" / "name")),
        attached=sysfs.attached(node),
        rpm=_rpm(node, properties),
        pcie=sysfs.pcie(node),
        sd_class=sysfs.sd_class(node),
    )


def _rpm(node: Node, properties: Mapping[str, str]) -> int | None:
    """What an ATA disk tells udev; 0 is flash."""
    told = properties.get("ID_ATA_ROTATION_RATE_RPM", "")
    return int(told) if told.isdecimal() and int(told) and not node.partition else None


def _path(node: Node, roots: Roots) -> str:
    """The node in /dev; of device mapper's the one with its own name, if that is there and is this device."""
    own, name = roots.dev / node.device_name, read_text(node.path / "dm" / "name")
    mapped = roots.dev / "mapper" / name
    if not name or "/" in name or name != clean(name):
        return str(own)
    try:
        same = mapped.resolve() == own or mapped.stat().st_rdev == os.makedev(node.major, node.minor)
    except (OSError, RuntimeError):
        same = False
    return str(mapped if same else own)


def _decode(text: str) -> str:
    r"""udev's _ENC properties: \x20 for a blank."""
    raw = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes.fromhex(match[1].decode()), text.encode(errors="replace"))
    return " ".join(raw.decode(errors="replace").split())


def _model(node: Node, properties: Mapping[str, str]) -> str:
    if node.partition or (node.path / "dm").is_dir():
        return ""
    encoded = _decode(properties.get("ID_MODEL_ENC", ""))
    own = sysfs.model(node)
    # The kernel cuts ATA models to 16 characters; udev keeps them whole, but leaves the vendor out.
    return own if own.endswith(encoded) and own else encoded or own or properties.get("ID_MODEL", "")


def _serial(node: Node, properties: Mapping[str, str]) -> str:
    if node.partition or (node.path / "dm").is_dir():
        return ""
    said = (properties.get(key, "").strip() for key in ("ID_SCSI_SERIAL", "ID_SERIAL_SHORT"))
    return next(filter(None, said), "") or sysfs.serial(node) or properties.get("ID_SERIAL", "")


def _transport(node: Node, properties: Mapping[str, str]) -> Transport:
    return sysfs.transport(node) or _BUSES.get(properties.get("ID_BUS", ""), Transport.UNKNOWN)


def _content(node: Node, path: str, properties: Mapping[str, str], probe: Probe, *, partitioned: bool) -> Signature:
    if fs_type := properties.get("ID_FS_TYPE", ""):
        label = _decode(properties.get("ID_FS_LABEL_ENC", "")) or properties.get("ID_FS_LABEL", "")
        return Signature(fs_type, label, properties.get("ID_FS_UUID", ""))
    if partitioned or not node.size_bytes or "ID_PART_TABLE_TYPE" in properties or node.probing_waits:
        return Signature("")
    return probe(path, node.size_bytes) or Signature("")


def _readable_first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (name.startswith(_OPAQUE_IDS), name)))


def _by_id_links(roots: Roots) -> dict[str, tuple[str, ...]]:
    """Names in /dev/disk/by-id, by what they point to below /dev."""
    links: dict[str, list[str]] = defaultdict(list)
    directory = roots.dev / "disk" / "by-id"
    for name in list_names(directory):
        try:
            links[str((directory / name).readlink()).removeprefix("../../")].append(clean(name))
        except OSError:
            continue
    return {node: tuple(names) for node, names in links.items()}


class _Names:
    """Kernel names by the paths and numbers that the mounts and swaps use."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.by_number = {(node.major, node.minor): name for name, node in nodes.items()}
        self._by_path = {f"/dev/{node.device_name}": name for name, node in nodes.items()}
        for name, node in nodes.items():
            if mapped := read_text(node.path / "dm" / "name"):
                self._by_path[f"/dev/mapper/{mapped}"] = name

    def of(self, path: str) -> str | None:
        """The kernel name of a device node, however it is called; None if it is none."""
        if path in self._by_path or not path.startswith("/dev/"):
            return self._by_path.get(path)
        try:
            number = Path(path).stat().st_rdev
        except (OSError, ValueError):
            return None
        return self.by_number.get((os.major(number), os.minor(number)))


def _mounts(names: _Names, roots: Roots) -> dict[str, tuple[Mount, ...]]:
    """The mounts of every device, whole file systems before bind mounts and subvolumes."""
    found: dict[str, dict[str, Mount]] = defaultdict(dict)
    pools = _pools(roots)
    figures: dict[tuple[int, int], Space | None] = {}
    entries = read_mountinfo(roots)
    doubtful = [entry for entry in entries if may_hang(entry) and entry.path != "/"]
    for entry in sorted(entries, key=lambda entry: entry.root != "/"):
        for name in _devices_of(entry, names, pools):
            number = (entry.major, entry.minor)
            if number not in figures:
                figures[number] = None if mount_by_name(entry.path, doubtful) else space(entry.path)
            found[name][entry.path] = as_mount(entry, figures[number])
    return {name: tuple(by_path.values()) for name, by_path in found.items()}


def _devices_of(entry: MountEntry, names: _Names, pools: tuple[frozenset[str], ...]) -> set[str]:
    if name := names.by_number.get((entry.major, entry.minor)):
        return {name}
    if entry.fs_type not in POOLING:
        return set()
    sources = {name for source in entry.source.split(":") if (name := names.of(source))}
    return sources.union(*(pool for pool in pools if pool & sources))


def _pools(roots: Roots) -> tuple[frozenset[str], ...]:
    """The devices of each mounted btrfs file system, which mountinfo names only one of."""
    directory = roots.sys / "fs" / "btrfs"
    return tuple(frozenset(list_names(directory / name / "devices")) for name in list_names(directory))


def _swaps(names: _Names, roots: Roots) -> set[str]:
    return {name for path in read_swaps(roots) if (name := names.of(path))}


def device_of(entry: MountEntry, tree: DeviceTree) -> Device | None:
    """The device of a mount; for a file system over several, the one that mountinfo names."""
    if device := tree.by_number(entry.major, entry.minor):
        return device
    if entry.fs_type not in POOLING:
        return None
    return next((device for device in tree.devices if any(mount.path == entry.path for mount in device.mounts)), None)
