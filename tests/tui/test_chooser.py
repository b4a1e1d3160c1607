"""The palette: words find commands by name, key and what they do; it looks and answers like every other dialog."""

import pytest
from bench_screens import Bench, open_bench
from stored_screens import press, see, text_of, until

from diskprof.tui.dialogs.chooser import Choice, Chooser, matching
from diskprof.tui.dialogs.confirm import Answer, Ask

CHOICES = (
    Choice("Report", "r", "Write the run as Markdown, HTML or CSV"),
    Choice("Go to Compare", "4"),
    Choice("Compare", "c", "Compare with the newest other run of this preset"),
)


@pytest.mark.parametrize(
    ("words", "found"), [("", [0, 1, 2]), ("comp", [2, 1]), ("run", [0, 2]), ("COMPARE go", [1]), ("xyz", [])]
)
def test_every_word_has_to_be_there_and_titles_come_first(words: str, found: list[int]) -> None:
    assert matching(CHOICES, words) == found


async def test_the_palette_is_searched_and_left(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "ctrl+p")
        await see(pilot, "Commands", "type to search", "Enter runs it, Esc closes")
        await press(pilot, "ctrl+p", *"nothing like it", "enter")
        await see(pilot, "No match.")
        assert isinstance(pilot.app.screen, Chooser)
        await press(pilot, "escape")
        await until(pilot, lambda: not pilot.app.screen.is_modal)


async def test_a_theme_is_chosen_in_the_same_way(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "colon", *"theme", "enter")
        await see(pilot, "diskprof-light")
        assert "Enter" in text_of(pilot)
        await press(pilot, *"diskprof", "minus", *"light", "enter")
        await until(pilot, lambda: pilot.app.theme == "diskprof-light")


async def test_a_question_says_that_its_text_goes_on(bench: Bench) -> None:
    answers = (Answer("s", "Start", "start"), Answer("esc", "Back", "back"))
    async with open_bench(bench, (80, 24)) as pilot:
        pilot.app.push_screen(Ask("Start?", "A word.", answers))
        await see(pilot, "A word.", "Enter: ")
        assert "scrolls" not in text_of(pilot)
        await press(pilot, "escape")
        pilot.app.push_screen(Ask("Start?", "\n".join(f"Line {number}" for number in range(60)), answers))
        await see(pilot, "Line 3", "PgDn scrolls", "Start")
