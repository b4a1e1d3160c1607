"""The tiers of volumes whose limits are written down: the ends of classes of disks, and what shipped presets are promised."""

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from diskprof.model.disk_class import ClassFigure, DiskClass
from diskprof.model.expectation import Formula, PresetExpectation
from diskprof.model.metric import Quantity
from diskprof.model.preset import Preset
from diskprof.model.sample import Direction
from diskprof.presets.disk_classes import disk_classes
from diskprof.presets.files.load import load_file
from diskprof.presets.library import shipped_directory

NEAR = 0.05
"""A cap so near to that of a tier is of it."""


class Tier(Struct, frozen=True):
    """A tier in words, for one direction, with both limits: I/Os and bytes per second, which may grow with the capacity."""

    title: str
    direction: Direction
    iops: Formula
    bandwidth: Formula

    def values(self, gib: float | None) -> tuple[float, float] | None:
        """Both limits of a volume of so many GiB; None where they grow with a capacity that is not known."""
        if gib is None and (self.iops.per_gib or self.bandwidth.per_gib or self.iops.others or self.bandwidth.others):
            return None
        return self.iops.value(gib or 0.0), self.bandwidth.value(gib or 0.0)

    def fits(self, iops: float, bandwidth: float, gib: float | None) -> bool:
        """Whether a volume with these caps may be of it."""
        known = self.values(gib)
        return known is not None and _near(iops, known[0]) and _near(bandwidth, known[1])


def _near(measured: float, written: float) -> bool:
    return abs(measured - written) <= NEAR * written


@cache
def tiers() -> tuple[Tier, ...]:
    """Every tier of which documents say both limits."""
    of_presets = (tier for preset in _promising() for tier in _of_preset(preset))
    return (*(tier for each in disk_classes() if each.cloud for tier in _of_class(each)), *of_presets)


def _of_class(each: DiskClass) -> Iterator[Tier]:
    """The least that every volume has, and the most that can be had."""
    for direction in Direction:
        iops, bandwidth = (_figure(each, direction, quantity) for quantity in (Quantity.IOPS, Quantity.BANDWIDTH))
        if iops is None or bandwidth is None:
            continue
        if iops.least and bandwidth.least:
            yield Tier(f"{each.title}, the least", direction, iops.least, bandwidth.least)
        if iops.most is not None and bandwidth.most is not None:
            yield Tier(f"{each.title}, the most", direction, Formula(iops.most), Formula(bandwidth.most))


def _figure(each: DiskClass, direction: Direction, quantity: Quantity) -> ClassFigure | None:
    """That of the deepest queue."""
    found = [figure for figure in each.figures if (figure.direction, figure.quantity) == (direction, quantity)]
    return found[-1] if found else None


def _promising() -> Iterator[Preset]:
    """The shipped presets that promise IOPS and bandwidth; the others are not read, which takes a while."""
    for path in sorted(shipped_directory().glob("*.toml")):
        text = path.read_text("utf-8")
        if '.iops"' in text and '.bandwidth"' in text:
            loaded = load_file(path, shipped=True)
            if isinstance(loaded, Preset) and loaded.expectations:
                yield loaded


def _of_preset(preset: Preset) -> Iterator[Tier]:
    """What is promised for each value of its parameters, as `digitalocean-volume, tier=standard`; the first of each quantity."""
    for when in dict.fromkeys(promise.when for promise in preset.expectations):
        promised = [promise for promise in preset.expectations if promise.when == when]
        words = ", ".join((preset.title, *(f"{name}={value}" for name, value in when)))
        for direction in Direction:
            iops, bandwidth = (_promise(promised, direction, each) for each in (Quantity.IOPS, Quantity.BANDWIDTH))
            if iops and bandwidth:
                yield Tier(words, direction, iops, bandwidth)


def _promise(promised: list[PresetExpectation], direction: Direction, quantity: Quantity) -> Formula | None:
    found = [each for each in promised if (each.metric.direction, each.metric.quantity) == (direction, quantity)]
    return found[0].promise if found else None
