"""What each colour of the screen is for, and its values for every kind of terminal: one row each.

The 256 colours are chosen by hand: over SSH a terminal has no more, and the nearest of them is often of another hue.
"""

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from diskprof.reports import colours
from diskprof.reports.colours import Tones


class Depth(Enum):
    """How many colours a terminal shows."""

    SIXTEEN = 16
    PALETTE = 256
    TRUE = 1 << 24


class Role(Struct, frozen=True):
    """`dark` and `light` are numbers of the 256 colours, `sixteen` is a name of Textual's for one of the terminal's own.

    `on_white` is that for a white ground, where it is another: terminals have no green or cyan that can be read on it, so
    what is good is written as the rest, and only what is bad has a colour.
    """

    tones: Tones
    dark: int
    light: int
    sixteen: str
    on_white: str = ""

    def value(self, depth: Depth, *, dark: bool) -> str:
        """As #rrggbb on a dark or a light ground; of 16 colours the name."""
        if depth is Depth.SIXTEEN:
            return self.sixteen if dark else self.on_white or self.sixteen
        if depth is Depth.PALETTE:
            return hex_of(self.dark if dark else self.light)
        return self.tones.dark if dark else self.tones.light


GROUNDS = {
    "background": Role(Tones("#121417", "#f6f7f9"), 233, 231, "ansi_default"),
    "surface": Role(Tones("#181b1f", "#ffffff"), 234, 231, "ansi_default"),
    "panel": Role(Tones("#22262b", "#e8ecf1"), 235, 254, "ansi_default"),
    "selection": Role(Tones("#16365c", "#d3e3fb"), 18, 153, "ansi_default"),
    "selection-blurred": Role(Tones("#2b3036", "#e3e8ef"), 236, 254, "ansi_default"),
}
"""What is written on."""

TEXTS = {
    "foreground": Role(Tones("#d5dbe3", "#1c2530"), 252, 235, "ansi_default"),
    "quiet": Role(colours.QUIET, 246, 241, "ansi_bright_black"),
    "accent": Role(Tones("#6ea8fe", "#1f5fbf"), 75, 25, "ansi_bright_blue", "ansi_blue"),
    "good": Role(colours.GOOD, 114, 28, "ansi_green", "ansi_default"),
    "warn": Role(colours.WARNING, 179, 94, "ansi_yellow", "ansi_red"),
    "danger": Role(colours.BAD, 203, 124, "ansi_bright_red"),
    "read": Role(colours.READ, 80, 24, "ansi_cyan", "ansi_blue"),
    "write": Role(colours.WRITE, 176, 90, "ansi_magenta"),
    "curve-a": Role(colours.RUNS[0], 33, 27, "ansi_bright_blue", "ansi_blue"),
    "curve-b": Role(colours.RUNS[1], 36, 29, "ansi_cyan", "ansi_default"),
    "curve-c": Role(colours.RUNS[2], 99, 56, "ansi_bright_magenta", "ansi_magenta"),
    "curve-d": Role(colours.RUNS[3], 250, 243, "ansi_white", "ansi_bright_black"),
}
"""What is written and drawn in. `accent` is for titles, keys, and what has the focus or is chosen; `curve` for compared runs."""

FAINT = {
    "rule": Role(Tones("#3a4048", "#c9d1da"), 239, 251, "ansi_bright_black"),
    "scrollbar": Role(Tones("#4a525c", "#b4bfcc"), 240, 249, "ansi_bright_black"),
    "read-dim": Role(Tones("#02707e", "#66c4d5"), 30, 73, "ansi_cyan"),
    "write-dim": Role(Tones("#844989", "#da99df"), 96, 176, "ansi_magenta"),
}
"""What divides, and areas under a curve: nothing that has to be read."""

_RAMPS = {
    "heat-r": (
        (
            ("#02464f", "#02707e", "#0c9eb1", "#48cbe0", "#aef2fe"),
            ("#ace3ed", "#66c4d5", "#09a4b8", "#037a89", "#004c56"),
        ),
        ((23, 30, 37, 80, 159), (152, 73, 30, 23, 235)),
        "ansi_cyan",
    ),
    "heat-w": (
        (
            ("#522c55", "#844989", "#b869bf", "#e694ed", "#fcd6ff"),
            ("#f1c7f4", "#da99df", "#be6fc5", "#94489c", "#602766"),
        ),
        ((53, 90, 133, 176, 219), (225, 182, 133, 90, 53)),
        "ansi_magenta",
    ),
    "cell-": (
        (
            ("#173338", "#134d58", "#0e6978", "#34a2b6", "#5ad0e7"),
            ("#d2eef4", "#acdae4", "#77c5d5", "#3ca8bc", "#045764"),
        ),
        ((236, 23, 30, 37, 80), (254, 152, 73, 30, 23)),
        "ansi_cyan",
    ),
}
STEPS = 5
RAMPS = {
    f"{name}{step}": Role(Tones(dark, light), dark_256, light_256, sixteen, "ansi_blue" if name == "heat-r" else "")
    for name, ((darks, lights), (darks_256, lights_256), sixteen) in _RAMPS.items()
    for step, (dark, light, dark_256, light_256) in enumerate(zip(darks, lights, darks_256, lights_256, strict=True), 1)
}
"""From little to much in even steps of one hue: `heat-r` and `heat-w` of a heat map, `cell` behind the figures of a sweep."""

ROLES = GROUNDS | TEXTS | FAINT | RAMPS


def values(names: Iterable[str], depth: Depth, *, dark: bool) -> dict[str, str]:
    """The values of roles by their names."""
    return {name: ROLES[name].value(depth, dark=dark) for name in names}


_LEVELS = (0, 95, 135, 175, 215, 255)
_GREYS, _WHITE = 232, 231


def hex_of(number: int) -> str:
    """The #rrggbb that Rich sends as number `number` of the 256 colours, 16 to 255.

    For greys that is not the colour itself, which Rich would round to the next darker one.
    """
    if number >= _GREYS:
        return "#" + f"{round((number - _WHITE) * 255 / 25):02x}" * 3
    red, rest = divmod(number - 16, 36)
    return "#" + "".join(f"{_LEVELS[level]:02x}" for level in (red, *divmod(rest, 6)))
