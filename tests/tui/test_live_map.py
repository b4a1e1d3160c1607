"""A read/write map on the screen."""

import pytest
from drawn_map import drawn, triangle
from msgspec.structs import replace

from diskprof.model.read_write_map import MapRule
from diskprof.model.run import Run, Status
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.live.map_lines import map_height, map_lines


def shown(
    made: Run, current: int = 0, width: int = 80, height: int = 20, figure: int = 0, flat: bool = False
) -> list[str]:
    lines = map_lines(made, figure, current, width, height, Charset.BRAILLE, flat=flat)
    return ["".join(text for text, _ in line) for line in lines]


def test_reads_are_across_and_writes_upward_with_the_edge_behind_the_last_cell_that_is_reached() -> None:
    made = drawn(triangle)
    lines = shown(made, height=9)
    assert lines[0].startswith("Read/write map  read latency p99") and lines[0].rstrip().endswith("17 cells of 20")
    rows = {line[:10].strip(): line for line in lines[3:-1]}
    assert list(rows) == ["20.0 MB/s", "15.0 MB/s", "10.0 MB/s", "5.00 MB/s", "none"]
    assert rows["10.0 MB/s"].split()[2:] == ["6.00", "ms", "7.00", "ms┃", "✗", "✗"]
    assert "┃" not in rows["none"] and rows["20.0 MB/s"].split()[2:] == ["✗", "✗", "✗"]
    assert lines[-1].split() == ["reads/s", "500", "1.00k", "1.50k", "2.00k"]
    assert "1.50 ms" in shown(made, figure=1, height=9)[-3]


def test_shades_are_of_the_latencies_that_are_shown() -> None:
    """Not of a cell that was not reached, whose reads took far longer."""
    made = drawn(lambda reads, written: (min(reads, 2000.0) * (0.8 if written > 6e6 else 1), min(written, 20e6)))
    lines = shown(made, current=1, height=9, flat=True)
    assert "█ 7.00 ms" in next(line for line in lines if line.lstrip().startswith("5.00 MB/s"))


@pytest.mark.parametrize(("width", "height"), [(40, 6), (80, 12), (120, 30), (24, 5)])
def test_it_keeps_to_its_room_and_shows_the_current_cell(width: int, height: int) -> None:
    made = drawn(triangle, MapRule(8, 8))
    for current in (5, 20):
        lines = shown(made, current=current, width=width, height=height, flat=True)
        assert len(lines) <= height and all(len(line) <= width for line in lines)
        assert "▸" in "".join(lines) or "✗" in "".join(lines)
    assert shown(made, width=20) == [] and map_height(made) == 13


def test_before_both_ends_are_known_it_says_what_comes_and_a_cell_that_is_measured_how_far_it_is() -> None:
    first = shown(drawn(triangle, most=2, status=Status.RUNNING))
    assert first[1].startswith("All writes and all reads come first") and "some may be skipped" in first[0]
    going = drawn(triangle, most=6, status=Status.RUNNING)
    assert "?" in "".join(shown(going, current=5))
    stopped = shown(replace(going, status=Status.CANCELLED), current=5)
    assert stopped[1].startswith("Alone 2,000 read IOPS")
