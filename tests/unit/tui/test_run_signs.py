"""The colours of words."""

from diskprof.reports.words import Meaning, Word
from diskprof.tui.kit.painted import INKS
from diskprof.tui.shell.run_signs import ink_of


def test_each_meaning_has_a_colour() -> None:
    for meaning in Meaning:
        assert ink_of(Word("", "", meaning)) in {"", *INKS}
