"""A fleet run again: what its hosts are asked for, and what they refuse."""

from pathlib import Path

import pytest
from fleets import planned_here
from msgspec.structs import replace
from recorded import GONE, SLOW
from shipped import SHIPPED

from diskprof.fleet import planned_again
from diskprof.fleet.follow import agent as agent_module
from diskprof.fleet.follow.agent import Agent
from diskprof.fleet.follow.messages import Earlier, MakePlan
from diskprof.fleet.planned_again import fleet_record, plan_fleet_again
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.errors import Refused, UsageError
from diskprof.model.fleet import FleetEngine, FleetMember, NewFleet
from diskprof.model.plan import WritePermission
from diskprof.model.run import FleetPlace, Status
from diskprof.model.run_series import Repetition
from diskprof.model.target import Target
from diskprof.presets.library import Library
from diskprof.runner.session import Place, Session, Wish
from diskprof.store import Store


@pytest.fixture
def fleet_id(store: Store, tmp_path: Path) -> str:
    """Of two hosts; the second one had no run."""
    members = (FleetMember("web1", str(tmp_path)), FleetMember("db1", str(tmp_path)))
    new = NewFleet("quick", "Quick", members, 1, Repetition(repeats=2), FleetEngine.FIO_SERVER)
    fleet_id = store.fleets.create(new)
    wish = Wish(SHIPPED.get("quick"), Place(path=str(tmp_path)), DeviceTree(()), {"runtime": "2"})
    plan = Session().plan_of(wish)
    for repeat in (1, 2):
        place = FleetPlace(fleet_id, 0, repeat=repeat)
        store.create_run(plan, SLOW.environment, fleet=place, runner=GONE)
    store.reap()
    return fleet_id


async def test_the_same_is_asked_for_on_the_same_hosts(
    store: Store, fleet_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="in progress"):
        fleet_record(store, fleet_id)
    store.fleets.finish(fleet_id, status=Status.COMPLETE)
    record = fleet_record(store, fleet_id)
    fleet = store.fleet_run(fleet_id)
    assert record.new == NewFleet("quick", "Quick", fleet.members, 1, fleet.wanted, fleet.engine)
    assert record.runs[1] == record.runs[0]
    asked = list[MakePlan]()
    monkeypatch.setattr(planned_again, "plan_members", planned_here(asked))
    run = record.runs[0]
    library = Library([SHIPPED.get("quick")])
    found = await plan_fleet_again(record, library, lambda _: (), WritePermission(), str(store.path))
    assert [dict(each.settings)["runtime"] for each in asked[:2]] == ["2s"] * 2
    assert [(each.plan.parameters, each.plan.hazards) for each in found if each.plan] == [
        (run.plan.parameters, run.plan.hazards)
    ] * 2
    assert asked[0].earlier == Earlier(run.id, (run.environment.disks,)) and asked[1].earlier == asked[0].earlier
    # The preset has another test now: the recorded ones are used, which the plan says.
    quick = SHIPPED.get("quick")
    other = replace(quick, tests=(replace(quick.tests[0], name="another"), *quick.tests[1:]))
    for presets, why in (([other], "has changed since run"), ([], "no preset quick")):
        found = await plan_fleet_again(record, Library(presets), lambda _: (), WritePermission(), str(store.path))
        for each in found:
            assert each.plan and [test.name for test in each.plan.tests] == [test.name for test in run.plan.tests]
            assert any(why in hazard.message for hazard in each.plan.hazards), each.plan.hazards


def test_another_disk_than_then_is_refused_by_its_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Device("sda", "/dev/sda", DeviceKind.DISK, 8, 0, 1 << 40, model="Model", serial="S1")

    class There(Session):
        def scan(self) -> DeviceTree:
            return DeviceTree((disk,))

        def resolve_target(self, text: str, tree: DeviceTree) -> Target:
            return replace(super().resolve_target(text, tree), device=disk.name)

    monkeypatch.setattr(agent_module, "Session", There)
    agent = Agent(lambda _: None)
    agent._greet(str(tmp_path / "runs.db"))
    for serial, refused in (("S1", False), ("S2", True)):
        earlier = Earlier("k3f7p2qa", ((replace(disk, serial=serial),),))
        wanted = MakePlan(SHIPPED.get("quick"), str(tmp_path), concurrent=True, earlier=earlier)
        if refused:
            with pytest.raises(Refused, match="another disk than in run k3f7p2qa"):
                agent._plan(wanted)
        else:
            assert agent._plan(wanted).preset == "quick"
