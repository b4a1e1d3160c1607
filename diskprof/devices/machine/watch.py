"""What the kernel sees of the disk, the processors, the memory and the limits of control groups while a test runs."""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from diskprof.devices.machine.cgroups import GroupCounters, GroupWatch
from diskprof.devices.scan.files import SYSTEM, KeptOpen, Roots, read_int, read_text
from diskprof.devices.scan.sysfs import counters_in
from diskprof.model.device import DiskCounters
from diskprof.model.sample import Phase, SystemSample

# Asking a drive for its temperature is a command to the drive: seldom enough not to be seen in a result.
_TEMPERATURE_EVERY_NS = 5_000_000_000
_PLAUSIBLE = (40.0, 120.0)
_COLDEST, _HOTTEST = -40.0, 150.0
_MEMORY = {b"\nMemAvailable:": "memory_available_bytes", b"\nCached:": "cached_bytes", b"\nDirty:": "dirty_bytes"}
_WRITTEN = b"\nwrite_bytes:"
_DISCARDS = ("discards", "discard_bytes", "discard_ticks_ms")
_MAY_COUNT = (*_DISCARDS, "flushes", "flush_ticks_ms")
_GROUP = {
    "reads": "cgroup_reads",
    "writes": "cgroup_writes",
    "read_bytes": "cgroup_read_bytes",
    "write_bytes": "cgroup_write_bytes",
    "periods": "cpu_periods",
    "throttled": "cpu_throttled",
    "throttled_ns": "cpu_throttled_ns",
}


class _Shares(NamedTuple):
    user: float
    system: float
    iowait: float
    steal: float


class SystemWatch:
    """Differences of the kernel's counters, one a call, beginning with the moment of construction.

    `devices` are kernel names of whole devices, those below a partition, volume, array or crypt device. Figures of several are
    added up; their busy time is that of the busiest. `limited` are the devices whose I/O control groups limit, `sensed` those whose
    temperature is read, which may wake a disk; None: all of them.
    """

    def __init__(
        self,
        devices: Sequence[str],
        limited: Collection[str] = (),
        roots: Roots = SYSTEM,
        sensed: Sequence[str] | None = None,
    ) -> None:
        self._devices = tuple(devices)
        self._roots = roots
        self._groups = GroupWatch(limited, roots)
        self._diskstats, self._meminfo = KeptOpen(roots.proc / "diskstats"), KeptOpen(roots.proc / "meminfo")
        self._own_io = KeptOpen(roots.proc / "thread-self/io")
        # Flushes are counted of what has a queue of its own: of no partition, and of no volume.
        self._counts_flushes = all((roots.blocks / name / "mq").is_dir() for name in self._devices)
        self._counters, self._group = self._read_counters(), self._groups.read()
        self._written = _written(self._own_io.read())
        self._cpu = psutil.cpu_times()
        self._at_ns = time.monotonic_ns()
        asked = self._devices if sensed is None else sensed
        self._sensors = tuple(filter(None, (_sensor(name, roots) for name in asked)))
        self._temperature: float | None = None
        self._temperature_at_ns: int | None = None

    def sample(self, *, test: int, phase: Phase, at_ns: int) -> SystemSample | None:
        """What happened since the last call; None if no time has passed. `at_ns` since the run began."""
        now = time.monotonic_ns()
        if now <= self._at_ns:
            return None
        counters, cpu, group = self._read_counters(), psutil.cpu_times(), self._groups.read()
        shares, written = _shares(self._cpu, cpu), _written(self._own_io.read())
        sample = SystemSample(
            test=test,
            phase=phase,
            at_ns=at_ns,
            duration_ns=now - self._at_ns,
            cpu_user=shares.user if shares else None,
            cpu_system=shares.system if shares else None,
            cpu_iowait=shares.iowait if shares else None,
            cpu_steal=shares.steal if shares else None,
            temperature_c=self._warmest(now),
            **self._amounts(counters),
            **_of_group(self._group, group),
            **_memory(self._meminfo.read()),
            own_write_bytes=written - self._written if written is not None and self._written is not None else None,
        )
        self._written = written
        self._counters, self._cpu, self._group, self._at_ns = counters, cpu, group, now
        return sample

    def _amounts(self, counters: Mapping[str, DiskCounters]) -> dict[str, int]:
        return _amounts(
            [(self._counters[name], counters[name]) for name in counters if name in self._counters],
            _MAY_COUNT if self._counts_flushes else _DISCARDS,
        )

    def _read_counters(self) -> dict[str, DiskCounters]:
        return counters_in(os.fsdecode(self._diskstats.read()), self._devices) if self._devices else {}

    def _warmest(self, now: int) -> float | None:
        if self._sensors and (
            self._temperature_at_ns is None or now - self._temperature_at_ns >= _TEMPERATURE_EVERY_NS
        ):
            readings = [milli / 1000 for sensor in self._sensors if (milli := read_int(sensor)) is not None]
            self._temperature, self._temperature_at_ns = max(readings, default=None), now
        return self._temperature


def _amounts(pairs: Sequence[tuple[DiskCounters, DiskCounters]], more: Sequence[str]) -> dict[str, int]:
    """The differences of several devices in one; nothing if a counter went back, as when a device was replaced.

    `more` are counters that not every kernel has.
    """
    if not pairs or any(after.reads < before.reads or after.writes < before.writes for before, after in pairs):
        return {}

    def total(name: str) -> int:
        return sum(getattr(after, name) - getattr(before, name) for before, after in pairs)

    names = ("reads", "writes", "read_bytes", "write_bytes", "read_ticks_ms", "write_ticks_ms", "queue_ticks_ms")
    return {
        **{name: total(name) for name in names},
        "io_ticks_ms": max(after.io_ticks_ms - before.io_ticks_ms for before, after in pairs),
        "merges": total("read_merges") + total("write_merges"),
        "read_merges": total("read_merges"),
        "write_merges": total("write_merges"),
        **{
            name: total(name)
            for name in more
            if all(getattr(each, name) is not None for pair in pairs for each in pair)
        },
    }


def _of_group(before: GroupCounters, after: GroupCounters) -> dict[str, int]:
    """What the group did in between; nothing of a counter that is not there or went back."""
    pairs = {field: (getattr(before, name), getattr(after, name)) for name, field in _GROUP.items()}
    return {
        field: new - old for field, (old, new) in pairs.items() if old is not None and new is not None and new >= old
    }


def _memory(meminfo: bytes) -> dict[str, int]:
    """Of lines such as `Dirty:   12 kB`, those that are there."""
    found = {}
    for mark, name in _MEMORY.items():
        _, _, rest = meminfo.partition(mark)
        number, _, unit = rest.partition(b"\n")[0].strip().partition(b" ")
        if unit == b"kB" and number.isdigit():
            found[name] = int(number) * 1024
    return found


def _written(io: bytes) -> int | None:
    """What this process wrote to disks since it began, in bytes: the page cache's debts are counted when they are made."""
    _, mark, rest = io.partition(_WRITTEN)
    number = rest.partition(b"\n")[0].strip()
    return int(number) if mark and number.isdigit() else None


def _shares(before: object, after: object) -> _Shares | None:
    """Shares of all processors' time between two readings; guests' time is part of user and nice already."""
    spent: dict[str, float] = {
        name: max(0.0, float(getattr(after, name)) - float(getattr(before, name)))
        for name in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
        if hasattr(after, name)
    }
    whole = sum(spent.values())
    if whole <= 0:
        return None

    def share(*names: str) -> float:
        return sum(spent.get(name, 0.0) for name in names) / whole

    return _Shares(share("user", "nice"), share("system", "irq", "softirq"), share("iowait"), share("steal"))


def temperature_limit(devices: Sequence[str], roots: Roots = SYSTEM) -> float | None:
    """The temperature in degrees from which the first of these devices slows down, by its own account; None if it gives none.

    The kernel hands on an NVMe drive's warning temperature as `temp1_max`; 65262 and the like stand for none.
    """
    for sensor in filter(None, (_sensor(name, roots) for name in devices)):
        for name in ("temp1_max", "temp1_crit"):
            milli = read_int(sensor.with_name(name))
            if milli is not None and _PLAUSIBLE[0] <= milli / 1000 <= _PLAUSIBLE[1]:
                return milli / 1000
    return None


def temperature(device: str, roots: Roots = SYSTEM) -> float | None:
    """Degrees, by the kernel's sensor of the disk under a device; None where it has none. Reading it is a command to the drive."""
    sensor = _sensor(device, roots)
    milli = read_int(sensor) if sensor else None
    return milli / 1000 if milli is not None and _COLDEST <= milli / 1000 <= _HOTTEST else None


def asleep(disk: str, roots: Roots = SYSTEM) -> bool:
    """Whether the kernel has suspended a disk: to open it would wake it."""
    return read_text(roots.blocks / disk / "device/power/runtime_status") == "suspended"


def _sensor(name: str, roots: Roots) -> Path | None:
    """The temperature of the disk under a device, in thousandths of a degree: NVMe and drivetemp have one."""
    try:
        path = (roots.blocks / name).resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    disk = path.parent if (path / "partition").exists() else path
    patterns = ("device/hwmon*/temp1_input", "device/hwmon/hwmon*/temp1_input")
    return next((found for pattern in patterns for found in sorted(disk.glob(pattern))), None)
