"""Textual's terminal driver, with what it lacks: it lets go of a lost terminal, keeps to ASCII, and knows how far it lags."""

from __future__ import annotations

import os
import selectors
import signal
import threading
from codecs import getincrementaldecoder
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING, Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from diskprof.model.errors import ExitCode
from diskprof.tui.kit.terminal.frame_rate import ASK, Pace
from diskprof.tui.kit.terminal.pasting import PasteFilter
from diskprof.tui.kit.terminal.plain_styles import plain
from diskprof.tui.kit.terminal.stalled import Outlet
from diskprof.tui.kit.terminal.thrift import Thrift
from diskprof.tui.kit.terminal.title import TerminalTitle

if TYPE_CHECKING:
    from textual.app import App

_LAST_ANSWER_S = 0.7
_LOOK_AGAIN_S = 0.1
_LOOKS = ceil(ESCAPE_DELAY / _LOOK_AGAIN_S) + 2
"""So often the keys' parser is asked again after the last byte: an escape that stands alone is a key after ESCDELAY."""


class _WakingEvent(threading.Event):
    """An event that a selector can wait for: looking ten times a second whether it is set is half of an idle screen's cost."""

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def fileno(self) -> int:
        return self._reader

    def set(self) -> None:
        super().set()
        with suppress(BlockingIOError):
            os.write(self._writer, b"!")

    def clear(self) -> None:
        super().clear()
        with suppress(BlockingIOError):
            os.read(self._reader, 64)


class LettingGoDriver(LinuxDriver):
    """Ends the thread that reads keys on every way out.

    Where the last words to a lost terminal fail, Textual would leave that thread reading the end of file for ever,
    and the process with it.
    """

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.exit_event = self._exit = _WakingEvent()
        self.pace = Pace()
        self._thrift, self._outlet = Thrift(), Outlet()
        self._title = TerminalTitle(os.environ)
        self._listening = False
        self._only_ascii = bool(getattr(app, "plain", False))
        self._silent = threading.Event()
        self._silent.set()

    def write(self, data: str) -> None:
        data = self._thrift.shorten(plain(data) if self._only_ascii else data)
        self._send(data)
        if self._listening and self.pace.sent(len(data)):
            self._silent.clear()
            self._send(ASK)

    def _send(self, data: str) -> None:
        if self._writer_thread is None:
            super().write(data)
        elif self._outlet.put(self._writer_thread, data):
            self._thrift.forget()
            self._app.call_later(self._app.refresh, layout=True)

    def close(self) -> None:
        if self._writer_thread is not None:
            self._outlet.close(self._writer_thread, self.fileno)

    def start_application_mode(self) -> None:
        self._thrift.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # Before that an answer would be echoed by the terminal.
        self._listening = self._key_thread is not None
        if self._listening:
            self.write("")

    def show_title(self, words: str) -> None:
        """Make `words`, without control characters, the terminal's title; that of before comes back at the end."""
        if sequence := self._title.set(words):
            self.write(sequence)

    def send_only_changes(self, columns: int) -> None:
        """From now on send only cells that change, to a terminal that is `columns` wide."""
        self._thrift.only_changes(columns)

    def run_input_thread(self) -> None:
        """Textual's, but for what is pasted and for the end: a terminal that is gone is read no further, and ends the app."""
        parser, pasted = XTermParser(), PasteFilter()
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._exit, selectors.EVENT_READ)
            looks = 0
            while not self.exit_event.is_set():
                ready = selector.select(_LOOK_AGAIN_S if looks else None)
                looks = _LOOKS if ready else looks - 1
                for key, _ in ready:
                    if key.fd != self.fileno:
                        continue
                    try:
                        data = os.read(self.fileno, 4096)
                    except OSError:
                        data = b""
                    if not data:
                        self._app.call_later(self._app.exit, None, ExitCode.INTERRUPTED)
                        return
                    if text := pasted.filter(decode(data)):
                        for event in parser.feed(text):
                            self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)

    def process_message(self, message: Message) -> None:
        if isinstance(message, events.CursorPosition):
            self.pace.answered()
            self._silent.set()
            return
        super().process_message(message)

    def suspend_job(self) -> None:
        """Gives the terminal back, then stops every process of this job, as ctrl+z at a shell does; returns once continued.

        In this order: the shell takes the terminal as soon as it sees that the job stopped. A script or sudo in
        between has to stop too, or the shell sees nothing.
        """
        self.suspend_application_mode()
        self._must_signal_resume = True
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)

    def stop_application_mode(self) -> None:
        self._listening = False
        # An answer that comes when nobody listens any more would stand in the shell, as if it had been typed.
        if self.pace.answers and self._key_thread is not None and self._key_thread.is_alive():
            self._silent.wait(_LAST_ANSWER_S)
        try:
            if sequence := self._title.clear():
                self.write(sequence)
            super().stop_application_mode()
        finally:
            if self._key_thread is not None and self._key_thread.is_alive():
                self.exit_event.set()
