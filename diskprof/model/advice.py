"""What to do next, which a command line and a screen say in different words."""

from collections.abc import Iterable
from typing import Self


class Advice(str):
    """Advice in the words of the command line; `screen` says the same where keys, lists and fields do it.

    It is a text so that whoever knows of no screen need not know of this. A text made from it (by formatting, replacing) is
    plain again and the same everywhere; `joined` keeps both.
    """

    __slots__ = ("screen",)
    screen: str

    def __new__(cls, text: str, screen: str) -> Self:
        made = super().__new__(cls, text)
        made.screen = screen
        return made


def on_screen(text: str) -> str:
    """`text` as a screen says it."""
    return text.screen if isinstance(text, Advice) else text


def joined(parts: Iterable[str], between: str = " ") -> Advice:
    """One advice of several."""
    known = tuple(parts)
    return Advice(between.join(known), between.join(map(on_screen, known)))
