"""Without UTF-8, or with --ascii, not one byte beyond ASCII reaches the terminal: every screen and dialog of the real program."""

import shutil
from pathlib import Path

import pytest
from bench_screens import Bench, open_bench
from hypothesis import given
from hypothesis import strategies as st
from program import DISKPROF, environment
from recorded import write_library
from stored_screens import press, see, text_of
from terminal import Terminal, terminal

from diskprof.store import Store
from diskprof.tui.dialogs.help import keys_of
from diskprof.tui.kit.charts.glyphs import Charset, charset_for
from diskprof.tui.kit.terminal.plain_styles import plain


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ascii") / "runs.db"
    ids = write_library(path)
    with Store.open(path) as store:
        store.delete(ids["interrupted"])
        store.set_tags(store.summaries()[-1].id, ("größer", "日本"))
    return path


@pytest.fixture
def home(tmp_path: Path, library: Path) -> Path:
    path = tmp_path / ".local/share/diskprof/runs.db"
    path.parent.mkdir(parents=True)
    shutil.copy(library, path)
    return tmp_path


def dialog(shown: Terminal, key: str, *texts: str) -> None:
    # What it acts on may not be there yet.
    shown.press_until(key, *texts)
    shown.press("escape")
    shown.wait_for("q Quit", gone=texts[0])


def tour(shown: Terminal) -> None:
    """Every screen, dialog and chart."""
    shown.wait_for("Test 3 of 6", "p99", "q Quit")
    shown.press("1")
    shown.wait_for("Plan", "4K rand read", "q Quit")
    dialog(shown, "?", "Help: Run")
    dialog(shown, "C", "Esc closes")
    dialog(shown, "e", "Esc: cancel")
    dialog(shown, "o", "Esc: cancel")
    dialog(shown, "enter", "Start Quick check?")
    dialog(shown, "ctrl+p", "type to search")
    shown.press("2")
    shown.wait_for("Test 3 of 6", "p99")
    dialog(shown, "?", "Help: Live")
    dialog(shown, "s", "Stop this run?")
    for words in ("Bandwidth", "Latency", "requests", "IOPS"):
        shown.press("m")
        shown.wait_for(words)
    shown.press("K", "K", "left", "z")
    shown.press("escape", "z", "3")
    shown.wait_for("9 runs")
    for key, words in (("t", "Tags and note"), ("r", "Write Markdown"), ("?", "Help: Runs")):
        dialog(shown, key, words)
    shown.press("y")
    shown.wait_for("clipboard")
    shown.press("end", "enter")
    shown.wait_for("Next:")
    dialog(shown, "?", "Help: Result")
    dialog(shown, "d", "Delete")
    for _ in range(4):
        shown.press("m")
    shown.press("space", "escape")
    shown.wait_for("9 runs")
    shown.press("end", "space", "up", "space", "c")
    shown.wait_for("2 runs compared")
    dialog(shown, "?", "Help: Compare")
    shown.press("m", "m", "a", "q")
    shown.wait_for("Leave it running")
    shown.press("l")
    assert shown.wait_for_end() == 0


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (("--ascii",), {"LANG": "C.UTF-8"}),
        ((), {"LANG": "C"}),
    ],
    ids=["option", "locale"],
)
def test_no_byte_beyond_ascii_is_sent(home: Path, words: tuple[str, ...], more: dict[str, str]) -> None:
    with terminal([*DISKPROF, *words], environment(home, **more), cwd=home) as shown:
        tour(shown)
        beyond = [at for at, byte in enumerate(shown.raw) if byte >= 0x80]
        assert not beyond, bytes(shown.raw[max(0, beyond[0] - 60) : beyond[0] + 20])


def test_no_sign_of_the_palette_is_unknown(home: Path) -> None:
    with terminal([*DISKPROF, "--ascii"], environment(home), cwd=home) as shown:
        shown.wait_for("Test 3 of 6", "q Quit")
        shown.press_until("ctrl+p", "type to search", "Go to Live")
        assert "??" not in shown.text


@pytest.mark.parametrize(("charset", "enter"), [(Charset.ASCII, "Enter"), (Charset.BLOCKS, "⏎")])
async def test_keys_are_named_where_their_sign_is_another_key(bench: Bench, charset: Charset, enter: str) -> None:
    async with open_bench(bench, charset=charset) as pilot:
        assert f" {enter} Start " in text_of(pilot).splitlines()[-1]
        await press(pilot, "question_mark")
        await see(pilot, f"{enter} ")
        await press(pilot, "escape", "2", "question_mark")
        keys = dict(keys_of(pilot.app.screen_stack[-2]))
        assert all(shown.isascii() for shown in keys) is (charset is Charset.ASCII)
        assert not {"<", ">", "^", "v"} & {key for shown in keys for key in shown.split()} or charset is Charset.BLOCKS


@pytest.mark.parametrize("more", [{"LC_ALL": "POSIX"}, {"DISKPROF_ASCII": "1"}, {"DISKPROF_CHARTS": "ascii"}])
def test_there_are_other_ways_to_say_so(home: Path, more: dict[str, str]) -> None:
    with terminal(DISKPROF, environment(home, **more), cwd=home) as shown:
        shown.wait_for("Test 3 of 6", "p99", "q Quit")
        assert shown.raw.isascii()


@pytest.mark.parametrize(
    ("locale", "charset"),
    [
        ({"LANG": "C.UTF-8"}, Charset.BRAILLE),
        ({"LANG": "C"}, Charset.ASCII),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, Charset.ASCII),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, Charset.BRAILLE),
        ({}, Charset.BRAILLE),
        ({"LANG": "C", "DISKPROF_CHARTS": "blocks"}, Charset.ASCII),
        ({"LANG": "C.UTF-8", "DISKPROF_CHARTS": "blocks"}, Charset.BLOCKS),
    ],
)
def test_the_locale_says_what_can_be_shown(locale: dict[str, str], charset: Charset) -> None:
    assert charset_for({"TERM": "xterm", **locale}, "utf-8") is charset


@given(st.text())
def test_plain_text_is_ascii_in_as_many_cells(text: str) -> None:
    from rich.cells import cell_len

    assert plain(text).isascii()
    for char in text:
        assert len(plain(char)) == (cell_len(char) if ord(char) >= 0x80 else 1)


def test_signs_keep_their_meaning() -> None:
    assert plain("▶ ✗ ╭──╮ │ é µs … ↑ 日 \u200b⣿") == "> x +--+ | e us ~ ^ ?? :"
