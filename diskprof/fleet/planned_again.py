"""A fleet run again: each host plans anew what its run did, and refuses where its disk is another one now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from diskprof.fleet.follow.messages import Earlier, MakePlan
from diskprof.fleet.planning import Prospect, plan_members
from diskprof.model.errors import UsageError
from diskprof.model.fleet import NewFleet
from diskprof.model.plan import Hazard, Severity, WritePermission
from diskprof.model.run import FleetStage, Run
from diskprof.presets.resolve import settings_of
from diskprof.runner.again import does_the_same, edits_again, may_do_the_same, preset_again, rebuilt

if TYPE_CHECKING:
    from diskprof.model.fleet import FleetMember, FleetRun
    from diskprof.presets.library import Library
    from diskprof.store import Store


class FleetRecord(Struct, frozen=True):
    """A fleet run and the newest run of each of its members, by their index: of one that has none that of another."""

    fleet: FleetRun
    runs: Mapping[int, Run]
    each_disk: bool

    @property
    def new(self) -> NewFleet:
        """What the one begins with that does the same."""
        fleet = self.fleet
        return NewFleet(fleet.preset, fleet.preset_title, fleet.members, fleet.at_once, fleet.wanted, fleet.engine)

    @property
    def stages(self) -> tuple[FleetStage, ...]:
        return tuple(FleetStage) if self.each_disk else (FleetStage.TOGETHER,)

    @property
    def writes_raw(self) -> bool:
        return any(run.plan.raw_devices for run in self.runs.values())


def fleet_record(store: Store, fleet_id: str) -> FleetRecord:
    """What of a fleet run is needed to plan it again. Raises RunNotFound, UsageError where it has no run, or is in progress."""
    fleet = store.fleet_run(fleet_id)
    if not fleet.status.over:
        raise UsageError(f"The fleet run {fleet_id} is in progress.", "Run it again when it is over.")
    places = {run.id: run.fleet for run in store.runs_of_fleet(fleet_id) if run.fleet}
    newest = {place.member: run_id for run_id, place in places.items()}
    if not newest:
        raise UsageError(f"The fleet run {fleet_id} has no run that says what to do.", "Start it with `diskprof run`.")
    runs = {member: store.run(run_id) for member, run_id in newest.items()}
    if any(run.plan.others for run in runs.values()):
        raise UsageError("Its disks had several targets each.", "Start it on the Run screen, as before.")
    first = runs[min(runs)]
    each_disk = any(place.stage is FleetStage.ALONE for place in places.values())
    return FleetRecord(fleet, {at: runs.get(at, first) for at, _ in enumerate(fleet.members)}, each_disk)


async def plan_fleet_again(
    record: FleetRecord,
    library: Library,
    program_of: Callable[[FleetMember], tuple[str, ...]],
    permission: WritePermission,
    store: str,
    *,
    concurrent: bool = False,
) -> list[Prospect]:
    """As `plan_members`, each member with the preset, settings and expectations of its run.

    A preset that changed or is gone is replaced by the tests that the run recorded, which a hazard of the plan says. Raises
    UsageError where those cannot be rebuilt.
    """
    members = record.fleet.members
    reasons = {at: _reason(run, library) for at, run in record.runs.items()}

    async def planned(which: list[int], wanted: Callable[[int], MakePlan]) -> dict[int, Prospect]:
        asked = {members[at]: wanted(at) for at in which}
        found = await plan_members([members[at] for at in which], program_of, asked.__getitem__, store)
        return dict(zip(which, found, strict=True))

    def as_now(at: int) -> MakePlan:
        run = record.runs[at]
        preset = library.get(run.plan.preset)
        variant, edits, expectations = edits_again(run.plan, preset)
        settings = settings_of(preset, variant, edits)
        made = MakePlan(preset, members[at].target, tuple(settings.items()), expectations, permission)
        return _same(made, run)

    def recorded(at: int) -> MakePlan:
        plan = record.runs[at].plan
        preset = rebuilt(plan, reasons[at])
        made = MakePlan(preset, members[at].target, (), plan.expectations, permission)
        return _same(made, record.runs[at])

    def _same(made: MakePlan, run: Run) -> MakePlan:
        environment, own = run.environment, run.fleet and members[run.fleet.member].target == made.target
        disks = (environment.disks, *(other.disks for other in environment.others))
        earlier = Earlier(run.id, disks) if own else None
        return replace(made, concurrent=concurrent, disk_class=run.plan.disk_class, earlier=earlier)

    found = await planned([at for at, why in reasons.items() if not why], as_now)
    for at, prospect in found.items():
        if prospect.plan and not does_the_same(prospect.plan, record.runs[at].plan):
            reasons[at] = _changed(record.runs[at])
    old = await planned([at for at, why in reasons.items() if why], recorded)
    found |= {at: _told(prospect, reasons[at]) for at, prospect in old.items()}
    return [found[at] for at, _ in enumerate(members)]


def _reason(run: Run, library: Library) -> str:
    """Why the tests that a run recorded are used; empty where its preset may still do the same."""
    now = preset_again(run.plan, library)
    if now.preset is None:
        return now.why
    variant, edits, _ = edits_again(run.plan, now.preset)
    same = may_do_the_same(run.plan, now.preset, settings_of(now.preset, variant, edits))
    return "" if same else _changed(run)


def _changed(run: Run) -> str:
    return f"The preset {run.plan.preset} has changed since run {run.id}"


def _told(prospect: Prospect, why: str) -> Prospect:
    if prospect.plan is None:
        return prospect
    hazard = Hazard("preset-changed", Severity.WARNS, f"{why}: its recorded tests are used.")
    return replace(prospect, plan=replace(prospect.plan, hazards=(*prospect.plan.hazards, hazard)))
