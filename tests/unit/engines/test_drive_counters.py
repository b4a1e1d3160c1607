"""What drives of each kind count themselves, and why one says nothing."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines import smartctl
from diskprof.engines.smartctl import Told, counters_of, counts_itself, parse_counters
from diskprof.model.device import Device, DeviceKind, Transport
from diskprof.model.drive import DriveCount, DriveCounters, Silence

DATA = Path(__file__).parents[2] / "data/smartctl"
GIB = 1 << 30


def said(name: str) -> str:
    return (DATA / f"{name}.json").read_text()


def changed(name: str, **parts: Any) -> str:
    return json.dumps(json.loads(said(name)) | parts)


def told(text: str) -> DriveCounters:
    counters = parse_counters(text).counters
    assert counters
    return counters


def named(counts: tuple[DriveCount, ...]) -> dict[str, int]:
    return {each.name: each.count for each in counts}


def test_an_nvme_drive() -> None:
    found = told(said("nvme"))
    assert (found.host_bytes, found.host_step, found.temperature_c) == (473_485_410 * 512_000, 512_000, 41)
    assert named(found.errors) == {"media errors": 0}
    assert named(found.heat) == {"min above the warning temperature": 0, "min above the critical temperature": 0}


def test_what_smartctl_printed_of_qemus_drives() -> None:
    """Recorded with smartctl 7.3 in a guest of QEMU 7.2: a new NVMe drive, which was written nothing to, a SATA and a SCSI disk."""
    nvme = told(said("qemu-nvme"))
    assert (nvme.host_bytes, nvme.host_step, nvme.temperature_c) == (0, 512_000, 50)
    assert "times throttled lightly" in named(nvme.heat), "the lines of text are there"
    sata = told(said("qemu-sata"))
    assert (sata.host_bytes, named(sata.errors)) == (None, {"reallocated sectors": 0})
    assert parse_counters(said("qemu-scsi")) == Told(None, Silence.MUTE)


def test_the_thermal_management_of_nvme_is_in_its_lines_of_text_alone() -> None:
    data = json.loads(said("nvme"))
    data["smartctl"]["output"] = [
        "Temperature Sensor 1:               46 Celsius",
        "Thermal Temp. 1 Transition Count:   1,005",
        "Thermal Temp. 1 Total Time:         206",
        "Thermal Temp. 2 Total Time:         soon",
        7,
    ]
    heat = named(told(json.dumps(data)).heat)
    assert heat["times throttled lightly"] == 1005 and heat["s throttled lightly"] == 206
    assert heat["times throttled heavily"] == heat["s throttled heavily"] == 0


def test_a_sata_drive() -> None:
    found = told(said("sata-ssd"))
    assert (found.host_bytes, found.host_step) == (85_899_345_920 * 512, 512)
    assert named(found.errors) == {"reallocated sectors": 0}
    coarse = told(said("sata-ssd-attributes"))
    assert (coarse.host_bytes, coarse.host_step) == (10_240 * GIB, GIB)


def test_the_statistics_of_ata_count_errors_too() -> None:
    valid = {"valid": True}
    pages = [
        {"number": 4, "table": [{"offset": 8, "value": 3, "flags": valid}]},
        {"number": 6, "table": [{"offset": 24, "value": 12, "flags": valid}]},
        {"number": 3, "table": [{"offset": 32, "value": 9, "flags": {"valid": False}}]},
    ]
    errors = named(told(changed("hdd", ata_device_statistics={"pages": pages})).errors)
    assert errors == {"uncorrectable errors": 3, "CRC errors of the link": 12}


@pytest.mark.parametrize(
    ("attribute", "step"), [("NAND_Writes_1GiB", GIB), ("NAND_Writes_32MiB", 32 << 20), ("Flash_Writes_GiB", GIB)]
)
def test_what_a_drive_wrote_to_its_flash(attribute: str, step: int) -> None:
    table = [{"id": 249, "name": attribute, "raw": {"value": 700}}]
    found = told(changed("sata-ssd", ata_smart_attributes={"table": table}))
    assert (found.nand_bytes, found.nand_step) == (700 * step, step)


def test_pages_in_place_of_bytes() -> None:
    table = [
        {"id": 247, "name": "Host_Program_Page_Count", "raw": {"value": 4_592_609_183}},
        {"id": 248, "name": "FTL_Program_Page_Count", "raw": {"value": 4_948_954_393}},
    ]
    found = told(changed("sata-ssd", ata_smart_attributes={"table": table}))
    assert (found.host_pages, found.own_pages) == (4_592_609_183, 4_948_954_393)


def test_a_sas_drive() -> None:
    found = told(said("sas-ssd"))
    assert (found.host_bytes, found.host_step, found.temperature_c) == (385_000_250_000_000, 10**6, 31)
    assert named(found.errors) == {
        "uncorrected errors of reads": 0,
        "uncorrected errors of writes": 0,
        "grown defects": 0,
    }


@pytest.mark.parametrize(
    ("name", "why"), [("permission", Silence.DENIED), ("standby", Silence.ASLEEP), ("usb-bridge", Silence.MUTE)]
)
def test_why_nothing_is_told(name: str, why: Silence) -> None:
    assert parse_counters(said(name)) == Told(None, why)
    assert parse_counters("") == Told(None, Silence.MUTE)


def test_no_bridge_and_nothing_virtual_is_asked() -> None:
    def disk(transport: Transport, *, rotational: bool | None = False, kind: DeviceKind = DeviceKind.DISK) -> Device:
        return Device("x", "/dev/x", kind, 8, 0, GIB, transport=transport, rotational=rotational)

    assert counts_itself(disk(Transport.NVME)) and counts_itself(disk(Transport.SATA, rotational=True))
    assert not counts_itself(disk(Transport.USB, rotational=True))
    assert not counts_itself(disk(Transport.VIRTIO))
    assert not counts_itself(disk(Transport.SATA, kind=DeviceKind.LOOP))


def test_all_disks_are_asked_at_once_and_gently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits until both were asked: one after the other they would not be answered."""
    program = tmp_path / "smartctl"
    meet = tmp_path / "meet"
    os.mkfifo(meet)
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"open({str(meet)!r}, 'r' if sys.argv[-1] == '/dev/a' else 'w').close()\n"
        "assert '--nocheck=standby' in sys.argv\n"
        f"print(open({str(DATA / 'nvme.json')!r}).read())\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(program))
    disks = [Device(name, f"/dev/{name}", DeviceKind.DISK, 8, 0, GIB, transport=Transport.NVME) for name in "ab"]
    assert counters_of(disks) == (parse_counters(said("nvme")),) * 2
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(tmp_path / "none"))
    assert counters_of(disks) == (Told(None, Silence.MISSING),) * 2
    assert counters_of(()) == ()
    program.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(program))
    monkeypatch.setattr(smartctl, "_PATIENCE_S", 0.1)
    assert counters_of(disks[:1]) == (Told(None, Silence.LATE),), "it may well count, and did not say so"


@given(st.one_of(st.text(), st.sampled_from(sorted(DATA.glob("*.json"))).map(lambda path: path.read_text()[:-40])))
def test_any_text_gives_counters_or_a_reason(text: str) -> None:
    found = parse_counters(text)
    assert (found.counters is None) == (found.silence is not None)
