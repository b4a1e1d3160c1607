"""What must not be done twice until the first picture stands: a fifth of the time to it, each."""

import sys
from collections import Counter
from typing import Any

import pytest
from bench_screens import Bench, open_bench
from stored_screens import press, see, settle
from textual.app import App
from textual.css import stylesheet
from textual.css.stylesheet import StylesheetParseError
from textual.design import ColorSystem
from textual.dom import DOMNode
from textual.geometry import Region
from textual.widget import Widget

from diskprof.tui.app import DiskprofApp
from diskprof.tui.kit.textual_fixes import KeptStylesheet
from diskprof.tui.run.screen import RunScreen


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


async def test_the_colours_of_a_theme_are_mixed_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed: Counter[str] = Counter()
    generate = ColorSystem.generate

    def counted(self: ColorSystem) -> dict[str, str]:
        mixed["inks of our own" if "painted" in sys._getframe(1).f_code.co_filename else str(self.primary.hex)] += 1
        return generate(self)

    monkeypatch.setattr(ColorSystem, "generate", counted)
    async with open_bench(bench, (120, 40)) as pilot:
        await see(pilot, "Device", "nothing running")
        assert mixed
        assert {colour: times for colour, times in mixed.items() if times > 1} == {}


async def test_the_styles_of_a_screen_are_not_found_again_when_it_comes_into_sight(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: list[DOMNode] = []
    update = DOMNode.update_node_styles

    def noted(self: DOMNode, animate: bool = True) -> None:
        whole.append(self)
        update(self, animate)

    monkeypatch.setattr(DOMNode, "update_node_styles", noted)
    async with open_bench(bench, (120, 40)) as pilot:
        await see(pilot, "Device", "nothing running")
        assert not [node for node in whole if isinstance(node, RunScreen)]
        for key in "31":
            await press(pilot, key)
        # Other styles may hold by now, such as those of another theme.
        assert [node for node in whole if isinstance(node, RunScreen)]


@pytest.mark.parametrize("theme", ["diskprof-dark", "diskprof-16"])
async def test_what_nothing_is_drawn_on_looks_as_textual_would_draw_it(bench: Bench, theme: str) -> None:
    async with open_bench(bench, (120, 40)) as pilot:
        pilot.app.theme = theme
        await settle(pilot)
        rooms = [*pilot.app.screen.query("Across, Down"), pilot.app.screen]
        assert len(rooms) > 3
        for room in rooms:
            if not room.size:
                continue
            crop = Region(0, 0, room.size.width, 2)
            theirs = Widget.render_lines(room, crop)
            for one, other in zip(room.render_lines(crop), theirs, strict=True):
                assert one.text == other.text
                assert {segment.style for segment in one} == {segment.style for segment in other}
