"""A terminal that nobody reads: ctrl+s, or a connection that is dead and not yet given up.

Textual hands what it draws to a thread, by a queue of thirty pieces, and waits while that is full: it then hears no key, no
signal, and not even that the terminal went away. Here it waits for some seconds, and then does without.
"""

import termios
import time
from contextlib import suppress
from queue import Empty, Full, Queue

from textual.drivers._writer_thread import WriterThread

STALLED_S = 10.0
"""A terminal that takes nothing for this long is read by nobody."""

_LOOK_S = 0.25
_LAST_WORD_S = 0.7
_RESTORE = (
    "\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)


class Outlet:
    """What stands between the app and the thread that writes to the terminal. `missed`: something was left out."""

    def __init__(self) -> None:
        self.missed = False

    def put(self, writer: WriterThread, data: str) -> bool:
        """Hands on `data`, or leaves it out. True where the terminal takes something again and has to be drawn anew."""
        again = self.missed and not writer._queue.full()
        self.missed = self.missed and not again
        deadline = time.monotonic() + (0.0 if self.missed else STALLED_S)
        while writer.is_alive():
            try:
                writer._queue.put(data, timeout=max(0.0, min(_LOOK_S, deadline - time.monotonic())))
            except Full:
                if time.monotonic() < deadline:
                    continue
                self.missed = True
            break
        return again

    def close(self, writer: WriterThread, terminal: int) -> None:
        """Ends the thread; a terminal that is read by nobody is restored without what it did not take."""
        if not writer.is_alive():
            return
        if self.missed:
            _take_back(writer._queue)
            with suppress(termios.error):
                termios.tcflush(terminal, termios.TCOFLUSH)
                # Who waits for room is woken only when output starts again.
                termios.tcflow(terminal, termios.TCOOFF)
                termios.tcflow(terminal, termios.TCOON)
            with suppress(Full):
                writer._queue.put_nowait(_RESTORE)
        with suppress(Full):
            writer._queue.put(None, timeout=_LAST_WORD_S)
            # What is under way on a slow line may take its time.
            writer.join(_LAST_WORD_S if self.missed else STALLED_S)


def _take_back(waiting: Queue[str | None]) -> None:
    with suppress(Empty):
        while True:
            waiting.get_nowait()
