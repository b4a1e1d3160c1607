"""Writing into a field."""

import pytest
from textual.app import App, ComposeResult
from textual.events import Key
from textual.widgets import Label

from diskprof.tui.dialogs.form import FormDialog, FormField
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.theme import meanings


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


async def test_enter_and_a_key_that_moves_on_are_done_in_their_order() -> None:
    class Two(OneField):
        done = ""

        def compose(self) -> ComposeResult:
            yield Field(id="first")
            yield Field(id="second")

        def on_input_submitted(self, event: Field.Submitted) -> None:
            self.done += f"{event.input.id} {event.value}"

    app = Two()
    async with app.run_test() as pilot:
        await pilot.pause()
        for key in ("a", "enter"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        app.call_later(app.action_focus_next)
        await pilot.pause()
        await pilot.pause()
        assert app.done == "first a"


async def test_up_and_down_lead_to_another_field_of_a_form_that_has_no_room_for_all() -> None:
    names = [f"field{number}" for number in range(8)]

    class Plain(App[None]):
        def get_theme_variable_defaults(self) -> dict[str, str]:
            return meanings(self.current_theme)

    async with Plain().run_test(size=(80, 16)) as pilot:
        await pilot.app.push_screen(
            FormDialog("Eight fields", [FormField(name, name, "1", short=True) for name in names])
        )
        await pilot.pause()
        fields = pilot.app.screen.query_one("#form-fields")
        assert fields.max_scroll_y > 0
        for number, label in enumerate(pilot.app.screen.query(Label)):
            if number:
                await pilot.press("down")
                await pilot.pause()
            field = pilot.app.screen.query_one(f"#field-{names[number]}")
            assert pilot.app.focused is field
            assert all(fields.region.contains_region(part.region) for part in (label, field)), names[number]
        await pilot.press("up", "9")
        assert pilot.app.screen.query_one("#field-field6", Field).value == "9"


async def test_of_a_long_value_the_end_is_in_sight() -> None:
    class Long(App[None]):
        def compose(self) -> ComposeResult:
            yield Field(f"/{'directory/' * 20}end.md", id="path", compact=True)

    async with Long().run_test(size=(40, 5)) as pilot:
        field = pilot.app.screen.query_one("#path", Field)
        for width in (40, 30):
            await pilot.resize_terminal(width, 5)
            await pilot.pause()
            shown = "".join(segment.text for segment in field.render_line(0))
            assert shown.rstrip().endswith("end.md"), shown
        assert field.selected_text == ""
