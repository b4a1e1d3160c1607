"""The real program in real pseudo-terminals, read back as a terminal would show it."""

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pyte
import pytest
from recorded import write_library

from diskprof.store import Store

LONG_S = 60.0
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[>=<][0-9;]*u|\x1b\[\?[0-9;]*\$p")
_PROGRAM = (
    "import sys; from pathlib import Path; from diskprof.tui.app import run_app; sys.exit(run_app(Path(sys.argv[1])))"
)


class Terminal:
    """A pseudo-terminal with the app in it. `text` is what it shows."""

    def __init__(self, store: Path, environment: dict[str, str], size: tuple[int, int]) -> None:
        self.sent = b""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.pid, self._fd = os.forkpty()
        if self.pid == 0:
            with contextlib.suppress(OSError):
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
                os.execve(sys.executable, [sys.executable, "-c", _PROGRAM, str(store)], environment)
            os._exit(127)

    @property
    def text(self) -> str:
        return "\n".join(self._screen.display)

    def read(self, seconds: float) -> bool:
        """Take in what comes within `seconds`; False once the other side is closed."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return False
        self.sent += data
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        return bool(data)

    def see(self, *texts: str) -> None:
        """Wait until all of these are shown."""
        end = time.monotonic() + LONG_S
        while any(text not in self.text for text in texts):
            if time.monotonic() > end or not self.read(0.2):
                raise AssertionError(f"{[text for text in texts if text not in self.text]} not in:\n{self.text}")

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        self._screen.resize(lines, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def end(self) -> int:
        """Wait for the app to end; its exit code."""
        end = time.monotonic() + LONG_S
        while self.read(0.2):
            if time.monotonic() > end:
                raise AssertionError(f"still running:\n{self.text}")
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._fd)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terminals") / "runs.db"
    ids = write_library(path)
    with Store.open(path) as store:
        store.delete(ids["interrupted"])
    return path


@contextlib.contextmanager
def terminal(store: Path, size: tuple[int, int] = (80, 24), **environment: str) -> Iterator[Terminal]:
    names = ("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
    inherited = {name: os.environ[name] for name in names if name in os.environ}
    opened = Terminal(store, {**inherited, "LANG": "C.UTF-8", **environment}, size)
    try:
        yield opened
    finally:
        opened.close()


TERMS = ("xterm-256color", "xterm", "screen-256color", "tmux-256color", "linux", "vt100")


@pytest.mark.parametrize("term", TERMS)
def test_every_terminal_shows_the_screens(store: Path, term: str) -> None:
    with terminal(store, TERM=term) as shown:
        shown.see("4K rand read QD1", "IOPS", "p99", "? Help")
        shown.press("1")
        shown.see("Plan", "Quick check", "? Help")
        shown.press("3")
        shown.see("9 runs")
        shown.press("4")
        shown.see("Compare")
        if term in ("linux", "vt100"):
            assert not any(0x2800 < ord(char) < 0x2900 for char in shown.text)
        shown.press("q")
        shown.see("Leave it running")
        shown.press("l")
        assert shown.end() == 0
        assert shown.sent.endswith(b"\x1b[?1049l\x1b[?25h") or b"\x1b[?1049l" in shown.sent[-400:]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(store: Path, number: signal.Signals) -> None:
    with terminal(store, TERM="xterm-256color") as shown:
        shown.see("Quick check")
        os.kill(shown.pid, number)
        assert shown.end() == 130
        assert b"\x1b[?1049l" in shown.sent[-400:]


def test_without_colours_none_are_sent(store: Path) -> None:
    with terminal(store, TERM="xterm-256color", NO_COLOR="1") as shown:
        shown.see("Quick check")
        shown.press("2")
        shown.see("Test 3 of 6")
        shown.press("ql")
        assert shown.end() == 0
    colours = re.findall(rb"\x1b\[[0-9;]*m", shown.sent)
    assert colours
    assert not [code for code in colours if re.search(rb"[\[;](3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)[;m]", code)]


def test_without_utf8_only_ascii_is_sent_by_our_screens(store: Path) -> None:
    with terminal(store, TERM="xterm", LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") as shown:
        shown.see("Quick check", "> ")
        shown.press("2")
        shown.see("Test 3 of 6", "#")
        assert shown.text.isascii()


def test_a_terminal_may_change_its_size_at_any_moment(store: Path) -> None:
    with terminal(store, TERM="xterm-256color") as shown:
        shown.see("Quick check")
        shown.press("2")
        shown.see("Test 3 of 6")
        for size in ((120, 40), (60, 16), (20, 5), (200, 60), (80, 24)):
            shown.resize(*size)
            shown.read(0.1)
        shown.see("Test 3 of 6", "? Help")
        shown.press("ql")
        assert shown.end() == 0
