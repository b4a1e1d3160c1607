"""Devices that the kernel itself exports to other machines: no process has them open, and NVMe's target not exclusively (F80)."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.files import SYSTEM, Roots, list_names, read_text
from diskprof.model.device import Device, DeviceTree
from diskprof.model.plan import Hazard, Severity
from diskprof.model.text import clean


class Export(Struct, frozen=True):
    """`path` is what the target was told to export, `how` says by what, with the name that others know it by.

    `number` is that of the block device which `path` is; None where it is none, such as a file.
    """

    path: str
    how: str
    number: int | None = None

    def is_of(self, device: Device) -> bool:
        """Whether it is this device, by its name or its number."""
        named = self.path in (device.node, f"/dev/mapper/{device.dm_name}")
        return named or self.number == os.makedev(device.major, device.minor)


def exports(roots: Roots = SYSTEM) -> tuple[Export, ...]:
    """All that NVMe's target (nvmet) and the SCSI target (LIO) have enabled."""
    config = roots.sys / "kernel" / "config"
    return (*_nvmet(config / "nvmet" / "subsystems"), *_lio(config / "target" / "core"))


def _export(path: str, how: str) -> Export:
    number = None
    # A file elsewhere may be on a server that does not answer.
    if path.startswith("/dev/"):
        with suppress(OSError, ValueError):
            status = Path(path).stat()
            number = status.st_rdev if stat.S_ISBLK(status.st_mode) else None
    return Export(path, how, number)


def _nvmet(subsystems: Path) -> Iterator[Export]:
    for subsystem in list_names(subsystems):
        namespaces = subsystems / subsystem / "namespaces"
        for number in list_names(namespaces):
            path = read_text(namespaces / number / "device_path")
            if path and read_text(namespaces / number / "enable") == "1":
                yield _export(path, f"the kernel's NVMe target as {clean(subsystem)}")


def _lio(core: Path) -> Iterator[Export]:
    for adapter in list_names(core):
        for name in list_names(core / adapter):
            backend = core / adapter / name
            if read_text(backend / "enable") != "1":
                continue
            info = read_text(backend / "info")
            told = re.search(r"\b(?:UDEV PATH|File): (\S+)", info)
            disk = re.search(r"\biBlock device: (\S+)", info)
            path = read_text(backend / "udev_path") or (told[1] if told else f"/dev/{disk[1]}" if disk else "")
            if path:
                yield _export(path, f"the kernel's SCSI target as {clean(name)}")


def export_hazards(target: Device, tree: DeviceTree, roots: Roots = SYSTEM) -> Iterator[Hazard]:
    """What is exported from the disks below a target that is not itself written to: others may use it meanwhile."""
    disks = set(tree.disks_below(target.name))
    for export in exports(roots):
        for device in tree.devices:
            if export.is_of(device) and disks.intersection(tree.disks_below(device.name)):
                yield Hazard(
                    "exported",
                    Severity.WARNS,
                    f"{device.name} is exported to other machines by {export.how}: both slow each other down.",
                    "Test while nobody uses it.",
                )
