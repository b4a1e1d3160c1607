"""When a test is steady: the criteria against fio's own, the windows of samples, the result of the last of them."""

import json
from pathlib import Path

import pytest
from handmade import direction, fio
from msgspec.structs import replace

from diskprof.analysis.steady import counted, fit_windows, is_steady, result_of
from diskprof.model.histogram import Histogram
from diskprof.model.metric import parse_metric
from diskprof.model.plan import PlannedTest
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.model.steady import SteadyRule
from diskprof.runner.carry.steady_watch import SteadyWatch

RECORDED = json.loads((Path(__file__).parents[2] / "data/fio-steadystate.json").read_text())
RULE = SteadyRule(parse_metric("read.iops"), windows=5, window_s=1.0, range=0.20, slope=0.10)
PLANNED = replace(fio(read=direction(1000)).planned, steady=RULE)
QUARTER_NS = 250_000_000


def sample(number: int, ios: int, *, way: Direction = Direction.READ, duration_ns: int = QUARTER_NS) -> Sample:
    """The interval `number`, from 1, of a test that began to measure 2 s into the run."""
    at_ns = 2_000_000_000 + number * QUARTER_NS
    histogram = Histogram.of_latencies([100_000] * ios)
    return Sample(0, Phase.MEASURING, way, at_ns, duration_ns, ios, ios * 4096, 100_000.0, 90_000, 110_000, histogram)


def heard(seconds: list[int], *, rule: SteadyRule = RULE, planned: PlannedTest = PLANNED) -> SteadyWatch:
    """A watch after samples of so many I/Os in each second, as long as it is not steady."""
    watch = SteadyWatch(planned, rule, Phase.MEASURING)
    for second, ios in enumerate(seconds):
        for quarter in range(4):
            if watch.hear([sample(4 * second + quarter + 1, ios // 4)]):
                return watch
    return watch


@pytest.mark.parametrize("told", RECORDED, ids=[each["ss"] for each in RECORDED])
def test_the_criteria_are_fios_to_six_digits(told: dict[str, object]) -> None:
    name, _, limit = str(told["ss"]).partition(":")
    values = told["data"]["iops" if name.startswith("iops") else "bw"]  # type: ignore[index]
    fit = fit_windows([float(value) for value in values])
    assert fit is not None
    figure = abs(fit.step) if "slope" in name else fit.deviation
    assert figure == pytest.approx(abs(told["slope"] if "slope" in name else told["max_deviation"]), rel=1e-6)  # type: ignore[arg-type]
    # fio divides the slope by the mean without its fraction.
    mean = sum(values) // len(values) if "slope" in name else fit.mean
    criterion = 100 * figure / mean
    assert f"{criterion:.6f}%" == str(told["criterion"]).lstrip("-")
    assert (criterion < float(limit.rstrip("%"))) == bool(told["attained"])


def test_range_and_slope_are_those_of_the_pts() -> None:
    fit = fit_windows([100.0, 102.0, 104.0, 106.0, 108.0])
    assert fit is not None
    assert (fit.mean, fit.step) == (104.0, pytest.approx(2.0))
    assert fit.range == fit.slope == pytest.approx(8 / 104)
    assert is_steady(RULE, [500.0, 100.0, 102.0, 104.0, 106.0, 108.0])
    assert not is_steady(RULE, [500.0, 100.0, 102.0, 104.0, 106.0])


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0]])
def test_too_few_windows_and_windows_without_io_have_no_fit(values: list[float]) -> None:
    assert fit_windows(values) is None
    assert not is_steady(replace(RULE, windows=2), values)


def test_a_flat_test_is_steady_after_exactly_its_windows() -> None:
    watch = heard([1000] * 9)
    result = watch.result(None)
    assert watch.reached and result and result.steady and result.read
    assert (result.steady.values, result.steady.after_s) == ((1000.0,) * 5, 0.0)
    assert (result.read.ios, result.read.iops, result.read.runtime_ms) == (5000, 1000.0, 5000)


def test_the_result_is_that_of_the_windows_after_the_fall() -> None:
    watch = heard([4000, 4000, 4000, 2000, 1000, 1000, 1000, 1000, 1000, 1000])
    result = watch.result(None)
    assert watch.reached and result and result.steady and result.read
    assert result.steady.after_s == 4.0 and len(result.steady.values) == 9
    assert result.read.iops == 1000.0
    assert (result.steady.begin_ns, result.steady.end_ns) == (6_000_000_000, 11_000_000_000)
    whole = [sample(number, 250) for number in range(1, 50)]
    assert [each.at_ns for each in counted(result.steady, whole)] == [each.at_ns for each in whole[16:36]]


@pytest.mark.parametrize(
    "seconds", [[1000, 1500] * 10, [4 * round(250 * 1.04**n) for n in range(20)]], ids=["sawtooth", "trend"]
)
def test_a_sawtooth_and_a_trend_are_not_steady(seconds: list[int]) -> None:
    watch = heard(seconds)
    result = watch.result(None)
    assert not watch.reached and result and result.steady
    assert len(result.steady.values) == 20 and result.steady.count == 5


def test_a_stall_makes_one_long_window_of_several() -> None:
    watch = SteadyWatch(PLANNED, RULE, Phase.MEASURING)
    watch.hear([sample(1, 250)])
    watch.hear([sample(13, 10, duration_ns=3_000_000_000)])
    result = watch.result(None)
    assert result and result.steady and result.steady.values == (260 / 3.25,)


def test_percentiles_are_those_of_the_merged_histograms() -> None:
    fast = Histogram.of_latencies([100_000] * 98)
    slow = Histogram.of_latencies([9_000_000] * 2)
    samples = [
        replace(sample(1, 98), histogram=fast),
        replace(sample(2, 2), histogram=slow, mean_ns=9e6, max_ns=9_000_000),
    ]
    read = result_of(samples).read
    assert read and read.latency.mean == (98 * 100_000 + 2 * 9_000_000) / 100
    assert read.latency.p50 == fast.quantile(0.5) and read.latency.p99 == slow.quantile(0.5)
    assert read.latency.max == 9_000_000 and read.histogram == fast + slow


def test_the_figure_of_a_window_may_be_of_both_directions() -> None:
    rule = replace(RULE, metric=parse_metric("total.iops"), windows=2)
    watch = SteadyWatch(PLANNED, rule, Phase.MEASURING)
    for number in range(1, 9):
        watch.hear([sample(number, 100), sample(number, 50, way=Direction.WRITE)])
    result = watch.result(None)
    assert result and result.steady and result.steady.values == (600.0, 600.0)
    assert result.write and result.write.iops == 200.0
