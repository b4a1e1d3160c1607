"""The latency heat map: exact shares, bounded memory, a scale that labels decades."""

from random import Random

import pytest

from diskprof.model.histogram import Histogram, merge
from diskprof.model.sample import Direction
from diskprof.reports.charts.axes import LogScale, TimeAxis
from diskprof.reports.charts.heatmap import Heat, shade_of
from diskprof.reports.charts.plot import Cursor, Facet, Plot
from diskprof.tui.kit.charts.drawing import draw_plot, heat_rows, put_sign
from diskprof.tui.kit.charts.glyphs import Charset


def spread_of(random: Random, median_ns: float, count: int = 400) -> Histogram:
    return Histogram.of_latencies(int(median_ns * random.lognormvariate(0, 0.4)) for _ in range(count))


def test_shares_have_shades() -> None:
    assert [shade_of(share) for share in (0, 0.0005, 0.001, 0.02, 0.1, 0.29, 0.3, 1)] == [0, 1, 2, 3, 4, 4, 5, 5]


def test_a_cell_is_the_share_of_its_column() -> None:
    heat = Heat()
    # 999 at about 300 us, one at about 30 ms; then the other way round.
    heat.add(0, 1, Histogram.of_latencies([300_000] * 999 + [30_000_000]))
    heat.add(1, 2, Histogram.of_latencies([30_000_000] * 999 + [300_000]))
    scale = LogScale(10_000, 100_000_000)
    rows = heat.shades(2, 2.0, 4, scale)
    assert [list(row) for row in rows] == [[0, 0], [5, 2], [0, 0], [2, 5]]


def test_intervals_that_share_a_column_are_one() -> None:
    heat = Heat()
    heat.add(0, 0.5, Histogram.of_latencies([300_000] * 3))
    heat.add(0.5, 1, Histogram.of_latencies([3_000_000] * 97))
    rows = heat.shades(1, 1.0, 2, LogScale(100_000, 10_000_000))
    assert [list(row) for row in rows] == [[3], [5]]


def test_what_is_added_later_appears_where_it_belongs() -> None:
    heat, scale = Heat(), LogScale(10_000, 1_000_000)
    heat.add(0, 1, Histogram.of_latencies([50_000]))
    assert heat.shades(4, 4.0, 1, scale) == [b"\x05\x00\x00\x00"]
    heat.add(1, 3, Histogram.of_latencies([50_000]))
    assert heat.shades(4, 4.0, 1, scale) == [b"\x05\x05\x05\x00"]


def test_memory_is_bounded_and_nothing_is_lost() -> None:
    random, heat, whole = Random(3), Heat(limit=64), []
    for second in range(5_000):
        histogram = spread_of(random, 100_000, 40)
        whole.append(histogram)
        heat.add(second, second + 1, histogram)
    assert len(heat) <= 65
    assert sum(len(piece.counts) for piece in heat.slices) < 64 * 500
    assert sum(sum(piece.counts) for piece in heat.slices) == merge(whole).total
    assert heat.slices[0].start == 0
    assert heat.slices[-1].end == 5_000
    assert all(any(row) for row in zip(*heat.shades(60, 5_000.0, 8, LogScale(10_000, 1_000_000)), strict=True))


@pytest.mark.parametrize(
    ("lowest", "highest", "low", "high"),
    [(90_000, 1_400_000, 50_000, 2e6), (100_000, 100_000, 50_000, 5e5), (1, 1, 1, 5), (3e9, 3e9, 1e9, 5e9)],
)
def test_the_scale_has_round_ends(lowest: float, highest: float, low: float, high: float) -> None:
    scale = LogScale.of(lowest, highest)
    assert scale.low == pytest.approx(low)
    assert scale.high >= highest
    assert scale.high == pytest.approx(high) or scale.high / scale.low >= 4


def test_the_scale_never_shrinks() -> None:
    before = LogScale.of(10_000, 50_000_000)
    assert LogScale.of(100_000, 200_000, before) == before


def test_decades_are_labelled() -> None:
    labels = LogScale(10_000, 100_000_000).labels(20)
    assert {"10 us", "100 us", "1 ms", "10 ms", "100 ms"} <= set(labels.values())
    assert set(LogScale(50_000, 2e6).labels(3).values()) >= {"100 us", "1 ms"}


def plot_of(*letters: str, cursor: Cursor | None = None) -> Plot:
    panels = []
    for letter in letters:
        heat = Heat()
        for second in range(10):
            heat.add(second, second + 1, spread_of(Random(second), 100_000))
        ink = Direction.READ.value if letter == "R" else Direction.WRITE.value
        panels.append(Facet(LogScale.of(*(heat.range_ns or (1, 1))), heat=heat, letter=letter, ink=ink))
    return Plot("Latency heat map", TimeAxis(10.0), tuple(panels), nothing="Nothing yet.", cursor=cursor)


def text_of(lines: list[object]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]  # type: ignore[attr-defined]


@pytest.mark.parametrize("charset", list(Charset))
def test_where_colours_cannot_say_it_signs_do(charset: Charset) -> None:
    lines = draw_plot(plot_of("R"), 80, 12, charset, flat=True)
    text = "\n".join(text_of(lines)[1:])  # type: ignore[arg-type]
    assert set("#*+" if charset is Charset.ASCII else "█▓▒") <= set(text)
    assert charset is not Charset.ASCII or not set("░▒▓█") & set(text)
    assert {ink for line in lines for _, ink in line} <= {"title", "quiet", "rule", "read", ""}


def test_a_line_of_a_ramp_shows_two_rows() -> None:
    heat = Heat()
    heat.add(0, 1, Histogram.of_latencies([300_000] * 999 + [30_000_000]))
    heat.add(1, 2, Histogram.of_latencies([30_000_000] * 999 + [300_000]))
    drawn = heat_rows(heat, 2, 2.0, 2, LogScale(10_000, 100_000_000), "read", Charset.BRAILLE, flat=False)
    assert drawn == [[("▀", "heat-r2"), ("▀", "heat-r5")], [("▀", "heat-r5"), ("▀", "heat-r2")]]
    level = Heat()
    level.add(0, 1, Histogram.of_latencies([50_000] * 90 + [150_000] * 10))
    scale = LogScale(10_000, 1_000_000)
    assert heat_rows(level, 1, 1.0, 1, scale, "write", Charset.BLOCKS, flat=False) == [[("▀", "heat-w4/heat-w5")]]


@pytest.mark.parametrize(("width", "height", "beside"), [(78, 6, True), (118, 24, False), (198, 40, False)])
def test_read_and_write_stand_apart(width: int, height: int, beside: bool) -> None:
    lines = text_of(draw_plot(plot_of("R", "W"), width, height, Charset.BRAILLE))  # type: ignore[arg-type]
    assert len(lines) == height
    assert all(len(line) <= width for line in lines)
    with_r = [line for line in lines[1:] if line.startswith("R")]
    with_w = [line for line in lines[1:] if line.startswith("W")]
    assert len(with_r) == 1
    assert len(with_w) == (0 if beside else 1)
    assert ("W" in with_r[0]) is beside


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (20, 3), (47, 5), (80, 2)])
def test_the_smallest_sizes_draw_what_fits(size: tuple[int, int]) -> None:
    for letters in ((), ("R",), ("R", "W")):
        cursor = Cursor(3.0, tuple([(f"{letter} line", "")] for letter in letters))
        for marked in (None, cursor):
            drawn = draw_plot(plot_of(*letters, cursor=marked), *size, Charset.BRAILLE, flat=True)
            assert len(drawn) <= max(1, size[1])


def test_where_nothing_has_completed_it_says_so() -> None:
    lines = text_of(draw_plot(plot_of(), 80, 12, Charset.BRAILLE))  # type: ignore[arg-type]
    assert lines[0].startswith("Latency heat map")
    assert lines[1:] == ["Nothing yet."]


def test_a_sign_is_put_over_one_cell() -> None:
    assert put_sign([("abc", "x"), ("def", "y")], 4, "|", "k") == [("abc", "x"), ("d", "y"), ("|", "k"), ("f", "y")]
    assert "".join(text for text, _ in put_sign([("ab", "")], 4, "|", "k")) == "ab  |"


def test_rows_are_as_wide_as_asked_for() -> None:
    heat = Heat()
    heat.add(0, 1, Histogram.of_latencies([100_000]))
    lines = heat_rows(heat, 30, 5.0, 3, LogScale(10_000, 1_000_000), "read", Charset.BRAILLE, flat=False)
    assert [sum(len(text) for text, _ in line) for line in lines] == [30] * 3
