"""The drives below a run are asked before it and after it, and never in between."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from diskprof.model.device import Device, DeviceKind, Transport
from diskprof.model.drive import DriveRecord, Silence
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.runner.carry.drive_watch import DriveWatch

DATA = Path(__file__).parents[2] / "data/smartctl"
DISK = Device("nvme0n1", "/dev/nvme0n1", DeviceKind.DISK, 259, 0, 1 << 40, transport=Transport.NVME)
VIRTUAL = Device("vda", "/dev/vda", DeviceKind.DISK, 253, 0, 1 << 40, transport=Transport.VIRTIO)
SECOND = 10**9


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A smartctl of a drive that is written 1,000 units more to at each question; the file has how often it was asked."""
    program, count = tmp_path / "smartctl", tmp_path / "count"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib\n"
        f"count = pathlib.Path({str(count)!r})\n"
        "count.write_text(count.read_text() + '.')\n"
        f"data = json.load(open({str(DATA / 'nvme.json')!r}))\n"
        "log = data['nvme_smart_health_information_log']\n"
        "log['data_units_written'] += 1000 * len(count.read_text())\n"
        "print(json.dumps(data))\n"
    )
    program.chmod(0o755)
    count.write_text("")
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(program))
    return count


def watched(*disks: Device) -> tuple[DriveRecord, ...]:
    watch = DriveWatch(disks)
    asyncio.run(watch.begin())
    for phase in (Phase.PREPARING, Phase.MEASURING):
        sample = Sample(0, phase, Direction.WRITE, SECOND, SECOND, 1000, 250_000_000)
        read = Sample(0, phase, Direction.READ, SECOND, SECOND, 1000, 7)
        watch.hear((sample, read), (SystemSample(0, phase, SECOND, SECOND, temperature_c=58.0),))
    return asyncio.run(watch.end())


def test_what_a_drive_counted_stands_beside_what_the_tests_wrote(asked: Path) -> None:
    (drive,) = watched(DISK)
    assert (drive.device, drive.host_bytes, drive.test_bytes) == ("nvme0n1", 512_000_000, 500_000_000)
    assert (drive.hottest_c, drive.new_errors, drive.silence) == (58.0, (), None)
    assert asked.read_text() == ".."


def test_beside_another_disk_nobody_knows_which_of_them_the_tests_wrote_to(asked: Path) -> None:
    (drive,) = watched(DISK, VIRTUAL)
    assert (drive.test_bytes, drive.hottest_c) == (None, 41)
    assert watched(VIRTUAL) == ()


def test_the_counters_of_two_drives_are_not_subtracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, other = tmp_path / "smartctl", tmp_path / "other.json"
    other.write_text((DATA / "nvme.json").read_text())
    program.write_text(f"#!/bin/sh\ncat {other}\n")
    program.chmod(0o755)
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(program))

    async def swapped() -> tuple[DriveRecord, ...]:
        watch = DriveWatch((DISK,))
        await watch.begin()
        said = json.loads(other.read_text())
        assert said["serial_number"]
        said["serial_number"] += "2"
        said["nvme_smart_health_information_log"]["data_units_written"] += 5000
        other.write_text(json.dumps(said))
        return await watch.end()

    assert asyncio.run(swapped()) == (DriveRecord("nvme0n1", silence=Silence.SWAPPED),)


def test_without_smartctl_or_the_right_to_ask_the_command_that_helps_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(tmp_path / "none"))
    (missing,) = watched(DISK)
    assert missing.silence is Silence.MISSING and "smartmontools" in missing.advice
    program = tmp_path / "smartctl"
    program.write_text(f"#!/bin/sh\necho once >> {tmp_path}/asked\ncat {DATA}/permission.json\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("DISKPROF_SMARTCTL", str(program))
    (denied,) = watched(DISK)
    assert denied.silence is Silence.DENIED and denied.advice.startswith("sudo ")
    assert (tmp_path / "asked").read_text() == "once\n", "what said nothing is not asked again"
