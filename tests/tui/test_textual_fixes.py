"""What Textual does without `kit/textual_fixes`: where one of these fails, Textual has mended it, and our own way can leave."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.css import stylesheet
from textual.design import ColorSystem
from textual.dom import DOMNode
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Input, Label

import diskprof.tui
from diskprof.tui.kit.textual_fixes import FixedApp, set_timer


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[Counter[Any]]:
    """How often `owner.name` was called, by its last argument."""
    calls: Counter[Any] = Counter()
    original = getattr(owner, name)

    def counting(*args: Any, **more: Any) -> Any:
        calls[str(more.get("read_from", args[-1] if args else ""))] += 1
        return original(*args, **more)

    monkeypatch.setattr(owner, name, counting)
    yield calls


class First(Screen[None]):
    CSS = "First { color: red; }"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Label("first")


class Second(Screen[None]):
    CSS = "Second { color: blue; }"


class Plain(App[None]):
    def on_mount(self) -> None:
        self.push_screen(First())


async def test_textual_parses_a_sheet_again_for_each_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(monkeypatch, stylesheet, "parse") as parsed:
        async with Plain().run_test() as pilot:
            await pilot.app.push_screen(Second())
    assert max(parsed.values()) > 1


def test_textual_mixes_the_colours_of_a_theme_each_time_that_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, times in ((App, 2), (FixedApp, 0)):
        app = kind()
        with counted(monkeypatch, ColorSystem, "generate") as mixed:
            assert app.get_css_variables() == app.get_css_variables()
        assert sum(mixed.values()) == times


async def test_textual_lays_a_screen_out_before_its_breakpoints_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts = []
    lay_out = Screen._refresh_layout

    def noted(self: Screen[Any], *args: Any, **more: Any) -> None:
        if isinstance(self, First):
            layouts.append(self.has_class("-wide"))
        lay_out(self, *args, **more)

    monkeypatch.setattr(Screen, "_refresh_layout", noted)
    async with Plain().run_test(size=(80, 24)) as pilot:
        await pilot.pause()
    assert layouts
    assert not layouts[0]


async def test_textual_finds_the_styles_of_a_new_screen_again_when_it_comes_into_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with counted(monkeypatch, DOMNode, "update_node_styles") as found:
        async with Plain().run_test():
            pass
    assert any(name.startswith("First(") or "True" in name for name in found)


async def test_textual_draws_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    thrown_away = []
    display = App._display

    def noted(self: App[Any], screen: Any, renderable: Any) -> None:
        thrown_away.append(renderable is not None and self._batch_count > 0)
        display(self, screen, renderable)

    monkeypatch.setattr(App, "_display", noted)
    async with Plain().run_test() as pilot:
        with pilot.app.batch_update():
            pilot.app.screen.query_one(Label).update("other")
            pilot.app.screen._compositor_refresh()
            await pilot.pause()
    assert any(thrown_away)


class Fields(Screen[None]):
    """`o` opens the second field; tab leads from the first to it."""

    BINDINGS = [Binding("o", "open", "Open")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Label("words", id="words")
        yield Input(id="one")
        yield Input(id="two")

    def on_mount(self) -> None:
        self.query_one("#one", Input).focus()

    def action_open(self) -> None:
        self.query_one("#two", Input).focus()


@pytest.mark.parametrize(("kind", "written"), [(App, ("x", "")), (FixedApp, ("", "x"))])
async def test_textual_writes_what_comes_with_tab_in_the_field_before(
    kind: type[App[None]], written: tuple[str, str]
) -> None:
    async with kind().run_test() as pilot:
        await pilot.app.push_screen(Fields())
        await pilot.pause()
        for key, character in (("tab", None), ("x", "x")):
            pilot.app.post_message(Key(key, character))
        await pilot.pause()
        await pilot.pause()
        one, two = pilot.app.screen.query(Input).results(Input)
        assert (one.value, two.value) == written


async def test_textual_loses_a_timer_that_is_held_up_as_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine, between two lines of the timer's task."""
    seconds, called = count(), list[str]()
    async with Plain().run_test() as pilot:
        with monkeypatch.context() as patch:
            patch.setattr("textual._time.get_time", lambda: float(next(seconds)))
            for timer in (
                pilot.app.set_timer(0.005, lambda: called.append("Textual's")),
                set_timer(pilot.app, 0.005, lambda: called.append("ours")),
            ):
                assert timer._task
                await timer._task
        await pilot.pause()
    assert called == ["ours"]


def test_every_timer_that_calls_once_is_one_that_is_not_lost() -> None:
    modules = [path for path in Path(diskprof.tui.__file__).parent.rglob("*.py") if path.name != "textual_fixes.py"]
    assert len(modules) > 50
    assert [path.name for path in modules if ".set_timer(" in path.read_text()] == []


def test_textual_tells_neither_what_keys_were_changed_nor_all_bindings() -> None:
    assert not {"keymap", "bindings", "normalize_keymap"} & set(dir(App))
