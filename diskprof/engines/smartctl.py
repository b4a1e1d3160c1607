"""What a disk says of its wear and health, asked of smartctl (smartmontools), which knows NVMe, SATA and SAS and most USB bridges.

diskprof could read an NVMe drive's log page by an ioctl, but no other's: SATA and SAS take a table of drives and bridges that
smartmontools keeps. So it is asked where it is installed, and where it is not, or may not, nothing is said.
"""

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from typing import Any

from diskprof.engines.process import Brief, run_briefly
from diskprof.model.device import Device, DeviceKind, Health, Transport, Wear

_MORE_PLACES = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin"
# Attributes; the drive's statistics of writes and of wear (ATA; SCSI's wear too); SCSI's counters of bytes stand with errors.
_ARGUMENTS = ("--json=c", "--info", "--attributes", "--log=devstat,1", "--log=ssd", "--log=error")
# A disk that sleeps is let sleep: smartctl then says nothing of it.
_GENTLE = ("--nocheck=standby", "--health")
_PATIENCE_S = 5.0
_AGAIN_S = 600.0
_LATE_AGAIN_S = 60.0
_WEARS = frozenset(
    {Transport.NVME, Transport.SATA, Transport.SAS, Transport.SCSI, Transport.USB, Transport.FC, Transport.UNKNOWN}
)
_NVME_UNIT = 512_000
_MOST = 1 << 63
_GIB = 1 << 30
# By the name in smartmontools' table of drives: the numbers mean other things with other makers.
_WRITTEN = {
    "Total_LBAs_Written": 0,
    "Host_Writes_32MiB": 32 << 20,
    "Host_Writes_GiB": _GIB,
    "Lifetime_Writes_GiB": _GIB,
    "Total_Writes_GiB": _GIB,
    "Total_Writes_GB": 10**9,
    "Lifetime_Wts_Frm_Hst_GB": 10**9,
}
"""Bytes for each of an attribute's raw value; 0: logical blocks."""

_LEFT = (
    "SSD_Life_Left",
    "Percent_Lifetime_Remain",
    "Percent_Life_Remaining",
    "Remaining_Lifetime_Perc",
    "Percent_Lifetime_Used",
    "Perc_Rated_Life_Used",
    "Media_Wearout_Indicator",
    "Wear_Leveling_Count",
)
"""Attributes whose normalised value falls from 100 to 0 as the endurance is used up, the most telling first."""

_Json = Mapping[str, Any]
_Disk = tuple[str, int | None, str]
_known: dict[_Disk, tuple[float, Wear | None]] = {}
_healths: dict[_Disk, tuple[float, Health | None]] = {}


def find_smartctl() -> str:
    """The program that DISKPROF_SMARTCTL names, else the first on the PATH or where root's programs are; empty: none."""
    given = os.environ.get("DISKPROF_SMARTCTL")
    if given is not None:
        return shutil.which(given) or ""
    places = os.pathsep.join(filter(None, (os.environ.get("PATH"), _MORE_PLACES)))
    return shutil.which("smartctl", path=places) or ""


def can_wear(device: Device) -> bool:
    """Whether it is a disk that may know of its wear: none that turns, and none that is made of something else."""
    return device.kind is DeviceKind.DISK and device.transport in _WEARS and device.rotational is not True


def wear_of(disks: Sequence[Device]) -> tuple[Wear, ...]:
    """The wear of those disks that tell of it. Asks each once in ten minutes, for five seconds at most; raises nothing.

    One that was too busy to answer is asked again after a minute.
    """
    return tuple(wear for disk in disks if can_wear(disk) and (wear := _asked(disk)))


def _asked(disk: Device) -> Wear | None:
    key, now = (disk.node, disk.diskseq, disk.serial), time.monotonic()
    until, wear = _known.get(key, (now, None))
    if now >= until:
        answer = _ask(disk)
        wear = parse_wear(disk.name, answer.output)
        _known[key] = (time.monotonic() + (_LATE_AGAIN_S if answer.late else _AGAIN_S), wear)
    return wear


def health_of(disk: Device) -> Health | None:
    """What a disk says of its health; None where it says nothing, as one that sleeps. Raises nothing.

    Asks once in ten minutes, for five seconds at most, and again after a minute where nothing was said.
    """
    # A bridge may have a sleeping disk behind it and not know.
    bridged = disk.transport is Transport.USB and disk.rotational is not False
    if disk.kind is not DeviceKind.DISK or disk.transport not in _WEARS or bridged:
        return None
    key, now = (disk.node, disk.diskseq, disk.serial), time.monotonic()
    until, health = _healths.get(key, (now, None))
    if now >= until:
        health = parse_health(disk.name, _ask(disk, *_GENTLE).output)
        _healths[key] = (time.monotonic() + (_AGAIN_S if health else _LATE_AGAIN_S), health)
    return health


def _ask(disk: Device, *more: str) -> Brief:
    program = find_smartctl()
    return run_briefly((program, *_ARGUMENTS, *more, disk.node), _PATIENCE_S) if program else Brief(None, "")


def parse_wear(device: str, text: str) -> Wear | None:
    """What smartctl's JSON says of the wear; None where it says nothing, or nothing that can be. Any text will do."""
    return _wear(device, _read(text))


def parse_health(device: str, text: str) -> Health | None:
    """What smartctl's JSON says of the health; None where it says nothing, or nothing that can be. Any text will do."""
    data = _read(text)
    passed, degrees = _of(data, "smart_status", "passed"), _number(_of(data, "temperature", "current"), 150)
    health = Health(device, passed if isinstance(passed, bool) else None, degrees or None, _wear(device, data))
    return None if health == Health(device) else health


def _read(text: str) -> _Json:
    try:
        # What it writes to stderr may stand before.
        data = json.loads(text[text.find("{") :])
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _wear(device: str, data: _Json) -> Wear | None:
    used = _used(data)
    return None if used is None else Wear(device, used, _written(data))


def _used(data: _Json) -> int | None:
    """Percent, from 0 to 255, the most that NVMe and ATA can say."""
    said = (
        _of(data, "nvme_smart_health_information_log", "percentage_used"),
        _statistic(data, 7, 8),
        data.get("scsi_percentage_used_endurance_indicator"),
        _of(data, "endurance_used", "current_percent"),
    )
    found = next((each for value in said if (each := _number(value, 255)) is not None), None)
    if found is None:
        attributes = _attributes(data)
        left = next((each for name in _LEFT if (each := _number(_of(attributes, name, "value"), 100))), None)
        found = None if left is None else 100 - left
    return found


def _written(data: _Json) -> int | None:
    units = _number(_of(data, "nvme_smart_health_information_log", "data_units_written"), _MOST)
    if units is not None:
        return _bytes(units * _NVME_UNIT)
    block = _number(data.get("logical_block_size"), 1 << 16) or 512
    sectors = _number(_statistic(data, 1, 24), _MOST)
    if sectors:
        return _bytes(sectors * block)
    attributes = _attributes(data)
    for name, unit in _WRITTEN.items():
        if raw := _number(_of(attributes, name, "raw", "value"), _MOST):
            return _bytes(raw * (unit or block))
    return _gigabytes(_of(data, "scsi_error_counter_log", "write", "gigabytes_processed"))


def _bytes(value: int) -> int | None:
    return value if 0 < value < _MOST else None


def _gigabytes(text: object) -> int | None:
    """SCSI's counter: a string with three decimals, in 10^9 bytes."""
    whole, _, part = text.partition(".") if isinstance(text, str) and len(text) < 20 else ("", "", "")
    if not (whole.isascii() and whole.isdecimal()):
        return None
    rest = int(part) if len(part) == 3 and part.isascii() and part.isdecimal() else 0
    return _bytes(int(whole) * 10**9 + rest * 10**6)


def _statistic(data: _Json, page: int, offset: int) -> object:
    """An entry of the ATA device statistics (ACS-4, 9.5), which has to be marked as valid."""
    for each in _items(_of(data, "ata_device_statistics", "pages")):
        if each.get("number") == page:
            for entry in _items(each.get("table")):
                if entry.get("offset") == offset and _of(entry, "flags", "valid") is True:
                    return entry.get("value")
    return None


def _attributes(data: _Json) -> dict[str, _Json]:
    rows = _items(_of(data, "ata_smart_attributes", "table"))
    return {name: row for row in rows if isinstance(name := row.get("name"), str)}


def _items(value: object) -> list[_Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _of(data: object, *names: str) -> object:
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _number(value: object, most: int) -> int | None:
    """A whole number from 0 to `most`."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None
