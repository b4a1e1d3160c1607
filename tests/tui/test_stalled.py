"""A terminal that nobody reads must hold neither the app nor the process."""

import os
import pty
import select
from collections.abc import Iterator
from contextlib import suppress

import pytest
from textual.drivers._writer_thread import WriterThread

from diskprof.tui.kit.terminal import stalled
from diskprof.tui.kit.terminal.stalled import Outlet

FRAME = "x" * 4096


class Line:
    """A terminal's two ends, and the thread that writes to one of them."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.writer = WriterThread(os.fdopen(os.dup(self.theirs), "w"))
        self.writer.start()

    def read(self) -> bytes:
        return os.read(self.ours, 65536) if select.select([self.ours], [], [], 10)[0] else b""

    def read_all(self) -> bytes:
        seen = b""
        while (some := select.select([self.ours], [], [], 0.2 if seen else 10)[0]) or self.writer._queue.qsize():
            seen += os.read(self.ours, 65536) if some else b""
        return seen

    def hang_up(self) -> None:
        os.close(self.ours)
        self.ours = -1


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    monkeypatch.setattr(stalled, "STALLED_S", 0.1)
    made = Line()
    yield made
    for end in (made.ours, made.theirs):
        with suppress(OSError):
            os.close(end)


def stall(outlet: Outlet, line: Line) -> None:
    """Sends until the terminal takes no more."""
    for _ in range(200):
        outlet.put(line.writer, FRAME)
        if outlet.missed:
            return
    raise AssertionError("it takes everything")


def test_what_is_taken_is_handed_on(line: Line) -> None:
    outlet = Outlet()
    assert not outlet.put(line.writer, "hello")
    assert line.read() == b"hello"
    outlet.close(line.writer, line.theirs)
    assert not line.writer.is_alive() and not outlet.missed


def test_a_terminal_that_is_read_again_has_to_be_drawn_anew(line: Line) -> None:
    outlet = Outlet()
    stall(outlet, line)
    assert not outlet.put(line.writer, FRAME), "it takes nothing, and is not waited for"
    line.read_all()
    assert outlet.put(line.writer, "again") and not outlet.missed
    assert not outlet.put(line.writer, "and again")
    assert b"again" in line.read_all()


def test_a_terminal_that_nobody_reads_is_restored_and_let_go(line: Line) -> None:
    outlet = Outlet()
    stall(outlet, line)
    outlet.close(line.writer, line.theirs)
    line.writer.join(10)
    assert not line.writer.is_alive()
    assert b"\x1b[?1049l" in line.read_all()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_terminal_that_goes_away_while_nobody_reads_it_holds_nothing(line: Line) -> None:
    outlet = Outlet()
    stall(outlet, line)
    line.hang_up()
    line.writer.join(10)
    assert not line.writer.is_alive()
    assert not outlet.put(line.writer, FRAME)
    outlet.close(line.writer, line.theirs)
