"""A test's samples taken together: what a picture of a day is made from."""

from dataclasses import replace
from pathlib import Path

import pytest
from recorded import FAST, make_plan, record_run

from diskprof.model.errors import RunNotFound, StoreError
from diskprof.model.histogram import Histogram
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store

SECOND_NS = 1_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "runs.db")


def sample(at_s: int, latency_ns: int, count: int = 4, **more: object) -> Sample:
    histogram = Histogram.of_latencies([latency_ns] * count)
    return Sample(
        *(0, Phase.MEASURING, Direction.READ, at_s * SECOND_NS, SECOND_NS, count, count * 4096),
        *(float(latency_ns), latency_ns, latency_ns, histogram),
        **more,  # type: ignore[arg-type]
    )


def run_of(store: Store, samples: list[Sample], *, ended_s: int) -> str:
    run_id = store.create_run(make_plan(), FAST.environment)
    store.begin_test(run_id, 0, 0)
    store.append(run_id, samples=samples)
    store.finish_test(run_id, 0, status=store.run(run_id).status.COMPLETE, at_ns=ended_s * SECOND_NS)
    return run_id


def test_percentiles_are_stored_beside_the_histogram(store: Store) -> None:
    run_id = record_run(store)
    full, light = store.samples(run_id), store.samples(run_id, histograms=False)
    assert light.last == full.last
    assert any(one.histogram for one in full.samples)
    for one, other in zip(full.samples, light.samples, strict=True):
        assert other == replace(one, histogram=None)
        assert other.distributed == bool(one.histogram)
        for q in (0.5, 0.99, 0.999):
            exact = one.histogram.quantile(q) if one.histogram else None
            assert one.quantile(q) == other.quantile(q) == exact
        assert other.quantile(0.9) is None


def test_a_short_test_is_told_sample_by_sample(store: Store) -> None:
    run_id = record_run(store)
    for test in range(6):
        raw, course = store.samples(run_id, test=test), store.course(run_id, test)
        assert course.last == raw.last
        assert [(one.at_ns, one.phase, one.ios, one.quantile(0.99)) for one in course.samples] == [
            (one.at_ns, one.phase, one.ios, one.quantile(0.99)) for one in raw.samples
        ]


def test_neighbours_are_taken_together_and_nothing_is_lost(store: Store) -> None:
    samples = [sample(at, 1000 * at, count=at) for at in range(1, 101)]
    run_id = run_of(store, samples, ended_s=100)
    course = store.course(run_id, 0, most=10).samples
    assert 10 <= len(course) <= 11
    assert sum(one.ios for one in course) == sum(one.ios for one in samples)
    assert sum(one.bytes for one in course) == sum(one.bytes for one in samples)
    assert sum(one.duration_ns for one in course) == 100 * SECOND_NS
    assert [one.at_ns for one in course] == sorted(one.at_ns for one in course)
    assert course[-1].at_ns == samples[-1].at_ns
    assert (course[-1].max_ns, course[0].min_ns) == (100_000, 1000)
    assert course[-1].quantile(0.99) == samples[-1].quantile(0.99)
    assert all(one.histogram is None and one.distributed for one in course)
    first = samples[: len([one for one in samples if one.at_ns <= course[0].at_ns])]
    assert course[0].mean_ns == pytest.approx(
        sum((one.mean_ns or 0) * one.ios for one in first) / sum(one.ios for one in first)
    )


def test_phases_and_directions_are_never_mixed(store: Store) -> None:
    run_id = record_run(store, "mixed-70-30")
    course = store.course(run_id, 0, most=3).samples
    groups = {(one.phase, one.direction) for one in course}
    assert groups == {(one.phase, one.direction) for one in store.samples(run_id, test=0).samples}
    for phase, direction in groups:
        mine = [one for one in course if (one.phase, one.direction) == (phase, direction)]
        assert len(mine) <= 4
        assert sum(one.ios for one in mine) == sum(
            one.ios for one in store.samples(run_id, test=0).samples if (one.phase, one.direction) == (phase, direction)
        )


def test_where_nothing_completed_there_is_no_latency(store: Store) -> None:
    still = [
        replace(sample(at, 5), ios=0, bytes=0, mean_ns=None, min_ns=None, max_ns=None, histogram=Histogram())
        for at in (1, 2)
    ]
    run_id = run_of(store, [*still, sample(3, 7000)], ended_s=3)
    (one,) = store.course(run_id, 0, most=1).samples
    assert (one.ios, one.mean_ns, one.quantile(0.5)) == (4, 7000.0, sample(3, 7000).quantile(0.5))
    first, _ = store.course(run_id, 0, most=2).samples
    assert (first.ios, first.mean_ns, first.max_ns, first.quantile(0.99)) == (0, None, None, None)
    assert not first.distributed


def test_a_test_under_way_is_told_up_to_now_and_goes_on_from_there(store: Store) -> None:
    run_id = store.create_run(make_plan(), FAST.environment)
    assert store.course(run_id, 0).samples == ()
    store.begin_test(run_id, 0, 0)
    store.append(run_id, samples=[sample(at, 1000) for at in range(1, 50)])
    course = store.course(run_id, 0, most=10)
    assert sum(one.ios for one in course.samples) == 49 * 4
    new = sample(50, 2000)
    store.append(run_id, samples=[new])
    assert store.samples(run_id, test=0, after=course.last).samples == (new,)


def test_what_is_not_there_is_an_error(store: Store) -> None:
    run_id = record_run(store)
    with pytest.raises(StoreError, match="no test 9"):
        store.course(run_id, 9)
    with pytest.raises(RunNotFound):
        store.course("nothing", 0)
