"""Run: what it tells by itself above its panes: a run that goes, what killed runs left, where to begin."""

import pytest
from bench_screens import PRESETS, Bench, make_preset, open_bench, second_connection
from msgspec.structs import replace
from recorded import record_run
from stored_screens import Driver, press, see, settle, text_of, told, until

from diskprof.model.errors import Refused
from diskprof.model.run import Status
from diskprof.runner.leftovers import Leftover
from diskprof.store import Store, this_process
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.dialogs.import_dialog import ImportDialog
from diskprof.tui.dialogs.text_page import TextPage
from diskprof.tui.kit.painted import width_of
from diskprof.tui.kit.table import Table
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.run.notice_strip import running_notice
from diskprof.tui.run.screen import RunScreen

SIZES = [(60, 16), (80, 24), (200, 60)]
FIRST = "What should I run?"


def leftover(number: int, size: int = 1 << 30) -> Leftover:
    directory = f"/mnt/data/.diskprof-0123456{number}"
    return Leftover(f"abcdefg{number}", directory, size)


def notice(pilot: Driver) -> str:
    strip = pilot.app.screen.query_one("#notice")
    return strip.text if strip.display else ""  # type: ignore[attr-defined]


def rows(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


@pytest.mark.parametrize("size", SIZES)
async def test_the_way_to_the_first_result_is_told_until_there_is_one(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await see(pilot, "Q: What should I run? Or press ⏎ twice: ")
        await press(pilot, "enter")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        with second_connection(bench.path) as store:
            store.finish_run(store.summaries()[0].id, status=Status.COMPLETE)
        await press(pilot, "1")
        await until(pilot, lambda: FIRST not in text_of(pilot))
        await until(pilot, lambda: notice(pilot) == "")


async def test_where_nothing_can_start_the_hint_says_how_to_choose(bench: Bench) -> None:
    bench.block("The file system is full.")
    async with open_bench(bench) as pilot:
        await see(pilot, "Q: What should I run? Or choose a device and a preset; Tab switches panes")


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_that_still_goes_is_offered_for_watching(bench: Bench, size: tuple[int, int]) -> None:
    with Store.open(bench.path) as store:
        run_id = record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
    async with open_bench(bench, size) as pilot:
        assert "press 2 to view" in notice(pilot)
        await press(pilot, "2")
        await see(pilot, run_id)
        with second_connection(bench.path) as store:
            store.finish_run(run_id, status=Status.COMPLETE)
        await press(pilot, "1")
        await until(pilot, lambda: notice(pilot) == "")


def test_long_titles_are_shortened_in_the_middle(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
        (run,) = store.summaries()
    long = run._replace(target="/srv/" + "very/" * 30 + "deep")
    for width in (60, 80, 120):
        line = running_notice([long], "2", width)
        words = "".join(text for text, _ in line)
        assert width_of(line) <= width and "…" in words and words.endswith("press 2 to view")
    assert "Running: 2 runs" in "".join(text for text, _ in running_notice([run, run], "2", 80))


@pytest.mark.parametrize("size", SIZES)
async def test_what_killed_runs_left_is_removed_when_asked_for(bench: Bench, size: tuple[int, int]) -> None:
    bench.left = [leftover(1), leftover(2)]
    async with open_bench(bench, size) as pilot:
        assert "2 leftover test files (2 GiB): press d to delete" in notice(pilot)
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, Ask)
        await see(pilot, "Remove these 2 test files?", ".diskprof-01234561", "run abcdefg2")
        await press(pilot, "enter")
        assert len(bench.left) == 2, "Enter keeps them"
        await press(pilot, "d", "y")
        await until(pilot, lambda: bench.left == [])
        await until(pilot, lambda: "leftover" not in notice(pilot))
        assert "Removed 2 test files: 2 GiB freed." in told(pilot)
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, RunScreen)


async def test_what_may_still_be_in_use_is_left_alone(bench: Bench) -> None:
    bench.left, bench.remove_error = [leftover(1)], Refused("It may still be in use, by process 7.", "Try again later.")
    async with open_bench(bench) as pilot:
        await press(pilot, "d", "y")
        await until(pilot, lambda: "It may still be in use, by process 7. Try again later." in told(pilot))
        assert len(bench.left) == 1 and "1 leftover test file" in notice(pilot)


async def test_a_run_that_is_killed_while_one_looks_is_told_of(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        run_id = record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
    async with open_bench(bench) as pilot:
        bench.left = [leftover(1)]
        with second_connection(bench.path) as store:
            store.finish_run(run_id, status=Status.INTERRUPTED)
        await until(pilot, lambda: "1 leftover test file (1 GiB)" in notice(pilot))


async def test_a_small_screen_tells_the_most_important_alone(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
    bench.left = [leftover(1)]
    async with open_bench(bench, (60, 16)) as pilot:
        assert "Running:" in notice(pilot) and "leftover" not in notice(pilot)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "Running:" in notice(pilot) and "leftover" in notice(pilot))


# --- Every key of the screen ------------------------------------------------------------------------------------------


KEYS = {
    "enter": lambda pilot: isinstance(pilot.app.screen, Ask),
    "Q": lambda pilot: isinstance(pilot.app.screen, Ask),
    "o": lambda pilot: isinstance(pilot.app.screen, FormDialog),
    "i": lambda pilot: isinstance(pilot.app.screen, ImportDialog),
    "e": lambda pilot: isinstance(pilot.app.screen, FormDialog),
    "E": lambda pilot: isinstance(pilot.app.screen, Ask),
    "w": lambda pilot: isinstance(pilot.app.screen, FormDialog),
    "W": lambda pilot: isinstance(pilot.app.screen, LiveScreen),
    "C": lambda pilot: isinstance(pilot.app.screen, TextPage),
    "v": lambda pilot: "variant small" in rows(pilot, "plan").text,
    "asterisk": lambda pilot: "Favourites" in rows(pilot, "presets").text,
    "space": lambda pilot: pilot.app.screen.devices.marked == 1,
    "slash": lambda pilot: pilot.app.focused.id == "preset-filter",
    "a": lambda pilot: "loop0" in rows(pilot, "devices").text,
    "x": lambda pilot: "[x] Raw writes to" in rows(pilot, "plan").text,
    "d": lambda pilot: isinstance(pilot.app.screen, Ask),
    "tab": lambda pilot: pilot.app.focused.id == "presets",
    "right": lambda pilot: pilot.app.focused.id == "presets",
    "left": lambda pilot: pilot.app.focused.id == "devices",
    "ctrl+r": lambda pilot: "sdz" in rows(pilot, "devices").text,
    "escape": lambda pilot: not pilot.app.screen.query_one("#preset-filter").has_class("shown"),
}


def test_no_key_is_forgotten() -> None:
    from textual.binding import Binding

    assert {binding.key for binding in RunScreen.BINDINGS if isinstance(binding, Binding)} == set(KEYS)


@pytest.mark.parametrize("key", KEYS)
async def test_every_key_does_what_it_says(bench: Bench, key: str) -> None:
    from bench_screens import DISKS, make_device

    from diskprof.model.preset import Variant

    bench.presets = (make_preset("quick", "Quick check", variants=(Variant("small", (("size", "1m"),)),)), *PRESETS[1:])
    bench.left = [leftover(1)]
    if key == "E":
        bench.presets = (replace(bench.presets[0], shipped=False), *PRESETS[1:])
    if key == "x":
        bench.devices, bench.overwrites = (make_device("sdb"),), True
    async with open_bench(bench, (120, 40)) as pilot:
        if key == "x":
            await until(pilot, lambda: rows(pilot, "devices").key is not None)
            rows(pilot, "devices").key = "device:sdb"
            await until(pilot, lambda: "[ ] Raw writes" in rows(pilot, "plan").text)
        if key == "escape":
            await press(pilot, "slash", "q")
        if key == "left":
            await press(pilot, "right")
        if key == "ctrl+r":
            bench.devices = (*DISKS, make_device("sdz"))
        await pilot.press(key)
        await until(pilot, lambda: KEYS[key](pilot))
        await settle(pilot)
