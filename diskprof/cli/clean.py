"""`diskprof clean`."""

import sys

import click

from diskprof.cli.common import open_store
from diskprof.model.errors import UsageError
from diskprof.model.text import clean
from diskprof.model.units import format_size


@click.command("clean", short_help="Remove test files that runs left behind.")
@click.option("--yes", is_flag=True, help="Remove without asking.")
@click.pass_context
def command(ctx: click.Context, yes: bool) -> None:
    """Remove the test files that runs left behind: they were killed, or could not remove them. Nothing is removed unasked."""
    from diskprof.runner.leftovers import leftovers, remove

    with open_store(ctx) as store:
        found = list(leftovers(store))
        if not found:
            click.echo("Nothing was left behind.", err=True)
            return
        for leftover in found:
            click.echo(f"{clean(leftover.file.directory)}  {format_size(leftover.size_bytes)}  run {leftover.run_id}")
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("Removing asks first, and there is no terminal to ask on.", "Add --yes.")
            click.confirm("Remove them?", abort=True, err=True)
        for leftover in found:
            remove(store, leftover)
        click.echo(f"Removed {len(found)}.", err=True)
