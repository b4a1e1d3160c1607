"""What disks of one machine lose when all work at once, and what they share that may be the limit."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from diskprof.analysis.fleet.measured import FigureName, Measured, figures
from diskprof.analysis.fleet.odd_ones import RATES
from diskprof.model.run import Run

LOST = 0.05
"""A smaller part of a sum, or of a disk's figure, is taken for noise."""
_OF_PROCESSOR = frozenset({"processor-bound", "busy-machine", "cpu-throttled"})
"""Rules that say that the CPUs were the limit. Other programs, to one disk's test, are the tests of the other disks."""


class SharedPart(StrEnum):
    """What disks can share, the value in words; UNKNOWN: sysfs knows of nothing that they share."""

    PROCESSOR = "the CPUs"
    CGROUP = "a cgroup I/O limit"
    DISK = "the disk below"
    EXPANDER = "SAS expander"
    CONTROLLER = "controller"
    BRIDGE = "PCI bridge or switch"
    HUB = "USB hub"
    UNKNOWN = ""


class DiskLoss(Struct, frozen=True):
    """A disk's figure alone and with the others, I/Os or bytes per second."""

    label: str
    alone: float
    together: float

    @property
    def lost(self) -> float:
        """As a share of its figure alone; below zero where it gained."""
        return 1 - self.together / self.alone if self.alone else 0.0


class Together(Struct, frozen=True):
    """A figure of each disk alone and together, and what held them back: `part`, and its name in sysfs where it has one."""

    name: FigureName
    disks: tuple[DiskLoss, ...]
    part: SharedPart | None
    place: str = ""

    @property
    def alone(self) -> float:
        return sum(disk.alone for disk in self.disks)

    @property
    def together(self) -> float:
        return sum(disk.together for disk in self.disks)

    @property
    def lost(self) -> float:
        """Of the sum of all."""
        return 1 - self.together / self.alone if self.alone else 0.0

    @property
    def losers(self) -> tuple[DiskLoss, ...]:
        """The disks that lost more than noise."""
        return tuple(disk for disk in self.disks if disk.lost > LOST)


def lost_together(alone: Sequence[Measured], together: Sequence[Measured]) -> tuple[Together, ...]:
    """Each rate that every disk has from both; `part` is None where the sum lost nothing. Disks are matched by their labels."""
    before, after = ({one.label: figures(one) for one in side} for side in (alone, together))
    labels = [label for label in before if label in after]
    runs = {one.label: one.runs[-1] for one in together}
    if len(labels) < 2:
        return ()
    found = []
    for name in before[labels[0]]:
        if name.measure not in RATES:
            continue
        if all(name in before[label] and name in after[label] for label in labels):
            disks = tuple(DiskLoss(label, before[label][name], after[label][name]) for label in labels)
            found.append(_judged(Together(name, disks, None), runs))
    return tuple(found)


def _judged(told: Together, runs: dict[str, Run]) -> Together:
    losers = [disk.label for disk in told.losers]
    if told.lost <= LOST or not losers:
        return told
    rules = {
        finding.name for label in losers for finding in runs[label].findings if finding.test in ("", told.name.test)
    }
    if rules & _OF_PROCESSOR:
        return Together(told.name, told.disks, SharedPart.PROCESSOR)
    if "cgroup-limit-reached" in rules:
        return Together(told.name, told.disks, SharedPart.CGROUP)
    part, place = shared_part([runs[label] for label in losers])
    return Together(told.name, told.disks, part, place)


def shared_part(runs: Sequence[Run]) -> tuple[SharedPart, str]:
    """The last thing that the disks of all these runs have in common, from the processor on, and its name in sysfs."""
    if len(runs) < 2:
        return SharedPart.UNKNOWN, ""
    behind = set.intersection(*(_disks_below(run) for run in runs))
    if behind:
        return SharedPart.DISK, sorted(behind)[0]
    ways = [_way(run) for run in runs]
    common = [part for at, part in enumerate(ways[0]) if all(way[: at + 1] == ways[0][: at + 1] for way in ways)]
    if not common:
        return SharedPart.UNKNOWN, ""
    return _kind(common, ways), _name(common)


def _disks_below(run: Run) -> set[str]:
    return {disk.name for disk in run.environment.all_disks} | set(run.environment.behind)


def _way(run: Run) -> tuple[str, ...]:
    """From the processor to the run's disk; of several disks as far as they go together."""
    ways = [disk.attached for disk in run.environment.all_disks]
    if not ways:
        return ()
    return tuple(part for at, part in enumerate(ways[0]) if all(way[: at + 1] == ways[0][: at + 1] for way in ways))


def _kind(common: Sequence[str], ways: Sequence[tuple[str, ...]]) -> SharedPart:
    last = common[-1]
    if last.startswith("expander-"):
        return SharedPart.EXPANDER
    if last.startswith("usb") or "-" in last:
        return SharedPart.HUB
    # What is behind a bridge has further PCI addresses on its way; behind a controller there are none.
    further = [part for way in ways for part in way[len(common) :]]
    return SharedPart.BRIDGE if any(_is_pci(part) for part in further) else SharedPart.CONTROLLER


def _name(common: Sequence[str]) -> str:
    """A SCSI host is called by the PCI address of its controller, which lspci knows."""
    last = common[-1]
    return next((part for part in reversed(common) if _is_pci(part)), last) if last.startswith("host") else last


def _is_pci(part: str) -> bool:
    return "." in part and ":" in part
