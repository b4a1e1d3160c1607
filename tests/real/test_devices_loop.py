"""Real devices: loop devices that come, are partitioned, mounted, read, throttled, and go."""

import mmap
import os
import select
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import diskprof, diskprof_json
from loops import MIB, Loops, call
from program import diskprof as from_scratch

from diskprof.devices.guard.target_hazards import target_hazards
from diskprof.devices.machine.environment import describe
from diskprof.devices.machine.watch import SystemWatch
from diskprof.devices.scan.sysfs import read_counters
from diskprof.devices.scan.udev import Monitor, scan, topology
from diskprof.devices.targets import resolve_target, suggest_directory
from diskprof.model.device import Device, DeviceKind, DeviceTree, Transport
from diskprof.model.errors import UsageError
from diskprof.model.plan import Severity
from diskprof.model.sample import Phase
from diskprof.model.target import TargetKind

pytestmark = pytest.mark.needs("root", "loop")

SOON_S = 10.0


def attached(loops: Loops, image: Path, *options: str) -> str:
    """The kernel name of a new loop device on `image`."""
    return Path(loops.attach(image, *options)).name


def partitioned(loops: Loops, image: Path, *partitions: tuple[int, int]) -> str:
    """As `attached`, with partitions of (first byte, bytes)."""
    name = attached(loops, image, "--partscan")
    loops.partition(f"/dev/{name}", *partitions)
    return name


def mounted(loops: Loops, name: str, *options: str) -> Path:
    return loops.mount(f"/dev/{name}", *options, name=f"mount of {name}")


def device(name: str) -> Device:
    found = scan().get(name)
    assert found
    return found


def wait_for(monitor: Monitor, condition: Callable[[DeviceTree], bool]) -> None:
    """Waits as an event loop does: for the descriptor, then for the answer."""
    while not condition(scan()):
        readable, _, _ = select.select([monitor], [], [], SOON_S)
        assert readable, "no event came"
        monitor.changed()


@pytest.mark.needs("mkfs.ext4", "mount")
def test_a_partitioned_disk(loops: Loops) -> None:
    image = loops.image(64 * MIB)
    disk = partitioned(loops, image, (MIB, 32 * MIB), (33 * MIB + 512, 16 * MIB))
    call("mkfs.ext4", "-q", "-L", "with blank", f"/dev/{disk}p1")
    where = mounted(loops, f"{disk}p1")
    whole, first, second = device(disk), device(f"{disk}p1"), device(f"{disk}p2")
    assert (whole.kind, whole.transport, whole.size_bytes) == (DeviceKind.LOOP, Transport.LOOP, 64 * MIB)
    assert whole.backing_file == str(image)
    assert whole.children == (first.name, second.name)
    assert (first.kind, first.parents, first.start_bytes) == (DeviceKind.PARTITION, (disk,), MIB)
    assert (first.fs_type, first.fs_label, len(first.fs_uuid)) == ("ext4", "with blank", 36)
    (mount,) = first.mounts
    assert (mount.path, mount.fs_type, mount.read_only) == (str(where), "ext4", False)
    assert mount.size_bytes and mount.free_bytes and mount.free_bytes < mount.size_bytes < 33 * MIB
    assert (second.start_bytes, second.mounts, second.fs_type) == (33 * MIB + 512, (), "")
    assert whole.logical_block_size == 512 and whole.diskseq is not None
    assert first.diskseq == whole.diskseq


def test_what_stands_on_what_is_known_without_reading_from_a_disk(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blank disk, of which udev has nothing to tell either; reads of it would show in the figures of a test that is under way."""
    disk = attached(loops, loops.image(64 * MIB))
    opened: list[str] = []
    plain_open = os.open

    def noting(path: Any, flags: int, *more: Any, **named: Any) -> int:
        opened.append(str(path))
        return plain_open(path, flags, *more, **named)

    # What others on this machine read of it meanwhile is counted in /sys, too.
    monkeypatch.setattr(os, "open", noting)
    assert topology().get(disk) is not None
    assert f"/dev/{disk}" not in opened
    assert scan().get(disk) == topology().get(disk)
    assert f"/dev/{disk}" in opened


@pytest.mark.needs("mkfs.ext4", "mount")
def test_targets_and_hazards_on_it(loops: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = partitioned(loops, loops.image(64 * MIB), (63 * 512, 32 * MIB))
    call("mkfs.ext4", "-q", f"/dev/{disk}p1")
    where = mounted(loops, f"{disk}p1")
    below = where / "below"
    below.mkdir()
    tree = scan()
    target = resolve_target(str(below), tree)
    assert (target.kind, target.device, target.mount_point) == (TargetKind.DIRECTORY, f"{disk}p1", str(where))
    assert target.fs_type == "ext4" and target.free_bytes
    hazards = {
        hazard.name: hazard
        for hazard in target_hazards(target, tree, writes_file=True, writes_device=False, space_needed=MIB)
    }
    assert hazards["space"].severity is Severity.BLOCKS
    assert "64 MiB must stay free" in hazards["space"].message
    assert hazards["misaligned"].severity is Severity.WARNS and "loop" in hazards
    reading = target_hazards(resolve_target(disk, tree), tree, writes_file=False, writes_device=False, space_needed=0)
    assert any(f"{disk}p1 is mounted on {where}" in hazard.message for hazard in reading)
    monkeypatch.chdir("/")
    assert suggest_directory(device(f"{disk}p1")) == str(where)
    monkeypatch.chdir(below)
    assert suggest_directory(device(f"{disk}p1")) == str(below)
    monkeypatch.chdir("/")


@pytest.mark.needs("mkfs.ext4", "mount")
def test_a_read_only_mount(loops: Loops) -> None:
    image = loops.image(32 * MIB)
    call("mkfs.ext4", "-q", "-F", image)
    disk = attached(loops, image, "--read-only")
    where = mounted(loops, disk, "-o", "ro")
    found = device(disk)
    assert found.read_only and found.mounts[0].read_only
    assert suggest_directory(found) is None
    tree = scan()
    target = resolve_target(str(where), tree)
    hazards = target_hazards(target, tree, writes_file=True, writes_device=False, space_needed=0)
    assert [hazard.name for hazard in hazards if hazard.severity is Severity.BLOCKS] == ["read-only"]


@pytest.mark.needs("mkfs.ext4", "mount")
def test_everything_is_listed_without_root(loops: Loops) -> None:
    image = loops.image(16 * MIB)
    call("mkfs.ext4", "-q", "-F", "-L", "hidden", image)
    disk = attached(loops, image)
    mounted(loops, disk)
    as_root = scan()
    os.seteuid(65534)
    try:
        as_nobody = scan()
    finally:
        os.seteuid(0)
    names = {found.name for found in as_root.devices if found.kind is not DeviceKind.LOOP}
    assert {found.name for found in as_nobody.devices} >= {disk, *names}
    found = as_nobody.get(disk)
    assert found and (found.fs_type, found.size_bytes, len(found.mounts)) == ("ext4", 16 * MIB, 1)


def test_a_device_by_any_name(loops: Loops, tmp_path: Path) -> None:
    disk = attached(loops, loops.image(MIB))
    tree = scan()
    (tmp_path / "link").symlink_to(f"/dev/{disk}")
    number = Path(f"/dev/{disk}").stat().st_rdev
    os.mknod(tmp_path / "alias", 0o600 | stat.S_IFBLK, number)
    for name in (disk, f"/dev/{disk}", f"//dev/../dev/{disk}", str(tmp_path / "link"), str(tmp_path / "alias")):
        target = resolve_target(name, tree)
        assert (target.kind, target.device, target.path) == (TargetKind.DEVICE, disk, f"/dev/{disk}")
        assert target.size_bytes == MIB
    loops.detach(f"/dev/{disk}")
    with pytest.raises(UsageError, match="is empty"):
        resolve_target(disk, scan())


def test_hot_plug(loops: Loops) -> None:
    image = loops.image(8 * MIB)
    with Monitor() as monitor:
        monitor.changed()
        disk = partitioned(loops, image, (MIB, 2 * MIB))
        wait_for(monitor, lambda tree: tree.get(f"{disk}p1") is not None)
        os.truncate(image, 16 * MIB)
        call("losetup", "--set-capacity", f"/dev/{disk}")
        wait_for(monitor, lambda tree: device(disk).size_bytes == 16 * MIB)
        loops.detach(f"/dev/{disk}")
        wait_for(monitor, lambda tree: (found := tree.get(disk)) is None or found.empty)


@pytest.mark.needs("no-udevd")
def test_the_kernel_tells_where_udevd_does_not_run() -> None:
    with Monitor() as monitor:
        assert monitor.source == "kernel"


@pytest.mark.needs("udevd")
def test_udev_tells_where_it_runs() -> None:
    with Monitor() as monitor:
        assert monitor.source == "udev"


@pytest.mark.needs("mkfs.ext4", "mount")
def test_the_disks_behind_files_of_loop_devices_are_found(loops: Loops, tmp_path: Path) -> None:
    outer = attached(loops, loops.image(16 * MIB))
    call("mkfs.ext4", "-q", "-F", f"/dev/{outer}")
    image = mounted(loops, outer) / "inner.img"
    image.write_bytes(bytes(MIB))
    inner = attached(loops, image)
    tree = scan()
    found = describe(resolve_target(f"/dev/{inner}", tree), tree, fio_version="", ioping_version="")
    below = [disk.name for disk in tree.disks_below(resolve_target(str(tmp_path), tree).device)]
    assert [disk.name for disk in found.disks] == [inner]
    assert found.behind[0] == outer and found.behind[-len(below) :] == tuple(below)
    on_disk = describe(resolve_target(str(tmp_path), tree), tree, fio_version="", ioping_version="")
    assert inner not in on_disk.behind and outer not in on_disk.behind


@pytest.mark.needs("mkfs.ext4", "mount")
def test_a_mount_shows(loops: Loops) -> None:
    image = loops.image(16 * MIB)
    call("mkfs.ext4", "-q", "-F", image)
    disk = attached(loops, image)
    with Monitor() as monitor:
        monitor.changed()
        where = mounted(loops, disk)
        wait_for(monitor, lambda tree: bool(device(disk).mounts))
        call("umount", where)
        wait_for(monitor, lambda tree: not device(disk).mounts)


def test_changed_waits_for_a_change(loops: Loops) -> None:
    image = loops.image(MIB)
    with Monitor() as monitor:
        monitor.changed()
        timer = threading.Timer(0.05, attached, (loops, image))
        timer.start()
        try:
            assert monitor.changed(SOON_S)
        finally:
            timer.join()


def test_scanning_while_devices_come_and_go(loops: Loops) -> None:
    image = loops.image(8 * MIB)
    stop = threading.Event()
    problems: list[Exception] = []

    def plug() -> None:
        try:
            while not stop.is_set():
                loops.detach("/dev/" + partitioned(loops, image, (MIB, MIB)))
        except (OSError, subprocess.CalledProcessError) as error:
            problems.append(error)

    thread = threading.Thread(target=plug)
    thread.start()
    try:
        sizes = {len(scan().devices) for _ in range(60)}
    finally:
        stop.set()
        thread.join()
    assert sizes and not problems


def read_all(name: str) -> int:
    """Reads the whole device direct I/O; returns the bytes."""
    descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_DIRECT)
    try:
        total = 0
        with mmap.mmap(-1, 64 * 1024) as buffer:
            while count := os.preadv(descriptor, [buffer], total):
                total += count
        return total
    finally:
        os.close(descriptor)


def test_what_is_read_is_counted(loops: Loops) -> None:
    disk = attached(loops, loops.image(4 * MIB, os.urandom(4 * MIB)))
    before = read_counters()[disk]
    watcher = SystemWatch([disk])
    assert read_all(disk) == 4 * MIB
    sample = watcher.sample(test=0, phase=Phase.MEASURING, at_ns=1)
    after = read_counters()[disk]
    # Where udevd runs, it looks at the new device too.
    assert after.read_bytes - before.read_bytes >= 4 * MIB
    assert after.reads - before.reads >= 64
    assert after.at_ns > before.at_ns
    assert sample and sample.read_bytes and sample.read_bytes >= 4 * MIB and sample.writes == 0


@pytest.mark.needs("blkio-throttle")
def test_a_throttled_group_is_told(loops: Loops) -> None:
    disk = attached(loops, loops.image(MIB))
    found = device(disk)
    first = Path("/sys/fs/cgroup/blkio")
    version_1 = first.is_dir()
    group = (first if version_1 else Path("/sys/fs/cgroup")) / f"diskprof-test-{os.getpid()}"
    group.mkdir()
    try:
        if version_1:
            (group / "blkio.throttle.read_iops_device").write_text(f"{found.major}:{found.minor} 5000")
        else:
            (group / "io.max").write_text(f"{found.major}:{found.minor} riops=5000")
        code = (
            "import sys; sys.stdin.readline()\n"
            "from diskprof.devices.machine.cgroups import group_limits\n"
            "from diskprof.devices.scan.udev import scan\n"
            "print('\\n'.join(limit.words for limit in group_limits(scan())))"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            (group / "cgroup.procs").write_text(str(child.pid))
            said, _ = child.communicate("go\n")
        assert f"{disk}: reads at most 5000 IOPS" in said.splitlines()
    finally:
        group.rmdir()


@pytest.mark.needs("device-mapper")
def test_a_mapped_device(loops: Loops) -> None:
    lower = [attached(loops, loops.image(8 * MIB)) for _ in range(2)]
    name = f"diskprof-test-{os.getpid()}"
    table = "".join(f"{16384 * index} 16384 linear /dev/{disk} 0\n" for index, disk in enumerate(lower))
    subprocess.run(["dmsetup", "create", "--noudevsync", name], input=table, text=True, check=True, capture_output=True)
    try:
        found = next(each for each in scan().devices if each.dm_name == name)
        assert (found.kind, found.size_bytes) == (DeviceKind.MAPPER, 16 * MIB)
        assert set(found.parents) == set(lower)
        assert all(device(disk).children == (found.name,) for disk in lower)
        assert {disk.name for disk in scan().disks_below(found.name)} == set(lower)
    finally:
        call("dmsetup", "remove", "--noudevsync", "--retry", name)


@pytest.mark.needs("mkfs.ext4", "mount")
def test_room_that_was_set_aside_and_never_written_is_told(loops: Loops) -> None:
    disk = attached(loops, loops.image(128 * MIB))
    call("mkfs.ext4", "-q", f"/dev/{disk}")
    file = mounted(loops, disk) / "data"
    file.write_bytes(os.urandom(8 * MIB))
    os.sync()

    def names() -> dict[str, str]:
        tree = scan()
        found = target_hazards(
            resolve_target(str(file), tree), tree, writes_file=False, writes_device=False, space_needed=0
        )
        return {hazard.name: hazard.message for hazard in found}

    assert "sparse" not in names()
    with file.open("r+b") as handle:
        os.posix_fallocate(handle.fileno(), 0, 32 * MIB)
    assert "32 MiB only 8 MiB" in names()["sparse"]


@pytest.mark.needs("mkfs.btrfs", "mount")
def test_btrfs_over_two_devices(loops: Loops) -> None:
    disks = [attached(loops, loops.image(128 * MIB)) for _ in range(2)]
    call("mkfs.btrfs", "-q", "-L", "pool", *(f"/dev/{disk}" for disk in disks))
    where = mounted(loops, disks[0])
    for disk in disks:
        found = device(disk)
        assert (found.fs_type, found.fs_label) == ("btrfs", "pool")
        assert [mount.path for mount in found.mounts] == [str(where)]
    tree = scan()
    target = resolve_target(str(where), tree)
    assert target.device in disks
    hazards = target_hazards(target, tree, writes_file=False, writes_device=False, space_needed=0)
    assert {"copy-on-write", "several-devices"} <= {hazard.name for hazard in hazards}


def test_the_command(loops: Loops, tmp_path: Path) -> None:
    image = loops.image(24 * MIB)
    disk = partitioned(loops, image, (MIB, 2 * MIB))
    listed = {entry["name"]: entry for entry in diskprof_json("devices", "--json", home=tmp_path)}
    assert listed[disk]["backing_file"] == str(image)
    assert listed[disk]["children"] == [f"{disk}p1"]
    assert listed[disk]["activity"]["utilisation"] >= 0
    shown = diskprof("devices", home=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"\n{disk} " in shown.stdout and f"└─{disk}p1" in shown.stdout and "24 MiB" in shown.stdout
    plain = from_scratch("devices", home=tmp_path, PYTHONIOENCODING="ascii")
    assert f"`-{disk}p1" in plain.stdout and plain.stdout.isascii()
    everything = diskprof_json("devices", "--all", "--json", home=tmp_path)
    assert len(everything) >= len(listed)


def test_the_command_where_there_is_nothing_to_test(tmp_path: Path) -> None:
    wrong = diskprof("devices", "--nonsense", home=tmp_path)
    assert wrong.returncode == 2
