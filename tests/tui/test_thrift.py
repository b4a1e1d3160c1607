"""Fewer bytes to the terminal, the same picture: what is rewritten is shown by pyte as what was to be sent."""

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskprof.tui.kit.terminal.plain_styles import plain
from diskprof.tui.kit.terminal.thrift import Thrift

COLUMNS, ROWS = 20, 5
_STYLES = st.sampled_from(
    [
        "",
        "1",
        "7",
        "4",
        "94;49",
        "39;49",
        "1;38;5;75;48;5;235",
        "38;5;188;48;5;235",
        "38;2;1;2;3;48;2;9;8;7",
        "90",
        "41",
    ]
)
_TEXTS = st.text(alphabet="ab  日é─", min_size=1, max_size=8)
_PIECES = st.lists(st.tuples(_STYLES, _TEXTS), min_size=1, max_size=4)
_SPANS = st.tuples(st.integers(1, ROWS), st.integers(1, COLUMNS), _PIECES)
_FRAMES = st.lists(st.lists(_SPANS, min_size=1, max_size=6), min_size=1, max_size=4)


def _fitting(text: str, room: int) -> str:
    """As much of `text` as fits."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= room else set_cell_size(text, room)


def frame(spans: list[tuple[int, int, list[tuple[str, str]]]]) -> str:
    """As Textual sends it: every piece with its whole style, then a reset."""
    from rich.cells import cell_len

    parts = ["\x1b[?2026h"]
    for number, (row, column, pieces) in enumerate(spans):
        if number and spans[number - 1][0] < ROWS:
            parts.append("\n")
        parts.append(f"\x1b[{row};{column}H")
        at = column - 1
        for style, text in pieces:
            text = _fitting(text, COLUMNS - at)
            at += cell_len(text)
            parts.append(f"\x1b[{style}m{text}\x1b[0m" if style else text)
    return "".join([*parts, "\x1b[1;1H\x1b[?2026l"])


def shown(data: str) -> list[list[tuple[object, ...]]]:
    """Every cell that a terminal has after that, without what cannot be seen of a blank."""
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(data.replace("\n", "\r\n"))
    cells = []
    for row in range(ROWS):
        line = []
        for column in range(COLUMNS):
            char = screen.buffer[row][column]
            blank = char.data == " " and not char.reverse and not char.underscore
            seen = (char.data, char.bg, char.reverse, char.underscore)
            line.append(seen if blank else (*seen, char.fg, char.bold))
        cells.append(line)
    return cells


def without_halves(frames: list[str]) -> bool:
    """Whether no frame writes over half of a wide sign: terminals do not agree on what is left."""
    return not any("日" in text for text in frames)


@pytest.mark.parametrize("columns", [0, COLUMNS])
@settings(max_examples=150)
@given(frames=_FRAMES)
def test_the_terminal_shows_the_same(columns: int, frames: list[list[tuple[int, int, list[tuple[str, str]]]]]) -> None:
    thrift = Thrift()
    thrift.only_changes(columns)
    sent = [frame(spans) for spans in frames]
    if len(sent) > 1 and not without_halves(sent):
        sent = [text.replace("日", "x") for text in sent]
    # From what a terminal shows at the beginning of a program: nothing.
    begin = "\x1b[2J"
    out = [thrift.shorten(begin), *map(thrift.shorten, sent)]
    assert shown("".join(out)) == shown(begin + "".join(sent))


def test_what_stands_behind_a_sign_that_is_made_wide_stays_in_its_column() -> None:
    thrift = Thrift()
    thrift.only_changes(COLUMNS)
    thrift.shorten("\x1b[1;1H\u2764\ufe0fab")
    assert thrift.shorten("\x1b[1;1H\u2764\ufe0fac") == "\x1b[1;4Hc"


def test_what_stands_there_is_not_sent_again() -> None:
    thrift = Thrift()
    thrift.only_changes(COLUMNS)
    first = frame([(1, 1, [("1;94;49", "name"), ("39;49", " " * 16)]), (2, 1, [("39;49", "value 12" + " " * 12)])])
    assert thrift.shorten(first) == (
        "\x1b[?2026h\x1b[1;1H\x1b[0;1;94mname\x1b[K\x1b[2;1H\x1b[0mvalue 12\x1b[K\x1b[1;1H\x1b[?2026l"
    )
    assert thrift.shorten(first) == "\x1b[?2026h\x1b[1;1H\x1b[?2026l"
    assert thrift.shorten(first.replace("12", "13")) == "\x1b[?2026h\x1b[2;8H3\x1b[1;1H\x1b[?2026l"


def test_after_it_was_out_of_our_hands_all_is_sent() -> None:
    thrift = Thrift()
    thrift.only_changes(COLUMNS)
    whole = frame([(1, 1, [("94", "name")])])
    first = thrift.shorten(whole)
    thrift.forget()
    assert thrift.shorten(whole) == first
    thrift.shorten("\x1b[?1049h")
    assert "name" in thrift.shorten(whole)


@pytest.mark.parametrize(
    "sequence",
    ["\x1b]52;c;eA==\a", "\x1b[6n", "\x1b[?2004h", "\x1b[>25u", "\x1bP\x1b]52;c;eA==\a\x1b\\", "\x1b]0;t\x1b\\"],
)
def test_other_sequences_pass_as_they_are(sequence: str) -> None:
    assert Thrift().shorten(sequence) == sequence


@given(st.text())
def test_plain_text_is_ascii_in_as_many_cells(text: str) -> None:
    from rich.cells import cell_len

    assert plain(text).isascii()
    for char in text:
        assert len(plain(char)) == (cell_len(char) if ord(char) >= 0x80 else 1)


def test_signs_keep_their_meaning() -> None:
    assert plain("▶ ✗ ╭──╮ │ é µs … ↑ 日 \u200b⣿") == "> x +--+ | e us ~ ^ ?? :"
