"""What draws itself line by line: only what changed is drawn, nothing foreign reaches the terminal, the cursor keeps its row."""

from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region

from diskprof.model.cells import fit, wrap
from diskprof.tui.kit.painted import Line, Lines, spread, width_of
from diskprof.tui.kit.palette import Depth
from diskprof.tui.kit.paragraphs import content_of, paragraph, signed
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.kit.theme import DARK, meanings, themes


class Canvas(App[None]):
    """A list above some lines."""

    CSS = "Table, Lines { height: 4; }"

    def __init__(self, *, plain: bool = False) -> None:
        super().__init__()
        self.plain = plain
        for theme in themes(Depth.TRUE):
            self.register_theme(theme)
        self.theme = DARK

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return meanings(self.current_theme)

    def compose(self) -> ComposeResult:
        yield Table(id="list")
        yield Lines(id="lines")


class Counted(Lines):
    """Writes down what it was asked to draw."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[Region] = []

    def refresh(self, *regions: Region, **more: bool) -> "Counted":
        self.drawn += regions
        return super().refresh(*regions, **more)  # type: ignore[return-value]


def rows(*keys: str, headings: Sequence[str] = ()) -> list[Row]:
    return [Row(key, [(" ", ""), (key, "")], heading=key in headings) for key in keys]


def drawn(app: App[None]) -> list[str]:
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


async def test_lines_that_did_not_change_cost_nothing() -> None:
    class One(Canvas):
        def compose(self) -> ComposeResult:
            yield Counted()

    async with One().run_test(size=(20, 6)) as pilot:
        lines = pilot.app.query_one(Counted)
        picture: list[Line] = [[("one", "")], [("two", "")], [("three", "")]]
        lines.put(picture)
        lines.drawn.clear()
        lines.put([list(line) for line in picture])
        assert lines.drawn == []
        lines.put([picture[0], [("TWO", "")], picture[2]])
        assert lines.drawn == [Region(0, 1, 20, 1)]
        lines.drawn.clear()
        lines.put([picture[0]])
        assert [region.y for region in lines.drawn] == [1, 2]
        assert lines.text == "one"


@pytest.mark.parametrize("bad", ["\x1b]52;c;aGk=\x07", "\x9b31m", "\u202e", "a\u200bb", "\x7f", "line\nline"])
async def test_nothing_that_moves_a_terminal_is_drawn(bad: str) -> None:
    async with Canvas().run_test(size=(40, 10)) as pilot:
        pilot.app.query_one(Lines).put([[(f"[/]{bad}[red]", "read")]])
        pilot.app.query_one(Table).show(lambda _width: [Row("a", [(" ", ""), (f"[/]{bad}", "")])])
        await pilot.pause()
        shown = "\n".join(drawn(pilot.app))
        assert "[/]" in shown
        assert not set(bad) & set("\x1b\x07\x9b\u202e\u200b\x7f") & set(shown)


async def test_signs_have_plain_forms() -> None:
    async with Canvas(plain=True).run_test(size=(40, 10)) as pilot:
        pilot.app.query_one(Lines).put([[("✓ ├─sda 0–80k …", "")]])
        await pilot.pause()
        assert "\n".join(drawn(pilot.app)).isascii()


async def test_the_cursor_keeps_its_row_while_others_come_and_go() -> None:
    async with Canvas().run_test(size=(20, 10)) as pilot:
        table = pilot.app.query_one(Table)
        table.focus()
        table.show(lambda _width: rows("a", "b", "c"))
        await pilot.press("down")
        assert table.key == "b"
        table.show(lambda _width: rows("x", "y", "a", "b", "c"))
        assert table.key == "b"
        table.show(lambda _width: rows("x", "y", "a", "c"))
        assert table.key == "c"
        table.show(lambda _width: [])
        assert table.key is None
        table.show(lambda _width: rows("z"))
        assert table.key == "z"


async def test_the_cursor_is_marked_without_colour_and_passes_over_headings() -> None:
    async with Canvas().run_test(size=(20, 10)) as pilot:
        table = pilot.app.query_one(Table)
        table.focus()
        table.show(lambda _width: rows("A", "a1", "B", "b1", headings=("A", "B")))
        await pilot.pause()
        assert table.key == "a1"
        assert drawn(pilot.app)[1] == "▸a1"
        await pilot.press("down")
        assert table.key == "b1"
        await pilot.press("down")
        assert table.key == "b1"
        await pilot.press("up")
        assert table.key == "a1"


async def test_keys_move_by_rows_pages_and_to_the_ends() -> None:
    keys = [f"k{at:02}" for at in range(30)]
    async with Canvas().run_test(size=(20, 10)) as pilot:
        table = pilot.app.query_one(Table)
        table.focus()
        table.show(lambda _width: rows(*keys))
        await pilot.pause()
        for key, there in (("end", "k29"), ("home", "k00"), ("pagedown", "k03"), ("pageup", "k00"), ("j", "k01")):
            await pilot.press(key)
            assert table.key == there
            await pilot.pause()
            assert f"▸{there}" in drawn(pilot.app)
        await pilot.press("k")
        assert table.key == "k00"


async def test_a_wish_for_a_row_is_kept_until_the_row_is_there() -> None:
    async with Canvas().run_test(size=(20, 10)) as pilot:
        table = pilot.app.query_one(Table)
        table.key = "late"
        table.show(lambda _width: rows("a", "b"))
        assert table.key == "a"
        table.show(lambda _width: rows("a", "b", "late"))
        assert table.key == "late"


async def test_a_click_moves_and_a_double_click_chooses() -> None:
    chosen = []

    class Clicked(Canvas):
        def on_table_chosen(self, event: Table.Chosen) -> None:
            chosen.append(event.key)

    async with Clicked().run_test(size=(20, 10)) as pilot:
        table = pilot.app.query_one(Table)
        table.show(lambda _width: rows("a", "b", "c"))
        await pilot.pause()
        await pilot.click(Table, offset=(2, 2))
        assert table.key == "c"
        await pilot.double_click(Table, offset=(2, 1))
        assert (table.key, chosen) == ("b", ["b"])


async def test_rows_are_made_anew_for_another_width() -> None:
    async with Canvas().run_test(size=(20, 10)) as pilot:
        widths = []

        def build(width: int) -> list[Row]:
            widths.append(width)
            return rows("a")

        pilot.app.query_one(Table).show(build)
        await pilot.resize_terminal(50, 10)
        await pilot.pause()
        assert widths[-1] > widths[0]


async def test_what_was_shown_while_the_list_was_hidden_stands_there_afterwards() -> None:
    async with Canvas().run_test(size=(20, 10)) as pilot:
        table = pilot.app.query_one(Table)
        table.show(lambda _width: rows("old"))
        table.display = False
        await pilot.pause()
        table.show(lambda _width: rows("new", "newer"))
        table.display = True
        await pilot.pause()
        assert [row.key for row in table.rows] == ["new", "newer"]
        assert "newer" in drawn(pilot.app)[1]


def test_text_is_fitted_by_cells_and_not_by_characters() -> None:
    assert fit("abc", 5) == "abc  "
    assert fit("abc", 5, right=True) == "  abc"
    assert fit("abcdef", 4) == "abc…"
    assert width_of([(fit("日本語の名前", 7), "")]) == 7


def test_the_right_side_of_a_spread_line_stays() -> None:
    line = spread([("a long left side", "")], [("right", "strong")], 12)
    assert "".join(text for text, _ in line) == "a long…right"


def test_figures_stay_with_their_units() -> None:
    assert wrap("a test file of 4 KiB takes 29 s", 18, split=True) == ["a test file of", "4 KiB takes 29 s"]
    assert wrap("abcdefghij", 4, split=True) == ["abcd", "efgh", "ij"]
    assert wrap("日本語日本語", 5, split=True) == ["日本", "語日", "本語"]
    assert paragraph("  ", 5) == []


def test_paragraphs_hang_under_their_sign() -> None:
    lines = ["".join(text for text, _ in line) for line in signed(("!", "warn"), "one two three four", 13)]
    assert lines == [" ! one two", "   three", "   four"]
    content = content_of(paragraph("one [/] two", 40), indent=3)
    assert content.plain == "one [/] two"
