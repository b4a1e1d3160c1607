"""What speaks against a run, and that nothing else does."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from diskprof.devices.guard import target_hazards as module
from diskprof.devices.guard.target_hazards import reserve, target_hazards
from diskprof.devices.scan.mounts import MountEntry
from diskprof.model.advice import on_command_line, on_screen
from diskprof.model.device import Device, DeviceKind, DeviceTree, Mount
from diskprof.model.plan import Hazard, Severity
from diskprof.model.target import Target, TargetKind

MIB, GIB = 1 << 20, 1 << 30


def device(name: str, kind: DeviceKind = DeviceKind.DISK, **values: object) -> Device:
    given = {"node": f"/dev/{name}", "major": 8, "minor": 0, "size_bytes": 100 * GIB} | values
    return Device(name=name, kind=kind, **given)  # type: ignore[arg-type]


def raw(name: str) -> Target:
    return Target(TargetKind.DEVICE, f"/dev/{name}", name, device=name, size_bytes=100 * GIB)


def found(
    target: Target,
    *devices: Device,
    writes_file: bool = False,
    writes_device: bool = False,
    space_needed: int = 0,
    size: int = 0,
) -> dict[str, Hazard]:
    hazards = target_hazards(
        target,
        DeviceTree(devices),
        writes_file=writes_file,
        writes_device=writes_device,
        space_needed=space_needed,
        size=size,
    )
    ranks = [list(Severity).index(hazard.severity) for hazard in hazards]
    assert ranks == sorted(ranks)
    return {hazard.name: hazard for hazard in hazards}


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    """A directory on a file system of 100 GiB, half of it free."""
    on_file_system(monkeypatch, "ext4")
    return Target(
        TargetKind.DIRECTORY, str(tmp_path), str(tmp_path), "sda1", "/data", "ext4", None, 50 * GIB, 100 * GIB
    )


def on_file_system(monkeypatch: pytest.MonkeyPatch, fs_type: str, *options: str) -> None:
    entry = MountEntry(1, 8, 1, "/", "/data", fs_type, "/dev/sda1", options or ("rw",))
    monkeypatch.setattr(module, "mount_of", lambda _path: entry)


def test_nothing_speaks_against_a_plain_directory(directory: Target) -> None:
    part = device("sda1", DeviceKind.PARTITION, start_bytes=1 << 20, parents=("sda",))
    assert found(directory, device("sda"), part, writes_file=True, space_needed=GIB) == {}


def test_reading_an_unused_device_is_harmless() -> None:
    assert found(raw("sdb"), device("sdb")) == {}


def test_writing_to_a_device_blocks_and_says_what_would_be_lost() -> None:
    disk = device("sda", children=("sda1", "sda2", "sda3"))
    parts = (
        device("sda1", DeviceKind.PARTITION, mounts=(Mount("/srv/data", "xfs"),), fs_type="xfs", parents=("sda",)),
        device("sda2", DeviceKind.PARTITION, swap=True, fs_type="swap", parents=("sda",)),
        device("sda3", DeviceKind.PARTITION, fs_type="LVM2_member", children=("dm-0",), parents=("sda",)),
        device("dm-0", DeviceKind.LVM, dm_name="vg-mail", fs_type="ext4", fs_label="mail", parents=("sda3",)),
    )
    hazard = found(raw("sda"), disk, *parts, writes_device=True)["raw-write"]
    assert hazard.severity is Severity.BLOCKS
    for words in ("sda1 is mounted on /srv/data", "sda2 is swap", "sda3 holds LVM2_member", "ext4 'mail'"):
        assert words in hazard.message
    assert hazard.advice


def test_writing_to_an_empty_device_blocks_too() -> None:
    assert found(raw("sdb"), device("sdb"), writes_device=True)["raw-write"].severity is Severity.BLOCKS
    assert "read-only" in found(raw("sdb"), device("sdb", read_only=True), writes_device=True)
    assert "raw-write" in found(raw("sdb"), writes_device=True)


def test_reading_a_device_in_use_is_noted() -> None:
    hazard = found(raw("sda"), device("sda", mounts=(Mount("/", "ext4"),)))["in-use"]
    assert hazard.severity is Severity.NOTES
    assert "mounted on /" in hazard.message


def test_a_holder_without_content_counts_as_use() -> None:
    member = device("sda", children=("md0",))
    array = device("md0", DeviceKind.RAID, parents=("sda",))
    assert "sda carries md0" in found(raw("sda"), member, array)["in-use"].message


@pytest.mark.parametrize(
    ("fs_size", "kept"),
    [
        (None, GIB),
        (128 * MIB, 64 * MIB),
        (512 * MIB, 64 * MIB),
        (640 * MIB, 64 * MIB),
        (1000 * MIB, 100 * MIB),
        (4000 * MIB, 400 * MIB),
        (10 * GIB, GIB),
        (20 * GIB, GIB),
        (40 * GIB, 2 * GIB),
        (100 * GIB, 5 * GIB),
    ],
)
def test_reserve(fs_size: int | None, kept: int) -> None:
    assert reserve(fs_size) == kept


def test_space_is_kept_free(directory: Target) -> None:
    assert "space" not in found(directory, writes_file=True, space_needed=45 * GIB)
    hazard = found(directory, writes_file=True, space_needed=45 * GIB + 1)["space"]
    assert hazard.severity is Severity.BLOCKS
    assert "50 GiB free" in hazard.message and "5 GiB must stay free" in hazard.message
    assert "at most 45 GiB" in hazard.advice
    tight = replace(directory, free_bytes=GIB, fs_size_bytes=10 * GIB)
    assert "Free some space" in found(tight, writes_file=True, space_needed=4096)["space"].advice
    assert "space" not in found(tight, writes_file=True, space_needed=0)
    assert "space" not in found(replace(directory, free_bytes=None), writes_file=True, space_needed=GIB)


def test_the_reserve_has_no_step_in_it() -> None:
    sizes = range(0, 40 * GIB, 10 * MIB)
    assert all(0 <= reserve(size + 10 * MIB) - reserve(size) <= MIB for size in sizes)


@pytest.mark.parametrize(
    ("needed", "size", "fits"),
    [
        (GIB, GIB, "850m"),
        (2 * GIB, GIB, "425m"),  # two test files on one file system
        (GIB + MIB, GIB, "849m"),  # ioping keeps one of its own
    ],
)
def test_the_size_that_fits_is_told(directory: Target, needed: int, size: int, fits: str) -> None:
    stick = replace(directory, fs_size_bytes=1000 * MIB, free_bytes=950 * MIB + 4096)
    hazard = found(stick, writes_file=True, space_needed=needed, size=size)["space"]
    assert "100 MiB must stay free (a tenth of the file system, at least 64 MiB, at most 1 GiB" in hazard.message
    assert f"--set size={fits} fits." in on_command_line(hazard.advice)
    assert f"edit the size, {fits} fits." in on_screen(hazard.advice) and "--set" not in on_screen(hazard.advice)
    full = replace(stick, free_bytes=100 * MIB + 4096)
    assert found(full, writes_file=True, space_needed=needed, size=size)["space"].advice == "Free some space first."


def test_no_size_is_told_where_other_options_need_the_space(directory: Target) -> None:
    stick = replace(directory, fs_size_bytes=1000 * MIB, free_bytes=950 * MIB)
    hazard = found(stick, writes_file=True, space_needed=140 * GIB, size=8 * MIB)["space"]
    assert hazard.advice == "Free some, or make the test file smaller: at most 850 MiB."


def test_read_only_mount(directory: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    on_file_system(monkeypatch, "ext4", "ro")
    assert found(directory, writes_file=True)["read-only"].severity is Severity.BLOCKS
    assert found(directory) == {}


def test_read_only_device(directory: Target) -> None:
    assert found(directory, device("sda1", read_only=True), writes_file=True)["read-only"].severity is Severity.BLOCKS


@pytest.mark.needs("root")
def test_directory_that_may_not_be_written(directory: Target) -> None:
    Path(directory.path).chmod(0o755)
    for parent in Path(directory.path).parents[:2]:
        parent.chmod(0o755)
    os.seteuid(65534)
    try:
        hazard = found(directory, writes_file=True)["not-writable"]
        assert found(directory) == {}
    finally:
        os.seteuid(0)
    assert hazard.severity is Severity.BLOCKS
    assert directory.path in hazard.message


@pytest.mark.parametrize(
    ("fs_type", "options", "name", "severity"),
    [
        ("tmpfs", (), "memory", Severity.WARNS),
        ("ramfs", (), "memory", Severity.WARNS),
        ("nfs4", (), "network", Severity.WARNS),
        ("cifs", (), "network", Severity.WARNS),
        ("overlay", (), "overlay", Severity.WARNS),
        ("fuse.mergerfs", (), "fuse", Severity.WARNS),
        ("zfs", (), "copy-on-write", Severity.NOTES),
        ("btrfs", ("rw", "compress=zstd:3"), "compression", Severity.NOTES),
        ("f2fs", ("rw", "compress_algorithm=lz4"), "compression", Severity.NOTES),
    ],
)
def test_file_systems(
    directory: Target,
    monkeypatch: pytest.MonkeyPatch,
    fs_type: str,
    options: tuple[str, ...],
    name: str,
    severity: Severity,
) -> None:
    on_file_system(monkeypatch, fs_type, *options)
    assert found(replace(directory, fs_type=fs_type))[name].severity is severity


def test_compression_that_is_off(directory: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    on_file_system(monkeypatch, "ext4", "compress=none")
    assert found(directory) == {}


def test_file_size_limit(directory: Target) -> None:
    small = replace(directory, fs_type="vfat")
    assert "file-size-limit" in found(small, writes_file=True, space_needed=4 * GIB)
    assert "file-size-limit" not in found(small, writes_file=True, space_needed=4 * GIB - 1)


def test_misaligned_partition_below_a_volume(directory: Target) -> None:
    disk = device("sda", children=("sda1",))
    part = device("sda1", DeviceKind.PARTITION, start_bytes=63 * 512, parents=("sda",), children=("dm-0",))
    volume = device("dm-0", DeviceKind.CRYPT, dm_name="home", parents=("sda1",))
    hazards = found(replace(directory, device="dm-0"), disk, part, volume)
    assert hazards["misaligned"].severity is Severity.WARNS
    assert "sda1" in hazards["misaligned"].message and "32256" in hazards["misaligned"].message
    assert "home is encrypted" in hazards["encrypted"].message


@pytest.mark.parametrize(
    ("start", "physical", "told"), [(1 << 20, 512, False), (4096, 4096, False), (4096, 16384, True)]
)
def test_a_partition_has_to_begin_on_a_block_of_its_disk(start: int, physical: int, told: bool) -> None:
    disk = device("sda", children=("sda1",))
    part = device("sda1", DeviceKind.PARTITION, start_bytes=start, parents=("sda",), physical_block_size=physical)
    assert ("misaligned" in found(raw("sda1"), disk, part)) is told


def test_memory_and_loop_devices() -> None:
    assert found(raw("zram0"), device("zram0", DeviceKind.ZRAM))["memory"].severity is Severity.WARNS
    loop = device("loop0", DeviceKind.LOOP, backing_file="/var/lib/\x1b[2Jdisk.img")
    message = found(raw("loop0"), loop)["loop"].message
    assert "/var/lib/" in message and "\x1b" not in message


def test_a_pool_names_its_devices(directory: Target) -> None:
    members = [device(name, mounts=(Mount("/data", "btrfs"),)) for name in ("sda1", "sdb1")]
    assert "sda1, sdb1" in found(directory, *members)["several-devices"].message


def test_existing_files(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(1 << 16))
    target = Target(TargetKind.FILE, str(file), str(file), size_bytes=1 << 16)
    assert found(target) == {}
    assert found(target, writes_file=True)["file-write"].severity is Severity.BLOCKS
    with file.open("r+b") as handle:
        handle.truncate(1 << 30)
    hazard = found(replace(target, size_bytes=1 << 30))["sparse"]
    assert hazard.severity is Severity.WARNS and "1 GiB" in hazard.message
