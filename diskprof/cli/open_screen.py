"""Opening the screen, where there is a terminal to open it on (F45), and what the command line asks of the screens."""

import gc
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from diskprof.model.errors import UsageError

if TYPE_CHECKING:
    import click

    from diskprof.config.settings import Configuration
    from diskprof.presets.problem import Problem
    from diskprof.tui.shell.keys import KeyRow


def open_screen(ctx: "click.Context | None") -> int:
    """Opens the screen and returns its exit code. `ctx` is None where nothing was said but the name of the program.

    Raises UsageError without a terminal that can show it.
    """
    # The screen is drawn on stderr.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            "The screen needs a terminal.",
            "Over ssh, request one: ssh -t HOST diskprof. In a script: diskprof run quick DIRECTORY --json.",
        )
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(
            f"This terminal (TERM={os.environ.get('TERM', '')!r}) cannot show the screen.",
            "Set TERM (TERM=xterm-256color diskprof), or use: diskprof run quick DIRECTORY.",
        )
    # Until the first picture hundreds of modules and their classes come to stay: to look for garbage among them would take a
    # tenth of the time. The app looks again when it stands.
    gc.disable()
    from diskprof.cli.setting_options import settings_of
    from diskprof.config.file import load_config
    from diskprof.tui.app import run_app

    config = load_config()
    settings, _ = settings_of(ctx, config)
    return run_app(settings.store, settings, config.problems)


def key_table(changed: Mapping[str, tuple[str, ...]]) -> "tuple[KeyRow, ...]":
    """Every key of the screens that can be changed, as it is with these changes."""
    from diskprof.tui.shell.keys import key_rows

    return key_rows(changed)


def check_keys(config: "Configuration") -> "tuple[Problem, ...]":
    """What is wrong with the keys that the configuration file asks for."""
    from diskprof.presets.problem import Problem
    from diskprof.tui.shell.keys import choose_keys

    _, faults = choose_keys(config.settings.keys)
    lines = config.lines
    return tuple(
        Problem(str(config.path), lines.get(f"keys.{name}"), f"keys.{name}", text) for name, text in faults.items()
    )
