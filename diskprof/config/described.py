"""The settings for somebody who has not seen them yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Described:
    """A setting for somebody who has not seen it yet: `default` and `allowed` in the words of the file."""

    name: str
    default: str
    allowed: str
    summary: str


DESCRIBED = (
    Described("theme", '"auto"', "auto, dark, light, 16, or a theme of Textual's, such as nord", "The colours."),
    Described(
        "mouse", "true", "true or false", "Whether the mouse works, or is left to the terminal for selecting text."
    ),
    Described("ascii", "false", "true or false", "Send nothing but ASCII, whatever the terminal could show."),
    Described("charts", '"auto"', "auto, braille or blocks", "What charts are made of."),
    Described(
        "slow_link", '"auto"', 'true, false or "auto"', "Fewer frames and colours; auto: once the terminal lags behind."
    ),
    Described("refresh", "2", "0.1 to 4", "How often a second the screen follows a run."),
    Described("preset", '"quick"', "the name of a preset", "What the Run screen begins with."),
    Described("store", '""', "the path of a file; empty: the usual place", "Where runs are kept."),
)
