"""The settings for somebody who has not seen them yet, and the file that `diskprof config init` writes."""

from msgspec import Struct


class Described(Struct, frozen=True):
    """A setting for somebody who has not seen it yet: `default` and `allowed` in the words of the file."""

    name: str
    default: str
    allowed: str
    summary: str


DESCRIBED = (
    Described("theme", '"auto"', "auto, dark, light, 16, or a theme of Textual's, such as nord", "The colours."),
    Described("mouse", "true", "true or false", "Mouse support; off leaves it to the terminal for selecting text."),
    Described("ascii", "false", "true or false", "Use ASCII characters only."),
    Described("charts", '"auto"', "auto, braille or blocks", "Characters for charts."),
    Described(
        "slow_link", '"auto"', 'true, false or "auto"', "Fewer frames and colours; auto: when the terminal lags."
    ),
    Described("refresh", "2", "0.1 to 4", "Screen updates per second during a run."),
    Described("preset", '"quick"', "the name of a preset", "Preselected preset."),
    Described("store", '""', "path of a file; empty: default", "Run database."),
)

_HEAD = """\
# Settings of diskprof. Uncomment what you want to change; `diskprof config` shows the current values.
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
