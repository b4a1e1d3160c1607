"""A finished run on the screen: results, chart, what is below them, every key."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FAST, GONE, make_plan, record_volumes
from recorded.long import record_long
from stored_screens import (
    SIZES,
    Driver,
    open_runs,
    press,
    see,
    settle,
    text_of,
    told,
    until,
    write,
)

from diskprof.model.run import Finding, Message, Status, Weight
from diskprof.model.sample import Direction
from diskprof.model.units import format_iops
from diskprof.store import Store
from diskprof.tui.compare.screen import CompareScreen
from diskprof.tui.dialogs.report_dialog import ExportModal
from diskprof.tui.dialogs.tags import TagsModal
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.live.live_panes import Words
from diskprof.tui.live.result_lines import report_lines
from diskprof.tui.runs.result import ResultScreen
from diskprof.tui.runs.screen import RunsScreen


async def open_result(pilot: Driver, run_id: str) -> ResultScreen:
    screen = ResultScreen(run_id)
    pilot.app.push_screen(screen)
    await settle(pilot)
    await until(pilot, lambda: screen.run is not None)
    await settle(pilot)
    return screen


def chart_of(screen: ResultScreen) -> ChartPane:
    return screen.query_one("#chart", ChartPane)


def prose_of(screen: ResultScreen) -> str:
    return screen.query_one("#below", Words).text


async def pages(pilot: Driver, screen: ResultScreen) -> str:
    """Everything that comes into sight when one pages down."""
    seen, page = [text_of(pilot)], screen.query_one("#page")
    while page.scroll_y < page.max_scroll_y:
        await press(pilot, "pagedown")
        seen.append(text_of(pilot))
    return "\n".join(seen)


@pytest.mark.parametrize("size", SIZES)
async def test_shows_the_results_first(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    with Store.open(path) as store:
        run = store.run(runs["first"])
    async with open_runs(path, size) as pilot:
        screen = await open_result(pilot, runs["first"])
        await see(pilot, "✓ complete", "Quick check", "/mnt/data", "1 limit, 1 note", runs["first"], "p99")
        text = text_of(pilot)
        for test in run.tests:
            assert test.title in text
            assert test.result is not None
            for _, result in test.result.directions:
                assert format_iops(result.iops) in text
        assert screen.sheet.max_scroll_x == 0
        assert ("< 250 us" in text) is (size[0] >= 120)


@pytest.mark.parametrize("size", SIZES)
async def test_everything_else_is_below(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    with Store.open(path) as store:
        run = store.run(runs["first"])
    async with open_runs(path, size) as pilot:
        screen = await open_result(pilot, runs["first"])
        text = await pages(pilot, screen)
        for word in ("Findings", "Environment", "Commands", "6.1.0-18-amd64", "Samsung SSD 980 PRO", "--rw=randread"):
            assert word in text
        for finding in run.findings:
            assert finding.message.split()[0] in text
        await press(pilot, "pageup", "home")
        await press(pilot, "down")
        assert screen.query_one("#page").scroll_y == 0


async def test_space_pages_too(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs["first"])
        await press(pilot, "space")
        assert screen.query_one("#page").scroll_y > 0


async def test_another_chart_comes_into_sight(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs["first"])
        await press(pilot, "space")
        await settle(pilot)
        assert "Bandwidth" not in text_of(pilot)
        await press(pilot, "m")
        await see(pilot, "Bandwidth MB/s")
        at = screen.query_one("#page").scroll_y
        await press(pilot, "m")
        await see(pilot, "Latency percentiles")
        assert screen.query_one("#page").scroll_y == at, "what is in sight stays where it is"


async def test_commands_can_be_pasted_into_a_shell(path: Path, runs: dict[str, str]) -> None:
    import shlex

    with Store.open(path) as store:
        run = store.run(runs["first"])
    for width in (40, 76, 116):
        lines = ["".join(text for text, _ in line) for line in report_lines(run, width)]
        start = next(at for at, line in enumerate(lines) if line.startswith("Commands ")) + 1
        end = next(index for index, line in enumerate([*lines[start:], ""], start) if not line)
        commands = "\n".join(line for line in lines[start:end] if not line.startswith("# "))
        words = [shlex.split(command) for command in commands.replace("\\\n", " ").splitlines()]
        assert run.plan.layout
        assert words == [list(test.argv) for test in (run.plan.layout, *(test.planned for test in run.tests))]


@pytest.mark.parametrize("width", [30, 60, 76, 116])
async def test_text_keeps_to_the_width(path: Path, runs: dict[str, str], width: int) -> None:
    with Store.open(path) as store:
        run = store.run(runs["failed"])
    longest_word = max(len(word) for test in run.tests for word in test.planned.argv)
    for line in report_lines(run, width):
        assert len("".join(text for text, _ in line)) <= max(width, longest_word + 20)


async def test_the_charts(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (120, 40)) as pilot:
        screen = await open_result(pilot, runs["mixed"])
        titles = []
        for _ in range(5):
            text = chart_of(screen).text
            titles.append(text.splitlines()[0])
            assert "R" in text and "W" in text
            await press(pilot, "m")
            await until(pilot, lambda: "Reading" not in chart_of(screen).text)
        for title, words in zip(
            titles,
            ("IOPS and latency", "Bandwidth", "Latency percentiles", "Latency heat map", "latency by percentile"),
            strict=True,
        ):
            assert words in title
        assert chart_of(screen).text.splitlines()[0] == titles[0]


async def test_the_chart_follows_the_cursor(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs["first"])
        assert screen.run
        for key, title in (("down", "4K rand read QD32"), ("end", "1M seq write QD8"), ("up", "1M seq read QD8")):
            await press(pilot, key)
            assert title in chart_of(screen).text.splitlines()[0]


@pytest.mark.parametrize(
    ("name", "status", "says"),
    [
        ("failed", "✗ failed", "No space left on device"),
        ("cancelled", "■ cancelled", "Not started"),
        ("interrupted", "! interrupted", "exited unexpectedly"),
    ],
)
async def test_what_went_wrong(path: Path, runs: dict[str, str], name: str, status: str, says: str) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs[name])
        await see(pilot, status)
        assert "Errors" in prose_of(screen)
        assert says in prose_of(screen)
        if name != "failed":
            await see(pilot, "- skipped")
            await press(pilot, "end", "m", "m")
            assert "No samples were recorded." in chart_of(screen).text


async def test_ioping_has_what_it_has(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        for name in ("ioping", "seek"):
            screen = await open_result(pilot, runs[name])
            await see(pilot, "✓ complete", "read")
            assert "ioping" in prose_of(screen)
            await press(pilot, "m", "m", "m", "m", "m", "escape")


async def test_exports(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["first"])
        await press(pilot, "r")
        assert isinstance(pilot.app.screen, ExportModal)
        await press(pilot, "enter")
        file = path.parent / f"diskprof-{runs['first']}.md"
        assert str(file) in told(pilot)
        assert "Quick check" in file.read_text()


async def test_tags_show_at_once(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs["first"])
        await press(pilot, "t")
        assert isinstance(pilot.app.screen, TagsModal)
        await write(pilot, "gold, standard", "#tags")
        await press(pilot, "enter")
        await until(pilot, lambda: "gold, standard" in prose_of(screen))


async def test_compares_with_the_newest_of_the_preset(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["first"])
        await press(pilot, "c")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.comparison is not None)
        await press(pilot, "escape", "escape")
        assert isinstance(pilot.app.screen, RunsScreen)


async def test_says_when_there_is_nothing_to_compare_with(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["mixed"])
        await press(pilot, "c")
        assert "no other finished run" in told(pilot)


async def test_deletes_and_goes_back(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["first"])
        await press(pilot, "d", "n")
        assert isinstance(pilot.app.screen, ResultScreen)
        await press(pilot, "d", "y")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        screen = pilot.app.screen
        assert isinstance(screen, RunsScreen)
        assert runs["first"] not in [run.id for run in screen.list.shown]


@pytest.mark.parametrize("key", ["escape", "backspace"])
async def test_goes_back(path: Path, runs: dict[str, str], key: str) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["first"])
        await press(pilot, key)
        assert isinstance(pilot.app.screen, RunsScreen)


async def test_a_run_that_is_gone_is_told(path: Path) -> None:
    async with open_runs(path) as pilot:
        pilot.app.push_screen(ResultScreen("nothing1"))
        await settle(pilot)
        assert "nothing1" in told(pilot)
        assert isinstance(pilot.app.screen, RunsScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_foreign_text(tmp_path: Path, size: tuple[int, int]) -> None:
    hostile = "\x1b]52;c;aGk=\x07[/][red]\u202eevil"
    path, plan = tmp_path / "runs.db", make_plan()
    tests = tuple(
        replace(test, name=f"{hostile}{index}", argv=(*test.argv, hostile)) for index, test in enumerate(plan.tests)
    )
    plan = replace(plan, preset_title=hostile, tests=tests, target=replace(plan.target, path=hostile))
    with Store.open(path) as store:
        run = store.create_run(plan, replace(FAST.environment, kernel=hostile), note=hostile, runner=GONE)
        store.append(run, messages=(Message(0, hostile, 0, warning=True),))
        finding = Finding("rule", Weight.DOUBT, hostile, hostile, hostile, test=hostile)
        store.finish_run(run, status=Status.FAILED, reason=hostile, findings=(finding,))
    async with open_runs(path, size) as pilot:
        screen = await open_result(pilot, run)
        text = await pages(pilot, screen)
        assert not any(char in text for char in "\x1b\x07\u202e")
        assert "[red]" in text


@pytest.mark.parametrize("size", [(60, 16), (100, 30), (200, 60)])
async def test_other_sizes(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["first"])
        await pilot.resize_terminal(*size)
        await settle(pilot)
        await see(pilot, "4K rand read QD1")


async def test_a_cursor_reads_off_a_past_moment(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (120, 40)) as pilot:
        screen = await open_result(pilot, runs["mixed"])
        await press(pilot, "left")
        first = chart_of(screen).text.splitlines()[0]
        assert " s " in first and "R " in first and "IOPS" in first
        await press(pilot, "shift+left")
        earlier = chart_of(screen).text.splitlines()[0]
        assert float(earlier.split("–")[0]) < float(first.split("–")[0])
        await press(pilot, "right", "shift+right")
        assert chart_of(screen).text.splitlines()[0] != earlier
        await press(pilot, "escape")
        assert chart_of(screen).text.startswith("IOPS")
        assert pilot.app.screen is screen
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunsScreen)


async def test_the_first_line_says_what_is_opened(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await open_result(pilot, runs["first"])
        assert f" 3 Runs > {runs['first']} " in text_of(pilot).splitlines()[0]
        await press(pilot, "escape")
        assert ">" not in text_of(pilot).splitlines()[0]


async def test_the_kernels_view_of_each_test(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (120, 40)) as pilot:
        screen = await open_result(pilot, runs["first"])
        await press(pilot, "K")
        await see(pilot, "Kernel (iostat -x)", "r_await", "median", "%steal")
        before = text_of(pilot)
        await press(pilot, "down")
        await until(pilot, lambda: text_of(pilot) != before)
        await see(pilot, "Kernel (iostat -x)", "r_await")
        await press(pilot, "escape")
        assert "Kernel (iostat -x)" not in text_of(pilot)
        assert pilot.app.screen is screen


@pytest.mark.parametrize("size", [(60, 16), *SIZES, (200, 60)])
async def test_the_chart_alone(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path, size) as pilot:
        screen = await open_result(pilot, runs["first"])
        await press(pilot, "z")
        await until(pilot, lambda: chart_of(screen).size.height == size[1] - 3)
        assert "Findings" not in text_of(pilot)
        await press(pilot, "escape")
        await see(pilot, "4K rand read QD1")
        assert pilot.app.screen is screen


async def test_keys_choose_a_test_beside_the_chart_alone_and_after_it(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs["first"])
        await press(pilot, "z", "down")
        await see(pilot, screen.lines[1].test.planned.title)
        await press(pilot, "z", "down")
        assert screen.sheet.has_focus and screen.sheet.cursor == 2
        await see(pilot, screen.lines[2].test.planned.title)


async def test_a_sweep_is_shown_as_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        sweep = record_volumes(store)["sweep"]
    async with open_runs(path, (120, 40)) as pilot:
        screen = await open_result(pilot, sweep)
        cells = chart_of(screen).text
        assert "64 KiB" in cells and "queue depth" in cells
        await press(pilot, "m")
        assert chart_of(screen).text != cells
        await press(pilot, "V")
        assert "│" in chart_of(screen).text.splitlines()[2]
        await press(pilot, "V", "X")
        assert "64 KiB" in chart_of(screen).text


async def test_what_is_copied_is_the_report(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, runs["first"])
        make = screen.copy_text()
        assert make
        text = make()
        assert text.startswith("# Quick check")
        assert "## Kernel (iostat -x)" in text
        assert "## IOPS over time" in text


async def test_what_the_charts_hold_is_what_a_picture_needs(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        run_id = record_long(store, 3600)
    async with open_runs(path) as pilot:
        screen = await open_result(pilot, run_id)
        assert screen.snapshot
        assert len(screen.snapshot.track.timeline("iops", Direction.READ)) <= 512
        await press(pilot, "K")
        await see(pilot, "r_await")
        assert screen.snapshot.kernel
        assert screen.snapshot.kernel.kept <= 481
        assert screen.snapshot.kernel.last and screen.snapshot.kernel.median
        assert screen.snapshot.kernel.last.seconds == pytest.approx(1.0, abs=0.01)
        assert screen.snapshot.kernel.median.reads_per_s == pytest.approx(
            screen.snapshot.kernel.last.reads_per_s, rel=0.1
        )
