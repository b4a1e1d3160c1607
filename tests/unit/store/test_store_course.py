"""A test's samples taken together: what a picture of a day is made from."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FAST, make_plan, record_run
from store_files import raw

from diskprof.analysis.comparison import compare
from diskprof.model import histogram
from diskprof.model.errors import RunNotFound, StoreError
from diskprof.model.histogram import Histogram
from diskprof.model.run import Status
from diskprof.model.sample import WITHIN_NS, Direction, Phase, Sample, SystemSample
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
    store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=ended_s * SECOND_NS)
    return run_id


def test_percentiles_and_the_share_are_stored_beside_the_histogram(store: Store) -> None:
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
        share = one.histogram.share_below(WITHIN_NS) if one.histogram else None
        assert one.share_within(WITHIN_NS) == other.share_within(WITHIN_NS) == share
        assert other.share_within(WITHIN_NS + 1) is None


def test_a_comparison_unpacks_no_histogram(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [record_run(store, runtime_s=2.0, seed=seed) for seed in (1, 2, 3)]
    runs = [store.run(run_id) for run_id in ids]
    whole = compare(runs, {run_id: store.samples(run_id).samples for run_id in ids})
    parts = [part for run in runs for record in run.records if record.result for _, part in record.result.directions]
    assert [part.share_within(WITHIN_NS) for part in parts] == [
        part.histogram.share_below(WITHIN_NS) for part in parts if part.histogram
    ]
    monkeypatch.setattr(histogram, "_unpacked", None)
    assert compare(runs, {run_id: store.samples(run_id, histograms=False).samples for run_id in ids}) == whole


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


LONG = 1000
"""Samples of which fifteen blocks of 64 and a rest are made."""


def long_samples(*, test: int = 0, count: int = LONG) -> list[Sample]:
    """Preparing, then measuring in both directions; now and then nothing completed."""
    found = []
    for number in range(count):
        at, phase = number // 2 + 1, Phase.PREPARING if number < count // 4 else Phase.MEASURING
        one = replace(
            sample(at, 1000 + 7 * number, count=1 + number % 5),
            test=test,
            phase=phase,
            direction=(Direction.READ, Direction.WRITE)[number % 2],
        )
        still = {"ios": 0, "bytes": 0, "mean_ns": None, "min_ns": None, "max_ns": None, "histogram": None}
        found.append(replace(one, **still) if number % 17 == 0 else one)
    return found


def saw(one: Sample) -> SystemSample:
    """What the kernel saw in an interval."""
    return SystemSample(
        *(one.test, one.phase, one.at_ns, one.duration_ns),
        reads=one.ios,
        cpu_user=one.ios / 10,
        memory_available_bytes=(1 << 40) + one.ios,
        temperature_c=40.0 + one.ios,
    )


def groups(samples: Sequence[Sample]) -> dict[tuple[int, Phase, Direction], list[Sample]]:
    found: dict[tuple[int, Phase, Direction], list[Sample]] = {}
    for one in samples:
        found.setdefault((one.test, one.phase, one.direction), []).append(one)
    return found


def mean_of(samples: Sequence[Sample]) -> float:
    return sum((one.mean_ns or 0) * one.ios for one in samples) / max(1, sum(one.ios for one in samples))


def assert_same(course: Sequence[Sample], samples: Sequence[Sample]) -> None:
    told, known = groups(course), groups(samples)
    assert told.keys() == known.keys()
    for key, mine in told.items():
        raw = known[key]
        for amount in ("ios", "bytes", "duration_ns"):
            assert sum(getattr(one, amount) for one in mine) == sum(getattr(one, amount) for one in raw)
        assert mean_of(mine) == pytest.approx(mean_of(raw))
        assert min(one.min_ns or 1e9 for one in mine) == min(one.min_ns or 1e9 for one in raw)
        assert max(one.max_ns or 0 for one in mine) == max(one.max_ns or 0 for one in raw)
        assert max(one.quantile(0.99) or 0 for one in mine) == max(one.quantile(0.99) or 0 for one in raw)
        assert [one.at_ns for one in mine] == sorted(one.at_ns for one in mine)
        assert mine[-1].at_ns == raw[-1].at_ns


@pytest.mark.parametrize("step", [1, 7, 64, 65, 400, LONG])
def test_blocks_tell_of_a_long_test_what_its_samples_tell(store: Store, tmp_path: Path, step: int) -> None:
    samples = long_samples()
    run_id = store.create_run(make_plan(), FAST.environment)
    store.begin_test(run_id, 0, 0)
    for first in range(0, LONG, step):
        part = samples[first : first + step]
        store.append(run_id, samples=part, system=[saw(one) for one in part])
    store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=samples[-1].at_ns)
    course = store.course(run_id, 0, most=12)
    assert course.last == store.samples(run_id).last
    assert len(course.samples) <= 4 * 13
    assert_same(course.samples, samples)
    system = store.system_course(run_id, 0, most=12)
    assert system.last == store.system_samples(run_id).last
    assert sum(one.reads or 0 for one in system.samples) == sum(one.ios for one in samples)
    weights = [one.duration_ns for one in system.samples]
    assert sum(weights) == LONG * SECOND_NS
    user = sum((one.cpu_user or 0) * weight for one, weight in zip(system.samples, weights, strict=True))
    assert user / sum(weights) == pytest.approx(sum(one.ios for one in samples) / 10 / LONG)
    assert max(one.temperature_c or 0 for one in system.samples) == 45.0
    assert all(1 << 40 <= (one.memory_available_bytes or 0) <= (1 << 40) + 5 for one in system.samples)
    # The samples are not looked at: a day has 86,400.
    with raw(tmp_path / "runs.db") as db:
        db.execute("DELETE FROM sample WHERE seq < 900")
        db.execute("DELETE FROM system_sample WHERE seq < 900")
    assert store.course(run_id, 0, most=12) == course
    assert store.system_course(run_id, 0, most=12) == system


def test_each_of_many_tests_is_told_whole_and_alone(store: Store) -> None:
    run_id, samples = store.create_run(make_plan(), FAST.environment), []
    for test, count in enumerate((10, 300, 30, 64, 40, 500)):
        samples += (mine := long_samples(test=test, count=count))
        store.begin_test(run_id, test, 0)
        store.append(run_id, samples=mine)
        assert_same(store.course(run_id, test, most=8).samples, mine)
        store.finish_test(run_id, test, status=Status.COMPLETE, at_ns=mine[-1].at_ns)
    for test in range(6):
        mine = [one for one in samples if one.test == test]
        for most in (1, 4, 8, 2048):
            assert_same(store.course(run_id, test, most=most).samples, mine)
        assert len(store.course(run_id, test, most=2048).samples) == len(mine)


def test_numbers_that_no_disk_has_keep_no_sample_out_of_the_store(store: Store) -> None:
    most = (1 << 63) - 1
    wild = replace(sample(1, 5), ios=most, bytes=most, max_ns=most)
    samples = [replace(wild, at_ns=at * SECOND_NS) for at in range(1, 201)]
    run_id = store.create_run(make_plan(), FAST.environment)
    store.begin_test(run_id, 0, 0)
    store.append(
        run_id,
        samples=samples,
        system=[replace(saw(sample(9, 5)), at_ns=one.at_ns, dirty_bytes=most) for one in samples],
    )
    assert store.samples(run_id).samples == tuple(samples)
    for course in (store.course(run_id, 0, most=2), store.course(run_id, 0)):
        assert {one.ios for one in course.samples} == {most}
        assert course.samples[0].mean_ns == 5.0
    assert {one.dirty_bytes for one in store.system_course(run_id, 0, most=2).samples} == {most}


def test_with_a_run_its_blocks_go(store: Store, tmp_path: Path) -> None:
    run_id = run_of(store, long_samples(), ended_s=LONG)
    store.finish_run(run_id, status=Status.COMPLETE)
    with raw(tmp_path / "runs.db") as db:
        assert db.execute("SELECT count(*) FROM course").fetchone()[0] >= 15
        store.delete(run_id)
        assert db.execute("SELECT count(*) FROM course").fetchone() == (0,)


def test_what_is_not_there_is_an_error(store: Store) -> None:
    run_id = record_run(store)
    with pytest.raises(StoreError, match="no test 9"):
        store.course(run_id, 9)
    with pytest.raises(RunNotFound):
        store.course("nothing", 0)
