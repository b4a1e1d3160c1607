"""`diskprof history PRESET TARGET`: how the figures of like runs went."""

import sys
from typing import TYPE_CHECKING

import click

from diskprof.cli import completion_candidates
from diskprof.cli.across import across_option
from diskprof.cli.common import echo_json, open_store, width_of_stdout
from diskprof.cli.encoding import echo_data, stdout_is_utf8
from diskprof.cli.saying import say
from diskprof.model.fingerprint import Aspect
from diskprof.runner.session import Session

if TYPE_CHECKING:
    from diskprof.model.run import Run
    from diskprof.store import Store


@click.command("history", short_help="Show how the results of like runs changed.")
@click.argument("preset", required=False, shell_complete=completion_candidates.presets)
@click.argument("target", required=False, shell_complete=completion_candidates.targets)
@click.option(
    "--run",
    "named",
    metavar="RUN",
    help="Take the runs that are like RUN, in place of PRESET and TARGET.",
    shell_complete=completion_candidates.runs,
)
@across_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "html", "json"]),
    default="text",
    help="Output format.  [default: text]",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.pass_context
def history_command(
    ctx: click.Context,
    preset: str | None,
    target: str | None,
    named: str | None,
    across: tuple[Aspect, ...],
    form: str,
    as_json: bool,
) -> None:
    """Show how the results of PRESET on TARGET changed from run to run, and at which run by more than chance.

    Like runs are complete runs of the same tests and options on the same disk, file system and kernel.

    \b
    Examples:
      diskprof history quick /mnt/data
      diskprof history quick /mnt/data --across kernel
      diskprof history --run latest --json
    """
    from diskprof.runner.like_runs import history_of, newest_complete

    if named is not None and preset is not None:
        raise click.UsageError("--run excludes PRESET and TARGET.", ctx)
    if named is None and (preset is None or target is None):
        raise click.UsageError("Name a preset and a target, or a run with --run.", ctx)
    if as_json and form == "html":
        raise click.UsageError("--json and --format html exclude each other.", ctx)
    with open_store(ctx) as store:
        if named is not None:
            run = newest_complete(store, named)
        else:
            run = _newest(ctx, store, str(preset), str(target), across)
        history = history_of(store, run, across)
    if as_json or form == "json":
        from diskprof.reports.data.json_history import history_json

        echo_json(history_json(history))
        return
    if form == "html":
        from diskprof.reports.render.html import history_html

        echo_data(history_html(history))
        return
    from diskprof.reports.content.history.history_report import history_report
    from diskprof.reports.render.lines import text
    from diskprof.reports.render.plotext_plot import history_charts

    width, ascii_only = width_of_stdout(), not stdout_is_utf8()
    click.echo(text(history_report(history), width, ascii_only=ascii_only), nl=False)
    drawn = history_charts(history, width, colour=sys.stdout.isatty(), ascii_only=ascii_only)
    click.echo(f"\n{drawn}" if drawn else "", nl=False)


def _newest(ctx: click.Context, store: "Store", preset: str, target: str, across: tuple[Aspect, ...]) -> "Run":
    from diskprof.runner.like_runs import likes_on

    likes = likes_on(Session(ctx.find_root().obj), store, preset, target, across)
    if left_out := likes.words(across):
        say(left_out)
    return store.run(likes.newest.newest)
