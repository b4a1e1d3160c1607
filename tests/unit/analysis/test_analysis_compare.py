"""Runs side by side: the table of two hosts, gaps, noise, and what differs in the conditions."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from handmade import ENVIRONMENT, GIB, direction, environment, fio, ioping, latency, on_disk, run, samples
from msgspec.structs import replace

from diskprof.analysis.comparison import ComparedValue, Comparison, compare, labels
from diskprof.analysis.conditions import Condition
from diskprof.analysis.metrics import Measure
from diskprof.analysis.score import scores
from diskprof.model.histogram import Histogram
from diskprof.model.metric import Change
from diskprof.model.preset import Category
from diskprof.model.run import Run, Status
from diskprof.model.sample import Direction, LatencyKind, Sample
from diskprof.reports import figures

FAST, SLOW = 100_000, 600_000


def host(name: str, *, iops: float, mean_us: float, within: float, cpu: tuple[float, float]) -> Run:
    """A host of the article: random reads of 4 KiB, 8 at once."""
    total = 32_768
    fast = round(total * within)
    histogram = Histogram.of_latencies([FAST] * fast + [SLOW] * (total - fast))
    read = direction(iops, seconds=total / iops, figures=latency(mean_us * 1e3), histogram=histogram)
    return run(fio("randread-qd8", depth=8, read=read, cpu=cpu), run_id=name, environment=environment(hostname=name))


DIGITAL_OCEAN = host("do", iops=15_596, mean_us=476.55, within=0.1526, cpu=(9.52, 53.33))
LINODE = host("linode", iops=45_447, mean_us=162.13, within=0.925, cpu=(23.47, 56.39))


def cell(comparison: Comparison, metric: Measure, column: int = 1, way: Direction = Direction.READ) -> ComparedValue:
    row = comparison.tests[0].row(metric, way)
    assert row is not None
    return row.cells[column]


def test_the_table_of_the_two_hosts() -> None:
    comparison = compare((DIGITAL_OCEAN, LINODE))
    iops, mean = cell(comparison, Measure.IOPS), cell(comparison, Measure.LATENCY_MEAN)
    within, cpu = cell(comparison, Measure.WITHIN), cell(comparison, Measure.CPU)
    assert (iops.verdict, mean.verdict, within.verdict) == (Change.BETTER,) * 3
    assert iops.ratio == pytest.approx(45_447 / 15_596 - 1)
    assert mean.ratio == pytest.approx(162.13 / 476.55 - 1)
    assert within.value == pytest.approx(0.925, abs=1e-4)
    assert within.difference == pytest.approx(0.925 - 0.1526, abs=1e-4)
    assert cpu.value == pytest.approx(0.7986)
    assert cpu.verdict is None
    assert [column.label for column in comparison.columns] == ["do", "linode"]


def test_the_first_run_is_compared_with_nothing() -> None:
    comparison = compare((DIGITAL_OCEAN, LINODE))
    for row in comparison.tests[0].rows:
        assert (row.cells[0].difference, row.cells[0].ratio, row.cells[0].verdict) == (None, None, None)


def test_the_other_way_round_the_verdicts_turn_too() -> None:
    there, back = compare((DIGITAL_OCEAN, LINODE)), compare((LINODE, DIGITAL_OCEAN))
    turned = {Change.BETTER: Change.WORSE, Change.WORSE: Change.BETTER, Change.SAME: Change.SAME, None: None}
    for one, other in zip(there.tests[0].rows, back.tests[0].rows, strict=True):
        assert other.cells[1].verdict is turned[one.cells[1].verdict]


@pytest.mark.parametrize(
    ("iops", "verdict"),
    [(10_150, Change.SAME), (9_850, Change.SAME), (10_300, Change.BETTER), (9_700, Change.WORSE)],
)
def test_without_samples_two_percent_are_noise(iops: float, verdict: Change) -> None:
    base, other = (run(fio(read=direction(value)), run_id=str(value)) for value in (10_000.0, iops))
    assert cell(compare((base, other)), Measure.IOPS).verdict is verdict


def test_the_spread_of_the_intervals_is_noise_where_it_is_given() -> None:
    base, other = (run(fio(read=direction(value)), run_id=str(int(value))) for value in (10_000.0, 10_600.0))
    wild = samples([5_000, 15_000] * 20)
    steady = samples([10_000] * 40)
    assert cell(compare((base, other), {"10000": steady, "10600": steady}), Measure.IOPS).verdict is Change.BETTER
    assert cell(compare((base, other), {"10000": wild, "10600": wild}), Measure.IOPS).verdict is Change.UNCLEAR


def test_two_maxima_are_rarely_the_same_and_rarely_better() -> None:
    def of(maximum: float) -> Run:
        return run(fio(read=direction(10_000, figures=latency(1e5, max=maximum))), run_id=str(maximum))

    noisy = tuple(replace(sample, max_ns=100_000 * (1 + index % 5)) for index, sample in enumerate(samples([9e3] * 40)))
    base, near, far = of(1e6), of(1.2e6), of(1.9e6)
    taken = {one.id: noisy for one in (base, near, far)}
    comparison = compare((base, near, far), taken)
    assert cell(comparison, Measure.LATENCY_MAX, 1).verdict is Change.UNCLEAR
    assert cell(comparison, Measure.LATENCY_MAX, 2).verdict is Change.UNCLEAR
    assert cell(compare((base, near)), Measure.LATENCY_MAX).verdict is Change.SAME
    assert cell(compare((base, far)), Measure.LATENCY_MAX).verdict is Change.WORSE


def test_a_tail_needs_more_than_an_average_to_be_better() -> None:
    def of(p99: float) -> Run:
        return run(fio(read=direction(10_000, figures=latency(1e5, p99=p99))), run_id=str(p99))

    base, near, far = of(1e6), of(1.09e6), of(1.3e6)
    assert cell(compare((base, near)), Measure.LATENCY_P99).verdict is Change.SAME
    assert cell(compare((base, far)), Measure.LATENCY_P99).verdict is Change.WORSE
    dips = tuple(taken for index in range(40) for taken in samples([9e3], mean_ns=3e5 if index % 10 == 0 else 1e5))
    moved = tuple(replace(sample, at_ns=250_000_000 * (index + 1)) for index, sample in enumerate(dips))
    assert cell(compare((base, far), {base.id: moved, far.id: moved}), Measure.LATENCY_P99).verdict is Change.UNCLEAR


def test_a_percentile_with_hardly_an_io_beyond_it_is_not_judged() -> None:
    base = run(fio(read=direction(100, seconds=5)), run_id="a")
    other = run(fio(read=direction(50, seconds=10)), run_id="b")
    comparison = compare((base, other))
    assert cell(comparison, Measure.LATENCY_P50).verdict is Change.WORSE
    assert cell(comparison, Measure.LATENCY_P99).verdict is None
    assert cell(comparison, Measure.LATENCY_P99).ratio == pytest.approx(1)


def test_shares_are_the_same_within_a_percentage_point() -> None:
    base = host("a", iops=1000, mean_us=200, within=0.90, cpu=(1, 1))
    assert cell(
        compare((base, host("b", iops=1000, mean_us=200, within=0.905, cpu=(1, 1)))), Measure.WITHIN
    ).verdict is (Change.SAME)
    none = host("c", iops=1000, mean_us=200, within=0, cpu=(1, 1))
    found = cell(compare((none, base)), Measure.WITHIN)
    assert (found.verdict, found.ratio) == (Change.BETTER, None)


def test_a_share_is_noise_by_the_spread_of_its_intervals() -> None:
    """A volume that hands out I/Os in slices: 36 to 42% within 250 us from one run to the next, by chance."""
    base, other = (
        host(name, iops=1000, mean_us=200, within=share, cpu=(1, 1)) for name, share in (("a", 0.4), ("b", 0.43))
    )
    means = [1e5 if at % 5 < 2 else 1e6 for at in range(60)]
    wavering = tuple(
        replace(samples([1000], mean_ns=mean)[0], at_ns=250_000_000 * at) for at, mean in enumerate(means, start=1)
    )
    found = cell(compare((base, other), {"a": wavering, "b": wavering}), Measure.WITHIN)
    assert (found.verdict, figures.verdict(found)) == (Change.UNCLEAR, "cannot tell")
    assert cell(compare((base, other)), Measure.WITHIN).verdict is Change.BETTER


def test_a_share_of_few_ios_is_no_surer_than_as_many_throws_of_a_coin() -> None:
    def of(fast: int, total: int) -> Run:
        histogram = Histogram.of_latencies([FAST] * fast + [SLOW] * (total - fast))
        return run(fio(read=direction(total / 30, histogram=histogram)), run_id=str(fast))

    assert cell(compare((of(40, 100), of(50, 100))), Measure.WITHIN).verdict is Change.UNCLEAR
    assert cell(compare((of(4000, 10_000), of(5000, 10_000))), Measure.WITHIN).verdict is Change.BETTER


def test_the_threshold_can_be_another() -> None:
    found = cell(compare((DIGITAL_OCEAN, LINODE), within_ns=1_000_000), Measure.WITHIN)
    assert (found.value, found.verdict) == (1.0, Change.SAME)


def test_a_base_of_zero_gives_no_ratio() -> None:
    base = run(fio(read=direction(100, figures=latency(0.0)), cpu=(0.0, 0.0)), run_id="a")
    other = run(fio(read=direction(100, figures=latency(10.0)), cpu=(1.0, 1.0)), run_id="b")
    comparison = compare((base, other))
    for metric in (Measure.LATENCY_MEAN, Measure.CPU):
        assert cell(comparison, metric).ratio is None
    assert cell(comparison, Measure.LATENCY_MEAN).verdict is Change.WORSE
    assert cell(compare((base, replace(base, id="c"))), Measure.LATENCY_MEAN).verdict is Change.SAME


def test_what_is_not_a_number_is_not_there() -> None:
    base = run(fio(read=direction(100, figures=latency(float("nan")))), run_id="a")
    comparison = compare((base, replace(base, id="b")))
    assert comparison.tests[0].row(Measure.LATENCY_MEAN) is None
    assert cell(comparison, Measure.IOPS).verdict is Change.SAME


def test_clat_is_not_judged_by_lat() -> None:
    """An older fio tells of clat alone: 122 us of an I/O pass in the call, and 2 us are left for it."""
    whole = run(fio(read=direction(8_000, figures=latency(122e3))), run_id="a")
    part = replace(direction(8_000, figures=latency(2.3e3)), latency_kind=LatencyKind.CLAT)
    comparison = compare((whole, run(fio(read=part), run_id="b")))
    for metric in (Measure.LATENCY_MEAN, Measure.LATENCY_P99):
        found = cell(comparison, metric)
        assert found.value and found.verdict is None
    assert cell(comparison, Measure.IOPS).verdict is Change.SAME
    assert Condition("latency", ("lat", "clat")) in comparison.conditions
    alike = compare((run(fio(read=part), run_id="a"), run(fio(read=part), run_id="b")))
    assert cell(alike, Measure.LATENCY_MEAN).verdict is Change.SAME


def test_a_test_that_only_some_runs_have_stays_with_gaps() -> None:
    both = run(fio("a", read=direction(100)), fio("b", read=direction(50)), run_id="x")
    one = run(fio("b", read=direction(60)), fio("c", read=direction(70)), run_id="y")
    comparison = compare((both, one))
    assert [test.name for test in comparison.tests] == ["a", "b", "c"]
    assert [test.statuses for test in comparison.tests] == [
        (Status.COMPLETE, None),
        (Status.COMPLETE, Status.COMPLETE),
        (None, Status.COMPLETE),
    ]
    alone, missing = comparison.tests[0].row(Measure.IOPS), comparison.tests[2].row(Measure.IOPS)
    assert alone is not None
    assert missing is not None
    assert alone.cells == (ComparedValue(100.0, values=(100.0,)), ComparedValue())
    assert missing.cells == (ComparedValue(), ComparedValue(70.0, values=(70.0,)))


def test_a_test_without_results_has_no_rows() -> None:
    failed = run(fio("a", status=Status.FAILED), run_id="x", status=Status.FAILED)
    comparison = compare((failed, replace(failed, id="y")))
    assert comparison.tests[0].rows == ()
    assert comparison.tests[0].statuses == (Status.FAILED, Status.FAILED)


def test_directions_stay_apart() -> None:
    mixed = run(fio("m", rw="randrw", read=direction(700), write=direction(300)), run_id="x")
    slower = run(fio("m", rw="randrw", read=direction(700), write=direction(100)), run_id="y")
    comparison = compare((mixed, slower))
    assert comparison.tests[0].directions == (Direction.READ, Direction.WRITE)
    assert cell(comparison, Measure.IOPS, way=Direction.READ).verdict is Change.SAME
    assert cell(comparison, Measure.IOPS, way=Direction.WRITE).verdict is Change.WORSE


def test_ioping_without_a_distribution_has_fewer_rows() -> None:
    read = direction(
        8_725, seconds=3, figures=replace(latency(1e5), p50=None, p90=None, p95=None, p99=None, p99_9=None)
    )
    one = run(ioping("seek", "-R", "-D", read=read), run_id="x")
    metrics = [row.metric for row in compare((one, replace(one, id="y"))).tests[0].rows]
    assert metrics == [Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN, Measure.LATENCY_MAX]


def pinged(run_id: str, means_us: Sequence[float], *options: str, block: int = 4096) -> tuple[Run, tuple[Sample, ...]]:
    """An ioping test with a pause, and an interval for each of its requests, of these times."""
    mean = sum(means_us) / len(means_us) * 1e3
    read = replace(direction(1e9 / mean, seconds=1, block=block, figures=latency(mean)), ios=len(means_us))
    taken = tuple(
        replace(one, at_ns=200_000_000 * index, mean_ns=value * 1e3)
        for index, (one, value) in enumerate(zip(samples([5] * len(means_us), interval_s=0.2), means_us, strict=True))
    )
    return run(ioping("latency", "-i", "0.2", "-s", str(block), *options, read=read), run_id=run_id), taken


def judged(
    first: tuple[Run, tuple[Sample, ...]], other: tuple[Run, tuple[Sample, ...]]
) -> dict[Measure, Change | None]:
    comparison = compare((first[0], other[0]), {first[0].id: first[1], other[0].id: other[1]})
    return {row.metric: row.cells[1].verdict for row in comparison.tests[0].rows}


RATES = (Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN)


@pytest.mark.parametrize(("usual", "verdict"), [([290, 310] * 10, Change.WORSE), ([90] * 19 + [2300], Change.UNCLEAR)])
def test_iopings_iops_are_of_its_mean_and_have_its_verdict(usual: list[float], verdict: Change) -> None:
    """One request that takes 25 times as long: the pace of the intervals is steady, what they tell of is not."""
    found = judged(pinged("a", [95, 105] * 10), pinged("b", usual))
    assert [found[metric] for metric in RATES] == [verdict] * 3
    back = judged(pinged("b", usual), pinged("a", [95, 105] * 10))
    turned = {Change.WORSE: Change.BETTER, Change.UNCLEAR: Change.UNCLEAR}[verdict]
    assert [back[metric] for metric in RATES] == [turned] * 3


def test_bandwidth_of_other_blocks_is_another_figure() -> None:
    found = judged(pinged("a", [95, 105] * 10), pinged("b", [145, 155] * 10, block=16384))
    assert [found[metric] for metric in RATES] == [Change.WORSE, Change.BETTER, Change.WORSE]


def test_at_one_block_size_iops_and_bandwidth_have_one_verdict() -> None:
    """fio rounds each by itself."""
    base, near = direction(10_000.0), replace(direction(10_201.9), bandwidth_bytes_per_s=10_203.0 * 4096)
    runs = run(fio(read=base), run_id="a"), run(fio(read=near), run_id="b")
    verdicts = {cell(compare(runs), metric).verdict for metric in (Measure.IOPS, Measure.BANDWIDTH)}
    assert verdicts == {Change.SAME}
    large = run(fio(block=8192, read=direction(10_000.0, block=8192)), run_id="c")
    assert cell(compare((runs[0], large)), Measure.IOPS).verdict is Change.SAME
    assert cell(compare((runs[0], large)), Measure.BANDWIDTH).verdict is Change.BETTER


@pytest.mark.parametrize(("count", "told"), [(2, False), (9, False), (10, True)])
def test_two_requests_prove_nothing(count: int, told: bool) -> None:
    found = judged(pinged("a", [100] * 50), pinged("b", [300] * count))
    assert {found[metric] is not None for metric in RATES} == {told}
    few = replace(direction(5, figures=latency(2e8)), ios=count)
    comparison = compare((run(fio(read=direction(100)), run_id="a"), run(fio(read=few), run_id="b")))
    iops = cell(comparison, Measure.IOPS)
    assert iops.ratio is not None and (iops.verdict is not None) is told


def test_a_share_of_two_requests_is_none() -> None:
    fast, slow = (replace(direction(5), ios=2, histogram=Histogram.of_latencies([ns, ns])) for ns in (100_000, 900_000))
    runs = run(fio(read=slow), run_id="a"), run(fio(read=fast), run_id="b")
    assert cell(compare(runs), Measure.WITHIN).difference == 1.0
    assert cell(compare(runs), Measure.WITHIN).verdict is None


def test_conditions_that_differ_are_named_in_order() -> None:
    base = run(fio(read=direction(100)), run_id="x")
    other = run(
        fio(read=direction(100)),
        run_id="y",
        environment=replace(
            on_disk(model="Other 2000", scheduler="mq-deadline"),
            kernel="5.15",
            fio_version="3.28",
            memory_bytes=8 * GIB,
        ),
        parameters=(("size", "1g"), ("runtime", "60s")),
    )
    conditions = {condition.name: condition.values for condition in compare((base, other)).conditions}
    assert list(conditions) == ["device model", "scheduler", "kernel", "memory", "fio version", "parameter runtime"]
    assert conditions["scheduler"] == ("none", "mq-deadline")
    assert conditions["memory"] == ("16 GiB", "8 GiB")
    assert conditions["parameter runtime"] == ("30s", "60s")


def test_the_same_conditions_are_not_named() -> None:
    one = run(fio(read=direction(100)), run_id="x")
    assert compare((one, replace(one, id="y"))).conditions == ()


def test_the_disk_below_a_partition_counts_for_model_and_scheduler() -> None:
    disk = on_disk(model="Seen").disks[0]
    part = replace(disk, name="nvme0n1p1", model="", scheduler="", parents=("nvme0n1",))
    base = run(fio(read=direction(1)), run_id="x", environment=replace(ENVIRONMENT, device=part, disks=(disk,)))
    other = run(fio(read=direction(1)), run_id="y")
    conditions = {condition.name: condition.values for condition in compare((base, other)).conditions}
    assert conditions["device model"] == ("Seen", "Example 1000")
    assert "scheduler" not in conditions


def test_options_that_differ_belong_to_their_test() -> None:
    base = run(fio("a", read=direction(1)), fio("b", read=direction(1)), run_id="x")
    other = run(fio("a", depth=8, read=direction(1)), fio("b", read=direction(1)), run_id="y")
    first, second = compare((base, other)).tests
    assert [(option.option, option.values) for option in first.options] == [("iodepth", ("1", "8"))]
    assert second.options == ()


def test_an_option_that_differs_in_every_test_is_told_once() -> None:
    base = run(fio("a", read=direction(1)), fio("b", read=direction(1)), run_id="x")
    other = run(*(fio(name, block=8192, read=direction(1)) for name in "ab"), run_id="y")
    comparison = compare((base, other))
    assert all(test.options == () for test in comparison.tests)
    assert [(one.name, one.values) for one in comparison.conditions] == [("option bs", ("4096", "8192"))]


def test_an_option_that_a_parameter_tells_of_is_not_told_twice() -> None:
    base = run(*(fio(name, read=direction(1)) for name in "ab"), run_id="x")
    other = run(
        *(fio(name, runtime_s=60, read=direction(1)) for name in "ab"),
        run_id="y",
        parameters=(("size", "1g"), ("runtime", "60s")),
    )
    assert [one.name for one in compare((base, other)).conditions] == ["parameter runtime"]


def test_the_place_of_the_test_file_is_no_difference() -> None:
    base = run(fio("a", options=("--filename=/mnt/data/.diskprof-2/test.dat",), read=direction(1)), run_id="x")
    other = run(fio("a", read=direction(1)), run_id="y")
    assert compare((base, other)).tests[0].options == ()


def test_labels_are_what_tells_the_runs_apart() -> None:
    one = run(run_id="x", tags=("before", "t"))
    two = run(run_id="y", tags=("after",))
    assert labels((one, two)) == ("before", "after")
    assert labels((one, replace(two, tags=("before",)))) == ("x", "y")
    elsewhere = replace(two, tags=(), environment=environment(hostname="db-02"))
    assert labels((one, elsewhere)) == ("db-01", "db-02")
    assert labels((one, replace(two, tags=(), environment=on_disk(model="Other")))) == ("Example 1000", "Other")
    assert labels((one, one)) == ("x (1)", "x (2)")
    untagged = replace(two, tags=(), started_at=two.started_at + timedelta(hours=1))
    assert labels((one, untagged)) == ("before", f"own {untagged.started_at:%m-%d %H:%M}")


def test_three_runs_are_each_held_against_the_first() -> None:
    runs = [run(fio(read=direction(value)), run_id=str(value)) for value in (100.0, 200.0, 50.0)]
    row = compare(runs).tests[0].row(Measure.IOPS, Direction.READ)
    assert row is not None
    assert [found.ratio for found in row.cells] == [None, pytest.approx(1.0), pytest.approx(-0.5)]


def test_one_run_alone_is_a_comparison_without_differences() -> None:
    comparison = compare((LINODE,))
    assert comparison.conditions == ()
    assert all(len(row.cells) == 1 for row in comparison.tests[0].rows)


def test_nothing_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="nothing"):
        compare(())


def synced(run_id: str, mean_ns: float = 1e6, p99_ns: float = 5e6, *options: str, iops: float = 800) -> Run:
    """A log whose writes are each followed by a sync of this latency, unless `options` say otherwise."""
    told = run(fio("wal", rw="write", write=direction(iops), options=options or ("--fdatasync=1",)), run_id=run_id)
    (test,) = told.tests
    assert test.result
    sync = latency(mean_ns, p99=p99_ns)
    return replace(told, tests=(replace(test, result=replace(test.result, sync=sync)),))


def sync_cell(comparison: Comparison, metric: Measure) -> ComparedValue:
    row = comparison.tests[0].row(metric)
    assert row is not None
    assert row.direction is None
    return row.cells[1]


def test_the_latency_of_fsync_is_compared_too() -> None:
    comparison = compare((synced("a"), synced("b", 1.5e6, 9e6)))
    mean, p99 = (sync_cell(comparison, metric) for metric in (Measure.SYNC_MEAN, Measure.SYNC_P99))
    assert (mean.value, mean.ratio, mean.verdict) == (1.5e6, 0.5, Change.WORSE)
    assert (p99.value, p99.ratio, p99.verdict) == (9e6, 0.8, Change.WORSE)
    assert sync_cell(compare((synced("a"), synced("b", 1.015e6))), Measure.SYNC_MEAN).verdict is Change.SAME
    assert sync_cell(compare((synced("a"), synced("b", 1e6, 5.4e6))), Measure.SYNC_P99).verdict is Change.SAME


def test_without_a_sync_there_is_no_row_of_one() -> None:
    plain = run(fio("wal", rw="write", write=direction(800)), run_id="a")
    assert compare((plain, replace(plain, id="b"))).tests[0].row(Measure.SYNC_MEAN) is None
    (gap,) = compare((plain, synced("b"))).tests
    row = gap.row(Measure.SYNC_MEAN)
    assert row is not None
    assert [(one.value, one.verdict) for one in row.cells] == [(None, None), (1e6, None)]


def test_an_unsteady_log_has_noise_in_its_syncs() -> None:
    base, other = synced("a"), synced("b", 1.06e6, 5.6e6)
    for rates, tails, mean, p99 in (
        ([400, 1200], [1, 1], Change.UNCLEAR, Change.WORSE),
        ([800, 800], [1, 9], Change.WORSE, Change.UNCLEAR),
        ([800, 800], [1, 1], Change.WORSE, Change.WORSE),
    ):
        taken = tuple(
            replace(one, histogram=Histogram.of_latencies([100_000 * tails[index % 2]] * 50))
            for index, one in enumerate(samples(rates * 20, way=Direction.WRITE))
        )
        comparison = compare((base, other), {"a": taken, "b": taken})
        assert sync_cell(comparison, Measure.SYNC_MEAN).verdict is mean
        assert sync_cell(comparison, Measure.SYNC_P99).verdict is p99


def test_few_syncs_have_no_tail_to_judge() -> None:
    # 24,000 writes are 750 syncs: seven lie beyond p99.
    base, other = (synced(name, 1e6, p99, "--fsync=32") for name, p99 in (("a", 5e6), ("b", 9e6)))
    comparison = compare((base, other))
    assert sync_cell(comparison, Measure.SYNC_P99).verdict is None
    assert sync_cell(comparison, Measure.SYNC_P99).ratio == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("options", "metric"),
    [(("--fdatasync=1",), Measure.SYNC_MEAN), (("--fsync=1",), Measure.SYNC_MEAN), (("--fsync=32",), Measure.IOPS)],
)
def test_a_log_that_syncs_each_write_is_judged_by_its_syncs(options: tuple[str, ...], metric: Measure) -> None:
    comparison = compare((synced("a", 1e6, 5e6, *options), synced("b", 1e6, 5e6, *options)))
    assert comparison.tests[0].leading is metric


def test_a_log_is_judged_by_iops_where_a_run_does_not_tell_of_its_syncs() -> None:
    silent = run(fio("wal", rw="write", write=direction(800), options=("--fdatasync=1",)), run_id="a")
    assert compare((silent, synced("b"))).tests[0].leading is Measure.IOPS
    assert compare((run(ioping(read=direction(1))),)).tests[0].leading is Measure.LATENCY_MEAN


def test_a_run_that_is_for_a_latency_is_judged_by_it() -> None:
    tested = run(fio(read=direction(800)), run_id="a")
    assert compare((tested,)).tests[0].leading is Measure.IOPS
    of_latency = replace(tested, plan=replace(tested.plan, category=Category.LATENCY))
    assert compare((of_latency,)).tests[0].leading is Measure.LATENCY_MEAN
    assert [score.measure for score in scores(of_latency)] == [Measure.LATENCY_MEAN]
    # What one is judged by is told of both.
    assert compare((of_latency, replace(tested, id="b"))).tests[0].leading is Measure.IOPS


GROUPED = ("--group_reporting=1",)


@pytest.mark.parametrize(
    ("base", "other", "told"),
    [
        # Added up over four jobs, and of one of them on average: not a figure of the same.
        ((4, ()), (4, GROUPED), False),
        ((4, GROUPED), (8, ()), False),
        ((4, GROUPED), (8, GROUPED), True),
        ((4, ()), (8, ()), True),
        ((1, ()), (4, GROUPED), True),
        ((4, ()), (1, GROUPED), True),
    ],
)
def test_cpu_use_is_compared_where_it_is_of_the_same(
    base: tuple[int, tuple[str, ...]], other: tuple[int, tuple[str, ...]], *, told: bool
) -> None:
    def of(name: str, numjobs: int, options: tuple[str, ...]) -> Run:
        return run(fio(numjobs=numjobs, options=options, read=direction(100), cpu=(20.0, 40.0)), run_id=name)

    row = compare((of("a", *base), of("b", *other))).tests[0].row(Measure.CPU)
    assert row is not None
    assert row.cells[0].value == pytest.approx(0.6)
    assert row.cells[1] == (
        ComparedValue(row.cells[0].value, 0.0, 0.0, values=row.cells[0].values) if told else ComparedValue()
    )


def test_cpu_use_of_several_groups_is_no_average_of_all_jobs() -> None:
    groups = (*GROUPED, "--name=more", "--numjobs=4", "--new_group=1", *GROUPED)
    two = run(fio(numjobs=4, options=groups, read=direction(100)), run_id="a")
    (test,) = two.tests
    assert [job.name for job in test.planned.jobs] == ["randread", "more"]
    row = compare((two, replace(two, id="b"), run(fio(read=direction(100)), run_id="c"))).tests[0].row(Measure.CPU)
    assert row is not None
    assert [one.value is not None for one in row.cells] == [True, True, False]
