"""The `diskprof` command: its subcommands, and the options that hold for all of them."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diskprof import __version__
from diskprof.cli.common import NamedFile
from diskprof.cli.encoding import print_plainly
from diskprof.cli.entry import as_plugin, unknown
from diskprof.cli.saying import say
from diskprof.cli.setting_options import VARIABLES
from diskprof.model.errors import ExitCode

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMANDS = {
    "devices": ("devices", "List the block devices that can be tested."),
    "watch": ("watch", "Watch what a disk does, without loading it."),
    "mimic": ("mimic", "Make a preset of what a disk does."),
    "presets": ("presets", "List, show, import and export presets."),
    "run": ("run", "Run a preset on a directory, a file or a device."),
    "limit": ("limit", "Find the highest load that keeps a latency."),
    "map": ("limit", "Map read latency over reads and writes done together."),
    "rerun": ("run", "Run again with the same preset, settings and target."),
    "what-limits": ("run", "Find the caps of IOPS and bandwidth, in three minutes."),
    "attach": ("runs", "Watch a run in progress."),
    "stop": ("runs", "Stop a run in progress."),
    "fleet": ("fleet", "Bring runs of hosts that were lost."),
    "runs": ("runs", "List saved runs."),
    "show": ("runs", "Show the result of a run."),
    "gate": ("gate", "Run a preset and fail if it got worse than the like runs before."),
    "history": ("history", "Show how the results of like runs changed."),
    "compare": ("reports", "Compare runs side by side."),
    "report": ("reports", "Write a Markdown report of one run, or a comparison of several."),
    "export": ("transfer", "Export complete runs to a file."),
    "import": ("transfer", "Import runs: exported ones, and results of fio and ioping."),
    "delete": ("runs", "Delete runs (can be restored for a week)."),
    "undelete": ("runs", "Restore deleted runs."),
    "tag": ("runs", "Set tags or the note of a run."),
    "clean": ("runs", "Remove leftover test files."),
    "ssh": ("ssh", "Run diskprof on another host that has fio alone."),
    "config": ("setup", "Show the settings and their sources."),
    "doctor": ("setup", "Check the requirements and say how to install what is missing."),
    "completion": ("setup", "Print the shell completion for bash, zsh or fish."),
}


class LazyGroup(click.Group):
    """Imports a subcommand when it is called for; `diskprof --version` and `--help` import none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"diskprof.cli.commands.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem[str]"]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=text) for name, (_, text) in _COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"There is no command {args[0]!r}. {_meant(args[0])}", ctx)
        return super().resolve_command(ctx, args)


def _meant(word: str) -> str:
    """What somebody may have meant by a word that is no command."""
    from difflib import get_close_matches

    from diskprof.presets.library import preset_names

    if word in preset_names():
        return f"{word} is a preset: diskprof run {word} DIRECTORY"
    close = get_close_matches(word, _COMMANDS, n=2)
    return f"Did you mean {' or '.join(close)}?" if close else "`diskprof --help` lists the commands."


def _plainly(ctx: click.Context, parameter: click.Parameter, value: bool) -> bool:
    """Before anything else, so that it holds for the help too."""
    if value:
        print_plainly()
    return value


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="diskprof", message="%(prog)s %(version)s")
@click.option(
    "--store",
    type=NamedFile(path_type=Path, dir_okay=False),
    envvar=VARIABLES["store"],
    metavar="FILE",
    help="Run database (default: see `diskprof config`).",
)
@click.option(
    "--no-mouse",
    is_flag=True,
    envvar=VARIABLES["no_mouse"],
    help="Disable mouse support, so the terminal can select text.",
)
@click.option(
    "--ascii",
    is_flag=True,
    is_eager=True,
    envvar=VARIABLES["ascii"],
    callback=_plainly,
    help="Use ASCII characters only.",
)
@click.option(
    "--slow-link",
    is_flag=True,
    envvar=VARIABLES["slow_link"],
    help="Fewer frames and colours, for slow connections.",
)
@click.pass_context
def main(ctx: click.Context, store: Path | None, no_mouse: bool, ascii: bool, slow_link: bool) -> None:
    """What can this disk do? Runs fio and ioping, shows it live, keeps and compares the results.

    Without a command it opens the screen. Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 fio or ioping is missing,
    4 refused for safety, 5 an expectation was not met, 6 regressed (gate), 7 not comparable (gate), 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        from diskprof.cli.open_screen import open_screen

        ctx.exit(open_screen(ctx))
    if store is None and ctx.invoked_subcommand != "config":
        from diskprof.cli.setting_options import configured_store

        store = configured_store()
    ctx.obj = store


def run_command() -> int:
    """Runs the command that the command line names and returns its exit code. Raises what that raises."""
    try:
        return int(main.main(prog_name="diskprof", standalone_mode=False) or 0)
    except click.ClickException as error:
        if as_plugin():
            return unknown(error.format_message())
        say(f"diskprof: {_sentence(error.format_message())}{_usage_of(error)}")
        return int(ExitCode.USAGE)
    except click.Abort:
        return int(ExitCode.INTERRUPTED)


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _usage_of(error: click.ClickException) -> str:
    """Further lines: how the command is called, where a command was."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None or isinstance(ctx.command, click.Group):
        return ""
    return f"\n{ctx.get_usage()}\nMore: {ctx.command_path} --help"
