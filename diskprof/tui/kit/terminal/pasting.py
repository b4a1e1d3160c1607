"""Pasted text without control characters, before it is looked through for keys.

Not every terminal takes an escape out of what is pasted. Textual would take what follows it for keys, Enter among them.
"""

import re

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PasteFilter:
    """Takes what is typed and pasted as it comes, in pieces that may end anywhere."""

    def __init__(self) -> None:
        self._inside = False
        self._held = ""

    def filter(self, text: str) -> str:
        """`text` with what is pasted in it made harmless; the end of it may wait for what comes next."""
        text, self._held = self._held + text, ""
        out: list[str] = []
        while text:
            mark = _END if self._inside else _BEGIN
            before, found, text = text.partition(mark)
            if not found:
                # One that is held while nothing is pasted must not be the key Escape, or what alt makes of [.
                before, self._held = _cut(before, mark, 1 if self._inside else 3)
            out.append(_harmless(before) if self._inside else before)
            if found:
                out.append(mark)
                self._inside = not self._inside
        return "".join(out)


def _cut(text: str, mark: str, least: int) -> tuple[str, str]:
    """`text` without what may be the beginning of `mark` at its end, `least` characters or more, and that."""
    for length in range(min(len(mark) - 1, len(text)), least - 1, -1):
        if text.endswith(mark[:length]):
            return text[:-length], text[-length:]
    return text, ""


def _harmless(text: str) -> str:
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
