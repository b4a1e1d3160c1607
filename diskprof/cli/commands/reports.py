"""`diskprof report` and `diskprof compare`."""

import sys
from typing import TYPE_CHECKING

import click

from diskprof.cli import completion_candidates
from diskprof.cli.common import NamedFile, echo_json, open_store, place_of, refuse_device, width_of_stdout
from diskprof.cli.encoding import echo_data, stdout_is_utf8
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.reports.formats import Format
    from diskprof.store.store import Store

_FORMATS = ("markdown", "html", "csv", "samples")


@click.command("report", short_help="Write a report of one run, or a comparison of several.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completion_candidates.runs)
@click.option(
    *("-o", "--output"),
    type=NamedFile(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write to FILE; - is stdout.",
)
@click.option(
    "--format",
    "wanted",
    type=click.Choice(_FORMATS),
    help="Output format: md; html with charts; csv: results; samples: every sample as CSV.  [default: by FILE, else markdown]",
)
@click.pass_context
def report_command(ctx: click.Context, runs: tuple[str, ...], output: str | None, wanted: str | None) -> None:
    """Write a report of RUNS on stdout, or to FILE. Two or more runs are compared.

    \b
    Examples:
      diskprof report latest
      diskprof report latest -o disk.html
      diskprof report latest~1 latest --format csv
    """
    from diskprof.reports.formats import Format, format_of

    place = place_of(output)
    form = Format(wanted) if wanted else format_of(place) if place else Format.MARKDOWN
    with open_store(ctx) as store:
        # A file is UTF-8 whatever the terminal is.
        text = _report_text(store, runs, form, ascii_only=place is None and not stdout_is_utf8())
    if place is None:
        if form is Format.MARKDOWN:
            click.echo(text, nl=False)
        else:
            echo_data(text)
        return
    refuse_device(place)
    try:
        place.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        why = f"{clean(str(place))} cannot be written: {error.strerror}."
        raise DiskprofError(why, "Choose another place with -o.") from None
    say(f"Wrote {clean(str(place))}.")


def _report_text(store: "Store", names: tuple[str, ...], wanted: "Format", *, ascii_only: bool) -> str:
    from diskprof.reports.formats import write
    from diskprof.runner.session import earlier_results, seen_by_kernel

    ids = list(dict.fromkeys(store.resolve(name) for name in names))
    runs = [store.run(run_id) for run_id in ids]
    if not wanted.needs_samples(len(ids)):
        return write(wanted, runs, {}, {})
    samples = {run_id: store.samples(run_id).samples for run_id in ids}
    kernel = {run.id: seen_by_kernel(store, run) for run in runs}
    earlier = earlier_results(store, runs[0]) if len(runs) == 1 else ()
    return write(wanted, runs, samples, kernel, earlier=earlier, ascii_only=ascii_only)


@click.command("compare", short_help="Compare runs side by side.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completion_candidates.runs)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    help="Output format.  [default: text]",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--plot", is_flag=True, help="Plot IOPS, one chart per test; for sweeps, by block size.")
@click.pass_context
def compare_command(ctx: click.Context, runs: tuple[str, ...], form: str | None, as_json: bool, plot: bool) -> None:
    """Compare RUNS test by test; differences are to the first."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other.", ctx)
    form = "json" if as_json else form or "text"
    if plot and form != "text":
        given = "--json" if as_json else "--format"
        raise click.UsageError(f"--plot works with text output only: omit {given}.", ctx)
    with open_store(ctx) as store:
        ids = list(dict.fromkeys(store.resolve(run) for run in runs))
        if len(ids) < 2:
            raise UsageError("compare needs at least two different runs.", "`diskprof runs` lists them.")
        chosen = [store.run(run_id) for run_id in ids]
        samples = {run_id: store.samples(run_id).samples for run_id in ids}
        if form == "markdown":
            from diskprof.reports.render.markdown import report
            from diskprof.runner.session import seen_by_kernel

            kernel = {run.id: seen_by_kernel(store, run) for run in chosen}
            click.echo(report(chosen, samples, kernel=kernel, ascii_only=not stdout_is_utf8()), nl=False)
            return
    from diskprof.analysis.comparison import compare

    comparison = compare(chosen, samples)
    if form == "json":
        from diskprof.reports.data.json_runs import comparison_json

        echo_json(comparison_json(comparison))
        return
    from diskprof.reports.render.text import comparison_text

    width = width_of_stdout()
    click.echo(comparison_text(comparison, width), nl=False)
    if plot:
        from diskprof.reports.render.plotext_plot import comparison_plots

        colour, ascii_only = sys.stdout.isatty(), not stdout_is_utf8()
        drawn = comparison_plots(comparison, chosen, samples, width, colour=colour, ascii_only=ascii_only)
        click.echo(f"\n{drawn}" if drawn else "", nl=False)
