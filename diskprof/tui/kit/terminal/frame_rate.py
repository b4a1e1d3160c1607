"""How far the terminal lags behind what was sent to it, so that no frames pile up on a slow line.

Now and then the terminal is asked where its cursor is. It answers when it has come that far: sshd, the network and tmux keep
hundreds of kilobytes under way before a write would block, and every key would be answered behind all that.
"""

import time
from collections.abc import Callable

ASK = "\x1b[6n"
"""What is sent to ask; the answer is a cursor position report."""

_WORTH_ASKING = 400
"""Bytes. A frame smaller than this is under way for no time to speak of."""
_LAG_S = 0.1
_LATE_S = 0.25
_SLOW_RATE = 20_000
"""Bytes a second: a line that carries less is slow, also where its frames are small enough to come within _LATE_S."""
_LARGE = 3000
"""Bytes. A frame of so many that comes late counts twice: the more there was to carry, the less it was chance."""
_GIVE_UP_S = 3.0
_SLOW_AFTER = 4
_TELLING = 1000
"""Bytes. That a smaller frame was there in time says nothing against a slow line."""


class Pace:
    """Told what is sent and when the terminal answered; says whether the next frame should wait, and whether the line is slow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked_at: float | None = None
        self._bytes = self._asked_for = 0
        self._best_s: float | None = None
        self._late = 0
        self.slow = False
        """Set for good once several answers came late, and no larger frames in time between them."""

    def sent(self, count: int) -> bool:
        """`count` bytes were sent; true if the terminal should be asked now, which then counts as done."""
        self._bytes += count
        if self._asked_at is not None or (self._bytes < _WORTH_ASKING and self._best_s is not None):
            return False
        self._asked_at, self._asked_for, self._bytes = self._clock(), self._bytes, 0
        return True

    def answered(self) -> None:
        """The terminal answered."""
        if self._asked_at is None:
            return
        took, self._asked_at = self._clock() - self._asked_at, None
        best = took if self._best_s is None else min(took, self._best_s)
        if took > best + min(_LATE_S, max(_LAG_S, self._asked_for / _SLOW_RATE)):
            self._late += 2 if self._asked_for >= _LARGE else 1
        elif self._asked_for >= _TELLING:
            self._late = max(0, self._late - 1)
        self._best_s = best
        self.slow = self.slow or self._late >= _SLOW_AFTER

    @property
    def answers(self) -> bool:
        """Whether the terminal is one that answers."""
        return self._best_s is not None

    @property
    def behind(self) -> bool:
        """Whether a further frame should wait. Never for long, and never where a terminal does not answer at all."""
        if self._asked_at is None or self._best_s is None:
            return False
        waited = self._clock() - self._asked_at
        if waited > _GIVE_UP_S:
            # An answer was lost: what comes later counts from anew.
            self._asked_at = None
            return False
        return waited > self._best_s + _LAG_S
