"""Foreign text is harmless on a terminal (F39)."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from diskprof.model.cells import shorten_middle, width_of
from diskprof.model.text import clean


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in clean(text))


def test_escapes_are_shown_not_sent() -> None:
    assert clean("disk\x1b]52;c;aGk=\x07 \x9b31m") == "disk\ufffd]52;c;aGk=\ufffd \ufffd31m"
    assert clean("a\tb\nc") == "a b\ufffdc"
    assert clean("a\nb", keep_newlines=True) == "a\nb"
    assert clean("Größe 5 µs ─") == "Größe 5 µs ─"


@given(st.text(max_size=60), st.integers(min_value=0, max_value=70))
def test_shortened_text_fits_and_keeps_both_ends(text: str, width: int) -> None:
    short = shorten_middle(text, width)
    assert width_of(short) <= width
    if 5 <= width < width_of(text):
        assert short[0] == text[0] and short[-1] == text[-1]
