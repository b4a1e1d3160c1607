"""Is that good? Which class a disk is of, and where its figures are among those of the class and of its own earlier runs."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from diskprof.analysis.metrics import Better
from diskprof.analysis.score import Score, earlier_value
from diskprof.model.device import Device, Transport
from diskprof.model.disk_class import ClassFigure, DiskClass
from diskprof.model.earlier import EarlierResult
from diskprof.model.metric import Quantity
from diskprof.model.run import DirectionResult, Environment, Run, TestRecord
from diskprof.model.sample import Direction

NEAR = 0.05
"""A figure so near to the range of its class counts as in it: documents round."""

_CONTAINER = "container"
_RPM = 7200


class Recognised(Struct, frozen=True):
    """The class of a disk, or None and why it is not known. `chosen` by the person."""

    disk_class: DiskClass | None
    why: str = ""
    chosen: bool = False


class Position(StrEnum):
    BELOW = "below"
    WITHIN = "within"
    ABOVE = "above"


class Standing(Struct, frozen=True):
    """A figure, I/Os or bytes per second, among those of its class: from `least` to `most`, one of which may be None."""

    disk_class: DiskClass
    figure: ClassFigure
    value: float
    least: float | None
    most: float | None

    @property
    def position(self) -> Position:
        if self.least is not None and self.value < self.least * (1 - NEAR):
            return Position.BELOW
        above = self.most is not None and self.value > self.most * (1 + NEAR)
        return Position.ABOVE if above else Position.WITHIN

    @property
    def share(self) -> float | None:
        against = self.least if self.position is Position.BELOW else self.most
        return self.value / against if against else None


def class_of(run: Run, classes: Sequence[DiskClass]) -> Recognised:
    """The class that was chosen for the disk of a run, else the one that the kernel and the firmware tell."""
    if name := run.plan.disk_class:
        found = next((each for each in classes if each.name == name), None)
        return Recognised(found, "" if found else f"there is no class {name}", chosen=True)
    if run.imported_from:
        return Recognised(None, "the results are imported")
    disks = {disk.name: disk for disk in run.environment.all_disks}
    if len(disks) != 1:
        return Recognised(None, "several disks" if disks else "the disk is not known")
    (disk,) = disks.values()
    return _by_machine(disk, run.environment, classes)


def _by_machine(disk: Device, environment: Environment, classes: Sequence[DiskClass]) -> Recognised:
    if environment.cloud:
        volumes = [each for each in classes if each.cloud == environment.cloud]
        return Recognised(None, f"a disk of {environment.cloud}{_one_of(volumes)}")
    if any(part != _CONTAINER for part in environment.virtualisation.split(", ") if part):
        return Recognised(None, "a virtual machine hides the disk")
    name, why = _drive(disk)
    found = next((each for each in classes if each.name == name), None)
    return Recognised(found, "" if found else why)


def _one_of(volumes: Sequence[DiskClass]) -> str:
    """A machine is not told the kind of its volumes."""
    return f" may be {' or '.join(each.name for each in volumes)}" if volumes else ""


def _drive(disk: Device) -> tuple[str, str]:
    """The name of a drive's class, or empty and why it is not known."""
    match disk.transport:
        case Transport.NVME:
            return f"nvme-pcie{disk.pcie}" if disk.pcie else "", "the PCIe generation of the drive is not known"
        case Transport.MMC:
            return f"sd-a{disk.sd_class}" if disk.sd_class else "", "neither A1 nor A2"
        case Transport.SATA | Transport.SAS if disk.rotational:
            why = f"{disk.rpm:,} rpm" if disk.rpm else "its rotation rate is not known"
            return "hdd-7200" if disk.rpm == _RPM else "", why
        case Transport.SATA if disk.rotational is False:
            return "sata-ssd", ""
    return "", f"{disk.transport} disks are of no class" if disk.transport else "how the disk is attached is not known"


def capacity_gib(environment: Environment) -> float | None:
    """What figures that grow with the capacity count with; None of several disks."""
    disks = environment.all_disks
    return disks[0].size_bytes / 2**30 if len(disks) == 1 else None


def standing(
    record: TestRecord, direction: Direction, result: DirectionResult, disk_class: DiskClass, gib: float | None
) -> Standing | None:
    """Where a result is in its class; None where no document of the class is of such a test."""
    # What a job does beside others is not what it could do alone.
    figure = None if record.job else disk_class.figure_of(record.planned.load, direction)
    if figure is None:
        return None
    least = figure.least if figure.least and (gib is not None or not figure.least.per_gib) else None
    if least is None and figure.most is None:
        return None
    value = result.iops if figure.quantity is Quantity.IOPS else result.bandwidth_bytes_per_s
    return Standing(disk_class, figure, value, least.value(gib or 0.0) if least else None, figure.most)


class Rank(Struct, frozen=True):
    """The place of a figure, 1 the best, among those of `of` runs of the same test on the same disk, this one included."""

    place: int
    of: int


def rank(score: Score, earlier: Sequence[EarlierResult]) -> Rank | None:
    """None for the first run of a test."""
    known = [
        value
        for one in earlier
        if (one.test, one.direction) == (score.test.name, score.direction)
        and (value := earlier_value(one, score.measure)) is not None
    ]
    better = sum(value > score.value if score.better is Better.HIGHER else value < score.value for value in known)
    return Rank(better + 1, len(known) + 1) if known else None
