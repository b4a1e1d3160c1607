"""`diskprof delete RUN...`."""

import sys

import click

from diskprof.cli import completing
from diskprof.cli.common import open_store
from diskprof.model.errors import UsageError


@click.command("delete", short_help="Delete runs from the store.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completing.runs)
@click.option("--yes", is_flag=True, help="Delete without asking.")
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], yes: bool) -> None:
    """Delete RUNS, with all their samples. A run that is under way is not deleted."""
    with open_store(ctx) as store:
        ids = list(dict.fromkeys(store.resolve(run) for run in runs))
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("Deleting asks first, and there is no terminal to ask on.", "Add --yes.")
            click.confirm(f"Delete {', '.join(ids)} for good?", abort=True, err=True)
        for run_id in ids:
            store.delete(run_id)
    click.echo(f"Deleted {', '.join(ids)}.", err=True)
