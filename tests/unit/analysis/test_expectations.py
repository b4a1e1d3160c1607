"""Promises: read, computed, kept or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from recorded import write_library

from diskprof.analysis.expectations import judge, measure, missed, parse_expectation
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.expectation import Expectation, Formula, Operator, Verdict
from diskprof.model.metric import Quantity, format_value, parse_metric, parse_value
from diskprof.model.run import Run, Status
from diskprof.store import Store


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("store") / "runs.db"
    write_library(path)
    with Store.open(path) as store:
        return next(
            store.run(summary.id)
            for summary in store.summaries()
            if summary.preset == "quick" and summary.status is Status.COMPLETE
        )


def judged(run: Run, *texts: str, seconds: float = 0.0) -> list[Verdict]:
    expectations = tuple(replace(parse_expectation(text), seconds=seconds) for text in texts)
    return [judgement.verdict for judgement in judge(replace(run, plan=replace(run.plan, expectations=expectations)))]


def test_a_promise_is_met_or_missed_by_the_figures_of_the_result(run: Run) -> None:
    read = run.tests[0].result
    assert read and read.read
    iops = read.read.iops
    verdicts = judged(
        run,
        f"randread-4k-qd1.read.iops>={iops / 2:.3f}",
        f"randread-4k-qd1.read.iops>={iops * 2:.3f}",
        "randread-4k-qd1.read.latency.p99<10s",
        "randread-4k-qd1.read.latency.p99<1ns",
        "randread-4k-qd1.write.iops>=1",
        "no-such-test.read.iops>=1",
        "randread-4k-qd1.read.within.10s>=99.9%",
        "randread-4k-qd1.sync.latency.p99<10ms",
    )
    unmeasured = Verdict.UNMEASURED
    assert verdicts == [
        *(Verdict.MET, Verdict.MISSED, Verdict.MET, Verdict.MISSED),
        *(unmeasured, unmeasured, Verdict.MET, unmeasured),
    ]


def test_a_short_run_cannot_show_that_a_promise_is_kept_but_that_it_is_not(run: Run) -> None:
    kept, broken = "randread-4k-qd1.read.iops>=1", "randread-4k-qd1.read.iops>=1000000000"
    assert judged(run, kept, broken, seconds=60) == [Verdict.TOO_SHORT, Verdict.MISSED]


def with_first(run: Run, status: Status = Status.COMPLETE, runtime_ms: float | None = None) -> Run:
    """The run with a first test that ended like this, having measured for so long."""
    first, *others = run.tests
    assert first.result and first.result.read
    read = first.result.read if runtime_ms is None else replace(first.result.read, runtime_ms=runtime_ms)
    return replace(run, tests=(replace(first, status=status, result=replace(first.result, read=read)), *others))


def test_what_measured_for_no_time_shows_nothing(run: Run) -> None:
    promises = (
        "randread-4k-qd1.read.iops>=1",
        "randread-4k-qd1.read.iops>=1000000000",
        "randread-4k-qd1.read.latency.p99<1s",
    )
    assert judged(with_first(run, runtime_ms=0.0), *promises) == [Verdict.TOO_SHORT] * 3


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.FAILED, Status.INTERRUPTED])
def test_a_test_that_was_broken_off_shows_no_promise_to_be_kept(run: Run, status: Status) -> None:
    kept, broken = "randread-4k-qd1.read.iops>=1", "randread-4k-qd1.read.iops>=1000000000"
    assert judged(with_first(run, status), kept, broken) == [Verdict.TOO_SHORT, Verdict.MISSED]
    # What the promise asks for was measured before that.
    assert judged(with_first(run, status, 12_000), kept, broken, seconds=10) == [Verdict.MET, Verdict.MISSED]


def test_no_percentile_is_above_the_maximum(run: Run) -> None:
    first, *others = run.tests
    assert first.result and first.result.read
    latency = replace(first.result.read.latency, p99=1_010_000, p99_9=1_020_000, max=1_000_000)
    read = replace(first.result.read, latency=latency)
    tested = replace(run, tests=(replace(first, result=replace(first.result, read=read)), *others))
    promises = [f"randread-4k-qd1.read.latency.{rest}" for rest in ("p99<=1000us", "p99_9<=1000us", "p99_9<1000us")]
    assert judged(tested, *promises) == [Verdict.MET, Verdict.MET, Verdict.MISSED]


def test_a_clock_that_lacks_a_moment_makes_no_test_too_short(run: Run) -> None:
    kept = "randread-4k-qd1.read.iops>=1"
    assert judged(with_first(run, runtime_ms=59_960), kept, seconds=60) == [Verdict.MET]
    assert judged(with_first(run, runtime_ms=59_000), kept, seconds=60) == [Verdict.TOO_SHORT]


def test_a_promise_may_be_missed_by_its_tolerance_and_no_more() -> None:
    assert Operator.AT_LEAST.holds(4997, 5000, 0.01) and not Operator.AT_LEAST.holds(4997, 5000)
    assert not Operator.AT_LEAST.holds(4949, 5000, 0.01)
    assert Operator.LESS_THAN.holds(5.04e6, 5e6, 0.01) and not Operator.LESS_THAN.holds(5.06e6, 5e6, 0.01)


def test_the_ratio_is_measured_to_promised(run: Run) -> None:
    expectation = parse_expectation("randread-4k-qd1.read.bandwidth>=100MB/s")
    (judgement,) = judge(replace(run, plan=replace(run.plan, expectations=(expectation,))))
    assert judgement.measured is not None and judgement.ratio is not None
    assert judgement.ratio * 100e6 == pytest.approx(judgement.measured)
    assert missed([judgement]) is (judgement.verdict is Verdict.MISSED)


@pytest.mark.parametrize(("gib", "promised"), [(800, 20000), (100, 4200), (0, 1200), (626, 19980), (627, 20000)])
def test_the_promise_of_a_cloud_disk_depends_on_its_capacity(gib: float, promised: float) -> None:
    assert Formula(base=1200, per_gib=30, cap=20000).value(gib) == promised


@pytest.mark.parametrize(
    "text",
    [
        "",
        "read.iops",
        "t.read.iops",
        "t.read.iops=5",
        "t.read.iops>=",
        "t.read.iops>=5ms",
        "t.read.latency.p99<5",
        "t.read.latency.p98<5ms",
        "t.read.speed>5",
        "t.reed.iops>5",
        "t.read.within.250>1",
        "t.read.latency<5ms",
        "t.sync.iops>5",
        "t.total.latency.p99<5ms",
        "t.total.iops.p99>5",
        "t.read.iops>=5000; rm -rf /",
        "t.read.within.250us>=95",
        "t.read.within.250us>=101%",
        "t.read.bandwidth>=200",
        "t.read.bandwidth>=200Mb/s",
    ],
)
def test_a_wrong_expression_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expectation(text)
    assert caught.value.hint


@pytest.mark.parametrize("test", ["", "a", "a.b", "read", "total.cpu"])
def test_what_stands_before_the_metric_is_the_test(test: str) -> None:
    found = parse_expectation(f"{test}{'.' if test else ''}read.latency.p99<5ms")
    assert (found.test, found.metric.name, found.promised) == (test, "read.latency.p99", 5e6)


@given(st.text(max_size=80))
def test_any_text_is_an_expectation_or_an_error(text: str) -> None:
    try:
        assert isinstance(parse_expectation(text), Expectation)
    except DiskprofError as error:
        assert error.message


@pytest.mark.parametrize(
    ("name", "text", "value", "shown"),
    [
        ("read.iops", "5k", 5000, "5,000 IOPS"),
        ("write.bandwidth", "200MB/s", 200e6, "200 MB/s"),
        ("write.bandwidth", "1MiB/s", 2**20, "1.05 MB/s"),
        ("read.latency.p99.9", "5ms", 5e6, "5.00 ms"),
        ("read.within.250us", "95%", 0.95, "95.00%"),
        ("cpu", "90%", 90, "90% CPU"),
    ],
)
def test_values_in_the_units_of_their_metrics(name: str, text: str, value: float, shown: str) -> None:
    quantity = parse_metric(name).quantity
    assert parse_value(quantity, text) == pytest.approx(value)
    assert format_value(quantity, value) == shown


@pytest.mark.parametrize("unit", ["b/s", "Mb/s", "Gb/s", "kb/s", "Kb/s", "mb/s", "Mib/s", "Mbit/s", "Mbps"])
def test_what_could_be_bits_is_not_taken_for_bytes(unit: str) -> None:
    with pytest.raises(UsageError, match="could be bits") as caught:
        parse_value(Quantity.BANDWIDTH, f"200{unit}")
    assert "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "value"), [("5B/s", 5), ("5kB/s", 5e3), ("5KB/s", 5e3), ("5GB/s", 5e9), ("5KiB/s", 5 << 10), ("200", 200)]
)
def test_bytes_per_second_have_a_capital_b(text: str, value: float) -> None:
    assert parse_value(Quantity.BANDWIDTH, text) == value


def test_units_are_listed_as_they_are_spelled() -> None:
    with pytest.raises(UsageError) as caught:
        parse_value(Quantity.BANDWIDTH, "200MX/s")
    assert "MB/s" in caught.value.hint and "mb/s" not in caught.value.hint


def test_a_bandwidth_that_is_asked_for_has_a_unit() -> None:
    with pytest.raises(UsageError, match="200 lacks a unit") as caught:
        parse_expectation("t.read.bandwidth>=200")
    assert "200MB/s" in caught.value.hint
    assert parse_expectation("t.read.bandwidth>=200B/s").promised == 200


def test_every_metric_finds_its_figure(run: Run) -> None:
    result = run.tests[0].result
    assert result and result.read and result.cpu
    assert measure(parse_metric("cpu"), result) == result.cpu.percent
    assert measure(parse_metric("read.latency.p99_9"), result) == result.read.latency.p99_9
    assert parse_metric("read.latency.p99.9").figure == "p99_9"
    assert parse_metric("read.within.250us").quantity is Quantity.SHARE


def test_reads_and_writes_together_are_their_sum(run: Run) -> None:
    read, write = run.tests[0].result, run.tests[2].result
    assert read and write and read.read and write.write
    both = replace(read, write=write.write)
    assert measure(parse_metric("total.iops"), both) == read.read.iops + write.write.iops
    assert measure(parse_metric("total.bandwidth"), read) == read.read.bandwidth_bytes_per_s
    assert measure(parse_metric("total.iops"), replace(read, read=None)) is None
