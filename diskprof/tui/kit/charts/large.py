"""Figures three rows high, out of half blocks."""

from diskprof.tui.kit.charts.glyphs import Charset

HEIGHT = 3
_DIGITS = {
    "0": ("█▀█", "█ █", "▀▀▀"),
    "1": ("▀█ ", " █ ", "▀▀▀"),
    "2": ("▀▀█", "█▀▀", "▀▀▀"),
    "3": ("▀▀█", "▀▀█", "▀▀▀"),
    "4": ("█ █", "▀▀█", "  ▀"),
    "5": ("█▀▀", "▀▀█", "▀▀▀"),
    "6": ("█▀▀", "█▀█", "▀▀▀"),
    "7": ("▀▀█", "  █", "  ▀"),
    "8": ("█▀█", "█▀█", "▀▀▀"),
    "9": ("█▀█", "▀▀█", "▀▀▀"),
    ".": (" ", " ", "▀"),
    "–": ("   ", "▀▀▀", "   "),
}


def large(text: str, charset: Charset) -> tuple[str, str, str] | None:
    """Three lines, equally wide; None where a character has no such form, or the terminal no half blocks."""
    if charset is Charset.ASCII or not text or any(char not in _DIGITS for char in text):
        return None
    top, middle, low = (" ".join(_DIGITS[char][row] for char in text) for row in range(HEIGHT))
    return top, middle, low
