"""The recorded runs agree with themselves: what tests of screens and reports stand on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from recorded import FAST, QUICK_TESTS, make_plan, record_library, record_run, recording

from diskprof.model.histogram import merge
from diskprof.model.preset import EngineName
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase
from diskprof.store import Store, is_alive


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("recorded") / "runs.db") as store:
        yield store


@pytest.fixture(scope="module")
def library(store: Store) -> dict[str, str]:
    return record_library(store)


def test_the_quick_plan_has_its_six_tests() -> None:
    assert tuple(test.name for test in make_plan().tests) == QUICK_TESTS
    assert make_plan().seconds == pytest.approx(33, abs=2)


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as a, Store.open(tmp_path / "b.db") as b:
        for store in (a, b):
            record_run(store, run_id="abc", seed=5)
        assert a.samples("abc") == b.samples("abc")
        assert a.system_samples("abc") == b.system_samples("abc")
        assert a.run("abc") == b.run("abc")
        record_run(b, run_id="other", seed=6)
        assert a.samples("abc") != b.samples("other")


def test_there_is_a_run_of_every_kind(store: Store, library: dict[str, str]) -> None:
    statuses = {name: store.run(run_id).status for name, run_id in library.items()}
    assert statuses.pop("failed") is Status.FAILED
    assert statuses.pop("cancelled") is Status.CANCELLED
    assert statuses.pop("interrupted") is Status.INTERRUPTED
    assert statuses.pop("running") is Status.RUNNING
    assert set(statuses.values()) == {Status.COMPLETE}
    assert is_alive(store.runner(library["running"]))
    progress = store.run(library["running"]).progress
    assert progress and (progress.test, progress.phase, progress.fraction) == (2, Phase.MEASURING, 0.5)


def test_results_are_what_the_samples_say(store: Store, library: dict[str, str]) -> None:
    tests = [
        (run_id, test)
        for run_id in library.values()
        for test in store.run(run_id).tests
        if test.status is Status.COMPLETE
    ]
    assert len(tests) > 30
    for run_id, test in tests:
        assert test.result and test.started_ns is not None and test.ended_ns is not None
        measured = [one for one in store.samples(run_id, test=test.index).samples if one.phase is Phase.MEASURING]
        for direction, part in test.result.directions:
            mine = [one for one in measured if one.direction is direction]
            assert part.ios == sum(one.ios for one in mine) > 0
            assert part.bytes == sum(one.bytes for one in mine)
            assert all(test.started_ns < one.at_ns <= test.ended_ns for one in mine)
            if test.name == "seek":
                assert part.histogram is None and all(one.histogram is None for one in mine)
                continue
            whole = merge(one.histogram for one in mine if one.histogram)
            assert part.histogram == whole and whole.total == part.ios
            assert part.latency.p99 == whole.quantile(0.99)
            assert part.latency.p50 is not None and part.latency.p99 is not None
            assert part.latency.p50 < part.latency.p99


def test_documents_are_what_the_results_say(store: Store, library: dict[str, str]) -> None:
    run = store.run(library["first"])
    for test in run.tests:
        (job,) = json.loads(store.document(run.id, test.index))["jobs"]
        assert test.result and test.engine is EngineName.FIO
        for direction, part in test.result.directions:
            assert (job[direction]["total_ios"], job[direction]["iops"]) == (part.ios, part.iops)


def test_a_mixed_run_has_both_directions_at_once(store: Store, library: dict[str, str]) -> None:
    (test,) = store.run(library["mixed"]).tests
    assert test.result and test.result.read and test.result.write
    assert test.result.read.ios / test.result.write.ios == pytest.approx(7 / 3, rel=0.05)


def test_the_file_is_laid_out_first(store: Store, library: dict[str, str]) -> None:
    samples = store.samples(library["first"]).samples
    laid_out = [one for one in samples if one.phase is Phase.PREPARING]
    assert laid_out == list(samples[: len(laid_out)])
    assert {(one.test, one.direction) for one in laid_out} == {(0, Direction.WRITE)}
    assert sum(one.bytes for one in laid_out) >= 1 << 30


def test_what_the_kernel_saw_agrees(store: Store, library: dict[str, str]) -> None:
    samples = [one for one in store.samples(library["slow"]).samples if one.direction is Direction.READ]
    system = {one.at_ns: one for one in store.system_samples(library["slow"]).samples}
    assert samples
    for one in samples:
        assert system[one.at_ns].reads == one.ios
        assert system[one.at_ns].read_bytes == one.bytes


def test_the_slower_host_is_slower(store: Store, library: dict[str, str]) -> None:
    fast, slow = store.run(library["first"]), store.run(library["slow"])
    assert fast.environment.hostname != slow.environment.hostname
    for theirs, ours in zip(slow.tests, fast.tests, strict=True):
        assert theirs.result and ours.result
        for (_, slower), (_, faster) in zip(theirs.result.directions, ours.result.directions, strict=True):
            assert slower.iops < faster.iops / 2


def test_a_recording_can_be_watched_step_by_step(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        steps = recording(store, "mixed-70-30", machine=FAST)
        run_id = next(steps)
        assert store.run(run_id).status is Status.RUNNING
        next(steps)
        assert len(store.samples(run_id).samples) == 1
        assert list(steps)[-1] == run_id
        assert store.run(run_id).status is Status.COMPLETE
