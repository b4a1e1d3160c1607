"""Pictures out of characters: from zero, with a unit and a scale, in each of the three forms."""

import pytest

from diskprof.model.metric import Quantity
from diskprof.reports.charts.axes import Scale, TimeAxis, round_up
from diskprof.reports.charts.plot import Curve, Facet, Plot
from diskprof.reports.charts.timeline import Timeline
from diskprof.tui.kit.charts.drawing import draw_plot
from diskprof.tui.kit.charts.glyphs import Charset, GlyphTrack, charset_for, draw, progress_bar
from diskprof.tui.kit.painted import Line, width_of


def text(lines: list[Line]) -> list[str]:
    return ["".join(piece for piece, _ in line) for line in lines]


@pytest.mark.parametrize("charset", list(Charset))
def test_every_line_has_the_full_width(charset: Charset) -> None:
    values = [0.0, 0.1, None, 0.5, 0.99, 1.0, 1.0, 0.3]
    for area in (True, False):
        lines = draw([GlyphTrack(values, "read", area), GlyphTrack(values[::-1], "write", area)], 12, 4, charset)
        assert [width_of(line) for line in lines] == [12] * 4


def test_braille_areas_start_at_zero() -> None:
    assert text(draw([GlyphTrack([0.25, 0.5, 0.75, 1.0], "read")], 2, 1, Charset.BRAILLE)) == ["⣠⣾"]
    assert text(draw([GlyphTrack([0.0, 0.01], "read")], 1, 1, Charset.BRAILLE)) == ["⢀"]


def test_a_steady_value_is_a_flat_line_at_its_share_of_the_height() -> None:
    lines = text(draw([GlyphTrack([0.5] * 8, "read", area=False)], 4, 4, Charset.BRAILLE))
    assert [line.strip() for line in lines] == ["", "", "⠉⠉⠉⠉", ""]


def test_a_line_has_no_holes_where_it_jumps() -> None:
    lines = text(draw([GlyphTrack([0.0, 1.0], "read", area=False)], 1, 4, Charset.BRAILLE))
    assert all(line.strip() for line in lines)


def test_blocks_have_eight_steps_and_ascii_two() -> None:
    assert text(draw([GlyphTrack([1 / 8, 4 / 8, 1.0], "read")], 3, 1, Charset.BLOCKS)) == ["▁▄█"]
    assert text(draw([GlyphTrack([0.2, 0.5, 1.0], "read")], 3, 1, Charset.ASCII)) == ["..#"]


def test_of_two_areas_the_lower_stands_in_front() -> None:
    line = draw([GlyphTrack([1.0], "read"), GlyphTrack([0.5], "write")], 1, 1, Charset.BLOCKS)[0]
    assert list(line) == [("▄", "write/read")]


def test_blanks_do_not_take_on_a_background() -> None:
    line = draw([GlyphTrack([1.0, None], "read"), GlyphTrack([0.5, None], "write")], 2, 1, Charset.BLOCKS)[0]
    assert list(line) == [("▄", "write/read"), (" ", "")]


def two_lines(read: float, write: float) -> Plot:
    """Lines of a share of 100."""
    curves = []
    for sign, name, value in (("R", "read", read), ("W", "write", write)):
        line = Timeline()
        line.add(0, 6, value)
        curves.append(Curve(name, line, name, sign, end=sign))
    return Plot("", TimeAxis(10), (Facet(Scale(None, 100.0), tuple(curves)),))


@pytest.mark.parametrize("charset", list(Charset))
def test_lines_are_told_apart_without_their_colours(charset: Charset) -> None:
    lines = text(draw_plot(two_lines(90, 20), 40, 6, charset))[1:-1]
    assert "R" in lines[0]
    assert "W" in lines[3]
    assert "W" not in lines[0]


def test_labels_of_curves_that_meet_do_not_hide_each_other() -> None:
    drawn = "".join(text(draw_plot(two_lines(50, 50), 40, 6, Charset.BRAILLE))[1:-1])
    assert drawn.count("R") == 1
    assert drawn.count("W") == 1


@pytest.mark.parametrize(("fraction", "filled"), [(-1, 0), (0, 0), (0.5, 5), (1, 10), (7, 10)])
def test_progress_bars_fill_from_the_left(fraction: float, filled: int) -> None:
    for charset in Charset:
        line = progress_bar(fraction, 10, charset)
        assert width_of(line) == 10
        assert len(line[0][0]) == filled


def test_scales_are_round_and_start_at_zero() -> None:
    assert [round_up(value) for value in (0, 0.7, 1.01, 77, 812, 71_234)] == [1, 0.8, 1.2, 80, 1000, 80_000]
    assert Scale.of(Quantity.IOPS, 71_234).extent == "0–80k"
    assert Scale.of(Quantity.BANDWIDTH, 251e6).extent == "0–300 MB/s"
    assert Scale.of(Quantity.LATENCY, 21_600).extent == "0–25 us"
    assert Scale.of(Quantity.LATENCY, 1_240_000).tick(750_000) == "0.75"
    assert Scale.of(Quantity.IOPS, 812).tick(500) == "500"
    assert Scale.of(Quantity.IOPS, 0).tick(0) == "0"


def test_a_scale_never_shrinks_so_that_the_picture_stands_still() -> None:
    before = Scale.of(Quantity.IOPS, 70_000)
    assert Scale.of(Quantity.IOPS, 300, before) is before
    assert Scale.of(Quantity.IOPS, 90_000, before).top == 100_000
    assert Scale.of(Quantity.BANDWIDTH, 300, before).top == 400


@pytest.mark.parametrize(
    ("seconds", "unit"), [(5, "s"), (32, "s"), (600, "min"), (86_400, "h"), (3 * 86_400, "h"), (40 * 86_400, "h")]
)
def test_time_axes_carry_their_unit_once(seconds: float, unit: str) -> None:
    for width in (20, 60, 110):
        line = TimeAxis(seconds).line(width)
        assert len(line) == width
        assert line.startswith("0")
        assert line.split()[-1] == unit


def test_a_chart_says_metric_unit_scale_and_legend() -> None:
    line = Timeline()
    line.add(0, 5, 251e6)
    panel = Facet(Scale.of(Quantity.BANDWIDTH, 251e6), (Curve("W write", line, "write", area=True),))
    plot = Plot("Bandwidth", TimeAxis(10), (panel,), unit="MB/s", note="warm-up to 1 s")
    lines = text(draw_plot(plot, 60, 12, Charset.BRAILLE))
    assert len(lines) == 12
    assert "Bandwidth MB/s" in lines[0]
    assert "W write" in lines[0]
    assert "warm-up to 1 s" in lines[0]
    assert lines[1].strip().startswith("300 ┤")
    assert lines[6].strip().startswith("150 ┤")
    assert lines[10].strip().startswith("0 ┤")
    assert lines[11].split() == ["0", "2", "4", "6", "8", "10", "s"]


def test_a_chart_without_room_is_its_title() -> None:
    plot = Plot("IOPS", TimeAxis(10), (Facet(Scale.of(Quantity.IOPS, 1)),))
    assert [line.rstrip() for line in text(draw_plot(plot, 10, 2, Charset.BRAILLE))] == ["IOPS ─────"]


@pytest.mark.parametrize(
    ("environment", "encoding", "charset"),
    [
        ({"TERM": "xterm-256color"}, "utf-8", Charset.BRAILLE),
        ({"TERM": "xterm-256color"}, "UTF8", Charset.BRAILLE),
        ({"TERM": "xterm-256color"}, "ANSI_X3.4-1968", Charset.ASCII),
        ({"TERM": "linux"}, "utf-8", Charset.ASCII),
        ({"TERM": "vt100"}, "utf-8", Charset.ASCII),
        ({"TERM": "xterm"}, None, Charset.ASCII),
        ({"TERM": "linux", "DISKPROF_CHARTS": "blocks"}, "utf-8", Charset.BLOCKS),
        ({"TERM": "xterm", "DISKPROF_CHARTS": "nonsense"}, "utf-8", Charset.BRAILLE),
    ],
)
def test_charts_are_made_of_what_the_terminal_can_show(
    environment: dict[str, str], encoding: str | None, charset: Charset
) -> None:
    assert charset_for(environment, encoding) is charset


def test_names_in_a_legend_are_whole_where_there_is_room() -> None:
    line = Timeline()
    line.add(0, 5, 50)
    names = ("quick 11-25 10:51", "quick 11-25 10:52")
    curves = tuple(Curve(name, line, name, sign, end=sign) for sign, name in zip("AB", names, strict=True))
    plot = Plot("p99", TimeAxis(10), (Facet(Scale(None, 100.0), curves),))
    wide, narrow = (text(draw_plot(plot, width, 8, Charset.BRAILLE))[0] for width in (80, 46))
    assert all(name in wide for name in names)
    assert "quick 11-25 10:…" in narrow
