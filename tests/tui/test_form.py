"""A form with more fields than lines."""

from bench_screens import Bench, open_bench
from stored_screens import press, see, text_of, until

from diskprof.tui.dialogs.form import Form, FormField


async def test_a_form_says_which_fields_are_in_sight(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        form = Form("Parameters", [FormField(f"f{at}", f"Parameter {at}", "1") for at in range(9)])
        await pilot.app.push_screen(form)
        await see(pilot, "fields 1-6 of 9 Enter: OK, Esc: cancel")
        await press(pilot, *["down"] * 8)
        await see(pilot, "fields 4-9 of 9")
        await pilot.resize_terminal(80, 50)
        await until(pilot, lambda: "of 9" not in text_of(pilot))


async def test_fields_are_counted_where_they_are_scrolled_to(bench: Bench) -> None:
    """Also before the screen is laid out for it: on a busy machine nothing else may make it count again."""
    async with open_bench(bench) as pilot:
        form = Form("Parameters", [FormField(f"f{at}", f"Parameter {at}", "1") for at in range(9)])
        await pilot.app.push_screen(form)
        await see(pilot, "fields 1-6 of 9")
        fields = form.query_one("#form-fields")
        fields.scroll_to(y=fields.max_scroll_y, animate=False, immediate=True)
        form._mark()
        assert str(form.query_one(".dialog").border_subtitle).startswith("fields 4-9 of 9")
