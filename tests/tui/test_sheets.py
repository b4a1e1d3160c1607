"""A style sheet says something about its own screens only: Textual keeps every one that it has read once, for all of them."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from stored_screens import StillSession, open_runs, press, see, text_of
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

import diskprof.tui
from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.form import FormDialog, FormField

ROOM = Path(diskprof.tui.__file__).parent
_OF_THE_APP = ("DiskprofApp", "-ascii")
SHEETS = sorted(ROOM.glob("*/*.tcss"))


@pytest.mark.parametrize(("keys", "words"), [(("end", "r"), "Enter: write"), (("end", "t"), "Enter: save")])
async def test_a_dialog_looks_the_same_after_another(path: Path, keys: tuple[str, ...], words: str) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, *keys)
        await see(pilot, words)
        before = text_of(pilot)
        await press(pilot, "escape")
        pilot.app.push_screen(FormDialog("Another", [FormField("one", "One", "1")]))
        await see(pilot, "Enter: OK")
        await press(pilot, "escape", keys[-1])
        await see(pilot, words)
        assert text_of(pilot) == before


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.relative_to(ROOM)))
def test_every_rule_begins_with_the_screen_that_it_is_for(sheet: Path, tmp_path: Path) -> None:
    for found in pkgutil.walk_packages(diskprof.tui.__path__, "diskprof.tui."):
        importlib.import_module(found.name)
    names = {screen.__name__ for screen in _all_of(Screen) if screen.__module__.startswith("diskprof.")}
    read = Stylesheet(variables=DiskprofApp(StillSession(tmp_path / "runs.db")).get_css_variables())
    read.read(sheet)
    assert read.rules
    for rule in read.rules:
        for chosen in rule.selector_set:
            first = next(one.name for one in chosen.selectors if one.name not in _OF_THE_APP)
            assert first in names, rule.selectors


def _all_of(kind: type) -> set[type]:
    return {kind}.union(*(_all_of(one) for one in kind.__subclasses__()))
