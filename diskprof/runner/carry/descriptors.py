"""From the commands of a plan to what is executed: a device that is written to is named by a descriptor (F25)."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from diskprof.devices.guard.exclusive import had_alone
from diskprof.engines.fio.reader import fio_argv
from diskprof.model.errors import Refused
from diskprof.model.job import Opened
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.target import TargetKind
from diskprof.runner.plan.places import places_of
from diskprof.runner.plan.write_permission import needed_places

OpenDevices = Mapping[str, int]
"""Descriptors by the device node that a plan names."""


@contextmanager
def held_devices(plan: Plan, store: Path) -> Iterator[OpenDevices]:
    """Has every device that the plan writes to for itself, until the end. Raises Refused or UsageError where it cannot."""
    with ExitStack() as stack:
        places = needed_places(store) if plan.raw_devices else {}
        yield {raw.node: stack.enter_context(had_alone(raw, places)) for raw in plan.raw_devices}


def resolved(planned: PlannedTest, plan: Plan, held: OpenDevices) -> tuple[PlannedTest, tuple[int, ...]]:
    """The test as it is started, with the descriptors to pass on: `--filename=/dev/sdb` becomes `--filename=/proc/self/fd/7`.

    All other words stay as they are. Raises Refused for a job that writes to anything but a test file of the plan or
    a device that is held, and for a command that is not made of its jobs.
    """
    jobs, read_only = planned.load.fio, not planned.writes
    if planned.engine is not EngineName.FIO:
        return planned, ()
    command = partial(
        fio_argv, planned.argv[0], interval_ms=planned.interval_ms, read_only=read_only, latency=planned.latency
    )
    if command(jobs) != planned.argv:
        raise Refused(f"The command of {planned.name} does not match its jobs.", "Plan again.")
    places = places_of(plan)
    numbers = {
        place.root: held[place.target.path]
        for place in places
        if place.target.kind is TargetKind.DEVICE and place.target.path in held
    }
    directories = {place.root for place in places if place.directory}
    for job in jobs:
        for path in () if read_only or job.reads_only else (*job.opened.paths, *job.opened.directories):
            if not (path in numbers or path in directories or str(PurePosixPath(path).parent) in directories):
                raise Refused(f"{path} is not opened exclusively: refusing to write.")
    used = {path for job in jobs for path in job.opened.paths if path in numbers}

    def by_number(opened: Opened) -> Opened:
        paths = tuple(f"/proc/self/fd/{numbers[path]}" if path in used else path for path in opened.paths)
        return replace(opened, paths=paths)

    started = [replace(job, opened=by_number(job.opened)) for job in jobs]
    return replace(planned, argv=command(started)), tuple(sorted({numbers[path] for path in used}))
