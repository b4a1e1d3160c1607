"""The settings for somebody who has not seen them yet, and the file that `diskprof config init` writes."""

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

_HEAD = """\
# Settings of diskprof. Take the # away from what you want to change; `diskprof config` shows what holds.
"""
_KEYS = """\
# Keys of the screen, by the ids that `diskprof config keys` lists. One key, or several in [brackets].
[keys]
# "live.stop" = "S"
# "app.quit" = ["q", "f10"]
"""


def example() -> str:
    """TOML that sets nothing: every setting with its default, commented out."""
    settings = (f"# {one.summary} ({one.allowed})\n# {one.name} = {one.default}\n" for one in DESCRIBED)
    return "\n".join([_HEAD, *settings, _KEYS])
