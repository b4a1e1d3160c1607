"""The scorecard: which figures it has, and what it says of each against the best earlier run."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FIRST_START, VOLUME, promises_plan, record_run, sweep_plan

from diskprof.analysis.score import MOST, scores
from diskprof.model.earlier import EarlierResult
from diskprof.model.run import Run, Status
from diskprof.model.sample import Direction
from diskprof.reports.content.scorecard import about, best_table, day, parts, scorecard
from diskprof.reports.render.html import report_html
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import show
from diskprof.store import Store
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.charts.large import large
from diskprof.tui.kit.painted import width_of
from diskprof.tui.live.scorecard_lines import scorecard_lines

MARCH = datetime(2026, 3, 12, 9, 0, tzinfo=UTC)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    with Store.open(tmp_path / "runs.db") as store:
        return store.run(record_run(store))


def earlier(run: Run, factor: float) -> tuple[EarlierResult, ...]:
    return tuple(
        EarlierResult("b5", MARCH, test.name, way, each.iops * factor, each.bandwidth_bytes_per_s * factor)
        for test in run.tests
        if test.result
        for way, each in test.result.directions
    )


def test_reads_are_before_writes_and_large_blocks_told_in_bandwidth(run: Run) -> None:
    lines = scorecard(run)
    assert [line.name for line in lines] == [
        *("4K rand read QD1", "4K rand read QD32", "1M seq read QD8"),
        *("4K rand write QD1", "4K rand write QD32", "1M seq write QD8"),
    ]
    assert [line.unit for line in lines] == ["k IOPS", "k IOPS", "GB/s"] * 2
    assert [line.figure for line in lines][1:3] == ["286k", "6.75 GB/s"]
    assert {line.against for line in lines} == {""}
    assert about(run, ()).startswith("No earlier run like it")
    assert best_table(run, ()) is None


@pytest.mark.parametrize(
    ("factor", "words", "share"),
    [
        (1 / 0.92, "92% of best", 0.92),
        (1.0, "100% of best", 1.0),
        (1 / 1.5, "new best: +50%", 1.0),
        (1 / 343.72, "new best: x344", 1.0),
    ],
)
def test_each_figure_says_what_its_bar_is_measured_against(run: Run, factor: float, words: str, share: float) -> None:
    lines = scorecard(run, earlier(run, factor))
    for line in lines:
        assert (line.against, line.when) == (words, "12 Mar") and line.best
        assert line.share == pytest.approx(share)
    table = best_table(run, earlier(run, factor))
    assert table and len(table.rows) == 6
    assert about(run, earlier(run, 1.0)) == "Compared with the earlier run on this disk. Class: NVMe SSD, PCIe 4.0"


def test_the_best_of_several_is_named(run: Run) -> None:
    best = replace(earlier(run, 2.0)[0], run_id="a2")
    (first, *_) = scores(run, (*earlier(run, 1.1), best))
    assert first.best and first.best.run_id == "a2" and first.of_best == pytest.approx(0.5)


def test_a_latency_is_better_where_it_is_lower(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        run = store.run(record_run(store, "ioping-latency", runtime_s=12.0))
    result = run.tests[0].result
    assert result and result.read and result.read.latency.mean
    name = run.tests[0].name
    before = EarlierResult("b5", MARCH, name, Direction.READ, 1.0, 1.0, latency_mean_ns=result.read.latency.mean / 2)
    (line,) = scorecard(run, (before,))
    assert line.against == "100% above best" and line.share == pytest.approx(0.5)


def test_promises_are_told_and_sweeps_and_runs_in_progress_have_none(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        promised = store.run(record_run(store, plan=promises_plan(VOLUME, runtime_s=6.0), machine=VOLUME))
        swept = store.run(record_run(store, plan=sweep_plan(VOLUME, runtime_s=1.0), machine=VOLUME))
        going = store.run(record_run(store, end=Status.RUNNING, stop_in=(2, 0.5)))
    lines = scorecard(promised)
    assert len(lines) <= MOST
    assert any("promised >=" in line.promise for line in lines)
    assert scorecard(swept) == () and scorecard(going) == ()


@pytest.mark.parametrize("charset", list(Charset))
@pytest.mark.parametrize("width", [40, 58, 77, 116, 196])
@pytest.mark.parametrize("factor", [None, 1.1, 0.9])
def test_it_keeps_to_the_width_and_cuts_no_figure(run: Run, width: int, charset: Charset, factor: float | None) -> None:
    found = earlier(run, factor) if factor else ()
    lines = scorecard(run, found)
    for roomy in (False, True):
        drawn = scorecard_lines(lines, about(run, found), width, charset, roomy=roomy)
        text = "\n".join("".join(piece for piece, _ in line) for line in drawn)
        assert all(width_of(line) <= width for line in drawn)
        if not (roomy and width >= 100 and charset is not Charset.ASCII):
            assert all(line.figure in text for line in lines)
        assert charset is not Charset.ASCII or text.isascii() or "…" in text
        # A verdict, a figure and a date are whole, or not there.
        below = drawn[1:] if factor is None or roomy else drawn
        assert not [piece for line in below for piece, ink in line if ink and "…" in piece]


@pytest.mark.parametrize("width", [30, 40, 57])
def test_names_are_whole_where_nothing_is_beside_the_figures(run: Run, width: int) -> None:
    drawn = scorecard_lines(scorecard(run), about(run, ()), width, Charset.BRAILLE, roomy=False)
    words = ["".join(piece for piece, _ in line) for line in drawn]
    assert any(line.startswith("4K rand write QD32 ") for line in words) and not any("…" in line for line in words[1:])


def test_large_figures_are_as_wide_in_each_row_and_not_in_ascii() -> None:
    drawn = large("17.7", Charset.BRAILLE)
    assert drawn and len({len(row) for row in drawn}) == 1
    assert large("17.7", Charset.ASCII) is None
    assert large("a", Charset.BRAILLE) is None
    assert len({large(digit, Charset.BLOCKS) for digit in "0123456789"}) == 10


def test_words_of_figures_and_days() -> None:
    assert parts("282k") == ("282", "k")
    assert parts("6.70 GB/s") == ("6.70", "GB/s")
    assert parts("812") == ("812", "")
    assert day(MARCH, FIRST_START) == "12 Mar"
    assert day(MARCH.replace(year=2025), FIRST_START) == "12 Mar 2025"


def test_show_and_pages_have_the_best_earlier_run(run: Run) -> None:
    found = earlier(run, 2.0)
    for drawn in (show(run, earlier=found), report([run], earlier=found), report_html([run], {}, earlier=found)):
        assert "Compared with the earlier run on this disk" in drawn
        assert "-50" in drawn
    assert "Compared with" not in show(run)
