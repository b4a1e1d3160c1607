"""A run whose store somebody else keeps locked."""

import time

import pytest
from recorded import FAST, make_plan
from store_files import raw

from diskprof.engines.events import Outcome
from diskprof.model.drive import DriveRecord
from diskprof.model.errors import StoreBusy, StoreError
from diskprof.model.run import Progress, Status
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.runner.carry import recorder as keeper_module
from diskprof.runner.carry.recorder import Keeper
from diskprof.store import Store


@pytest.fixture
def run_id(store: Store) -> str:
    return store.create_run(make_plan("ioping-seek"), FAST.environment)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "_HURRY_S", 0.01)
    monkeypatch.setattr(keeper_module, "_AGAIN_S", 0.0)


def sample(number: int) -> Sample:
    return Sample(0, Phase.MEASURING, Direction.READ, number, 10**9, number, 4096, None, None, None, None)


def test_nothing_is_lost_while_the_store_is_locked_and_all_comes_in_order(store: Store, run_id: str) -> None:
    keeper = Keeper(store, run_id, lambda: 7)
    keeper.begin_test(0)
    with raw(store.path) as other:
        other.execute("BEGIN IMMEDIATE")
        for number in range(1, 6):
            keeper.append(samples=[sample(number)], progress=Progress(0, Phase.MEASURING, 0.5, 0.5, None, number))
        keeper.note("said meanwhile")
        keeper.finish_test(0, Outcome(Status.COMPLETE))
        assert not store.samples(run_id).samples
        other.execute("ROLLBACK")
    keeper.append(samples=[sample(6)])
    assert [each.at_ns for each in store.samples(run_id).samples] == [1, 2, 3, 4, 5, 6]
    run = store.run(run_id)
    assert run.tests[0].status is Status.COMPLETE and run.progress and run.progress.at_ns == 5
    first, second = run.messages
    assert first.text == "said meanwhile" and second.text.startswith("Another program kept the store locked for ")


def test_the_end_of_a_run_waits_for_the_store(store: Store, run_id: str) -> None:
    keeper = Keeper(store, run_id, lambda: 7)
    with raw(store.path) as other:
        other.execute("BEGIN IMMEDIATE")
        keeper.append(samples=[sample(1)])
        keeper.tell_drives([DriveRecord("sda")])
        other.execute("ROLLBACK")
    keeper.settle()
    assert len(store.samples(run_id).samples) == 1 and store.run(run_id).drives == (DriveRecord("sda"),)
    keeper.settle()
    assert len(store.samples(run_id).samples) == 1


def test_a_store_that_stays_locked_ends_the_run(store: Store, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Keeper(store, run_id, lambda: 7)
    now = time.monotonic()
    monkeypatch.setattr(keeper_module.time, "monotonic", lambda: now)
    with raw(store.path) as other:
        other.execute("BEGIN IMMEDIATE")
        keeper.append(samples=[sample(1)])
        now += 59
        keeper.append(samples=[sample(2)])
        now += 2
        with pytest.raises(StoreBusy, match="another program keeps it locked"):
            keeper.append(samples=[sample(3)])
        other.execute("ROLLBACK")
    keeper.settle()
    assert [each.at_ns for each in store.samples(run_id).samples] == [1, 2, 3]


def test_any_other_error_of_the_store_is_told_at_once(store: Store, run_id: str) -> None:
    keeper = Keeper(store, run_id, lambda: 7)
    store._database._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError, match="disk is full"):
        for number in range(2000):
            keeper.append(samples=[sample(number)] * 20)
