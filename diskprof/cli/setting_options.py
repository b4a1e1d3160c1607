"""The settings that hold: those of the configuration file, but for what an option or the environment says."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from diskprof.cli.saying import say

if TYPE_CHECKING:
    import click

    from diskprof.config.settings import Configuration, Settings

# Options of the program itself, with what stands for them in the environment.
VARIABLES = {
    "store": "DISKPROF_STORE",
    "no_mouse": "DISKPROF_NO_MOUSE",
    "ascii": "DISKPROF_ASCII",
    "slow_link": "DISKPROF_SLOW_LINK",
}


def settings_of(ctx: "click.Context | None", config: "Configuration") -> "tuple[Settings, Mapping[str, str]]":
    """The settings, and where those that are not the file's or defaults come from, in words. `ctx` is None without options."""
    from diskprof.config.settings import Charts

    changed, origins = _options(ctx.find_root()) if ctx else ({}, {})
    charts = os.environ.get("DISKPROF_CHARTS", "").lower()
    if charts == "ascii":
        changed["ascii"], origins["ascii"] = True, "DISKPROF_CHARTS"
    elif charts in tuple(Charts):
        changed["charts"], origins["charts"] = Charts(charts), "DISKPROF_CHARTS"
    return replace(config.settings, **changed), origins


def _options(root: "click.Context") -> tuple[dict[str, Any], dict[str, str]]:
    """What the options of the program itself, or the environment in their place, change; and which of the two it was."""
    from diskprof.config.settings import SlowLink

    changed: dict[str, Any] = {}
    origins: dict[str, str] = {}
    said: dict[str, tuple[str, Any]] = {
        "no_mouse": ("mouse", False),
        "ascii": ("ascii", True),
        "slow_link": ("slow_link", SlowLink.ON),
        "store": ("store", root.params.get("store")),
    }
    for option, (name, value) in said.items():
        if root.params.get(option):
            changed[name] = value
            origins[name] = _origin(root, option)
    return changed, origins


def _origin(root: "click.Context", option: str) -> str:
    from click.core import ParameterSource

    if root.get_parameter_source(option) is ParameterSource.ENVIRONMENT:
        return VARIABLES[option]
    return f"--{option.replace('_', '-')}"


def configured_store() -> Path | None:
    """The store that the configuration file names. What is wrong in the file is said on stderr, and holds nobody up."""
    from diskprof.config.file import config_path, load_config

    try:
        if b"store" not in config_path().read_bytes():
            # To validate the file takes longer than most commands do.
            return None
    except OSError:
        return None

    config = load_config()
    for problem in config.problems:
        say(f"diskprof: {problem}")
    return config.settings.store
