"""Run: presets of one's own are edited in $EDITOR, renamed and deleted from the screen."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from bench_screens import PRESETS, Bench, open_bench
from msgspec.structs import replace
from stored_screens import press, text_of, told, until, write
from textual.app import App

from diskprof.presets.files.write import save_preset
from diskprof.presets.library import preset_of_file
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.kit.table import Table
from diskprof.tui.run.screen import RunScreen


@pytest.fixture
def file(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the preset under the cursor, which is called quick."""
    monkeypatch.setattr(App, "suspend", lambda _app: nullcontext())
    path = save_preset(replace(PRESETS[0], shipped=False, parameters=()), tmp_path)
    bench.presets = (preset_of_file(path), *PRESETS[1:])
    return path


async def test_an_edit_is_checked_and_can_be_mended(bench: Bench, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_bench(bench, (120, 40)) as pilot:
        assert "E Own preset" in text_of(pilot)
        monkeypatch.setenv("VISUAL", "sed -i s/randread/rubbish/")
        await press(pilot, "E", "e")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask) and "rw=rubbish" in text_of(pilot))
        assert file.name in text_of(pilot)
        monkeypatch.setenv("VISUAL", "sed -i s/rubbish/read/")
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
        assert preset_of_file(file).tests[0].jobs[0].options[0] == ("rw", "read")


async def test_an_editor_that_fails_is_told_of(bench: Bench, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "false")
    async with open_bench(bench) as pilot:
        await press(pilot, "E", "e")
        await until(pilot, lambda: "false failed with exit code 1." in told(pilot))
        assert isinstance(pilot.app.screen, RunScreen)


async def test_a_preset_is_renamed_and_stays_a_favourite(bench: Bench, file: Path) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "asterisk", "E", "r")
        await write(pilot, "Crystal")
        await press(pilot, "enter")
        await until(pilot, lambda: "Preset crystal already exists." in text_of(pilot))
        await write(pilot, "My disk")
        await press(pilot, "enter")
        new = file.with_name("my-disk.toml")
        await until(pilot, new.exists)
        bench.presets = (preset_of_file(new), *PRESETS[1:])
        await press(pilot, "ctrl+r")
        presets = pilot.app.screen.query_one("#presets", Table)
        await until(pilot, lambda: presets.key == "my-disk" and "My disk" in presets.text)
        assert "Favourites" in presets.text
        await until(pilot, lambda: not file.exists())


async def test_a_preset_is_deleted_after_a_question(bench: Bench, file: Path) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "E", "d", "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        await until(pilot, file.exists)
        await press(pilot, "E", "d", "y")
        await until(pilot, lambda: not file.exists())


async def test_a_shipped_preset_has_no_such_key(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        assert "Own preset" not in text_of(pilot)
        await press(pilot, "E")
        assert isinstance(pilot.app.screen, RunScreen)
