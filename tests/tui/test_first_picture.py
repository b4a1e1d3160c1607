"""What must not be done twice until the first picture stands: a fifth of the time to it, each."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bench_screens import Bench, open_bench
from stored_screens import press, see, settle
from textual.app import App
from textual.css import stylesheet
from textual.css.stylesheet import StylesheetParseError

from diskprof.tui.app import DiskprofApp
from diskprof.tui.screens.run import RunScreen
from diskprof.tui.sheets import KeptStylesheet


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "runs.db")


async def test_each_style_sheet_is_parsed_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: Counter[object] = Counter()
    parse = stylesheet.parse

    def counted(scope: str, css: str, read_from: Any, **more: Any) -> Any:
        parsed[read_from] += 1
        return parse(scope, css, read_from, **more)

    monkeypatch.setattr(stylesheet, "parse", counted)
    async with open_bench(bench, (120, 40)) as pilot:
        for key in "2341":
            await press(pilot, key)
    assert any("run.tcss" in str(read_from) for read_from in parsed)
    assert {read_from: times for read_from, times in parsed.items() if times > 1} == {}


async def test_another_theme_is_another_parse(bench: Bench) -> None:
    async with open_bench(bench, (120, 40)) as pilot:
        before = pilot.app.screen.styles.background
        pilot.app.theme = "diskprof-light" if pilot.app.theme != "diskprof-light" else "diskprof-dark"
        await settle(pilot)
        assert pilot.app.screen.styles.background != before


def test_of_a_sheet_that_cannot_be_parsed_nothing_is_taken_over() -> None:
    sheet = KeptStylesheet(variables={"ink": "red"})
    sheet.add_source("Static { color: $ink; }", read_from=("one", ""))
    sheet.reparse()
    rules = sheet.rules
    sheet.add_source("Static { color: no-such-colour-at-all 5; }", read_from=("two", ""))
    with pytest.raises(StylesheetParseError):
        sheet.reparse()
    assert [rule.selectors for rule in sheet._rules] == [rule.selectors for rule in rules]


@pytest.mark.parametrize(("size", "name"), [((120, 40), "-wide"), ((80, 24), "-narrow")])
async def test_the_first_layout_is_the_right_one_and_no_picture_is_thrown_away(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], name: str
) -> None:
    layouts: list[bool] = []
    thrown_away = []
    lay_out, display = RunScreen._refresh_layout, App._display

    def noted_layout(self: RunScreen, *args: Any, **more: Any) -> None:
        layouts.append(self.has_class(name))
        lay_out(self, *args, **more)

    def noted_display(self: DiskprofApp, screen: Any, renderable: Any) -> None:
        thrown_away.append(renderable is not None and self._batch_count > 0)
        display(self, screen, renderable)

    monkeypatch.setattr(RunScreen, "_refresh_layout", noted_layout)
    monkeypatch.setattr(App, "_display", noted_display)
    async with open_bench(bench, size) as pilot:
        await see(pilot, "Device", "nothing running")
        assert layouts
        assert all(layouts)
        assert thrown_away
        assert not any(thrown_away)
