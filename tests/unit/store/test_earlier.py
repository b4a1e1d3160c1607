"""What earlier runs of the same test on the same disk measured: which of them count, and how soon that is known."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FAST, FIRST_START, make_plan, record_run
from store_files import raw

from diskprof.model.run import Finding, Status, Weight
from diskprof.model.sample import Direction
from diskprof.store import Store
from diskprof.store.earlier import ALIKE


def at(day: int) -> dict[str, object]:
    return {"started_at": FIRST_START + timedelta(days=day)}


def earlier_ids(store: Store, run_id: str) -> list[str]:
    return list(dict.fromkeys(one.run_id for one in store.earlier_results(run_id)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "runs.db")


def test_the_earlier_runs_of_a_preset_count_newest_first(store: Store) -> None:
    ids = [record_run(store, **at(day)) for day in range(3)]  # type: ignore[arg-type]
    assert earlier_ids(store, ids[0]) == []
    assert earlier_ids(store, ids[2]) == [ids[1], ids[0]]
    assert earlier_ids(store, ids[1]) == [ids[0]]
    store.discard(ids[1], FIRST_START)
    assert earlier_ids(store, ids[2]) == [ids[0]]
    store.restore(ids[1])
    found, run = store.earlier_results(ids[1]), store.run(ids[0])
    for one in found:
        test = run.test(one.test)
        assert test and test.result
        result = test.result.direction(one.direction)
        assert result and (one.iops, one.bandwidth_bytes_per_s) == (result.iops, result.bandwidth_bytes_per_s)
        assert one.latency_mean_ns == result.latency.mean
        assert one.started_at == run.started_at
    assert {one.direction for one in found} == set(Direction)


def test_only_whole_runs_of_the_same_test_on_the_same_disk_count(store: Store) -> None:
    plan = make_plan()
    record_run(store, "mixed-70-30", **at(0))  # type: ignore[arg-type]
    record_run(store, end=Status.CANCELLED, stop_in=(3, 0.5), **at(1))  # type: ignore[arg-type]
    record_run(store, plan=replace(plan, parameters=(("size", "64m"),)), **at(2))  # type: ignore[arg-type]
    disk = FAST.environment.disks[0]
    other = replace(FAST, environment=replace(FAST.environment, disks=(replace(disk, serial="S0", wwid="other"),)))
    record_run(store, machine=other, **at(3))  # type: ignore[arg-type]
    doubt = store.create_run(plan, FAST.environment, started_at=FIRST_START + timedelta(days=4))
    finding = Finding("other-io", Weight.DOUBT, "Other I/O.", "", "")
    store.finish_run(doubt, status=Status.COMPLETE, findings=(finding,))
    assert earlier_ids(store, record_run(store, **at(5))) == []  # type: ignore[arg-type]


def test_the_same_disk_in_another_host_is_the_same_disk(store: Store) -> None:
    moved = replace(FAST, environment=replace(FAST.environment, hostname="another"))
    first = record_run(store, machine=moved, **at(0))  # type: ignore[arg-type]
    assert earlier_ids(store, record_run(store, **at(1))) == [first]  # type: ignore[arg-type]


def test_the_newest_run_on_a_disk_is_that_of_the_preset_if_there_is_one(store: Store) -> None:
    disks, host = FAST.environment.disks, FAST.environment.hostname
    assert store.newest_on(disks, host) is None
    mixed = record_run(store, "mixed-70-30", **at(0))  # type: ignore[arg-type]
    quick = record_run(store, **at(1))  # type: ignore[arg-type]
    record_run(store, end=Status.CANCELLED, stop_in=(3, 0.5), **at(2))  # type: ignore[arg-type]
    gone = record_run(store, **at(3))  # type: ignore[arg-type]
    store.discard(gone, FIRST_START + timedelta(days=4))
    assert store.newest_on(disks, host) == store.newest_on(disks, host, "quick") == quick
    assert store.newest_on(disks, host, "mixed-70-30") == mixed
    assert store.newest_on(disks, host, "never-run") == quick
    assert store.newest_on([replace(disks[0], serial="S0", wwid="other")], host) is None
    assert store.newest_on((), host) is None
    assert [run.id for run in store.summaries_on(disks, host)] == [quick, mixed]
    assert (
        store.summaries_on((), host) == store.summaries_on([replace(disks[0], serial="S0", wwid="other")], host) == []
    )


def test_of_many_runs_only_the_newest_of_a_preset_are_looked_at(store: Store) -> None:
    run_id = record_run(store)
    with raw(store.path) as db:
        steps = [detail for *_, detail in db.execute(f"EXPLAIN QUERY PLAN {ALIKE}", (0, "", "", "", "", "", 1))]
    assert "run_by_preset" in steps[0] and not any("TEMP B-TREE" in step for step in steps), steps
    assert store.earlier_results(run_id) == ()
