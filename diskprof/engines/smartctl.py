"""What a disk says of its wear and health, asked of smartctl (smartmontools), which knows NVMe, SATA and SAS and most USB bridges.

diskprof could read an NVMe drive's log page by an ioctl, but no other's: SATA and SAS take a table of drives and bridges that
smartmontools keeps. So it is asked where it is installed, and where it is not, or may not, nothing is said.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from diskprof.engines.process import Brief, run_briefly
from diskprof.model.device import Device, DeviceKind, Health, Transport, Wear
from diskprof.model.drive import DriveCount, DriveCounters, Silence

_MORE_PLACES = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin"
# Attributes; the drive's statistics of writes and of wear (ATA; SCSI's wear too); SCSI's counters of bytes stand with errors.
_ARGUMENTS = ("--json=c", "--info", "--attributes", "--log=devstat,1", "--log=ssd", "--log=error")
# A disk that sleeps is let sleep: smartctl then says nothing of it.
_GENTLE = ("--nocheck=standby", "--health")
# All of the statistics, and the lines of text: those of thermal management have no name in its JSON (F99).
_COUNTING = ("--json=co", "--info", "--attributes", "--log=devstat", "--log=error", "--nocheck=standby")
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

_NAND = {
    "NAND_Writes_32MiB": 32 << 20,
    "NAND_Writes_1GiB": _GIB,
    "NAND_Writes_GiB": _GIB,
    "Total_NAND_Writes_GiB": _GIB,
    "Flash_Writes_GiB": _GIB,
}
"""As _WRITTEN, of what the drive wrote to its flash."""

_HOST_PAGES, _OWN_PAGES = "Host_Program_Page_Count", "FTL_Program_Page_Count"
_ATTRIBUTE_ERRORS = {
    "Reallocated_Sector_Ct": "reallocated sectors",
    "Reported_Uncorrect": "uncorrectable errors",
    "Current_Pending_Sector": "pending sectors",
    "UDMA_CRC_Error_Count": "CRC errors of the link",
}
_STATISTIC_ERRORS = {
    (3, 32): "reallocated sectors",
    (4, 8): "uncorrectable errors",
    (6, 24): "CRC errors of the link",
}
"""By page and offset of the ATA device statistics (ACS-4, 9.5)."""

_HEAT_LINES = {
    "Thermal Temp. 1 Transition Count": "times throttled lightly",
    "Thermal Temp. 2 Transition Count": "times throttled heavily",
    "Thermal Temp. 1 Total Time": "s throttled lightly",
    "Thermal Temp. 2 Total Time": "s throttled heavily",
}
"""NVMe's thermal management (Base Specification, log page 02h); a line that is missing stands for 0."""

_HEAT_MINUTES = {
    "warning_temp_time": "min above the warning temperature",
    "critical_comp_time": "min above the critical temperature",
}

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
    if not counts_itself(disk):
        return None
    key, now = (disk.node, disk.diskseq, disk.serial), time.monotonic()
    until, health = _healths.get(key, (now, None))
    if now >= until:
        health = parse_health(disk.name, _ask(disk, *_GENTLE).output)
        _healths[key] = (time.monotonic() + (_AGAIN_S if health else _LATE_AGAIN_S), health)
    return health


class Told(NamedTuple):
    """The counters of a disk and its serial number (empty: not told), or why there are none."""

    counters: DriveCounters | None
    silence: Silence | None = None
    serial: str = ""


def counts_itself(disk: Device) -> bool:
    """Whether it is a disk that may have counters of its own: nothing virtual, no bridge with a sleeping disk behind it."""
    # Such a bridge does not know.
    bridged = disk.transport is Transport.USB and disk.rotational is not False
    return disk.kind is DeviceKind.DISK and disk.transport in _WEARS and not bridged


def counters_of(disks: Sequence[Device]) -> tuple[Told, ...]:
    """What each of these disks counts now, all asked at once, for five seconds at most. Wakes none; raises nothing."""
    program = find_smartctl()
    if not program or not disks:
        return tuple(Told(None, Silence.MISSING) for _ in disks)
    with ThreadPoolExecutor(len(disks)) as pool:
        answers = pool.map(lambda disk: run_briefly((program, *_COUNTING, disk.node), _PATIENCE_S), disks)
        return tuple(Told(None, Silence.LATE) if each.late else parse_counters(each.output) for each in answers)


def parse_counters(text: str) -> Told:
    """What smartctl's JSON says of a drive's counters, or why it says nothing. Any text will do."""
    data = _read(text)
    (host, host_step), (nand, nand_step) = _host(data), _counted(data, _NAND, 1)
    attributes = _attributes(data)
    host_pages, own_pages = (
        _number(_of(attributes, name, "raw", "value"), _MOST) for name in (_HOST_PAGES, _OWN_PAGES)
    )
    found = DriveCounters(
        host_bytes=host,
        host_step=host_step,
        nand_bytes=nand,
        nand_step=nand_step,
        host_pages=host_pages,
        own_pages=own_pages,
        temperature_c=_number(_of(data, "temperature", "current"), 150) or None,
        errors=tuple(_errors(data)),
        heat=tuple(_heat(data)),
    )
    serial = data.get("serial_number")
    if found == DriveCounters():
        return Told(None, _silence(data))
    return Told(found, serial=serial if isinstance(serial, str) else "")


def _host(data: _Json) -> tuple[int | None, int]:
    """Bytes that were written to the drive, and the bytes of its step."""
    units = _number(_of(data, "nvme_smart_health_information_log", "data_units_written"), _MOST)
    if units is not None and units * _NVME_UNIT < _MOST:
        return units * _NVME_UNIT, _NVME_UNIT
    block = _number(data.get("logical_block_size"), 1 << 16) or 512
    sectors = _number(_statistic(data, 1, 24), _MOST)
    if sectors:
        return _bytes(sectors * block), block
    written, step = _counted(data, _WRITTEN, block)
    if written is not None:
        return written, step
    written = _gigabytes(_of(data, "scsi_error_counter_log", "write", "gigabytes_processed"))
    return written, 1 if written is None else 10**6


def _counted(data: _Json, units: Mapping[str, int], block: int) -> tuple[int | None, int]:
    """Bytes by the first of these attributes that there is, and the bytes of its step."""
    attributes = _attributes(data)
    for name, unit in units.items():
        if raw := _number(_of(attributes, name, "raw", "value"), _MOST):
            step = unit or block
            return _bytes(raw * step), step
    return None, 1


def _errors(data: _Json) -> Iterator[DriveCount]:
    """Of the error logs only what is an error of the drive: they also list commands that it did not know (F99)."""
    media = _number(_of(data, "nvme_smart_health_information_log", "media_errors"), _MOST)
    if media is not None:
        yield DriveCount("media errors", media)
    found: dict[str, int] = {}
    attributes = _attributes(data)
    for title, name in _ATTRIBUTE_ERRORS.items():
        if (count := _number(_of(attributes, title, "raw", "value"), _MOST)) is not None:
            found[name] = count
    for (page, offset), name in _STATISTIC_ERRORS.items():
        if (count := _number(_statistic(data, page, offset), _MOST)) is not None:
            found[name] = count
    for way in ("read", "write", "verify"):
        count = _number(_of(data, "scsi_error_counter_log", way, "total_uncorrected_errors"), _MOST)
        if count is not None:
            found[f"uncorrected errors of {way}s" if way != "verify" else "uncorrected errors of verifying"] = count
    defects = _number(data.get("scsi_grown_defect_list"), _MOST)
    if defects is not None:
        found["grown defects"] = defects
    yield from (DriveCount(name, count) for name, count in found.items())


def _heat(data: _Json) -> Iterator[DriveCount]:
    log = data.get("nvme_smart_health_information_log")
    if not isinstance(log, dict):
        return
    lines = dict.fromkeys(_HEAT_LINES, 0)
    output = _of(data, "smartctl", "output")
    for line in output if isinstance(output, list) else ():
        name, colon, rest = line.partition(":") if isinstance(line, str) else ("", "", "")
        figure = rest.strip().replace(",", "")
        if colon and name in lines and figure.isascii() and figure.isdecimal() and len(figure) < 12:
            lines[name] = int(figure)
    if isinstance(output, list):
        yield from (DriveCount(_HEAT_LINES[name], count) for name, count in lines.items())
    for key, name in _HEAT_MINUTES.items():
        if (minutes := _number(log.get(key), _MOST)) is not None:
            yield DriveCount(name, minutes)


def _silence(data: _Json) -> Silence:
    said = " ".join(str(each.get("string")) for each in _items(_of(data, "smartctl", "messages")))
    if "Permission denied" in said or "Operation not permitted" in said:
        return Silence.DENIED
    return Silence.ASLEEP if "STANDBY" in said or "SLEEP" in said else Silence.MUTE


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
    return _host(data)[0] or None


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
