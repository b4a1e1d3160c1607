"""`diskprof presets`, `diskprof presets show NAME`, `diskprof presets options`, `import` and `export`."""

import click

from diskprof.cli import completing
from diskprof.cli.commands.presets_import import export, import_preset
from diskprof.cli.common import echo_json, width_of_stdout


class _Presets(click.Group):
    """Takes `presets quick` for what it is: somebody who wants to see quick."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise click.UsageError(
                f"There is no command {args[0]!r}. To see a preset: diskprof presets show {args[0]}", ctx
            )
        return super().resolve_command(ctx, args)


@click.group("presets", cls=_Presets, invoke_without_command=True, short_help="List the presets, or show one.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the presets: the shipped ones and your own, from ~/.config/diskprof/presets.

    What is wrong with a file goes to stderr; the others stay usable. docs/presets.md says how to write one.
    """
    if ctx.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError(f"Put --json behind {ctx.invoked_subcommand}.", ctx)
        return
    from diskprof.presets.library import load_library
    from diskprof.reports.content.preset_text import presets_table
    from diskprof.reports.data.preset_json import presets_json

    library = load_library()
    for line in (*library.problems, *library.notices):
        click.echo(str(line), err=True)
    if as_json:
        echo_json(presets_json(library.presets))
    else:
        click.echo(presets_table(library.presets, width_of_stdout()), nl=False)


@command.command("show", short_help="Show one preset.")
@click.argument("name", shell_complete=completing.presets)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show what the preset NAME does, its parameters, and its tests as fio or ioping would read them."""
    from diskprof.presets.library import library_for
    from diskprof.reports.content.preset_text import preset_text
    from diskprof.reports.data.preset_json import resolved_json

    preset = library_for(name).get(name)
    if as_json:
        echo_json(resolved_json(preset))
    else:
        click.echo(preset_text(preset, width_of_stdout()), nl=False)


@command.command("options", short_help="List the options that a preset may use.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def options(as_json: bool) -> None:
    """List every fio and ioping option that a preset may use, with its type and range."""
    from diskprof.reports.content.preset_text import options_table
    from diskprof.reports.data.preset_json import options_json

    if as_json:
        echo_json(options_json())
    else:
        click.echo(options_table(width_of_stdout()), nl=False)


command.add_command(import_preset)
command.add_command(export)
