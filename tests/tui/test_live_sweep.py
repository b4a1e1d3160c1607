"""The Live screen of a sweep, cell by cell, and of a run of which something was promised."""

import re

import pytest
from bench_screens import Bench, open_bench
from handmade import cell, run
from msgspec.structs import replace
from recorded import FIRST_START, VOLUME, promises_plan, record_run, recording, sweep_plan
from stored_screens import SIZES, Driver, open_runs, press, see, settle, text_of, until

from diskprof.model.cells import fit
from diskprof.model.metric import Quantity, parse_metric
from diskprof.model.plan import Plan
from diskprof.model.run import Status
from diskprof.model.steady import RoundsRule
from diskprof.store import Store, this_process
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.live.sweep_lines import sweep_lines
from diskprof.tui.runs.result import ResultScreen

SMALL = (("bs", ("4k", "64k")), ("iodepth", ("1", "8", "64")))
DEEP = (*SMALL, ("numjobs", ("1", "4")))


def small_plan(axes: tuple[tuple[str, tuple[str, ...]], ...] = SMALL) -> Plan:
    return sweep_plan(VOLUME, axes=axes, runtime_s=1.0)


def chart_of(pilot: Driver) -> str:
    return pilot.app.screen.query_one(ChartPane).text


async def test_the_map_begins_with_what_its_rounds_are_about(bench: Bench, store: Store) -> None:
    plan = small_plan()
    rule = RoundsRule(plan.tests[-1].name, parse_metric("read.latency.mean"))
    store.create_run(
        *(replace(plan, rounds=rule), VOLUME.environment),
        runner=this_process(),
        started_at=FIRST_START,
        run_id="r4t8h3wy",
    )
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        await until(pilot, lambda: "Mean latency" in chart_of(pilot))
        await press(pilot, "m")
        await until(pilot, lambda: "IOPS" in chart_of(pilot))


@pytest.mark.parametrize("size", (*SIZES, (200, 60)))
async def test_the_map_fills_cell_by_cell(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    steps = recording(
        store,
        plan=small_plan(),
        machine=VOLUME,
        end=Status.FAILED,
        reason="EIO",
        stop_in=(2, 0.5),
        runner=this_process(),
    )
    run_id = next(steps)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        await see(pilot, "rand read by block size and queue depth", "0 of 6 cells done", "4 KiB", "64 KiB")
        for _ in steps:
            if (progress := store.run(run_id).progress) and progress.test == 1:
                break
        await see(pilot, "1 of 6 cells done", "V Overview")
        assert "▶" in chart_of(pilot)
        for _ in steps:
            pass
        await see(pilot, "6 of 6 cells done", "✗ fail")
        assert "▶" not in chart_of(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_m_turns_the_figure_of_the_cells(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    record_run(store, plan=small_plan(), machine=VOLUME)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        for title, unit in (("IOPS", "k"), ("Bandwidth", "MB/s"), ("Mean latency", "us"), ("IOPS", "k")):
            assert chart_of(pilot).startswith(title)
            assert unit in chart_of(pilot).splitlines()[3] + chart_of(pilot).splitlines()[2]
            await press(pilot, "m")


@pytest.mark.parametrize("size", SIZES)
async def test_v_shows_the_course_of_a_test(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    record_run(store, plan=small_plan(), machine=VOLUME, end=Status.RUNNING, stop_in=(3, 0.6), runner=this_process())
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2", "V")
        assert "R read" in chart_of(pilot)
        assert pilot.app.screen.query_one("#tests").display
        await press(pilot, "V")
        await see(pilot, "3 of 6 cells done")


async def test_x_goes_to_the_other_values_of_a_third_axis(bench: Bench, store: Store) -> None:
    record_run(store, plan=small_plan(DEEP), machine=VOLUME)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        await see(pilot, "X Other view", "1 of 2")
        await press(pilot, "X")
        await see(pilot, "2 of 2")
        await press(pilot, "X")
        await see(pilot, "1 of 2")


async def test_where_there_is_one_picture_or_no_sweep_there_is_no_key_for_more(bench: Bench, store: Store) -> None:
    record_run(store, plan=small_plan(), machine=VOLUME)
    async with open_bench(bench) as pilot:
        await press(pilot, "2", "X")
        assert "Other view" not in text_of(pilot)
        record_run(store, "mixed-70-30", end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
        await until(pilot, lambda: "V Overview" not in text_of(pilot))


async def test_cells_in_ascii_tell_by_signs(bench: Bench, store: Store) -> None:
    record_run(store, plan=small_plan(), machine=VOLUME)
    async with open_bench(bench, charset=Charset.ASCII) as pilot:
        await press(pilot, "2")
        assert text_of(pilot).isascii()
        assert "#" in chart_of(pilot)


async def test_a_large_sweep_shows_what_is_around_the_current_cell(bench: Bench, store: Store) -> None:
    depths = tuple(str(depth) for depth in range(1, 25))
    plan = sweep_plan(VOLUME, axes=(("bs", ("4k", "8k")), ("iodepth", depths)), runtime_s=0.5)
    record_run(store, plan=plan, machine=VOLUME, end=Status.RUNNING, stop_in=(20, 0.6), runner=this_process())
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        assert "▶" in chart_of(pilot)
        assert max(len(line) for line in chart_of(pilot).splitlines()) <= 78
        # Of 24 depths there is room for nine, those around the one that is chosen.
        for keys, before, after in (([], True, False), (["up"] * 8, True, True), (["up"] * 12, False, True)):
            await press(pilot, *keys)
            await until(pilot, lambda: (" ◂"[before], " ▸"[after]) == (head_of(pilot)[11], head_of(pilot)[-1]))  # noqa: B023
            # The course of one test and back: the keys still choose.
            await press(pilot, "V", "V")
        assert "▲" not in chart_of(pilot) and "▼" not in chart_of(pilot)


def head_of(pilot: Driver) -> str:
    """The line with the values of the axis across."""
    return next(line for line in chart_of(pilot).splitlines() if line.startswith("Block size"))


async def test_rows_for_which_there_is_no_room_are_told_of(bench: Bench, store: Store) -> None:
    sizes = tuple(f"{4 * number}k" for number in range(1, 31))
    plan = sweep_plan(VOLUME, axes=(("bs", sizes), ("iodepth", ("1", "2"))), runtime_s=0.5)
    record_run(store, plan=plan, machine=VOLUME, end=Status.RUNNING, stop_in=(0, 0.3), runner=this_process())
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        assert "▼" in chart_of(pilot) and "▲" not in chart_of(pilot)
        await press(pilot, "end")
        await until(pilot, lambda: "▲" in chart_of(pilot) and "▼" not in chart_of(pilot))
        # The chosen cell is found, though nothing was measured in it yet.
        assert chart_of(pilot).rstrip().endswith("▸ ·")


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (60, 16), (120, 40)])
async def test_the_cell_that_is_chosen_in_a_result_is_in_sight_and_no_figure_is_cut(
    store: Store, size: tuple[int, int]
) -> None:
    record_run(store, plan=sweep_plan(VOLUME, runtime_s=1.0), machine=VOLUME)
    async with open_runs(store.path, size) as pilot:
        await press(pilot, "enter", *["down"] * 30)
        for title in ("IOPS", "Bandwidth", "Mean latency"):
            await see(pilot, title)
            rows = [line for line in chart_of(pilot).splitlines() if " KiB  " in line]
            (chosen,) = (line for line in rows if line.startswith("256 KiB"))
            assert "▸" in chosen
            assert "…" not in "".join(rows)
            await press(pilot, "m")


@pytest.mark.parametrize("size", [(60, 20), (66, 24), (80, 24)])
async def test_no_two_tests_of_a_narrow_list_are_called_the_same(store: Store, size: tuple[int, int]) -> None:
    record_run(store, plan=sweep_plan(VOLUME, runtime_s=1.0), machine=VOLUME)
    async with open_runs(store.path, size) as pilot:
        await press(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, ResultScreen)
        width = screen.sheet.columns[0].width
        called = [fit(line[0][0], width, middle=True) for line in (row.line for row in screen.sheet.rows)]
        assert len(set(called)) == len(screen.lines) == 35, called


async def test_which_test_goes_is_told_whole_in_a_narrow_terminal(bench: Bench, store: Store) -> None:
    plan = sweep_plan(VOLUME, runtime_s=1.0)
    record_run(store, plan=plan, machine=VOLUME, end=Status.RUNNING, stop_in=(10, 0.3), runner=this_process())
    async with open_bench(bench, (60, 20)) as pilot:
        await press(pilot, "2")
        await see(pilot, plan.tests[10].title)
        await pilot.resize_terminal(80, 24)
        await see(pilot, plan.tests[10].title)


@pytest.mark.parametrize("size", SIZES)
async def test_promises_and_the_verdict_stand_in_the_result(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    record_run(store, plan=promises_plan(VOLUME, runtime_s=6.0), machine=VOLUME)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        await see(pilot, "✗ 2 of 6 expectations MISSED")
        below = pilot.app.screen.query_one("#below").text  # type: ignore[attr-defined]
        for words in ("Expectations", "MISSED", "too short", "not measured", ">= 4,200"):
            assert words in below


@pytest.mark.parametrize("size", SIZES)
async def test_the_opened_result_says_so_too(store: Store, size: tuple[int, int]) -> None:
    record_run(store, plan=promises_plan(VOLUME, runtime_s=6.0), machine=VOLUME)
    async with open_runs(store.path, size) as pilot:
        await press(pilot, "enter")
        await settle(pilot)
        await see(pilot, "✗ 2 of 6 expectations MISSED")
        await until(pilot, lambda: "Expectations" in pilot.app.screen.query_one("#below").text)  # type: ignore[attr-defined]


async def test_what_is_kept_is_said_without_alarm(bench: Bench, store: Store) -> None:
    plan = promises_plan(VOLUME, runtime_s=6.0)
    plan = replace(plan, expectations=plan.expectations[1:2])
    record_run(store, plan=plan, machine=VOLUME)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        await see(pilot, "✓ 1 expectation met")
        assert isinstance(pilot.app.screen, LiveScreen)


async def test_hostile_titles_reach_no_cell(bench: Bench, store: Store) -> None:
    plan = small_plan()
    bad = "[/]\x1b[31m\u202e"
    plan = replace(plan, preset_title=bad, tests=tuple(replace(t, title=bad + t.title) for t in plan.tests))
    record_run(store, plan=plan, machine=VOLUME)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        assert not set("\x1b\u202e") & set(text_of(pilot))
        assert "[/]" in text_of(pilot)


def test_the_shade_of_a_cell_stands_by_its_figure() -> None:
    cells = [cell(1000 * depth, {"bs": "4k", "iodepth": str(depth)}) for depth in (1, 2)]
    lines = sweep_lines(run(*cells), 0, Quantity.IOPS, -1, 120, 20, Charset.BRAILLE, flat=True)
    row = next(text for line in lines if (text := "".join(words for words, _ in line)).startswith("4 KiB"))
    assert re.fullmatch(r"4 KiB +▒ 1.00k +█ 2.00k ", row), row
