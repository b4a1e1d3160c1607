"""Blocks laid out: as text that fits, as Markdown, as lines of the screen."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from diskprof.model.cells import width_of
from diskprof.model.text import clean
from diskprof.reports.blocks import Block, Cell, Code, Course, Fact, Facts, Heading, Note, Paragraph, Spark, Table
from diskprof.reports.layout import Column
from diskprof.reports.render.lines import lines, text
from diskprof.reports.render.markdown import markdown
from diskprof.reports.words import Meaning
from diskprof.tui.shell.block_lines import Cells, screen_lines

FOREIGN = st.text(st.characters(codec="utf-8"), max_size=40)
VERDICTS = Table(
    (Column("Test", least=8), Column("Basis", below=True), Column("IOPS", right=True), Column("Ratio", spare=1)),
    (
        (Cell("rand-r"), Cell("tier a"), Cell("4,210", Meaning.BAD, "4.21k", strong=True), Cell("84%")),
        (Cell("rand-w"), Cell("tier b"), Cell("5,126", Meaning.GOOD, "5.13k"), Cell("103%")),
    ),
    inset=True,
)


def matrix(columns: int) -> Table:
    names = [f"c{at}" for at in range(columns)]
    head = (Column(""), *(Column(name, right=True) for name in names))
    return Table(head, ((Cell("row"), *map(Cell, names)),), "Figures", lead=1)


def test_a_heading_is_close_to_its_text_and_other_blocks_stand_apart() -> None:
    blocks = (Heading("Title", 1), Paragraph("One."), Paragraph("Two."), Note("three"), Note("four"), Heading("Five"))
    assert text(blocks, 80) == "Title\nOne.\nTwo.\n\n  three\n  four\n\nFive\n"
    assert markdown(blocks) == "# Title\n\nOne.\n\nTwo.\n\n- three\n- four\n\n## Five\n"


def test_lines_have_the_short_words_and_paper_the_whole_ones() -> None:
    assert "4.21k" in text((VERDICTS,), 80) and "4,210" not in text((VERDICTS,), 80)
    assert "| rand-r | tier a | **4,210** | 84%   |" in markdown((VERDICTS,))


def test_remarks_stand_below_their_row_and_once_if_all_say_the_same() -> None:
    assert text((VERDICTS,), 80).splitlines()[1:3] == ["  rand-r  4.21k  84%", "      tier a"]
    same = Table(VERDICTS.columns, tuple((row[0], Cell("tier a"), *row[2:]) for row in VERDICTS.rows))
    assert text((same,), 80).endswith("rand-w  5.13k  103%\n      tier a\n")


def test_a_table_gives_up_columns_then_cuts_and_at_last_is_told_in_words() -> None:
    assert "Ratio" in text((VERDICTS,), 25)
    assert "Ratio" not in text((VERDICTS,), 20)
    assert "Ratio" in text((VERDICTS,), 12)
    wide = Table((Column("Test"), Column("IOPS")), ((Cell("a-long-name"), Cell("5,000")),))
    assert text((wide,), 14) == "  a-long-name:\n    IOPS 5,000\n"


def test_figures_that_do_not_fit_side_by_side_stand_in_groups() -> None:
    shown = text((matrix(12),), 20)
    assert max(map(width_of, shown.splitlines())) <= 20
    assert shown.count("row") > 1
    assert [word for line in shown.splitlines() if "row" in line for word in line.split()[1:]] == [
        f"c{at}" for at in range(12)
    ]
    assert markdown((matrix(12),)).count("| row ") == 1


def test_columns_that_are_cut_alike_share_what_room_there_is() -> None:
    columns = (Column("a", least=4, middle=True), Column("b", least=4, middle=True))
    head, _, row = text((Table(columns, ((Cell("x" * 20), Cell("y" * 8)),)),), 20).splitlines()
    assert (head.index("b"), width_of(row)) == (12, 20)
    assert row == "xxxx..xxxx  yyyyyyyy"


def test_commands_keep_to_their_line_in_text_and_are_broken_for_a_shell_on_a_screen() -> None:
    code = Code((("# a test",), ("fio", "--name=x", "'--description=two words'")))
    assert text((code,), 20) == "  # a test\n  fio --name=x '--description=two words'\n"
    shown = ["".join(words for words, _ in line) for line in screen_lines((code,), 20)]
    assert shown == ["# a test", "fio --name=x \\", "  '--description=two words'"]


def test_facts_have_their_names_in_a_column() -> None:
    assert text((Facts((Fact("Host", "db-01"), Fact("A longer name", "x"))),), 80) == (
        "Host           db-01\nA longer name  x\n"
    )
    assert text((Facts((Fact("1.5 s", "said"),), inset=True),), 80) == "     1.5 s  said\n"


def test_a_screen_has_a_colour_for_each_meaning() -> None:
    for meaning in Meaning:
        assert screen_lines((Paragraph("x", meaning),), 10)[0][0][0] == "x"
    inks = {words.strip(): ink for line in screen_lines((VERDICTS,), 40) for words, ink in line}
    assert (inks["4.21k"], inks["5.13k"], inks["rand-r"]) == ("danger", "good", "")


@given(FOREIGN, st.integers(24, 100))
def test_any_text_is_harmless_and_fits(foreign: str, width: int) -> None:
    course = Course(foreign, (1.0, 2.0), (1.0, 1.0), "1", "2", "3", "-")
    blocks: tuple[Block, ...] = (
        Heading(foreign, 1),
        Paragraph(foreign, hanging=True),
        Table((Column(foreign, least=6), Column("N")), ((Cell(foreign), Cell("1")),), foreign, foreign),
        Facts((Fact(foreign, foreign),)),
        Note(foreign, foreign, foreign, foreign, foreign),
        Code(((foreign,),)),
        Spark("Course", (course,)),
    )
    shown = ["".join(words for words, _ in line) for line in lines(blocks, width)]
    assert all(clean(line) == line for line in shown)
    longest = max((width_of(word) for word in " ".join(shown).split()), default=0)
    assert all(width_of(line) <= max(width, longest + 40) for line in shown)
    # The course stands behind a fence, and its foreign name with it.
    kinds = [token.type for token in MarkdownIt("gfm-like").parse(markdown(blocks))]
    assert kinds.count("fence") == 2 and kinds.count("table_open") == 2
    assert not {"html_block", "html_inline"} & set(kinds)


def test_a_sheet_of_the_screen_has_the_columns_that_fit() -> None:
    cells = Cells(VERDICTS)
    assert [column.title for column in cells.columns(80)] == ["Test", "IOPS", "Ratio"]
    narrow = cells.columns(14)
    assert [(column.title, column.width) for column in narrow] == [("Test", 6), ("IOPS", 6)]
    assert cells.row(0, narrow).line == [("rand-r", ""), ("4.21k", "danger")]
