"""`diskprof attach [RUN]`."""

import asyncio

import click

from diskprof.cli import completing
from diskprof.cli.commands.run import exit_code_of
from diskprof.cli.common import open_store
from diskprof.cli.results import print_result
from diskprof.cli.running import running_run


@click.command("attach", short_help="Watch a run that is under way.")
@click.argument("run", required=False, shell_complete=completing.running)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON when the run is over.")
@click.pass_context
def command(ctx: click.Context, run: str | None, as_json: bool) -> None:
    """Watch RUN (default: the one that is running) to its end and print its result.

    Ctrl+C ends the watching, not the run.
    """
    from diskprof.cli.watching import watch

    with open_store(ctx) as store:
        run_id = running_run(store, run)
        asyncio.run(watch(store.path, run_id))
        print_result(store, run_id, as_json)
        ctx.exit(exit_code_of(store.run(run_id)))
