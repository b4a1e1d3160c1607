"""The colours of words."""

from diskprof.reports.words import Meaning, Word
from diskprof.tui.kit.painted import INKS
from diskprof.tui.shell.run_signs import ink_of, whole_parts


def test_each_meaning_has_a_colour() -> None:
    for meaning in Meaning:
        assert ink_of(Word("", "", meaning)) in {"", *INKS}


def test_of_a_headline_the_word_goes_before_a_figure() -> None:
    headline = "rand R 86.1k, W 21.2k IOPS, seq R/W 3.00/2.49 GB/s"
    assert whole_parts(headline, 60) == headline
    assert whole_parts(headline, 26) == "rand R 86.1k, W 21.2k IOPS"
    assert whole_parts(headline, 24) == "rand R 86.1k, W 21.2k"
    assert whole_parts(headline, 20) == "rand R 86.1k"
    assert whole_parts(headline, 5) == headline, "whoever shows it cuts it"
