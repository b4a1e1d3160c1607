"""Writing into a field."""

import pytest
from textual.app import App, ComposeResult
from textual.events import Key

from diskprof.tui.widgets.field import Field


class OneField(App[None]):
    def __init__(self, value: str = "") -> None:
        super().__init__()
        self.value = value

    def compose(self) -> ComposeResult:
        yield Field(self.value)


@pytest.mark.parametrize(
    ("value", "keys", "left"),
    [
        ("", [*"rand", "backspace", "backspace", *"qd8"], "raqd8"),
        ("", [*"random-", *["backspace"] * 8, *"qd8"], "qd8"),
        ("1g", ["ctrl+u", *"256m"], "256m"),
        ("4k", ["home", *"6", "delete", "end", *"i"], "6ki"),
        ("16", ["left", *"2", "right", *"k"], "126k"),
    ],
)
async def test_keys_that_come_at_once_are_done_in_their_order(value: str, keys: list[str], left: str) -> None:
    app = OneField(value)
    async with app.run_test() as pilot:
        app.query_one(Field).select_on_focus = False
        app.query_one(Field).cursor_position = len(value)
        await pilot.pause()
        for key in keys:
            app.post_message(Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        await pilot.pause()
        assert app.query_one(Field).value == left
