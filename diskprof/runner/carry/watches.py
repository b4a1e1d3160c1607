"""What may happen to a run from outside, watched for while it is carried out.

After an unmount the same path is another disk, and fio makes what it misses. A disk that went away may answer all the same, at
great speed (F87). A full file system stops more than a test. And the machine may sleep, or the runner be stopped:
CLOCK_MONOTONIC stands while the machine is suspended and CLOCK_BOOTTIME goes on (F55), so what one gains on the other was
sleep. A process that is stopped, or whose control group is frozen, sees both go on, and its own next turn come late.
"""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from msgspec import Struct

from diskprof.devices.guard.target_hazards import reserve
from diskprof.devices.machine.presence import Presence
from diskprof.devices.scan.mounts import POOLING, may_hang, mount_of, space
from diskprof.model.device import DeviceKind
from diskprof.model.errors import DiskprofError
from diskprof.model.plan import Plan
from diskprof.model.run import Environment, LapseKind
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.runner.carry.in_child import apart

# --- Is what the run works on still there? ---------------------------------------------------------------------------


class Anchors:
    """The private directories of a plan with the files that tests share, and the file systems of its directories without one.
    To be made once the files are there.

    A private directory has a name that nobody else gives: where that is, its files are. Raises DiskprofError.
    """

    def __init__(self, plan: Plan) -> None:
        self._files = (*plan.directories, *(file.path for file in plan.filled))
        bare = () if self._files else (each.path for each in plan.targets if each.kind is TargetKind.DIRECTORY)
        self._directories = tuple((path, _number_of(path)) for path in bare)

    def check(self) -> None:
        """Raises DiskprofError where something went away, or does not answer."""
        for path in self._files:
            self._look(partial(_there, path), path)
        for path, number in self._directories:
            self._look(partial(_same, path, number), path)

    @staticmethod
    def _look(look: Callable[[], None], path: str) -> None:
        try:
            apart(look, f"{clean(path)} cannot be read")
        except OSError as error:
            raise _gone(path, error) from None


def _gone(path: str, error: OSError) -> DiskprofError:
    return DiskprofError(
        f"{clean(path)} is gone ({error.strerror}): unmounted or removed. The "
        "remaining tests were not run: they would measure another disk.",
        "Check dmesg and findmnt.",
    )


def _number_of(path: str) -> int:
    try:
        return os.stat(path).st_dev  # noqa: PTH116
    except OSError as error:
        raise _gone(path, error) from None


def _there(path: str) -> None:
    os.lstat(path)


def _same(path: str, number: int) -> None:
    if os.stat(path).st_dev != number:  # noqa: PTH116
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


# --- Is the disk still the one that it was? --------------------------------------------------------------------------


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


# --- Is there still room? --------------------------------------------------------------------------------------------


_SPENT = 0.9
"""A plan leaves the reserve alone, up to what the file system needs to keep account of the file."""


class _Watched(Struct, frozen=True):
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
                    return f"{each.name} has {free} free now: with the test file, less than {keep} would remain."
                return f"{each.name} is down to its reserve: {free} free, {keep} must remain. The test file is removed."
        return ""


def _watched(plan: Plan) -> list[_Watched]:
    found = []
    directories = (plan.directory, *(other.directory for other in plan.others))
    for target, directory in zip(plan.targets, directories, strict=True):
        if target.kind is not TargetKind.DIRECTORY:
            continue
        entry = mount_of(target.path)
        # Asking a dead server would stop the run's clock; its test ends by the watch for silence.
        if entry is None or may_hang(entry) or not (figures := space(target.path)):
            continue
        name, needed = clean(target.mount_point or target.path), plan.space_in(directory) if directory else 0
        found.append(_Watched(target.path, name, needed, reserve(figures.size_bytes)))
    return found


# --- Did the machine sleep, or the runner stand still? ---------------------------------------------------------------


LEAST_ASLEEP_S = 1.0
LEAST_LATE_S = 2.0
"""Later than this a turn is not late by chance, on a busy machine either."""


def boottime_ns() -> int:
    """A clock that also goes on while the machine is suspended; nobody sets it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class LapseWatch:
    """Asked at every turn of a loop whose next turn should come within `usual_s`. The clocks give ns."""

    def __init__(
        self,
        usual_s: float,
        monotonic: Callable[[], int] = time.monotonic_ns,
        boottime: Callable[[], int] = boottime_ns,
    ) -> None:
        self.usual_s = usual_s
        self._monotonic, self._boottime = monotonic, boottime
        self._at_ns = monotonic()
        self._ahead_ns = boottime() - self._at_ns
        self._worked_ns = 0
        self._was_stopped = False

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """What is done inside may take its time, such as a store on a disk that is slow: then a late turn means nothing."""
        began = self._monotonic()
        try:
            yield
        finally:
            self._worked_ns += self._monotonic() - began

    def continued(self) -> None:
        """SIGCONT came: somebody had stopped this process, whatever it was at."""
        self._was_stopped = True

    def turn(self) -> tuple[tuple[LapseKind, float], ...]:
        """What happened since the last turn, with its length in seconds."""
        now = self._monotonic()
        ahead = self._boottime() - now
        asleep_s = (ahead - self._ahead_ns) / 1e9
        worked_s = 0.0 if self._was_stopped else self._worked_ns / 1e9
        late_s = (now - self._at_ns) / 1e9 - self.usual_s - worked_s
        self._at_ns, self._ahead_ns, self._worked_ns, self._was_stopped = now, ahead, 0, False
        found = []
        if asleep_s >= LEAST_ASLEEP_S:
            found.append((LapseKind.SLEPT, asleep_s))
        if late_s >= LEAST_LATE_S:
            found.append((LapseKind.STOOD, late_s))
        return tuple(found)
