"""Columns, sparklines and words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.model.cells import cut, pad, width_of, wrap
from diskprof.reports.charts.timeline import even
from diskprof.reports.layout import Column, plain, plain_column, table
from diskprof.reports.render.lines import sparkline

FOREIGN = st.text(st.characters(codec="utf-8"), max_size=60)


def test_wide_characters_take_two_cells_and_combining_ones_none() -> None:
    assert width_of("磁盘") == 4
    assert width_of("e\u0301") == 1
    assert pad("磁盘", 6) == "磁盘  "
    assert pad("7", 3, right=True) == "  7"


@given(FOREIGN, st.integers(0, 40), st.booleans())
def test_what_is_made_to_fit_fits(text: str, width: int, middle: bool) -> None:
    assert width_of(cut(plain(text), width, middle=middle)) <= width


def test_the_end_or_the_middle_is_left_out() -> None:
    assert cut("randread-4k-qd32", 10) == "randread.."
    assert cut("randread-4k-qd32", 10, middle=True) == "rand..qd32"
    assert cut("short", 10) == "short"


def test_foreign_text_cannot_move_the_cursor() -> None:
    assert plain("a\x1b[2Jb\nc") == "a\ufffd[2Jb c"


def test_a_column_is_plain_if_all_of_it_is() -> None:
    plain_ones = ["one", "two words"]
    assert plain_column(plain_ones) == plain_ones
    foreign = ["one", "wide 東", "a\nb", "\x1b[2J", "\u202e"]
    assert plain_column(foreign) == [plain(cell) for cell in foreign]
    assert plain_column([]) == []


def test_columns_give_way_in_their_order() -> None:
    headings = [Column("Name", least=6, cut=1), Column("Where", least=6, cut=0), Column("N", right=True)]
    lines = table(headings, [["a-long-name", "somewhere", "12"]], 18, rule=True)
    assert lines == ["Name    Where    N", "------  ------  --", "a-lo..  some..  12"]
    assert [width_of(line) for line in lines] == [18, 18, 18]


@given(st.lists(FOREIGN, min_size=1, max_size=5))
def test_a_table_that_may_be_cut_keeps_its_width(names: list[str]) -> None:
    lines = table([Column("Name", least=5), Column("N", right=True)], [[plain(name), "1"] for name in names], 30)
    assert all(width_of(line) <= 30 for line in lines)


@given(FOREIGN)
def test_no_word_is_lost_in_wrapping(text: str) -> None:
    lines = wrap(plain(text), 24, "- ", "  ")
    assert " ".join(line[2:] for line in lines).split() == plain(text).split()
    assert all(width_of(line) <= 24 or len(line.split()) <= 2 for line in lines)


def test_steady_values_look_steady() -> None:
    assert sparkline([95, 100, 97, 99]) == "████"
    assert sparkline([100] * 4) == "████"


def test_zero_a_gap_and_little_are_three_things() -> None:
    assert sparkline([0, None, 1, 100]) == "· ▁█"
    assert sparkline([0, None, 1, 100], ascii_only=True) == "0 _#"
    assert sparkline([0, 0]) == "··"
    assert sparkline([]) == ""


def test_a_common_top_makes_two_lines_comparable() -> None:
    assert sparkline([50], top=100) == "▅"


def test_what_lasted_longer_takes_more_room() -> None:
    assert even([100, 0, 100], [1, 5, 1], 20) == [100, 0, 0, 0, 0, 0, 100]
    assert even([100, None, 90], [0.25, 0.5, 0.25], 20) == [100, None, None, 90]
    assert even([100, 99, 98], [0.26, 0.24, 0.2], 3) == [100, 99, 98]
    assert even([], [], 5) == []


def test_too_many_values_are_told_by_the_means_of_equal_times() -> None:
    assert even([1, 3, 5, 7], [1] * 4, 2) == [2, 6]
    assert even([100] * 5 + [0] + [100] * 5, [1] * 5 + [10] + [1] * 5, 4) == [100, 0, 0, 100]
    assert even([60, 0], [3, 9], 8) == [60, 0, 0, 0]
    assert even([1, None, None, None], [1] * 4, 2) == [1, None]
    assert even([1, 2], [1] * 2, 5) == [1, 2]
    assert even([30, 60, 90], [1] * 3, 2) == pytest.approx([40, 80])
    assert len(even(list(range(1000)), [0.25] * 1000, 40)) == 40
