"""`diskprof compare RUN RUN...`."""

import sys

import click

from diskprof.cli import completing
from diskprof.cli.common import echo_json, open_store, width_of_stdout
from diskprof.cli.encoding import stdout_is_utf8
from diskprof.model.errors import UsageError


@click.command("compare", short_help="Compare runs side by side.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completing.runs)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    help="As what.  [default: text]",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON: the same as --format json.")
@click.option("--plot", is_flag=True, help="Draw the IOPS of the runs in one chart a test; of sweeps, by block size.")
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], form: str | None, as_json: bool, plot: bool) -> None:
    """Compare RUNS test by test; differences are to the first."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other: leave one out.", ctx)
    form = "json" if as_json else form or "text"
    if plot and form != "text":
        given = "--json" if as_json else "--format"
        raise click.UsageError(f"--plot draws beside the text and not as {form}: leave {given} out.", ctx)
    with open_store(ctx) as store:
        ids = list(dict.fromkeys(store.resolve(run) for run in runs))
        if len(ids) < 2:
            raise UsageError("A comparison takes at least two different runs.", "`diskprof runs` lists them.")
        chosen = [store.run(run_id) for run_id in ids]
        series = {run_id: store.samples(run_id).samples for run_id in ids}
        if form == "markdown":
            from diskprof.cli.results import seen_by_kernel
            from diskprof.reports.render.markdown import report

            kernel = {run.id: seen_by_kernel(store, run) for run in chosen}
            click.echo(report(chosen, series, kernel=kernel, ascii_only=not stdout_is_utf8()), nl=False)
            return
    from diskprof.analysis.comparison import compare

    comparison = compare(chosen, series)
    if form == "json":
        from diskprof.reports.data.json import comparison_json

        echo_json(comparison_json(comparison))
        return
    from diskprof.reports.render.text_run import comparison_text

    width = width_of_stdout()
    click.echo(comparison_text(comparison, width), nl=False)
    if plot:
        from diskprof.reports.render.plot import comparison_plots

        colour, ascii_only = sys.stdout.isatty(), not stdout_is_utf8()
        drawn = comparison_plots(comparison, chosen, series, width, colour=colour, ascii_only=ascii_only)
        click.echo(f"\n{drawn}" if drawn else "", nl=False)
