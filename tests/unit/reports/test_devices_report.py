"""The list of devices as a person and a program see it."""

import json

import pytest

from diskprof.model.cells import width_of
from diskprof.model.device import Activity, Device, DeviceKind, DeviceTree, Mount, Transport
from diskprof.reports.render.device_list import UNCUT, devices_json, devices_text, hidden_count

GIB = 1 << 30


def device(name: str, kind: DeviceKind, size: float, **values: object) -> Device:
    given = {"node": f"/dev/{name}", "major": 8, "minor": 0} | values
    return Device(name=name, kind=kind, size_bytes=int(size), **given)  # type: ignore[arg-type]


def mount(path: str, fs_type: str, free: float | None = None) -> Mount:
    return Mount(path, fs_type, ("rw",), 100 * GIB, None if free is None else int(free))


TREE = DeviceTree(
    (
        device(
            "nvme0n1",
            DeviceKind.DISK,
            931.5 * GIB,
            model="Samsung SSD 970 EVO Plus 1TB",
            transport=Transport.NVME,
            children=("nvme0n1p1", "nvme0n1p2"),
        ),
        device(
            "nvme0n1p1",
            DeviceKind.PARTITION,
            GIB / 2,
            fs_type="vfat",
            mounts=(mount("/boot/efi", "vfat", 506 << 20),),
            parents=("nvme0n1",),
        ),
        device(
            "nvme0n1p2",
            DeviceKind.PARTITION,
            931 * GIB,
            fs_type="crypto_LUKS",
            parents=("nvme0n1",),
            children=("dm-0",),
        ),
        device("sda", DeviceKind.DISK, 3726 * GIB, model="WDC WD40EFAX", transport=Transport.SATA, children=("md0",)),
        device("sdb", DeviceKind.DISK, 3726 * GIB, model="WDC WD40EFAX", transport=Transport.SATA, children=("md0",)),
        device("sdc", DeviceKind.DISK, 58 * GIB, model="bösartig \x1b[2J", transport=Transport.USB, read_only=True),
        device(
            "dm-0",
            DeviceKind.CRYPT,
            931 * GIB,
            dm_name="luks-0a1b2c3d-4e5f",
            fs_type="ext4",
            fs_label="home",
            mounts=(mount("/home", "ext4", 88.2 * GIB), mount("/srv", "ext4", 88.2 * GIB)),
            parents=("nvme0n1p2",),
        ),
        device(
            "md0",
            DeviceKind.RAID,
            3726 * GIB,
            model="raid1",
            fs_type="xfs",
            mounts=(mount("/srv/archive/of/very/many/photographs", "xfs", 1.2 * 1024 * GIB),),
            parents=("sda", "sdb"),
        ),
        device("loop0", DeviceKind.LOOP, 0),
        device("zram0", DeviceKind.ZRAM, 4 * GIB, fs_type="swap", swap=True),
    )
)
BUSY = {"nvme0n1": Activity(10, 0, 1e6, 0, 0.374)}

WIDE = """\
NAME                        SIZE  TYPE     TRAN  FS           MOUNTED ON                FREE  BUSY  MODEL OR LABEL
nvme0n1                  932 GiB  disk     nvme                                                37%  Samsung S.. Plus 1TB
├─nvme0n1p1              512 MiB  part           vfat         /boot/efi              506 MiB
└─nvme0n1p2              931 GiB  part           crypto_LUKS
  └─luks-0a1b2c3d-4e5f   931 GiB  crypt          ext4         /home +1              88.2 GiB        "home"
sda                     3.64 TiB  disk     sata                                                     WDC WD40EFAX
└─md0                   3.64 TiB  raid           xfs          /srv/arch..otographs  1.20 TiB        raid1
sdb                     3.64 TiB  disk     sata                                                     WDC WD40EFAX
└─md0                   3.64 TiB  raid           xfs          /srv/arch..otographs  1.20 TiB        raid1
sdc                       58 GiB  disk ro  usb                                                      bösartig �[2J
zram0                      4 GiB  zram           swap         [SWAP]
"""

NARROW = """\
NAME                 SIZE  TYPE         FREE  BUSY  WHAT IT IS
nvme0n1           932 GiB  disk                37%  nvme, Samsung SS..O Plus 1TB
├─nvme0n1p1       512 MiB  part      506 MiB        vfat on /boot/efi
└─nvme0n1p2       931 GiB  part                     crypto_LUKS
  └─luk..d-4e5f   931 GiB  crypt    88.2 GiB        ext4 "home" on /home +1
sda              3.64 TiB  disk                     sata, WDC WD40EFAX
└─md0            3.64 TiB  raid     1.20 TiB        raid1, xfs on /sr..otographs
sdb              3.64 TiB  disk                     sata, WDC WD40EFAX
└─md0            3.64 TiB  raid     1.20 TiB        raid1, xfs on /sr..otographs
sdc                58 GiB  disk ro                  usb, bösartig �[2J
zram0               4 GiB  zram                     swap [SWAP]
"""


def test_columns_where_there_is_room() -> None:
    assert devices_text(TREE, BUSY, 120) == WIDE


def test_one_column_for_disks_and_mounts_on_a_narrow_screen() -> None:
    assert devices_text(TREE, BUSY, 80) == NARROW


@pytest.mark.parametrize("width", [64, 80, 100, 110, 120, 200])
def test_fits_the_terminal(width: int) -> None:
    text = devices_text(TREE, BUSY, width)
    assert max(map(width_of, text.splitlines())) <= width
    assert "37%" in text and "506 MiB" in text


@pytest.mark.parametrize("width", [20, 60, 80, 100, 120, UNCUT])
def test_a_serial_number_is_never_cut(width: int) -> None:
    serial = "eui.002538b141b2c3d4-0001"
    disk = device(
        "sda", DeviceKind.DISK, GIB, model="A model with a name" * 3, serial=serial, fs_type="linux_raid_member"
    )
    text = devices_text(DeviceTree((disk,)), {}, width)
    assert serial in text
    assert ("A model with a name" * 3 in text) == (width == UNCUT)
    # Who has none needs no column for it.
    assert "SERIAL" not in devices_text(TREE, BUSY, 120)


def test_without_utf_8() -> None:
    text = devices_text(TREE, BUSY, 80, ascii_only=True)
    assert text.isascii()
    assert "|-nvme0n1p1" in text and "`-nvme0n1p2" in text


def test_empty_devices_on_request() -> None:
    assert "loop0" not in devices_text(TREE, {}, 80)
    assert "loop0" in devices_text(TREE, {}, 80, show_empty=True)
    assert hidden_count(TREE) == 1


def test_branches_go_on_beside_deeper_ones() -> None:
    tree = DeviceTree(
        (
            device("sda", DeviceKind.DISK, GIB, children=("sda1", "sda2")),
            device("sda1", DeviceKind.PARTITION, GIB, parents=("sda",), children=("dm-0", "dm-1")),
            device("sda2", DeviceKind.PARTITION, GIB, parents=("sda",)),
            device("dm-0", DeviceKind.LVM, GIB, parents=("sda1",)),
            device("dm-1", DeviceKind.LVM, GIB, parents=("sda1",)),
        )
    )
    names = [line.split("  ")[0] for line in devices_text(tree, {}, 100).splitlines()[1:]]
    assert names == ["sda", "├─sda1", "│ ├─dm-0", "│ └─dm-1", "└─sda2"]


def test_json_has_everything() -> None:
    listed = json.loads(json.dumps(devices_json(TREE, BUSY)))
    assert [entry["name"] for entry in listed] == [found.name for found in TREE.devices if found.name != "loop0"]
    disk, crypt = listed[0], next(entry for entry in listed if entry["name"] == "dm-0")
    assert (disk["kind"], disk["transport"], disk["children"]) == ("disk", "nvme", ["nvme0n1p1", "nvme0n1p2"])
    assert disk["activity"]["utilisation"] == 0.374
    assert crypt["activity"] is None
    assert crypt["mounts"][0]["path"] == "/home" and crypt["dm_name"] == "luks-0a1b2c3d-4e5f"
    assert len(devices_json(TREE, {}, show_empty=True)) == len(listed) + 1
