"""Text for a terminal that has only ASCII: one sign for each cell, whatever stood there."""

import unicodedata
from collections.abc import Mapping

from rich.cells import cell_len

_GROUPS = {
    ">": "▶▸►▹→❯⇒≥»",
    "<": "◀◂◄←⏎≤«",
    "v": "▼▾↓✓✔",
    "^": "▲▴△↑",
    "-": "–—‐‑−─━┄┅┈┉╌╍═╴╶╸╺╼╾▔",
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

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = found = char if code < 0x80 else _plain(char)
        return found


def _plain(char: str) -> str:
    code, width = ord(char), cell_len(char)
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


_TABLE: Mapping[int, str] = _Plain()


def plain(text: str) -> str:
    """`text`, which may hold control sequences, in ASCII and in as many cells."""
    return text if text.isascii() else text.translate(_TABLE)
