"""What a person may set once and for all, each with its default."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field

from diskprof.presets.problem import Problem

THEMES = ("auto", "dark", "light", "16")
"""Our own: `auto` is dark, or 16 where the terminal has no more colours than that."""

TEXTUAL_THEMES = (
    *("textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha", "catppuccin-latte", "catppuccin-frappe"),
    *("catppuccin-macchiato", "dracula", "tokyo-night", "monokai", "flexoki", "solarized-light", "solarized-dark"),
    *("rose-pine", "rose-pine-moon", "rose-pine-dawn", "atom-one-dark", "atom-one-light", "ansi-dark", "ansi-light"),
)
FASTEST_HZ, USUAL_HZ, SLOWEST_HZ = 4.0, 2.0, 0.1


class Charts(StrEnum):
    """Characters for charts."""

    AUTO = "auto"
    BRAILLE = "braille"
    BLOCKS = "blocks"


class SlowLink(StrEnum):
    """Whether fewer frames and colours are sent. AUTO: once the terminal is seen to lag behind."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Settings(Struct, frozen=True):
    """`refresh` is in hertz. `keys` names bindings by their ids; each has one key or several. `store` is absolute, or None."""

    theme: str = "auto"
    mouse: bool = True
    ascii: bool = False
    charts: Charts = Charts.AUTO
    slow_link: SlowLink = SlowLink.AUTO
    refresh: float = USUAL_HZ
    preset: str = "quick"
    store: Path | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


class Configuration(Struct, frozen=True, dict=True):
    """What the file at `path` says. What cannot be used is left at its default and stands in `problems`.

    `lines` tells on which line of the file a setting, or `keys.ID`, stands; a setting without a line is a default.
    """

    path: Path
    exists: bool = False
    settings: Settings = field(default_factory=Settings)
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
