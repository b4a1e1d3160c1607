"""`diskprof import FILE...`."""

import sys
from contextlib import ExitStack
from typing import IO

import click

from diskprof.cli.common import open_store, place_of
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean


@click.command("import", short_help="Take runs into the store that `export` wrote.")
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE...")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...]) -> None:
    """Take the runs of FILES into the store; `-` is stdin. Prints their ids.

    All of them are taken, or none if a file is not whole. A run that is here already stays as it is. If another run has its id, it
    gets a new one.
    """
    from diskprof.store.exchange.transfer import import_runs

    with ExitStack() as stack:
        opened = [_opened(file, stack) for file in files]
        store = stack.enter_context(open_store(ctx))
        for run in import_runs(store, opened):
            if not run.new:
                click.echo(f"{run.run_id} is there already.", err=True)
            elif run.run_id != run.given:
                click.echo(f"{run.given} is the id of another run here, so it is called {run.run_id}.", err=True)
            click.echo(run.run_id)


def _opened(file: str, stack: ExitStack) -> tuple[str, IO[bytes]]:
    """What it is called and what it holds."""
    path = place_of(file)
    if path is None:
        return "stdin", sys.stdin.buffer
    try:
        if path.exists() and not (path.is_file() or path.is_fifo()):
            raise UsageError(f"{clean(str(path))} is not a file.", "Give a file that `diskprof export` wrote.")
        return file, stack.enter_context(path.open("rb"))
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        kind = UsageError if missing else DiskprofError
        raise kind(f"{clean(str(path))} cannot be read: {error.strerror}.") from None
