"""Ctrl+C and its like, looked at when there is time for it."""

import signal
from threading import Event
from types import FrameType


class Stopped:
    """Whether somebody pressed Ctrl+C, or sent SIGTERM, as `timeout 60 diskprof watch` does, or closed the terminal.

    It is looked at between intervals: an exception in the middle of one would lose what was counted in it. The second time it is
    one, for who cannot wait, as where nobody reads stdout.
    """

    def __init__(self) -> None:
        self._event = Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # What a shell has put into the background has it ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._asked)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self._event.is_set():
            raise KeyboardInterrupt
        self._event.set()

    def within(self, seconds: float) -> bool:
        """Waits for it so long."""
        return self._event.wait(max(0.0, seconds))
