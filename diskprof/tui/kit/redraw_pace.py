"""How often what takes long to draw is drawn while a run goes."""

import time

_SOON_S = 0.1
"""What is due that soon is drawn with what is drawn now: a picture less."""


class Turns:
    """When each thing, by its name, was drawn last."""

    def __init__(self) -> None:
        self._drawn: dict[str, float] = {}

    def left_s(self, name: str, pace_s: float) -> float:
        """How long until it is its turn, `pace_s` after the last; 0 if that is about now, and then it counts as drawn."""
        now = time.monotonic()
        left = self._drawn.get(name, now - pace_s) + pace_s - now
        if left > _SOON_S:
            return left
        self._drawn[name] = now
        return 0.0

    def forget(self, name: str) -> None:
        """It was not drawn after all."""
        self._drawn.pop(name, None)

    def clear(self) -> None:
        """Everything is drawn next time."""
        self._drawn.clear()
