"""Live: a run as it grows in the store, its results when it is over, and everything that can be done meanwhile."""

import contextvars
import re
from datetime import timedelta
from typing import Any

import pytest
from bench_screens import Bench, open_bench
from msgspec.structs import replace
from recorded import FAST, FIRST_START, make_plan, record_run, recording
from stored_screens import SIZES, Driver, altered, press, see, settle, text_of, told, until

from diskprof.model.errors import DiskprofError
from diskprof.model.run import Message, Progress, Status
from diskprof.model.sample import Direction, Phase
from diskprof.store import Store, this_process
from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import OneLine
from diskprof.tui.kit.table import Table
from diskprof.tui.live.course_view import VIEWS
from diskprof.tui.live.live_panes import Words
from diskprof.tui.live.run_reader import RunReader, Snapshot, reading_of
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.runs.screen import RunsScreen


def under_way(store: Store, preset: str = "quick", **options: object) -> str:
    options = {"end": Status.RUNNING, "stop_in": (0, 0.5), "runner": this_process()} | options
    return record_run(store, preset, **options)


def live(pilot: Driver) -> LiveScreen:
    screen = pilot.app.screen
    assert isinstance(screen, LiveScreen)
    return screen


def chart_of(pilot: Driver) -> str:
    return pilot.app.screen.query_one(ChartPane).text


async def open_live(pilot: Driver) -> LiveScreen:
    await press(pilot, "2")
    return live(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_store_says_what_to_do(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        await see(pilot, "No run yet", "Press 1, choose a device and a preset, and press Enter")
        last = text_of(pilot).splitlines()[-1]
        assert "Stop" not in last
        assert "Metric" not in last
        await press(pilot, "s", "m", "z", "f", "N")
        await see(pilot, "No run yet")


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_grows_before_ones_eyes(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    steps = recording(store, end=Status.RUNNING, stop_in=(2, 0.5), runner=this_process(), runtime_s=2.0)
    next(steps)
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "Quick check", "/mnt/data (ext4 on nvme0n1p1)")
        next(steps)
        await see(pilot, "creating the test file", "preparing", "W write")
        for _ in steps:
            if screen.store.run(screen.snapshot.run.id).progress.test == 1:  # type: ignore[union-attr]
                break
        await see(pilot, "Test 2 of 6", "4K rand read QD32", "warming up", "left")
        await see(pilot, "4K rand read QD1 read")
        before = chart_of(pilot)
        for _ in range(4):
            next(steps)
        await until(pilot, lambda: chart_of(pilot) != before)
        await see(pilot, "measuring", "R read", "p50", "p99", "MB/s", "us")
        for _ in steps:
            pass
        await see(pilot, "Test 3 of 6", "W write")
        assert screen.query_one("#tests", Table).key == "2"


async def test_nothing_is_drawn_while_nothing_changes(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way(store)
    drawn = []
    monkeypatch.setattr(LiveScreen, "_draw", lambda self: drawn.append(self))
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        drawn.clear()
        for _ in range(5):
            pilot.app._poll()  # type: ignore[attr-defined]
        assert drawn == []


async def test_what_was_put_off_is_not_drawn_on_a_screen_that_is_taken_down(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "Quick check")
        there = contextvars.copy_context()
    assert screen.snapshot is not None
    assert not screen.query("#tile-latency")
    there.run(screen._draw)


async def test_nothing_is_drawn_while_another_screen_is_in_sight(bench: Bench, store: Store) -> None:
    steps = recording(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
    next(steps)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await press(pilot, "3")
        assert isinstance(pilot.app.screen, RunsScreen)
        read = screen.snapshot.run  # type: ignore[union-attr]
        for _ in steps:
            pass
        pilot.app._poll()  # type: ignore[attr-defined]
        await pilot.pause()
        assert screen.snapshot.run is read  # type: ignore[union-attr]
        await press(pilot, "2")
        await see(pilot, "Test 1 of 6", "measuring")


async def test_until_a_test_has_its_first_figure_the_chart_is_that_of_the_test_before(
    bench: Bench, store: Store
) -> None:
    run_id = under_way(store)
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        await see(pilot, "IOPS and latency", "warm-up to")
        store.finish_test(run_id, 0, status=Status.FAILED, at_ns=10**10, reason="no matter")
        store.begin_test(run_id, 1, 10**10)
        store.append(run_id, progress=Progress(1, Phase.WARMING, 0.0, 0.2, 20.0, 10**10))
        await see(pilot, "Test 2 of 6", "4K rand read QD1, the last test")
        assert "Waiting" not in chart_of(pilot)
        begun = record_run(store, stop_in=(1, 0.5))
        (sample, *_) = store.samples(begun, test=1).samples
        store.append(run_id, samples=[replace(sample, at_ns=11 * 10**9)])
        await until(pilot, lambda: "the last test" not in text_of(pilot) and "┤" in chart_of(pilot))


async def test_what_grows_in_a_run_is_drawn_and_lays_nothing_out(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = under_way(store, "mixed-70-30")
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "IOPS and latency", "measuring")
        await settle(pilot)
        laid_out = 0
        lay_out = screen._refresh_layout

        def counted(*given: Any, **named: Any) -> None:
            nonlocal laid_out
            laid_out += 1
            lay_out(*given, **named)

        monkeypatch.setattr(screen, "_refresh_layout", counted)
        last = store.samples(run_id, test=0).samples[-1]
        for number in range(1, 4):
            at_ns = last.at_ns + number * last.duration_ns
            store.append(
                run_id,
                samples=[replace(last, at_ns=at_ns, ios=number * 1000)],
                progress=Progress(0, Phase.MEASURING, 0.6 + number / 100, 0.6, 30.0, at_ns),
            )
            await see(pilot, f"{60 + number}%")
        assert laid_out == 0


@pytest.mark.parametrize(("preset", "tests"), [("quick", 6), ("mixed-70-30", 1)])
async def test_a_run_of_one_test_has_no_table_until_it_has_ended(
    bench: Bench, store: Store, preset: str, tests: int
) -> None:
    run_id = under_way(store, preset, stop_in=(0, 0.7))
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await see(pilot, f"Test 1 of {tests}")
        assert bool(screen.sheet.region.height) is (tests > 1)
        store.finish_run(run_id, status=Status.CANCELLED)
        await see(pilot, "cancelled")
        await until(pilot, lambda: bool(screen.sheet.region.height))
        await until(pilot, lambda: screen.sheet.has_focus)


@pytest.mark.parametrize("size", SIZES)
async def test_a_mixed_test_shows_read_and_write_apart(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store, "mixed-70-30")
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "R read", "W write")
        for metric in ("iops", "bandwidth"):
            lines = screen.query_one(f"#tile-{metric}").text.splitlines()  # type: ignore[attr-defined]
            told = [word for line in lines for word in line.split() if word in ("R", "W")]
            assert told == ["R", "W"]
            assert sum("%" in line for line in lines) == 2
        head, *lines = screen.query_one("#tile-latency").text.splitlines()  # type: ignore[attr-defined]
        assert head.split() == ["Latency", "R", "now", "R", "test", "W", "now", "W", "test"] or size[0] < 120
        names = ["p50", "p99", "p99.9", "max"]
        assert [line.split()[0] for line in lines] == names[: len(lines)] and len(lines) >= 3


@pytest.mark.parametrize("size", SIZES)
async def test_m_goes_through_the_metrics(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        for title in (
            "IOPS and latency",
            "Bandwidth MB/s",
            "Latency percentiles",
            "Latency heat map",
            "IOPS and latency",
        ):
            assert chart_of(pilot).startswith(title)
            assert ("us ┤" if "Latency" in title else "0 ┤") in chart_of(pilot)
            assert chart_of(pilot).splitlines()[-1].split()[-1] == "s"
            await press(pilot, "m")


@pytest.mark.parametrize("charset", list(Charset))
async def test_charts_come_in_three_forms(bench: Bench, store: Store, charset: Charset) -> None:
    under_way(store, "mixed-70-30")
    async with open_bench(bench, charset=charset) as pilot:
        await open_live(pilot)
        for view in VIEWS[:2]:
            plot = "".join(line[8:] for line in chart_of(pilot).splitlines()[1:-1])
            wanted = {Charset.BRAILLE: range(0x2801, 0x2900), Charset.BLOCKS: range(0x2581, 0x2589)}
            if charset is Charset.ASCII:
                assert set("RW") <= set(plot), view
            else:
                assert any(ord(char) in wanted[charset] for char in plot)
            await press(pilot, "m")


async def test_where_there_is_no_distribution_mean_and_maximum_stand(bench: Bench, store: Store) -> None:
    under_way(store, "ioping-seek")
    async with open_bench(bench, (120, 40)) as pilot:
        screen = await open_live(pilot)
        tile = screen.query_one("#tile-latency").text  # type: ignore[attr-defined]
        assert "mean" in tile
        assert "max" in tile
        assert "p99" not in tile


@pytest.mark.parametrize(
    ("preset", "waits", "size"),
    [
        *(("ioping-latency", True, size) for size in (*SIZES, (60, 20))),
        ("ioping-seek", False, SIZES[0]),
        ("quick", False, SIZES[0]),
    ],
)
async def test_that_ioping_waits_between_requests_is_said_beside_its_rate(
    bench: Bench, store: Store, size: tuple[int, int], preset: str, waits: bool
) -> None:
    under_way(store, preset)
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "R read")
        tile = screen.query_one("#tile-iops").text  # type: ignore[attr-defined]
        assert ("waiting" in tile) is waits
        if waits and size[0] >= 80:
            await see(pilot, "ioping waits 1 s between requests")


@pytest.mark.parametrize("size", SIZES)
async def test_z_shows_the_chart_alone_and_everything_again(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        small = screen.query_one(ChartPane).size.height
        await press(pilot, "z")
        await until(pilot, lambda: screen.query_one(ChartPane).size.height > small + 5)
        await until(pilot, lambda: len(chart_of(pilot).splitlines()) == screen.query_one(ChartPane).size.height)
        assert not screen.query_one("#tests").display
        await press(pilot, "z")
        await until(pilot, lambda: screen.query_one(ChartPane).size.height == small)


@pytest.mark.parametrize("size", SIZES)
async def test_another_test_can_be_looked_at_and_followed_again(
    bench: Bench, store: Store, size: tuple[int, int]
) -> None:
    steps = recording(store, end=Status.RUNNING, stop_in=(3, 0.2), runner=this_process(), runtime_s=2.0)
    for _ in steps:
        if store.summaries() and (progress := store.run(store.resolve("latest")).progress) and progress.test == 2:
            break
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "Test 3 of 6")
        assert "Follow" not in text_of(pilot).splitlines()[-1]
        await press(pilot, "up", "up")
        await until(pilot, lambda: "4K rand read QD1" in chart_of(pilot).splitlines()[0])
        await see(pilot, "f Follow")
        for _ in steps:
            pass
        await see(pilot, "Test 4 of 6")
        assert "4K rand read QD1" in chart_of(pilot).splitlines()[0]
        assert screen.query_one("#tests", Table).key == "0"
        await press(pilot, "f")
        assert "W write" in chart_of(pilot)
        assert screen.query_one("#tests", Table).key == "3"
        await press(pilot, "down")
        await see(pilot, "This test has not begun.")


@pytest.mark.parametrize(
    ("answer", "stops", "size"), [("s", 1, SIZES[0]), ("enter", 1, SIZES[1]), ("escape", 0, SIZES[0])]
)
async def test_s_stops_after_asking(bench: Bench, store: Store, size: tuple[int, int], answer: str, stops: int) -> None:
    run_id = under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        await press(pilot, "s")
        assert isinstance(pilot.app.screen, Ask)
        await see(pilot, "Stop this run?", "Stop it", "Continue")
        await press(pilot, answer)
        assert isinstance(pilot.app.screen, LiveScreen)
        assert bench.stopped == [run_id] * stops


async def test_a_stop_that_fails_says_why(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench) as pilot:
        await open_live(pilot)

        def refuse(_store: Store, _run: str) -> None:
            raise DiskprofError("The run is already over.", "Nothing is left to stop.")

        pilot.app.session = altered(pilot.app.session, request_stop=refuse)  # type: ignore[attr-defined]
        await press(pilot, "s", "s")
        assert "The run is already over. Nothing is left to stop." in told(pilot)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"end": Status.COMPLETE}, ["✓ complete Quick check", "PCIe 4.0", "1 limit, 1 note", "Next:"]),
        (
            {"end": Status.CANCELLED, "reason": "Stopped.", "stop_in": (3, 0.5)},
            ["■ cancelled Quick check", "Stopped.", "3 of 6 tests complete", "skipped"],
        ),
        (
            {"end": Status.FAILED, "reason": "No space left on device", "stop_in": (2, 0.3)},
            ["✗ failed Quick check", "No space left on device"],
        ),
    ],
)
async def test_when_it_is_over_the_results_stand_here(
    bench: Bench, store: Store, size: tuple[int, int], options: dict[str, object], words: list[str]
) -> None:
    steps = recording(store, **options, runner=this_process(), runtime_s=2.0)  # type: ignore[arg-type]
    for _ in range(8):
        next(steps)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        await see(pilot, "s Stop")
        for _ in steps:
            pass
        await see(pilot, *words)
        last = text_of(pilot).splitlines()[-1]
        assert "Stop" not in last
        assert "Follow" not in last
        table = pilot.app.screen.query_one("#tests", Table).text
        for figure in ("18.0k", "us", "ms" if options["end"] is Status.COMPLETE else "read"):
            assert figure in table


async def test_the_findings_of_every_run_of_a_session_are_below(bench: Bench, store: Store) -> None:
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        below = screen.query_one("#below", Words)
        for day in range(2):
            steps = recording(store, runner=this_process(), runtime_s=2.0, started_at=FIRST_START + timedelta(days=day))
            next(steps)
            await see(pilot, "s Stop")
            await until(pilot, lambda: not below.region.height)
            for _ in steps:
                pass
            await see(pilot, "✓ complete")
            await until(pilot, lambda: "Findings" in below.text and "Environment" in below.text)


async def test_an_interrupted_run_keeps_its_samples(bench: Bench, store: Store) -> None:
    record_run(store, end=Status.INTERRUPTED, stop_in=(1, 0.6))
    store.reap()
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        await see(pilot, "! interrupted Quick check")
        assert "R read" in chart_of(pilot)


async def test_a_runner_that_says_nothing_is_told_of(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = under_way(store)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        store.append(run_id, progress=Progress(0, Phase.MEASURING, 0.5, 0.1, 30.0, 10**10, silent_s=7.2))
        await see(pilot, "! no status for 7 s")
        store.append(run_id, progress=Progress(0, Phase.MEASURING, 0.5, 0.1, 30.0, 10**10))
        await see(pilot, "measuring 50%")
        # Not even the runner writes any more.
        screen._heard -= 12

        def silent_s() -> int:
            found = re.search(r"! no status for (\d+) s", text_of(pilot))
            return int(found[1]) if found else 0

        await until(pilot, lambda: silent_s() >= 12)


@pytest.mark.parametrize("size", SIZES)
async def test_messages_appear_newest_first(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    run_id = under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        store.append(run_id, messages=(Message(65 * 10**9, "fio: something \x1b[31mred[/]", 0, warning=True),))
        await see(pilot, "! 1:05 fio: something")
        assert "\x1b" not in text_of(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_n_and_p_go_through_the_runs_that_go(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    ids = [
        under_way(store, preset, started_at=FIRST_START + timedelta(hours=hour))
        for hour, preset in enumerate(("quick", "mixed-70-30", "ioping-latency"))
    ]
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "N Next run", "3 running")
        seen = []
        for key in ("N", "N", "N", "P"):
            seen.append(screen.snapshot.run.id)  # type: ignore[union-attr]
            await press(pilot, key)
        seen.append(screen.snapshot.run.id)  # type: ignore[union-attr]
        assert seen == [ids[2], ids[1], ids[0], ids[2], ids[0]]


async def test_with_one_run_there_is_no_next(bench: Bench, store: Store) -> None:
    run_id = under_way(store)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await press(pilot, "N", "P")
        assert screen.snapshot.run.id == run_id  # type: ignore[union-attr]
        assert "Next run" not in text_of(pilot)


async def test_a_run_that_starts_elsewhere_is_followed(bench: Bench, store: Store) -> None:
    record_run(store)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await see(pilot, "✓ complete")
        second = under_way(store, "mixed-70-30", started_at=FIRST_START + timedelta(days=1))
        await until(pilot, lambda: screen.snapshot.run.id == second)  # type: ignore[union-attr]
        await see(pilot, "Mixed 70/30", "s Stop")


async def test_a_run_that_was_asked_for_stays(bench: Bench, store: Store) -> None:
    first = record_run(store)
    async with open_bench(bench) as pilot:
        pilot.app.show_run(first)  # type: ignore[attr-defined]
        await settle(pilot)
        screen = live(pilot)
        under_way(store, started_at=FIRST_START + timedelta(days=1))
        await see(pilot, "quick running")
        assert screen.snapshot.run.id == first  # type: ignore[union-attr]
        await see(pilot, "N: 1 more running")


async def test_who_comes_back_to_a_run_that_is_over_sees_the_one_that_goes(bench: Bench, store: Store) -> None:
    first = record_run(store)
    async with open_bench(bench) as pilot:
        pilot.app.show_run(first)  # type: ignore[attr-defined]
        await settle(pilot)
        screen = live(pilot)
        second = under_way(store, started_at=FIRST_START + timedelta(days=1))
        await see(pilot, "quick running")
        await press(pilot, "3", "2")
        await until(pilot, lambda: screen.snapshot.run.id == second)  # type: ignore[union-attr]
        await see(pilot, "s Stop")


async def test_what_is_stopped_is_named(bench: Bench, store: Store) -> None:
    run_id = under_way(store, "mixed-70-30")
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        await press(pilot, "s")
        await see(pilot, "Stop this run?", "Mixed 70/30", "on /mnt/data", f"run {run_id}")


async def test_a_run_that_is_deleted_meanwhile_spoils_nothing(bench: Bench, store: Store) -> None:
    first = record_run(store)
    second = record_run(store, started_at=FIRST_START + timedelta(days=1))
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        store.delete(second)
        await until(pilot, lambda: bool(pilot.app._notifications))
        await press(pilot, "1", "2")
        assert screen.snapshot.run.id == first  # type: ignore[union-attr]


async def test_a_run_is_read_more_or_less_often_by_key(bench: Bench, store: Store) -> None:
    for _ in recording(store, end=Status.RUNNING, stop_in=(2, 0.5), runner=this_process(), runtime_s=2.0):
        pass
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        app = pilot.app
        assert isinstance(app, DiskprofApp)
        # Without waiting for what is read twice a second: by then the message may be gone.
        await pilot.press("minus", "minus")
        await until(pilot, lambda: "A run is read every 2 s." in told(pilot))
        assert app._polling is not None and app._polling._interval == 2.0
        await pilot.press(*["plus"] * 5)
        await until(pilot, lambda: "A run is read every 0.25 s." in told(pilot))
        assert app._polling._interval == 0.25


async def test_a_list_that_has_no_room_says_which_tests_are_in_sight(bench: Bench, store: Store) -> None:
    for _ in recording(store, end=Status.RUNNING, stop_in=(2, 0.5), runner=this_process(), runtime_s=2.0):
        pass
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        await see(pilot, "Test 1-4 of 6", "4K rand write QD1")
        await press(pilot, "end")
        await see(pilot, "Test 3-6 of 6", "1M seq write QD8")
    async with open_bench(bench, (120, 40)) as pilot:
        await open_live(pilot)
        await see(pilot, "1M seq write QD8")
        assert "of 6" not in text_of(pilot).replace("Test 3 of 6", "")


@pytest.mark.parametrize("size", [*SIZES, (100, 30), (200, 60), (60, 16)])
async def test_every_size_shows_what_matters(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        await see(pilot, "Quick check", "Test 1 of 6" if size[0] >= 80 else "1/6", "left", "IOPS", "R ")
        assert len(chart_of(pilot).splitlines()) >= 4


async def test_a_resize_draws_everything_anew(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot)
        await pilot.resize_terminal(140, 45)
        progress = screen.query_one("#progress", OneLine)
        # Charts draw themselves as soon as they have another size, lines of words with the next picture.
        await until(pilot, lambda: {len(line.rstrip()) for line in progress.text.splitlines()} == {139})
        await until(pilot, lambda: len(chart_of(pilot).splitlines()) == screen.query_one(ChartPane).size.height)
        await until(pilot, lambda: "p99.9" in text_of(pilot))


async def test_hostile_names_stay_names(bench: Bench, store: Store) -> None:
    bad = "\x1b]52;c;aGk=\x07[/][red]\u202e\n"
    plan = make_plan(runtime_s=1)
    plan = replace(
        plan,
        preset=bad,
        preset_title=bad,
        target=replace(plan.target, given=bad, path=bad, fs_type=bad, device=bad),
        tests=tuple(replace(test, title=bad + test.title) for test in plan.tests),
    )
    store.create_run(plan, FAST.environment, runner=this_process())
    async with open_bench(bench) as pilot:
        await open_live(pilot)
        await see(pilot, "[/][red]")
        assert not set("\x1b\x07\u202e") & set(text_of(pilot))
        await press(pilot, "s")
        await press(pilot, "escape", "q")
        assert not set("\x1b\x07\u202e") & set(text_of(pilot))


def test_a_long_run_is_held_in_bounded_memory(store: Store) -> None:
    run_id = under_way(store, "mixed-70-30", runtime_s=400.0, stop_in=(0, 0.999))
    seen = RunReader(store, run_id).snapshot
    spans = sum(len(line) for line in seen.track._timelines.values())
    assert spans <= 2 * 6 * 513
    assert seen.track.seconds > 390
    check_last(seen, store)


def test_the_last_figures_of_a_short_run_are_of_its_last_interval(store: Store) -> None:
    check_last(RunReader(store, under_way(store, "mixed-70-30", runtime_s=3.0)).snapshot, store)


def check_last(seen: Snapshot, store: Store) -> None:
    """The last figures are of the last interval, not of the last column of the charts, which may hold several."""
    last = {sample.direction: sample for sample in store.samples(seen.run.id, test=0, histograms=False).samples}
    assert set(last) == set(Direction)
    for direction, sample in last.items():
        assert seen.track.last[direction] == reading_of(sample)
        assert seen.track.last[direction].iops == sample.iops
