"""The way into a run: everything that could speak against it is asked here, whichever front end starts it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from diskprof.devices.machine.environment import describe
from diskprof.devices.scan.udev import scan, topology
from diskprof.devices.targets import resolve_target
from diskprof.engines.tools import find_tool
from diskprof.model.device import DeviceTree
from diskprof.model.errors import Refused, StoreError
from diskprof.model.fleet import MemberOrder
from diskprof.model.plan import Plan
from diskprof.model.preset import PROGRAMS, EngineName
from diskprof.model.run import Environment, SeriesPlace
from diskprof.model.run_series import NewSeries
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.runner.carry.descriptors import OpenDevices, held_devices
from diskprof.runner.carry.watches import SpaceWatch
from diskprof.runner.carry.workdir import sweep
from diskprof.runner.neighbours import refuse_beside_others, starting
from diskprof.runner.plan.planner import refuse_if_blocked
from diskprof.runner.plan.write_permission import refuse_unconfirmed
from diskprof.store import Store, this_process


class Begun(Struct, frozen=True):
    """A run that is written down and may be carried out; `held` are the devices that it may write to.

    `waits`: before its first test measures, until it is let go with those of other hosts. `room`: as in its MemberOrder.
    """

    plan: Plan
    environment: Environment
    store: Store
    run_id: str
    held: OpenDevices
    waits: bool = False
    room: str = ""


@contextmanager
def begun(
    plan: Plan,
    store: Store,
    *,
    tags: Sequence[str] = (),
    note: str = "",
    concurrent: bool = False,
    series: SeriesPlace | NewSeries | None = None,
    member: MemberOrder | None = None,
) -> Iterator[Begun]:
    """Writes down that this process carries out `plan`, and holds what it may write to until the end.

    `series` is the place that the run has in one, or the series that begins with it; `member` is of a run of a fleet run.

    Raises what refuses the plan, before anything is written down: Refused for blocking hazards, for a device that nobody
    named or that cannot be had exclusively, and, unless `concurrent`, beside another run on the same disk; UsageError for
    a target that cannot be used.
    """
    refuse_unconfirmed(plan)
    own = series.series_id if isinstance(series, SeriesPlace) else ""
    if not concurrent:
        # Who is there is the better answer where another run is what blocks the plan, or has the device for itself.
        refuse_beside_others(plan, store, topology(), own)
    refuse_if_blocked(plan)
    with held_devices(plan, store.path) as held:
        with starting(store):
            # To read what lies on a disk would wake it.
            tree = topology() if plan.watched else scan()
            _refuse_moved(plan, tree)
            if not concurrent:
                refuse_beside_others(plan, store, tree, own)
            environment = environment_of(plan, tree, store.path)
            sweep(store)
            run_id = store.create_run(
                *(plan, environment),
                tags=tags,
                note=note,
                runner=this_process(),
                series=series,
                run_id=member.run_id if member else None,
                fleet=member.place if member else None,
                barrier=member is not None and member.barrier,
            )
        waits, room = (member.barrier, member.room) if member else (False, "")
        yield Begun(plan, environment, store, run_id, held, waits=waits, room=room)
    with suppress(StoreError):
        store.empty_trash()


def _refuse_moved(plan: Plan, tree: DeviceTree) -> None:
    """Raises Refused where a path is not on the disk any more that the plan was made for, or room has got scarce.

    A directory whose disk was unmounted is still there: on the disk below, which nobody meant to test, or to fill.
    """
    for target in plan.targets:
        if target.kind is TargetKind.DEVICE:
            continue
        now = resolve_target(target.path, tree)
        if (now.kind, now.device, now.mount_point) != (target.kind, target.device, target.mount_point):
            where = f"on {clean(now.mount_point)}" + (f" ({now.device_title})" if now.device else "")
            raise Refused(
                f"{clean(target.path)} is {where} now; planned for {clean(target.mount_point)}"
                + (f" ({target.device_title})." if target.device else "."),
                "Plan again.",
            )
    if complaint := SpaceWatch(plan).complaint(before=True):
        raise Refused(complaint, "Free some space, or choose a smaller size.")


def environment_of(plan: Plan, tree: DeviceTree, store: Path) -> Environment:
    """The machine and the disks of `tree` as a run of the plan would record them now. Raises EngineMissing, EngineBusy."""
    versions = {engine: find_tool(engine).version for engine in plan.engines if engine in PROGRAMS}
    return describe(
        plan.target,
        tree,
        fio_version=versions.get(EngineName.FIO, ""),
        ioping_version=versions.get(EngineName.IOPING, ""),
        store=store,
        others=[(other.slot, other.target) for other in plan.others],
    )
