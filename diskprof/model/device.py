"""Block devices as the kernel and udev know them, what they are made of, and how far they are worn."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from diskprof.model.text import clean
from diskprof.model.units import format_size

NETWORK_FILE_SYSTEMS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "glusterfs", "lustre", "afs", "ocfs2", "gfs2", "gpfs"),
        *("beegfs", "coda", "davfs", "ncpfs", "orangefs", "virtiofs", "vboxsf", "vmhgfs", "fuse.vmhgfs-fuse"),
        *("fuse.ceph", "fuse.davfs", "fuse.glusterfs", "fuse.juicefs", "fuse.mfs", "fuse.rclone", "fuse.s3fs"),
        "fuse.sshfs",
    }
)
"""File systems whose disk is another machine's, or the host's."""

_PAGE = 4096


class DeviceKind(StrEnum):
    """lsblk's TYPE, in our spelling."""

    DISK = "disk"
    PARTITION = "part"
    CRYPT = "crypt"
    LVM = "lvm"
    RAID = "raid"
    MULTIPATH = "mpath"
    MAPPER = "dm"
    LOOP = "loop"
    ROM = "rom"
    RAM = "ram"
    ZRAM = "zram"


class Transport(StrEnum):
    NVME = "nvme"
    SATA = "sata"
    SAS = "sas"
    SCSI = "scsi"
    USB = "usb"
    VIRTIO = "virtio"
    XEN = "xen"
    MMC = "mmc"
    ISCSI = "iscsi"
    FC = "fc"
    NBD = "nbd"
    LOOP = "loop"
    UNKNOWN = ""


WITHOUT_PLATTERS = (Transport.VIRTIO, Transport.XEN, Transport.LOOP, Transport.NBD, Transport.ISCSI)
"""What the kernel says of rotating means nothing here: it does not see the disk."""
_WITH_MEDIUM = (DeviceKind.DISK, DeviceKind.PARTITION)


def device_title(name: str, dm_name: str) -> str:
    """What a device is called in a sentence: `sda1`, `/dev/mapper/vg-root`."""
    return f"/dev/mapper/{dm_name}" if dm_name else name


class Mount(Struct, frozen=True):
    """One mount point. Sizes in bytes, None where the file system does not say."""

    path: str
    fs_type: str
    options: tuple[str, ...] = ()
    size_bytes: int | None = None
    free_bytes: int | None = None

    @property
    def read_only(self) -> bool:
        return "ro" in self.options


class Device(Struct, frozen=True):
    """A block device. What is not known is None or empty; `parents` lie below it (sda for sda1), `children` above.

    `by_id` holds names in /dev/disk/by-id, the most readable first; `dm_name` the device mapper's name (`vg-root`); `wwid` a whole
    disk's world-wide name as sysfs spells it, the same on every path to it (`naa.5000c500a1b2c3d4`, `eui.0025385b71b0a1c2`).
    `attached` is what a whole disk hangs on in sysfs, from the processor on: PCI addresses (`0000:00:1f.2`), SCSI hosts (`host0`),
    SAS expanders (`expander-0:0`), USB hubs and ports (`usb2`, `2-1.4`).
    The kernel numbers dm-0 and dm-1 anew at each boot: a person is shown `label` or `title`, and `node` is /dev/mapper/vg-root.
    `rpm` is how fast a disk rotates, `pcie` the generation of PCI Express that an NVMe drive can do, `sd_class` 1 or 2 of an SD
    card that says A1 or A2.
    """

    name: str
    node: str
    kind: DeviceKind
    major: int
    minor: int
    size_bytes: int
    model: str = ""
    serial: str = ""
    wwid: str = ""
    by_id: tuple[str, ...] = ()
    transport: Transport = Transport.UNKNOWN
    rotational: bool | None = None
    scheduler: str = ""
    logical_block_size: int = 512
    physical_block_size: int = 512
    fs_type: str = ""
    fs_label: str = ""
    fs_uuid: str = ""
    mounts: tuple[Mount, ...] = ()
    swap: bool = False
    read_only: bool = False
    removable: bool = False
    diskseq: int | None = None
    start_bytes: int | None = None
    backing_file: str = ""
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    dm_name: str = ""
    attached: tuple[str, ...] = ()
    rpm: int | None = None
    pcie: int | None = None
    sd_class: int | None = None

    @property
    def label(self) -> str:
        """What it is called in a list, as lsblk does: `sda1`, `vg-root`."""
        return self.dm_name or self.name

    @property
    def title(self) -> str:
        """What it is called in a sentence, as `device_title` has it."""
        return device_title(self.name, self.dm_name)

    @property
    def medium(self) -> str:
        """`rotating` or `solid state`; empty where the kernel cannot know."""
        if self.rotational is None or self.transport in WITHOUT_PLATTERS or self.kind not in _WITH_MEDIUM:
            return ""
        return "rotating" if self.rotational else "solid state"

    @property
    def boundary(self) -> int:
        """Bytes: a partition that begins at no multiple of them makes the disk do two I/Os for one of 4 KiB."""
        return max(_PAGE, self.physical_block_size)

    @property
    def misaligned(self) -> bool:
        return bool(self.start_bytes and self.start_bytes % self.boundary)

    @property
    def empty(self) -> bool:
        """Nothing behind it (an unused loop, zram or nbd device, a drive without a medium, a ram disk): hidden unless asked for."""
        return self.size_bytes == 0 or (self.kind is DeviceKind.RAM and not self.mounts)


class DeviceTree(Struct, frozen=True):
    """Every block device at one moment, in the kernel's order, keyed by kernel name."""

    devices: tuple[Device, ...] = ()

    def get(self, name: str) -> Device | None:
        return next((device for device in self.devices if device.name == name), None)

    def by_number(self, major: int, minor: int) -> Device | None:
        return next((device for device in self.devices if (device.major, device.minor) == (major, minor)), None)

    def walk(self, *, show_empty: bool = False) -> Iterator[tuple[int, Device]]:
        """(depth, device), each root before what stands on it, as lsblk prints them."""
        known = {device.name: device for device in self.devices}

        def below(device: Device, depth: int) -> Iterator[tuple[int, Device]]:
            yield depth, device
            for child in device.children:
                if child in known:
                    yield from below(known[child], depth + 1)

        for device in self.devices:
            if not any(parent in known for parent in device.parents) and (show_empty or not device.empty):
                yield from below(device, 0)

    def disks_below(self, name: str) -> tuple[Device, ...]:
        """The whole devices that `name` rests on (itself if it rests on none), each once."""
        found: dict[str, Device] = {}

        def descend(device: Device) -> None:
            parents = [parent for parent in map(self.get, device.parents) if parent]
            for parent in parents:
                descend(parent)
            if not parents:
                found[device.name] = device

        if device := self.get(name):
            descend(device)
        return tuple(found.values())

    def layers_below(self, name: str) -> tuple[Device, ...]:
        """What lies between `name` and its disks, from above, such as the partition below a volume of LVM."""
        found: dict[str, Device] = {}

        def descend(device: Device) -> None:
            for parent in filter(None, map(self.get, device.parents)):
                if parent.parents:
                    found.setdefault(parent.name, parent)
                descend(parent)

        if device := self.get(name):
            descend(device)
        return tuple(found.values())


def branches(depths: Sequence[int]) -> list[str]:
    """The lines of a tree in front of each name, from the depths in the order of drawing."""
    prefixes = []
    for at, depth in enumerate(depths):
        prefix = ""
        for level in range(1, depth + 1):
            later = next((other for other in depths[at + 1 :] if other <= level), 0)
            more = later == level
            prefix += ("├─" if more else "└─") if level == depth else ("│ " if more else "  ")
        prefixes.append(prefix)
    return prefixes


class DiskCounters(Struct, frozen=True):
    """The kernel's counters of one device since boot (Documentation/block/stat.rst) at `at_ns` (monotonic).

    Those of discards are None before Linux 4.18, those of flushes before 5.5.
    """

    at_ns: int
    reads: int
    read_merges: int
    read_bytes: int
    read_ticks_ms: int
    writes: int
    write_merges: int
    write_bytes: int
    write_ticks_ms: int
    in_flight: int
    io_ticks_ms: int
    queue_ticks_ms: int
    discards: int | None = None
    discard_merges: int | None = None
    discard_bytes: int | None = None
    discard_ticks_ms: int | None = None
    flushes: int | None = None
    flush_ticks_ms: int | None = None


class Activity(Struct, frozen=True):
    """What a device did between two readings of its counters: iostat's r/s, w/s, rkB/s, wkB/s (in bytes) and %util (0 to 1)."""

    reads_per_s: float
    writes_per_s: float
    read_bytes_per_s: float
    write_bytes_per_s: float
    utilisation: float

    @staticmethod
    def between(before: DiskCounters, after: DiskCounters) -> "Activity | None":
        """None if no time passed or the counters went back (the device was replaced)."""
        seconds = (after.at_ns - before.at_ns) / 1e9
        if seconds <= 0 or after.io_ticks_ms < before.io_ticks_ms or after.reads < before.reads:
            return None
        return Activity(
            reads_per_s=(after.reads - before.reads) / seconds,
            writes_per_s=(after.writes - before.writes) / seconds,
            read_bytes_per_s=(after.read_bytes - before.read_bytes) / seconds,
            write_bytes_per_s=(after.write_bytes - before.write_bytes) / seconds,
            utilisation=min(1.0, (after.io_ticks_ms - before.io_ticks_ms) / 1e3 / seconds),
        )


class Parts(Struct, frozen=True):
    """`good` and `failed` are kernel names of members (of paths where `paths`), `missing` how many an array lacks of `wanted`.

    `sync` is what the kernel does with an array by itself (md's sync_action: resync, recover, check, repair, reshape), empty for
    nothing; `synced` how much of that is done, of 1, None where it does not say.
    """

    name: str
    paths: bool
    good: tuple[str, ...]
    failed: tuple[str, ...] = ()
    wanted: int = 0
    missing: int = 0
    sync: str = ""
    synced: float | None = None


LEAST_SHARE = 0.0001


class Wear(Struct, frozen=True):
    """What a disk (kernel name) says of itself. `used_percent` is a whole number and may pass 100; `written_bytes` None: not told.

    Both are estimates of the drive's firmware. At 1% the endurance that follows from them may be off by a factor of two.
    """

    device: str
    used_percent: int
    written_bytes: int | None = None

    @property
    def rated_bytes(self) -> int | None:
        """The bytes that the drive can take in all if it goes on wearing as it did; None where it does not tell enough."""
        if self.used_percent < 1 or self.written_bytes is None or self.written_bytes <= 0:
            return None
        return self.written_bytes * 100 // self.used_percent or None

    @property
    def words(self) -> str:
        """`nvme0n1 says that 37% of its rated endurance used, by 220 TiB written`."""
        by = f", by {format_size(self.written_bytes)} written" if self.written_bytes else ""
        return f"{clean(self.device)} reports {self.used_percent}% of its rated endurance used{by}"


class Health(Struct, frozen=True):
    """What a disk (kernel name) and the kernel say of its state; None is not told. `passed` is SMART's overall verdict.

    `wear` is of flash alone.
    """

    device: str
    passed: bool | None = None
    temperature_c: float | None = None
    wear: Wear | None = None


def share_of(written: int, wear: Sequence[Wear]) -> float | None:
    """The largest share of the rated endurance of one of the disks that writing so many bytes takes; None: not known."""
    return max((written / each.rated_bytes for each in wear if each.rated_bytes), default=None)


def share_words(written: int, wear: Sequence[Wear]) -> str:
    """`about 0.12% of the endurance the disk is rated for`; empty where nothing is written or known.

    On several disks it is the most that one of them can get: how they share the writes is not known.
    """
    share = share_of(written, wear)
    if share is None or not written:
        return ""
    amount = f"{100 * share:.2g}" if share < 1 else f"{100 * share:.0f}"
    about = f"about {amount}%" if share >= LEAST_SHARE else f"less than {100 * LEAST_SHARE:g}%"
    return f"{about} of the endurance {'the disk' if len(wear) == 1 else 'one of the disks'} is rated for"
