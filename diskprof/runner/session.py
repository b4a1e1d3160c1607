"""What both front ends do: plan, wait for other runs, start, stop, delete, save. Neither has rules of its own for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from diskprof.model.advice import Advice
from diskprof.model.device import DeviceTree
from diskprof.model.errors import DiskprofError, Refused, StoreError, UsageError
from diskprof.model.plan import WritePermission

if TYPE_CHECKING:
    from pathlib import Path

    from diskprof.analysis.fleet.result import FleetResult
    from diskprof.analysis.kernel import KernelView
    from diskprof.analysis.series_figures import SeriesResult
    from diskprof.model.device import Device, DiskCounters, Health
    from diskprof.model.earlier import EarlierResult
    from diskprof.model.expectation import Asked
    from diskprof.model.plan import Plan
    from diskprof.model.preset import Preset, TargetSlot
    from diskprof.model.read_write_map import CellOutcome
    from diskprof.model.run import Run
    from diskprof.model.run_series import NewSeries, Repetition, SeriesPlan
    from diskprof.model.sample import Sample
    from diskprof.model.target import Target
    from diskprof.presets.library import Library
    from diskprof.presets.questions import DiskFacts
    from diskprof.runner.carry.begin import Begun
    from diskprof.runner.leftovers import Leftover
    from diskprof.runner.neighbours import Neighbour
    from diskprof.store import Item, Store

_PERIOD_S = 0.5
_WATCHED_S = 3600.0
_NO_WRITING = WritePermission()


class Place(Struct, frozen=True):
    """Something to test: a device of the tree, or a path that the person typed (`device` is empty then)."""

    device: str = ""
    path: str = ""


class Wish(Struct, frozen=True, dict=True):
    """What a plan is made of, in the devices of `tree`.

    `named` are the paths for the slots of a preset with several targets, in place of `place`; `settings` the values of
    parameters that are not the preset's own, and `variant` the name of the variant that they start from, empty for none;
    `permission` is what may be done to a raw device, `expectations` what is asked for beside the preset's own,
    `disk_class` the class that the disk is said to be of. `known` are the cells of a read/write map that are not measured again.
    """

    preset: Preset
    place: Place | None
    tree: DeviceTree
    settings: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""
    permission: WritePermission = _NO_WRITING
    expectations: Sequence[Asked] = ()
    disk_class: str = ""
    known: tuple[CellOutcome, ...] = ()


class Outlook(Struct, frozen=True, dict=True):
    """A plan, or why there is none: `missing` are the slots that still need a path.

    `suggested` is a path for the first of them: where the chosen device is written to.
    """

    wish: Wish
    plan: Plan | None = None
    error: DiskprofError | None = None
    missing: tuple[TargetSlot, ...] = ()
    suggested: str = ""

    @property
    def blocked(self) -> bool:
        return self.error is not None or (self.plan is not None and bool(self.plan.blocked))

    @property
    def overwrites(self) -> bool:
        """Whether the plan would write to a raw device, permitted or not: there the switch for it matters."""
        plan = self.plan
        return plan is not None and (bool(plan.raw_devices) or any(each.name == "raw-write" for each in plan.blocked))

    @property
    def nameable(self) -> bool:
        """Whether the plan writes to raw devices and may start once they and what they hold were named."""
        plan = self.plan
        return plan is not None and bool(plan.raw_devices) and (not plan.blocked or bool(plan.to_give_up))


class SeriesOutlook(Struct, frozen=True, dict=True):
    """A series, and the outlook that each of its plans is of."""

    outlooks: tuple[Outlook, ...]
    series: SeriesPlan


class Company(Enum):
    """What to do about other runs on the same disk."""

    REFUSE = auto()
    WAIT = auto()
    BESIDE = auto()
    """Start all the same."""


class Waiting(Struct, frozen=True, dict=True):
    """A plan that starts as soon as `others`, runs on the same disks, have ended; `tree` are the devices it was made on."""

    plan: Plan
    others: Sequence[Neighbour]
    tree: DeviceTree
    series: SeriesPlan | None = None
    """The series that begins with the plan."""


class DeviceMonitor(Protocol):
    """Tells that a block device came, went or changed: readable `fileno`, then `changed`."""

    def fileno(self) -> int: ...

    def changed(self, timeout_s: float | None = 0) -> bool: ...


class Session:
    """This machine, its presets and the store at `store_path` (None: the person's own).

    Each part is imported when it is first asked for, by the screen mostly in a thread: its first picture is drawn before that
    (F44). All but what opens or takes a store may be called from a thread. A test gives another machine by a subclass.
    """

    def __init__(self, store_path: Path | None = None) -> None:
        self._store_path = store_path

    # the machine

    def hostname(self) -> str:
        import socket

        return socket.gethostname()

    def scan(self) -> DeviceTree:
        from diskprof.devices.scan.udev import scan

        return scan()

    def topology(self) -> DeviceTree:
        """As `scan`, without what takes udev: how the devices lie on each other."""
        from diskprof.devices.scan.udev import topology

        return topology()

    def monitor(self) -> AbstractContextManager[DeviceMonitor]:
        from diskprof.devices.scan.udev import Monitor

        return Monitor()

    def read_counters(self) -> dict[str, DiskCounters]:
        from diskprof.devices.scan.sysfs import read_counters

        return read_counters()

    def health(self, disks: Sequence[Device]) -> Sequence[Health]:
        """What is known of the health of whole disks without waking any; asks the disks, so it belongs in a thread."""
        from diskprof.devices.machine.watch import asleep, temperature
        from diskprof.engines.smartctl import health_of
        from diskprof.model.device import Health

        found = []
        for disk in disks:
            if asleep(disk.name):
                continue
            health = health_of(disk) or Health(disk.name)
            # A sensor of a disk that turns may wake it.
            degrees = None if disk.rotational else temperature(disk.name)
            found.append(health if degrees is None else replace(health, temperature_c=degrees))
        return [health for health in found if health != Health(health.device)]

    def resolve_target(self, text: str, tree: DeviceTree) -> Target:
        from diskprof.devices.targets import resolve_target

        return resolve_target(text, tree)

    def suggest_directory(self, device: Device) -> str | None:
        from diskprof.devices.targets import suggest_directory

        return suggest_directory(device)

    def default_device(self, tree: DeviceTree) -> Device | None:
        from diskprof.devices.targets import default_device

        return default_device(tree)

    # presets

    def load_library(self) -> Library:
        from diskprof.presets.library import load_library

        return load_library()

    def save_preset(self, preset: Preset, *, force: bool = False) -> Path:
        """Write a preset among the person's own. Raises UsageError where another has its name, unless `force`."""
        from diskprof.presets.files.write import save_preset
        from diskprof.presets.library import user_directory

        for other in () if force else self.load_library().presets:
            if other.shipped and preset.name in (other.name, *other.aliases):
                raise UsageError(
                    f"{preset.name} is a preset of diskprof.",
                    Advice("Choose another with --name, or override it with --force.", "Choose another name."),
                )
        return save_preset(preset, user_directory(), replace=force)

    # a plan

    def make_plan(
        self,
        wish: Wish,
        target: Target | None,
        named: Mapping[str, Target],
        waiting: Callable[[str], None] | None = None,
    ) -> Plan:
        from diskprof.runner.plan.planner import make_plan

        return make_plan(
            wish.preset,
            target,
            wish.settings,
            wish.tree,
            named=named,
            expectations=wish.expectations,
            permission=wish.permission,
            disk_class=wish.disk_class,
            waiting=waiting,
        )

    def plan_of(self, wish: Wish, waiting: Callable[[str], None] | None = None) -> Plan:
        """The plan of a wish that names all targets; looks at the file system. Raises DiskprofErrors.

        `waiting` is handed a line for the person where fio or ioping is slow to answer.
        """
        named = {slot: self.resolve_target(text, wish.tree) for slot, text in wish.named.items()}
        target = None if named or wish.place is None else self.resolve_target(self._path_of(wish), wish.tree)
        plan = self.make_plan(wish, target, named, waiting)
        drawn = plan.read_write_map
        return replace(plan, read_write_map=replace(drawn, known=wish.known)) if drawn else plan

    def outlook(self, wish: Wish) -> Outlook:
        """The plan of a wish, or why there is none; looks at the file system, so it belongs in a thread."""
        try:
            if missing := tuple(slot for slot in wish.preset.targets if slot.name not in wish.named):
                return Outlook(wish, missing=missing, suggested=self._path_of(wish))
            return Outlook(wish, self.plan_of(wish))
        except DiskprofError as error:
            return Outlook(wish, error=error)

    @contextmanager
    def asking_once(self) -> Iterator[None]:
        """Inside, in this thread, fio and ioping are asked once for many plans."""
        from diskprof.engines.tools import asked_once

        with asked_once():
            yield

    def estimate(self, wish: Wish) -> Plan:
        """The plan of a wish, for its time and amounts; a preset with several targets has all of them in the one place.

        Raises DiskprofErrors.
        """
        path = self._path_of(wish)
        return self.plan_of(
            replace(wish, named={slot.name: wish.named.get(slot.name, path) for slot in wish.preset.targets})
        )

    def series_outlook(self, wish: Wish, places: Sequence[Place], wanted: Repetition) -> SeriesOutlook:
        """The plans of a wish in each of these places, and the series that they make. Looks at the file system.

        Raises what refuses one of the plans, and UsageError where they cannot be repeated so.
        """
        return self.as_series([self.outlook(replace(wish, place=place)) for place in places], wanted)

    def as_series(self, outlooks: Sequence[Outlook], wanted: Repetition) -> SeriesOutlook:
        """The series that these plans make; what they overwrite is still to be named. Raises what `series_outlook` raises."""
        from diskprof.runner.plan.planner import refuse_if_blocked
        from diskprof.runner.plan.repeats import plan_series

        plans = []
        for outlook in outlooks:
            if outlook.error:
                raise outlook.error
            assert outlook.plan is not None
            if not outlook.nameable:
                refuse_if_blocked(outlook.plan)
            plans.append(outlook.plan)
        return SeriesOutlook(tuple(outlooks), plan_series(plans, wanted))

    def again(self, run: Run, permission: WritePermission = _NO_WRITING) -> Outlook:
        """The plan of a run made anew: same preset, settings, targets and expectations. Looks at the devices and the file system.

        Raises Refused where a disk is another one now, UsageError where the preset changed and cannot be rebuilt.
        """
        from diskprof.runner.again import plan_again

        return plan_again(self, run, self.scan(), self.load_library(), permission)

    def runs_to_repeat(self, store: Store, item: Item) -> list[Run]:
        """What `again` is asked of: the run, or of a series the last run of each target. Raises UsageError where one has none."""
        if not item.is_series:
            return [store.run(item.id)]
        arms = {run.series.arm: run.id for run in store.series_runs(item.id) if run.series}
        for arm, target in enumerate(store.series(item.id).targets):
            if arm not in arms:
                raise UsageError(f"The series {item.id} has no run of {target}.", "Start it with `diskprof run`.")
        return [store.run(arms[arm]) for arm in sorted(arms)]

    def _path_of(self, wish: Wish) -> str:
        """The directory to make a file in where the device carries one, else the device itself."""
        place = wish.place or Place()
        device = wish.tree.get(place.device) if place.device else None
        return (self.suggest_directory(device) or device.node) if device else place.path

    def permitted(self, outlook: Outlook, names: Sequence[str]) -> Plan:
        """The plan of `outlook` with its raw devices named by what was typed, made anew where signatures are given up.

        Looks at the devices, so it belongs in a thread. Raises Refused unless each device is named, and what refuses the plan.
        """
        from diskprof.runner.plan.write_permission import confirmed

        plan = outlook.plan
        assert plan is not None
        if plan.to_give_up:
            permission = WritePermission(allowed=True, signatures=plan.to_give_up)
            plan = self.plan_of(replace(outlook.wish, permission=permission))
        return confirmed(plan, names)

    # other runs on the same disks

    def neighbours(self, plan: Plan, store: Store, tree: DeviceTree) -> Sequence[Neighbour]:
        from diskprof.runner.neighbours import neighbours

        return neighbours(plan, store, tree)

    def worked_on(self, store: Store) -> Mapping[str, str]:
        from diskprof.runner.neighbours import worked_on

        return worked_on(store)

    def waiting_now(self, waiting: Waiting, store: Store, tree: Callable[[], DeviceTree]) -> Waiting:
        """Whom a plan waits for now; it may start where `others` is empty. `tree` gives the devices as they are now.

        Little is asked as long as nothing has changed: who waits must not disturb what is being measured.
        """
        from diskprof.runner.neighbours import is_there

        if waiting.others and all(is_there(other, store) for other in waiting.others):
            return waiting
        return replace(waiting, others=self.neighbours(waiting.plan, store, tree()))

    def wait_for_others(self, plan: Plan, store: Store, tell: Callable[[Neighbour], None]) -> bool:
        """Returns once no other run works on a disk of the plan, and whether there was one; `tell` is handed each once."""
        waiting = self.waiting_now(Waiting(plan, (), DeviceTree(())), store, self.topology)
        told = set[str]()
        while waiting.others:
            for other in waiting.others:
                if other.run_id not in told:
                    told.add(other.run_id)
                    tell(other)
            time.sleep(_PERIOD_S)
            before, waiting = waiting, self.waiting_now(waiting, store, self.topology)
            if waiting is not before:
                store.reap()
        return bool(told)

    def plan_in_turn(self, make: Callable[[], Plan], company: Company, tell: Callable[[Neighbour], None]) -> Plan:
        """What `make` gives, made anew where another run was in its way and has been waited for.

        Raises what refuses it; Occupied, which names the run, where another run may be what blocks it.
        """
        from diskprof.runner.neighbours import refuse_beside_others
        from diskprof.runner.plan.planner import refuse_if_blocked

        plan = make()
        if plan.blocked and company is not Company.BESIDE:
            # A store that cannot be read has no say here: it is asked again before the start.
            with suppress(StoreError), self.open_store(create=False) as store:
                if company is Company.WAIT and self.wait_for_others(plan, store, tell):
                    plan = make()
                refuse_beside_others(plan, store, self.topology())
        refuse_if_blocked(plan)
        return plan

    def disk_facts(self, device: Device | None, tree: DeviceTree, room_bytes: int | None) -> DiskFacts:
        """What is known of a disk, for the preset that answers a question on it; `room_bytes` is free on its file system."""
        from diskprof.runner.questions import facts_of

        return facts_of(device, tree, room_bytes)

    def watch_plan(self, place: Place, tree: DeviceTree) -> tuple[Plan, UsageError | None]:
        """The plan of a run that watches the device of a place, for an hour at the most; looks at the file system.

        Each request is traced, or the second says why not. Raises UsageError where there is no device, or none whose I/O the
        kernel counts.
        """
        from diskprof.devices.machine.device_watch import refuse_uncounted
        from diskprof.devices.targets import device_under
        from diskprof.model.preset import EngineName
        from diskprof.runner.plan.watch_plan import watch_plan, why_counted

        device = (tree.get(place.device) if place.device else None) or device_under(place.path or place.device, tree)
        refuse_uncounted(device)
        why = why_counted(device)
        engine = EngineName.KERNEL if why else EngineName.TRACE
        return watch_plan(device, place.path or device.node, _WATCHED_S, engine), why

    # a run

    @contextmanager
    def begun(
        self,
        plan: Plan,
        store: Store,
        company: Company,
        tell: Callable[[Neighbour], None],
        *,
        tags: Sequence[str] = (),
        note: str = "",
        series: NewSeries | None = None,
    ) -> Iterator[Begun]:
        """A run of this process, or the first of a series, begun as soon as `company` allows. Raises what refuses it."""
        from diskprof.runner.carry.begin import begun
        from diskprof.runner.neighbours import Occupied

        beside = company is Company.BESIDE
        with ExitStack() as stack:
            while True:
                if company is Company.WAIT:
                    self.wait_for_others(plan, store, tell)
                try:
                    run = stack.enter_context(
                        begun(plan, store, tags=tags, note=note, concurrent=beside, series=series)
                    )
                except Occupied:
                    # Another that waited was quicker.
                    if company is not Company.WAIT:
                        raise
                else:
                    break
            yield run

    def start_detached(
        self,
        planned: Plan | SeriesPlan,
        store_path: Path,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        concurrent: bool = False,
    ) -> str:
        """Starts a run or a series in the background; returns its id."""
        from diskprof.runner.detached.launch import start_detached

        return start_detached(planned, store_path, tags=tags, note=note, concurrent=concurrent)

    def check_there(self, plan: Plan, before: DeviceTree) -> None:
        """Raises Refused where a device of the plan, which was made when the devices were `before`, is gone or another disk."""
        now = self.scan()
        for name in dict.fromkeys(target.device for target in plan.targets):
            if (old := before.get(name)) is None:
                continue
            new = now.get(name)
            if new is None:
                raise Refused(f"{old.node} is gone since it was planned.", "Choose what to test again.")
            if old.diskseq != new.diskseq:
                raise Refused(f"{old.node} is a different disk since it was planned.", "Choose what to test again.")

    def request_stop(self, store: Store, run_id: str) -> None:
        """Asks a run to end, and does not wait for it. Raises RunNotFound where it is not in progress."""
        from diskprof.runner.detached.launch import request_stop

        request_stop(store, run_id)

    # the store

    def open_store(self, *, create: bool = True) -> Store:
        from diskprof.store import Store

        return Store.open(self._store_path, create=create)

    def leftovers(self, places: Sequence[str]) -> Sequence[Leftover]:
        """What killed runs left behind in `places` and where runs worked. It opens the store for itself."""
        from diskprof.runner.leftovers import leftovers

        with self.open_store() as store:
            store.reap()
            return list(leftovers(store, (*places, *store.targets()), patient=False))

    def remove_leftover(self, leftover: Leftover) -> None:
        """It opens the store for itself. Raises Refused while a run may still use it, DiskprofError where it fails."""
        from diskprof.runner.leftovers import remove

        with self.open_store() as store:
            remove(store, leftover)


def delete(store: Store, ids: Sequence[str]) -> tuple[Sequence[str], Sequence[DiskprofError]]:
    """Put runs that are over into the trash, together: the ids of those that are there, and what was in the way of others."""
    now = datetime.now(UTC)
    return _each(ids, lambda run_id: store.discard(run_id, now))


def purge(store: Store, ids: Sequence[str]) -> tuple[Sequence[str], Sequence[DiskprofError]]:
    """Delete runs that are over for good, with all their samples; gives what `delete` gives."""
    return _each(ids, store.delete)


def _each(ids: Sequence[str], act: Callable[[str], None]) -> tuple[Sequence[str], Sequence[DiskprofError]]:
    done, errors = [], []
    for run_id in ids:
        try:
            act(run_id)
            done.append(run_id)
        except DiskprofError as error:
            errors.append(error)
    return done, errors


def earlier_results(store: Store, run: Run) -> tuple[EarlierResult, ...]:
    """What a result is compared with: nothing for a run in progress, for a sweep, whose result is its grid, and for one that
    watched, whose figures are those of others."""
    compared = run.status.over and not run.plan.sweep and not run.plan.watched
    return store.earlier_results(run.id) if compared else ()


def samples_of_drains(store: Store, run: Run) -> tuple[Sample, ...]:
    """What bursts are told from: the intervals of a run that drains twice, without histograms; of any other run nothing."""
    from diskprof.analysis.bursts import pairs

    return store.samples(run.id, histograms=False).samples if run.status.over and pairs(run) else ()


def series_result(store: Store, series_id: str) -> SeriesResult:
    """A series with its runs and their headline figures. Raises RunNotFound."""
    from diskprof.analysis.series_figures import SeriesResult, repeat_figures, series_figures

    runs = tuple(store.series_runs(series_id))
    figures = series_figures([repeat_figures(store.run(run.id), run.series.arm) for run in runs if run.series])
    return SeriesResult(store.series(series_id), runs, figures)


def fleet_result(store: Store, fleet_id: str) -> FleetResult:
    """A fleet run with its runs. Raises RunNotFound."""
    from diskprof.analysis.fleet.result import FleetResult

    fleet = store.fleet_run(fleet_id)
    return FleetResult(fleet, tuple(store.run(run.id) for run in store.runs_of_fleet(fleet_id)))


def seen_by_kernel(store: Store, run: Run) -> dict[int, KernelView]:
    """What the kernel saw of each test of a run, out of some hundred columns of each."""
    from diskprof.analysis.kernel import seen_by_test

    found: dict[int, KernelView] = {}
    for test in run.tests:
        samples, system = store.course(run.id, test.index).samples, store.system_course(run.id, test.index).samples
        found |= seen_by_test(samples, system)
    return found
