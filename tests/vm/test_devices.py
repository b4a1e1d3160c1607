"""Every block device of the guest, field by field as lsblk has it."""

from collections.abc import Callable
from typing import Any

import pytest
from vm.guest import Guest

pytestmark = pytest.mark.usefixtures("storage")

Row = dict[str, Any]

SAME: dict[str, Callable[[Row], Any]] = {
    "major": lambda row: int(row["maj:min"].split(":")[0]),
    "minor": lambda row: int(row["maj:min"].split(":")[1]),
    "size_bytes": lambda row: row["size"],
    "serial": lambda row: row["serial"] or "",
    "rotational": lambda row: row["rota"],
    "removable": lambda row: row["rm"],
    "read_only": lambda row: row["ro"],
    # lsblk says nothing where a device mapping or an array has none.
    "scheduler": lambda row: row["sched"] or "none",
    "logical_block_size": lambda row: row["log-sec"],
    "physical_block_size": lambda row: row["phy-sec"],
    "fs_type": lambda row: row["fstype"] or "",
    "fs_label": lambda row: row["label"] or "",
    "fs_uuid": lambda row: row["uuid"] or "",
    "start_bytes": lambda row: row["start"] and row["start"] * 512,
}
"""What is the same in both: the field of `diskprof devices --json`, and where lsblk has it."""


def _kind(row: Row) -> str:
    # lsblk has the level of an array, diskprof that it is one.
    return "raid" if row["type"].startswith("raid") else str(row["type"])


def _places(rows: list[Row]) -> dict[str, set[str]]:
    """Where each device is mounted. lsblk names one of the disks of a btrfs file system, diskprof each."""
    found = {row["kname"]: {place for place in row["mountpoints"] if place and place != "[SWAP]"} for row in rows}
    for row in rows:
        if row["fstype"] == "btrfs":
            found[row["kname"]] = set().union(
                *(found[other["kname"]] for other in rows if other["uuid"] == row["uuid"])
            )
    return found


@pytest.fixture(scope="module")
def listed(booted: Guest) -> tuple[dict[str, Row], dict[str, Row]]:
    """By kernel name: the rows of lsblk, and what diskprof says."""
    booted.run("udevadm settle")
    rows = booted.run("lsblk -O -b --json --list").json()["blockdevices"]
    return {row["kname"]: row for row in rows}, booted.devices()


def test_every_device_is_listed(listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest) -> None:
    lsblk, ours = listed
    assert set(ours) == set(lsblk)
    # All kinds are there, or the rest of this file proves little.
    assert {device["kind"] for device in ours.values()} >= {"disk", "part", "lvm", "crypt", "raid", "mpath"}
    assert {row["tran"] for row in lsblk.values()} >= {"nvme", "sata", "usb"}


@pytest.mark.parametrize("field", SAME)
def test_a_field_is_that_of_lsblk(listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest, field: str) -> None:
    lsblk, ours = listed
    assert {name: device[field] for name, device in ours.items()} == {
        name: SAME[field](row) for name, row in lsblk.items()
    }


def test_kinds_models_and_transports_are_those_of_lsblk_but_for_what_diskprof_adds(
    listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest
) -> None:
    lsblk, ours = listed
    for name, row in lsblk.items():
        device = ours[name]
        assert device["kind"] == _kind(row), name
        # The vendor stands before the model; lsblk says nothing of the transport of virtio.
        assert device["model"].endswith((row["model"] or "").strip()), name
        assert (
            device["transport"] == row["tran"]
            or (device["transport"] == "virtio" and not row["tran"])
            or not row["tran"]
        ), name
        if row["type"] in ("lvm", "crypt", "mpath"):
            assert device["dm_name"] == row["name"], name


def test_a_node_leads_to_its_device(listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest) -> None:
    _, ours = listed
    nodes = [device["node"] for device in ours.values()]
    assert guest.out(f"realpath {' '.join(nodes)}").split() == [f"/dev/{name}" for name in ours]


def test_each_device_stands_on_those_that_lsblk_has_below_it(
    listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest
) -> None:
    _, ours = listed
    pairs = {
        tuple(line.split()) for line in guest.out("lsblk -rno KNAME,PKNAME").splitlines() if len(line.split()) == 2
    }
    assert {(name, parent) for name, device in ours.items() for parent in device["parents"]} == pairs
    assert {(child, name) for name, device in ours.items() for child in device["children"]} == pairs


def test_mounts_and_swap_are_those_of_lsblk(listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest) -> None:
    lsblk, ours = listed
    assert {name: {mount["path"] for mount in device["mounts"]} for name, device in ours.items()} == _places(
        list(lsblk.values())
    )
    assert {name for name, device in ours.items() if device["swap"]} == {
        name for name, row in lsblk.items() if "[SWAP]" in row["mountpoints"]
    }


def test_by_id_names_are_the_links_of_udev(listed: tuple[dict[str, Row], dict[str, Row]], guest: Guest) -> None:
    _, ours = listed
    script = "cd /dev/disk/by-id; for link in *; do echo $link $(basename $(realpath $link)); done"
    owner = dict(line.split() for line in guest.out(script).splitlines())
    has = {name: {link.rpartition("/")[2] for link in device["by_id"]} for name, device in ours.items()}
    assert all(link in has[name] for link, name in owner.items())
    # Two paths to a disk share its names, and udev links each to one of them.
    sizes = {name: device["size_bytes"] for name, device in ours.items()}
    assert all(sizes[owner[link]] == sizes[name] for name, links in has.items() for link in links)
