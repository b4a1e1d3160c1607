"""Arrays, multipath devices and what the kernel exports: what sysfs and configfs say of them, on a machine made of files."""

from pathlib import Path

import pytest
from fake_machine import Machine

from diskprof.devices.guard.exports import exports
from diskprof.devices.guard.target_hazards import target_hazards
from diskprof.devices.guard.write_hazards import write_hazards
from diskprof.devices.scan.members import parts_of
from diskprof.devices.scan.tree import build_tree
from diskprof.devices.scan.udev import scan
from diskprof.model.device import Parts
from diskprof.model.plan import Hazard, Severity, WritePermission
from diskprof.model.target import Target, TargetKind


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Four SCSI disks: two for an array, two that are the paths of one disk."""
    made = Machine(tmp_path)
    for name in ("sdc", "sdd", "sdg", "sdh"):
        made.disk(name, device__state="running")
        made.content(name, 0, b"")
    return made


def array(machine: Machine, name: str = "md0", *members: str, **attributes: str) -> Path:
    """A mirror as Linux 6.1 shows it."""
    members = members or ("sdc", "sdd")
    given = {
        "md__level": "raid1",
        "md__raid_disks": str(len(members)),
        "md__degraded": "0",
        "md__sync_action": "idle",
        "md__sync_completed": "none",
        **attributes,
    }
    node = machine.disk(name, major=9, **given)
    for member in members:
        state(node, member, "in_sync")
    machine.stack(name, *members)
    machine.content(name, 0, b"")
    return node


def state(node: Path, member: str, words: str) -> None:
    file = node / "md" / f"dev-{member}" / "state"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{words}\n")


def multipath(machine: Machine) -> Path:
    node = machine.disk("dm-3", major=253, dm__uuid="mpath-35000000000000100", dm__name="mpatha")
    machine.stack("dm-3", "sdg", "sdh")
    machine.content("dm-3", 0, b"")
    return node


def hazards(machine: Machine, name: str, *, writes: bool = False) -> list[Hazard]:
    """Those of reading a device, or of a directory on it."""
    kind = TargetKind.DIRECTORY if writes else TargetKind.DEVICE
    target = Target(kind, str(machine.roots.dev / name), name, name)
    found = target_hazards(
        target,
        build_tree(machine.roots),
        writes_file=writes,
        writes_device=False,
        space_needed=0,
        roots=machine.roots,
    )
    return [each for each in found if each.name in ("array-sync", "array-degraded", "path-lost", "exported")]


def test_an_array_and_a_multipath_device_that_are_well_are_nothing_to_tell(machine: Machine) -> None:
    array(machine)
    multipath(machine)
    assert parts_of(("md0", "dm-3", "sdc", "nothing"), machine.roots) == (
        Parts("md0", paths=False, good=("sdc", "sdd"), wanted=2),
        Parts("mpatha", paths=True, good=("sdg", "sdh")),
    )
    assert not hazards(machine, "md0") and not hazards(machine, "dm-3")


@pytest.mark.parametrize(
    ("action", "completed", "words"),
    [
        ("resync", "3602694 / 8378368", "md0 is resyncing (43%): it uses the same disks."),
        ("check", "0 / 8378368", "md0 is being checked (0%): it uses the same disks."),
        ("reshape", "1 / 0", "md0 is being reshaped: it uses the same disks."),
        ("resync", "delayed", ""),
        ("resync", "none", ""),
        ("frozen", "none", ""),
        ("idle", "none", ""),
    ],
)
def test_what_an_array_does_by_itself_is_told(machine: Machine, action: str, completed: str, words: str) -> None:
    array(machine, md__sync_action=action, md__sync_completed=completed)
    found = hazards(machine, "md0")
    assert [each.message for each in found] == ([words] if words else [])
    assert all(each.severity is Severity.WARNS and each.advice for each in found)


def test_an_array_without_a_member_is_told_also_below_a_volume_and_for_a_directory(machine: Machine) -> None:
    node = array(machine, md__degraded="1")
    state(node, "sdd", "faulty")
    machine.disk("dm-7", major=253, dm__uuid="LVM-x", dm__name="vg-data")
    machine.stack("dm-7", "md0")
    for name in ("md0", "dm-7"):
        for writes in (False, True):
            (found,) = hazards(machine, name, writes=writes)
            assert found.message == "md0 runs with 1 of 2 members: sdd failed."
    assert not hazards(machine, "sdc"), "a member by itself is no array"


def test_a_member_that_is_rebuilt_is_missing_meanwhile(machine: Machine) -> None:
    node = array(machine, md__degraded="1", md__sync_action="recover", md__sync_completed="1675673 / 8378368")
    state(node, "sdd", "spare")
    assert [each.message for each in hazards(machine, "md0")] == [
        "md0 is rebuilding a member (20%): it uses the same disks.",
        "md0 runs with 1 of 2 members.",
    ]


def test_a_stripe_has_no_such_files(machine: Machine) -> None:
    node = array(machine, md__level="raid0")
    for name in ("degraded", "sync_action", "sync_completed"):
        (node / "md" / name).unlink()
    assert not hazards(machine, "md0")


@pytest.mark.parametrize("word", ["offline", "transport-offline", "dead"])
def test_a_path_that_is_offline_is_told(machine: Machine, word: str) -> None:
    multipath(machine)
    ((machine.roots.blocks / "sdh").resolve() / "device" / "state").write_text(f"{word}\n")
    (found,) = hazards(machine, "dm-3")
    assert (found.name, found.message) == ("path-lost", "mpatha runs with 1 of 2 paths: sdh failed.")


def test_a_path_that_was_pulled_is_none_any_more(machine: Machine) -> None:
    node = multipath(machine)
    machine.remove("sdh")
    (still,) = parts_of(("dm-3",), machine.roots)
    assert (still.good, still.failed) == (("sdg",), ("sdh",))
    (node / "slaves" / "sdh").unlink()
    (then,) = parts_of(("dm-3",), machine.roots)
    assert (then.good, then.failed) == (("sdg",), ())


# --- What is exported ------------------------------------------------------------------------------------------------


def configured(machine: Machine, directory: str, **files: str) -> None:
    path = machine.roots.sys / "kernel" / "config" / directory
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name).write_text(f"{text}\n")


def nvmet(machine: Machine, path: str, enable: str = "1") -> None:
    configured(machine, "nvmet/subsystems/nqn.2026-01.org.example:a/namespaces/1", device_path=path, enable=enable)


def refused(machine: Machine, name: str) -> list[str]:
    tree = build_tree(machine.roots)
    device = tree.get(name)
    assert device
    found = write_hazards(device, tree, WritePermission(True), {}, roots=machine.roots)
    return [hazard.message for hazard in found if hazard.severity is Severity.BLOCKS]


def test_what_the_nvme_target_exports_is_in_use(machine: Machine) -> None:
    machine.partition("sdc", "sdc1")
    machine.content("sdc1", 0, b"")
    nvmet(machine, str(machine.roots.dev / "sdc"))
    words = "sdc is exported to other machines by the kernel's NVMe target as nqn.2026-01.org.example:a: their data would be lost."
    for name in ("sdc", "sdc1"):
        assert words in refused(machine, name)
    assert not refused(machine, "sdd")


def test_a_partition_that_is_exported_is_a_use_of_its_disk(machine: Machine) -> None:
    for name in ("sdc1", "sdc2"):
        machine.partition("sdc", name, start=(1 if name == "sdc1" else 600) << 20, size=64 << 20)
        machine.content(name, 0, b"")
    nvmet(machine, str(machine.roots.dev / "sdc1"))
    assert any("sdc1 is exported" in words for words in refused(machine, "sdc"))
    assert not refused(machine, "sdc2")


def test_reading_what_is_exported_warns_of_the_others(machine: Machine) -> None:
    machine.partition("sdc", "sdc1")
    nvmet(machine, str(machine.roots.dev / "sdc"))
    for name in ("sdc", "sdc1"):
        (found,) = hazards(machine, name)
        assert found.severity is Severity.WARNS
        assert found.message.startswith("sdc is exported to other machines by the kernel's NVMe target as nqn.2026-01.")
    assert not hazards(machine, "sdd")


def test_a_namespace_that_is_not_enabled_exports_nothing(machine: Machine) -> None:
    nvmet(machine, str(machine.roots.dev / "sdc"), enable="0")
    assert not exports(machine.roots) and not refused(machine, "sdc")


@pytest.mark.parametrize(
    "files",
    [
        {"udev_path": "{dev}/sdc", "info": ""},
        {
            "udev_path": "",
            "info": "Status: ACTIVATED  Max Queue Depth: 128\n        iBlock device: sdc  UDEV PATH: {dev}/sdc",
        },
        {
            "udev_path": "",
            "info": "Status: ACTIVATED\n        TCM FILEIO ID: 0        File: {dev}/sdc  Size: 4294967296",
        },
    ],
    ids=["udev-path", "iblock", "fileio"],
)
def test_what_the_scsi_target_exports_is_in_use(machine: Machine, files: dict[str, str]) -> None:
    told = {name: text.format(dev=machine.roots.dev) for name, text in files.items()}
    configured(machine, "target/core/iblock_0/disk", enable="1", **told)
    configured(machine, "target/core/alua")
    assert refused(machine, "sdc") == [
        "sdc is exported to other machines by the kernel's SCSI target as disk: their data would be lost."
    ]


def test_an_export_is_known_by_number_whatever_it_is_called(machine: Machine) -> None:
    """A disk of this machine, by a name that no list of names has; it is only looked at."""
    device = next(each for each in scan().devices if Path(each.node).is_block_device())
    nvmet(machine, f"/dev/../{device.node}")
    (export,) = exports(machine.roots)
    assert export.path != device.node and export.is_of(device)


def test_a_file_that_is_exported_is_no_device(machine: Machine, tmp_path: Path) -> None:
    nvmet(machine, str(tmp_path))
    (export,) = exports(machine.roots)
    assert export.number is None and not refused(machine, "sdc")
