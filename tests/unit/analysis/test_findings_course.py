"""How a test went: steady, a burst that ended, a stall, too short; and ceilings."""

from random import Random

import pytest
from handmade import direction, fio, ioping, latency, on_disk, run, samples
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.device import Transport
from diskprof.model.errors import UsageError
from diskprof.model.histogram import Histogram
from diskprof.model.limit import Trial
from diskprof.model.run import Finding, Run, Status, Weight
from diskprof.model.sample import Direction, Sample
from diskprof.presets.library import library_for
from diskprof.presets.resolve import resolve

CANCELLED = Status.CANCELLED


def named(name: str, tested: Run, taken: tuple[Sample, ...] = ()) -> Finding | None:
    return next((finding for finding in find(tested, taken, ()) if finding.name == name), None)


def around(iops: float, count: int, spread: float, seed: int = 1) -> list[float]:
    random = Random(seed)
    return [max(0.0, random.gauss(iops, spread * iops)) for _ in range(count)]


TESTED = run(fio(read=direction(10_000)))


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.2])
def test_a_steady_disk_is_steady(spread: float) -> None:
    taken = samples(around(10_000, 120, spread))
    assert {finding.name for finding in find(TESTED, taken, ())} == set()


def test_a_wild_one_is_not() -> None:
    taken = samples([value for second in range(30) for value in [(3_000, 17_000, 9_000)[second % 3]] * 4])
    found = named("not-steady", TESTED, taken)
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence.startswith("from 3.00k to 17.0k IOPS from second to second, a spread of")


def test_intervals_of_a_quarter_second_may_differ_if_seconds_do_not() -> None:
    assert named("not-steady", TESTED, samples([4_000, 16_000, 4_000, 16_000] * 30)) is None


def test_a_hard_disk_varies_by_counting_alone() -> None:
    random = Random(3)
    slow = [4.0 * sum(random.random() < 0.5 for _ in range(4)) for _ in range(120)]
    assert named("not-steady", run(fio(read=direction(8))), samples(slow)) is None


def test_a_steady_fall_is_a_trend() -> None:
    taken = samples([12_000 - 30 * index for index in range(120)])
    found = named("not-steady", TESTED, taken)
    assert found is not None
    assert found.evidence.startswith("falling by")


def test_a_slight_drift_is_none() -> None:
    assert named("not-steady", TESTED, samples([10_000 + 5 * index for index in range(120)])) is None


def test_a_burst_that_ends_is_told_with_when_and_from_what_to_what() -> None:
    taken = samples(around(20_000, 40, 0.03) + around(5_000, 80, 0.03, seed=2))
    found = find(TESTED, taken, ())
    assert [finding.name for finding in found] == ["burst"]
    assert (
        found[0].evidence
        == "20.1k IOPS for the first 10 s, then 4.95k IOPS for 20 s; the burst was worth 151k I/Os beyond that speed"
    )


def test_a_limit_that_is_handed_out_in_slices_has_levels_too() -> None:
    """Slices of 0.1 s, of which an interval of 0.25 s holds two or three."""
    taken = samples([value for level in (4_000, 2_600) for value in (0.8 * level, 1.2 * level) * 8])
    (found,) = (one for one in find(TESTED, taken, ()) if one.name == "burst")
    assert (
        found.evidence
        == "4.00k IOPS for the first 4 s, then 2.60k IOPS for 26 s; the burst was worth 5.47k I/Os beyond that speed"
    )


BUSY = (
    *((306, 1200), (300, 1200), (205, 1118), (293, 882), (301, 1568), (300, 1200), (302, 1103), (298, 899)),
    *((304, 1230), (296, 1200), (299, 1200), (300, 1179), (220, 611), (300, 378), (300, 221), (308, 311)),
    *((290, 300), (300, 300), (212, 169), (298, 399), (296, 288), (300, 243), (304, 301), (266, 168)),
)
"""Intervals (ms, I/Os) of a volume whose limit fell from 4000 IOPS to 1000 after 3.5 s, on a machine whose timers rang late."""


def test_levels_are_those_of_the_limits_though_the_machine_was_busy() -> None:
    taken = []
    for milliseconds, ios in BUSY:
        (one,) = samples([ios * 1e3 / milliseconds], interval_s=milliseconds / 1e3)
        taken.append(replace(one, at_ns=one.at_ns + (taken[-1].at_ns if taken else 0)))
    found = named("burst", TESTED, tuple(taken))
    assert found is not None
    assert (
        found.evidence
        == "3.97k IOPS for the first 3.7 s, then 994 IOPS for 26 s; the burst was worth 11.0k I/Os beyond that speed"
    )


def test_a_stall_does_not_move_a_level() -> None:
    steady = [10_000.0] * 10
    found = named("burst", TESTED, samples([*steady, 0.0, *steady, *[4_000.0] * 12, 0.0, *[4_000.0] * 12]))
    assert found is not None
    assert (
        found.evidence
        == "10.0k IOPS for the first 5.2 s, then 4.00k IOPS for 25 s; the burst was worth 29.0k I/Os beyond that speed"
    )


def test_a_disk_that_becomes_faster_is_told_apart() -> None:
    found = find(TESTED, samples(around(5_000, 40, 0.03) + around(9_000, 80, 0.03)), ())
    assert [finding.name for finding in found] == ["late-start"]


@pytest.mark.parametrize(
    "iops",
    [
        around(10_000, 60, 0.03) + around(8_500, 60, 0.03),
        around(10_000, 115, 0.03) + [4_000.0] * 4,
        around(10_000, 57, 0.03) + [1_000.0] * 5 + around(10_000, 58, 0.03),
    ],
)
def test_a_small_step_a_short_end_and_a_short_dip_are_no_burst(iops: list[float]) -> None:
    assert named("burst", TESTED, samples(iops)) is None


def test_a_stall_is_told_with_how_long_and_when() -> None:
    taken = samples([10_000.0] * 20 + [0.0] * 8 + [10_000.0] * 60)
    found = named("stall", TESTED, taken)
    assert found is not None
    assert found.evidence == "once; the longest for 2 s, 5 s into the test"


def test_a_freeze_that_one_long_interval_covers_is_a_stall_too() -> None:
    taken = samples([10_000.0] * 40)
    frozen = tuple(
        replace(
            sample,
            at_ns=sample.at_ns + (3_000_000_000 if index >= 20 else 0),
            duration_ns=sample.duration_ns + (3_000_000_000 if index == 20 else 0),
        )
        for index, sample in enumerate(taken)
    )
    found = named("stall", TESTED, frozen)
    assert found is not None
    assert found.evidence == "once; the longest for 3 s, 5 s into the test"


def test_half_a_second_without_io_is_none() -> None:
    assert named("stall", TESTED, samples([10_000.0] * 20 + [0.0] * 2 + [10_000.0] * 60)) is None


def test_a_stall_at_the_end_counts_and_several_are_counted() -> None:
    taken = samples([10_000.0] * 20 + [0.0] * 4 + [10_000.0] * 20 + [0.0] * 6)
    found = named("stall", TESTED, taken)
    assert found is not None
    assert found.evidence == "2 times; the longest for 1.5 s, 11 s into the test"


def test_a_test_that_waits_by_itself_neither_stalls_nor_wavers() -> None:
    one = run(ioping("latency", read=direction(1, seconds=30)))
    taken = samples(([4.0] + [0.0] * 7) * 15)
    assert not {"stall", "not-steady", "burst"} & {finding.name for finding in find(one, taken, ())}
    limited = run(fio(options=("--rate_iops=1",), read=direction(1)))
    assert named("stall", limited, taken) is None


@pytest.mark.parametrize("option", ["--rate_iops=500", "--rate=2m", "--thinktime=1500"])
def test_a_rate_hides_no_stall(option: str) -> None:
    limited = run(fio(options=(option,), read=direction(500)))
    found = named("stall", limited, samples([500.0] * 20 + [0.0] * 20 + [500.0] * 60))
    assert found is not None
    assert found.evidence == "once; the longest for 5 s, 5 s into the test"


def test_large_blocks_that_end_together_through_a_narrow_limit_are_no_stall() -> None:
    """Four blocks of 4 MiB at once, at 5 MB/s."""
    taken = samples(([16.0] + [0.0] * 12) * 4, block=4 << 20)
    few = run(fio(block=4 << 20, depth=4, read=direction(16 / 13, seconds=13, block=4 << 20)))
    assert named("stall", few, taken) is None


def test_waiting_for_what_is_in_flight_at_the_end_is_no_stall() -> None:
    """64 reads at once through a limit of 50 IOPS: the last ones take 1.3 s, and fio says nothing meanwhile."""
    taken = samples([50.0] * 48)
    *_, last = samples([50.0] * 49)
    drained = (*taken, replace(last, at_ns=taken[-1].at_ns + 1_447_000_000, duration_ns=1_447_000_000, ios=5))
    deep = run(fio(depth=64, read=direction(50, seconds=13.4, figures=latency(1.27e9))))
    assert named("stall", deep, drained) is None
    hung = replace(drained[-1], at_ns=taken[-1].at_ns + 4_000_000_000, duration_ns=4_000_000_000)
    assert named("stall", deep, (*taken, hung)) is not None
    quick = run(fio(read=direction(50, seconds=13.4, figures=latency(20e6))))
    assert named("stall", quick, drained) is not None


def test_few_ios_hide_no_hang() -> None:
    """Eight blocks in two seconds, and none for twenty."""
    hung = run(fio(read=direction(8 / 22, seconds=22)))
    found = named("stall", hung, samples([4.0] * 8 + [0.0] * 80))
    assert found is not None
    assert found.evidence == "once; the longest for 20 s, 2 s into the test"


def test_one_job_that_rests_among_others_hides_no_stall() -> None:
    taken = samples([500.0] * 20 + [0.0] * 20 + [500.0] * 60)
    both = fio(options=("--thinktime=400000", "--name=second", "--rw=randread"), read=direction(500))
    jobs = (*both.planned.jobs, replace(both.planned.jobs[0], name="second"))
    assert named("stall", run(replace(both, planned=replace(both.planned, jobs=jobs))), taken) is not None


def test_a_rate_that_was_not_kept_is_told() -> None:
    def missed(iops: float, *options: str, **more: object) -> Finding | None:
        return named("rate-missed", run(fio(options=options, read=direction(iops, **more))))  # type: ignore[arg-type]

    found = missed(3_550, "--rate_iops=20000")
    assert found is not None and found.weight is Weight.DOUBT
    assert found.evidence == "20.0k reads/s requested, 3.55k done"
    found = missed(3_550, "--rate=64m")
    assert found is not None and found.evidence == "67.1 MB/s requested, 14.5 MB/s done"
    assert missed(19_200, "--rate_iops=20000") is None
    assert missed(3_550) is None
    assert missed(3_550, "--rate_iops=20000", "--thinktime=100") is None
    assert missed(3_550, "--rate_iops=20000", seconds=0.5) is None
    assert missed(8, "--rate_iops=10", seconds=10.0) is None


def test_rates_of_all_jobs_are_added_up_and_each_direction_has_its_own() -> None:
    done = {"read": direction(1_400), "write": direction(300)}
    found = named("rate-missed", run(fio(rw="randrw", numjobs=2, options=("--rate_iops=1000,150",), **done)))  # type: ignore[arg-type]
    assert found is not None
    assert found.evidence == "2.00k reads/s requested, 1.40k done"
    only = named("rate-missed", run(fio(rw="randrw", options=("--rate_iops=,1000",), **done)))  # type: ignore[arg-type]
    assert only is not None
    assert only.evidence == "1.00k writes/s requested, 300 done"


def test_short_tests_are_one_note_for_the_run() -> None:
    quick = run(*(fio(name, read=direction(9_000, seconds=4)) for name in "abcdef"))
    found = find(quick, (), ())
    assert [(finding.name, finding.weight) for finding in found] == [("too-short", Weight.NOTE)]
    assert found[0].evidence == "6 of 6 tests measured for 4 s"
    assert "use runtime=60s" in found[0].advice


def test_a_test_of_a_moment_did_not_take_no_time_at_all() -> None:
    tiny = fio(read=direction(1_000, seconds=0.042), amount=4 << 20)
    found = named("too-short", run(tiny))
    assert found is not None
    assert found.evidence == "the test measured for 42 ms"


def test_a_test_that_an_amount_ended_is_to_be_given_more() -> None:
    article = fio(read=direction(45_447, seconds=0.721), amount=128 << 20)
    found = named("too-short", run(article, parameters=(("size", "128m"), ("runtime", "30s"))))
    assert found is not None
    assert found.evidence == "the test measured for 0.7 s"
    assert "e.g. size=8g" in found.advice
    other = named("too-short", run(article, parameters=(("size", "1g"), ("runtime", "60s"))))
    assert other is not None
    assert "such as" not in other.advice


def test_ten_seconds_are_enough_and_a_cancelled_test_is_not_blamed() -> None:
    assert named("too-short", run(fio(read=direction(9_000, seconds=10)))) is None
    assert named("too-short", run(fio(read=direction(9_000, seconds=2), status=CANCELLED), status=CANCELLED)) is None
    assert named("too-short", run(ioping("latency", "-c", "5", read=direction(1, seconds=5)))) is None


def test_percentiles_of_a_handful_are_single_ios() -> None:
    found = named("few-ios", run(ioping("latency", "-c", "10", read=direction(1, seconds=10))))
    assert found is not None
    assert found.evidence == "10 reads"
    one = named("few-ios", run(ioping("latency", "-c", "2", read=direction(1, seconds=1))))
    assert one is not None and one.evidence == "1 read"
    assert named("few-ios", run(fio(read=direction(10, seconds=10)))) is None


def held_back(iops: float, depth: int, **more: object) -> Run:
    """A volume with a limit: one at a time it answers in 400 us."""
    wait = 1e9 * depth / iops
    return run(
        fio("qd1", read=direction(2_400, figures=latency(410_000, p50=400_000))),
        fio("deep", depth=depth, read=direction(iops, figures=latency(wait)), **more),  # type: ignore[arg-type]
    )


def flat(iops: float, spread: float = 0.005) -> tuple[Sample, ...]:
    return samples(around(iops, 120, spread), test=1)


def test_a_limit_shows_as_flat_iops_and_long_waits() -> None:
    found = named("iops-ceiling", held_back(5_000, 128), flat(5_000))
    assert found is not None
    assert found.weight is Weight.LIMIT
    assert found.evidence == (
        "a steady 5.00k IOPS at QD128: 128 / 5.00k IOPS = 25.6 ms, where one alone takes about 400 us"
    )


SLICES = (
    *(
        (316, 627),
        (300, 600),
        (248, 554),
        (296, 425),
        (299, 592),
        (300, 600),
        (205, 575),
        (298, 436),
        (300, 610),
        (300, 666),
    ),
    *(
        (204, 423),
        (296, 689),
        (299, 401),
        (301, 602),
        (201, 526),
        (303, 472),
        (200, 400),
        (296, 615),
        (299, 600),
        (304, 600),
    ),
    *((200, 400), (300, 600), (300, 600), (296, 585), (304, 615), (296, 600), (300, 585), (352, 599)),
)
"""Intervals (ms, I/Os) of a volume of 2000 IOPS on a busy machine: a second holds nine slices of the limit, ten, or eleven."""


def test_a_limit_that_is_handed_out_in_slices_is_a_ceiling() -> None:
    taken: list[Sample] = []
    for milliseconds, ios in SLICES:
        (one,) = samples([ios * 1e3 / milliseconds], interval_s=milliseconds / 1e3, test=1)
        taken.append(replace(one, at_ns=one.at_ns + (taken[-1].at_ns if taken else 0)))
    found = named("iops-ceiling", held_back(2_000, 16), tuple(taken))
    assert found is not None
    assert found.evidence.startswith("a steady 2.00k IOPS at QD16: 16 / 2.00k IOPS = 8.00 ms")


def test_a_limit_on_reads_and_writes_together_is_a_ceiling_too() -> None:
    wait, one = latency(1e9 * 64 / 5_000), latency(410_000, p50=400_000)
    alone = fio("qd1", rw="randrw", read=direction(1_700, figures=one), write=direction(700, figures=one))
    mixed = fio("mix", rw="randrw", depth=64, read=direction(3_500, figures=wait), write=direction(1_500, figures=wait))
    both = (*samples([3_500.0] * 120, test=1), *samples([1_500.0] * 120, test=1, way=Direction.WRITE))
    found = named("iops-ceiling", run(alone, mixed), both)
    assert found is not None
    assert found.evidence == (
        "a steady 5.00k IOPS at QD64: 64 / 5.00k IOPS = 12.8 ms, where one alone takes about 400 us"
    )


def test_a_disk_that_only_has_much_to_do_is_at_no_ceiling() -> None:
    assert named("iops-ceiling", held_back(60_000, 32), flat(60_000)) is None


def test_iops_that_vary_are_at_no_ceiling() -> None:
    assert named("iops-ceiling", held_back(5_000, 128), flat(5_000, 0.3)) is None


def test_a_stall_now_and_then_does_not_hide_a_ceiling() -> None:
    stalled = [0.0 if index % 40 < 4 else iops for index, iops in enumerate(around(5_000, 120, 0.001))]
    for whole in (5_000, 4_500):
        found = named("iops-ceiling", held_back(whole, 128), samples(stalled, test=1))
        assert found is not None
        assert found.evidence.startswith("a steady 5.00k IOPS at QD128: 128 / 5.00k IOPS = 25.6 ms")


def test_two_levels_are_no_ceiling() -> None:
    twofold = [5_000.0 if index % 24 < 16 else 4_500.0 for index in range(120)]
    assert named("iops-ceiling", held_back(4_900, 128), samples(twofold, test=1)) is None


def test_a_processor_or_an_own_rate_is_no_ceiling_of_the_disk() -> None:
    assert named("iops-ceiling", held_back(5_000, 128, cpu=(20.0, 79.0)), flat(5_000)) is None
    assert named("iops-ceiling", held_back(5_000, 128, options=("--rate_iops=5000",)), flat(5_000)) is None
    assert named("iops-ceiling", held_back(5_000, 128, options=("--rate_iops=20000",)), flat(5_000)) is not None


def test_a_queue_that_was_never_full_has_no_ceiling() -> None:
    idle = run(
        fio("qd1", read=direction(2_400, figures=latency(410_000, p50=400_000))),
        fio("deep", depth=128, read=direction(5_000, figures=latency(5e6))),
    )
    assert named("iops-ceiling", idle, flat(5_000)) is None


def test_a_hard_disk_has_nothing_to_spare() -> None:
    slow = run(
        fio("qd1", read=direction(110, figures=latency(9e6, p50=9e6))),
        fio("deep", depth=32, read=direction(300, figures=latency(32 / 300 * 1e9))),
        environment=on_disk(rotational=True),
    )
    assert named("iops-ceiling", slow, flat(300, 0.02)) is None


def alone(iops: float, depth: int, *latencies_ns: int, ramp: bool = False) -> Run:
    """A run of this test and no other, each latency as often as the others; of a device that may be anything."""
    histogram = Histogram.of_latencies(latencies_ns * 100) if latencies_ns else None
    mean = 1e9 * depth / iops
    made = run(fio(depth=depth, read=direction(iops, figures=latency(mean), histogram=histogram)))
    if not ramp:
        return made
    planned = replace(made.plan.tests[0], ramp_s=2.0)
    return replace(made, tests=(replace(made.tests[0], planned=planned),))


def fastest(run_of: Run, first_ns: int, later_ns: int) -> Finding | None:
    """What is found where this is the fastest I/O of the first interval and of each later one."""
    first, *later = samples(around(1_000, 120, 0.005))
    taken = (replace(first, min_ns=first_ns), *(replace(sample, min_ns=later_ns) for sample in later))
    return named("iops-ceiling", run_of, taken)


def test_what_one_takes_alone_is_never_assumed() -> None:
    steady = samples(around(1_000, 120, 0.005))
    for rotational in (False, True, None):
        only = replace(alone(1_000, 32), environment=on_disk(rotational=rotational))
        assert named("iops-ceiling", only, steady) is None


def test_a_device_that_takes_long_by_itself_is_at_no_ceiling() -> None:
    """Each I/O takes 10 ms and depth is free: from 8.45 to 13.8 ms with 8 at once, and as fast at the beginning as later."""
    slow = alone(658, 8, 8_450_000, 11_500_000, 11_500_000, 13_800_000)
    taken = tuple(replace(sample, min_ns=8_450_000) for sample in samples(around(658, 120, 0.005)))
    assert named("iops-ceiling", slow, taken) is None


def test_a_hundredth_that_passed_at_once_shows_a_limit_in_slices() -> None:
    found = fastest(alone(1_000, 32, *[90_000] * 4, *[62_000_000] * 4), 80_000, 80_000)
    assert found is not None
    assert found.evidence == (
        "a steady 1.00k IOPS at QD32: 32 / 1.00k IOPS = 32.0 ms, where the fastest hundredth took about 89.6 us"
    )


def test_the_first_io_had_no_queue_yet() -> None:
    narrow = (30_000_000, 32_000_000, 34_000_000)
    found = fastest(alone(1_000, 32, *narrow), 400_000, 30_000_000)
    assert found is not None
    assert found.evidence.endswith("= 32.0 ms, where the first took 400 us")
    platters = replace(alone(1_000, 32, *narrow), environment=on_disk(rotational=True, transport=Transport.SATA))
    assert fastest(platters, 400_000, 30_000_000) is None, "it may have been the drive's cache"


@pytest.mark.parametrize(("first", "later", "ramp"), [(400_000, 500_000, False), (400_000, 30_000_000, True)])
def test_what_is_fast_now_and_then_is_a_caches_and_after_a_ramp_the_queue_is_full(
    first: int, later: int, ramp: bool
) -> None:
    assert fastest(alone(1_000, 32, 30_000_000, 32_000_000, ramp=ramp), first, later) is None


def test_large_blocks_meet_a_limit_of_bandwidth() -> None:
    block, iops = 1 << 20, 200.0
    wide = run(
        fio("qd1", block=block, read=direction(150, block=block, figures=latency(4e6, p50=4e6))),
        fio("deep", depth=32, block=block, read=direction(iops, block=block, figures=latency(32 / iops * 1e9))),
    )
    found = named("bandwidth-ceiling", wide, flat(iops, 0.001))
    assert found is not None
    assert "a steady 210 MB/s at QD32" in found.evidence


def test_short_trials_are_told_how_the_search_may_be_longer() -> None:
    short = fio(read=direction(9_000, seconds=4), runtime_s=4)
    trial = replace(short, planned=replace(short.planned, trial=Trial(64)))
    parameters = {"runtime": "30s", "full": "60s", "at_most": "10m"}
    found = named("too-short", run(trial, parameters=(("runtime", "4s"), ("full", "9s"), ("at_most", "90s"))))
    assert found and all(f"{name}={value}" in found.advice for name, value in parameters.items())
    limit = library_for("limit").get("limit")
    assert resolve(limit, parameters).limit
    with pytest.raises(UsageError, match="full trials are shorter"):
        resolve(limit, {"runtime": "60s"})
