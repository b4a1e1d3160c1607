"""What a coordinator leaves behind when a start is refused, and what is fetched once it is gone."""

import asyncio
from collections.abc import Callable
from itertools import islice

import pytest
from recorded import FAST, GONE, make_plan, record_run, recording

from diskprof.fleet import coordinator as module
from diskprof.fleet import detached
from diskprof.fleet.coordinator import Coordinator
from diskprof.fleet.follow.fetching import fetch
from diskprof.fleet.member import Member, MemberStart
from diskprof.fleet.order import FleetOrder, MemberPlan, order_json
from diskprof.model.errors import Refused
from diskprof.model.fleet import FleetMember, FleetRun, MemberState, MemberStatus, NewFleet
from diskprof.model.run import FleetPlace, Status
from diskprof.model.run_series import Repetition
from diskprof.runner.carry.execute import StopRequest
from diskprof.store import Store


async def test_one_that_began_while_another_was_refused_is_taken_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[str]()

    class Asked(Member):
        async def begin(self, start: MemberStart) -> None:
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


def repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch, wanted: Repetition, iops: Callable[[int, int], float | None]
) -> tuple[FleetRun, list[tuple[int, int]]]:
    """A fleet run of two hosts, whose run at (member, repeat) has so many IOPS; None is refused, 0 fails.

    And each run that began, as (repeat, member).
    """
    began = list[tuple[int, int]]()

    class Repeats(Member):
        async def begin(self, start: MemberStart) -> None:
            self._place, place, factor = start.place, start.place, iops(self.index, start.place.repeat)
            if factor is None:
                raise Refused("It is mounted.")
            self.outcome, self._ran = (Status.COMPLETE if factor else Status.FAILED), True
            began.append((place.repeat, self.index))
            intervals = None if factor else 3
            run = recording(store, machine=FAST, factor=factor or 1.0, fleet=place, runtime_s=0.5)
            run_id = next(run)
            list(islice(run, intervals))
            self._set(state=MemberState.DONE, run_id=run_id)

        async def follow(self) -> None:
            self.ready.set()

    monkeypatch.setattr(module, "Member", Repeats)
    monkeypatch.setattr(module, "_LOST_S", 0.0)
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)
    monkeypatch.setattr(module, "_LEAD_NS", 0)
    new = NewFleet("quick", "Quick", (FleetMember("web1", "/srv"), FleetMember("web2", "/srv")), wanted=wanted)
    order = FleetOrder(new, (MemberPlan(make_plan()),) * 2, str(store.path))
    fleet_id = asyncio.run(Coordinator(order, store, StopRequest(), lambda _: None).carry_out())
    return store.fleet_run(fleet_id), began


def test_each_repeat_begins_with_all_that_still_go_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet, began = repeated(store, monkeypatch, Repetition(repeats=3), lambda *_: 1.0)
    assert (fleet.status, fleet.reason) == (Status.COMPLETE, "")
    assert began == [(repeat, member) for repeat in (1, 2, 3) for member in (0, 1)]
    assert [run.fleet.repeat for run in store.runs_of_fleet(fleet.id) if run.fleet] == [1, 2, 3, 1, 2, 3]


def test_a_host_that_refuses_a_repeat_keeps_what_it_has_and_holds_up_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, began = repeated(
        store, monkeypatch, Repetition(repeats=3), lambda member, repeat: None if (member, repeat) == (1, 2) else 1.0
    )
    assert began == [(1, 0), (1, 1), (2, 0), (3, 0)]
    assert fleet.status is Status.FAILED
    assert fleet.reason == "web2:/srv: Repeat 2 did not start: It is mounted."
    assert [status.state for status in fleet.statuses] == [MemberState.DONE] * 2
    assert len(store.runs_of_fleet(fleet.id)) == 4


def test_a_host_ends_as_soon_as_its_own_figures_are_within(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # The second one is off in its first two repeats, which an interval of eight leaves out.
    fleet, began = repeated(
        store,
        monkeypatch,
        Repetition(until=0.05),
        lambda member, repeat: 0.5 if member == 1 and repeat == 3 else 1.0,
    )
    assert fleet.status is Status.COMPLETE
    repeats = [max(repeat for repeat, who in began if who == member) for member in (0, 1)]
    assert repeats[0] == 6 and repeats[1] > 6
    assert fleet.reason == f"Every headline figure is within 5% after 6 to {repeats[1]} repeats."


def test_no_repeat_begins_that_would_end_after_the_cap(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet, began = repeated(store, monkeypatch, Repetition(repeats=5, at_most_s=0.001), lambda *_: 1.0)
    assert began == [(1, 0), (1, 1)]
    assert fleet.status is Status.COMPLETE
    assert fleet.reason.startswith("Ended after 1 repeat: the next would end after")
