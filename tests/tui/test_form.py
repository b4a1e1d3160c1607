"""A form with more fields than lines."""

import pytest
from bench_screens import Bench, open_bench
from stored_screens import press, see, text_of, until

from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.form import FormDialog, FormField
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.palette import Depth


async def test_a_form_says_which_fields_are_in_sight(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        form = FormDialog("Parameters", [FormField(f"f{at}", f"Parameter {at}", "1") for at in range(9)])
        await pilot.app.push_screen(form)
        await see(pilot, "fields 1-6 of 9 Enter: OK, Esc: cancel")
        await press(pilot, *["down"] * 8)
        await see(pilot, "fields 4-9 of 9")
        await pilot.resize_terminal(80, 50)
        await until(pilot, lambda: "of 9" not in text_of(pilot))


async def test_fields_are_counted_where_they_are_scrolled_to(bench: Bench) -> None:
    """Also before the screen is laid out for it: on a busy machine nothing else may make it count again."""
    async with open_bench(bench) as pilot:
        form = FormDialog("Parameters", [FormField(f"f{at}", f"Parameter {at}", "1") for at in range(9)])
        await pilot.app.push_screen(form)
        await see(pilot, "fields 1-6 of 9")
        fields = form.query_one("#form-fields")
        fields.scroll_to(y=fields.max_scroll_y, animate=False, immediate=True)
        form._mark()
        assert str(form.query_one(".dialog").border_subtitle).startswith("fields 4-9 of 9")


@pytest.mark.parametrize(("charset", "edge"), [(Charset.BRAILLE, "\u258c"), (Charset.ASCII, "|")])
async def test_an_empty_field_is_seen_in_sixteen_colours(bench: Bench, charset: Charset, edge: str) -> None:
    """No ground tells it from the dialog there."""
    app = DiskprofApp(bench.session(), depth=Depth.SIXTEEN, charset=charset)
    async with app.run_test() as pilot:
        await app.push_screen(FormDialog("Parameters", [FormField("a", "A", "1"), FormField("b", "B", "")]))
        await see(pilot, "Parameters")
        empty = app.screen.query_one("#field-b").region
        await until(pilot, lambda: text_of(pilot).splitlines()[empty.y][empty.x] == edge)
