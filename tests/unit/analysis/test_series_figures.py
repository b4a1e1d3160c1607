"""What the repeats of a series come to."""

from handmade import direction, fio, run
from msgspec.structs import replace

from diskprof.analysis.series_figures import repeat_figures, series_figures, widest
from diskprof.model.metric import Quantity
from diskprof.model.run import Run, SeriesPlace, Status
from diskprof.model.run_series import LEAST_FOR_INTERVAL, Repetition, SeriesPlan


def repeated(repeat: int, iops: float, arm: int = 0) -> Run:
    one = run(fio("rand", read=direction(iops=iops)), fio("seq", read=direction(iops=100.0)))
    return replace(one, series=SeriesPlace("k3f7p2qa", repeat, arm))


def test_a_figure_has_the_values_of_all_complete_runs_of_its_target() -> None:
    runs = [repeated(1, 1000), repeated(1, 500, arm=1), repeated(2, 520, arm=1), repeated(2, 1100)]
    runs.append(replace(repeated(3, 1.0), status=Status.INTERRUPTED))
    found = {
        (each.arm, each.test): each
        for each in series_figures([repeat_figures(one, one.series.arm) for one in runs if one.series])
    }
    assert found[0, "rand"].values == (1000, 1100)
    assert found[1, "rand"].values == (500, 520)
    spread = widest(tuple(found.values()))
    assert spread
    assert (spread.arm, spread.test, spread.quantity) == (0, "rand", Quantity.IOPS)
    assert (spread.low, spread.median, spread.high, spread.range_only) == (1000, 1050, 1100, True)


def test_a_range_of_few_repeats_is_never_narrow_enough() -> None:
    values = [1000.0, 1001, 1002, 1003, 1004, 1005]
    assert len(values) == LEAST_FOR_INTERVAL
    for count in range(1, 7):
        runs = [repeated(at + 1, value) for at, value in enumerate(values[:count])]
        spread = widest(series_figures([repeat_figures(one, one.series.arm) for one in runs if one.series]))
        assert spread
        assert spread.within(0.01) is (count == 6)


def test_a_cap_is_stated_where_none_was_given() -> None:
    plan = run(fio("rand")).plan
    series = SeriesPlan.of((plan, plan), Repetition(until=0.03))
    assert series.wanted.at_most_s == 1200
    slow = replace(plan, tests=tuple(replace(test, runtime_s=3600.0, amount_s=None) for test in plan.tests))
    cap = SeriesPlan.of((slow,), Repetition(until=0.03)).wanted.at_most_s
    assert cap
    assert cap >= 36000
    counted = SeriesPlan.of((slow, slow), Repetition(repeats=5, pause_s=10.0))
    assert (counted.runs, counted.wanted.at_most_s) == (10, None)
    assert counted.least_s == 10 * (slow.likely_seconds + 10) - 10
    capped = SeriesPlan.of((slow,), Repetition(repeats=5, at_most_s=2.5 * slow.likely_seconds))
    assert (capped.most_rounds, capped.bytes_written) == (2, 2 * slow.bytes_written)
