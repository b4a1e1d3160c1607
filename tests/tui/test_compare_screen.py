"""Runs side by side: what is said, in which order, every key, and sizes from narrow to wide."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import SLOW, record_run
from stored_screens import (
    SIZES,
    Driver,
    StillSession,
    StoredApp,
    open_runs,
    press,
    see,
    settle,
    text_of,
    told,
    until,
)
from textual.widgets import Static

from diskprof.analysis.comparison import ComparedArm, ComparedMetric, ComparedValue
from diskprof.analysis.metrics import Better, Measure
from diskprof.model.metric import Change
from diskprof.model.run import Finding, Status, Weight
from diskprof.model.sample import Direction
from diskprof.reports import figures
from diskprof.reports.content.overview import Judged, OverviewCell, judge
from diskprof.runner.comparing import MarkedRun, grouped
from diskprof.store import Store
from diskprof.store.writing import set_findings
from diskprof.tui.compare.compare_rows import (
    FULL,
    NARROW,
    SPANS,
    TIGHT,
    WIDE,
    RowForm,
    figure_cell,
    in_full,
    letter,
    named,
)
from diskprof.tui.compare.screen import CompareChart, CompareScreen
from diskprof.tui.dialogs.report_dialog import ExportModal
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.table import Sheet
from diskprof.tui.runs.screen import RunsScreen


async def compare(pilot: Driver, *ids: str) -> CompareScreen:
    pilot.app.compare_runs(ids)  # type: ignore[attr-defined]
    await settle(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, CompareScreen)
    await until(pilot, lambda: screen.comparison is not None)
    await settle(pilot)
    return screen


def rows(screen: CompareScreen) -> list[tuple[str, ...]]:
    return [tuple(" ".join(text.split()) for text, _ in line.row.line) for line in screen.lines]


def row(screen: CompareScreen, name: str) -> tuple[str, ...]:
    """The first row of a name."""
    return next(cells for cells in rows(screen) if cells[0] == name)


async def open_test(pilot: Driver, screen: CompareScreen, name: str) -> None:
    """The rows of a test, from the overview."""
    at = next(at for at, cells in enumerate(rows(screen)) if cells[0] == name)
    screen.sheet.cursor = at
    await press(pilot, "enter")
    await settle(pilot)
    assert screen.opened is not None


def chart_of(screen: CompareScreen) -> ChartPane:
    return screen.query_one("#compare-curves", ChartPane)


@pytest.mark.parametrize("size", SIZES)
async def test_says_how_to_choose_runs(path: Path, size: tuple[int, int]) -> None:
    async with open_runs(path, size) as pilot:
        await press(pilot, "4")
        await see(pilot, "Press 3", "mark two or more with space", "press c")
        await press(pilot, "b", "a", "m", "r", "n", "p")
        assert isinstance(pilot.app.screen, CompareScreen)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunsScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_the_overview_has_every_test_and_every_run(
    path: Path, runs: dict[str, str], size: tuple[int, int]
) -> None:
    async with open_runs(path, size) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await see(
            pilot,
            "2 runs compared",
            "A baseline",
            "B old-server",
            "●",
            "282k",
            "6.70 GB/s",
            "-54% (-57 to -52)",
            "worse",
        )
        assert screen.sheet.max_scroll_x == 0
        names = [cells[0] for cells in rows(screen)]
        tests = ["4K rand read QD1", "4K rand read QD32", "4K rand write QD1", "4K rand write QD32"]
        assert [name for name in names if name.startswith("4K rand")] == tests
        assert names[screen.sheet.cursor] == "4K rand read QD1"
        await see(pilot, "B against A: worse in 6 of 6 tests (IOPS from -92% to -54%).")
        chosen = {name for name, line in zip(names, screen.lines, strict=True) if not line.row.heading}
        assert not {"run", "when", "status"} & chosen
        await see(pilot, "4K rand read QD1 (IOPS) A: 17,668 B: 8,085 -54% (-57 to -52) worse")
        await press(pilot, "home", "up")
        assert names[screen.sheet.cursor].startswith("▸ 11 conditions differ")


async def test_a_large_terminal_has_the_rows_of_the_selected_test_too(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (200, 50)) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await see(pilot, "read latency p99.9 (us)", "+82% (+21 to +174)")
        await press(pilot, "down")
        await see(pilot, "+226% (+181 to +279)")
        assert not screen.query_one("#compare-rows", Sheet).has_focus
        await press(pilot, "enter")
        assert not screen.query_one("#compare-rows", Sheet).display
        await see(pilot, "Compare > 4K rand read QD32")
        await press(pilot, "escape")
        await until(pilot, lambda: "Compare >" not in text_of(pilot))


async def test_no_line_is_cut_in_a_word(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, *(runs[name] for name in ("first", "second", "slow", "cancelled")))
        await see(pilot, "device size … a: show", "D: cannot tell, about 4 more runs a side needed")
        shown = str(screen.query_one("#compare-told", Static).render())
        assert shown.endswith("4K rand read QD1 (IOPS)")
        await press(pilot, "home")
        await see(pilot, "11 conditions differ: host, device, device model, device size")
        assert str(screen.query_one("#compare-told", Static).render()).endswith(" …")


async def test_figures_of_four_runs_are_in_sight_at_80_columns(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, *(runs[name] for name in ("first", "second", "slow", "cancelled")))
        await see(
            pilot,
            "IOPS or B/s",
            "6.70G 7.18G",
            "282k 293k +3.8% ~ 92.4k -67% █▌ w 276k -2.2% ~",
            "- skipped",
            "■ cancelled",
        )
        assert screen.sheet.max_scroll_x == 0
        await press(pilot, "enter")
        assert screen.sheet.max_scroll_x == 0
        await see(pilot, "17,668 18,692 +5.8% b 8,085 -54% w 17,555 -0.6% ~")


async def test_the_chart_takes_the_rows_that_a_short_table_leaves(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (120, 40)) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await settle(pilot)
        await settle(pilot)
        body, charts = screen.query_one("#compare-body"), screen.query_one("#compare-charts")
        assert charts.size.height > body.size.height // 2
        assert screen.sheet.max_scroll_y == 0
        await press(pilot, "a")
        await settle(pilot)
        assert screen.sheet.max_scroll_y == 0


async def test_enter_opens_a_test_and_escape_closes_it(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await press(pilot, "down", "enter")
        await see(pilot, "test 2 of 6", "read p99.9 us", "4K rand read QD32: latency by percentile")
        assert screen.opened == 1
        await press(pilot, "escape")
        assert screen.opened is None
        assert rows(screen)[screen.sheet.cursor][0] == "4K rand read QD32"
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunsScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_conditions_that_differ_are_one_line_until_shown(
    path: Path, runs: dict[str, str], size: tuple[int, int]
) -> None:
    async with open_runs(path, size) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await see(pilot, "▸ 11 conditions differ: host, device, device model", "a: show")
        assert "backup-7" not in text_of(pilot)
        for keys, back in ((("a",), "a"), (("home", "enter"), "enter")):
            await press(pilot, *keys)
            await see(pilot, "▾ 11 conditions differ", "db-01", "backup-7")
            names = [cells[0] for cells in rows(screen)]
            for condition in ("host", "scheduler", "kernel", "device model"):
                assert names.index("▾ 11 conditions differ") < names.index(condition) < names.index("4K rand read QD1")
            assert row(screen, "scheduler") == ("scheduler", "none", "mq-deadline")
            await press(pilot, back)
            await see(pilot, "▸ 11 conditions differ")


async def test_the_same_conditions_are_said_to_be_the_same(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await compare(pilot, runs["first"], runs["second"])
        await see(pilot, "Same conditions in all runs, as far as known.")
        assert "x Conditions" not in text_of(pilot)


async def test_a_run_in_doubt_has_a_banner_and_grey_verdicts(path: Path, runs: dict[str, str]) -> None:
    with Store.open(path) as store:
        findings = (
            Finding("other-io", Weight.DOUBT, "m", "e", "a", test="randread-4k-qd1"),
            Finding("busy-machine", Weight.NOTE, "m", "e", "a"),
        )
        slow = record_run(store, machine=SLOW, seed=35, tags=("shaky",))
    with closing(sqlite3.connect(path)) as db, db:
        (number,) = db.execute("SELECT number FROM run WHERE id = ?", (slow,)).fetchone()
        set_findings(db, number, findings)
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], slow)
        await see(pilot, "In doubt: B other I/O on the disk (4K rand read QD1)", "?: one of the two is in doubt.")
        inks = {line.row.line[0][0]: line.row.line[2] for line in screen.lines if line.test is not None}
        assert inks["4K rand read QD1"][0].endswith("worse?")
        assert inks["4K rand read QD1"][1] == "quiet"
        assert inks["4K rand read QD32"][1] == "danger"
        assert inks["4K rand read QD32"][0].endswith("worse")
        await see(pilot, "in doubt: other I/O on the disk (B)")
        await press(pilot, "enter")
        await see(pilot, "In doubt: other I/O on the disk (B)", "worse?")
        await press(pilot, "n")
        await see(pilot, "test 2 of 6")
        assert "worse?" not in text_of(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_two_runs_are_complete_without_scrolling_sideways(
    path: Path, runs: dict[str, str], size: tuple[int, int]
) -> None:
    async with open_runs(path, size) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        assert screen.sheet.max_scroll_x == 0
        await press(pilot, "enter")
        text = text_of(pilot)
        full = (
            "IOPS",
            "bandwidth (MB/s)",
            "latency mean (us)",
            "latency p50 (us)",
            "latency p99 (us)",
            "within 250 us",
        )
        for name in full if size[0] > 100 else ("IOPS", "MB/s", "mean us", "p50 us", "p99 us", "< 250 us"):
            assert f"read {name}" in text
        for word in ("CPU", "worse", "-54% (-57 to -52)", "●"):
            assert word in text


async def test_figures_say_value_difference_and_verdict(path: Path, runs: dict[str, str]) -> None:
    with Store.open(path) as store:
        first, slow = (store.run(runs[name]).test("randread-4k-qd32") for name in ("first", "slow"))
    assert first is not None and first.result is not None and first.result.read is not None
    assert slow is not None and slow.result is not None and slow.result.read is not None
    base, other = first.result.read, slow.result.read
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await open_test(pilot, screen, "4K rand read QD32")
        _, value, against = row(screen, "read IOPS")
        assert value == f"{base.iops:,.0f}"
        percent = 100 * (other.iops / base.iops - 1)
        assert re.fullmatch(rf"{other.iops:,.0f} {percent:+.0f}% \(-68 to -67\) [·━●]+│·+ worse", against)
        _, _, against = row(screen, "read p99 us")
        assert against.endswith("worse")
        assert against.split()[1].startswith("+")
        assert len(row(screen, "CPU")[2].split()) == 3  # a value and a difference, and no verdict


async def test_the_base_goes_round(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"], runs["second"])
        seen = []
        for _ in range(4):
            assert screen.comparison is not None
            seen.append(screen.comparison.columns[0].key)
            await press(pilot, "b")
        assert seen == [runs["first"], runs["slow"], runs["second"], runs["first"]]
        await compare(pilot, runs["slow"], runs["first"])
        assert row(screen, "4K rand read QD1")[2].endswith("better")
        await see(pilot, "base: A old-server")
        await press(pilot, "enter", "b")
        await see(pilot, "base: A baseline", "test 1 of 6")
        assert row(screen, "read IOPS")[2].endswith("worse")


async def test_from_test_to_test(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await press(pilot, "n", "n")
        assert rows(screen)[screen.sheet.cursor][0] == "4K rand write QD1"
        await press(pilot, "p")
        assert rows(screen)[screen.sheet.cursor][0] == "4K rand read QD32"
        await press(pilot, "enter")
        seen = []
        for _ in range(6):
            seen.append(screen.opened)
            await press(pilot, "n")
        assert seen == [1, 2, 3, 4, 5, 5]
        assert rows(screen)[0][0].startswith("1M seq write QD8")
        assert "1M seq write QD8" in chart_of(screen).text
        await press(pilot, "p")
        assert rows(screen)[0][0].startswith("1M seq read QD8")


async def test_the_charts(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (120, 40)) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        titles = []
        # That of load curves is only of searches that have some.
        for chart in list(CompareChart)[1:]:
            assert screen.chart is chart
            titles.append(chart_of(screen).text.splitlines()[0] if chart_of(screen).region else "")
            await press(pilot, "m")
        assert screen.chart is CompareChart.PERCENTILES
        assert ["latency by percentile (log)" in titles[0], "IOPS over time" in titles[1]] == [True, True]
        assert ["bandwidth over time (MB/s)" in titles[2], "p99 over time" in titles[3], titles[4]] == [True, True, ""]
        text = chart_of(screen).text
        for word in ("A baseline", "B old-server", "p50", "p99.9", "us"):
            assert word in text
        ends = [line.strip()[-1] for line in text.splitlines()[1:-1] if line.strip()[-1] in "AB"]
        assert ends == ["B", "A"]  # the slower disk lies higher


async def test_curves_in_letters_where_there_is_no_braille(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (120, 40)) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        chart = chart_of(screen)
        chart.charset = Charset.ASCII
        screen.action_chart()
        await settle(pilot)
        drawn = chart.text.splitlines()[1:-1]
        assert any("AAAA" in line for line in drawn)
        assert any("BBBB" in line for line in drawn)
        assert all(line.isascii() for line in chart.text.splitlines())


async def test_a_test_without_a_distribution_says_so(path: Path, runs: dict[str, str]) -> None:
    with Store.open(path) as store:
        other = record_run(store, "ioping-seek", seed=33)
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["seek"], other)
        await see(pilot, "no latency distribution")
        await press(pilot, "m")
        assert "IOPS over time" in chart_of(screen).text


async def test_more_runs_scroll_sideways_behind_the_names(path: Path, runs: dict[str, str]) -> None:
    ids = [runs[name] for name in ("first", "second", "slow", "cancelled", "running", "interrupted")]
    async with open_runs(path) as pilot:
        screen = await compare(pilot, *ids)
        await see(pilot, "6 runs compared", "→ for more")
        assert ids[-1] not in text_of(pilot)
        await press(pilot, *["right"] * 6)
        assert ids[-1] in text_of(pilot)
        assert " run " in text_of(pilot)
        assert screen.sheet.scroll_x == screen.sheet.max_scroll_x
        await press(pilot, *["left"] * 6)
        assert screen.sheet.scroll_x == 0


@pytest.mark.parametrize("charset", [Charset.BRAILLE, Charset.ASCII])
async def test_three_runs_are_complete_at_80_columns(path: Path, runs: dict[str, str], charset: Charset) -> None:
    app = StoredApp(StillSession(path), charset=charset)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = await compare(pilot, *(runs[name] for name in ("first", "second", "slow")))
        await until(pilot, lambda: screen.sheet.max_scroll_x == 0)
        await press(pilot, "enter")
        await see(pilot, "C old-server", "18,692 +5.8% better", "-54% worse", "read MB/s")
        assert "→ for more" not in text_of(pilot)


def test_a_figure_that_is_wide_gives_up_blanks_and_no_digits() -> None:
    base, other = ComparedValue(11_000_000.0), ComparedValue(12_345_678.0, 1_345_678.0, 0.1223, Change.BETTER)
    row = ComparedMetric(Measure.IOPS, Direction.READ, Better.HIGHER, False, (base, other))
    cell = OverviewCell(
        figures.row_value(row, other), "", figures.difference(row, other), judged=judge(other, doubt=False)
    )
    for form in (TIGHT, NARROW, WIDE):
        text, _ = figure_cell(cell, form)
        assert re.fullmatch(r"12,345,678 +\+12% (better|b)", text.strip())
        assert len(text) <= max(form.other, len(" ".join(text.split())))


@pytest.mark.parametrize("form", [FULL, SPANS, WIDE, NARROW, TIGHT])
def test_figures_line_up_beside_the_longest_verdict(form: RowForm) -> None:
    cell = OverviewCell("17,705", "", "+0.2%", interval="(-6.1 to +6.9)", judged=Judged("cannot tell?", "~?"))
    short = replace(cell, judged=Judged("same", "="), interval="(0 to 0)")
    for one in (cell, short):
        text, _ = figure_cell(one, form)
        assert text.startswith(f"{one.value:>{form.value}} {one.difference:>{form.difference}} ")
        assert len(text) <= form.other


def test_what_is_not_settled_is_said_first_without_the_sign_of_a_doubt() -> None:
    cell = OverviewCell(
        "17,705", "", "+0.2%", judged=Judged("cannot tell?", "~?"), more="about 4 more runs a side needed"
    )
    base = OverviewCell("17,670", "", "")
    assert in_full("read IOPS", [base, cell]).startswith(
        "B: cannot tell, about 4 more runs a side needed   read IOPS   A: 17,670"
    )


def test_a_name_that_does_not_fit_gives_way_to_its_letter() -> None:
    arm = ComparedArm("quick 11-25 16:49", ())
    assert named(0, arm, 9) == "A"
    assert named(0, arm, 12) == "A quick 11-25 16:49", "shortened in its middle by the table"
    assert named(1, arm, 60, interval=True) == "B quick 11-25 16:49   difference (95% interval)"


async def test_what_is_cut_at_the_edge_says_so_and_how_to_see_more(path: Path, runs: dict[str, str]) -> None:
    ids = [runs[name] for name in ("first", "second", "slow", "cancelled")]
    async with open_runs(path, (64, 24)) as pilot:
        screen = await compare(pilot, *ids)
        await press(pilot, "enter")
        await see(pilot, "→ for more")
        await pilot.resize_terminal(70, 24)
        await until(pilot, lambda: screen.sheet.size.width == 70)
        await settle(pilot)
        (line,) = [line for line in text_of(pilot).splitlines() if "read IOPS" in line][:1]
        assert line.rstrip().endswith("…")
        await press(pilot, *["right"] * 4)
        (line,) = [line for line in text_of(pilot).splitlines() if "read IOPS" in line][:1]
        assert "…" not in line


async def test_runs_that_did_not_come_as_far(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["cancelled"], runs["running"])
        assert row(screen, "status")[2:] == ("■ cancelled", "▶ running")
        await press(pilot, *["n"] * 5, "enter")
        assert row(screen, "status")[1:] == ("✓ complete", "- skipped", "· pending")


@pytest.mark.parametrize(
    ("names", "message"),
    [(("first", "mixed"), "share no test"), (("first", "first"), "at least two different runs or tags")],
)
async def test_what_cannot_be_compared_is_said_and_leaves_the_screen_empty(
    path: Path, runs: dict[str, str], names: tuple[str, str], message: str
) -> None:
    async with open_runs(path) as pilot:
        pilot.app.compare_runs([runs[name] for name in names])
        await until(pilot, lambda: message in told(pilot))
        await see(pilot, message, "Press 3 for the list of runs")
        assert "No runs selected." not in text_of(pilot)


async def test_runs_with_the_same_tag_are_repeats_of_one_measurement(path: Path) -> None:
    with Store.open(path) as store:
        ids = [record_run(store, seed=40 + at, tags=(("old", "new")[at % 2],)) for at in range(4)]
    async with open_runs(path) as pilot:
        pilot.app.compare_arms(
            grouped([MarkedRun(run_id, "/mnt", (("old", "new")[at % 2],)) for at, run_id in enumerate(ids)])
        )
        await see(pilot, "4 runs as 2 arms compared", "A old", "B new", "2 runs")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        await press(pilot, "B")
        await see(pilot, "4 runs compared", *ids)
        await press(pilot, "B")
        await see(pilot, "4 runs as 2 arms compared")
        await press(pilot, "enter")
        await see(pilot, "A old", "B new", "read IOPS")
        assert screen.comparison is not None
        assert [len(arm.runs) for arm in screen.comparison.columns] == [2, 2]
        assert chart_of(screen).text


async def test_exports_the_comparison(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await compare(pilot, runs["first"], runs["slow"])
        await press(pilot, "r")
        assert isinstance(pilot.app.screen, ExportModal)
        await press(pilot, "enter")
        file = path.parent / f"diskprof-{runs['first']}-{runs['slow']}.md"
        assert str(file) in told(pilot)
        report = file.read_text()
        assert "old-server" in report
        assert "worse" in report


async def test_runs_that_are_gone_are_told(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        pilot.app.compare_runs((runs["first"], "nothing1"))  # type: ignore[attr-defined]
        await settle(pilot)
        assert "nothing1" in told(pilot)
        await see(pilot, "Press 3")


async def test_a_run_that_goes_on_is_read_again(
    path: Path, runs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diskprof.tui.compare.screen._READ_AGAIN_S", 0.0)
    monkeypatch.setattr("diskprof.tui.compare.screen._SHARE_OF_TIME", 0.0)
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["running"])
        await see(pilot, "▶ running")
        with Store.open(path) as other:
            other.finish_run(runs["running"], status=Status.CANCELLED)
        await until(pilot, lambda: "■ cancelled" in text_of(pilot))
        assert screen.comparison is not None


async def test_foreign_names_in_a_comparison(path: Path, runs: dict[str, str]) -> None:
    hostile = "\x1b]0;x\x07[/][b]\u202ename"
    with Store.open(path) as store:
        store.set_tags(runs["first"], [hostile])
        machine = replace(SLOW, environment=replace(SLOW.environment, hostname=hostile, kernel=hostile))
        other = record_run(store, machine=machine, seed=34)
    async with open_runs(path, (120, 40)) as pilot:
        await compare(pilot, runs["first"], other)
        for keys in ((), ("a",), ("b",), ("n", "enter"), ("m",), ("r",)):
            await press(pilot, *keys)
            assert not any(char in text_of(pilot) for char in "\x1b\x07\u202e")
        assert "[b]" in text_of(pilot)


@pytest.mark.parametrize("size", [(60, 16), (100, 30), (200, 60)])
async def test_other_sizes(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path, (80, 24)) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        await press(pilot, "enter", "down")
        await pilot.resize_terminal(*size)
        await settle(pilot)
        await see(pilot, "read IOPS")
        assert 0 <= screen.sheet.cursor - round(screen.sheet.scroll_y) < screen.sheet.size.height - 1


def test_letters_do_not_run_out() -> None:
    assert [letter(index) for index in (0, 25, 26)] == ["A", "Z", "27"]


@pytest.mark.parametrize("charset", [Charset.BRAILLE, Charset.ASCII])
async def test_at_60_columns_the_verdict_of_each_figure_is_in_sight(
    path: Path, runs: dict[str, str], charset: Charset
) -> None:
    app = StoredApp(StillSession(path), charset=charset)
    async with app.run_test(size=(60, 16)) as pilot:
        await settle(pilot)
        screen = await compare(pilot, runs["first"], runs["slow"])
        assert screen.sheet.max_scroll_x == 0
        await see(pilot, "17.7k", "8.08k", "-54%", "6.70 GB/s", "563M", "worse")
        await press(pilot, "enter")
        await see(pilot, "read IOPS", "17,668", "8,085", "-54% worse", "read MB/s", "read p99.9 us")
        if charset is Charset.ASCII:
            assert text_of(pilot).isascii()
        await pilot.resize_terminal(120, 30)
        await settle(pilot)
        await see(pilot, "read bandwidth (MB/s)", "latency p99.9 (us)")


async def test_on_a_wide_terminal_two_charts_stand_beside_the_table(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (200, 60)) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        both = [screen.query_one(f"#compare-{name}", ChartPane) for name in ("curves", "more")]
        assert "latency by percentile" in both[0].text and "IOPS over time" in both[1].text
        assert both[0].region.x > screen.sheet.region.right - 1
        await press(pilot, "m")
        assert "IOPS over time" in both[0].text and "latency by percentile" in both[1].text
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert not both[1].region
        assert both[0].region.y > screen.sheet.region.y


async def test_what_is_copied_is_the_comparison(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await compare(pilot, runs["first"], runs["slow"])
        make = screen.copy_text()
        assert make
        assert make().startswith("# Comparison of baseline and old-server")
        assert "## Conditions that differ" in make()


async def test_with_nothing_to_compare_only_the_way_out_is_offered(path: Path) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "4")
        await see(pilot, "No runs selected.", "Press 3 for the list of runs")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        last = text_of(pilot).splitlines()[-1]
        assert "Back" in last
        assert not {"Base", "Conditions", "Chart", "Report"} & set(last.split())
        assert screen.copy_text() is None
