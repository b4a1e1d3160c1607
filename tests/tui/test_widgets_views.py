"""The logarithmic views of the large chart: names stand where their lines end, in the order of the lines."""

import pytest

from diskprof.reports.charts.axes import LogScale, TimeAxis
from diskprof.reports.charts.plot import Curve, Facet, Plot
from diskprof.reports.charts.timeline import Merging, Timeline
from diskprof.tui.kit.charts.drawing import draw_plot, label_rows
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import width_of


def line(name: str, value: float) -> Curve:
    line = Timeline(Merging.MAX)
    line.add(0.0, 10.0, value)
    return Curve(name, line, "read", "x", end=name)


@pytest.mark.parametrize("charset", list(Charset))
@pytest.mark.parametrize("height", [6, 7, 8, 12])
def test_the_names_of_percentiles_stand_in_the_order_of_their_lines(height: int, charset: Charset) -> None:
    lines = (line("p50", 40e6), line("p99", 41e6), line("p99.9", 42e6), line("max", 43e6))
    panel = Facet(LogScale.of(100e3, 50e6), lines, letter="R", ink="read")
    drawn = draw_plot(Plot("Latency percentiles", TimeAxis(10.0), (panel,)), 70, height, charset)
    plot = ["".join(piece for piece, _ in row) for row in drawn[1:-1]]
    names = [words[-1] for row in plot if (words := row.split()) and words[-1] in {"p50", "p99", "p99.9", "max"}]
    assert names == ["max", "p99.9", "p99", "p50"]
    assert all(width_of(row) <= 70 for row in drawn)


@pytest.mark.parametrize(
    ("shares", "rows", "wanted"),
    [
        ([0.05, 0.35, 0.65, 0.95], 10, [9, 6, 3, 0]),
        ([0.0, 0.0, 0.0, 0.95], 10, [9, 8, 7, 0]),
        ([1.0, 1.0, 1.0, 1.0], 10, [3, 2, 1, 0]),
        ([0.5, 0.5, 0.5], 10, [5, 4, 3]),
        ([0.1, 0.5, 0.958, 0.951], 10, [8, 4, 1, 0]),
        ([0.99, 0.01], 10, [0, 9]),
        ([0.1, 0.2, 0.3, 0.4], 4, [3, 2, 1, 0]),
        ([0.1, 0.2, 0.3, 0.4], 2, [1, 0]),
        ([], 5, []),
        ([0.5], 0, []),
    ],
)
def test_labels_are_near_their_curves_and_in_their_order(shares: list[float], rows: int, wanted: list[int]) -> None:
    assert label_rows(shares, rows) == wanted


def test_a_low_axis_tells_decades_that_are_evenly_apart() -> None:
    assert LogScale(1e3, 1e9).labels(4) == {0: "1 us", 1: "100 us", 2: "10 ms", 3: "1 s"}
    assert LogScale(5e4, 2e8).labels(3) == {0: "100 us", 1: "10 ms"}
    assert LogScale(1e3, 1e10).labels(1) == {0: "1 us"}
    assert LogScale(1e5, 1e6).labels(8) == {0: "100 us", 2: "200 us", 5: "500 us", 7: "1 ms"}
