"""Every key of the screens that show figures is pressed, with what it does."""

from pathlib import Path

import pytest
from bench_screens import Bench, open_bench
from recorded import record_run
from stored_screens import Driver, at, open_runs, press, screen_of, settle, shown, text_of, until
from textual.binding import Binding
from textual.widget import Widget

from diskprof.model.run import Status
from diskprof.store import Store, this_process
from diskprof.tui.compare.screen import CompareScreen
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.kit.table import Sheet, Table
from diskprof.tui.live.live_panes import TestSheet
from diskprof.tui.live.run_page import RunPage
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.runs.history import HistoryScreen
from diskprof.tui.runs.result import ResultScreen
from diskprof.tui.runs.screen import RunsScreen

ELSEWHERE = {
    RunPage: (
        {"s", "m", "K", "M", "V", "X", "z", "enter", "f", "r", "c", "t", "d", "R", "space"},
        "test_live_screen, _views, _sweep, test_result_screen, test_one_screen and test_run_watch",
    ),
    LiveScreen: ({"escape", "N", "P", "plus", "minus"}, "test_live_screen, _views and _sweep"),
    RunsScreen: (
        {"enter", "space", "a", "c", "r", "t", "d", "R", "u", "slash", "S", "I", "U", "H", "escape"},
        "test_runs_screen, _actions, test_history_screen",
    ),
    CompareScreen: ({"enter", "b", "B", "a", "m", "r", "n", "p", "escape"}, "test_compare_screen"),
    ResultScreen: ({"escape", "backspace"}, "test_result_screen"),
    HistoryScreen: ({"escape", "backspace"}, "test_history_screen"),
}
LIST = {"up", "k", "down", "j", "pageup", "pagedown", "home", "g", "end", "G"}
HERE = {
    RunPage: {"left", "right", "shift+left", "shift+right"},
    TestSheet: LIST,
    Table: LIST,
    Sheet: {"left", "h", "right", "l"},
}


@pytest.mark.parametrize("owner", [*ELSEWHERE, TestSheet, Table, Sheet])
def test_no_key_was_forgotten(owner: type[Widget]) -> None:
    bound = {key for binding in owner.BINDINGS if isinstance(binding, Binding) for key in binding.key.split(",")}
    assert bound == ELSEWHERE.get(owner, (set(), ""))[0] | HERE.get(owner, set())


def when(pilot: Driver) -> float:
    """The moment that the cursor of the chart reads off."""
    return float(pilot.app.screen.query_one("#chart", ChartPane).text.splitlines()[0].split("–")[0])


async def test_the_cursor_of_a_live_chart_goes_by_one_and_by_ten(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        record_run(store, end=Status.RUNNING, stop_in=(3, 0.5), runner=this_process())
    async with open_bench(Bench(path), (120, 40)) as pilot:
        await press(pilot, "2", "left")
        last = when(pilot)
        await press(pilot, "left")
        one = last - when(pilot)
        await press(pilot, "shift+left")
        before = when(pilot)
        assert last - before > 5 * one > 0
        await press(pilot, "shift+right")
        assert when(pilot) > before + 5 * one
        await press(pilot, "right", "right")
        assert when(pilot) == last
        screen = pilot.app.screen
        assert isinstance(screen, LiveScreen) and screen.snapshot
        moves = (("home", 0), ("end", 5), ("up", 4), ("pageup", 0), ("pagedown", 5), ("up", 4), ("down", 5))
        for key, test in (*moves, ("g", 0), ("G", 5), ("k", 4), ("j", 5)):
            await press(pilot, key)
            assert screen.snapshot.test == test, key


async def test_a_list_of_runs_moves_by_rows_pages_and_to_its_ends(path: Path) -> None:
    async with open_runs(path) as pilot:
        ids = shown(pilot)
        for key, index in (("j", 1), ("down", 2), ("k", 1), ("up", 0), ("G", -1), ("g", 0), ("end", -1), ("home", 0)):
            await press(pilot, key)
            assert at(pilot) == ids[index], key
        await press(pilot, "pagedown")
        below = ids.index(at(pilot))
        assert below > 2
        await press(pilot, "pageup")
        assert at(pilot) == ids[0]


async def test_columns_beyond_the_edge_are_reached_by_left_and_right(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        pilot.app.compare_runs(
            [runs[name] for name in ("first", "second", "slow", "cancelled", "interrupted", "failed")]
        )  # type: ignore[attr-defined]
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.comparison is not None)
        await settle(pilot)
        for right, left in (("right", "left"), ("l", "h")):
            await press(pilot, right)
            assert screen.sheet.scroll_x > 0
            await press(pilot, left)
            assert screen.sheet.scroll_x == 0


async def test_a_result_moves_by_tests_and_the_page_by_pages(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = ResultScreen(runs["first"])
        pilot.app.push_screen(screen)
        await until(pilot, lambda: screen.snapshot is not None)
        await settle(pilot)
        assert screen.snapshot
        for key, test in (("end", 5), ("up", 4), ("down", 5), ("home", 0), ("G", 5), ("k", 4), ("j", 5), ("g", 0)):
            await press(pilot, key)
            assert screen.snapshot.test == test, key
        page = screen.query_one("#page")
        await press(pilot, "pagedown")
        assert page.scroll_y > 0
        await press(pilot, "pageup")
        assert page.scroll_y == 0
        assert "4K rand read QD1" in text_of(pilot)
        await press(pilot, "backspace")
        assert screen_of(pilot)
