"""Fleet runs in the store: their members, their runs, and what is left when the coordinator dies."""

from datetime import timedelta

import pytest
from recorded import FIRST_START, GONE, SLOW, make_plan, record_run

from diskprof.model.errors import Refused, RunNotFound, StoreError
from diskprof.model.fleet import FleetEngine, FleetMember, HostClock, MemberState, MemberStatus, NewFleet
from diskprof.model.run import FleetPlace, FleetStage, Status
from diskprof.model.run_series import Repetition
from diskprof.runner import session
from diskprof.store import Item, ItemKind, Store

MEMBERS = (FleetMember("web1", "/srv"), FleetMember("root@db1", "by-serial:S4XY"), FleetMember(None, "/dev/sdb"))
NEW = NewFleet(
    "quick", "Quick check", MEMBERS, wanted=Repetition(until=0.03, at_most_s=600.0), engine=FleetEngine.FIO_SERVER
)


def replicate(store: Store, place: FleetPlace) -> str:
    """A run in progress on another host."""
    run_id = store.fleets.new_run_id()
    store.fleets.begin_replica(run_id, make_plan(), SLOW.environment, place, started_at=FIRST_START, tags=("web1",))
    return run_id


def test_a_fleet_run_comes_out_as_it_went_in(store: Store) -> None:
    fleet_id = store.fleets.create(NEW)
    fleet = store.fleet_run(fleet_id)
    assert (fleet.preset, fleet.members, fleet.status, fleet.skew) == ("quick", MEMBERS, Status.RUNNING, None)
    assert (fleet.wanted, fleet.engine) == (NEW.wanted, NEW.engine)
    assert [status.state for status in fleet.statuses] == [MemberState.WAITING] * 3
    assert [member.label for member in MEMBERS] == ["web1:/srv", "root@db1:by-serial:S4XY", "/dev/sdb"]
    began = [
        MemberStatus(MemberState.DONE, "", HostClock(5, 300_000), FIRST_START),
        MemberStatus(
            MemberState.LOST, "Connection reset.", HostClock(-7, 200_000), FIRST_START + timedelta(seconds=0.02)
        ),
        MemberStatus(MemberState.LEFT_OUT, "no room"),
    ]
    for member, status in enumerate(began):
        store.fleets.set_member(fleet_id, member, status)
    with pytest.raises(StoreError, match="no member 3"):
        store.fleets.set_member(fleet_id, 3, MemberStatus())
    store.fleets.finish(fleet_id, status=Status.FAILED, reason="db1 was lost.")
    fleet = store.fleet_run(fleet_id)
    assert fleet.statuses == tuple(began)
    assert (fleet.skew, fleet.skew_within) == (timedelta(milliseconds=20), timedelta(microseconds=500))
    assert (fleet.status, fleet.reason) == (Status.FAILED, "db1 was lost.")
    # Something of it is lost, and can be fetched; without that it would be in no list.
    assert store.fleet_runs() == [fleet]
    store.fleets.set_member(fleet_id, 1, MemberStatus(MemberState.LEFT_OUT))
    assert store.fleet_runs() == []


def test_its_runs_are_one_thing_by_its_id_its_beginning_a_tag_and_latest(store: Store) -> None:
    alone = record_run(store, runtime_s=0.5)
    fleet_id = store.fleets.create(NEW)
    places = (FleetPlace(fleet_id, 2, FleetStage.ALONE), FleetPlace(fleet_id, 0), FleetPlace(fleet_id, 2, repeat=2))
    ids = [
        record_run(
            store, runtime_s=0.5, fleet=place, tags=("nightly",), started_at=FIRST_START + timedelta(minutes=at + 1)
        )
        for at, place in enumerate(places)
    ]
    store.fleets.finish(fleet_id, status=Status.COMPLETE)
    whole = Item(fleet_id, ItemKind.FLEET)
    assert [store.resolve_item(name) for name in (fleet_id, fleet_id[:7], "nightly", "latest")] == [whole] * 4
    assert store.resolve_item("latest~1") == Item(alone)
    assert store.resolve("latest") == ids[-1]
    with pytest.raises(RunNotFound, match="a fleet run"):
        store.resolve(fleet_id)
    # In the order of the members, and of a member in that of time.
    assert store.runs_named(fleet_id) == [run.id for run in store.runs_of_fleet(fleet_id)] == [ids[1], ids[0], ids[2]]
    assert store.run(ids[0]).fleet == places[0]
    assert [run.fleet for run in store.summaries()] == [*places[::-1], None]
    session.purge(store, ids)
    with pytest.raises(RunNotFound):
        store.fleet_run(fleet_id)


def test_a_run_on_another_host_is_lost_with_its_coordinator_and_not_interrupted(store: Store) -> None:
    fleet_id = store.fleets.create(NEW, coordinator=GONE)
    run_id = replicate(store, FleetPlace(fleet_id, 0))
    for member, state in enumerate((MemberState.RUNNING, MemberState.WAITING, MemberState.DONE)):
        store.fleets.set_member(fleet_id, member, MemberStatus(state))
    assert store.reap() == []
    assert store.run(run_id).status is Status.LOST
    fleet = store.fleet_run(fleet_id)
    assert fleet.status is Status.INTERRUPTED
    assert [status.state for status in fleet.statuses] == [MemberState.LOST, MemberState.LEFT_OUT, MemberState.DONE]
    # One that was about to begin may have begun; nothing is taken for running once nobody follows it.
    other = store.fleets.create(NEW, coordinator=GONE)
    store.fleets.set_member(other, 0, MemberStatus(MemberState.WAITING, run_id="abcdefgh"))
    store.reap()
    assert [status.state for status in store.fleet_run(other).statuses[:2]] == [MemberState.LOST, MemberState.LEFT_OUT]
    failed = store.fleets.create(NEW)
    store.fleets.set_member(failed, 0, MemberStatus(MemberState.RUNNING))
    store.fleets.finish(failed, status=Status.FAILED)
    assert store.fleet_run(failed).statuses[0].state is MemberState.LOST
    # Whoever fetches it is its coordinator.
    store.fleets.take(fleet_id)
    store.fleets.set_reached(run_id, reached=True)
    assert store.reap() == []
    assert (store.run(run_id).status, store.fleet_run(fleet_id).status) == (Status.RUNNING, Status.RUNNING)
    with pytest.raises(Refused, match="in progress"):
        store.delete(run_id)
    store.fleets.set_reached(run_id, reached=False)
    assert store.run(run_id).status is Status.LOST
