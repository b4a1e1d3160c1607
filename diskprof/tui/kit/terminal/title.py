"""The terminal's title: set while there is something to say, put back at the end."""

from collections.abc import Mapping

_WITHOUT = ("linux", "vt100", "vt102", "vt220", "ansi", "cons25", "dumb", "")
"""Values of TERM of consoles and emulations without a title, some of which would show the sequence as text."""

_SAVE, _RESTORE = "\x1b[22;2t", "\x1b[23;2t"
"""xterm's stack of titles; a terminal without one ignores both and keeps the empty title that comes before."""


class TerminalTitle:
    """What to send for a title, none twice; nothing to a terminal without one. tmux takes it as that of its pane."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._able = environment.get("TERM", "") not in _WITHOUT
        self._shown = ""

    def set(self, words: str) -> str:
        """The sequence for these words, which hold no control characters; empty where they are shown already."""
        if not self._able or not words or words == self._shown:
            return ""
        first, self._shown = not self._shown, words
        return f"{_SAVE if first else ''}\x1b]2;{words}\x07"

    def clear(self) -> str:
        """The sequence that puts back what was there before the first `set`."""
        if not self._shown:
            return ""
        self._shown = ""
        return f"\x1b]2;\x07{_RESTORE}"
