"""The colours that mean something, for a dark and a light ground: the screen and the HTML report draw in the same ones.

Amber and red judge, green is for what is good or done. Reads, writes and the runs of a comparison have other hues, so that
no figure looks judged which is not. None stands alone: a letter, a sign or a word beside it says the same.
"""

from typing import NamedTuple


class Tones(NamedTuple):
    """A colour (#rrggbb) on a dark and on a light ground."""

    dark: str
    light: str


GOOD = Tones("#7ac77a", "#1a7533")
WARNING = Tones("#e3b341", "#8a5a00")
BAD = Tones("#f47c76", "#b3261e")
QUIET = Tones("#8a98a8", "#55626f")
READ = Tones("#4fc3d9", "#006b86")
WRITE = Tones("#d98ae0", "#9a2f96")
RUNS = (
    Tones("#4c86f5", "#2a6be0"),
    Tones("#2fb59c", "#0c7a63"),
    Tones("#9a84f7", "#5b3fd0"),
    Tones("#b4b9c0", "#6a6f78"),
)
"""Blue, teal, violet and grey, for the runs of a comparison in their order."""
