"""Sweeps as tables and charts: what fits, what is left out, gaps, several tests and axes, two sweeps side by side."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from handmade import Given, cell, direction, fio, run
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace
from recorded import VOLUME, sweep_plan, write_volumes

from diskprof.analysis.comparison import compare
from diskprof.analysis.sweep import Limits
from diskprof.model.cells import width_of
from diskprof.model.preset import Category
from diskprof.model.run import Run, Status
from diskprof.model.sample import Sample
from diskprof.reports.content.result_sentences import verdict
from diskprof.reports.content.sweep_tables import limits_sentence
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import comparison_json, plan_json, run_json
from diskprof.reports.render.markdown import report
from diskprof.reports.render.plotext_plot import comparison_plots, run_plots
from diskprof.reports.render.text import comparison_text, plan_text, show
from diskprof.store import Store
from diskprof.tui.live.result_lines import best_lines, report_lines

STATEMENT = "IOPS-limited up to 32 KiB (about 5,000 IOPS), bandwidth-limited from 64 KiB (about 200 MB/s)"
EVIL = "\x1b[31m磁盘\n|`<b>*\u202e"


@dataclass(frozen=True)
class Volumes:
    sweep: Run
    smaller: Run
    samples: dict[str, tuple[Sample, ...]]


@pytest.fixture(scope="module")
def volumes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Volumes]:
    path = tmp_path_factory.mktemp("volumes") / "runs.db"
    ids = write_volumes(path)
    with Store.open(path) as store:
        pair = [store.run(ids[name]) for name in ("sweep", "smaller")]
        yield Volumes(pair[0], pair[1], {one.id: store.samples(one.id).samples for one in pair})


def widest(text: str) -> int:
    return max(map(width_of, text.splitlines()))


def block(text: str, title: str) -> list[list[str]]:
    """The words of each line of the block with this title, without title and rule."""
    lines = text.split(f"{title}\n")[1].split("\n\n")[0].splitlines()
    return [line.split() for line in lines if not line.startswith("-")]


def test_show_has_matrices_in_place_of_a_list_of_tests(volumes: Volumes) -> None:
    text = show(volumes.sweep, volumes.samples[volumes.sweep.id])
    assert len(text.splitlines()) < 60
    assert "over time" not in text
    assert text.count("32K rand read QD4") == 2  # the cell that failed, and fio's word on it
    assert STATEMENT in " ".join(text.split())
    matrix = block(text, "IOPS by block size (down) and queue depth (across)")
    assert matrix[0] == ["1", "2", "4", "8", "16", "32", "64"]
    assert [line[:2] for line in matrix[1:]] == [[size, "KiB"] for size in ("4", "16", "32", "64", "256")]
    assert matrix[3][4] == "failed"
    best = block(text, "Best by block size")
    assert best[1][:2] == ["4", "KiB"] and best[1][-1] == "4"


def test_the_sweep_stands_among_the_facts(volumes: Volumes) -> None:
    words = "bs 4k 16k 32k 64k 256k x iodepth 1 2 4 8 16 32 64: 35 cells"
    assert f"Sweep       {words}\n" in show(volumes.sweep)
    assert f"Sweep       {words}\n" in plan_text(volumes.sweep.plan)
    assert words in report([volumes.sweep])


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_it_fits(volumes: Volumes, width: int) -> None:
    text = show(volumes.sweep, (), width).split("rand read\n")[1].split("Errors")[0]
    assert widest(text) <= width
    assert widest(comparison_text(compare((volumes.sweep, volumes.smaller)), 80)) <= 80
    charts = run_plots(volumes.sweep, (), width)
    assert widest(charts) <= max(30, width)


def test_many_columns_stand_in_groups() -> None:
    tested = run(*(cell(1000 + depth, {"bs": "4k", "iodepth": str(depth)}) for depth in range(1, 31)))
    text = show(tested)
    assert widest(text) <= 80
    matrix = block(text, "IOPS by block size (down) and queue depth (across)")
    figures = [figure for line in matrix if line[:2] == ["4", "KiB"] for figure in line[2:]]
    assert len(figures) == 30 and figures[-1] == "1.03k"


def test_reads_and_writes_have_a_matrix_each() -> None:
    tested = run(
        *(
            cell(None, {"bs": size, "iodepth": depth}, read=direction(700), write=direction(300))
            for size in ("4k", "8k")
            for depth in ("1", "2")
        )
    )
    text = show(tested)
    assert "Read: IOPS by block size" in text and "Write: IOPS by block size" in text
    assert "4 KiB       1,000" in text


def test_a_sweep_of_one_axis_is_a_list() -> None:
    tests = [cell(100 * depth, {"iodepth": str(depth)}) for depth in (1, 2, 4)]
    tested = run(*tests, cell(None, {"iodepth": "8"}, status=Status.FAILED))
    lines = block(show(tested), "By queue depth")
    assert lines[0] == ["Queue", "depth", "IOPS", "MB/s", "mean", "p99"]
    assert lines[1][:3] == ["1", "100", "0.41"]
    assert lines[4] == ["8", "failed", "-", "-", "-"]
    assert "by queue depth (IOPS)" in run_plots(tested, ())


def test_three_axes_make_a_panel_for_each_value_of_the_other() -> None:
    tested = run(
        *(
            cell(1000, {"bs": size, "iodepth": depth, "numjobs": jobs})
            for size in ("4k", "8k")
            for depth in ("1", "2")
            for jobs in ("1", "4")
        )
    )
    text = show(tested)
    assert "rand read, jobs 1\n" in text and "rand read, jobs 4\n" in text
    assert report([tested]).count("### rand read, jobs") == 2
    assert len(json.loads(dumps(run_json(tested)))["sweep"]["panels"]) == 2


def test_a_run_under_way_shows_what_it_has() -> None:
    tested = run(
        cell(1000, {"bs": "4k", "iodepth": "1"}),
        cell(None, {"bs": "4k", "iodepth": "2"}, status=Status.RUNNING),
        cell(None, {"bs": "8k", "iodepth": "1"}, status=Status.PENDING),
        status=Status.RUNNING,
    )
    matrix = block(show(tested), "IOPS by block size (down) and queue depth (across)")
    assert matrix[1:] == [["4", "KiB", "1.00k", "running"], ["8", "KiB", "-", "-"]]
    assert show(run(cell(None, {"bs": "4k", "iodepth": "1"}, status=Status.PENDING))).count("4 KiB") == 1


def test_markdown_has_a_table_for_each_figure(volumes: Volumes) -> None:
    text = report([volumes.sweep])
    results = text.split("## Results")[1].split("## Errors")[0]
    titles = [line for line in results.splitlines() if line.endswith(":")]
    assert titles == [
        "Best by block size:",
        *(
            f"{figure} by block size (down) and queue depth (across):"
            for figure in ("IOPS", "MB/s", "Latency, mean", "Latency, p99")
        ),
    ]
    assert text.startswith("# Sweep of a volume: Volume in web-3\n\n") and f"\n\n**Rand read: {STATEMENT}.**\n" in text
    assert "| Test " not in results
    tables = [token for token in MarkdownIt("gfm-like").parse(text) if token.type == "table_open"]
    assert len(tables) == 7, "the facts, best by block size, what limits, and one for each figure"


def test_the_verdict_of_a_sweep_without_a_limit_is_the_most_of_it() -> None:
    tested = run(
        *(cell(1000 * depth, {"bs": size, "iodepth": str(depth)}) for size in ("4k", "64k") for depth in (1, 8))
    )
    assert verdict(tested) == (
        "Rand read: at most 8.00k IOPS (block size 4 KiB, queue depth 8) and 524 MB/s (block size 64 KiB, queue depth 8)."
    )
    nothing = run(cell(None, {"bs": "4k"}, status=Status.FAILED), status=Status.FAILED)
    assert verdict(nothing) == "No result: failed."


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, ""),
        (Limits(4987, 32768, 198.7e6, 65536), STATEMENT),
        (Limits(12_840, 262144, everywhere=True), "IOPS-limited at every block size (about 13,000 IOPS)"),
        (Limits(None, None, 1.234e9, 4096, everywhere=True), "bandwidth-limited at every block size (about 1.20 GB/s)"),
        (Limits(None, None, 96e6, 1 << 20), "bandwidth-limited from 1 MiB (about 96.0 MB/s)"),
    ],
)
def test_limits_in_words(found: Limits | None, words: str) -> None:
    assert limits_sentence(found) == words


def test_json_has_axes_and_every_cell(volumes: Volumes) -> None:
    found = json.loads(dumps(run_json(volumes.sweep)))
    assert [axis["option"] for axis in found["sweep"]["axes"]] == ["bs", "iodepth"]
    cells = found["sweep"]["cells"]
    assert len(cells) == 35 == len(found["tests"])
    failed = [one for one in cells if one["status"] == "failed"]
    assert [(one["cell"], "read" in one) for one in failed] == [({"bs": "32k", "iodepth": "4"}, False)]
    assert cells[0]["read"]["iops"] == found["tests"][0]["read"]["iops"]
    assert found["tests"][0]["cell"] == {"bs": "4k", "iodepth": "1"}
    (panel,) = found["sweep"]["panels"]
    assert panel["limits"]["iops_up_to_bytes"] == 32768
    assert [one["bs"] for one in panel["best"]] == ["4k", "16k", "32k", "64k", "256k"]
    plan = json.loads(dumps(plan_json(volumes.sweep.plan)))
    assert plan["sweep"]["cells"] == 35 and plan["tests"][7]["cell"] == {"bs": "16k", "iodepth": "1"}
    assert run_json(run(fio("a", read=direction(1))))["sweep"] is None


def test_the_three_charts_of_the_article(volumes: Volumes) -> None:
    text = run_plots(volumes.sweep, volumes.samples[volumes.sweep.id])
    titles = [line for line in text.splitlines() if line.startswith("rand read: ")]
    assert titles == [
        "rand read: IOPS by queue depth, a line for each block size",
        "rand read: IOPS by block size, a line for each queue depth",
        "rand read: MB/s by block size, a line for each queue depth",
    ]
    ticks = [line.split() for line in text.splitlines() if line.split()[:1] == ["1"]]
    assert ticks == [["1", "2", "4", "8", "16", "32", "64"]]
    assert "* 4 KiB, o 16 KiB, + 32 KiB, x 64 KiB, # 256 KiB" in text
    assert run_plots(volumes.sweep, (), ascii_only=True).isascii()
    assert "\x1b" not in text and "\x1b[" in run_plots(volumes.sweep, (), colour=True)


def test_two_sweeps_are_matrices_of_differences(volumes: Volumes) -> None:
    compared = compare((volumes.sweep, volumes.smaller), volumes.samples)
    text = comparison_text(compared)
    assert "QD" not in text
    assert "web-3: 1 of 35 cells failed.\n" in text
    matrix = block(text, "IOPS by block size (down) and queue depth (across): web-4 against web-3")
    assert matrix[1][-2:] == ["-40%", "w"] and matrix[4][-1] == "~"
    assert matrix[3][6] == "-"
    assert block(text, "Most IOPS by block size")[1][-1] == "-40%"
    assert "b: better, w: worse" in text
    markdown = report([volumes.sweep, volumes.smaller], volumes.samples)
    assert "IOPS by block size (down) and queue depth (across): web-4 against web-3:" in markdown
    assert "-40% worse" in markdown
    found = json.loads(dumps(comparison_json(compared)))["tests"]
    assert found[0]["cell"] == {"bs": "4k", "iodepth": "1"}


def test_two_sweeps_of_latency_are_told_by_it() -> None:
    def swept(name: str, iops: int) -> Run:
        tested = run(*(cell(iops, {"bs": size, "iodepth": "1"}) for size in ("4k", "8k")), run_id=name)
        return replace(tested, plan=replace(tested.plan, category=Category.LATENCY))

    text = comparison_text(compare((swept("x", 100), swept("y", 50))))
    matrices = [
        f"Latency, {which} by block size (down) and queue depth (across): y against x"
        for which in ("mean", "p99", "max")
    ]
    assert all(each in text for each in matrices) and "worse in 2 of 2 tests (mean latency" in text
    assert "IOPS" not in text


def test_a_sweep_of_patterns_is_told_by_each_pattern_and_what_limits_comes_first() -> None:
    cells = [
        cell(1000, {"rw": way, "bs": size, "iodepth": depth}, **{way.removeprefix("rand"): direction(1000)})
        for way in ("randread", "randwrite")
        for size in ("4k", "8k")
        for depth in ("1", "2")
    ]
    lines = ["".join(words for words, _ in line) for line in best_lines(run(*cells), 80)]
    heads = [line.split(" \u2500")[0].strip() for line in lines if "\u2500" in line]
    assert heads == ["What limits", "rand read", "rand write"]


def test_sweeps_share_a_chart(volumes: Volumes) -> None:
    pair = [volumes.sweep, volumes.smaller]
    text = comparison_plots(compare(pair), pair, volumes.samples)
    assert [line for line in text.splitlines() if ": " in line] == [
        "rand read: most IOPS by block size:  * web-3   o web-4"
    ]


def test_sweeps_that_share_little_say_so() -> None:
    base = run(*(cell(100, {"bs": "4k", "iodepth": depth}) for depth in ("1", "2")), run_id="x")
    other = run(cell(150, {"bs": "4k", "iodepth": "1"}), cell(9, {"bs": "8k", "iodepth": "1"}), run_id="y")
    text = comparison_text(compare((base, other)))
    assert "x: 1 of 3 cells not in this run.\n" in text and "y: 1 of 3 cells not in this run.\n" in text
    matrix = block(text, "IOPS by block size (down) and queue depth (across): y against x")
    assert matrix[1:] == [["4", "KiB", "+50%", "b", "-"], ["8", "KiB", "-", "-"]]
    one = run(*(cell(100 * depth, {"iodepth": str(depth)}) for depth in (1, 2)), run_id="x")
    assert block(comparison_text(compare((one, replace(one, id="y")))), "IOPS by queue depth: y against x")[2] == [
        *("2", "0%", "="),
    ]


def test_options_that_differ_between_cells_are_counted() -> None:
    def with_option(number: int) -> Given:
        given = cell(100, {"iodepth": str(number)})
        jobs = tuple(job.changed(refill_buffers="1") if number > 1 else job for job in given.planned.load.fio)
        return replace(given, planned=replace(given.planned, jobs=jobs))

    plain = [cell(100, {"iodepth": str(number)}) for number in (1, 2, 3)]
    other = run(*map(with_option, (1, 2, 3)), run_id="y")
    text = comparison_text(compare((run(*plain, run_id="x"), other)))
    assert "Option refill_buffers: - (x), 1 (y), in 2 cells of 3.\n" in text


def test_many_failures_are_told_in_a_line() -> None:
    tests = [cell(None, {"iodepth": str(number)}, status=Status.FAILED) for number in range(1, 31)]
    skipped = [cell(None, {"iodepth": str(number)}, status=Status.SKIPPED) for number in range(31, 61)]
    failed = run(
        *tests,
        *skipped,
        status=Status.FAILED,
        reason="\n".join(f"{given.planned.name}: {given.reason}" for given in tests),
    )
    told = " ".join(show(failed).split("Errors\n")[1].split())
    names = ", ".join(f"randread-{number}" for number in range(1, 7))
    later = ", ".join(f"randread-{number}" for number in range(31, 37))
    assert told == f"30 of 60 tests: failed: I/O error ({names} and 24 more) Not started: {later} and 24 more"
    shown = "\n".join("".join(words for words, _ in line) for line in report_lines(failed, 80))
    under = shown.split("Errors ")[1].split("\n", 1)[1]
    assert " ".join(under.split("\n\n")[0].split()) == told


def test_foreign_titles_are_harmless() -> None:
    def evil(run_id: str, iops: float) -> Run:
        given = [cell(iops * depth, {"bs": "4k", "iodepth": str(depth)}) for depth in (1, 2)]
        named = [
            replace(one, planned=replace(one.planned, name=f"{EVIL}-{one.planned.name}", title=f"{EVIL}, 4k, 1"))
            for one in given
        ]
        return run(*named, run_id=run_id, tags=(EVIL + run_id,))

    pair = [evil("x", 100), evil("y", 200)]
    texts = [show(pair[0]), comparison_text(compare(pair)), report(pair), run_plots(pair[0], ())]
    assert all("磁盘" in text for text in texts[:3])
    for text in texts:
        assert not {char for char in text if not char.isprintable()} - {"\n", "\u200b"}
    tokens = [
        child for token in MarkdownIt("gfm-like").parse(report(pair)) for child in (token, *(token.children or ()))
    ]
    assert not {token.type for token in tokens} & {"html_inline", "html_block", "em_open", "code_inline"}


def test_the_generator_sweeps_any_axes() -> None:
    plan = sweep_plan(VOLUME, axes=(("bs", ("4k", "1m")), ("numjobs", ("1", "2")), ("iodepth", ("1",))))
    assert [test.name for test in plan.tests][:2] == ["randread-4k-jobs1-qd1", "randread-4k-jobs2-qd1"]
    assert plan.tests[-1].jobs[0].block_size == 1 << 20


statuses = st.sampled_from([Status.COMPLETE, Status.FAILED, Status.RUNNING, Status.SKIPPED])
any_sweep = st.dictionaries(
    st.tuples(st.sampled_from(["4k", "512", "1m"]), st.integers(1, 99).map(str), st.sampled_from(["1", "2"])),
    st.tuples(st.one_of(st.none(), st.floats(0.01, 1e7)), statuses),
    min_size=1,
    max_size=12,
)


@settings(max_examples=50)
@given(any_sweep, any_sweep, st.integers(40, 130))
def test_any_sweeps_can_be_told(first: dict, second: dict, width: int) -> None:  # type: ignore[type-arg]
    pair = [
        run(
            *(
                cell(iops, {"bs": bs, "iodepth": depth, "numjobs": jobs}, status=status)
                for (bs, depth, jobs), (iops, status) in cells.items()
            ),
            run_id=run_id,
        )
        for run_id, cells in (("x", first), ("y", second))
    ]
    assert widest(show(pair[0], (), width).split("Parameters")[1]) <= width
    assert widest(comparison_text(compare(pair), width).split("\n\n", 2)[2]) <= width
    assert report(pair)
    assert dumps(run_json(pair[0])) and verdict(pair[0])
