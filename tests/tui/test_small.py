"""A terminal that has no room: a notice stands in the place of the screen, and goes when there is room again."""

import math
from pathlib import Path

import pytest
from bench_screens import Bench, open_bench
from recorded import write_library
from stored_screens import Driver, press, settle, text_of

from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.terminal_app import LEAST, USABLE

TINY = ((20, 5), (39, 24), (80, 9), (14, 6))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    # However long a busy machine takes, the screen does not say that the run in progress is silent.
    monkeypatch.setattr("diskprof.tui.live.live_lines._SILENT_AFTER_S", math.inf)
    write_library(tmp_path / "runs.db")
    return Bench(tmp_path / "runs.db")


async def resize(pilot: Driver, width: int, height: int) -> str:
    await pilot.resize_terminal(width, height)
    await settle(pilot)
    await settle(pilot)
    return text_of(pilot)


def words_of(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("mode", "size"), list(zip("1234", TINY, strict=True)))
async def test_the_notice_has_room_and_goes_again(bench: Bench, mode: str, size: tuple[int, int]) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, mode)
        before, focused = text_of(pilot), pilot.app.focused
        small = await resize(pilot, *size)
        told = f"{size[0]}x{size[1]} is too small: diskprof needs {LEAST[0]}x{LEAST[1]}."
        assert words_of(small) == told
        assert await resize(pilot, 80, 24) == before
        assert pilot.app.focused is focused


async def test_where_a_screen_has_room_it_is_shown(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        assert "too small" not in await resize(pilot, *USABLE)
        assert "1 Run" in text_of(pilot)


async def test_keys_work_on_and_every_screen_knows_the_room(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "2", "3")
        await resize(pilot, 20, 5)
        for mode in ("4", "2", "1"):
            await press(pilot, mode)
            assert words_of(text_of(pilot)).startswith("20x5 is too small")
        await resize(pilot, 100, 30)
        for mode in ("2", "3", "4", "1"):
            await press(pilot, mode)
            screen = pilot.app.screen
            assert isinstance(screen, ModeScreen)
            assert "too small" not in text_of(pilot)
            assert text_of(pilot).splitlines()[-1].rstrip().endswith("? Help  q Quit")
        await resize(pilot, 30, 8)
        await press(pilot, "q")
        await resize(pilot, 80, 24)
        assert "Quit diskprof?" in text_of(pilot)
