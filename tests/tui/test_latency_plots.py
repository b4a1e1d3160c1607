"""The line that says what happened at a moment: figures are whole, or not there."""

import re

import pytest

from diskprof.model.histogram import Histogram
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.tui.kit.painted import width_of
from diskprof.tui.live.latency_plots import moment
from diskprof.tui.live.run_reader import Track

SECOND = 10**9
SLOW = Histogram.of({600: 900, 800: 90, 900: 9, 1000: 1})
FIGURE = r"\d+(\.\d+)?(ns|us|ms|s)"


def track_of(*directions: Direction, histogram: Histogram | None = SLOW, begin_s: int = 0) -> Track:
    track = Track(preparing=False)
    track.began_ns = 0
    for number in range(1, 4):
        for direction in directions:
            at = (begin_s + number) * SECOND
            track.add(
                Sample(
                    *(0, Phase.MEASURING, direction, at, SECOND, 44_312, 181_500_000),
                    mean_ns=4.4e5,
                    max_ns=268_912_345,
                    histogram=histogram,
                )
            )
    return track


def lines_at(track: Track, seconds: float, width: int) -> list[str]:
    cursor = moment(track, seconds, width)
    assert cursor
    assert all(width_of(line) == width for line in cursor.lines)
    return ["".join(text for text, _ in line) for line in cursor.lines]


@pytest.mark.parametrize("directions", [(Direction.WRITE,), (Direction.READ, Direction.WRITE)])
@pytest.mark.parametrize("begin_s", [0, 20, 1000])
@pytest.mark.parametrize("histogram", [SLOW, None])
@pytest.mark.parametrize("columns", [40, 60, 70, 80, 90, 120])
def test_no_figure_is_cut_and_the_maximum_stays(
    columns: int, histogram: Histogram | None, begin_s: int, directions: tuple[Direction, ...]
) -> None:
    track = track_of(*directions, histogram=histogram, begin_s=begin_s)
    lines = lines_at(track, begin_s + 2.5, columns - 2)
    assert lines[0].startswith(("2.00–", "22.00–", "1002–"))
    for line in lines:
        whole = rf"([\d.]+–[\d.]+ s)? +[RW] 44\.3k( IOPS)?( +182 MB/s)?( +(p50|p99|p99\.9|mean) {FIGURE})* +max 269ms *"
        assert re.fullmatch(whole, line), line
    figures = [re.findall(r"IOPS|MB/s|p50|p99(?:\.9)?|mean|max", line) for line in lines]
    assert all(found == figures[0] for found in figures)


def test_where_all_fits_all_is_there() -> None:
    (line,) = lines_at(track_of(Direction.WRITE), 2.5, 118)
    assert line.startswith("2.00–3.00 s  W 44.3k IOPS  182 MB/s  p50 ")
    assert re.findall(r"p50|p99\.9|p99|max", line) == ["p50", "p99", "p99.9", "max"]


@pytest.mark.parametrize(
    ("columns", "named"),
    [(60, ["p99", "p99.9", "max"]), (80, ["p50", "p99", "p99.9", "max"]), (120, ["p50", "p99", "p99.9", "max"])],
)
def test_what_has_room_is_said(columns: int, named: list[str]) -> None:
    (line,) = lines_at(track_of(Direction.WRITE), 2.5, columns - 2)
    assert re.findall(r"p50|p99\.9|p99|max", line) == named
    assert ("182 MB/s" in line) == (columns >= 80)
