"""What a coordinator leaves behind when a start is refused, and what is fetched once it is gone."""

import asyncio
from collections.abc import Callable

import pytest
from recorded import GONE, make_plan, record_run

from diskprof.fleet import coordinator as module
from diskprof.fleet import detached
from diskprof.fleet.coordinator import Coordinator
from diskprof.fleet.follow.fetching import fetch
from diskprof.fleet.member import Member, Start
from diskprof.fleet.order import FleetOrder, MemberPlan, order_json
from diskprof.model.errors import Refused
from diskprof.model.fleet import FleetMember, MemberState, MemberStatus, NewFleet
from diskprof.model.run import FleetPlace, Status
from diskprof.runner.carry.execute import StopRequest
from diskprof.store import Store


async def test_one_that_began_while_another_was_refused_is_taken_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[str]()

    class Asked(Member):
        async def begin(self, start: Start) -> None:
            if self.index == 1:
                raise Refused("It is mounted.")
            await asyncio.sleep(0)
            calls.append("begin")

        def stop(self, within_s: float) -> None:
            calls.append("stop")

        async def follow(self) -> None:
            calls.append("follow")

    monkeypatch.setattr(module, "Member", Asked)
    new = NewFleet("quick", "Quick", (FleetMember("web1", "/srv"), FleetMember("web2", "/srv")), at_once=2)
    order = FleetOrder(new, (MemberPlan(make_plan()),) * 2, str(store.path))
    with pytest.raises(Refused, match="web2:/srv: It is mounted") as caught:
        await Coordinator(order, store, StopRequest(), calls.append).carry_out()
    assert "Nothing was started" in caught.value.hint
    assert calls == ["begin", "stop", "follow"]


def test_who_left_before_the_start_was_over_gets_nothing_started(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    class Told:
        def __init__(self, order: FleetOrder, store: Store, stop: StopRequest, tell: Callable[[str], None]) -> None:
            self._stop, self._tell = stop, tell

        async def carry_out(self) -> None:
            self._tell("abcdefgh")
            asked.append(self._stop.reason)

    def gone(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(detached, "Coordinator", Told)
    monkeypatch.setattr(detached, "answer_launcher", gone)
    new = NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),))
    order = FleetOrder(new, (MemberPlan(make_plan()),), str(store.path))
    asyncio.run(detached._carry_out(detached.read_order(order_json(order))))
    assert asked == ["Stopped by user before the start was over."]


def test_what_is_here_is_not_fetched(store: Store) -> None:
    def nobody(_: FleetMember) -> tuple[str, ...]:
        raise AssertionError("nobody is asked")

    # A disk of this machine, and a host that keeps its runs in this very store.
    members = (FleetMember(None, "/srv"), FleetMember("localhost", "/data"))
    fleet_id = store.fleets.create(NewFleet("quick", "Quick", members), coordinator=GONE)
    for member in range(len(members)):
        run_id = record_run(store, runtime_s=0.5, fleet=FleetPlace(fleet_id, member))
        store.fleets.set_member(fleet_id, member, MemberStatus(MemberState.RUNNING, run_id=run_id))
    assert [each.status for each in fetch(store, fleet_id, nobody)] == [Status.COMPLETE] * 2
    fleet = store.fleet_run(fleet_id)
    assert (fleet.status, [each.state for each in fleet.statuses]) == (Status.COMPLETE, [MemberState.DONE] * 2)
    # Nothing is lost: how and when it ended stays.
    assert fetch(store, fleet_id, nobody) == []
    assert store.fleet_run(fleet_id) == fleet
