"""Ctrl+z and fg, signals, a lost terminal, pasting, copying, odd sizes: the real program in a real terminal."""

import base64
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import DISKPROF, descendants, environment, gone, until
from recorded import write_library
from terminal import Terminal, terminal

from diskprof.store import Store

MOUSE = {1000, 1003, 1006, 1015}
# What a terminal has on for a shell: the cursor, and lines that wrap.
AT_REST = {7, 25}
BASH = ("bash", "--norc", "--noprofile", "-i")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "runs.db"
    ids = write_library(path)
    with Store.open(path) as store:
        store.delete(ids["interrupted"])
    return path


@pytest.fixture
def home(tmp_path: Path, library: Path) -> Path:
    path = tmp_path / ".local/share/diskprof/runs.db"
    path.parent.mkdir(parents=True)
    shutil.copy(library, path)
    return tmp_path


@pytest.fixture
def shell(home: Path) -> Iterator[Terminal]:
    env = environment(home, PS1="ready$ ", HISTFILE="/dev/null", INPUTRC="/dev/null")
    with terminal(BASH, env, cwd=home) as opened:
        opened.wait_for("ready$")
        yield opened


def program(home: Path, *words: str, **more: str) -> tuple[list[str], dict[str, str]]:
    return [*DISKPROF, *words], environment(home, **more)


def see_the_runs(shown: Terminal) -> None:
    shown.wait_for("Test 3 of 6", "? Help")
    shown.press("3")
    shown.wait_for("9 runs", "q Quit")


@pytest.mark.parametrize("line", [" ".join(DISKPROF), "sh job"], ids=["program", "script"])
def test_ctrl_z_goes_to_the_shell_and_fg_comes_back(shell: Terminal, home: Path, line: str) -> None:
    (home / "job").write_text(f"{' '.join(DISKPROF)}\necho the end of it\n")
    shell.press(line + "\r")
    see_the_runs(shell)
    assert shell.modes > MOUSE
    shell.press("ctrl+z")
    shell.wait_for("Stopped", "ready$", gone="9 runs")
    # bash asks for bracketed paste by itself.
    assert shell.modes - {2004} == AT_REST
    shell.press("echo $((6*7))\r")
    shell.wait_for("42")
    shell.press("fg\r")
    shell.wait_for("9 runs", "1 Run", "q Quit", gone="ready$")
    assert shell.modes > MOUSE
    shell.press("2")
    shell.wait_for("Test 3 of 6")
    shell.press("ql")
    shell.wait_for("ready$", *(["the end of it"] if "job" in line else []))
    assert shell.modes - {2004} == AT_REST


def test_ctrl_l_draws_what_was_written_over_again(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        for way in ("", "r"):  # over a dialog too
            shown.press(*way)
            shown.wait_for("Write Markdown to" if way else "9 runs")
            shown.look(0.5)
            before = shown.text
            for row in (0, 3, 12, 23):
                shown.write_over(row, "kernel: EXT4-fs error on device sdb: something went wrong here, and here")
            assert shown.text.count("EXT4-fs error") == 4
            shown.press("ctrl+l")
            shown.wait_for(before)


def test_ctrl_z_without_a_shell_says_so(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.press("ctrl+z")
        shown.wait_for("There is no shell to go back to here")


def test_a_terminal_that_is_closed_while_it_is_stopped_ends_it(shell: Terminal) -> None:
    shell.press(" ".join(DISKPROF) + "\r")
    see_the_runs(shell)
    shell.press("ctrl+z")
    shell.wait_for("Stopped", "ready$")
    (stopped,) = descendants(shell.pid)
    shell.hang_up()
    until(lambda: gone(stopped), "the end of the program")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_leaves_the_terminal_as_it_was(home: Path, number: signal.Signals) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        os.kill(shown.pid, number)
        assert shown.wait_for_end() == 130
        assert shown.modes == AT_REST
        # The kitty keyboard protocol is left as often as it was entered.
        assert shown.raw.count(b"\x1b[<u") == len(re.findall(rb"\x1b\[>\d+u", shown.raw)) == 1


def test_quitting_leaves_the_terminal_as_it_was(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.press("ql")
        assert shown.wait_for_end() == 0
        assert shown.modes == AT_REST


@pytest.mark.parametrize("words", [("--no-mouse",), ()], ids=["option", "setting"])
def test_without_the_mouse_it_is_left_to_the_terminal(home: Path, words: tuple[str, ...]) -> None:
    config = home / ".config/diskprof/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("" if words else "mouse = false\n")
    with terminal(*program(home, *words), cwd=home) as shown:
        see_the_runs(shown)
        assert not shown.modes & MOUSE


def test_what_is_pasted_into_a_field_is_text_on_one_line(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.press("/")
        shown.wait_for("type to filter")
        before = len(shown.raw)
        shown.press("\x1b[200~qu\x1b]52;c;QUFB\x07ick\x9b31m\r\nrm -rf /\n\x1b[201~")
        shown.wait_for("of 9 runs")
        shown.press("enter")
        assert b"\x1b]52" not in shown.raw[before:]
        assert b"\x9b" not in shown.raw[before:].replace(b"\xc2\x9b", b"")
        assert "rm -rf" not in shown.text


def test_what_is_pasted_where_nothing_is_written_does_nothing(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.press("\x1b[200~qqd\r\rl\x1b[201~")
        shown.press("4")
        shown.wait_for("Compare", "q Quit", gone="9 runs")
        shown.press("3")
        shown.wait_for("9 runs")


def test_it_recovers_from_any_size(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        for size in ((40, 10), (1, 1), (200, 60), (59, 15), (60, 16), (3, 50), (300, 2), (80, 24)):
            shown.resize(size)
            shown.read(0.1)
        shown.wait_for("9 runs", "1 Run", "newest first", "q Quit")
        shown.press("ql")
        assert shown.wait_for_end() == 0


def test_a_terminal_that_is_too_small_is_told_and_recovered_from(home: Path) -> None:
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.resize((58, 14))
        shown.wait_for("From 60x16")
        shown.resize((80, 24))
        shown.wait_for("newest first", "q Quit")
        shown.wait_for("newest first", "q Quit", gone="From 60x16")
        shown.look(0.5)
        before = shown.text
        shown.resize((20, 5))
        shown.wait_for("20x5 is too small:", "diskprof needs", "60x16.")
        shown.resize((80, 24))
        shown.wait_for(before)


def test_a_terminal_that_was_smaller_for_a_moment_is_drawn_whole(home: Path) -> None:
    """It moves what it shows, and by the time it is looked at its size is what it was."""
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.wait_for("newest first")
        shown.resize((58, 14), (80, 24))
        assert "newest first" not in shown.text
        shown.wait_for("newest first", "q Quit")


def copied(home: Path) -> str:
    return (
        until(lambda: (home / ".cache/diskprof/copied.txt").exists(), "the copy")
        and (home / ".cache/diskprof/copied.txt").read_text()
    )


def clipboard(shown: Terminal) -> str:
    """What the terminal was asked to take."""
    found = re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", bytes(shown.raw))
    return base64.b64decode(found[-1]).decode() if found else ""


def test_y_copies_for_the_clipboard_and_into_a_file(home: Path) -> None:
    with Store.open(home / ".local/share/diskprof/runs.db") as store:
        newest = store.summaries()[0].id
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        shown.press("y")
        shown.wait_for("clipboard", "copied.txt")
        assert clipboard(shown) == newest
    assert copied(home) == newest + "\n"
    assert (home / ".cache/diskprof/copied.txt").stat().st_mode & 0o777 == 0o600


def test_a_copy_that_cannot_be_written_is_an_error_in_words(home: Path) -> None:
    (home / ".cache").write_text("not a directory")
    with terminal(*program(home), cwd=home) as shown:
        see_the_runs(shown)
        # Where its lines break depends on how long the path is.
        shown.press_until("y", "cannot be", "$XDG_CACHE_HOME names another")


def test_a_long_value_stands_in_its_field(home: Path) -> None:
    deep = home / ("a-long-name" * 8)
    deep.mkdir()
    with terminal(*program(home), cwd=deep) as shown:
        see_the_runs(shown)
        shown.press("r")
        shown.wait_for("Write Markdown to", ".md")


@pytest.mark.needs("tmux")
def test_in_tmux_it_is_tmux_that_gets_the_copy(home: Path) -> None:
    import subprocess

    socket = home / "tmux"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    env = environment(home)
    with terminal([*tmux, "new-session", "-x", "80", "-y", "24", " ".join(DISKPROF)], env, cwd=home) as shown:
        try:
            shown.wait_for("Test 3 of 6", "? Help")
            shown.press("3")
            shown.wait_for("9 runs")
            shown.press("y")
            shown.wait_for("tmux's buffer")
            buffer = subprocess.run([*tmux, "show-buffer"], env=env, capture_output=True, text=True, check=True).stdout
        finally:
            subprocess.run([*tmux, "kill-server"], env=env, check=False)
    assert buffer == copied(home)


@pytest.mark.parametrize("problem", ['theme = "drak"\n', "theme = \n", '[keys]\n"runs.open" = "y"\n'])
def test_a_setting_that_cannot_be_used_is_told_and_holds_nobody_up(home: Path, problem: str) -> None:
    config = home / ".config/diskprof/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(problem)
    with terminal(*program(home), cwd=home) as shown:
        shown.wait_for("A setting cannot be used", "diskprof config")
        shown.press("3")
        shown.wait_for("9 runs")
