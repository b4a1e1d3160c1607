"""A program in a terminal of its own: what it sends, when, and what can then be seen."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyte

from measuring.processes import Ended, Home, end

Size = tuple[int, int]
"""Columns and lines."""

Shown = Callable[[Sequence[str]], bool]
"""Whether the lines of a screen are what is waited for."""


def reads(words: str) -> Shown:
    """That `words` stand in one of the lines."""
    return lambda lines: any(words in line for line in lines)


_ASKS_FOR_SYNC = b"\x1b[?2026$p"
_HAS_SYNC = b"\x1b[?2026;2$y"
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[>=<][0-9;]*u")


class Terminal:
    """A child process behind a pseudo-terminal. Whoever holds it has to `pump`, or the program waits for its terminal."""

    def __init__(self, argv: Sequence[str], size: Size, home: Home) -> None:
        self.size = size
        self.chunks: list[tuple[float, bytes]] = []
        """(time of arrival, bytes)"""
        self.sent = 0
        self.alive = True
        self.began = time.perf_counter()
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            columns, lines = size
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.chdir(home.path)
            os.execvpe(argv[0], list(argv), dict(home.environment))

    def pump(self, until: float, *, ended: Ended | None = None, enough: Callable[[], bool] | None = None) -> bool:
        """Takes what the program sends until a time of `perf_counter`, the end of a process, or until it is enough."""
        watched: list[object] = [self._descriptor, *([ended] if ended else [])]
        while self.alive and not (enough and enough()):
            left = until - time.perf_counter()
            if left <= 0:
                return False
            ready = select.select(watched, [], [], left)[0]
            if self._descriptor in ready:
                self._take()
            elif ready:
                return True
        return self.alive

    def _take(self) -> None:
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # EIO: the other end is closed
            data = b""
        if not data:
            self.alive = False
            return
        self.chunks.append((time.perf_counter(), data))
        self.sent += len(data)
        if _ASKS_FOR_SYNC in data:
            os.write(self._descriptor, _HAS_SYNC)

    def type(self, keys: str) -> float:
        """Presses keys; returns when."""
        at = time.perf_counter()
        os.write(self._descriptor, keys.encode())
        return at

    def quiet(self, for_s: float, patience_s: float = 20.0) -> bool:
        """Takes what comes until nothing has come for `for_s`; False if it never became quiet."""
        deadline = time.perf_counter() + patience_s
        while self.alive and time.perf_counter() < deadline:
            before = self.sent
            self.pump(time.perf_counter() + for_s)
            if self.sent == before:
                return True
        return False

    def paint(self, keys: str, settle_s: float = 0.3, patience_s: float = 20.0) -> tuple[float, float]:
        """Presses keys and waits for the picture: seconds to the first and to the last byte that they led to."""
        at, count = self.type(keys), len(self.chunks)
        self.pump(time.perf_counter() + patience_s, enough=lambda: len(self.chunks) > count)
        self.quiet(settle_s, patience_s)
        if len(self.chunks) == count:
            raise SystemExit(f"nothing changed in the terminal after {keys!r}")
        return self.chunks[count][0] - at, self.chunks[-1][0] - at

    def shows(self, shown: Shown, since: float | None = None, patience_s: float = 30.0) -> float:
        """Waits until the lines of the screen are so; returns the seconds from `since`, or from the start of the program."""
        since = self.began if since is None else since
        deadline = time.perf_counter() + patience_s
        while True:
            # Looking takes longer than drawing: it is done when nothing comes.
            self.quiet(0.3, patience_s)
            if (found := self._when(shown, since)) is not None:
                return found
            if not self.alive or time.perf_counter() >= deadline:
                raise SystemExit("\n".join(["This is not what was waited for:", *self.lines]))

    def _when(self, shown: Shown, since: float) -> float | None:
        columns, lines = self.size
        screen = pyte.Screen(columns, lines)
        stream = pyte.ByteStream(screen)
        for at, data in self.chunks:
            stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
            if at >= since and shown(screen.display):
                return at - since
        return None

    @property
    def lines(self) -> Sequence[str]:
        """What the terminal shows now."""
        columns, lines = self.size
        screen = pyte.Screen(columns, lines)
        stream = pyte.ByteStream(screen)
        for _, data in self.chunks:
            stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        return list(screen.display)

    def close(self, keys: str = "q") -> None:
        """Ends the program: by its own key, else by its process id."""
        try:
            if self.alive:
                self.type(keys)
                self.pump(time.perf_counter() + 2)
        except OSError:
            self.alive = False
        finally:
            end(self.pid, child=True)
            os.close(self._descriptor)


@contextmanager
def terminal(argv: Sequence[str], size: Size, home: Home) -> Iterator[Terminal]:
    """The program in a terminal, ended afterwards."""
    opened = Terminal(argv, size, home)
    try:
        yield opened
    finally:
        opened.close()
