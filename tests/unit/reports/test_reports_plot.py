"""Charts: from zero, with their unit, within their width, plain where they must be."""

import pytest
from handmade import direction, fio, run, samples, stalled

from diskprof.analysis.comparison import compare
from diskprof.model.cells import width_of
from diskprof.model.sample import Direction
from diskprof.reports.charts.axes import Scale, TimeAxis
from diskprof.reports.charts.plot import Curve, Facet, Plot
from diskprof.reports.charts.timeline import Steps
from diskprof.reports.render.plotext_plot import chart, comparison_plots, run_plots

MIXED = run(fio("mix", rw="randrw", read=direction(700), write=direction(300)))
TAKEN = (*samples([700] * 40), *samples([300] * 40, way=Direction.WRITE))


def plot(values: list[float | None]) -> Plot:
    steps = Steps(values)
    return Plot("t", TimeAxis(2.0), (Facet(Scale.plain(steps.highest), (Curve("a", steps),)),))


def test_a_run_has_three_charts_for_each_test() -> None:
    text = run_plots(MIXED, TAKEN)
    titles = [line for line in text.splitlines() if line.startswith("mix: ")]
    assert titles == [
        "mix: IOPS:  * read   o write",
        "mix: MB/s:  * read   o write",
        "mix: latency, us:  * read p50   o read p99   + write p50   x write p99",
    ]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_charts_keep_to_their_width(width: int) -> None:
    assert max(map(width_of, run_plots(MIXED, TAKEN, width).splitlines())) <= width


def test_without_colour_there_is_no_escape_and_without_utf8_no_other_letter() -> None:
    assert "\x1b" not in run_plots(MIXED, TAKEN)
    assert run_plots(MIXED, TAKEN, ascii_only=True).isascii()
    assert "\x1b[" in run_plots(MIXED, TAKEN, colour=True)


def test_a_chart_begins_at_zero_and_ends_above_its_largest_value() -> None:
    text = chart(plot([900.0, 950.0]), 60)
    assert "\n    0┤" in text
    assert "1,000┤" in text


def test_a_gap_interrupts_a_curve() -> None:
    whole = chart(plot([5.0] * 10), 60, ascii_only=True)
    broken = chart(plot([None if 3 <= at <= 6 else 5.0 for at in range(10)]), 60, ascii_only=True)
    assert broken.count("*") < whole.count("*") - 10


def test_of_nothing_there_is_no_chart() -> None:
    assert run_plots(MIXED, ()) == ""
    assert chart(plot([]), 80) == ""
    assert chart(plot([None]), 80) == ""
    assert chart(plot([float("nan")]), 80) == ""


def test_a_standstill_is_drawn_at_zero() -> None:
    assert "0┤" in chart(plot([0.0, 0.0]), 60)


@pytest.mark.parametrize(("around", "still_s"), [(8, 4.0), (400, 200.0)])
def test_a_disk_that_stood_still_has_a_curve_that_lies_low_for_as_long(around: int, still_s: float) -> None:
    text = run_plots(run(fio("still", read=direction(400))), stalled(around, still_s, around), 80, ascii_only=True)
    block = text.partition("still: MB/s")[0].splitlines()
    (low,) = [line for line in block if line.lstrip().startswith("0+")]
    flat = low[low.index("+") + 1 : -1]
    middle = flat[len(flat) // 4 + 2 : -len(flat) // 2 - 2]
    assert middle
    assert set(middle) == {"*"}
    assert all("*" not in line[len(low) // 3 + 2 : len(low) // 2 - 2] for line in block if line is not low)


def test_runs_share_a_chart() -> None:
    runs = [run(fio("a", read=direction(value)), run_id=name) for name, value in (("x", 700), ("y", 900))]
    taken = {"x": samples([700] * 20), "y": samples([900] * 40)}
    text = comparison_plots(compare(runs), runs, taken)
    assert text.splitlines()[0] == "a: read IOPS:  * x   o y"


@pytest.mark.parametrize(
    ("top", "ticks"),
    [
        (19_200, [0, 5000, 10_000, 15_000, 20_000]),
        (1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (4.75, [0, 1, 2, 3, 4, 5]),
        (0, [0, 1]),
    ],
)
def test_ticks_are_round(top: float, ticks: list[float]) -> None:
    assert Scale.plain(top).ticks == pytest.approx(ticks)
