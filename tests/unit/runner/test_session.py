"""What both front ends do: a plan of a wish, and waiting for other runs on the same disk."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from bench_screens import DISKS, PRESETS, Bench, BenchSession, make_device
from msgspec.structs import replace
from recorded import record_run

from diskprof.model.device import Device, DeviceTree, Health
from diskprof.model.errors import EngineMissing, Refused, UsageError
from diskprof.model.plan import Plan
from diskprof.model.preset import TargetSlot
from diskprof.model.run import Status
from diskprof.presets.library import load_library
from diskprof.runner import session as module
from diskprof.runner.neighbours import Neighbour, Occupied
from diskprof.runner.session import Company, Place, Session, Waiting, Wish, delete
from diskprof.store import Store, this_process

TREE = DeviceTree(DISKS)
WISH = Wish(PRESETS[0], Place("sda2"), TREE, {"size": "1m"})
SLOTS = (TargetSlot("cache", ""), TargetSlot("nocache", ""))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "runs.db")


@pytest.fixture
def store(bench: Bench) -> Iterator[Store]:
    with Store.open(bench.path) as store:
        yield store


class Known(BenchSession):
    """The disks of this machine are those of the bench."""

    def topology(self) -> DeviceTree:
        return self.scan()


def test_what_live_runs_work_on_is_known(bench: Bench, store: Store) -> None:
    assert bench.session().worked_on(store) == {}
    dead = replace(this_process(), start_ticks=1)
    record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=dead)
    assert bench.session().worked_on(store) == {}
    run_id = occupy(store)
    names = {device.name for device in store.run(run_id).environment.stack}
    assert names and bench.session().worked_on(store) == dict.fromkeys(names, run_id)


def occupy(store: Store) -> str:
    return record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())


def ending(store: Store, *run_ids: str) -> Callable[[float], None]:
    """In the place of sleeping: these runs end, one each time."""
    left = list(run_ids)
    return lambda _seconds: store.finish_run(left.pop(0), status=Status.COMPLETE)


@pytest.mark.parametrize(
    ("place", "path"),
    [(Place("sda2"), "/mnt/data"), (Place("sda1"), "/dev/sda1"), (Place(path="/srv"), "/srv"), (Place("gone"), "")],
)
def test_a_device_is_tested_in_a_directory_that_it_carries(bench: Bench, place: Place, path: str) -> None:
    assert bench.session().plan_of(replace(WISH, place=place)).target.path == path
    assert bench.planned == [("quick", path, {"size": "1m"})]


def test_an_outlook_is_a_plan_or_why_there_is_none(bench: Bench) -> None:
    session = bench.session()
    assert session.outlook(WISH).plan is not None
    several = replace(WISH, preset=replace(PRESETS[0], targets=SLOTS))
    outlook = session.outlook(several)
    assert (outlook.plan, outlook.missing, outlook.suggested) == (None, SLOTS, "/mnt/data")
    named = session.outlook(replace(several, named={"cache": "/a", "nocache": "/b"})).plan
    assert named is not None and [target.path for target in named.targets] == ["/a", "/b"]
    bench.plan_error = EngineMissing("fio is not installed.")
    outlook = session.outlook(WISH)
    assert outlook.error is bench.plan_error and outlook.blocked


@pytest.mark.parametrize(
    ("now", "says"), [(DISKS[:2], "is gone"), ((*DISKS[:2], replace(DISKS[2], diskseq=9)), "is a different disk")]
)
def test_what_was_planned_on_another_disk_is_refused(bench: Bench, now: tuple[object, ...], says: str) -> None:
    plan = bench.session().plan_of(WISH)
    bench.session().check_there(plan, TREE)
    bench.devices = now  # type: ignore[assignment]
    with pytest.raises(Refused, match=f"/dev/sda2 {says}"):
        bench.session().check_there(plan, TREE)


def test_a_plan_waits_for_each_run_on_its_disk_and_says_so_once(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = occupy(store), occupy(store)
    told: list[Neighbour] = []
    monkeypatch.setattr(module.time, "sleep", ending(store, first, second))
    session = Known(bench)
    plan = session.plan_of(WISH)
    assert session.wait_for_others(plan, store, told.append)
    assert [other.run_id for other in told] == [first, second]
    assert not session.wait_for_others(plan, store, told.append) and len(told) == 2


def test_while_nothing_has_changed_nothing_is_looked_for(bench: Bench, store: Store) -> None:
    run_id = occupy(store)
    session = bench.session()

    def tree() -> DeviceTree:
        return TREE

    def nothing() -> DeviceTree:
        raise AssertionError("the devices are not needed")

    waiting = session.waiting_now(Waiting(session.plan_of(WISH), (), TREE), store, tree)
    assert [other.run_id for other in waiting.others] == [run_id]
    assert session.waiting_now(waiting, store, nothing) is waiting
    store.finish_run(run_id, status=Status.COMPLETE)
    assert not session.waiting_now(waiting, store, tree).others


def test_another_disk_is_not_waited_for(bench: Bench, store: Store) -> None:
    occupy(store)
    bench.devices = (*DISKS, make_device("sdb"))
    session = Known(bench)
    plan = session.plan_of(replace(WISH, place=Place("sdb"), tree=DeviceTree(bench.devices)))
    assert not session.wait_for_others(plan, store, lambda other: pytest.fail(other.words))


def blocked(bench: Bench) -> Callable[[], Plan]:
    bench.block("The file system is full.")
    return lambda: bench.session().plan_of(WISH)


def test_what_another_run_may_block_names_that_run(bench: Bench, store: Store) -> None:
    run_id = occupy(store)
    with pytest.raises(Occupied, match=run_id):
        Known(bench).plan_in_turn(blocked(bench), Company.REFUSE, lambda _other: None)
    with pytest.raises(Refused, match="The file system is full"):
        Known(bench).plan_in_turn(blocked(bench), Company.BESIDE, lambda _other: None)


def test_a_plan_is_made_anew_once_the_run_in_its_way_has_ended(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = occupy(store)
    finish = ending(store, run_id)

    def sleep(seconds: float) -> None:
        finish(seconds)
        bench.hazards = ()

    monkeypatch.setattr(module.time, "sleep", sleep)
    told: list[Neighbour] = []
    plan = Known(bench).plan_in_turn(blocked(bench), Company.WAIT, told.append)
    assert not plan.blocked and len(bench.planned) == 2 and [other.run_id for other in told] == [run_id]


def test_of_runs_to_be_deleted_those_that_go_on_are_kept(store: Store) -> None:
    over = [record_run(store), record_run(store)]
    going = occupy(store)
    ids: Sequence[str] = [over[0], going, over[1]]
    gone, errors = delete(store, ids)
    assert gone == over and len(errors) == 1
    assert [summary.id for summary in store.summaries()] == [going]


def test_the_name_of_a_shipped_preset_is_taken_only_by_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    session = Session(tmp_path / "runs.db")
    preset = replace(load_library().presets[0], shipped=False, path="")
    with pytest.raises(UsageError, match="is a preset of diskprof"):
        session.save_preset(preset)
    assert session.save_preset(preset, force=True).is_relative_to(tmp_path)


def test_no_disk_is_woken_for_its_health(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = [make_device(name, rotational=name == "sdb") for name in ("sda", "sdb", "sdc")]
    asked: list[str] = []

    def health_of(disk: Device) -> Health | None:
        asked.append(disk.name)
        return Health(disk.name, True) if disk.name == "sdb" else None

    def temperature(name: str) -> float:
        asked.append(f"sensor of {name}")
        return 41.0

    monkeypatch.setattr("diskprof.engines.smartctl.health_of", health_of)
    monkeypatch.setattr("diskprof.devices.machine.watch.temperature", temperature)
    monkeypatch.setattr("diskprof.devices.machine.watch.asleep", lambda name: name == "sdc")
    found = Session(tmp_path / "runs.db").health(disks)
    assert list(found) == [Health("sda", None, 41.0), Health("sdb", True)]
    assert asked == ["sda", "sensor of sda", "sdb"]


def test_an_estimate_has_all_targets_in_the_one_place(bench: Bench) -> None:
    preset = replace(PRESETS[0], targets=SLOTS)
    wish = Wish(preset, Place("sda2"), TREE, named={"cache": "/srv"})
    plan = Session.estimate(bench.session(), wish)
    assert [target.path for target in plan.targets] == ["/srv", "/mnt/data"]
