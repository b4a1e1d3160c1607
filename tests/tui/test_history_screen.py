"""The history of like runs, opened from the list."""

from pathlib import Path
from random import Random

import pytest
from like_runs import record_like_runs
from recorded import record_limit
from stored_screens import SIZES, open_runs, press, see, text_of, until

from diskprof.store import Store
from diskprof.tui.runs.history import HistoryScreen
from diskprof.tui.runs.screen import RunsScreen


@pytest.mark.parametrize("size", SIZES)
async def test_the_history_shows_each_figure_its_chart_and_its_changes(tmp_path: Path, size: tuple[int, int]) -> None:
    random, path = Random(6), tmp_path / "runs.db"
    with Store.open(path) as store:
        ids = record_like_runs(store, [(1.0 if at < 20 else 0.8) * random.gauss(1, 0.01) for at in range(30)])
    async with open_runs(path, size) as pilot:
        await press(pilot, "H")
        assert isinstance(pilot.app.screen, HistoryScreen)
        await see(pilot, "4K rand read QD1", ids[20], "worse", "-20", "22 Mar")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunsScreen)


async def test_a_run_without_others_like_it_says_how_many_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        record_like_runs(store, [1.0])
    async with open_runs(path, (120, 40)) as pilot:
        await press(pilot, "H")
        await see(pilot, "1 like run", "from 10 runs on", "One run: a chart takes two.")
        await press(pilot, "backspace")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        assert "History" in text_of(pilot)


async def test_searches_that_found_no_limit_are_said_and_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        for at in range(2):
            record_limit(store, promise="read.p99<=50us", run_id=f"c4t8h3w{at}")
    async with open_runs(path, (120, 40)) as pilot:
        await press(pilot, "H")
        await see(pilot, "2 like runs", "in 2 nothing kept read.p99<=50us", "No limit: nothing kept it.")
