"""`diskprof report RUN...`."""

from typing import TYPE_CHECKING

import click

from diskprof.cli import completing
from diskprof.cli.common import open_store, place_of, refuse_device
from diskprof.cli.encoding import echo_data, stdout_is_utf8
from diskprof.cli.typed import NamedFile
from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.reports.formats import Format
    from diskprof.store.store import Store

_FORMATS = ("markdown", "html", "csv", "samples")


@click.command("report", short_help="Write a report of one run, or a comparison of several.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completing.runs)
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
    help="As what: Markdown; a page with charts; the results as CSV; every sample as CSV.  [default: by FILE, else markdown]",
)
@click.pass_context
def command(ctx: click.Context, runs: tuple[str, ...], output: str | None, wanted: str | None) -> None:
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
        text = _text(store, runs, form, ascii_only=place is None and not stdout_is_utf8())
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
    click.echo(f"Wrote {clean(str(place))}.", err=True)


def _text(store: "Store", names: tuple[str, ...], wanted: "Format", *, ascii_only: bool) -> str:
    from diskprof.cli.results import seen_by_kernel
    from diskprof.reports.formats import write

    ids = list(dict.fromkeys(store.resolve(name) for name in names))
    runs = [store.run(run_id) for run_id in ids]
    if not wanted.needs_samples:
        return write(wanted, runs, {}, {})
    series = {run_id: store.samples(run_id).samples for run_id in ids}
    kernel = {run.id: seen_by_kernel(store, run) for run in runs}
    return write(wanted, runs, series, kernel, ascii_only=ascii_only)
