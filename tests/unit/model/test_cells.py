"""Cells of a terminal: text that is cut, filled and wrapped by what it takes there."""

import sys

import pytest
from rich.cells import cell_len

from diskprof.model.cells import cut, cut_at_word, fit, width_of, wrap
from diskprof.model.text import clean, in_ascii

TEXTS = ("", "abc", "Größe", "日本語", "e\u0301", "ab\u0301cd", "한글", "⣿⣀⡀", "█▇▁", "नमस्ते", "µs · 4–8")


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_as_wide_here_as_the_screen_has_it(text: str) -> None:
    assert width_of(text) == cell_len(text)


def test_nearly_every_character_is_as_wide_as_the_screen_has_it() -> None:
    """Rich knows a later Unicode than Python; what both know is alike but for a few letters that join others."""
    chars = [char for char in map(chr, range(0x20, sys.maxunicode + 1)) if clean(char) == char]
    assert sum(width_of(char) != cell_len(char) for char in chars) < 400


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", range(8))
def test_what_is_fitted_takes_just_its_cells(text: str, width: int) -> None:
    for middle in (False, True):
        assert width_of(fit(text, width, middle=middle)) == width
        assert width_of(cut(text, width, middle=middle)) <= width


def test_a_sentence_is_cut_between_words() -> None:
    text = "3 conditions differ: host, device model"
    assert cut_at_word(text, 39) == text
    assert cut_at_word(text, 38) == "3 conditions differ: host, device …"
    assert cut_at_word(text, 27) == "3 conditions differ: host …"
    assert cut_at_word(text, 26) == "3 conditions differ …"
    assert cut_at_word("conditions", 6) == "condi…"


def test_a_mark_needs_room_for_as_much_text() -> None:
    assert [cut("abcdef", width) for width in (3, 4, 5)] == ["abc", "ab..", "abc.."]
    assert [fit("abcdef", width) for width in (1, 2, 3)] == ["a", "a…", "ab…"]
    assert fit("abcdef", 4, middle=True) == "ab…f"
    assert fit("ab", 4, right=True) == "  ab"


def test_a_long_word_is_split_where_that_is_wanted() -> None:
    assert wrap("one abcdefgh two", 5, "- ", split=True) == ["- one", "  abc", "  def", "  gh", "  two"]
    assert wrap("one abcdefgh two", 5, "- ") == ["- one", "  abcdefgh", "  two"]


@pytest.mark.parametrize(
    ("sign", "ascii_sign"), [("✓", "v"), ("✗", "x"), ("·", "."), ("…", "~"), ("▸", ">"), ("│", "|")]
)
def test_a_sign_has_one_form_in_ascii(sign: str, ascii_sign: str) -> None:
    assert in_ascii(sign) == ascii_sign
