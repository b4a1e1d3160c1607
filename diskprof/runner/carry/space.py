"""What must stay free on a file system, watched while a run writes to it: a full disk stops more than a test."""

from dataclasses import dataclass

from diskprof.devices.guard.target_hazards import reserve
from diskprof.devices.scan.mounts import may_hang, mount_of, space
from diskprof.model.plan import Plan
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_size

_SPENT = 0.9
"""A plan leaves the reserve alone, up to what the file system needs to keep account of the file."""


@dataclass(frozen=True, slots=True)
class _Watched:
    path: str
    name: str
    needed_bytes: int
    reserve_bytes: int


class SpaceWatch:
    """The file systems in which a plan's files lie. Others may fill them too: what counts is what is left."""

    def __init__(self, plan: Plan) -> None:
        self._watched = tuple(_watched(plan)) if plan.space_needed else ()

    @property
    def watches(self) -> bool:
        """Whether there is a file system that this run could fill."""
        return bool(self._watched)

    def complaint(self, *, before: bool = False) -> str:
        """Why the run has to end or, `before` its files are made, why it cannot begin; empty as long as there is room."""
        for each in self._watched:
            figures = space(each.path)
            needed = each.needed_bytes if before else 0
            if figures and figures.free_bytes - needed < each.reserve_bytes * _SPENT:
                free, keep = format_size(figures.free_bytes), format_size(each.reserve_bytes)
                if before:
                    return f"{each.name} has {free} free by now: with the test file less than {keep} would stay free."
                return (
                    f"The file system {each.name} is down to its reserve: {free} free, and {keep} must stay free. "
                    "The test file is removed."
                )
        return ""


def _watched(plan: Plan) -> list[_Watched]:
    found = []
    files = (plan.test_file, *(other.test_file for other in plan.others))
    for target, file in zip(plan.targets, files, strict=True):
        if target.kind is not TargetKind.DIRECTORY:
            continue
        entry = mount_of(target.path)
        # Asking a dead server would stop the run's clock; its test ends by the watch for silence.
        if entry is None or may_hang(entry) or not (figures := space(target.path)):
            continue
        name, needed = clean(target.mount_point or target.path), file.size_bytes if file else 0
        found.append(_Watched(target.path, name, needed, reserve(figures.size_bytes)))
    return found
