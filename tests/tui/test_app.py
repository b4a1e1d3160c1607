"""The shell: four modes, help and palette for where one is, quitting while a run goes, signals, what the first line says."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest
from bench_screens import Bench, open_bench
from recorded import FAST, FIRST_START, make_plan, record_run, write_library
from stored_screens import SIZES, altered, press, see, settle, text_of, told, until

from diskprof.model.errors import DiskprofError, ExitCode
from diskprof.model.run import Status
from diskprof.store import Store, this_process
from diskprof.tui.app import DiskprofApp, run_app
from diskprof.tui.compare.screen import CompareScreen
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.dialogs.help import HelpScreen
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.palette import Depth
from diskprof.tui.kit.theme import DARK, LIGHT, SIXTEEN, SIXTEEN_ON_WHITE, terminal_depth
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.run.screen import RunScreen
from diskprof.tui.runs.screen import RunsScreen
from diskprof.tui.shell.store_watch import StoreWatcher

MODES = {"1": RunScreen, "2": LiveScreen, "3": RunsScreen, "4": CompareScreen}


def running(path: Path) -> str:
    with Store.open(path) as store:
        return record_run(store, end=Status.RUNNING, stop_in=(1, 0.5), runner=this_process())


@pytest.mark.parametrize("size", SIZES)
async def test_each_mode_has_its_key(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        for key in "2341":
            await press(pilot, key)
            assert type(pilot.app.screen) is MODES[key]
            first, *_, last = text_of(pilot).splitlines()
            assert [word for word in ("1 Run", "2 Live", "3 Runs", "4 Compare") if word not in first] == []
            assert "? Help" in last
            assert "q Quit" in last


@pytest.mark.parametrize(("key", "help_key"), [*((key, "question_mark") for key in MODES), ("1", "f1")])
async def test_help_belongs_to_the_screen_and_lists_its_keys(bench: Bench, key: str, help_key: str) -> None:
    async with open_bench(bench, (120, 80)) as pilot:
        await press(pilot, key)
        below = pilot.app.screen
        await press(pilot, help_key)
        assert isinstance(pilot.app.screen, HelpScreen)
        await see(pilot, f"Help: {MODES[key].TITLE_OF_HELP}", "Keys", "q")
        shown = text_of(pilot)
        for _, binding, enabled, tooltip in below.active_bindings.values():
            if binding.show and enabled and binding.description:
                assert (tooltip or binding.description)[:30] in shown
        await press(pilot, "escape")
        assert pilot.app.screen is below


@pytest.mark.parametrize("size", SIZES)
async def test_long_help_can_be_scrolled_to_its_end(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "question_mark", *["down"] * 60)
        await see(pilot, "All commands, by name")
        await press(pilot, "up", "enter")
        assert isinstance(pilot.app.screen, RunScreen)


async def test_the_palette_offers_what_can_be_done_here(bench: Bench) -> None:
    async with open_bench(bench, (120, 60)) as pilot:
        names = [command.choice.title for command in pilot.app.commands(pilot.app.screen)]
        assert {"Go to Live", "Start", "Other target", "Edit", "Commands", "Theme", "Help", "Quit"} <= set(names)
        await press(pilot, "ctrl+p")
        await see(pilot, "Go to Compare", "Other target")
        await press(pilot, *"compare", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))


async def test_a_palette_command_acts_on_the_screen_below(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        commands = {command.choice.title: command for command in pilot.app.commands(pilot.app.screen)}
        commands["Start"].run()
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))


async def test_quits_at_once_when_nothing_runs(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await pilot.press("q")
        await until(pilot, lambda: not pilot.app.is_running)
    assert pilot.app.return_code == 0


@pytest.mark.parametrize(
    ("mode", "keys", "stops", "quits", "size"),
    [
        *(("1", "l", 0, True, size) for size in SIZES),
        ("1", "s", 1, True, SIZES[0]),
        *((mode, "escape", 0, False, SIZES[0]) for mode in MODES),
    ],
)
async def test_quitting_while_a_run_goes_asks(
    bench: Bench, size: tuple[int, int], mode: str, keys: str, stops: int, quits: bool
) -> None:
    run_id = running(bench.path)
    async with open_bench(bench, size) as pilot:
        await press(pilot, mode, "q")
        assert isinstance(pilot.app.screen, Ask)
        await see(pilot, "Quick check on /mnt/data", "Leave it running and quit", "Stop it and quit", "Stay")
        await pilot.press(keys)
        if quits:
            await until(pilot, lambda: not pilot.app.is_running)
        else:
            await settle(pilot)
            assert isinstance(pilot.app.screen, MODES[mode])
            assert pilot.app.is_running
    assert bench.stopped == [run_id] * stops
    assert pilot.app.left_running == ((run_id,) if keys == "l" else ())  # type: ignore[attr-defined]


async def test_ctrl_c_names_the_key_that_quits(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "ctrl+c")
        assert pilot.app.is_running
        assert "Press q to quit." in told(pilot)
        assert "ctrl+q" not in told(pilot)


@pytest.mark.parametrize(("runs", "mode"), [(0, RunScreen), (1, LiveScreen)])
async def test_opens_on_live_if_a_run_is_in_progress(bench: Bench, runs: int, mode: type) -> None:
    for _ in range(runs):
        running(bench.path)
    app = DiskprofApp(bench.session(), live_first=True)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert isinstance(app.screen, mode)
        for key in "1234":
            await press(pilot, key)
            assert type(app.screen) is MODES[key]


async def test_a_notice_leaves_the_tabs_and_the_keys_and_stays_on_its_screen(bench: Bench) -> None:
    app = DiskprofApp(bench.session(), charset=Charset.BRAILLE)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: bool(bench.planned))
        await settle(pilot)
        below = text_of(pilot).splitlines()[1:]
        pilot.app.notify("Wrote report.md")
        await see(pilot, "Wrote report.md", "1 Run", "4 Compare")
        assert text_of(pilot).splitlines()[1:] == below
        await press(pilot, "3")
        assert "Wrote report.md" not in text_of(pilot)


async def test_a_long_text_says_how_much_is_in_sight(bench: Bench) -> None:
    async with open_bench(bench, (80, 24)) as pilot:
        await press(pilot, "question_mark")
        await see(pilot, "lines 1-", "PgDn scrolls")
        await press(pilot, "down")
        await see(pilot, "lines 2-")


@pytest.mark.parametrize(("moves", "stopped"), [([], 0), (["down"], 1)])
async def test_the_marked_answer_is_given_by_enter(bench: Bench, moves: list[str], stopped: int) -> None:
    running(bench.path)
    async with open_bench(bench) as pilot:
        await pilot.press("q", *moves, "enter")
        await until(pilot, lambda: not pilot.app.is_running)
    assert len(bench.stopped) == stopped


async def test_a_second_q_in_the_dialog_does_not_quit(bench: Bench) -> None:
    running(bench.path)
    async with open_bench(bench) as pilot:
        await press(pilot, "q", "q")
        assert pilot.app.is_running
        assert isinstance(pilot.app.screen, Ask)


async def test_a_stop_that_fails_keeps_the_app_open_and_says_why(bench: Bench) -> None:
    running(bench.path)

    def refuse(_store: Store, _run: str) -> None:
        raise DiskprofError("The runner cannot be reached.", "It belongs to another user.")

    app = DiskprofApp(altered(bench.session(), request_stop=refuse))
    async with app.run_test() as pilot:
        await settle(pilot)
        await press(pilot, "q", "s")
        assert app.is_running
        assert "The runner cannot be reached. It belongs to another user." in told(pilot)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_app_in_order(bench: Bench, number: signal.Signals) -> None:
    async with open_bench(bench) as pilot:
        os.kill(os.getpid(), number)
        await until(pilot, lambda: not pilot.app.is_running)
    assert pilot.app.return_code == ExitCode.INTERRUPTED


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_line_says_what_goes_on(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await see(pilot, "db-01 nothing running")
        first = running(bench.path)
        await see(pilot, "quick running")
        running(bench.path)
        await see(pilot, "2 running")
        with Store.open(bench.path) as store:
            for run in store.summaries():
                if run.id != first:
                    store.finish_run(run.id, status=Status.COMPLETE)
        await see(pilot, "▶ quick running")
        await pilot.resize_terminal(60, 24)
        await see(pilot, "4 Compare ▶ running")


async def test_a_narrow_terminal_keeps_the_tabs_and_the_last_keys(bench: Bench) -> None:
    async with open_bench(bench, (50, 20)) as pilot:
        first, *_, last = text_of(pilot).splitlines()
        assert "1 Run" in first
        assert "4 Compare" in first
        assert last.rstrip().endswith("? Help  q Quit")


async def test_a_click_on_a_tab_opens_its_mode(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        at = text_of(pilot).splitlines()[0].index("3 Runs")
        await pilot.click(offset=(at, 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))


@pytest.mark.parametrize("size", SIZES)
async def test_a_click_on_a_key_does_what_the_key_does(bench: Bench, size: tuple[int, int]) -> None:
    def place(words: str) -> tuple[int, int]:
        lines = text_of(pilot).splitlines()
        return lines[-1].index(words) + len(words) - 1, len(lines) - 1

    async with open_bench(bench, size) as pilot:
        await pilot.click(offset=place("/ Filter"))
        await until(pilot, lambda: pilot.app.focused is not None and pilot.app.focused.id == "preset-filter")
        # A field that has the keys does not take them for text.
        await press(pilot, *"quick")
        await pilot.click(offset=place("esc All presets"))
        await until(pilot, lambda: pilot.app.focused is not None and pilot.app.focused.id == "presets")
        await pilot.click(offset=place("e Edit"))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormDialog))
        await press(pilot, "escape")
        await pilot.click(offset=place("? Help"))
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await press(pilot, "escape")
        await pilot.click(offset=(0, size[1] - 1))
        await settle(pilot)
        assert isinstance(pilot.app.screen, RunScreen)
        await pilot.click(offset=place("q Quit"))
        await until(pilot, lambda: not pilot.app.is_running)


async def test_tabs_wait_while_a_question_is_open(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "enter")
        asked = pilot.app.screen
        assert isinstance(asked, Ask)
        await press(pilot, "2")
        assert pilot.app.screen is asked


async def test_a_runner_that_died_is_noticed(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        record_run(store, end=Status.INTERRUPTED, stop_in=(1, 0.5))
        watcher = StoreWatcher(store)
        assert watcher.poll(100.0)
        assert [run.status for run in watcher.state.running] == [Status.RUNNING]
        watcher.poll(200.0)
        assert watcher.state.running == ()


async def test_nothing_is_read_while_nothing_changes(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store, Store.open(tmp_path / "runs.db") as other:
        watcher = StoreWatcher(store)
        assert watcher.poll(0)
        assert not watcher.poll(1)
        other.create_run(make_plan(), FAST.environment, started_at=FIRST_START)
        assert watcher.poll(2)
        assert not watcher.poll(3)


@pytest.mark.parametrize("theme", [DARK, LIGHT, SIXTEEN, SIXTEEN_ON_WHITE, "ansi-dark", "textual-light", "nord"])
async def test_every_mode_draws_in_every_theme(bench: Bench, theme: str) -> None:
    write_library(bench.path)
    async with open_bench(bench) as pilot:
        pilot.app.theme = theme
        for key in "1234":
            await press(pilot, key)
            assert len(text_of(pilot).strip()) > 100


async def test_without_utf8_everything_of_ours_is_ascii(bench: Bench) -> None:
    write_library(bench.path)
    async with open_bench(bench, charset=Charset.ASCII) as pilot:
        for key in "12":
            await press(pilot, key)
            assert [char for char in text_of(pilot) if not char.isascii()] == []


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"TERM": "xterm-256color"}, Depth.PALETTE),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, Depth.TRUE),
        ({"TERM": "xterm"}, Depth.SIXTEEN),
        ({"TERM": "linux"}, Depth.SIXTEEN),
        ({"TERM": "vt100"}, Depth.SIXTEEN),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, Depth.SIXTEEN),
    ],
)
def test_the_colours_of_the_terminal_are_noticed(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], depth: Depth
) -> None:
    for name in ("TERM", "COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert terminal_depth() is depth


async def test_without_colours_what_is_marked_is_reversed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = DiskprofApp(bench.session(), depth=Depth.SIXTEEN)
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        await settle(pilot)
        colours, reversed_texts = set(), set()
        for strip in app.screen._compositor.render_strips():
            for segment in strip.apply_filter(app._filters[-1], app.screen.background_colors[1]):
                style = segment.style
                if style is not None:
                    colours |= {str(colour.name) for colour in (style.color, style.bgcolor) if colour}
                    if style.reverse and segment.text.strip():
                        reversed_texts.add(segment.text.strip())
        assert colours <= {"default"}
        assert "1 Run" in reversed_texts
        assert any("sda2" in text for text in reversed_texts)


def test_a_crash_is_an_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(self: DiskprofApp, **_more: object) -> None:
        self._return_code = 1

    monkeypatch.setattr(DiskprofApp, "run", crash)
    assert run_app(tmp_path / "runs.db") == ExitCode.FAILED
    monkeypatch.setattr(DiskprofApp, "run", lambda self, **_more: None)
    assert run_app(tmp_path / "runs.db") == ExitCode.OK


def test_a_run_that_continues_is_named_on_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave(self: DiskprofApp, **_more: object) -> None:
        self.left_running = ("qm5h4f5g",)

    monkeypatch.setattr(DiskprofApp, "run", leave)
    run_app(tmp_path / "runs.db")
    said = capsys.readouterr().err
    assert said == "Run qm5h4f5g continues in the background. Reopen: diskprof attach qm5h4f5g\n"


def test_a_store_that_cannot_be_opened_is_said_before_the_screen_is_touched(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a database, but long enough to look at" * 100)
    with pytest.raises(DiskprofError):
        run_app(tmp_path / "file")


@pytest.mark.parametrize("turns", [0, 12, 16, 20, 24])
async def test_keys_typed_ahead_are_answers(bench: Bench, turns: int) -> None:
    """The answer comes at once, or some turns of the loop later: before the question is there or while it is laid out."""
    from textual import events

    running(bench.path)
    async with open_bench(bench) as pilot:
        for key in "ql":
            pilot.app.post_message(events.Key(key, key))
            for _ in range(turns):
                await asyncio.sleep(0)
        async with asyncio.timeout(20):
            await until(pilot, lambda: not pilot.app.is_running)


async def test_garbage_is_looked_for_again_once_the_screen_stands(bench: Bench) -> None:
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.disable()
    try:
        async with open_bench(bench) as pilot:
            await until(pilot, gc.isenabled)
            assert gc.get_freeze_count() > frozen
    finally:
        # As it was: what was collected stays frozen (tests/conftest.py).
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        gc.set_threshold(*usual)
        gc.enable()


async def test_keys_typed_ahead_go_where_the_one_before_led(bench: Bench) -> None:
    from textual import events

    from diskprof.tui.kit.table import Table

    async with open_bench(bench) as pilot:
        devices, presets = (pilot.app.screen.query_one(name, Table) for name in ("#devices", "#presets"))
        device, preset = devices.key, presets.key
        for key in ("right", "down"):
            pilot.app.post_message(events.Key(key, None))
        await until(pilot, lambda: presets.key != preset)
        assert devices.key == device


async def test_what_is_typed_behind_a_key_that_moves_on_stands_in_the_next_field(bench: Bench) -> None:
    from textual import events
    from textual.widgets import Input

    async with open_bench(bench) as pilot:
        await press(pilot, "e")
        await until(pilot, lambda: len(pilot.app.screen.query(Input)) > 1)
        first, second = list(pilot.app.screen.query(Input))[:2]
        for key in ("5", "1", "tab", "7", "8"):
            pilot.app.post_message(events.Key(key, key if key.isdigit() else None))
        await until(pilot, lambda: "8" in second.value + first.value)
        assert (first.value, second.value) == ("51", "78")
        for key in ("9", "up", "6"):
            pilot.app.post_message(events.Key(key, key if key.isdigit() else None))
        await until(pilot, lambda: "6" in second.value + first.value)
        assert (first.value, second.value) == ("6", "789")


async def test_what_changes_while_the_app_ends_is_nobodys_any_more(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a screen holds is taken away first, then the screen, then the app."""
    polled = []

    def on_unmount(screen: RunsScreen) -> None:
        record_run(store)
        screen.diskprof._poll()
        polled.append(screen)

    monkeypatch.setattr(RunsScreen, "on_unmount", on_unmount, raising=False)
    async with open_bench(bench) as pilot:
        await press(pilot, "3")
    assert polled
