"""What is pasted holds no escape that could be taken for keys, however the pieces come."""

from hypothesis import assume, given
from hypothesis import strategies as st

from diskprof.tui.kit.terminal.pasting import PasteFilter

BEGIN, END = "\x1b[200~", "\x1b[201~"


def filtered(*pieces: str) -> str:
    paste = PasteFilter()
    return "".join(map(paste.filter, pieces))


def test_keys_pass_as_they_are() -> None:
    assert filtered("a\x1b[A\r", "\x1b", "[B\x03") == "a\x1b[A\r\x1b[B\x03"


def test_controls_within_a_paste_are_gone() -> None:
    pasted = f"{BEGIN}one\x1b]52;c;QQ==\x07\r\ntwo\x9b31m\ttab\r{END}q"
    assert filtered(pasted) == f"{BEGIN}one]52;c;QQ==\ntwo31m\ttab\n{END}q"


@given(st.text(alphabet="ab\x1b[201~\r\x07", max_size=30), st.data())
def test_the_pieces_do_not_matter(inner: str, data: st.DataObject) -> None:
    assume(END not in inner + END[:-1])
    whole = f"x{BEGIN}{inner}{END}y"
    cut = data.draw(st.sampled_from([0, *range(4, len(whole) + 1)]))
    once, twice = filtered(whole), filtered(whole[:cut], whole[cut:])
    assert once.count("\x1b") == twice.count("\x1b") == 2
    assert twice.replace("\n", "").replace("\r", "") == once.replace("\n", "")
