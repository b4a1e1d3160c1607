"""`diskprof report` and `diskprof compare`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diskprof.analysis.arms import Arm, arms_of, require_comparable, runs_of
from diskprof.cli import completion_candidates
from diskprof.cli.common import NamedFile, echo_json, open_store, place_of, whole_file, width_of_stdout, with_class
from diskprof.cli.disk_class import class_option
from diskprof.cli.encoding import echo_data, stdout_is_utf8
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean
from diskprof.reports.formats import BY_ARM, FORMATS, OF_ARMS, OF_SERIES, Format, format_of

if TYPE_CHECKING:
    from diskprof.analysis.fleet.compared import FleetsCompared
    from diskprof.store.store import Store


def _told(form: Format) -> str:
    facts = FORMATS[form]
    ends = ", ".join(facts.suffixes)
    return f"  {form:<18} {facts.words}{f' ({ends})' if ends else ''}"


_HELP = f"""Write a report of RUNS on stdout, or to FILE. Two or more runs, series or tags with all their runs are compared;
of two fleet runs or more each host with itself.

A run is named by its id, the beginning of it, a tag, `latest` or `latest~N`; a series and a fleet run by its id.

\b
Formats (and the ends of FILE that ask for them):
{chr(10).join(map(_told, Format))}

\b
Examples:
  diskprof report latest
  diskprof report latest -o disk.html
  diskprof report before after -o change.html
  diskprof report latest -o disk.prom
"""


class _FormatChoice(click.Choice[str]):
    """Takes the name of a file's end, md, for markdown."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert("markdown" if value == "md" else value, param, ctx)


@click.command("report", help=_HELP, short_help="Write a report of one run, or a comparison of several.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completion_candidates.runs)
@click.option(
    *("-o", "--output"),
    type=NamedFile(allow_dash=True),
    metavar="FILE",
    help="Write to FILE, as a whole or not at all; - is stdout. hgrm: a directory gets a file for each test and direction.",
)
@click.option(
    "--format",
    "wanted",
    type=_FormatChoice([str(form) for form in Format]),
    metavar="FORMAT",
    help="One of the formats above; md is short for markdown.  [default: by the end of FILE, else markdown]",
)
@class_option
@click.pass_context
def report_command(
    ctx: click.Context, runs: tuple[str, ...], output: str | None, wanted: str | None, disk_class: str
) -> None:
    place = place_of(output)
    form = Format(wanted) if wanted else format_of(place) if place else Format.MARKDOWN
    with open_store(ctx) as store:
        if form is Format.HGRM and place and (output or "").endswith("/") | place.is_dir():
            _write_files(store, runs, place)
            return
        # A file is UTF-8 whatever the terminal is.
        text = _report_text(store, runs, form, disk_class, ascii_only=place is None and not stdout_is_utf8())
    if place:
        _write(place, text)
    elif form is Format.MARKDOWN:
        click.echo(text, nl=False)
    else:
        echo_data(text)


def _write(place: Path, text: str) -> None:
    with whole_file(place) as file:
        file.write(text.encode("utf-8", errors="replace"))
    say(f"Wrote {clean(str(place))}.")


def _write_files(store: "Store", names: tuple[str, ...], place: Path) -> None:
    """The distributions of the runs into a directory, which is made."""
    from diskprof.reports.data.hgrm import hgrm_files

    files = hgrm_files([store.run(run_id) for run_id in _ids(store, names)])
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{clean(str(place))} cannot be written: {error.strerror}."
        raise DiskprofError(why, "Choose another place with -o.") from None
    for name, text in files.items():
        _write(place / name, text)


def _ids(store: "Store", names: tuple[str, ...]) -> list[str]:
    """The runs of these names, each once; all of a series."""
    return list(dict.fromkeys(run_id for name in names for run_id in store.runs_named(name)))


def _report_text(store: "Store", names: tuple[str, ...], wanted: Format, disk_class: str, *, ascii_only: bool) -> str:
    from diskprof.reports.formats import write
    from diskprof.runner.like_runs import report_history
    from diskprof.runner.session import earlier_results, seen_by_kernel

    if disk_class and (len(names) > 1 or wanted not in (Format.MARKDOWN, Format.HTML)):
        raise UsageError("--class is for the Markdown or HTML report of one run.", "Omit it, or name one run.")
    if len(names) == 1:
        item = store.resolve_item(names[0])
        if (item.is_series or item.is_fleet) and disk_class:
            raise UsageError("--class is of one run.", f"Give one of: {', '.join(store.runs_named(item.id))}.")
        if item.is_series and wanted in OF_SERIES:
            return _series_text(store, item.id, wanted, ascii_only=ascii_only)
        if item.is_fleet and wanted in OF_SERIES:
            return _fleet_text(store, item.id, wanted, ascii_only=ascii_only)
    if len(names) > 1 and wanted in OF_SERIES:
        from diskprof.reports.formats import write_fleets
        from diskprof.runner.comparing import fleet_arms, fleets_compared

        if fleets := fleet_arms(store, names):
            return write_fleets(wanted, fleets_compared(store, fleets), ascii_only=ascii_only)
    if len(names) > 1 and wanted in BY_ARM:
        arms = _arms(store, names, comparable=wanted in OF_ARMS)
    else:
        arms = arms_of([with_class(store.run(run_id), disk_class) for run_id in _ids(store, names)])
    runs = runs_of(arms)
    if not wanted.needs_samples(len(arms)):
        return write(wanted, arms, {}, {})
    samples = {run.id: store.samples(run.id, histograms=False).samples for run in runs}
    kernel = {run.id: seen_by_kernel(store, run) for run in runs} if len(arms) == len(runs) else {}
    earlier = earlier_results(store, runs[0]) if len(runs) == 1 else ()
    history = report_history(store, runs[0]) if len(runs) == 1 and wanted is Format.HTML else None
    return write(wanted, arms, samples, kernel, earlier=earlier, history=history, ascii_only=ascii_only)


def _arms(store: "Store", names: Sequence[str], *, comparable: bool = True) -> tuple[Arm, ...]:
    """What these names mean; of one run alone the same run once. Raises UsageError, if `comparable`, of what cannot be compared."""
    from diskprof.runner.comparing import ids_of, named_arms, with_runs

    chosen = named_arms(store, names)
    arms = with_runs(chosen, {run_id: store.run(run_id) for run_id in ids_of(chosen)})
    if comparable:
        require_comparable(arms)
    return arms


def _series_text(store: "Store", series_id: str, wanted: Format, *, ascii_only: bool) -> str:
    from diskprof.reports.formats import write_series
    from diskprof.runner.session import series_result

    result = series_result(store, series_id)
    runs = [store.run(run.id) for run in result.runs] if wanted is Format.CSV else []
    return write_series(wanted, result, runs, ascii_only=ascii_only)


def _fleet_text(store: "Store", fleet_id: str, wanted: Format, *, ascii_only: bool) -> str:
    from diskprof.reports.formats import write_fleet
    from diskprof.runner.session import fleet_result

    return write_fleet(wanted, fleet_result(store, fleet_id), ascii_only=ascii_only)


def _fleets_text(compared: "FleetsCompared", form: str) -> str:
    from diskprof.reports.formats import write_fleets

    if form == "markdown":
        return write_fleets(Format.MARKDOWN, compared, ascii_only=not stdout_is_utf8())
    from diskprof.reports.blocks import Form
    from diskprof.reports.content.fleet.fleets_compared import fleets_report
    from diskprof.reports.render.lines import text

    return text(fleets_report(compared, Form.TERMINAL), width_of_stdout())


@click.command("compare", short_help="Compare runs side by side.")
@click.argument("arms", metavar="ARMS...", nargs=-1, required=True, shell_complete=completion_candidates.runs)
@click.option(
    "--format",
    "form",
    type=_FormatChoice(["text", "markdown", "json"]),
    help="Output format; md is short for markdown.  [default: text]",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--plot", is_flag=True, help="Plot IOPS, one chart per test; for sweeps, by block size.")
@click.pass_context
def compare_command(ctx: click.Context, arms: tuple[str, ...], form: str | None, as_json: bool, plot: bool) -> None:
    """Compare ARMS test by test; differences are to the first. An arm is a run, or a tag: all runs with it.

    Of two fleet runs or more, each host is compared with itself.

    \b
    Examples:
      diskprof compare latest~1 latest
      diskprof compare before after
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other.", ctx)
    form = "json" if as_json else form or "text"
    if plot and form != "text":
        given = "--json" if as_json else "--format"
        raise click.UsageError(f"--plot works with text output only: omit {given}.", ctx)
    from diskprof.runner.comparing import fleet_arms, fleets_compared

    with open_store(ctx) as store:
        if fleets := fleet_arms(store, arms):
            if plot:
                raise click.UsageError("--plot compares runs, not fleet runs: name two runs of a host.", ctx)
            compared = fleets_compared(store, fleets)
            if form == "json":
                from diskprof.reports.data.json_fleet import fleets_compared_json

                echo_json(fleets_compared_json(compared))
            else:
                click.echo(_fleets_text(compared, form), nl=False)
            return
        chosen = _arms(store, arms)
        runs = runs_of(chosen)
        samples = {run.id: store.samples(run.id, histograms=False).samples for run in runs}
        if form == "markdown":
            from diskprof.reports.render.markdown import report
            from diskprof.runner.session import seen_by_kernel

            kernel = {run.id: seen_by_kernel(store, run) for run in runs} if len(chosen) == len(runs) else {}
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
