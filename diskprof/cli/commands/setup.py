"""`diskprof config`, `doctor` and `completion`: how diskprof is set up here."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from diskprof import __version__
from diskprof.cli.common import echo_json
from diskprof.cli.saying import say
from diskprof.model.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from diskprof.cli.checkup import Section
    from diskprof.config.settings import Configuration, Settings
    from diskprof.presets.problem import Problem


@click.group("config", invoke_without_command=True, short_help="Show the settings and their sources.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def config_command(ctx: click.Context, as_json: bool) -> None:
    """Show every setting, its default, and where it comes from: an option, the environment or a line of the file.

    Exit code 2 if something in the file cannot be used. Other settings still apply.

    \b
    Examples:
      diskprof config
      diskprof config init
      diskprof config keys
    """
    if ctx.invoked_subcommand is not None:
        return
    from diskprof.cli.setting_options import settings_of
    from diskprof.config.file import load_config

    config = load_config()
    settings, origins = settings_of(ctx, config)
    problems = (*config.problems, *_problems_of_keys(config))
    shown = Shown(config, settings, origins, problems)
    if as_json:
        echo_json(_config_json(shown))
    else:
        click.echo(_config_text(shown), nl=False)
    for problem in problems:
        say(f"diskprof: {problem}")
    ctx.exit(ExitCode.USAGE if problems else ExitCode.OK)


@config_command.command("path")
def path() -> None:
    """Print where the configuration file is looked for."""
    from diskprof.config.file import config_path

    click.echo(str(config_path()))


@config_command.command("init")
def init() -> None:
    """Write a configuration file with every setting in it, commented out. One that is there is left as it is."""
    from diskprof.config.described import example
    from diskprof.config.file import config_path

    made = config_path()
    try:
        made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with made.open("x", encoding="utf-8") as file:
            file.write(example())
    except FileExistsError:
        raise UsageError(f"{made} already exists.", "`diskprof config` shows what it says.") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{made} cannot be written: {why}.", "$XDG_CONFIG_HOME names another place.") from None
    click.echo(str(made))


@config_command.command("keys")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def keys(as_json: bool) -> None:
    """List the keys of the screen by the ids that the [keys] of the configuration file take."""
    from diskprof.cli.open_screen import key_table
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
    from diskprof.cli.open_screen import check_keys

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


class Shown(Struct, frozen=True, dict=True):
    """What there is to show: `settings` are those that hold, `origins` of them the words of `settings_of`."""

    config: "Configuration"
    settings: "Settings"
    origins: Mapping[str, str]
    problems: "tuple[Problem, ...]"

    def origin(self, name: str) -> str:
        line = self.config.lines.get(name)
        return self.origins.get(name) or (f"line {line}" if line else "default")


def _config_text(shown: Shown) -> str:
    from diskprof.config.described import DESCRIBED

    config = shown.config
    lines = [f"{config.path}{'' if config.exists else ' does not exist; create it with `diskprof config init`'}", ""]
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


def _config_json(shown: Shown) -> Mapping[str, Any]:
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


@click.command("doctor", short_help="Check the requirements and say how to install what is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool) -> None:
    """Check what diskprof needs: fio and ioping, udev, devices and directories, the terminal, the store, the presets.

    Changes nothing. Exit codes: 0 all it needs is there (notes do not count), 3 fio or ioping is missing, 1 something
    else is wrong.
    """
    from diskprof.cli.checkup import State, system_facts

    sections = _checked(ctx.find_root().obj)
    system = system_facts()
    wrong = [check for section in sections.values() for check in section.checks if check.state is State.WRONG]
    if as_json:
        echo_json(
            {
                "diskprof": __version__,
                "system": system,
                **{key: section.facts for key, section in sections.items()},
                "problems": [{"name": c.name, "message": c.text, "advice": c.advice} for c in wrong],
            }
        )
    else:
        where = ", ".join(filter(None, (system["os"], f"Linux {system['kernel']}", f"Python {system['python']}")))
        click.echo(f"diskprof {__version__} on {where}")
        for line in _report_lines(sections.values()):
            click.echo(line)
    if not all(tool["found"] for tool in sections["tools"].facts):
        ctx.exit(int(ExitCode.ENGINE_MISSING))
    ctx.exit(int(ExitCode.FAILED if wrong else ExitCode.OK))


def _checked(store: Path | None) -> dict[str, "Section"]:
    from diskprof.cli import checkup
    from diskprof.cli.encoding import encoding_of_stdout
    from diskprof.devices.scan.files import may
    from diskprof.devices.scan.udev import scan, udev_runs
    from diskprof.model.text import started_with

    tools = checkup.check_tools()
    return {
        "tools": tools,
        "io_engines": checkup.check_io_engines(
            fio=any(tool["name"] == "fio" and tool["version"] for tool in tools.facts)
        ),
        "reach": checkup.check_reach(
            scan(),
            udevd=udev_runs(),
            root=os.geteuid() == 0,
            readable=lambda device: may(device.node, os.R_OK),
        ),
        "wear": checkup.check_wear(root=os.geteuid() == 0),
        "terminal": checkup.check_terminal(
            started_with(os.environ),
            tty=sys.stdin.isatty() and sys.stdout.isatty(),
            size=checkup.terminal_size(),
            encoding=encoding_of_stdout(),
        ),
        "store": checkup.check_store(store),
        "presets": checkup.check_presets(),
    }


def _report_lines(sections: Iterable["Section"]) -> Iterator[str]:
    """The findings for a person: a word, never a colour, says how each stands."""
    from diskprof.cli.checkup import State

    words = {State.OK: "ok", State.NOTE: "note", State.WRONG: "WRONG"}
    count = dict.fromkeys(State, 0)
    for section in sections:
        yield ""
        yield section.title
        for check in section.checks:
            count[check.state] += 1
            yield f"  {words[check.state]:6} {check.name:11} {check.text}"
            for line in check.advice.splitlines():
                yield f"  {'':6} {'':11} {line}"
    yield ""
    notes = f" ({count[State.NOTE]} to note)" if count[State.NOTE] else ""
    wrong = count[State.WRONG]
    if wrong:
        yield f"{wrong} {'thing is' if wrong == 1 else 'things are'} wrong{notes}."
    else:
        yield f"diskprof has what it needs{notes}."


@click.command("completion", short_help="Print the shell completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, presets, runs and targets.

    \b
    bash, in ~/.bashrc:   eval "$(diskprof completion bash)"
    zsh, in ~/.zshrc:     autoload -Uz compinit && compinit; eval "$(diskprof completion zsh)"
    fish:                 diskprof completion fish > ~/.config/fish/completions/diskprof.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    made = found(ctx.find_root().command, {}, "diskprof", "_DISKPROF_COMPLETE")
    # BashComplete.source would start a bash to ask for its version, and complain to whoever has none.
    click.echo(ShellComplete.source(made), nl=False)
