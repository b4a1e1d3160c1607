"""Text by the cells of a terminal that it takes: wide characters take two, combining ones none."""

import re
import unicodedata
from functools import lru_cache

_GLUE = "\0"
_FIGURE = re.compile(r"(?<=\d) (?=(?:[kKMGT]?i?B(?:/s)?|ns|us|ms|s|min|h|IOPS|pp)\b)|(?<=\d[kM]) (?=IOPS\b)")


class _Cells(dict[str, int]):
    """Grows with what is met."""

    def __missing__(self, char: str) -> int:
        # The vowels and final consonants of Hangul join the syllable before them.
        joins = unicodedata.category(char) in ("Mn", "Me", "Mc") or "\u1160" <= char <= "\u11ff"
        self[char] = cells = 0 if joins else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        return cells


_CELLS = _Cells()


def width_of(text: str) -> int:
    """How many cells `text` takes."""
    return len(text) if text.isascii() else _width_of(text)


@lru_cache(maxsize=4096)
def _width_of(text: str) -> int:
    return sum(map(_CELLS.__getitem__, text))


def cut(text: str, width: int, *, mark: str = "..", middle: bool = False) -> str:
    """`text` in at most `width` cells; `mark` is in place of the end or the middle that is left out, if it has room."""
    if width_of(text) <= width:
        return text
    mark = mark if 2 * len(mark) <= width else ""
    room = width - len(mark)
    head = _take(text, (room + 1) // 2 if middle else room)
    tail = _take(text[::-1], room - width_of(head))[::-1] if middle else ""
    return head + mark + tail


def cut_at_word(text: str, width: int) -> str:
    """As many words of `text` as fit in `width` cells, with an ellipsis for the others; a first word that is wider is cut."""
    if width_of(text) <= width:
        return text
    words = ""
    for word in text.split(" "):
        longer = f"{words} {word}" if words else word
        if width_of(longer.rstrip(",;:")) + 2 > width:
            break
        words = longer
    return f"{words.rstrip(',;:')} …" if words else cut(text, width, mark="…")


def _take(text: str, width: int) -> str:
    if text.isascii():
        return text[: max(0, width)]
    taken = 0
    for index, char in enumerate(text):
        taken += _CELLS[char]
        if taken > width:
            return text[:index]
    return text


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled with blanks to `width` cells, at its left where `right`."""
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks


def fit(text: str, width: int, *, right: bool = False, middle: bool = False) -> str:
    """`text` in exactly `width` cells, with an ellipsis for what is left out, as the screen has it."""
    return pad(cut(text, width, mark="…", middle=middle), width, right=right)


def shorten_middle(text: str, width: int) -> str:
    """`text` in at most `width` cells, with an ellipsis for the middle that is left out."""
    return cut(text, width, mark="…", middle=True)


def wrap(text: str, width: int, first: str = "", rest: str | None = None, *, split: bool = False) -> list[str]:
    """Words of `text` on lines of at most `width` cells, behind `first` and then `rest`.

    A word that is longer than a line is alone on one, or where `split` on as many as it takes. A figure and its unit stay together.
    """
    following = " " * width_of(first) if rest is None else rest
    lines, current, prefix = list[str](), "", first
    for word in (glued.replace(_GLUE, " ") for glued in _FIGURE.sub(_GLUE, text.replace(_GLUE, "")).split()):
        if current and width_of(prefix) + width_of(current) + 1 + width_of(word) > width:
            lines.append(prefix + current)
            current, prefix = "", following
        while split and not current and len(part := _take(word, width - width_of(prefix)) or word[:1]) < len(word):
            lines.append(prefix + part)
            word, prefix = word[len(part) :], following
        current = f"{current} {word}" if current else word
    if current or not lines:
        lines.append((prefix + current).rstrip())
    return lines
