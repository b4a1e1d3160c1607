"""A fleet run on Live: the table while it runs and when it has ended, one host and back, what stops it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_screens import Bench, open_bench, second_connection
from fleets import begun, begun_alone, ended, planned_here, step
from program import until
from recorded import GONE, SLOW
from shipped import SHIPPED
from stored_screens import Driver, press, see, settle, text_of

from diskprof.fleet import detached, planned_again
from diskprof.fleet.order import FleetOrder
from diskprof.model.device import DeviceTree
from diskprof.model.fleet import FleetMember, MemberState, MemberStatus, NewFleet
from diskprof.model.run import FleetPlace, Status
from diskprof.model.run_series import Repetition
from diskprof.runner.session import Place, Session, Wish
from diskprof.store import Store
from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.live.screen import LiveScreen


@pytest.fixture
def store(bench: Bench) -> Iterator[Store]:
    """What the coordinator has."""
    with second_connection(bench.path) as found:
        yield found


def row(pilot: Driver, label: str) -> str:
    return next(line for line in text_of(pilot).splitlines() if line.lstrip("▸▹ ").startswith(label))


async def test_a_row_for_each_host_its_own_live_and_back(bench: Bench, store: Store) -> None:
    fleet_id, runs = begun(store, 1.0, 1.0, 1.0, 0.6)
    step(runs, 60)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        await see(pilot, "Quick check 4 hosts", fleet_id, "sum of 4")
        assert "measuring" in row(pilot, "db1")
        step(runs, 8)
        store.fleets.set_member(fleet_id, 1, MemberStatus(MemberState.LOST, "Connection timed out"))
        pilot.app.screen.store_changed()  # type: ignore[attr-defined]
        await settle(pilot)
        await see(pilot, "sum of 3")
        assert "? lost" in row(pilot, "db2")
        await press(pilot, "down", "down", "down", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, LiveScreen)
        run_of_db4 = store.runs_of_fleet(fleet_id)[3].id
        assert screen.run and screen.run.id == run_of_db4
        await see(pilot, run_of_db4)
        await press(pilot, "escape")
        await see(pilot, "sum of 3")
        assert row(pilot, "db4").startswith("▸")
        await press(pilot, "s")
        assert isinstance(pilot.app.screen, Ask)
        await see(pilot, "Stop this fleet run?", "4 hosts")


async def test_when_it_has_ended_it_says_what_stands_out(bench: Bench, store: Store) -> None:
    fleet_id, runs = begun(store, 1.0, 1.0, 1.0, 0.6)
    ended(store, fleet_id, runs)
    async with open_bench(bench, (120, 60)) as pilot:
        await press(pilot, "2")
        await see(pilot, "complete Quick check 4 hosts", "What stands out", "below the other 3", "Sum of all hosts")
        assert "complete" in row(pilot, "db1")
        assert "Report" in text_of(pilot).splitlines()[-1]
        assert "Stop" not in text_of(pilot).splitlines()[-1]
        await press(pilot, "enter", "escape")
        await see(pilot, "What stands out")


async def test_hosts_that_have_not_begun_wait_in_the_table(bench: Bench, store: Store) -> None:
    members = tuple(FleetMember(f"db{at}", "/srv") for at in range(1, 5))
    fleet_id = store.fleets.create(NewFleet("quick", "Quick check", members))
    store.fleets.set_member(fleet_id, 2, MemberStatus(MemberState.LEFT_OUT, "fio is missing"))
    async with open_bench(bench, (120, 40)) as pilot:
        await press(pilot, "2")
        await see(pilot, fleet_id, "waiting", "left out fio is missing")
        await press(pilot, "enter")
        await see(pilot, "waiting")


async def test_in_the_list_of_runs_it_is_one_row_that_opens_into_its_hosts(bench: Bench, store: Store) -> None:
    fleet_id, runs = begun(store, 1.0, 1.0, 1.0, 0.6)
    ended(store, fleet_id, runs)
    async with open_bench(bench, (120, 40)) as pilot:
        await press(pilot, "3")
        await see(pilot, "▸ quick", "4 hosts", f"Fleet run {fleet_id}", "below the other 3")
        await press(pilot, "enter")
        await see(pilot, "▾ quick", "db1", "db4")
        await press(pilot, "c")
        await see(pilot, "db2", "db3", "4 Compare")
        await press(pilot, "3", "a")
        await see(pilot, "complete Quick check 4 hosts")


async def test_disks_of_this_machine_are_told_apart_by_target_and_stage(bench: Bench, store: Store) -> None:
    fleet_id, runs = begun_alone(store, 1.0, 0.6)
    ended(store, fleet_id, runs)
    async with open_bench(bench) as pilot:
        await press(pilot, "3", "enter")
        await see(pilot, "▾ quick")
        assert text_of(pilot).count("   alone ") == 2


async def test_it_runs_again_on_the_same_hosts(
    bench: Bench, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = tuple(FleetMember(host, str(tmp_path)) for host in ("web1", "db1"))
    fleet_id = store.fleets.create(NewFleet("quick", "Quick check", members, wanted=Repetition(repeats=2)))
    wish = Wish(SHIPPED.get("quick"), Place(path=str(tmp_path)), DeviceTree(()), {"runtime": "2"})
    store.create_run(Session().plan_of(wish), SLOW.environment, fleet=FleetPlace(fleet_id, 0), runner=GONE)
    store.reap()
    store.fleets.finish(fleet_id, status=Status.COMPLETE)
    orders, apps = list[FleetOrder](), list[DiskprofApp]()

    def start(order: FleetOrder) -> str:
        orders.append(order)
        with second_connection(bench.path) as here:
            again = here.fleets.create(order.new)
        # The screen hears of it before it is to show it: no further change of the store helps it then.
        until(lambda: again in apps[0].watcher.state.fleets, "the screen to hear of it")
        return again

    monkeypatch.setattr(planned_again, "plan_members", planned_here([]))
    monkeypatch.setattr(detached, "start_coordinator", start)
    async with open_bench(bench, (120, 40)) as pilot:
        apps.append(pilot.app)
        await press(pilot, "3", "R")
        await see(pilot, "Start Quick check again on 2 hosts?", "2 repeats, 2 hosts: about")
        # What all have is told once, with its sign.
        await see(pilot, "! all 2 hosts: ")
        # On Live too.
        await press(pilot, "escape", "a", "R")
        await see(pilot, "Start Quick check again on 2 hosts?")
        await press(pilot, "s")
        (order,) = orders
        assert order.new == NewFleet("quick", "Quick check", members, wanted=Repetition(repeats=2))
        assert [dict(each.plan.parameters)["runtime"] for each in order.plans if each.plan] == ["2s"] * 2
        await see(pilot, store.fleet_runs()[0].id, "waiting")
