"""What is in use is not written to, under any name; what is unused is, and nothing beside it. With every consent that there is.

The file systems are frozen meanwhile: what they write by themselves is no sign of anything. So the images of the disks have to be
the same, byte for byte, before and after.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from vm.guest import Done, Guest
from vm.machine import DISKS

pytestmark = pytest.mark.usefixtures("storage")

TYPES = ["gpt", "ext4", "xfs", "swap", "LVM2_member", "linux_raid_member", "btrfs", "crypto_LUKS", "mpath_member"]
MOUNTS = [
    "/mnt/nvme",
    "/mnt/lv",
    "/mnt/secret",
    "/mnt/md",
    "/mnt/btrfs",
    "/mnt/path",
    "/mnt/pair",
    "/mnt/nameless",
    "/mnt/stick",
]
LINKS = ["by-id", "by-path", "by-label", "by-partlabel", "by-partuuid", "by-uuid", "by-diskseq"]
UNUSED = ("VMSATA0001", "VMVIRTIO0001")
PATHS = ("VMPAIR0001", "5000000000000222")
PATH_IMAGES = ("pair", "nameless")
MIB = 1 << 20
WRITTEN = 16 * MIB

ALIASES = (
    "/root/alias/node",
    "alias/node",
    "/root/alias/link",
    "/root/alias/link-to-link",
    "/root/alias/dev/nvme0n1p1",
    "/root/alias/bound",
    "//dev/nvme0n1p1",
    "/dev/../dev/nvme0n1p1",
    "/proc/self/root/dev/nvme0n1p1",
    "/dev/block/{number}",
    "nvme0n1p1",
)
"""Names of the partition of the NVMe disk that is mounted; `number` is that of its device."""
_MAKE_ALIASES = """
mkdir -p /root/alias/dev && cd /root/alias && touch bound
mknod node b $(lsblk -dnro MAJ:MIN /dev/nvme0n1p1 | tr : ' ')
ln -s /dev/nvme0n1p1 link; ln -s link link-to-link
mount --bind /dev dev; mount --bind /dev/nvme0n1p1 bound
"""
_REMOVE_ALIASES = "cd /root; umount alias/dev alias/bound; rm -rf --one-file-system alias"


def write(name: str, confirm: str, *, types: list[str] = TYPES) -> list[str]:
    """The words of a command that overwrites the beginning of a device, with every consent."""
    words = ["run", "streaming-write", name, "--set", f"size={WRITTEN // MIB}m", "--set", "runtime=1"]
    words += ["--allow-write", "--confirm-device", confirm, "--yes"]
    return words + [word for one in types for word in ("--overwrite-signature", one)]


def blocks(image: Path) -> dict[int, bytes]:
    """The SHA-256 of each MiB of a sparse file that is not all zeros, by its number."""
    found = {}
    with image.open("rb") as file:
        at, end = 0, image.stat().st_size
        while at < end:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // MIB * MIB
            except OSError:  # no more data
                break
            file.seek(at)
            if (data := file.read(MIB)).strip(b"\0"):
                found[at // MIB] = hashlib.sha256(data).digest()
            at += MIB
    return found


@dataclass
class Watched:
    """Images of disks, as they were and as they are. `changed` has the numbers of the MiB that differ, by image."""

    changed: dict[str, list[int]] = field(default_factory=dict)


@contextmanager
def watched(guest: Guest, *images: str) -> Iterator[Watched]:
    """Compares images before and after, while all file systems of storage.sh are frozen."""
    freeze = "for m in " + " ".join(MOUNTS) + "; do fsfreeze {} $m; done"
    guest.run("sync; " + freeze.format("-f"))
    # An array writes down that it is clean a moment later.
    writes = "awk '$3 !~ /^vda/ {sum += $8} END {print sum}' /proc/diskstats"
    guest.until(f"before=$({writes}); sleep 1; [ $({writes}) = $before ]", "the disks to be at rest")
    before = {name: blocks(guest.machine.image(name)) for name in images}
    found = Watched()
    try:
        yield found
        guest.run("sync")
        # A file system that thaws writes that down (F85).
        after = {name: blocks(guest.machine.image(name)) for name in images}
    finally:
        guest.run(freeze.format("-u"))
    for name, old in before.items():
        new = after[name]
        found.changed |= {name: sorted(number for number in old | new if old.get(number) != new.get(number))}
    found.changed = {name: numbers for name, numbers in found.changed.items() if numbers}


# --- Every name -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Matrix:
    """What became of a write to everything in use, by every name of it, and which images it changed."""

    done: dict[str, Done]
    changed: dict[str, list[int]]


def names_in_use(guest: Guest) -> dict[str, str]:
    """Names of what is in use, but for the paths without a map, and the kernel name of each: all nodes, and each kind of link
    for each kind of device."""
    # A volume and an array that are set up and not mounted are nobody's: only what they stand on is in use.
    idle = guest.out("basename -a $(realpath /dev/vgpair/lvpair /dev/md1)").split()
    spare = ("nvme0n1p3", *idle, *(node[5:] for serial in (*UNUSED, *PATHS) for node in guest.nodes(serial)))
    targets = dict.fromkeys(ALIASES, "nvme0n1p1")
    types = {}
    for line in guest.out("lsblk -nro KNAME,PATH,TYPE | sort -u").splitlines():
        kernel_name, path, types[kernel_name] = line.split()
        targets |= {path: kernel_name, f"/dev/{kernel_name}": kernel_name}
    places = " ".join(f"/dev/disk/{place}" for place in LINKS)
    script = (
        f"find {places} /dev/mapper /dev/md /dev/vg* -type l -printf '%p ' -exec realpath {{}} \\; 2>/dev/null; true"
    )
    kinds = set()
    for line in guest.out(script).splitlines():
        link, node = line.split()
        kernel_name = node.removeprefix("/dev/")
        kind = (Path(link).parent, Path(link).name.partition("-")[0], types.get(kernel_name))
        if kernel_name in types and not kernel_name.startswith(spare) and kind not in kinds:
            kinds.add(kind)
            targets[link] = kernel_name
    return {name: kernel_name for name, kernel_name in targets.items() if not kernel_name.startswith(spare)}


@pytest.fixture(scope="module")
def matrix(booted: Guest) -> Matrix:
    booted.run(_MAKE_ALIASES)
    try:
        names = names_in_use(booted)
        with watched(booted, *(disk.name for disk in DISKS)) as seen:
            number = booted.out("lsblk -dnro MAJ:MIN /dev/nvme0n1p1")
            done = booted.many([write(name.format(number=number), of) for name, of in names.items()])
    finally:
        booted.run(_REMOVE_ALIASES)
    return Matrix(dict(zip(names, done, strict=True)), seen.changed)


@pytest.mark.parametrize("name", ALIASES)
def test_another_name_of_a_mounted_partition_is_refused(guest: Guest, matrix: Matrix, name: str) -> None:
    assert matrix.done[name].rc == 4, matrix.done[name]


def test_nothing_in_use_is_written_to_by_any_name(guest: Guest, matrix: Matrix) -> None:
    assert len(matrix.done) > 60
    assert not [str(done) for done in matrix.done.values() if done.rc != 4]


def test_no_byte_of_any_disk_changed(guest: Guest, matrix: Matrix) -> None:
    assert matrix.changed == {}


# --- What is unused ---------------------------------------------------------------------------------------------------


def test_what_is_unused_is_written_to_and_nothing_beside_it(guest: Guest) -> None:
    with watched(guest, *(disk.name for disk in DISKS)) as seen:
        (done,) = guest.many([write("/dev/nvme0n1p3", "nvme0n1p3", types=["xfs"])])
    assert done.rc == 0, done
    start = int(guest.out("cat /sys/block/nvme0n1/nvme0n1p3/start")) * 512 // MIB
    assert seen.changed == {"VMNVME0001": list(range(start, start + WRITTEN // MIB))}


def test_what_lies_on_an_unused_disk_is_given_up_by_its_own_name_only(guest: Guest) -> None:
    disk, virtio = guest.node("VMSATA0001"), guest.node("VMVIRTIO0001")
    commands = {
        f"{disk}1: nothing given up": (write(f"{disk}1", f"{disk[5:]}1", types=[]), 4),
        f"{disk}: its partition's file system is not": (write(disk, disk[5:], types=["gpt"]), 4),
        f"{virtio}: another type": (write(virtio, virtio[5:], types=["ext4", "gpt"]), 4),
        f"{disk}: another name": (write(disk, "sdzz"), 4),
        f"{disk}: the name of another disk": (write(disk, virtio[5:]), 4),
        f"{virtio}: a volume group that is not active": (write(virtio, virtio[5:], types=["LVM2_member"]), 0),
        f"{disk}: by its serial number, all given up": (write(disk, "VMSATA0001", types=["gpt", "ext4"]), 0),
    }
    done = guest.many([words for words, _ in commands.values()], at_once=1)
    assert {what: one.rc for what, one in zip(commands, done, strict=True)} == {
        what: rc for what, (_, rc) in commands.items()
    }


# --- Two paths to one disk, without a map -----------------------------------------------------------------------------

OTHER_PATH = {
    "the whole disk": "pair",
    "a partition that is mounted": "pair1",
    "a partition with a volume group": "pair2",
    "a partition with a member of an array": "pair3",
    "a partition that overlaps with the mounted one": "pair9",
    "the whole disk, by the wwid alone": "nameless",
    "a partition that is mounted, by the wwid alone": "nameless1",
}
"""What is written to by the second path, while the first has it in use."""


@pytest.fixture(scope="module")
def by_the_other_path(booted: Guest) -> Matrix:
    second = {"pair": booted.nodes("VMPAIR0001")[1], "nameless": nameless(booted)[1]}
    # The table that the second path has need not be that of the first.
    start, size = (int(booted.out(f"cat /sys/class/block/{second['pair'][5:]}1/{what}")) for what in ("start", "size"))
    booted.run(f"delpart {second['pair']} 1 && addpart {second['pair']} 9 {start + 2048} {size - 4096}; udevadm settle")
    overlapping = write(f"{second['pair']}9", f"{second['pair'][5:]}9")
    with watched(booted, *PATH_IMAGES) as seen:
        (last,) = booted.many([overlapping])
        booted.run(f"delpart {second['pair']} 9; partprobe {second['pair']}; udevadm settle")
        nodes = {
            what: f"{second[name.rstrip('0123456789')]}{name[-1] if name[-1].isdigit() else ''}"
            for what, name in OTHER_PATH.items()
        }
        rest = {what: node for what, node in nodes.items() if not node.endswith("9")}
        done = booted.many([write(node, node[5:]) for node in rest.values()])
    return Matrix(
        dict(zip(rest, done, strict=True)) | {"a partition that overlaps with the mounted one": last}, seen.changed
    )


def nameless(guest: Guest) -> list[str]:
    """The two paths to the disk that has no serial number."""
    rows = guest.out("lsblk -dnpro NAME,WWN").splitlines()
    return [row.split()[0] for row in rows if row.split()[1:] == ["0x5000000000000222"]]


@pytest.mark.parametrize("what", OTHER_PATH)
def test_what_one_path_has_in_use_is_refused_by_the_other(guest: Guest, by_the_other_path: Matrix, what: str) -> None:
    assert by_the_other_path.done[what].rc == 4, by_the_other_path.done[what]


def test_no_byte_of_a_disk_with_two_paths_changed(guest: Guest, by_the_other_path: Matrix) -> None:
    assert by_the_other_path.changed == {}


def test_a_path_that_appears_while_the_person_types_is_seen_at_the_start(guest: Guest) -> None:
    words = "run streaming-write {} --set size=16m --set runtime=1 --allow-write --overwrite-signature ext4"
    with guest.machine.plugged("scsi", "VMLATE0001"):
        first = guest.node("VMLATE0001")
        guest.run(f"parted -s {first} mklabel gpt mkpart data 1MiB 300MiB; udevadm settle; mkfs.ext4 -q {first}1; sync")
        with guest.screen(f"diskprof {words.format(f'{first}1')}") as screen:
            screen.wait_for("To start, type")
            with guest.machine.plugged("scsi", "VMLATE0001-b", bus="scsi1", drive="VMLATE0001"):
                guest.until_value(lambda: len(guest.nodes("VMLATE0001")) == 2, "the second path")
                (second,) = set(guest.nodes("VMLATE0001")) - {first}
                guest.until(f"test -b {second}1 && mkdir -p /mnt/late && mount {second}1 /mnt/late")
                screen.press(f"{first[5:]}1", "Enter")
                said = screen.wait_for("exit code")
                guest.run("umount /mnt/late")
                assert "exit code 4" in said
                guest.run(f"e2fsck -fn {second}1")
