"""What the guard sees of a machine that a test cannot have: volumes, arrays, multipath, pools. The machine is made of files."""

from pathlib import Path

import pytest
from fake_machine import Machine

from diskprof.devices.guard.relations import all_paths, reach
from diskprof.devices.guard.write_hazards import to_hold, write_hazards
from diskprof.devices.scan.tree import build_tree
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.plan import Hazard, Severity, WritePermission

MIB = 1 << 20


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    for name in ("sda", "sdb"):
        made.disk(name)
        made.content(name, 0, b"")
    return made


def tree_of(machine: Machine) -> DeviceTree:
    return build_tree(machine.roots)


def found(
    machine: Machine, name: str, *signatures: str, places: dict[str, str] | None = None, tree: DeviceTree | None = None
) -> list[Hazard]:
    tree = tree or tree_of(machine)
    device = tree.get(name)
    assert device
    return list(write_hazards(device, tree, WritePermission(True, signatures), places or {}, roots=machine.roots))


def blocking(machine: Machine, name: str, *signatures: str, **more: object) -> list[str]:
    hazards = found(machine, name, *signatures, **more)  # type: ignore[arg-type]
    assert [h.severity for h in hazards] == sorted((h.severity for h in hazards), key=list(Severity).index)
    assert all(hazard.advice for hazard in hazards if hazard.severity is Severity.BLOCKS)
    return [hazard.message for hazard in hazards if hazard.severity is Severity.BLOCKS]


def add(machine: Machine, disk: str, *numbers: int, start: int = 1) -> None:
    for number in numbers:
        machine.partition(disk, f"{disk}{number}", start=start * MIB, size=64 * MIB)
        machine.content(f"{disk}{number}", 0, b"")
        start += 64


def volume(machine: Machine, name: str, uuid: str, title: str, *members: str) -> None:
    machine.disk(name, major=252, dm__uuid=uuid, dm__name=title)
    machine.content(name, 0, b"")
    machine.stack(name, *members)


def test_nothing_speaks_against_an_empty_disk(machine: Machine) -> None:
    assert not found(machine, "sda")


def test_a_volume_two_layers_up_is_found_from_the_disk(machine: Machine) -> None:
    add(machine, "sda", 1, 2)
    volume(machine, "dm-0", "CRYPT-LUKS2-x", "cryptdata", "sda2")
    volume(machine, "dm-1", "LVM-abc", "vg-mail", "dm-0")
    machine.mount("dm-1", "/srv/mail", "ext4")
    for target in ("sda", "sda2", "dm-0"):
        messages = blocking(machine, target)
        assert any(
            "/dev/mapper/vg-mail is mounted on /srv/mail: the files there would be destroyed" in each
            for each in messages
        )
        assert any("carries /dev/mapper/" in each for each in messages)
    assert blocking(machine, "dm-1") == [
        "/dev/mapper/vg-mail is mounted on /srv/mail: the files there would be destroyed while they are in use."
    ]
    assert not blocking(machine, "sda1")
    assert not blocking(machine, "sdb")


def test_a_volume_that_is_set_up_but_not_mounted_is_in_use(machine: Machine) -> None:
    add(machine, "sda", 1)
    volume(machine, "dm-0", "LVM-abc", "vg-spare", "sda1")
    for target in ("sda", "sda1"):
        assert any("sda1 carries /dev/mapper/vg-spare:" in each for each in blocking(machine, target))
    # The volume itself is free, and so is a second one beside a mounted one: LVM keeps them apart.
    volume(machine, "dm-1", "LVM-def", "vg-root", "sda1")
    machine.mount("dm-1", "/", "ext4")
    assert not blocking(machine, "dm-0")
    assert any("on the same disk is mounted on /" in hazard.message for hazard in found(machine, "dm-0"))
    assert any("holds /" in each for each in blocking(machine, "dm-0", places={"/": "/"}))


def test_a_member_of_an_array(machine: Machine) -> None:
    for disk in ("sda", "sdb"):
        add(machine, disk, 1)
    machine.disk("md0", major=9, md__level="raid1")
    machine.content("md0", 0, b"")
    machine.stack("md0", "sda1", "sdb1")
    for target in ("sda", "sda1", "sdb", "sdb1"):
        assert any("carries md0" in each for each in blocking(machine, target))
    assert not blocking(machine, "md0")
    machine.mount("md0", "/data", "xfs")
    for target in ("sda", "sda1", "sdb", "sdb1", "md0"):
        assert any("md0 is mounted on /data" in each for each in blocking(machine, target))


def test_an_array_over_whole_disks_protects_their_partitions(machine: Machine) -> None:
    add(machine, "sda", 1)
    machine.disk("md0", major=9, md__level="raid1")
    machine.content("md0", 0, b"")
    machine.stack("md0", "sda", "sdb")
    (message,) = blocking(machine, "sda1")
    assert message.startswith("md0 lies on sda as sda1 does, and whether they share blocks cannot be seen")


def test_a_path_of_a_multipath_map(machine: Machine) -> None:
    volume(machine, "dm-0", "mpath-3600508", "mpatha", "sda", "sdb")
    volume(machine, "dm-1", "part1-mpath-3600508", "mpatha-part1", "dm-0")
    machine.mount("dm-1", "/data", "ext4")
    for target in ("sda", "sdb", "dm-0"):
        assert any("/dev/mapper/mpatha-part1 is mounted on /data" in each for each in blocking(machine, target))
    assert any("sda carries /dev/mapper/mpatha:" in each for each in blocking(machine, "sda"))


def test_two_paths_without_a_map_are_one_disk(machine: Machine) -> None:
    for name in ("sdc", "sdd", "sde"):
        serial = "S3R1AL" if name != "sde" else "OTHER"
        machine.disk(name, device__serial=serial, device__model="SAN LUN")
        machine.content(name, 0, b"")
    add(machine, "sdd", 1)
    machine.mount("sdd1", "/san", "xfs")
    (message,) = blocking(machine, "sdc")
    assert message.startswith("sdd is the same disk as sdc, by its serial number. sdd1 is mounted on /san")
    assert not blocking(machine, "sde")


def paths(machine: Machine, *names: str, **identity: str) -> None:
    """Two paths to one disk or more, no map over them; by default they have a serial number in common."""
    for name in names:
        machine.disk(name, **(identity or {"device__serial": "S3R1AL", "device__model": "SAN LUN"}))
        machine.content(name, 0, b"")


def test_a_partition_is_in_use_by_every_path_to_its_disk(machine: Machine) -> None:
    paths(machine, "sdc", "sdd")
    add(machine, "sdc", 1, 2)
    add(machine, "sdd", 1, 2)
    machine.mount("sdd1", "/san", "ext4")
    (message,) = blocking(machine, "sdc1")
    assert message.startswith(
        "sdd1 overlaps with sdc1: sdd is the same disk as sdc, by its serial number. sdd1 is mounted on /san"
    )
    tree = tree_of(machine)
    first, second = tree.get("sdc1"), tree.get("sdc2")
    assert first and [device.name for device in to_hold(first, tree)] == ["sdd1"]
    # The rest of the disk is another matter: it is told that it gets slower.
    assert second and not blocking(machine, "sdc2")
    assert any("sdd1 on the same disk is mounted on /san" in hazard.message for hazard in found(machine, "sdc2"))


def test_the_world_wide_name_alone_tells_a_second_path(machine: Machine) -> None:
    machine.disk("sdc", device__wwid="naa.600508b1001c4d2f")
    machine.disk("sdd", device__wwid="naa.600508b1001c4d2f", device__model="seen through another driver", size=1 << 31)
    machine.disk("sde", device__wwid="naa.600508b1001c4d30")
    for name in ("sdc", "sdd", "sde"):
        machine.content(name, 0, b"")
        add(machine, name, 1)
    machine.mount("sdd1", "/san", "ext4")
    for target in ("sdc", "sdc1"):
        assert any("by its world-wide name. sdd1 is mounted on /san" in each for each in blocking(machine, target))
    assert not blocking(machine, "sde") and not blocking(machine, "sde1")


def test_paths_that_have_no_name_in_common_are_known_by_a_third(machine: Machine) -> None:
    machine.disk("sdc", device__serial="S3R1AL", device__model="SAN LUN")
    machine.disk("sdd", device__serial="S3R1AL", device__model="SAN LUN", device__wwid="naa.600508b1001c4d2f")
    machine.disk("sde", device__wwid="naa.600508b1001c4d2f")
    tree = tree_of(machine)
    for name in ("sdc", "sde"):
        disk = tree.get(name)
        assert disk and [each.name for each in all_paths([disk], tree)] == ["sdc", "sdd", "sde"]
    other = tree.get("sda")
    assert other and all_paths([other], tree) == (other,)


@pytest.mark.parametrize("name", ["", "naa.0000000000000000", "eui.0000000000000000"])
def test_no_world_wide_name_is_nobodys(machine: Machine, name: str) -> None:
    paths(machine, "sdc", "sdd", device__wwid=name, device__model="cheap")
    machine.mount("sdd", "/stick", "vfat")
    assert not blocking(machine, "sdc")


def test_namespaces_of_one_drive_are_disks_of_their_own(machine: Machine) -> None:
    for number in ("1", "2"):
        machine.disk(f"nvme0n{number}", device__serial="S64D", device__model="PM9A3", wwid=f"eui.00253845{number}")
        machine.content(f"nvme0n{number}", 0, b"")
    machine.mount("nvme0n2", "/data", "xfs")
    assert not blocking(machine, "nvme0n1")


def test_a_partition_that_overlaps_by_the_other_path(machine: Machine) -> None:
    paths(machine, "sdc", "sdd")
    machine.partition("sdc", "sdc1", start=1 * MIB, size=64 * MIB)
    machine.partition("sdd", "sdd1", start=64 * MIB, size=64 * MIB)
    machine.partition("sdd", "sdd2", start=65 * MIB + 64 * MIB, size=64 * MIB)
    for name in ("sdc1", "sdd1", "sdd2"):
        machine.content(name, 0, b"")
    machine.swap("/dev/sdd1")
    assert any("sdd1 overlaps with sdc1" in each and "is swap" in each for each in blocking(machine, "sdc1"))
    machine.swap("/dev/sdd2")
    assert not blocking(machine, "sdc1")


@pytest.mark.parametrize(("uuid", "title"), [("LVM-abc", "vg-data"), ("CRYPT-LUKS2-x", "secret")])
def test_a_volume_on_one_path_is_in_use_by_the_other(machine: Machine, uuid: str, title: str) -> None:
    paths(machine, "sdc", "sdd")
    add(machine, "sdc", 1, 2)
    add(machine, "sdd", 1, 2)
    volume(machine, "dm-0", uuid, title, "sdd1")
    for target in ("sdc", "sdc1"):
        assert any(f"sdd1 carries /dev/mapper/{title}" in each for each in blocking(machine, target))
    assert not blocking(machine, "sdc2")
    machine.mount("sdc1", "/odd", "ext4")
    assert any("sdc1 is mounted on /odd" in each for each in blocking(machine, "dm-0"))


def test_an_array_on_one_path_is_in_use_by_the_other(machine: Machine) -> None:
    paths(machine, "sdc", "sdd")
    add(machine, "sdc", 1)
    add(machine, "sdd", 1)
    machine.disk("md0", major=9, md__level="raid1")
    machine.content("md0", 0, b"")
    machine.stack("md0", "sda", "sdd1")
    for target in ("sdc", "sdc1"):
        assert any("sdd1 carries md0" in each for each in blocking(machine, target))


def test_a_disk_that_is_used_as_a_whole_by_the_other_path(machine: Machine) -> None:
    """The other path knows of no partition: nobody read the table again."""
    paths(machine, "sdc", "sdd")
    add(machine, "sdc", 1)
    volume(machine, "dm-0", "LVM-abc", "vg-data", "sdd")
    assert any("/dev/mapper/vg-data lies on sdd as sdc1 does" in each for each in blocking(machine, "sdc1"))
    machine.mount("sdd", "/data", "xfs")
    assert any("sdd is mounted on /data" in each for each in blocking(machine, "sdc1"))


def test_a_path_that_is_not_in_the_map(machine: Machine) -> None:
    paths(machine, "sdc", "sdd")
    add(machine, "sdc", 1)
    add(machine, "sdd", 1)
    volume(machine, "dm-0", "mpath-3600508", "mpatha", "sdc")
    volume(machine, "dm-1", "part1-mpath-3600508", "mpatha-part1", "dm-0")
    assert any("sdc carries /dev/mapper/mpatha" in each for each in blocking(machine, "sdd"))
    assert any("/dev/mapper/mpatha lies on sdc as sdd1 does" in each for each in blocking(machine, "sdd1"))
    assert not blocking(machine, "dm-1")
    machine.mount("sdd1", "/data", "ext4")
    for target in ("dm-0", "dm-1"):
        assert any("sdd1 is mounted on /data" in each for each in blocking(machine, target))


def test_no_part_of_the_systems_disk_is_written_to_by_another_path(machine: Machine) -> None:
    paths(machine, "sdc", "sdd")
    add(machine, "sdc", 1)
    add(machine, "sdd", 1, 2)
    machine.mount("sdd2", "/", "ext4")
    assert any("sdd holds /: this machine runs" in each for each in blocking(machine, "sdc1", places={"/": "/"}))


def test_what_lies_below_a_partition_of_an_array_is_followed_to_its_disks(machine: Machine) -> None:
    machine.disk("md126", major=9, md__level="raid1")
    machine.content("md126", 0, b"")
    machine.stack("md126", "sda", "sdb")
    add(machine, "md126", 1, 2)
    volume(machine, "dm-0", "LVM-abc", "vg-data", "md1262")
    assert not blocking(machine, "dm-0")
    machine.mount("md1261", "/boot", "ext4")
    assert any("md1261 on the same disk is mounted on /boot" in hazard.message for hazard in found(machine, "dm-0"))
    machine.swap("/dev/sda")
    for target in ("dm-0", "md1262", "md126"):
        assert any("sda is swap" in each for each in blocking(machine, target))


def test_luns_with_world_wide_names_of_their_own_are_disks_of_their_own(machine: Machine) -> None:
    """The two actuators of one drive, or an array that gives its own serial number to every LUN."""
    for name, wwid in (("sdc", "naa.5000c500a1b2c3d4"), ("sdd", "naa.5000c500a1b2c3d5")):
        machine.disk(name, device__serial="S3R1AL", device__model="2X14", device__wwid=wwid)
        machine.content(name, 0, b"")
    machine.mount("sdd", "/data", "xfs")
    assert not blocking(machine, "sdc")


def test_nvme_drives_with_a_name_that_is_not_theirs_alone(machine: Machine) -> None:
    for number in ("0", "1"):
        where = f"pci0000:00/nvme/nvme{number}"
        machine.disk(f"nvme{number}n1", where, device__serial=f"S64{number}", wwid="eui.0100000000000001")
        machine.content(f"nvme{number}n1", 0, b"")
    machine.mount("nvme1n1", "/data", "xfs")
    assert not blocking(machine, "nvme0n1")


def test_the_partitions_of_a_maps_paths_are_not_had_beside_it(machine: Machine) -> None:
    add(machine, "sda", 1)
    volume(machine, "dm-0", "mpath-3600508", "mpatha", "sda", "sdb")
    tree = tree_of(machine)
    target = tree.get("dm-0")
    assert target and to_hold(target, tree) == ()
    machine.mount("sda1", "/early", "ext4")
    assert any("sda1 is mounted on /early" in each for each in blocking(machine, "dm-0"))


def test_two_mappings_of_one_member_share_its_bytes(machine: Machine) -> None:
    volume(machine, "dm-0", "", "plain", "sda")
    volume(machine, "dm-1", "CRYPT-x", "crypt", "sda")
    machine.mount("dm-1", "/secret", "ext4")
    assert any(
        "/dev/mapper/crypt lies on sda as /dev/mapper/plain does. /dev/mapper/crypt is mounted on /secret" in each
        for each in blocking(machine, "dm-0")
    )


def test_a_volume_with_a_snapshot(machine: Machine) -> None:
    volume(machine, "dm-0", "LVM-abc-real", "vg-data-real", "sda")
    volume(machine, "dm-1", "LVM-def-cow", "vg-snap-cow", "sda")
    volume(machine, "dm-2", "LVM-abc", "vg-data", "dm-0")
    volume(machine, "dm-3", "LVM-def", "vg-snap", "dm-0", "dm-1")
    (message,) = blocking(machine, "dm-2")
    assert message.startswith("/dev/mapper/vg-snap is a snapshot of /dev/mapper/vg-data: what is overwritten is copied")


def test_the_partitions_of_a_volume_are_told_by_their_names(machine: Machine) -> None:
    volume(machine, "dm-0", "mpath-3600508", "mpatha", "sda", "sdb")
    volume(machine, "dm-1", "part1-mpath-3600508", "mpatha-part1", "dm-0")
    machine.content("dm-0", 510, b"\x55\xaa")
    machine.content("dm-0", 446, b"\x80\0\0\0\x83\0\0\0\0\x08\0\0\0\0\x02\0")
    assert any(
        "/dev/mapper/mpatha has a partition table (dos): its partitions would be lost: /dev/mapper/mpatha-part1."
        in each
        for each in blocking(machine, "dm-0")
    )


def test_who_has_a_partition_is_who_has_its_disk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diskprof.devices.guard.write_hazards.held_exclusively", lambda device: device.name == "sda")
    add(machine, "sda", 1, 2)
    assert any("Something uses sda exclusively" in each for each in blocking(machine, "sda"))
    machine.mount("sda2", "/data", "ext4")
    (message,) = blocking(machine, "sda")
    assert message.startswith("sda2 is mounted on /data")


def test_partitions_that_overlap(machine: Machine) -> None:
    machine.partition("sda", "sda1", start=1 * MIB, size=64 * MIB)
    machine.partition("sda", "sda2", start=64 * MIB, size=64 * MIB)
    machine.partition("sda", "sda3", start=128 * MIB, size=64 * MIB)
    for number in (1, 2, 3):
        machine.content(f"sda{number}", 0, b"")
    machine.mount("sda1", "/data", "ext4")
    assert any("sda1 overlaps with sda2. sda1 is mounted on /data" in each for each in blocking(machine, "sda2"))
    assert not blocking(machine, "sda3")
    tree = tree_of(machine)
    second = tree.get("sda2")
    assert second and [device.name for device in to_hold(second, tree)] == ["sda1"]


def test_a_disk_mounted_as_a_whole_protects_its_stale_partitions(machine: Machine) -> None:
    add(machine, "sda", 1)
    machine.mount("sda", "/data", "ext4")
    assert any("sda is mounted on /data" in each for each in blocking(machine, "sda1"))


def test_every_member_of_a_mounted_pool(machine: Machine) -> None:
    devices = machine.roots.sys / "fs" / "btrfs" / "b7f1" / "devices"
    devices.mkdir(parents=True)
    (devices / "sda").mkdir()
    (devices / "sdb").mkdir()
    for target in ("sda", "sdb"):
        assert any("belongs to a mounted btrfs file system" in each for each in blocking(machine, target))


def namespace(machine: Machine, pid: int, program: str, mounts: str) -> None:
    process = machine.roots.proc / str(pid)
    (process / "ns").mkdir(parents=True)
    (process / "ns" / "mnt").symlink_to(f"mnt:[{pid}]")
    (process / "root").symlink_to("/")
    (process / "comm").write_text(program + "\n")
    (process / "mountinfo").write_text(mounts)


def test_mounts_of_other_namespaces(machine: Machine) -> None:
    add(machine, "sda", 1)
    number = (machine.roots.blocks / "sda1" / "dev").read_text().strip()
    namespace(machine, 4711, "dockerd\x1b[2J", f"7001 1 {number} / /var/lib/docker rw - ext4 /dev/sda1 rw\n")
    pooled = machine.roots.dev / "sdb"
    namespace(machine, 4712, "lxc", f"7002 1 0:77 /sub /pool rw - btrfs {pooled} rw\n")
    for target in ("sda", "sda1"):
        (message,) = blocking(machine, target)
        assert "sda1 is mounted on /var/lib/docker" in message and "(process 4711)" in message
        assert "\x1b" not in message
    (message,) = blocking(machine, "sdb")
    assert "sdb is mounted on /pool" in message


def test_swap(machine: Machine) -> None:
    add(machine, "sda", 1)
    machine.swap(str(machine.roots.dev / "sda1"), "/dev/sda1")
    for target in ("sda", "sda1"):
        assert any("sda1 is swap: memory of running programs" in each for each in blocking(machine, target))


# --- The machine's own disks -----------------------------------------------------------------------------------------


def test_no_part_of_the_systems_disk_is_written_to(machine: Machine) -> None:
    add(machine, "sda", 1, 2, 3)
    machine.mount("sda1", "/", "ext4")
    machine.mount("sda2", "/home", "ext4")
    places = {"/": "/", "/home": "/home", "/home/me/runs.db": "the run database"}
    for target in ("sda", "sda3"):
        messages = blocking(machine, target, places=places)
        assert any("sda holds /, /home and the run database: this machine runs" in each for each in messages)
    assert not blocking(machine, "sdb", places=places)


def test_the_disk_below_an_image_that_the_system_runs_from(machine: Machine) -> None:
    add(machine, "sda", 1, 2)
    machine.mount("sda1", "/isodevice", "vfat")
    machine.disk("loop0", major=7, loop__backing_file="/isodevice/root.img")
    machine.mount("loop0", "/", "ext4")
    assert any("sda holds /" in each for each in blocking(machine, "sda2", places={"/": "/"}))


def test_a_loop_over_a_file_on_the_systems_disk_is_another_matter(machine: Machine) -> None:
    add(machine, "sda", 1)
    machine.mount("sda1", "/", "ext4")
    machine.disk("loop0", major=7, loop__backing_file="/var/tmp/disk.img")
    machine.content("loop0", 0, b"")
    assert not blocking(machine, "loop0", places={"/": "/", "/home": "/home"})


# --- What lies there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "magic", "kind", "lost"),
    [
        (0, b"LUKS\xba\xbe\0\x02", "crypto_LUKS", "the key to all that is encrypted on it would be lost"),
        (536, b"LVM2 001", "LVM2_member", "its part of a volume group would be lost"),
        (0x1000, bytes.fromhex("fc4e2ba9"), "linux_raid_member", "its part of a RAID array would be lost"),
        (0, b"XFSB", "xfs", "all files on it would be lost"),
        (4086, b"SWAPSPACE2", "swap", "what is swapped out or hibernated there would be lost"),
        (512, b"EFI PART", "gpt", "its partitions would be lost"),
    ],
)
def test_each_signature_says_what_would_be_lost(
    machine: Machine, offset: int, magic: bytes, kind: str, lost: str
) -> None:
    machine.content("sda", offset, magic)
    (message,) = blocking(machine, "sda")
    assert kind in message and lost in message
    assert not blocking(machine, "sda", kind)
    (given_up,) = found(machine, "sda", kind)
    assert given_up.severity is Severity.WARNS and lost in given_up.message
    assert blocking(machine, "sda", "ext4") and blocking(machine, "sda", "")


def test_a_signature_can_be_given_up_but_never_a_use(machine: Machine) -> None:
    machine.content("sda", 0x438, b"\x53\xef")
    machine.mount("sda", "/data", "ext2")
    assert blocking(machine, "sda", "ext2") == [
        "sda is mounted on /data: the files there would be destroyed while they are in use."
    ]


def test_what_only_udev_knows_counts_too(machine: Machine) -> None:
    def lookup(name: str) -> dict[str, str]:
        return {"ID_FS_TYPE": "drbd", "ID_FS_LABEL": "r0\x1b[2J"} if name == "sda" else {}

    tree = build_tree(machine.roots, lookup)
    (message,) = blocking(machine, "sda", tree=tree)
    assert "sda holds drbd" in message and "\x1b" not in message
    assert not blocking(machine, "sda", "drbd", tree=tree)


def test_a_device_that_cannot_be_looked_at_is_not_written_to(machine: Machine) -> None:
    (machine.roots.dev / "sda").unlink()
    assert any("nobody knows what would be lost" in each for each in blocking(machine, "sda"))


def test_read_only(machine: Machine) -> None:
    (machine.roots.blocks / "sda" / "ro").write_text("1\n")
    assert any("read-only" in each for each in blocking(machine, "sda"))


def test_a_circle_of_devices_ends() -> None:
    """What no kernel should say, and a damaged sysfs might."""
    x = Device("x", "/nowhere/x", DeviceKind.DISK, 8, 1, MIB, parents=("y",), children=("y",))
    y = Device("y", "/nowhere/y", DeviceKind.DISK, 8, 2, MIB, parents=("x",), children=("x",))
    assert {each.device.name for each in reach(x, DeviceTree((x, y))).touched} == {"x", "y"}
