"""`diskprof clean`."""

import sys

import click

from diskprof.cli import completing
from diskprof.cli.common import open_store
from diskprof.model.errors import UsageError
from diskprof.model.text import clean
from diskprof.model.units import format_size


@click.command("clean", short_help="Remove test files that runs left behind.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completing.directories)
@click.option("--yes", is_flag=True, help="Remove without asking.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], yes: bool) -> None:
    """Remove the test files that runs left behind: they were killed, the power failed, or they could not remove them.

    They are found by the runs that are stored, and by their names in each directory PATH and in those where runs worked
    before. Nothing is removed unasked, nor while a run may use it.
    """
    from diskprof.runner.leftovers import left_alone, leftovers, remove

    with open_store(ctx) as store:
        for line in left_alone(paths):
            click.echo(line, err=True)
        found = list(leftovers(store, (*paths, *store.targets())))
        if not found:
            click.echo("Nothing was left behind.", err=True)
            return
        for leftover in found:
            click.echo(f"{clean(leftover.file.directory)}  {format_size(leftover.size_bytes)}  {leftover.origin}")
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("Removing asks first, and there is no terminal to ask on.", "Add --yes.")
            click.confirm("Remove them?", abort=True, err=True)
        for leftover in found:
            remove(store, leftover)
        click.echo(f"Removed {len(found)}.", err=True)
