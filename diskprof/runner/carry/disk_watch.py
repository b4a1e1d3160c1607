"""The disks below a run, watched while it runs: one that went away may answer all the same, at great speed (F87)."""

from collections.abc import Iterator

from diskprof.devices.machine.presence import Presence
from diskprof.devices.scan.mounts import POOLING
from diskprof.model.device import DeviceKind
from diskprof.model.plan import Plan
from diskprof.model.run import Environment

_MAY_DO_WITHOUT = (DeviceKind.RAID, DeviceKind.MULTIPATH)


class DiskWatch:
    """Tells the disks that a run cannot do without from those of an array, a multipath device or a pool, which may."""

    def __init__(self, plan: Plan, where: Environment) -> None:
        self._needed = frozenset(_needed(plan, where))
        self._presence = Presence(dict.fromkeys([*(disk.name for disk in where.all_disks), *self._needed]))
        self._lost: dict[str, str] = {}

    def look(self) -> list[str]:
        """What was lost since the last look and is no `complaint`, a sentence each."""
        news = {name: words for name, words in self._presence.lost().items() if name not in self._lost}
        self._lost |= news
        return [words for name, words in news.items() if name not in self._needed]

    @property
    def complaint(self) -> str:
        """Why the run has to end; empty as long as nothing is lost that it needs."""
        return next((words for name, words in self._lost.items() if name in self._needed), "")

    @property
    def lost(self) -> str:
        """Everything that was lost, in words."""
        return " ".join(self._lost.values())


def _needed(plan: Plan, where: Environment) -> Iterator[str]:
    """The device of each target, and the disk below it where that is the only one and no array or map may get another."""
    own = ((where.device,) if where.device else ()) + where.layers
    places = ((where.device, own, where.disks), *((other.device, other.above, other.disks) for other in where.others))
    for target, (device, above, disks) in zip(plan.targets, places, strict=True):
        if target.fs_type in POOLING:
            continue
        if len(disks) == 1 and not any(each.kind in _MAY_DO_WITHOUT for each in above):
            yield disks[0].name
        if device:
            yield device.name
