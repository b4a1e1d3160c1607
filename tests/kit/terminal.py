"""A real terminal: a program in a PTY, its screen read through pyte and judged by its text."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyte
from wcwidth import wcwidth

PATIENCE_S = 60.0
_AGAIN_S = 6.0
# pyte takes the kitty keyboard protocol's requests for text.
_KITTY = re.compile(rb"\x1b\[[>=<][0-9;]*u")
_OTHER_SCREEN = re.compile(rb"\x1b\[\?1049[hl]")
_SYNC_QUERY, _SYNC_BEGIN, _SYNC_END = b"\x1b[?2026$p", b"\x1b[?2026h", b"\x1b[?2026l"
_CURSOR_QUERY = b"\x1b[6n"


class Terminal:
    """A program on a terminal of `columns` x `rows`; `raw` is all that it sent."""

    def __init__(self, pid: int, descriptor: int, columns: int, rows: int) -> None:
        self.pid, self._descriptor = pid, descriptor
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._lines: list[str] = []
        self.raw = bytearray()
        self.answers = True
        self.exit_code: int | None = None
        self._held = b""

    @property
    def lines(self) -> list[str]:
        """As pyte's `display`, which measures every cell anew for each look: here the lines that changed since the last one."""
        screen = self._screen
        if len(self._lines) != screen.lines:
            self._lines, screen.dirty = [""] * screen.lines, set(range(screen.lines))
        while screen.dirty:
            if (row := screen.dirty.pop()) < screen.lines:
                self._lines[row] = self._line(row)
        return self._lines.copy()

    def _line(self, row: int) -> str:
        cells, found, beside_wide = self._screen.buffer[row], list[str](), False
        for column in range(self._screen.columns):
            data = "" if beside_wide else cells[column].data
            found.append(data)
            beside_wide = not data.isascii() and wcwidth(data[0]) == 2
        return "".join(found).rstrip()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def rows(self) -> list[list[pyte.screens.Char]]:
        """The cells of the screen, with how each is drawn."""
        columns = range(self._screen.columns)
        return [[self._screen.buffer[row][column] for column in columns] for row in range(self._screen.lines)]

    def look(self, seconds: float) -> None:
        """Goes on reading what it sends for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            assert self._read(left), f"it ended:\n{self.text}"

    def press(self, *keys: str) -> None:
        for key in keys:
            os.write(self._descriptor, _KEYS.get(key, key).encode())

    def wait_for(self, *texts: str, gone: str = "") -> str:
        """Returns the screen once it shows all of `texts` and no longer `gone`."""
        deadline = time.monotonic() + PATIENCE_S
        while not (all(text in self.text for text in texts) and (not gone or gone not in self.text)):
            assert time.monotonic() < deadline, f"still waiting for {texts} without {gone!r}:\n{self.text}"
            assert self._read(0.1), f"it ended, waiting for {texts}:\n{self.text}"
        return self.text

    def press_until(self, key: str, *texts: str) -> str:
        """Presses a key, and again if the screen has not come to show `texts`: the focus may not have been there yet."""
        for _ in range(int(PATIENCE_S / _AGAIN_S)):
            self.press(key)
            again_at = time.monotonic() + _AGAIN_S
            while time.monotonic() < again_at:
                if all(text in self.text for text in texts):
                    return self.text
                assert self._read(0.1), f"it ended, waiting for {texts}:\n{self.text}"
        raise AssertionError(f"still waiting for {texts}:\n{self.text}")

    def wait_for_end(self) -> int:
        """Returns the exit code of the program."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(0.1):
            assert time.monotonic() < deadline, f"it does not end:\n{self.text}"
        self._reap()
        assert self.exit_code is not None
        return self.exit_code

    def write_over(self, row: int, text: str) -> None:
        """As another program does that shares the terminal: from the beginning of a row on, which the program is not told."""
        self._stream.feed(f"\x1b7\x1b[{row + 1};1H{text}\x1b8".encode())

    def resize(self, *sizes: tuple[int, int]) -> None:
        """To so many columns and rows; of several sizes the program finds the last, too late for the others."""
        # What is drawn for the old size does not fit the new one.
        while select.select([self._descriptor], [], [], 0.05)[0] and self._read(0):
            pass
        for columns, rows in sizes:
            self._screen.resize(rows, columns)
            fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def modes(self) -> set[int]:
        """The modes that were set and not reset, such as 1049 (alternate screen), 2004 (bracketed paste), 1000 (mouse)."""
        last = {int(mode): on == b"h" for mode, on in re.findall(rb"\x1b\[\?(\d+)([hl])", bytes(self.raw))}
        return {mode for mode, on in last.items() if on}

    def hang_up(self) -> None:
        """The connection is lost: the terminal goes away under the program."""
        os.close(self._descriptor)
        self._descriptor = -1

    def read(self, patience_s: float) -> bool:
        """Takes in what comes within that time; false once the program has ended."""
        return self._read(patience_s)

    def _read(self, patience_s: float) -> bool:
        if not select.select([self._descriptor], [], [], patience_s)[0]:
            return True
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            return False
        if not data:
            return False
        self.raw += data
        if _SYNC_QUERY in data:
            os.write(self._descriptor, b"\x1b[?2026;2$y")
        # As any terminal does. One answer will do for a question that was asked twice meanwhile.
        if _CURSOR_QUERY in data and self.answers:
            os.write(self._descriptor, b"\x1b[1;1R")
        whole = self._held + data
        # A request may be cut in two by the read.
        cut = whole.rfind(b"\x1b", len(whole) - 12) if len(whole) else -1
        unfinished = cut >= 0 and not re.match(rb"\x1b(\[[0-9;?>=<$ ]*[@-~]|[^\[])", whole[cut:])
        # A frame is shown once it is whole, as the answer above promised.
        if (begin := whole.rfind(_SYNC_BEGIN)) > whole.rfind(_SYNC_END):
            cut, unfinished = begin, True
        whole, self._held = (whole[:cut], whole[cut:]) if unfinished else (whole, b"")
        # pyte has no second screen: what a terminal would show in its place begins empty.
        self._stream.feed(_OTHER_SCREEN.sub(b"\\g<0>\x1b[2J\x1b[H", _KITTY.sub(b"", whole)))
        return True

    def _reap(self) -> None:
        if self.exit_code is None:
            _, status = os.waitpid(self.pid, 0)
            self.exit_code = os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """Ends the program, if it has not ended, by its own process id."""
        if self.exit_code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._reap()
        if self._descriptor >= 0:
            os.close(self._descriptor)


_KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "left": "\x1b[D",
    "right": "\x1b[C",
    "tab": "\t",
    "space": " ",
    "ctrl+c": "\x03",
    "ctrl+l": "\x0c",
    "ctrl+p": "\x10",
    "ctrl+z": "\x1a",
    "backspace": "\x7f",
    "pagedown": "\x1b[6~",
    "pageup": "\x1b[5~",
    "home": "\x1b[H",
    "end": "\x1b[F",
}


@contextmanager
def terminal(
    argv: Sequence[str], env: Mapping[str, str], *, cwd: Path, columns: int = 80, rows: int = 24
) -> Iterator[Terminal]:
    """`argv` on a terminal of its own."""
    pid, descriptor = pty.fork()
    if pid == 0:
        try:
            os.chdir(cwd)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(argv[0], list(argv), dict(env))
        finally:
            os._exit(127)
    # Held by another program too, the terminal would not go away when this end is closed.
    os.set_inheritable(descriptor, False)
    program = Terminal(pid, descriptor, columns, rows)
    try:
        yield program
    finally:
        program.close()
