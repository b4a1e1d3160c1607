"""From the commands of a plan to what is executed: a device that is written to is named by a descriptor (F25)."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from diskprof.devices.guard.exclusive import had_alone
from diskprof.engines.fio.reader import fio_argv
from diskprof.model.errors import Refused
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.target import TargetKind
from diskprof.runner.plan.places import places_of
from diskprof.runner.plan.write_permission import needed_places

Held = Mapping[str, int]
"""Descriptors by the device node that a plan names."""


@contextmanager
def held_devices(plan: Plan, store: Path) -> Iterator[Held]:
    """Has every device that the plan writes to for itself, until the end. Raises Refused or UsageError where it cannot."""
    with ExitStack() as stack:
        places = needed_places(store) if plan.raw_devices else {}
        yield {raw.node: stack.enter_context(had_alone(raw, places)) for raw in plan.raw_devices}


def resolved(planned: PlannedTest, plan: Plan, held: Held) -> tuple[PlannedTest, tuple[int, ...]]:
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
        raise Refused(f"The command of {planned.name} is not the one that its jobs make.", "Make the plan anew.")
    places = places_of(plan)
    numbers = {
        place.filename: held[place.target.path]
        for place in places
        if place.target.kind is TargetKind.DEVICE and place.target.path in held
    }
    ours = numbers.keys() | {place.filename for place in places if place.file}
    for job in jobs:
        if not (read_only or job.reads_only or job.path in ours):
            raise Refused(f"{job.path} is not held exclusively, so it is not written to.")
    used = {job.path: numbers[job.path] for job in jobs if job.path in numbers}
    started = [replace(job, path=f"/proc/self/fd/{used[job.path]}") if job.path in used else job for job in jobs]
    return replace(planned, argv=command(started)), tuple(sorted(set(used.values())))
