"""One device while others use it: what the kernel counts of it, and which processes do it.

The device is never opened: one that sleeps sleeps on, and nobody needs a right to it (F97).
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from diskprof.devices.machine.presence import Presence
from diskprof.devices.machine.process_watch import ProcessWatch
from diskprof.devices.machine.watch import SystemWatch
from diskprof.devices.scan.files import SYSTEM, Roots, read_text
from diskprof.devices.scan.sysfs import read_counters
from diskprof.model.advice import Advice
from diskprof.model.device import Device
from diskprof.model.errors import UsageError
from diskprof.model.process_io import ProcessIo
from diskprof.model.sample import Phase, SystemSample


class WatchedInterval(NamedTuple):
    """`sample` is what the kernel counted in it; `processes` what each did since it was told of last; `at` (UTC) its end."""

    sample: SystemSample
    processes: tuple[ProcessIo, ...]
    at: datetime


def refuse_uncounted(device: Device, roots: Roots = SYSTEM) -> None:
    """Raises UsageError for a device whose I/O the kernel does not count."""
    if device.name not in read_counters(roots, (device.name,)):
        lists = Advice("`diskprof devices` lists the disks.", "Choose another device.")
        raise UsageError(f"The kernel counts no I/O of {device.node}.", lists)
    # A volume counts by itself; a partition has no queue of its own.
    switches = {name: read_text(roots.blocks / name / "queue" / "iostats") for name in (device.name, *device.parents)}
    switch = next(filter(switches.get, switches), "")
    if switches.get(switch) == "0":
        raise UsageError(
            f"The kernel does not count I/O of {device.node}: its iostats are off.",
            f"To turn them on, as root: echo 1 > /sys/block/{switch}/queue/iostats",
        )


def sensed(disks: Sequence[Device]) -> tuple[str, ...]:
    """Those whose temperature may be read: reading the sensor of a hard disk may wake it."""
    return tuple(disk.name for disk in disks if disk.rotational is False)


class DeviceWatch:
    """What happens to a device from now on, one difference a call. `disks` are the whole devices below it."""

    def __init__(self, device: Device, disks: Sequence[Device], roots: Roots = SYSTEM) -> None:
        self._name = device.name
        self._presence = Presence((device.name,), roots)
        self._processes = ProcessWatch([disk.name for disk in disks] or [device.name], roots)
        self._processes.begin(0)
        self._system = SystemWatch((device.name,), roots=roots, sensed=sensed(disks))
        self._began = time.monotonic_ns()

    @property
    def gone(self) -> bool:
        """Whether the device was removed, or another has its name."""
        return bool(self._presence.lost())

    def interval(self, *, last: bool = False) -> WatchedInterval | None:
        """What happened since the last call; None if no time has passed. `last`: also the little that processes did."""
        at_ns, at = time.monotonic_ns() - self._began, datetime.now(UTC)
        sample = self._system.sample(test=0, phase=Phase.MEASURING, at_ns=at_ns)
        look = last or self._processes.due
        processes = self._processes.look(0, at_ns, last=last) if look else ()
        return WatchedInterval(sample, processes, at) if sample else None
