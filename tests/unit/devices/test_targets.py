"""From what was typed to what is tested."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.devices.scan.mounts import mount_of
from diskprof.devices.targets import default_device, each_disk, resolve_target, sudo_command, suggest_directory
from diskprof.model.advice import on_command_line
from diskprof.model.device import Device, DeviceKind, DeviceTree, Mount, Transport
from diskprof.model.errors import UsageError
from diskprof.model.target import TargetKind

NOBODY = 65534


def device(name: str, **values: object) -> Device:
    given = {"node": f"/dev/{name}", "kind": DeviceKind.DISK, "major": 8, "minor": 0, "size_bytes": 1 << 30} | values
    return Device(name=name, **given)  # type: ignore[arg-type]


def refused(text: str, tree: DeviceTree | None = None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        resolve_target(text, tree or DeviceTree())
    assert caught.value.message
    return caught.value


@contextmanager
def nobody() -> Iterator[None]:
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def test_directory(tmp_path: Path) -> None:
    target = resolve_target(str(tmp_path), DeviceTree())
    mount = mount_of(str(tmp_path))
    assert mount
    assert (target.kind, target.path, target.given) == (TargetKind.DIRECTORY, str(tmp_path), str(tmp_path))
    assert (target.mount_point, target.fs_type) == (mount.path, mount.fs_type)
    assert target.fs_size_bytes and target.free_bytes is not None and target.free_bytes <= target.fs_size_bytes
    assert target.size_bytes is None


def test_directory_lies_on_the_device_of_its_mount(tmp_path: Path) -> None:
    mount = mount_of(str(tmp_path))
    assert mount
    disk = device("disk", major=mount.major, minor=mount.minor)
    assert resolve_target(str(tmp_path), DeviceTree((device("other"), disk))).device == "disk"


def test_link_and_relative_path_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    target = resolve_target("link", DeviceTree())
    assert (target.path, target.given) == (str(tmp_path / "real"), "link")


def test_file(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(4096))
    target = resolve_target(str(file), DeviceTree())
    assert (target.kind, target.size_bytes) == (TargetKind.FILE, 4096)


def test_missing(tmp_path: Path) -> None:
    error = refused(str(tmp_path / "absent"))
    assert "does not exist" in error.message
    assert "mkdir -p" in error.hint
    assert "diskprof devices" in on_command_line(refused("/dev/absent").hint)
    assert "diskprof devices" in on_command_line(refused("sdzz").hint)


def test_broken_link_names_its_goal(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/nowhere/at/all")
    assert "/nowhere/at/all" in refused(str(link)).message


def test_link_to_itself(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    assert "leads back to itself" in refused(str(link)).message


def test_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "not a directory" in refused(str(tmp_path / "file" / "below")).message


def test_what_is_no_disk(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "named pipe" in refused(str(tmp_path / "pipe")).message
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "socket"))
        assert "a socket" in refused(str(tmp_path / "socket")).message
    assert "character device" in refused("/dev/null").message


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert "is empty" in refused(str(tmp_path / "empty")).message


@pytest.mark.parametrize("path", ["/proc", "/sys", "/dev", "/proc/cpuinfo"])
def test_the_kernels_own_file_systems_are_no_disks(path: str) -> None:
    error = refused(path)
    assert "kernel" in error.message


@pytest.mark.parametrize("text", ["", "a\0b", "x" * 5000])
def test_odd_names(text: str) -> None:
    refused(text)


@given(st.text(max_size=40))
def test_any_text_gives_a_target_or_a_usage_error(text: str) -> None:
    try:
        resolve_target(text, DeviceTree())
    except UsageError as error:
        assert "\x1b" not in str(error)


def test_device_by_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    node = tmp_path / "node"
    node.touch()
    disk = device("dm-7", node=str(node), dm_name="vg-root", by_id=("dm-name-vg-root",), size_bytes=4096)
    for name in ("dm-7", "vg-root", "dm-name-vg-root"):
        target = resolve_target(name, DeviceTree((disk,)))
        assert (target.kind, target.path, target.device, target.size_bytes) == (
            TargetKind.DEVICE,
            str(node),
            "dm-7",
            4096,
        )
        assert (target.mount_point, target.fs_type, target.given) == ("", "", name)


def test_a_name_that_means_two_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sda").mkdir()
    error = refused("sda", DeviceTree((device("sda"),)))
    assert "/dev/sda" in error.hint and "./sda" in error.hint
    assert resolve_target("./sda", DeviceTree((device("sda"),))).kind is TargetKind.DIRECTORY


def test_device_without_a_node(tmp_path: Path) -> None:
    error = refused("sdq", DeviceTree((device("sdq", node=str(tmp_path / "sdq")),)))
    assert "--device" in error.hint


def test_device_without_a_medium(tmp_path: Path) -> None:
    (tmp_path / "sr0").touch()
    assert "no medium" in refused("sr0", DeviceTree((device("sr0", node=str(tmp_path / "sr0"), size_bytes=0),))).message


def open_to_all(tmp_path: Path) -> None:
    """Lets others pass through pytest's directories, of which there is one more under xdist."""
    for directory in (tmp_path, *tmp_path.parents):
        if directory == tmp_path or directory.name.startswith(("pytest-", "popen-")):
            directory.chmod(0o755)


@pytest.mark.needs("root")
def test_without_permission_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_to_all(tmp_path)
    file = tmp_path / "secret"
    file.write_text("x")
    file.chmod(0o600)
    node = tmp_path / "sdx"
    node.write_text("x")
    node.chmod(0o660)
    os.chown(node, 0, 6)
    monkeypatch.setattr(sys, "argv", [str(file), "run", "quick", "a b"])
    with nobody():
        error, device_error = refused(str(file)), refused("sdx", DeviceTree((device("sdx", node=str(node)),)))
    assert "No permission to read" in error.message
    assert f"sudo {file} run quick 'a b'" in error.hint
    alone, group = device_error.hint.splitlines()
    assert alone == f"Run only this command as root: sudo {file} run quick 'a b'"
    assert group == (
        "Or join the group disk, whose members may read and write every disk, by any program: sudo usermod -aG disk $USER, "
        "then log in again."
    )


@pytest.mark.needs("root")
def test_behind_a_closed_directory(tmp_path: Path) -> None:
    open_to_all(tmp_path)
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0o700)
    with nobody():
        inside, itself = refused(str(closed / "inner")), refused(str(closed))
    assert f"search {closed}." in inside.message
    assert "sudo " in inside.hint
    assert f"enter {closed}." in itself.message


def test_the_sudo_command_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "diskprof"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "argv", ["diskprof", "devices"])
    assert sudo_command() == f"sudo {program} devices"
    monkeypatch.setattr(sys, "argv", ["/x/diskprof/__main__.py", "devices"])
    assert sudo_command() == f"sudo {sys.executable} -P -m diskprof devices"


def mounted(name: str, path: Path | str, **values: object) -> Device:
    options = ("ro",) if values.pop("read_only", False) else ("rw",)
    mount = Mount(str(path), "ext4", options, size_bytes=1 << 40, free_bytes=int(str(values.pop("free", 1 << 30))))
    return device(name, mounts=(mount,), **values)


def test_suggests_where_the_person_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = mount_of(str(tmp_path))
    assert mount
    disk = mounted("sda", mount.path)
    monkeypatch.chdir(tmp_path)
    assert suggest_directory(disk) == str(tmp_path)
    monkeypatch.chdir("/")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert suggest_directory(disk) == str(tmp_path)
    monkeypatch.setenv("HOME", "/proc")
    var_tmp = mount_of("/var/tmp")
    if var_tmp and var_tmp.path == mount.path and mount.path == "/":
        assert suggest_directory(disk) == "/var/tmp"


def test_suggests_the_mount_point_of_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert suggest_directory(mounted("sdb", tmp_path)) == str(tmp_path)
    file = tmp_path / "bind"
    file.touch()
    assert suggest_directory(mounted("sdb", file)) is None
    assert suggest_directory(mounted("sdb", tmp_path, read_only=True)) is None
    assert suggest_directory(mounted("sdb", tmp_path / "gone")) is None
    assert suggest_directory(device("sdb")) is None


def test_suggests_although_the_current_directory_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert suggest_directory(mounted("sdb", tmp_path)) == str(tmp_path)
    monkeypatch.chdir("/")


def test_default_device(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    boot = mounted("sda1", "/boot", free=1 << 50)
    one, two = mounted("sda2", small, free=10), mounted("sdb", large, free=20)
    loop = mounted("loop0", large, kind=DeviceKind.LOOP, free=1 << 40)
    stick = mounted("sdc", large, transport=Transport.USB, free=1 << 40)
    for devices, expected in [
        ((boot, one, two, loop, stick), two),
        ((boot, one, loop, stick), one),
        ((boot, loop, stick), stick),
        ((boot, loop), loop),
        ((boot,), None),
        ((), None),
    ]:
        assert default_device(DeviceTree(devices)) is expected


def test_each_disk_is_tested_in_a_directory_on_it_or_as_a_whole(tmp_path: Path) -> None:
    def mounted(path: str, free: int) -> tuple[Mount, ...]:
        return (Mount(path, "ext4", ("rw",), 1 << 40, free),)

    small, roomy = tmp_path / "small", tmp_path / "roomy"
    for place in (small, roomy):
        place.mkdir()
    part = {"kind": DeviceKind.PARTITION}
    tree = DeviceTree(
        (
            device("sda"),
            device("sda1", parents=("sda",), mounts=mounted(str(small), 10), **part),
            device("sda2", parents=("sda",), mounts=mounted(str(roomy), 20), **part),
            device("sdb"),
            device("sdc"),
            device("md0", kind=DeviceKind.RAID, parents=("sdb", "sdc"), mounts=mounted(str(tmp_path), 30)),
            device("sdd", removable=True),
            device("sde", size_bytes=0),
            device("loop0", kind=DeviceKind.LOOP),
        )
    )
    assert each_disk(tree) == (str(roomy), "/dev/sdb", "/dev/sdc")
