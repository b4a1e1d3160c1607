"""A run that just ended in Live and one opened from the list are the same view, with the same keys."""

from collections import deque
from datetime import timedelta

import pytest
from bench_screens import Bench, open_bench
from recorded import FIRST_START, record_run, recording
from stored_screens import SIZES, Driver, press, see, settle, text_of, until

from diskprof.model.run import Finding, Status, Weight
from diskprof.store import Store, this_process
from diskprof.tui.compare.screen import CompareScreen
from diskprof.tui.dialogs.report_dialog import ExportModal
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.live.run_page import RunPage
from diskprof.tui.runs.result import ResultScreen


def body(pilot: Driver) -> list[str]:
    """What is between the first line and the last."""
    return text_of(pilot).splitlines()[1:-1]


@pytest.mark.parametrize("size", [(60, 16), *SIZES, (200, 50)])
async def test_live_after_the_end_is_the_result(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    record_run(store)
    record_run(store, factor=1.1, started_at=FIRST_START + timedelta(days=1))
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        await see(pilot, "complete", "4K rand read QD1", "Next:")
        live = body(pilot)
        await press(pilot, "3", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ResultScreen))
        await see(pilot, "complete", "4K rand read QD1", "Next:")
        await settle(pilot)
        assert body(pilot) == live


async def test_a_run_that_ends_before_ones_eyes_has_the_keys_of_a_result(bench: Bench, store: Store) -> None:
    earlier = record_run(store, runtime_s=2.0)
    record_run(store, started_at=FIRST_START + timedelta(hours=1))  # newer, but with other parameters
    started = FIRST_START + timedelta(days=1)
    steps = recording(store, runner=this_process(), runtime_s=2.0, started_at=started)
    next(steps)
    async with open_bench(bench, (120, 40)) as pilot:
        await press(pilot, "2")
        await see(pilot, "s Stop")
        for _ in steps:
            pass
        await see(pilot, f"Next: r report c compare with {earlier} R run again", "d delete")
        await press(pilot, "r")
        assert isinstance(pilot.app.screen, ExportModal)
        await press(pilot, "escape", "c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        await see(pilot, earlier)


async def test_at_60_columns_a_result_in_doubt_offers_to_compare(bench: Bench, store: Store) -> None:
    """The id of the other run had no room, and took the key along."""
    record_run(store)
    steps = recording(store, end=Status.RUNNING, stop_in=(1, 0.5), started_at=FIRST_START + timedelta(days=1))
    (run_id,) = deque(steps, maxlen=1)
    store.finish_run(
        run_id, status=Status.CANCELLED, findings=(Finding("busy-machine", Weight.DOUBT, "CPUs busy.", "", ""),)
    )
    async with open_bench(bench, (60, 16)) as pilot:
        await press(pilot, "2")
        await see(pilot, "Next: space findings R run again c compare r report")


async def test_a_scorecard_with_bars_and_a_banner_leaves_room_for_the_whole_chart(bench: Bench, store: Store) -> None:
    record_run(store)
    record_run(store, factor=0.9, started_at=FIRST_START + timedelta(days=1))
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        await see(pilot, "▲ Limit: CPU-bound (4K rand read QD32)", "of best", "Next:")
        chart, page = pilot.app.screen.query_one("#chart", ChartPane), pilot.app.screen.query_one("#page")
        await until(pilot, lambda: chart.region.bottom == page.region.bottom)
        assert chart.text.splitlines()[-1].rstrip().endswith(" s")


async def test_a_run_in_progress_tells_its_doubts_at_the_top(bench: Bench, store: Store) -> None:
    steps = recording(store, end=Status.RUNNING, stop_in=(0, 0.9), runner=this_process())
    (run_id,) = deque(steps, maxlen=1)
    test = store.run(run_id).tests[0].name
    store.tell_doubts(run_id, (Finding("other-io", Weight.DOUBT, "Other I/O.", "the device read more", "", test),))
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        await see(pilot, "In doubt: other I/O on the disk (", "running")


async def test_the_run_that_is_deleted_in_live_gives_way_to_the_newest(bench: Bench, store: Store) -> None:
    first = record_run(store)
    record_run(store, started_at=FIRST_START + timedelta(days=1))
    async with open_bench(bench) as pilot:
        await press(pilot, "2", "d", "y")
        screen = pilot.app.screen
        assert isinstance(screen, RunPage)
        await until(pilot, lambda: screen.run is not None and screen.run.id == first)


async def test_enter_shows_the_chart_alone_and_all_again(bench: Bench, store: Store) -> None:
    record_run(store)
    async with open_bench(bench) as pilot:
        await press(pilot, "2", "enter")
        await until(pilot, lambda: pilot.app.screen.query_one("#chart", ChartPane).size.height == 21)
        await press(pilot, "enter")
        await see(pilot, "4K rand write QD32")


async def test_the_cursor_of_the_chart_ends_with_its_test(bench: Bench, store: Store) -> None:
    """It was left at a moment of the next test that was yet to come."""
    steps = recording(store, end=Status.RUNNING, stop_in=(2, 0.9), runner=this_process(), runtime_s=2.0)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        for _ in steps:
            if (run := store.run(store.resolve("latest"))).progress and run.progress.test == 1:
                break
        screen = pilot.app.screen
        assert isinstance(screen, RunPage)
        await until(pilot, lambda: screen.snapshot is not None and screen.snapshot.test == 1)
        await press(pilot, "left", "left", "left")
        assert screen.course.moment is not None
        for _ in steps:
            pass
        await until(pilot, lambda: screen.snapshot is not None and screen.snapshot.test == 2)
        assert screen.course.moment is None


async def test_a_result_says_how_far_it_is_from_the_best(bench: Bench, store: Store) -> None:
    record_run(store, factor=1.25)
    record_run(store, started_at=FIRST_START + timedelta(days=1))
    async with open_bench(bench, (120, 40)) as pilot:
        await press(pilot, "2")
        await see(pilot, "Compared with the earlier run on this disk", "of best", "2 Mar")
