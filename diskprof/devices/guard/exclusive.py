"""Having a device for oneself: opened so that nobody else can mount or claim it, and found to be the one that was meant (F25)."""

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from diskprof.devices.guard.write_hazards import to_hold, write_hazards
from diskprof.devices.scan.files import SYSTEM, Roots, read_int
from diskprof.devices.scan.udev import scan
from diskprof.devices.targets import how_to_open
from diskprof.model.device import Device, DeviceTree
from diskprof.model.errors import Refused, UsageError
from diskprof.model.plan import RawDevice, Severity, WritePermission
from diskprof.model.units import format_size

_BLKGETDISKSEQ = 0x80081280
_GONE = {errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.ENOMEDIUM}
_AGAIN = "Plan again, and check the devices in it."


@contextmanager
def had_alone(
    raw: RawDevice, places: Mapping[str, str], *, look: Callable[[], DeviceTree] = scan, roots: Roots = SYSTEM
) -> Iterator[int]:
    """A descriptor of the device that the plan was made for, which nobody else can claim, mount or swap to meanwhile.

    The device's other names are held too. All that could speak against the plan is looked at again, what the device holds
    by that very descriptor. Raises Refused, or UsageError where this user may not write.
    """
    with ExitStack() as held:
        descriptor = _open(raw.node, os.O_RDWR)
        held.callback(os.close, descriptor)
        _check_identity(descriptor, raw, roots)
        # Looked at only now: from here on neither the device nor what uses it can change.
        tree = look()
        device = tree.by_number(raw.major, raw.minor)
        if device is None or (device.name, device.serial, device.model) != (raw.name, raw.serial, raw.model):
            raise Refused(f"{raw.node} is no longer the planned device.", _AGAIN)
        for other in to_hold(device, tree):
            held.callback(os.close, _open(other.node, os.O_RDONLY))
        permission = WritePermission(True, raw.overwrites)
        for hazard in write_hazards(device, tree, permission, places, held=descriptor, roots=roots):
            if hazard.severity is Severity.BLOCKS:
                raise Refused(hazard.message, hazard.advice)
        yield descriptor


def raw_device(device: Device, *, bytes_written: int, overwrites: tuple[str, ...] = ()) -> RawDevice:
    """What is to be remembered of a device that a plan writes to."""
    return RawDevice(
        name=device.name,
        node=device.node,
        major=device.major,
        minor=device.minor,
        size_bytes=device.size_bytes,
        bytes_written=bytes_written,
        diskseq=device.diskseq,
        serial=device.serial,
        model=device.model,
        dm_name=device.dm_name,
        overwrites=overwrites,
    )


def _open(node: str, mode: int) -> int:
    try:
        return os.open(node, mode | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise Refused(
                f"{node} is in use exclusively by something else: refusing to write.",
                "Take it out of use first (a mount, a volume, an array, swap), or choose another device.",
            ) from None
        if error.errno in _GONE:
            raise Refused(f"{node} is gone since it was planned.", _AGAIN) from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise UsageError(f"No permission to write to {node}.", how_to_open(node, os.O_RDWR)) from None
        raise Refused(f"{node} cannot be opened: {error.strerror}.", _AGAIN) from None


def _check_identity(descriptor: int, raw: RawDevice, roots: Roots) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISBLK(status.st_mode) or status.st_rdev != os.makedev(raw.major, raw.minor):
        raise Refused(f"{raw.node} is a different device since it was planned.", _AGAIN)
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size != raw.size_bytes:
        raise Refused(f"{raw.node} holds {format_size(size)}; planned for {format_size(raw.size_bytes)}.", _AGAIN)
    if raw.diskseq is not None and _diskseq(descriptor, raw, roots) != raw.diskseq:
        raise Refused(
            f"The disk behind {raw.node} was replaced since it was planned: same name, different disk.",
            _AGAIN,
        )


def _diskseq(descriptor: int, raw: RawDevice, roots: Roots) -> int | None:
    """The number that the kernel gives to each disk once; what it is for this very descriptor (F35)."""
    number = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _BLKGETDISKSEQ, number)
        return int(struct.unpack("=Q", number)[0])
    except OSError:
        # Architectures number their ioctls differently. The device cannot go while it is held open.
        path = (roots.sys / "dev" / "block" / f"{raw.major}:{raw.minor}").resolve()
        return read_int((path.parent if (path / "partition").exists() else path) / "diskseq")
