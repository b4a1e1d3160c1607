"""Text as a terminal can show it: foreign text (device models, labels, file names, tool output) made harmless, and ASCII.

Where only ASCII can be shown, one sign is in each cell, whatever was there.
"""

import os
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path

from diskprof.model.cells import width_of

_HARMLESS_CONTROLS = {"\t": " "}
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(text: str, *, keep_newlines: bool = False) -> str:
    """`text` without control, format, surrogate or unassigned characters (F39); each becomes U+FFFD or a blank."""
    if text.isascii() and text.isprintable():
        return text

    def one(char: str) -> str:
        if char == "\n" and keep_newlines:
            return char
        if char in _HARMLESS_CONTROLS:
            return _HARMLESS_CONTROLS[char]
        return "\ufffd" if unicodedata.category(char) in _UNSAFE else char

    return "".join(map(one, text))


_GROUPS = {
    ">": "▶▸►→❯⇒≥»",
    "<": "◀◂◄←⏎≤«",
    "v": "▼▾↓✓✔",
    "^": "▲▴△↑",
    "-": "▹–—‐‑−─━┄┅┈┉╌╍═╴╶╸╺╼╾▔",
    "|": "│┃┆┇┊┋╎╏║╵╷╹╻╽╿▏▎▍▌▋▊▉▐▕",
    "#": "■▪█▓▆▇▅",
    "x": "✗✘×",
    "*": "•●",
    "o": "○◦°",
    ".": "·",
    "~": "…≈",
    "+": "±",
    "/": "÷",
    "'": "‘’‚",
    '"': "“”„",
    "u": "µμ",
    "_": "▁▂",
    ":": "▃▄▀▖▗▘▝▚▞▙▛▜▟▒░",
}
_SIGNS = {sign: ascii_sign for ascii_sign, signs in _GROUPS.items() for sign in signs}


class _Plain(dict[int, str]):
    """Grows with what is met, for str.translate."""

    def __init__(self, cells: Callable[[str], int]) -> None:
        super().__init__()
        self._cells = cells

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = found = char if code < 0x80 else _plain(char, self._cells(char))
        return found


def _plain(char: str, width: int) -> str:
    code = ord(char)
    if char in _SIGNS:
        found = _SIGNS[char]
    elif 0x2500 <= code < 0x2580:
        found = "+"
    elif 0x2800 <= code < 0x2900:
        found = " " if code == 0x2800 else ":"
    else:
        # é is e: the rest of it is an accent.
        found = "".join(part for part in unicodedata.normalize("NFKD", char) if part.isascii() and part.isprintable())
    return found if len(found) == width else "?" * width


def ascii_table(cells: Callable[[str], int]) -> Mapping[int, str]:
    """What stands for each character, for str.translate; `cells` says how many cells of a terminal one takes."""
    return _Plain(cells)


_TABLE = ascii_table(width_of)


def in_ascii(text: str) -> str:
    """`text` in ASCII and in as many cells."""
    return text if text.isascii() else text.translate(_TABLE)


def locale_of(environment: Mapping[str, str]) -> str:
    """The locale of characters; empty where none is said."""
    return environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""


def says_utf8(environment: Mapping[str, str], encoding: str | None) -> bool:
    """Whether a stream of this encoding leads, as far as the locale says, to something that shows UTF-8."""
    # Python takes a locale of C for UTF-8; who says C has a terminal that is not.
    return (encoding or "").lower().replace("-", "").replace("_", "") == "utf8" and locale_of(environment) not in (
        "C",
        "POSIX",
    )


def started_with(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of this process as it was started: Python may have put a locale of its own there (PEP 538)."""
    try:
        entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return environment
    known = dict(os.fsdecode(entry).partition("=")[::2] for entry in entries if b"=" in entry)
    return {**environment, "LC_CTYPE": known.get("LC_CTYPE", "")}


def split_tags(text: str) -> tuple[str, ...]:
    """The tags in a text, each once: `a, b,,a c` -> (a, b, c). A tag names a run, so it has neither blanks nor commas."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))
