"""`diskprof config`: the settings, what they may be, and where each comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from diskprof.cli.common import echo_json
from diskprof.model.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from diskprof.config.settings import Configuration, Problem, Settings


@click.group("config", invoke_without_command=True, short_help="Show the settings, and where each comes from.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show every setting, its default, and where it comes from: an option, the environment or a line of the file.

    Exit code 2 if there is something in the file that cannot be used; everything else in it holds all the same.

    \b
    Examples:
      diskprof config
      diskprof config init
      diskprof config keys
    """
    if ctx.invoked_subcommand is not None:
        return
    from diskprof.cli.settings import settings_of
    from diskprof.config.file import load_config

    config = load_config()
    settings, origins = settings_of(ctx, config)
    problems = (*config.problems, *_problems_of_keys(config))
    shown = Shown(config, settings, origins, problems)
    if as_json:
        echo_json(_json(shown))
    else:
        click.echo(_text(shown), nl=False)
    for problem in problems:
        click.echo(f"diskprof: {problem}", err=True)
    ctx.exit(ExitCode.USAGE if problems else ExitCode.OK)


@command.command("path")
def path() -> None:
    """Print where the configuration file is looked for."""
    from diskprof.config.file import config_path

    click.echo(str(config_path()))


@command.command("init")
def init() -> None:
    """Write a configuration file with every setting in it, commented out. One that is there is left as it is."""
    from diskprof.config.example import example
    from diskprof.config.file import config_path

    made = config_path()
    try:
        made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with made.open("x", encoding="utf-8") as file:
            file.write(example())
    except FileExistsError:
        raise UsageError(f"{made} is there already.", "`diskprof config` shows what it says.") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{made} cannot be written: {why}.", "$XDG_CONFIG_HOME names another place.") from None
    click.echo(str(made))


@command.command("keys")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def keys(as_json: bool) -> None:
    """List the keys of the screen by the ids that the [keys] of the configuration file take."""
    from diskprof.cli.screen import key_table
    from diskprof.config.file import load_config

    rows = key_table(load_config().settings.keys)
    if as_json:
        names = ("id", "screen", "keys", "default_keys", "text")
        echo_json(
            [dict(zip(names, (row.id, row.screen, row.keys, row.defaults, row.text), strict=True)) for row in rows]
        )
        return
    place = ""
    width = max(len(row.id) for row in rows)
    for row in rows:
        if row.screen != place:
            place = row.screen
            click.echo(f"\n{place}" if row is not rows[0] else place)
        changed = "" if row.keys == row.defaults else f" (default: {', '.join(row.defaults)})"
        click.echo(f"  {row.id:<{width}}  {', '.join(row.keys):<10} {row.text}{changed}")


def _problems_of_keys(config: "Configuration") -> "tuple[Problem, ...]":
    """Keys that clash or do not exist: only the screens know their bindings, and they take a moment to load."""
    if not config.settings.keys:
        return ()
    from diskprof.cli.screen import check_keys

    return check_keys(config)


def _value(value: Any) -> Any:
    """As JSON has it."""
    return str(value) if value is not None and not isinstance(value, bool | int | float) else value


def _in_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:g}"
    return f'"{value if value is not None else ""}"'


@dataclass(frozen=True)
class Shown:
    """What there is to show: `settings` are those that hold, `origins` of them the words of `settings_of`."""

    config: "Configuration"
    settings: "Settings"
    origins: Mapping[str, str]
    problems: "tuple[Problem, ...]"

    def origin(self, name: str) -> str:
        line = self.config.lines.get(name)
        return self.origins.get(name) or (f"line {line}" if line else "default")


def _text(shown: Shown) -> str:
    from diskprof.config.described import DESCRIBED

    config = shown.config
    lines = [f"{config.path}{'' if config.exists else ' is not there: `diskprof config init` writes one'}", ""]
    for one in DESCRIBED:
        value, origin = getattr(shown.settings, one.name), shown.origin(one.name)
        lines.append(f"{one.name + ' = ' + _in_toml(value):<26} {origin}")
        default = "" if origin == "default" else f"; default {one.default}"
        lines.append(f"    {one.summary} May be {one.allowed}{default}.")
    lines.append("")
    for name, chosen in config.settings.keys.items():
        lines.append(f"{'keys.' + name + ' = ' + ', '.join(chosen):<26} {shown.origin(f'keys.{name}')}")
    lines.append("`diskprof config keys` lists the keys that can be changed.")
    return "\n".join(lines) + "\n"


def _json(shown: Shown) -> Mapping[str, Any]:
    from diskprof.config.described import DESCRIBED
    from diskprof.config.settings import Settings

    defaults = Settings()
    return {
        "path": str(shown.config.path),
        "exists": shown.config.exists,
        "settings": {
            one.name: {
                "value": _value(getattr(shown.settings, one.name)),
                "default": _value(getattr(defaults, one.name)),
                "from": shown.origin(one.name),
                "allowed": one.allowed,
            }
            for one in DESCRIBED
        },
        "keys": {name: list(keys) for name, keys in shown.config.settings.keys.items()},
        "problems": [
            {"path": problem.path, "line": problem.line, "key": problem.key, "message": problem.message}
            for problem in shown.problems
        ],
    }
