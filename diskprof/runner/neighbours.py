"""Other runs on the same disks: two at a time spoil each other's figures."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from msgspec import Struct

from diskprof.devices.guard.relations import all_paths
from diskprof.devices.targets import resolve_target
from diskprof.model.advice import Advice
from diskprof.model.device import DeviceTree
from diskprof.model.errors import DiskprofError, Refused, RunNotFound
from diskprof.model.plan import Plan
from diskprof.model.run import RunSummary, Status
from diskprof.model.run_series import RunSeries
from diskprof.model.target import Target
from diskprof.model.text import clean
from diskprof.store import Store, is_alive

_PATIENCE_S = 5.0
_POLL_S = 0.02


class Neighbour(Struct, frozen=True):
    """A run or a series under way on disks that another would use too; `disks` are kernel names or mount points."""

    run_id: str
    title: str
    target: str
    started_at: datetime
    disks: tuple[str, ...]

    @property
    def words(self) -> str:
        """Who is there, and since when."""
        local = self.started_at.astimezone()
        today = local.date() == datetime.now(UTC).astimezone().date()
        since = f"{local:%H:%M:%S}" if today else f"{local:%Y-%m-%d %H:%M:%S}"
        where = " and ".join(self.disks)
        return f"Run {self.run_id} ({clean(self.title)} on {clean(self.target)}) has been using {where} since {since}"


class Occupied(Refused):
    """Another run works on the same disk."""

    def __init__(self, neighbour: Neighbour) -> None:
        super().__init__(
            f"{neighbour.words}: two runs on one disk distort each other's results.",
            Advice(
                f"Wait for it (--wait), stop it (diskprof stop {neighbour.run_id}), or run in parallel (--concurrent).",
                "Wait until it has finished, or stop it.",
            ),
        )
        self.neighbour = neighbour


def neighbours(plan: Plan, store: Store, tree: DeviceTree, own: str = "") -> list[Neighbour]:
    """The runs and series of this store and this machine that live and share a disk with the plan, the oldest first.

    A series keeps its disks between its runs; `own` is the id of the one that the plan is part of.
    """
    wanted = _disks(plan, tree)
    found = []
    series = [each for each in _series_alive(store) if each.id != own]
    kept = {each.id for each in series} | {own}
    for summary in _alive(store):
        if summary.series is None or summary.series.series_id not in kept:
            used = _disks(store.run(summary.id).plan, tree)
            found.append(
                Neighbour(summary.id, summary.preset_title, summary.target, summary.started_at, _shared(wanted, used))
            )
    for each in series:
        where = " and ".join(each.targets)
        title = f"series of {each.preset_title}"
        found.append(
            Neighbour(each.id, title, where, each.started_at, _shared(wanted, _disks_of_series(each, store, tree)))
        )
    return sorted((each for each in reversed(found) if each.disks), key=lambda each: each.started_at)


def _shared(wanted: frozenset[str], used: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name.partition(" ")[2] for name in wanted & used))


def _series_alive(store: Store) -> list[RunSeries]:
    return [
        each for each in store.series_list() if each.status is Status.RUNNING and is_alive(store.series_runner(each.id))
    ]


def _disks_of_series(series: RunSeries, store: Store, tree: DeviceTree) -> frozenset[str]:
    """Of its runs, and of targets that it has not come to yet."""
    plans = {run.series: store.run(run.id).plan for run in store.series_runs(series.id) if run.series}
    found = frozenset(disk for plan in plans.values() for disk in _disks(plan, tree))
    for path in series.targets:
        with suppress(DiskprofError):
            found |= frozenset(_disks_of(resolve_target(path, tree), tree))
    return found


def worked_on(store: Store) -> dict[str, str]:
    """The devices (kernel names) that live runs of this store and this machine read and write, each with the run's id."""
    found: dict[str, str] = {}
    for summary in _alive(store):
        where = store.run(summary.id).environment
        found |= dict.fromkeys((*(device.name for device in where.stack), *where.behind), summary.id)
    return found


def _alive(store: Store) -> Iterator[RunSummary]:
    """The runs that use a disk: one that watches it disturbs nobody."""
    for summary in store.running():
        if is_alive(store.runner(summary.id)) and not store.run(summary.id).plan.watched:
            yield summary


def is_there(neighbour: Neighbour, store: Store) -> bool:
    """Whether the run goes on. Cheaper than to look for neighbours again, for whoever waits while something is measured."""
    try:
        if store.resolve_item(neighbour.run_id).is_series:
            return any(each.id == neighbour.run_id for each in _series_alive(store))
        return store.run(neighbour.run_id).status is Status.RUNNING and is_alive(store.runner(neighbour.run_id))
    except RunNotFound:  # deleted as soon as it was over
        return False


def refuse_beside_others(plan: Plan, store: Store, tree: DeviceTree, own: str = "") -> None:
    """Raises Occupied where another run works on a disk of the plan; `own` as in `neighbours`."""
    for neighbour in neighbours(plan, store, tree, own):
        raise Occupied(neighbour)


def _disks(plan: Plan, tree: DeviceTree) -> frozenset[str]:
    return frozenset(disk for target in plan.targets for disk in _disks_of(target, tree))


def _disks_of(target: Target, tree: DeviceTree) -> Iterator[str]:
    """What a target lies on: whole disks; without any (memory, a network) its mount point."""
    members = {target.device} if target.device else set()
    if target.mount_point:
        members |= {device.name for device in tree.devices if any(m.path == target.mount_point for m in device.mounts)}
    below = [disk for name in members for disk in tree.disks_below(name)]
    disks = {f"disk {disk.name}" for disk in all_paths(below, tree)}
    yield from disks or ({f"mount {target.mount_point}"} if target.mount_point else ())


@contextmanager
def starting(store: Store) -> Iterator[None]:
    """One start at a time: between looking for other runs and writing down this one, no other begins.

    It is a matter of order, not of safety: where the lock cannot be had, or is not given back, the start goes on.
    """
    try:
        descriptor = os.open(store.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_POLL_S)
        except OSError:
            return
        else:
            return
