"""`diskprof tag RUN [TAG...]`."""

import click

from diskprof.cli import completing
from diskprof.cli.common import open_store
from diskprof.model.text import clean


@click.command("tag", short_help="Give a run tags, or a note.")
@click.argument("run", shell_complete=completing.runs)
@click.argument("tags", nargs=-1, shell_complete=completing.tags)
@click.option("--remove", "removed", multiple=True, metavar="TAG", help="Take a tag off.")
@click.option("--note", help="Replace the note.")
@click.pass_context
def command(ctx: click.Context, run: str, tags: tuple[str, ...], removed: tuple[str, ...], note: str | None) -> None:
    """Add TAGS to RUN; a tag names a run wherever RUN is asked for. Prints the tags that it has then."""
    with open_store(ctx) as store:
        run_id = store.resolve(run)
        kept = [tag for tag in store.run(run_id).tags if tag not in removed]
        if tags or removed:
            store.set_tags(run_id, tuple(dict.fromkeys([*kept, *tags])))
        if note is not None:
            store.set_note(run_id, note)
        click.echo(clean(" ".join(store.run(run_id).tags)))
