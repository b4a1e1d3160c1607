"""The overview of a comparison: which figure, bars on one scale, and verdicts of runs in doubt."""

import pytest
from handmade import cell, direction, environment, fio, ioping, latency, run
from msgspec.structs import replace

from diskprof.analysis.arms import Arm
from diskprof.analysis.comparison import Comparison, compare
from diskprof.analysis.metrics import Measure
from diskprof.model.run import Finding, Run, Weight
from diskprof.reports.content.comparison_report import tally_sentence
from diskprof.reports.content.overview import (
    OverviewCell,
    bar,
    compact,
    doubts_about,
    doubts_of_any,
    in_doubt_line,
    overview,
    overview_blocks,
    upshot_of_chance,
)
from diskprof.reports.render.markdown import comparison_markdown
from diskprof.reports.render.text import comparison_text
from diskprof.reports.words import Meaning


def runs(*iops: float, **more: object) -> list[Run]:
    return [
        run(fio("a", read=direction(each)), run_id=f"run{at}", tags=(f"tag{at}",), **more)  # type: ignore[arg-type]
        for at, each in enumerate(iops)
    ]


def found(name: str, test: str = "") -> Finding:
    return Finding(name, Weight.DOUBT, "m", "e", "a", test=test)


def test_bars_are_on_one_scale_and_half_is_as_long_as_twice() -> None:
    (row,) = overview(compare(runs(1000, 500, 2000, 1000))).rows
    assert [one.length for one in row.cells] == [0.0, -1.0, 1.0, 0.0]
    assert [one.judged.word for one in row.cells] == ["", "worse", "better", "same"]
    assert [bar(one, 4) for one in row.cells] == ["", "◀▇▇▇", "▇▇▇▶", ""]
    (row,) = overview(compare(runs(1000, 100, 750))).rows
    assert [bar(one, 9) for one in row.cells] == ["", "◀▇▇▇▇▇▇▇▇", "◀▇"]


def test_noise_draws_no_long_bar() -> None:
    (row,) = overview(compare(runs(1000, 1010))).rows
    assert row.cells[1].length == pytest.approx(0.0099 / 0.10, abs=0.001)
    assert bar(row.cells[1], 4) == ""


def test_the_figure_of_large_blocks_is_bandwidth_and_that_of_ioping_latency() -> None:
    large = run(fio("seq", block=1 << 20, read=direction(100, block=1 << 20)))
    (row,) = overview(compare([large, large])).rows
    assert (row.metric, row.unit, row.cells[0].value) == (Measure.BANDWIDTH, "MB/s", "105")
    assert compact(row.cells[0].with_unit) == "105M"
    pinged = run(ioping("ping", read=direction(1000, figures=latency(400_000.0))))
    (row,) = overview(compare([pinged, pinged])).rows
    assert (row.metric, row.unit, row.cells[0].with_unit) == (Measure.LATENCY_MEAN, "us", "400 us")


def test_reads_and_writes_have_a_row_each_and_a_test_without_results_one_of_dashes() -> None:
    mixed = run(fio("mix", rw="randrw", read=direction(700), write=direction(300)), fio("none"))
    rows = overview(compare([mixed, mixed])).rows
    assert [row.name for row in rows] == ["mix read", "mix write", "none"]
    assert [one.value for one in rows[-1].cells] == ["-", "-"]


def doubtful() -> Comparison:
    pair = [
        run(fio("a", read=direction(iops)), fio("b", read=direction(iops)), run_id=name, tags=(name,))
        for name, iops in (("old", 1000), ("new", 500))
    ]
    return compare([pair[0], replace(pair[1], findings=(found("other-io", "a"), found("other-io", "a")))])


def test_a_verdict_on_a_run_in_doubt_is_grey_and_has_the_reason() -> None:
    comparison = doubtful()
    a, b = (row.cells[1] for row in overview(comparison).rows)
    assert (a.judged.word, a.judged.mark, a.judged.meaning) == ("worse?", "w?", Meaning.QUIET)
    assert a.doubts == ("other I/O on the disk (new)",)
    assert (b.judged.word, b.judged.meaning, b.doubts) == ("worse", Meaning.BAD, ())
    assert in_doubt_line(comparison) == "In doubt: new other I/O on the disk (a)"
    assert doubts_about(comparison, 0, "a") == ()
    assert doubts_of_any(comparison, "a") == ("other I/O on the disk (new)",)
    assert tally_sentence(comparison, 1).endswith("; 1 in doubt.")


def test_a_doubt_about_the_base_is_one_about_every_verdict() -> None:
    old, *others = runs(1000, 500, 500)
    comparison = compare([replace(old, findings=(found("busy-machine"),)), *others])
    (row,) = overview(comparison).rows
    assert [one.judged.word for one in row.cells] == ["", "worse?", "worse?"]
    assert row.cells[2].doubts == ("CPUs busy (tag0)",)
    both = compare([replace(one, findings=(found("busy-machine"),)) for one in (old, others[0])])
    assert doubts_of_any(both, both.tests[0].name) == ("CPUs busy (tag0, tag1)",)
    assert tally_sentence(comparison, 2).endswith("; all in doubt.")


def test_runs_with_the_same_doubts_are_told_of_together() -> None:
    several = [replace(one, findings=(found("busy-machine"),)) for one in runs(1000, 500, 500)]
    assert in_doubt_line(compare(several)) == "In doubt: all 3 CPUs busy"
    several[1] = replace(several[1], findings=(found("other-io"),))
    assert in_doubt_line(compare(several)) == "In doubt: tag0, tag2 CPUs busy; tag1 other I/O on the disk"


@pytest.mark.parametrize("write", [comparison_text, comparison_markdown])
def test_reports_begin_with_the_overview(write) -> None:  # type: ignore[no-untyped-def]
    text = write(doubtful())
    assert text.index("In doubt: new") < text.index("Overview") < text.index("Same conditions")
    line = next(line for line in text.splitlines() if "-50%" in line and "a " in line[:4])
    assert "◀▇▇▇▇▇▇▇" in line
    assert "worse?" in line
    assert "?: one of the two is in doubt" in text


def test_markdown_says_first_what_is_in_doubt_what_changed_and_what_to_do() -> None:
    one, other = (
        run(fio("a", read=direction(a)), fio("b", read=direction(b)), run_id=name, tags=(name,), environment=machine)
        for a, b, name, machine in (
            (1000, 1000, "old", environment()),
            (500, 1000, "new", environment(kernel="6.9")),
        )
    )
    doubt = Finding("other-io", Weight.DOUBT, "m", "e", "Stop the other program.", test="a")
    text = comparison_markdown(compare([one, replace(other, findings=(doubt, replace(doubt, test="b")))]))
    wanted = (
        "# Comparison of old and new",
        "In doubt: new other I/O",
        "new against old: the same in 1 of 2 tests, worse in 1",
        "Worse: a -50%.",
        "1 condition differs and may be the cause: kernel.",
        "Before relying on it: Stop the other program.",
        "## Overview",
    )
    places = [text.index(each) for each in wanted]
    assert places == sorted(places)
    assert text.count("Stop the other program.") == 1
    assert "| a    | IOPS |" in text


def test_what_has_no_overview() -> None:
    assert overview_blocks(compare(runs(1000))) == []
    swept = run(cell(100, {"bs": "4k"}, read=direction(100)), cell(90, {"bs": "8k"}, read=direction(90)))
    assert overview_blocks(compare([swept, replace(swept, id="other")])) == []


def test_a_figure_that_one_run_lacks_has_no_bar() -> None:
    empty = OverviewCell("-", "-")
    assert bar(empty, 8) == ""
    one, other = runs(1000)[0], run(fio("a"), run_id="y", tags=("t",))
    (row,) = overview(compare([one, other])).rows
    assert [(each.value, each.length) for each in row.cells] == [("1,000", 0.0), ("-", 0.0)]


def test_two_arms_are_tables_on_a_terminal_of_80_columns() -> None:
    """The bars go first, then the arms' names are cut, then the column of units goes; no figure is cut."""

    def arm(label: str, *factors: float) -> Arm:
        made = [
            run(
                fio("4K rand write QD32", write=direction(1e6 * each)),
                fio("1M seq write QD8", write=direction(9e3 * each, block=1 << 20)),
                run_id=f"{label[-3:]}{at}",
            )
            for at, each in enumerate(factors)
        ]
        return Arm(tuple(made), label)

    arms = [arm("/mnt/data/old", 1, 1.5, 2, 3, 1), arm("/mnt/data/new", 9, 1, 12, 5, 80)]
    lines = comparison_text(compare(arms), 80).splitlines()
    assert all(len(line) <= 80 for line in lines)
    heads = [line.split() for line in lines if "/mn" in line and ".." in line]
    assert [head[:2] for head in heads[:1]] == [["Test", "(IOPS)"]] and len(heads) == 3
    (written,) = (line for line in lines if "1M seq write QD8 MB/s" in line)
    assert "14,156" in written and written.endswith("cannot tell")


def test_beside_several_runs_one_borrows_their_noise_and_only_two_alone_know_none() -> None:
    one, other, *more = runs(1000, 1100, 1010, 1020, 1030)
    several = Arm(tuple(more), "old")
    assert any("only the noise within runs is known" in each for each in upshot_of_chance(compare([one, other])))
    for sides in ([one, several], [several, other]):
        told = upshot_of_chance(compare(sides))
        assert not any("noise within" in each for each in told)
        assert any(each.startswith("One run of tag") and "from the other side" in each for each in told)
    assert not any("One run" in each for each in upshot_of_chance(compare([several, replace(several, label="new")])))
