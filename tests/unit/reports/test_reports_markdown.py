"""Markdown that shows foreign text as it is: held against a real CommonMark and GFM parser."""

import re

import pytest
from handmade import Given, direction, environment, fio, ioping, on_disk, run, samples
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from diskprof.analysis.comparison import compare
from diskprof.model.run import Finding, Run, Status, Weight
from diskprof.reports.layout import plain
from diskprof.reports.render.markdown import comparison_markdown, escape, fenced, markdown_table, paragraph, report

PARSER = MarkdownIt("gfm-like")
assert PARSER.linkify is not None
# GitHub links what begins with http or www or is an address, not every word with a dot in it.
PARSER.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
NASTY = [
    "a|b",
    "`rm -rf`",
    "``` fence",
    "<script>alert(1)</script>",
    "[link](http://x) ![i](y)",
    "*bold* _under_ ~~gone~~ **",
    "# no heading",
    "- no list",
    "1. no list",
    "+ no list",
    "> no quote",
    "--- ",
    "===",
    "a\nb\n\nc",
    "http://example.com www.example.com",
    "me@example.com @someone #12",
    "&amp; &lt; &#124;",
    "back\\slash \\| \\",
    "$x^2$",
    "\x1b[31mred\x07",
    "::: :--- | ---",
    "    four blanks",
    "snake_case_name _x_ __y__",
    "2) two",
]
FOREIGN = st.text(st.characters(codec="utf-8"), max_size=40) | st.text("`*_|<>[]()#+-=.!~$&\\@:/ \n\tab1", max_size=40)


def tokens(markdown: str) -> list[Token]:
    return PARSER.parse(markdown)


def words(token: Token) -> str:
    """The text of an inline token; it must be text alone."""
    assert {child.type for child in token.children or ()} <= {"text", "text_special", "softbreak"}, token.content
    return "".join(" " if child.type == "softbreak" else child.content for child in token.children or ()).replace(
        "\u200b", ""
    )


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_is_shown_as_it_is(text: str) -> None:
    opening, inline, closing = tokens(escape(text))
    assert (opening.type, inline.type, closing.type) == ("paragraph_open", "inline", "paragraph_close")
    assert squeezed(words(inline)) == squeezed(plain(text))


def test_what_github_would_link_or_call_is_broken_invisibly() -> None:
    assert escape("www.a.b") == "www\u200b.a.b"
    assert escape("HTTPS://a") == "HTTP\u200bS://a"
    assert escape("@someone") == "@\u200bsomeone"
    assert escape("4k @ 8") == "4k @ 8"


@given(FOREIGN)
@example("\xa0")
def test_any_text_is_shown_as_it_is(text: str) -> None:
    found = tokens(escape(text))
    if not squeezed(plain(text)):
        assert escape(text) == ""
        return
    assert [token.type for token in found] == ["paragraph_open", "inline", "paragraph_close"]
    assert squeezed(words(found[1])) == squeezed(plain(text))


@given(st.lists(FOREIGN, min_size=2, max_size=6))
def test_any_text_stays_in_its_cell(texts: list[str]) -> None:
    table = markdown_table([escape(texts[0]), "n"], [[escape(text), "1"] for text in texts[1:]], [False, True])
    found = tokens("\n".join(table))
    assert found[0].type == "table_open"
    cells = [token for token in found if token.type == "inline"]
    assert len(cells) == 2 * len(texts)
    assert [squeezed(words(cell)) for cell in cells[::2]] == [squeezed(plain(text)) for text in texts]


@given(FOREIGN)
def test_any_text_wraps_within_its_paragraph(text: str) -> None:
    lines = paragraph(f"Seen: {escape(text)}", 12)
    found = tokens("\n".join(lines))
    assert [token.type for token in found] == ["paragraph_open", "inline", "paragraph_close"]
    assert squeezed(words(found[1])) == squeezed(f"Seen: {plain(text)}")


@given(st.lists(st.text("`ab ", max_size=12), max_size=4))
def test_a_fence_holds_whatever_it_holds(lines: list[str]) -> None:
    (fence,) = tokens("\n".join(fenced(lines, "sh")))
    assert fence.type == "fence"
    assert fence.content.splitlines() == lines


def test_columns_are_aligned_in_the_source() -> None:
    lines = markdown_table(["Disk", "IOPS"], [["磁盘", "1"], ["a\\|b", "12,345"]], [False, True])
    assert lines == [
        "| Disk |   IOPS |",
        "|------|-------:|",
        "| 磁盘 |      1 |",
        "| a\\|b | 12,345 |",
    ]


EVIL = "x|`<b>\n# [y](z) *w*"


def evil_run(run_id: str = "k3f7p2qa") -> Run:
    tested = run(
        fio("read|write", read=direction(10_000)),
        fio("`b`", rw="randwrite", write=direction(5_000), options=("--description=```a`b",)),
        run_id=run_id,
        environment=replace(on_disk(model=EVIL, serial=EVIL), hostname=EVIL, kernel=EVIL, os=EVIL),
        tags=(EVIL, run_id),
        note=EVIL,
        findings=(Finding("evil", Weight.DOUBT, EVIL, EVIL, EVIL, EVIL),),
    )
    return replace(tested, plan=replace(tested.plan, preset_title=EVIL))


def structure(markdown: str) -> list[str]:
    return [f"{token.type} {token.tag}" for token in tokens(markdown) if token.nesting >= 0]


def harmless(run_: Run) -> Run:
    """The same run, its foreign text replaced by plain words."""
    tests = tuple(
        replace(test, planned=replace(test.planned, name=f"test{test.index}", title="t")) for test in run_.tests
    )
    return replace(
        run_,
        tests=tests,
        plan=replace(run_.plan, preset_title="t"),
        environment=replace(on_disk(model="m", serial="s"), hostname="h", kernel="k", os="o"),
        tags=("t", run_.id),
        note="n",
        findings=(Finding("evil", Weight.DOUBT, "m", "e", "a", "t"),),
    )


def test_a_report_of_an_evil_run_is_built_like_that_of_a_good_one() -> None:
    evil, good = evil_run(), harmless(evil_run())
    assert structure(report([evil])) == structure(report([good]))
    assert "<b>" not in re.sub(r"\\<b\\>", "", report([evil]).split("## Commands")[0])


def test_a_comparison_of_evil_runs_too() -> None:
    evil = evil_run("aaaaaaaa"), evil_run("bbbbbbbb")
    good = harmless(evil[0]), harmless(evil[1])
    assert structure(report(evil)) == structure(report(good))


def test_one_table_of_results_with_both_directions() -> None:
    mixed = run(fio("m", rw="randrw", read=direction(700), write=direction(300)), fio("r", read=direction(900)))
    text = report([mixed])
    assert "| Test | Direction | IOPS |" in text
    assert text.count("| Test ") == 1


def test_a_failed_run_says_what_went_wrong_and_where() -> None:
    failed = run(
        fio("a", read=direction(100)),
        fio("b", status=Status.FAILED, reason="No space left on device"),
        fio("c", status=Status.SKIPPED),
        status=Status.FAILED,
        reason="No space left on device",
    )
    text = report([failed])
    assert "## Errors\n\n- Test 2 of 3, b: failed: No space left on device\n- Not started: c\n" in text
    assert "None: no rule speaks against" not in text


def test_doubt_stands_beside_the_verdict() -> None:
    doubtful = run(
        fio(read=direction(100)), findings=(Finding("stall", Weight.DOUBT, "It stood still.", "e", "a", "randread"),)
    )
    head = report([doubtful]).split("## Results")[0]
    assert "In doubt: stall" in head
    assert "In doubt" not in report([run(fio(read=direction(100)))])


def test_every_command_stands_there_exactly() -> None:
    tested = run(fio("a", read=direction(1), options=("--description=it's a test",)))
    assert "'--description=it'\"'\"'s a test'" in report([tested])


def test_sparklines_with_and_without_utf8() -> None:
    tested = run(fio("a", read=direction(1_000)))
    taken = {tested.id: samples([1_000] * 20)}
    assert "█" * 20 + "  min 1.00k, median 1.00k, max 1.00k" in report([tested], taken)
    assert report([tested], taken, ascii_only=True).isascii()


def test_a_comparison_alone_has_the_table_of_the_article() -> None:
    base = run(fio("a", read=direction(15_596)), run_id="x", environment=environment(hostname="do"))
    other = run(fio("a", read=direction(45_447)), run_id="y", environment=environment(hostname="linode"))
    text = comparison_markdown(compare((base, other)))
    for row in ("IOPS", "Latency, mean (us)", "Bandwidth (MB/s)", "CPU utilisation"):
        assert f"| {row} " in text
    assert "linode against do: better in 1 of 1 test" in text
    assert re.search(r"\+191% \| +\| better", text) or re.search(r"\+191% \| [▇▶]+ +\| better", text)


def test_a_run_that_is_not_whole_says_so_before_its_figures() -> None:
    begun = (fio("a", read=direction(1_000)), fio("b", status=Status.CANCELLED), fio("c", status=Status.SKIPPED))
    text = report([run(*begun, status=Status.CANCELLED)])
    assert text.index("Cancelled: 1 of 3 tests complete.") < text.index("## Results")
    assert "Running: 1 of 3 tests complete." in report([run(*begun, status=Status.RUNNING)])
    whole = report([run(fio("a", read=direction(1_000)))])
    assert "tests complete" not in whole and "test complete" not in whole
    without = report([run(fio("a", status=Status.FAILED), status=Status.FAILED)])
    assert "**No result: failed.**" in without and "complete." not in without


@pytest.mark.parametrize("tests", [(), (ioping("latency", read=direction(1, seconds=3)),)])
def test_little_is_reported_too(tests: tuple[Given, ...]) -> None:
    assert report([run(*tests)]).startswith("# Own tests: Example 1000 in db-01")


def test_nothing_cannot_be_reported() -> None:
    with pytest.raises(ValueError, match="nothing"):
        report([])
