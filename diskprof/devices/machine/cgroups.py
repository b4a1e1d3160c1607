"""The limits that control groups put on this process, and what they let through: they hold a result back like a slow disk does."""

from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.files import SYSTEM, Roots, read_text
from diskprof.devices.scan.mounts import read_mountinfo
from diskprof.model.device import DeviceTree
from diskprof.model.run import IoLimit
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth

_V1_THROTTLES = (
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
)
_KEYS = {
    "riops": (Direction.READ, True),
    "wiops": (Direction.WRITE, True),
    "rbps": (Direction.READ, False),
    "wbps": (Direction.WRITE, False),
}
_VERBS = {Direction.READ: "reads", Direction.WRITE: "writes"}


class GroupLimit(Struct, frozen=True):
    """One limit, of the group in directory `group`: on the I/O of the device `number` (major:minor), or on CPUs."""

    group: Path
    version: int
    io: IoLimit | None = None
    number: str = ""
    cpus: float | None = None

    @property
    def words(self) -> str:
        if self.io is None:
            return f"at most {self.cpus:.3g} CPUs" if self.cpus else "no CPU"
        amount = f"{self.io.per_second} IOPS" if self.io.iops else format_bandwidth(self.io.per_second)
        return f"{self.io.device_title}: {_VERBS[self.io.direction]} at most {amount}"


def group_limits(tree: DeviceTree | None = None, roots: Roots = SYSTEM) -> tuple[GroupLimit, ...]:
    """Every I/O and CPU limit on this process, of its own group first, then of those above it.

    Without a `tree` devices are named by their numbers.
    """
    tree = tree or DeviceTree()
    found: list[GroupLimit] = []
    for hierarchy in read_text(roots.proc / "self" / "cgroup").splitlines():
        number, _, rest = hierarchy.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            found += [limit for group in _groups("cgroup2", "", path, roots) for limit in _of_v2(group, tree)]
        elif "blkio" in controllers.split(","):
            found += [limit for group in _groups("cgroup", "blkio", path, roots) for limit in _of_v1_blkio(group, tree)]
        elif "cpu" in controllers.split(","):
            found += [limit for group in _groups("cgroup", "cpu", path, roots) for limit in _of_v1_cpu(group)]
    return tuple(found)


def _groups(fs_type: str, controller: str, path: str, roots: Roots) -> Iterator[Path]:
    """The directories of the group `path` and of those above it, where the hierarchy is mounted."""
    for entry in read_mountinfo(roots):
        if entry.fs_type == fs_type and (not controller or controller in entry.options):
            inside = path.removeprefix(entry.root.rstrip("/")).strip("/")
            top = roots.sys.parent / entry.path.lstrip("/")
            group = top / inside
            yield group
            yield from (parent for parent in group.parents if parent.is_relative_to(top))
            return


def _of_v2(group: Path, tree: DeviceTree) -> Iterator[GroupLimit]:
    for line in read_text(group / "io.max").splitlines():
        device, *settings = line.split()
        for setting in settings:
            key, _, value = setting.partition("=")
            if key in _KEYS and value.isdigit():
                yield _io_limit(group, 2, device, key, int(value), tree)
    quota, _, period = read_text(group / "cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        yield _cpu_limit(group, 2, int(quota), int(period))


def _of_v1_blkio(group: Path, tree: DeviceTree) -> Iterator[GroupLimit]:
    for name, key in _V1_THROTTLES:
        for line in read_text(group / name).splitlines():
            device, _, value = line.partition(" ")
            if value.isdigit():
                yield _io_limit(group, 1, device, key, int(value), tree)


def _of_v1_cpu(group: Path) -> Iterator[GroupLimit]:
    quota, period = read_text(group / "cpu.cfs_quota_us"), read_text(group / "cpu.cfs_period_us")
    if quota.isdigit() and period.isdigit():
        yield _cpu_limit(group, 1, int(quota), int(period))


def _io_limit(group: Path, version: int, number: str, key: str, value: int, tree: DeviceTree) -> GroupLimit:
    major, _, minor = number.partition(":")
    device = tree.by_number(int(major), int(minor)) if major.isdigit() and minor.isdigit() else None
    direction, iops = _KEYS[key]
    name, dm_name = (device.name, device.dm_name) if device else (clean(number), "")
    limit = IoLimit(name, direction, iops, value, dm_name)
    return GroupLimit(group, version, io=limit, number=number)


def _cpu_limit(group: Path, version: int, quota: int, period: int) -> GroupLimit:
    return GroupLimit(group, version, cpus=quota / period if period else 0.0)


class GroupCounters(Struct, frozen=True):
    """What a group's I/O on its limited devices, and its CPU time under a quota, have come to; None where nothing is limited."""

    reads: int | None = None
    writes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    periods: int | None = None
    throttled: int | None = None
    throttled_ns: int | None = None


class GroupWatch:
    """The counters of the innermost group that limits the I/O of this process on the devices `limited` (kernel names, or numbers
    of what has none), and of the innermost that limits its CPU time.
    """

    def __init__(self, limited: Collection[str] = (), roots: Roots = SYSTEM) -> None:
        limits = group_limits(roots=roots)
        self._numbers = frozenset(read_text(roots.blocks / name / "dev") or name for name in limited)
        self._io = next((limit for limit in limits if limit.io and limit.number in self._numbers), None)
        self._cpu = next((limit for limit in limits if not limit.io), None)

    def read(self) -> GroupCounters:
        io = _io_of(self._io, self._numbers) if self._io else {}
        cpu = _cpu_of(self._cpu) if self._cpu else {}
        return GroupCounters(**io, **cpu)


def _io_of(limit: GroupLimit, numbers: Collection[str]) -> dict[str, int]:
    if limit.version == 2:
        return _v2_io(read_text(limit.group / "io.stat"), numbers)
    counts = _v1_io(_recursive(limit.group, "blkio.throttle.io_serviced"), numbers)
    amounts = _v1_io(_recursive(limit.group, "blkio.throttle.io_service_bytes"), numbers)
    if counts is None or amounts is None:
        return {}
    return {"reads": counts[0], "writes": counts[1], "read_bytes": amounts[0], "write_bytes": amounts[1]}


def _recursive(group: Path, name: str) -> str:
    """Groups below count too; kernels before 4.19 do not add them up."""
    return read_text(group / f"{name}_recursive") or read_text(group / name)


def _v1_io(text: str, numbers: Collection[str]) -> tuple[int, int] | None:
    """Sums of the lines `8:0 Read 17`; nothing done yet is no line."""
    sums = {"Read": 0, "Write": 0}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] in numbers and fields[1] in sums and fields[2].isdigit():
            sums[fields[1]] += int(fields[2])
    return (sums["Read"], sums["Write"]) if text else None


def _v2_io(text: str, numbers: Collection[str]) -> dict[str, int]:
    """Sums of the lines `8:0 rbytes=4096 wbytes=0 rios=1 wios=0`."""
    names = {"rios": "reads", "wios": "writes", "rbytes": "read_bytes", "wbytes": "write_bytes"}
    sums = dict.fromkeys(names.values(), 0)
    for line in text.splitlines():
        number, *settings = line.split()
        for key, _, value in (setting.partition("=") for setting in settings):
            if number in numbers and key in names and value.isdigit():
                sums[names[key]] += int(value)
    return sums


def _cpu_of(limit: GroupLimit) -> dict[str, int]:
    found = dict(line.split()[:2] for line in read_text(limit.group / "cpu.stat").splitlines() if len(line.split()) > 1)
    if not all(found.get(name, "").isdigit() for name in ("nr_periods", "nr_throttled")):
        return {}
    time = found.get("throttled_time") or f"{found.get('throttled_usec', '0')}000"
    return {
        "periods": int(found["nr_periods"]),
        "throttled": int(found["nr_throttled"]),
        "throttled_ns": int(time) if time.isdigit() else 0,
    }
