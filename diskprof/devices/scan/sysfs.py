"""What the kernel itself says of block devices: identity, topology, queue attributes, counters. Works without udev (F36)."""

import re
import time
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.files import SYSTEM, Roots, list_names, read_bytes, read_int, read_text
from diskprof.model.device import DeviceKind, DiskCounters, Transport

SECTOR = 512
_FLOPPY_MAJOR, _CDROM_MAJOR = 2, 11
_ATA_VENDOR = "ATA"
_PCIE = {"2.5 GT/s": 1, "5.0 GT/s": 2, "8.0 GT/s": 3, "16.0 GT/s": 4, "32.0 GT/s": 5, "64.0 GT/s": 6}
_STATUS_DIGITS = 128
_APP_CLASS = (511 - 339) // 4


class Node(Struct, frozen=True):
    """A block device in sysfs. `disk` is the whole device of a partition, otherwise the device itself."""

    name: str
    path: Path
    disk_path: Path
    major: int
    minor: int
    size_bytes: int
    partition: bool
    start_bytes: int | None
    device_name: str
    slaves: tuple[str, ...]

    @property
    def disk(self) -> str:
        return self.disk_path.name

    @property
    def probing_waits(self) -> bool:
        """Opening it may move a mechanism or never return: floppies, CD drives, suspended mapper devices."""
        return self.major in (_FLOPPY_MAJOR, _CDROM_MAJOR) or read_text(self.path / "dm" / "suspended") == "1"


class Queue(Struct, frozen=True):
    """Attributes of a device's request queue."""

    rotational: bool | None
    scheduler: str
    logical_block_size: int
    physical_block_size: int


def natural(name: str) -> tuple[str | int, ...]:
    """A sort key that puts sda2 before sda10."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name))


def read_nodes(roots: Roots = SYSTEM) -> dict[str, Node]:
    """Every block device that has a device node, by kernel name; one that vanishes meanwhile is left out (F35)."""
    nodes = {}
    for name in sorted(list_names(roots.blocks), key=natural):
        if node := read_node(name, roots):
            nodes[name] = node
    return nodes


def read_node(name: str, roots: Roots = SYSTEM) -> Node | None:
    """One block device, None if there is none of that name or its node is hidden (a path of NVMe multipath)."""
    try:
        path = (roots.blocks / name).resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    number = re.fullmatch(r"(\d+):(\d+)", read_text(path / "dev"))
    if not number or read_text(path / "hidden") == "1":
        return None
    partition = (path / "partition").exists()
    start = read_int(path / "start") if partition else None
    uevent = dict(line.partition("=")[::2] for line in read_text(path / "uevent").splitlines())
    return Node(
        name=name,
        path=path,
        disk_path=path.parent if partition else path,
        major=int(number[1]),
        minor=int(number[2]),
        size_bytes=(read_int(path / "size") or 0) * SECTOR,
        partition=partition,
        start_bytes=None if start is None else start * SECTOR,
        device_name=uevent.get("DEVNAME") or name.replace("!", "/"),
        slaves=list_names(path / "slaves"),
    )


def kind(node: Node) -> DeviceKind:
    """lsblk's TYPE."""
    if node.partition:
        return DeviceKind.PARTITION
    name = node.name
    if (node.path / "dm").is_dir() or name.startswith("dm-"):
        uuid = read_text(node.path / "dm" / "uuid")
        if re.match(r"part\d+-", uuid):
            return DeviceKind.PARTITION
        prefixes = {"LVM-": DeviceKind.LVM, "CRYPT-": DeviceKind.CRYPT, "mpath-": DeviceKind.MULTIPATH}
        return next((kind for prefix, kind in prefixes.items() if uuid.startswith(prefix)), DeviceKind.MAPPER)
    if node.major == _CDROM_MAJOR:
        return DeviceKind.ROM
    by_name = {"md": DeviceKind.RAID, "loop": DeviceKind.LOOP, "zram": DeviceKind.ZRAM, "ram": DeviceKind.RAM}
    match = re.match(r"(md|loop|zram|ram)[\d_]", name)
    return by_name[match[1]] if match else DeviceKind.DISK


_TRANSPORTS = (
    (re.compile(r"/usb\d+/"), Transport.USB),
    (re.compile(r"/nvme(-fabrics|-subsystem|\d*)/|/nvme\d+"), Transport.NVME),
    (re.compile(r"/mmc_host/"), Transport.MMC),
    (re.compile(r"/vbd-\d+/"), Transport.XEN),
    (re.compile(r"/session\d+/"), Transport.ISCSI),
    (re.compile(r"/rport-"), Transport.FC),
    (re.compile(r"/ata\d+/"), Transport.SATA),
    (re.compile(r"/virtio\d+/"), Transport.VIRTIO),
    (re.compile(r"/(end_device-|sas_)"), Transport.SAS),
    (re.compile(r"/host\d+/"), Transport.SCSI),
)
_TRANSPORT_NAMES = (("nbd", Transport.NBD), ("loop", Transport.LOOP), ("xvd", Transport.XEN))


def transport(node: Node) -> Transport:
    """How the disk is attached, by where it hangs in the device tree."""
    for beginning, found in _TRANSPORT_NAMES:
        if node.disk.startswith(beginning):
            return found
    path = f"{node.disk_path}/"
    return next((found for pattern, found in _TRANSPORTS if pattern.search(path)), Transport.UNKNOWN)


_ATTACHED = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|host\d+|expander-[\d:]+|usb\d+|\d+-\d+(\.\d+)*")


def attached(node: Node) -> tuple[str, ...]:
    """What a whole disk hangs on, from the processor on; nothing of what has no hardware of its own."""
    return () if node.partition else tuple(part for part in node.path.parts if _ATTACHED.fullmatch(part))


def model(node: Node) -> str:
    """The vendor's name for a whole device, the RAID level of an array; "" for what has none."""
    if node.partition:
        return ""
    device = node.disk_path / "device"
    name = read_text(device / "model") or (read_text(device / "name") if "/mmc_host/" in str(node.disk_path) else "")
    vendor = read_text(device / "vendor")
    if name and vendor and vendor != _ATA_VENDOR and not vendor.startswith("0x") and not name.startswith(vendor):
        name = f"{vendor} {name}"
    return " ".join(name.split()) or read_text(node.path / "md" / "level")


def serial(node: Node) -> str:
    """The whole device's serial number, its world-wide name where it keeps the number to itself; "" if neither is known."""
    if node.partition:
        return ""
    device = node.disk_path / "device"
    # The SCSI page has a header of four bytes, the last of which is the length.
    page = read_bytes(device / "vpd_pg80")
    unit_serial = page[4 : 4 + page[3]].decode("ascii", "replace").strip("\0 ") if len(page) > 4 else ""
    said = (read_text(path).strip("\0 ") for path in (node.disk_path / "serial", device / "serial"))
    return " ".join((unit_serial or next(filter(None, said), "") or wwid(node)).split())


def wwid(node: Node) -> str:
    """The world-wide name of a whole disk, "" if it has none, or only zeros for one."""
    if node.partition:
        return ""
    names = (
        " ".join(read_text(path).split()) for path in (node.disk_path / "wwid", node.disk_path / "device" / "wwid")
    )
    return next((name for name in names if re.search(r"\.0*[^0]", name)), "")


def queue(node: Node) -> Queue:
    """The queue attributes of a device, for a partition those of its disk."""
    directory = node.disk_path / "queue"
    rotational = read_int(directory / "rotational")
    schedulers = read_text(directory / "scheduler")
    chosen = re.search(r"\[(.+?)\]", schedulers)
    logical = read_int(directory / "logical_block_size") or SECTOR
    return Queue(
        rotational=None if rotational is None else bool(rotational),
        scheduler=chosen[1] if chosen else schedulers,
        logical_block_size=logical,
        physical_block_size=read_int(directory / "physical_block_size") or logical,
    )


def pcie(node: Node) -> int | None:
    """The generation of PCI Express that an NVMe drive can do, whatever its slot does; None for anything else."""
    if node.partition or not node.name.startswith("nvme"):
        return None
    speed = re.match(r"[\d.]+ GT/s", read_text(node.path / "device" / "device" / "max_link_speed"))
    return _PCIE.get(speed[0]) if speed else None


def sd_class(node: Node) -> int | None:
    """1 of an SD card of class A1, 2 of A2, by bits 339 to 336 of its status register; None where it says neither."""
    if node.partition or not node.name.startswith("mmcblk"):
        return None
    status = read_text(node.path / "device" / "ssr")
    digit = status[_APP_CLASS] if len(status) == _STATUS_DIGITS else ""
    return int(digit) if digit in ("1", "2") else None


def read_counters(roots: Roots = SYSTEM, names: Collection[str] | None = None) -> dict[str, DiskCounters]:
    """The counters of every device, or of `names` alone, by kernel name, from one reading of /proc/diskstats."""
    return counters_in(read_text(roots.proc / "diskstats"), names)


def counters_in(text: str, names: Collection[str] | None = None) -> dict[str, DiskCounters]:
    """`read_counters`, of what was read from /proc/diskstats just now."""
    counters = {}
    at_ns = time.monotonic_ns()
    for line in text.splitlines():
        if names is not None and not any(name in line for name in names):
            continue
        name, counts = _counts_in(line)
        if counts and (names is None or name in names):
            counters[name] = DiskCounters(at_ns, *counts)
    return counters


_COUNTS_END = 20


@lru_cache(maxsize=256)
def _counts_in(line: str) -> tuple[str, tuple[int, ...]]:
    """A device's name and its counters in the order of DiskCounters; none in a line that is not one of /proc/diskstats.

    Second by second the lines of most devices are the same.
    """
    fields = line.split()
    if len(fields) < 14 or not all(field.isdigit() for field in fields[3:14]):
        return "", ()
    # A kernel that does not count discards or flushes has fewer.
    counts = [int(field) for field in fields[3:_COUNTS_END] if field.isdigit()]
    for sectors in (2, 6, 13):
        counts[sectors : sectors + 1] = [count * SECTOR for count in counts[sectors : sectors + 1]]
    return fields[2], tuple(counts)
