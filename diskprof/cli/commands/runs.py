"""`diskprof runs`."""

import click

from diskprof.cli.common import echo_json, open_store, width_of_stdout

_MOST = 2**63 - 1
"""What SQLite can count to."""


@click.command("runs", short_help="List the runs that were kept.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.option("--limit", "-n", type=click.IntRange(1), help="The newest so many only.")
@click.pass_context
def command(ctx: click.Context, as_json: bool, limit: int | None) -> None:
    """List the runs that were kept, newest first."""
    with open_store(ctx) as store:
        summaries = store.summaries(limit=None if limit is None else min(limit, _MOST))
    if as_json:
        from diskprof.reports.data.json import summaries_json

        echo_json(summaries_json(summaries))
        return
    if not summaries:
        click.echo("No runs yet. `diskprof run quick DIRECTORY` makes one.", err=True)
        return
    from diskprof.reports.render.text_run import runs_table

    click.echo(runs_table(summaries, width_of_stdout()), nl=False)
