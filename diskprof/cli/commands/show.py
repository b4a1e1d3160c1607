"""`diskprof show RUN`."""

import sys

import click

from diskprof.cli import completing
from diskprof.cli.common import open_store, width_of_stdout
from diskprof.cli.encoding import stdout_is_utf8
from diskprof.cli.results import print_result


@click.command("show", short_help="Show the result of a run.")
@click.argument("run", default="latest", shell_complete=completing.runs)
@click.option("--json", "as_json", is_flag=True, help="Print the run as JSON.")
@click.option("--plot", is_flag=True, help="Draw how IOPS, bandwidth and latency went.")
@click.pass_context
def command(ctx: click.Context, run: str, as_json: bool, plot: bool) -> None:
    """Show the result of RUN: an id or the beginning of one, a tag, `latest` or `latest~N`."""
    if plot and as_json:
        raise click.UsageError("--plot draws for people and --json is for programs: choose one.", ctx)
    with open_store(ctx) as store:
        run_id = store.resolve(run)
        print_result(store, run_id, as_json)
        if plot:
            from diskprof.reports.render.plot import run_plots

            samples = store.samples(run_id).samples
            width = width_of_stdout()
            drawn = run_plots(
                store.run(run_id), samples, width, colour=sys.stdout.isatty(), ascii_only=not stdout_is_utf8()
            )
            click.echo(drawn, nl=False)
