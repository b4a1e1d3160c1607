"""Sweeps: laid out by their axes, the best of each row, and the limits that they show, and when they show none."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from handmade import Given, cell, direction, fio, run
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from diskprof.analysis.comparison import compare
from diskprof.analysis.sweep import (
    Grid,
    Limits,
    Matrix,
    best,
    compared_grids,
    grids,
    limits,
    measured,
    most_iops,
    panels,
)
from diskprof.model.run import Run, Status, TestRecord
from diskprof.presets.library import load_library
from diskprof.presets.resolve import resolve

BLOCKS = {"4k": 4096, "16k": 16384, "32k": 32768, "64k": 65536, "256k": 262144}
DEPTHS = (1, 2, 4, 8, 64)


def article(size: int, depth: int) -> float:
    """The volume of the article: 5000 IOPS, 200 MB/s, 0.56 ms for one."""
    return min(depth * 1782.0, 5000.0, 200e6 / size)


def volume(speed: Any = article, *, blocks: Mapping[str, int] = BLOCKS, depths: Sequence[int] = DEPTHS) -> Run:
    return run(
        *(
            cell(speed(size, depth), {"bs": block, "iodepth": str(depth)})
            for block, size in blocks.items()
            for depth in depths
        )
    )


def only(tested: Run) -> Matrix[TestRecord]:
    (grid,) = grids(tested)
    (panel,) = panels(grid)
    return panel


def test_the_volume_of_the_article_hands_over_from_one_limit_to_the_other() -> None:
    assert limits(only(volume())) == Limits(5000.0, 32768, 200e6, 65536)


def test_the_table_of_the_article() -> None:
    found = best(only(volume()))
    assert [round(one.iops) for one in found if one] == [5000, 5000, 5000, 3052, 763]
    assert [round(one.bandwidth / 1e6) for one in found if one] == [20, 82, 164, 200, 200]
    # It hits 5000 IOPS of 4 KiB at a queue depth of 4, as the article says.
    assert [one.enough for one in found if one] == ["4", "4", "4", "2", "1"]
    assert found[0] and found[0].iops_at == found[0].bandwidth_at == "4"


def test_noise_within_a_tenth_is_no_other_level() -> None:
    shaken = iter([0.96, 1.03, 0.98, 1.02, 1.0] * 5)
    found = limits(only(volume(lambda size, depth: article(size, depth) * next(shaken))))
    assert found and (found.iops_up_to, found.bandwidth_from) == (32768, 65536)
    assert found.iops == pytest.approx(5000, rel=0.03)


def slower(size: int, depth: int) -> float:
    return min(depth * 100.0, 400e6 / size)


def depth_buys_more(size: int, depth: int) -> float:
    return 70.0 * depth


@pytest.mark.parametrize(
    ("tested", "found"),
    [
        # Only one of the two is ever reached.
        (volume(lambda size, depth: min(1000.0 * depth, 4000.0)), Limits(4000.0, 262144, everywhere=True)),
        (volume(lambda size, depth: 1e8 / size), Limits(None, None, 1e8, 4096, everywhere=True)),
        (volume(article, blocks={"4k": 4096, "16k": 16384}), Limits(5000.0, 16384, everywhere=True)),
        # Two block sizes at least: 256k alone is none.
        (volume(article, blocks={"4k": 4096, "16k": 16384, "256k": 262144}), Limits(5000.0, 16384)),
        (volume(article, blocks={"4k": 4096, "256k": 262144}), None),
        # Depth still buys more, or was not swept: equal IOPS may be equal latency.
        (volume(depth_buys_more), None),
        (volume(lambda size, depth: 1700.0, depths=(1,)), None),
        # Small blocks are not at a limit, large ones are.
        (volume(slower, depths=(1, 2, 4, 8)), None),
        (volume(slower, depths=(1, 2, 16, 32, 64, 128)), Limits(None, None, 400e6, 65536)),
    ],
)
def test_when_there_is_a_limit(tested: Run, found: Limits | None) -> None:
    assert limits(only(tested)) == found


def test_the_processor_s_limit_is_not_the_volume_s() -> None:
    tests = [
        cell(article(size, depth), {"bs": block, "iodepth": str(depth)}, cpu=(40.0, 58.0))
        for block, size in BLOCKS.items()
        for depth in DEPTHS
    ]
    assert limits(only(run(*tests))) is None


def test_a_failed_cell_is_a_gap_and_leaves_the_others() -> None:
    tests = [
        cell(
            article(size, depth) if (block, depth) != ("32k", 4) else None,
            {"bs": block, "iodepth": str(depth)},
            status=Status.COMPLETE if (block, depth) != ("32k", 4) else Status.FAILED,
        )
        for block, size in BLOCKS.items()
        for depth in DEPTHS
    ]
    panel = only(run(*tests))
    gap = panel.cells[2][2]
    assert gap and gap.status is Status.FAILED and measured(gap) is None
    assert limits(panel) == Limits(5000.0, 32768, 200e6, 65536)


def test_a_cell_that_was_stopped_midway_does_not_count() -> None:
    panel = only(
        run(
            cell(100, {"bs": "4k", "iodepth": "1"}),
            cell(900, {"bs": "4k", "iodepth": "2"}, status=Status.CANCELLED),
            cell(None, {"bs": "8k", "iodepth": "1"}, status=Status.SKIPPED),
        )
    )
    first, second = best(panel)
    assert first and (first.iops, first.iops_at) == (100, "1")
    assert second is None
    assert panel.cells[1][1] is None


def test_reads_and_writes_count_together() -> None:
    mixed = cell(None, {"bs": "4k", "iodepth": "1"}, read=direction(700), write=direction(300))
    (one,) = best(only(run(mixed)))
    assert one and (one.iops, one.bandwidth) == (1000, 1000 * 4096)


def test_every_test_that_is_swept_has_a_grid_and_others_have_none() -> None:
    tested = run(
        fio("plain", read=direction(1)),
        cell(1, {"bs": "4k"}, base="rand-read"),
        cell(2, {"bs": "8k"}, base="rand-read"),
        cell(3, {"bs": "4k"}, base="rand"),
    )
    assert [(grid.name, grid.title, len(grid.cells)) for grid in grids(tested)] == [
        ("rand-read", "rand read QD1 (rand-read)", 2),
        ("rand", "rand read QD1 (rand)", 1),
    ]
    assert grids(run(fio("plain", read=direction(1)))) == ()


def swept(axes: Mapping[str, Sequence[str]]) -> Grid[TestRecord]:
    cells: list[dict[str, str]] = [{}]
    for option, values in axes.items():
        cells = [{**each, option: value} for each in cells for value in values]
    (grid,) = grids(run(*(cell(1, each) for each in cells)))
    return grid


@pytest.mark.parametrize(
    ("axes", "rows", "columns", "count"),
    [
        (("bs", "iodepth"), "bs", "iodepth", 1),
        (("iodepth", "bs"), "bs", "iodepth", 1),
        (("numjobs", "iodepth"), "numjobs", "iodepth", 1),
        (("bs", "numjobs"), "bs", "numjobs", 1),
        (("rwmixread", "size"), "rwmixread", "size", 1),
        (("bs", "iodepth", "numjobs"), "bs", "iodepth", 2),
        (("fsync", "numjobs", "size", "bs"), "bs", "size", 4),
        (("iodepth",), "iodepth", None, 1),
    ],
)
def test_which_axis_goes_where(axes: tuple[str, ...], rows: str, columns: str | None, count: int) -> None:
    found = panels(swept(dict.fromkeys(axes, ("1", "2"))))
    assert len(found) == count == len({panel.fixed for panel in found})
    for panel in found:
        assert (panel.rows.option, panel.columns and panel.columns.option) == (rows, columns)
        assert all(test is not None for row in panel.cells for test in row)
        assert len(panel.cells) == 2 and {len(row) for row in panel.cells} == {2 if columns else 1}


def test_numbers_stand_in_rising_order_and_words_as_they_came() -> None:
    (numbers,) = swept({"bs": ("64k", "512", "1m")}).axes
    assert numbers.values == ("512", "64k", "1m")
    (words,) = swept({"ioengine": ("psync", "libaio")}).axes
    assert words.values == ("psync", "libaio")


@pytest.mark.parametrize("name", ["digitalocean-sweep", "alibaba-block-size"])
def test_shipped_sweeps_are_found_by_their_tests(name: str) -> None:
    preset = load_library().get(name)
    found = resolve(preset, {})
    tests = [fio(test.name, title=test.title, cell=test.cell, read=direction(1)) for test in found.tests]
    assert [grid.name for grid in grids(run(*tests))] == [test.name for test in preset.tests]
    for grid in grids(run(*tests)):
        assert [(axis.option, axis.values) for axis in grid.axes] == [(a.option, a.values) for a in found.sweep]


def test_sweeps_side_by_side_share_their_cells() -> None:
    one = volume(depths=(1, 8))
    two = volume(lambda size, depth: article(size, depth) / 2, depths=(1, 4), blocks={"4k": 4096, "1m": 1 << 20})
    (grid,) = compared_grids(compare((one, replace(two, id="other"))))
    assert [axis.values for axis in grid.axes] == [("4k", "16k", "32k", "64k", "256k", "1m"), ("1", "4", "8")]
    (panel,) = panels(grid)
    assert [most_iops(row, 0) for row in panel.cells] == [5000, 5000, 5000, *(200e6 / s for s in (65536, 262144)), None]
    assert [most_iops(row, 1) for row in panel.cells][:2] == [2500, None]


values = st.sampled_from(["4k", "16k", "1m", "512"])
any_cells = st.dictionaries(
    st.tuples(values, st.integers(1, 300).map(str)),
    st.tuples(
        st.one_of(st.none(), st.floats(0.001, 1e7)),
        st.sampled_from([Status.COMPLETE, Status.FAILED, Status.SKIPPED, Status.RUNNING, Status.CANCELLED]),
    ),
    min_size=1,
    max_size=24,
)


@given(any_cells)
def test_any_cells_can_be_laid_out(cells: dict[tuple[str, str], tuple[float | None, Status]]) -> None:
    tests: list[Given] = [
        cell(iops, {"bs": bs, "iodepth": depth}, status=status) for (bs, depth), (iops, status) in cells.items()
    ]
    panel = only(run(*tests))
    there = [test.name for row in panel.cells for test in row if test]
    assert sorted(there) == sorted(given.planned.name for given in tests)
    most = max((iops for iops, status in cells.values() if iops and status is Status.COMPLETE), default=None)
    assert max((one.iops for one in best(panel) if one), default=None) == most
    found = limits(panel)
    assert found is None or any(value is not None for value in (found.iops, found.bandwidth))
