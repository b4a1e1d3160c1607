"""What a burst is worth: a bucket of known size, simulated second by second, and what has none."""

from itertools import accumulate, pairwise
from random import Random

import pytest
from handmade import direction, fio, run, samples
from msgspec.structs import replace

from diskprof.analysis.bursts import BurstResult, burst_results, pairs
from diskprof.analysis.findings.find import find
from diskprof.model.run import Run, Status, Weight
from diskprof.model.sample import Sample

SIZE, BURST, REFILL = 60_000, 3_000, 300
DRAIN_S, REST_S = 60.0, 60.0


def series(tokens: float, seconds: float, *, interval_s: float = 0.5, seed: int = 1) -> tuple[list[float], float]:
    """IOPS of each interval of a volume whose bucket holds so many tokens, handed out in slices of 0.1 s; and what is left."""
    slices, random, steps = [], Random(seed), round(interval_s / 0.1)
    for _ in range(round(seconds / 0.1) + 1):
        tokens += REFILL * 0.1
        slices.append(min(tokens, BURST * 0.1))
        tokens -= slices[-1]
    # The next slice may fall into an interval, all of it or a half.
    parts = [(part, part + random.choice((0, 0, 1, 2))) for part in range(2 * steps, 2 * len(slices) - 1, 2 * steps)]
    halves = [0.0, *accumulate(each / 2 for each in slices for _ in range(2))]
    done = [0.0, *(halves[early] for _, early in parts)]
    return [(now - before) / interval_s for before, now in pairwise(done)], tokens


def drained(
    first: list[float], second: list[float], *, rest_s: float = REST_S, block: int = 4096, interval_s: float = 0.5
) -> tuple[Run, tuple[Sample, ...]]:
    tests = [
        fio("drain", depth=32, block=block, read=direction(1_000)),
        fio("again", depth=32, block=block, read=direction(1_000), options=(f"--startdelay={rest_s:g}",)),
    ]
    tests[1] = replace(tests[1], planned=replace(tests[1].planned, delay_s=rest_s))
    one = samples(first, interval_s=interval_s, block=block)
    later = one[-1].at_ns + round(rest_s * 1e9)
    two = samples(second, test=1, interval_s=interval_s, block=block)
    return run(*tests), (*one, *(replace(each, at_ns=each.at_ns + later) for each in two))


def model(first: list[float], second: list[float], **more: float) -> BurstResult:
    (found,) = burst_results(*drained(first, second, **more))  # type: ignore[arg-type]
    return found


def test_a_bucket_of_known_size_is_found_in_each_figure() -> None:
    for seed in range(20):
        first, left = series(SIZE, DRAIN_S, seed=seed)
        second, _ = series(left + REFILL * REST_S, REST_S, seed=seed)
        found = model(first, second)
        bucket = found.bucket
        assert bucket and not found.in_bytes and bucket.whole and not bucket.at_least
        assert bucket.baseline == pytest.approx(REFILL, rel=0.01)
        assert bucket.burst == pytest.approx(BURST, rel=0.05)
        assert bucket.size == pytest.approx(SIZE, rel=0.05)
        assert bucket.burst_s == pytest.approx(SIZE / (BURST - REFILL), rel=0.05)
        assert bucket.refill == pytest.approx(REFILL, rel=0.05)
        assert bucket.full_after_s == pytest.approx(SIZE / REFILL, rel=0.05)
        # 66,667 I/Os are done at 3,000 a second, all others at 300.
        assert bucket.seconds_of(30_000) == pytest.approx(10, rel=0.05)
        assert bucket.seconds_of(200_000) == pytest.approx(22.2 + 133_333 / 300, rel=0.05)


def test_large_blocks_are_counted_in_bytes() -> None:
    first, left = series(SIZE, DRAIN_S)
    second, _ = series(left + REFILL * REST_S, REST_S)
    found = model(first, second, block=1 << 20)
    assert found.in_bytes and found.bucket
    assert found.bucket.size == pytest.approx(SIZE * (1 << 20), rel=0.05)
    assert found.bucket.baseline == pytest.approx(REFILL * (1 << 20), rel=0.01)


def test_a_disk_without_a_bucket_has_none_and_says_how_long_it_looked() -> None:
    random = Random(5)
    for level in (3_000.0, 150.0):
        found = model(*([random.gauss(level, 0.05 * level) for _ in range(120)] for _ in range(2)))
        assert found.bucket is None
        assert found.looked_s == 60.0
        assert found.level == pytest.approx(level, rel=0.02)


def test_a_bucket_that_was_full_again_is_a_least_refill() -> None:
    first, _ = series(6_000, 20)
    second, _ = series(6_000, 20)
    bucket = model(first, second).bucket
    assert bucket and bucket.at_least
    assert bucket.refill == pytest.approx(6_000 / REST_S, rel=0.05)


def test_a_second_burst_that_does_not_end_is_a_least_refill_too() -> None:
    first, _ = series(6_000, 20)
    bucket = model(first, [3_000.0] * 4, rest_s=20.0).bucket
    assert bucket and bucket.at_least


def test_a_bucket_that_was_empty_at_first_shows_what_the_rest_gave_back() -> None:
    first, _ = series(0, 30)
    second, _ = series(REFILL * REST_S, 30)
    bucket = model(first, second).bucket
    assert bucket and not bucket.whole
    assert bucket.size == pytest.approx(REFILL * REST_S, rel=0.05)
    assert bucket.refill == pytest.approx(REFILL, rel=0.05)


def test_nothing_that_comes_back_has_no_time_to_full() -> None:
    first, _ = series(6_000, 20)
    bucket = model(first, [300.0] * 40).bucket
    assert bucket and bucket.refill == 0 and bucket.full_after_s is None


def test_only_the_same_load_after_a_rest_is_a_pair() -> None:
    tested, taken = drained([3_000.0] * 40, [3_000.0] * 40)
    assert [(pair.first.name, pair.second.name) for pair in pairs(tested)] == [("drain", "again")]
    assert pairs(run(fio("a", read=direction(1)), fio("b", read=direction(1)))) == ()
    stopped = replace(tested.tests[1], status=Status.CANCELLED)
    assert burst_results(replace(tested, tests=(tested.tests[0], stopped)), taken) == ()
    assert burst_results(tested, ()) == ()


def test_the_finding_of_any_long_run_tells_what_the_burst_was_worth() -> None:
    first, _ = series(SIZE, 80)
    tested = run(fio(read=direction(1_000, seconds=80)))
    (found,) = (each for each in find(tested, samples(first, interval_s=0.5), ()) if each.name == "burst")
    assert "the burst was worth 6" in found.evidence and "k I/Os beyond that speed" in found.evidence
    assert found.weight is Weight.DOUBT


def test_a_burst_that_was_to_end_is_no_doubt() -> None:
    first, left = series(SIZE, DRAIN_S)
    second, _ = series(left + REFILL * REST_S, REST_S)
    tested, taken = drained(first, second)
    found = [each for each in find(tested, taken, ()) if each.name == "burst"]
    assert found and all(each.weight is Weight.NOTE and "Bursts" in each.advice for each in found)
