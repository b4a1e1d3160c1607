"""Scanning machines that are made of files."""

from pathlib import Path

import pytest
from fake_machine import Machine

from diskprof.devices.scan.sysfs import read_counters
from diskprof.devices.scan.tree import build_tree
from diskprof.devices.targets import resolve_target
from diskprof.model.device import Device, DeviceKind, DeviceTree, Transport

PCI = "pci0000:00/0000:00:1f.2"
MODERN_QUEUE = {
    "rotational": "0",
    "scheduler": "[none] mq-deadline kyber",
    "logical_block_size": "512",
    "physical_block_size": "4096",
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def scanned(machine: Machine, properties: dict[str, dict[str, str]] | None = None) -> DeviceTree:
    return build_tree(machine.roots, lambda name: (properties or {}).get(name, {}))


def only(tree: DeviceTree, name: str) -> Device:
    device = tree.get(name)
    assert device
    return device


def names(tree: DeviceTree, *, show_empty: bool = False) -> list[tuple[int, str]]:
    return [(depth, device.name) for depth, device in tree.walk(show_empty=show_empty)]


def test_what_tells_the_class_of_a_drive(machine: Machine) -> None:
    """The generation of an NVMe drive, A1 and A2 of an SD card; partitions have the class of their disk."""
    nvme = machine.disk("nvme0n1", "pci0000:00/0000:01:00.0/nvme/nvme0", major=259)
    (nvme / "device" / "device").mkdir(parents=True)
    (nvme / "device" / "device" / "max_link_speed").write_text("16.0 GT/s PCIe\n")
    status = f"{'0' * 43}2{'0' * 84}"
    machine.disk("mmcblk0", "platform/soc/mmc_host/mmc0/mmc0:aaaa", device__ssr=status)
    machine.disk("mmcblk1", "platform/soc/mmc_host/mmc1/mmc1:aaaa", device__ssr="0" * 128)
    machine.partition("nvme0n1", "nvme0n1p1")
    tree = scanned(machine)
    found = {device.name: (device.pcie, device.sd_class) for device in tree.devices}
    assert found == {
        "nvme0n1": (4, None),
        "nvme0n1p1": (None, None),
        "mmcblk0": (None, 2),
        "mmcblk1": (None, None),
    }


def test_nvme_without_udev(machine: Machine) -> None:
    machine.disk(
        "nvme0n1",
        "pci0000:00/0000:00:01.1/0000:01:00.0/nvme/nvme0",
        size=500107862016,
        major=259,
        queue=MODERN_QUEUE,
        device__model="Samsung SSD 970 EVO 500GB               ",
        device__serial="S466NX0K123456      ",
        wwid="eui.0025385281b00000",
        diskseq="7",
    )
    machine.partition("nvme0n1", "nvme0n1p1", start=1 << 20)
    machine.mount("nvme0n1p1", "/srv/data", "xfs")
    tree = scanned(machine)
    disk, part = only(tree, "nvme0n1"), only(tree, "nvme0n1p1")
    assert (disk.kind, disk.transport) == (DeviceKind.DISK, Transport.NVME)
    assert (disk.model, disk.serial) == ("Samsung SSD 970 EVO 500GB", "S466NX0K123456")
    assert (disk.rotational, disk.scheduler, disk.physical_block_size) == (False, "none", 4096)
    assert (disk.size_bytes, disk.diskseq, disk.children) == (500107862016, 7, ("nvme0n1p1",))
    assert (part.kind, part.parents, part.start_bytes) == (DeviceKind.PARTITION, ("nvme0n1",), 1 << 20)
    assert (part.model, part.serial, part.scheduler, part.transport) == ("", "", "none", Transport.NVME)
    assert (part.fs_type, part.mounts[0].path) == ("xfs", "/srv/data")
    assert part.node == str(machine.roots.dev / "nvme0n1p1")


def test_virtio_disk_has_a_serial_and_no_model(machine: Machine) -> None:
    machine.disk("vda", "pci0000:00/0000:00:02.0/virtio1", serial="vol-0123", device__vendor="0x1af4")
    disk = only(scanned(machine), "vda")
    assert (disk.transport, disk.serial, disk.model) == (Transport.VIRTIO, "vol-0123", "")


def test_sata_disk_reads_its_serial_from_the_unit_page(machine: Machine) -> None:
    node = machine.disk(
        "sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0", device__vendor="ATA     ", device__model="ST4000DM004-2CV1"
    )
    (node / "device" / "vpd_pg80").write_bytes(b"\0\x80\0\x14" + b"            ZFN0ABCD")
    disk = only(scanned(machine), "sda")
    assert (disk.transport, disk.model, disk.serial) == (Transport.SATA, "ST4000DM004-2CV1", "ZFN0ABCD")


def test_usb_stick_names_its_vendor(machine: Machine) -> None:
    machine.disk(
        "sdb",
        "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0",
        removable="1",
        device__vendor="SanDisk ",
        device__model="Ultra Fit       ",
    )
    disk = only(scanned(machine), "sdb")
    assert (disk.transport, disk.model, disk.removable) == (Transport.USB, "SanDisk Ultra Fit", True)


@pytest.mark.parametrize(
    ("name", "where", "transport"),
    [
        ("sda", "pci0000:00/0000:00:05.0/virtio2/host2/target2:0:1/2:0:1:0", Transport.VIRTIO),
        ("sdc", "pci0000:00/0000:03:00.0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0", Transport.SAS),
        ("sdd", "platform/host3/session1/target3:0:0/3:0:0:1", Transport.ISCSI),
        ("sde", "pci0000:00/0000:05:00.0/host4/rport-4:0-2/target4:0:0/4:0:0:0", Transport.FC),
        ("sdf", "pci0000:00/0000:00:10.0/host0/target0:0:1/0:0:1:0", Transport.SCSI),
        ("xvda", "vbd-51712", Transport.XEN),
        ("mmcblk0", "platform/soc/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa", Transport.MMC),
        ("nvme1n1", "virtual/nvme-subsystem/nvme-subsys1", Transport.NVME),
        ("nbd0", "virtual", Transport.NBD),
    ],
)
def test_transport_follows_the_device_path(machine: Machine, name: str, where: str, transport: Transport) -> None:
    machine.disk(name, where)
    assert only(scanned(machine), name).transport is transport


def test_a_disk_says_what_it_hangs_on(machine: Machine) -> None:
    expander = "pci0000:00/0000:03:00.0/host1/port-1:0/expander-1:0/port-1:0:4/end_device-1:0:4/target1:0:4/1:0:4:0"
    machine.disk("sda", expander)
    machine.disk("sdb", "pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host6/target6:0:0/6:0:0:0")
    machine.disk("nbd0", "virtual")
    tree = scanned(machine)
    assert only(tree, "sda").attached == ("0000:03:00.0", "host1", "expander-1:0")
    assert only(tree, "sdb").attached == ("0000:00:14.0", "usb2", "2-1", "2-1.4", "host6")
    assert only(tree, "nbd0").attached == ()


def test_udev_adds_what_sysfs_lacks(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0", device__vendor="ATA", device__model="Samsung SSD 860")
    machine.partition("sda", "sda1")
    properties = {
        "sda": {
            "ID_BUS": "ata",
            "ID_MODEL": "Samsung_SSD_860_EVO_500GB",
            "ID_MODEL_ENC": r"Samsung\x20SSD\x20860\x20EVO\x20500GB\x20\x20\x20",
            "ID_SERIAL": "Samsung_SSD_860_EVO_500GB_S3Z1",
            "ID_SERIAL_SHORT": "S3Z1",
            "DEVLINKS": "/dev/disk/by-id/wwn-0x5002538e /dev/disk/by-path/x /dev/disk/by-id/ata-Samsung_SSD_860_EVO_S3Z1",
            "ID_PART_TABLE_TYPE": "gpt",
        },
        "sda1": {
            "ID_FS_TYPE": "ext4",
            "ID_FS_LABEL": "my_data",
            "ID_FS_LABEL_ENC": r"my\x20data",
            "ID_FS_UUID": "0a1b",
            "ID_SERIAL_SHORT": "S3Z1",
        },
    }
    tree = scanned(machine, properties)
    disk, part = only(tree, "sda"), only(tree, "sda1")
    assert (disk.model, disk.serial) == ("Samsung SSD 860 EVO 500GB", "S3Z1")
    assert disk.by_id == ("ata-Samsung_SSD_860_EVO_S3Z1", "wwn-0x5002538e")
    assert (part.fs_type, part.fs_label, part.fs_uuid, part.serial) == ("ext4", "my data", "0a1b", "")


def test_by_id_names_without_udev(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.by_id("wwn-0x5002", "sda")
    machine.by_id("ata-Disk_1", "sda")
    machine.by_id("ata-Disk_2", "sdz")
    assert only(scanned(machine), "sda").by_id == ("ata-Disk_1", "wwn-0x5002")


def test_escape_sequences_in_models_and_labels_are_made_harmless(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0", device__model="Evil\x1b]52;c;aGk=\x07Disk")
    disk = only(scanned(machine, {"sda": {"ID_FS_TYPE": "ext4", "ID_FS_LABEL_ENC": r"\x1b[2Jx"}}), "sda")
    assert "\x1b" not in disk.model + disk.fs_label
    assert "Evil" in disk.model


def test_raid_rests_on_its_members(machine: Machine) -> None:
    for name in ("sda", "sdb"):
        machine.disk(name, f"{PCI}/ata1/host0/target0:0:0/{name}")
        machine.partition(name, f"{name}1")
    machine.disk("md0", major=9, md__level="raid1")
    machine.stack("md0", "sda1", "sdb1")
    machine.partition("md0", "md0p1")
    machine.mount("md0p1", "/", "ext4")
    tree = scanned(machine)
    array = only(tree, "md0")
    assert (array.kind, array.model, array.parents) == (DeviceKind.RAID, "raid1", ("sda1", "sdb1"))
    assert [disk.name for disk in tree.disks_below("md0p1")] == ["sda", "sdb"]
    assert [layer.name for layer in tree.layers_below("md0p1")] == ["md0", "sda1", "sdb1"]
    assert tree.layers_below("sda1") == tree.layers_below("sda") == tree.layers_below("none") == ()
    assert names(tree) == [
        *[(0, "sda"), (1, "sda1"), (2, "md0"), (3, "md0p1")],
        *[(0, "sdb"), (1, "sdb1"), (2, "md0"), (3, "md0p1")],
    ]


def test_crypt_on_a_partition(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.partition("sda", "sda2")
    machine.disk("dm-0", major=253, dm__name="luks-home", dm__uuid="CRYPT-LUKS2-0a1b-luks-home")
    machine.stack("dm-0", "sda2")
    machine.mount("mapper/luks-home", "/home", "ext4", number="253:2")
    device = only(scanned(machine), "dm-0")
    assert (device.kind, device.dm_name, device.parents) == (DeviceKind.CRYPT, "luks-home", ("sda2",))
    assert (device.mounts[0].path, device.model, device.transport) == ("/home", "", Transport.UNKNOWN)


def test_a_mapped_device_is_called_by_its_own_name(machine: Machine) -> None:
    for number, name in enumerate(("vg-root", "vg-home", "vg-gone", "../sda", "vg\x1b[31m")):
        machine.disk(f"dm-{number}", major=253, dm__name=name, dm__uuid="LVM-abc")
        machine.content(f"dm-{number}", 0, b"")
    machine.mapper("vg-root", "dm-0")
    # A name that leads to another device, and one that no name in a directory can be.
    machine.mapper("vg-home", "dm-0")
    machine.content("sda", 0, b"")
    tree, dev = scanned(machine), machine.roots.dev
    nodes = [only(tree, f"dm-{number}").node for number in range(5)]
    assert nodes == [f"{dev}/mapper/vg-root", *(f"{dev}/dm-{number}" for number in range(1, 5))]
    root = only(tree, "dm-0")
    assert (root.label, root.title) == ("vg-root", "/dev/mapper/vg-root")
    machine.disk("sdb")
    plain = only(scanned(machine), "sdb")
    assert (plain.label, plain.title) == ("sdb", "sdb")


def test_a_volume_is_the_same_target_after_a_reboot(tmp_path: Path) -> None:
    targets = []
    for boot, name in (("first", "dm-0"), ("second", "dm-7")):
        machine = Machine(tmp_path / boot)
        machine.disk(name, major=253, dm__name="vg-data", dm__uuid="LVM-abc")
        machine.content(name, 0, b"")
        machine.mapper("vg-data", name)
        target = resolve_target("vg-data", scanned(machine))
        targets.append((target.path.removeprefix(str(machine.roots.dev)), target.device_title))
    assert targets == [("/mapper/vg-data", "/dev/mapper/vg-data")] * 2


def test_volume_over_two_disks(machine: Machine) -> None:
    for name in ("sda", "sdb"):
        machine.disk(name, f"{PCI}/ata1/host0/target0:0:0/{name}")
    machine.disk("dm-10", major=253, dm__name="vg-root", dm__uuid="LVM-abc")
    machine.stack("dm-10", "sda", "sdb")
    machine.swap("/dev/mapper/vg-root")
    tree = scanned(machine)
    volume = only(tree, "dm-10")
    assert (volume.kind, volume.parents, volume.swap) == (DeviceKind.LVM, ("sda", "sdb"), True)
    assert only(tree, "sdb").children == ("dm-10",)


@pytest.mark.parametrize(
    ("uuid", "kind"),
    [
        ("mpath-36001405", DeviceKind.MULTIPATH),
        ("part1-mpath-36001405", DeviceKind.PARTITION),
        ("", DeviceKind.MAPPER),
        ("stratis-1", DeviceKind.MAPPER),
    ],
)
def test_mapper_kinds(machine: Machine, uuid: str, kind: DeviceKind) -> None:
    machine.disk("dm-3", major=253, dm__name="x", dm__uuid=uuid)
    assert only(scanned(machine), "dm-3").kind is kind


def test_pseudo_devices_come_last_and_hide_when_empty(machine: Machine) -> None:
    machine.disk("loop0", major=7, loop__backing_file="/var/lib/snap core.img")
    machine.disk("loop1", major=7, size=0)
    machine.disk("ram0", major=1)
    machine.disk("zram0", major=252, size=0)
    machine.disk("zram1", major=252)
    machine.disk("nbd0", major=43, size=0)
    machine.disk("sr0", f"{PCI}/ata2/host1/target1:0:0/1:0:0:0", major=11)
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.swap("/dev/zram1")
    tree = scanned(machine)
    assert [name for _, name in names(tree)] == ["sda", "loop0", "sr0", "zram1"]
    assert len(names(tree, show_empty=True)) == 8
    assert only(tree, "loop0").backing_file == "/var/lib/snap core.img"
    assert (only(tree, "sr0").kind, only(tree, "zram1").kind) == (DeviceKind.ROM, DeviceKind.ZRAM)
    assert only(tree, "zram1").swap


def test_numbers_sort_as_numbers(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    for number in (10, 2, 1):
        machine.partition("sda", f"sda{number}")
    assert only(scanned(machine), "sda").children == ("sda1", "sda2", "sda10")


def test_names_with_slashes(machine: Machine) -> None:
    machine.disk("cciss!c0d0", f"{PCI}/cciss0", major=104)
    device = only(scanned(machine), "cciss!c0d0")
    assert device.node == str(machine.roots.dev / "cciss/c0d0")


def test_hidden_paths_are_left_out(machine: Machine) -> None:
    machine.disk("nvme0c0n1", "pci0000:00/0000:01:00.0/nvme/nvme0", hidden="1")
    assert scanned(machine).devices == ()


def test_a_device_that_vanishes_is_left_out(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.disk("sdb", f"{PCI}/ata2/host1/target1:0:0/1:0:0:0")
    machine.remove("sdb")
    assert [device.name for device in scanned(machine).devices] == ["sda"]


def test_a_disk_that_vanishes_under_its_partition(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.partition("sda", "sda1")
    (machine.roots.blocks / "sda").unlink()
    tree = scanned(machine)
    assert names(tree) == [(0, "sda1")]


def test_a_machine_without_block_devices(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert scanned(machine) == DeviceTree()
    machine.roots.blocks.rmdir()
    assert scanned(machine) == DeviceTree()


def test_whole_file_systems_come_before_bind_mounts(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.mount("sda", "/etc/hosts", "ext4", root="/var/lib/docker/hosts")
    machine.mount("sda", "/mnt/with blank", "ext4", "ro,noatime")
    mounts = only(scanned(machine), "sda").mounts
    assert [mount.path for mount in mounts] == ["/mnt/with blank", "/etc/hosts"]
    assert mounts[0].read_only and "rw" not in mounts[0].options
    assert not mounts[1].read_only


def test_btrfs_is_found_by_its_source_and_covers_its_pool(machine: Machine) -> None:
    for name in ("sda", "sdb", "sdc"):
        machine.disk(name, f"{PCI}/ata1/host0/target0:0:0/{name}")
    for name in ("sda", "sdb"):
        (machine.roots.sys / "fs/btrfs/0a1b/devices" / name).mkdir(parents=True)
    machine.mount("sda", "/pool", "btrfs", number="0:39", root="/@")
    tree = scanned(machine)
    assert [device.name for device in tree.devices if device.mounts] == ["sda", "sdb"]
    assert only(tree, "sdb").fs_type == "btrfs"


def test_a_mount_may_not_claim_a_disk_by_a_false_source(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.mount("sda", "/tmp", "tmpfs", number="0:40")
    assert only(scanned(machine), "sda").mounts == ()


def test_a_dead_server_above_a_mount_is_not_asked(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("diskprof.devices.scan.tree.space", asked.append)
    for name in ("sda", "sdb"):
        machine.disk(name, f"{PCI}/ata1/host0/target0:0:0/{name}")
    machine.mount("server:/export", "/net/there", "nfs4", number="0:50")
    machine.mount("sda", "/net/there/disk", "ext4")
    machine.mount("sdb", "/net/thereafter", "ext4")
    tree = scanned(machine)
    assert all(only(tree, name).mounts for name in ("sda", "sdb"))
    assert asked == ["/net/thereafter"]


def test_content_is_read_from_the_device_where_udev_is_silent(machine: Machine) -> None:
    machine.disk("sda", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0")
    machine.content("sda", 0, b"XFSB" + bytes(28) + bytes(range(16)) + bytes(60) + b"archive\0")
    device = only(scanned(machine), "sda")
    assert (device.fs_type, device.fs_label) == ("xfs", "archive")
    assert device.fs_uuid == "00010203-0405-0607-0809-0a0b0c0d0e0f"


def test_a_suspended_mapper_device_is_not_read(machine: Machine) -> None:
    machine.disk("dm-0", major=253, dm__name="x", dm__suspended="1")
    machine.content("dm-0", 0, b"XFSB" + bytes(200))
    assert only(scanned(machine), "dm-0").fs_type == ""


def test_counters_of_every_device(machine: Machine) -> None:
    (machine.roots.proc / "diskstats").write_text(
        " 8 0 sda 10 1 2048 30 20 2 4096 40 3 50 60 7 0 512 9 0 0\n 8 1 sda1 1 0 8 1 0 0 0 0 0 1 1\n 8 2 odd 1 2\n"
    )
    counters = read_counters(machine.roots)
    assert set(counters) == {"sda", "sda1"}
    sda = counters["sda"]
    assert (sda.reads, sda.read_merges, sda.read_bytes, sda.read_ticks_ms) == (10, 1, 2048 * 512, 30)
    assert (sda.writes, sda.write_merges, sda.write_bytes, sda.write_ticks_ms) == (20, 2, 4096 * 512, 40)
    assert (sda.in_flight, sda.io_ticks_ms, sda.queue_ticks_ms) == (3, 50, 60)
    assert (sda.discards, sda.discard_merges, sda.discard_bytes, sda.discard_ticks_ms) == (7, 0, 512 * 512, 9)
    assert (sda.flushes, sda.flush_ticks_ms, counters["sda1"].discards) == (0, 0, None)
