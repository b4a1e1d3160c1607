"""`diskprof export` and `diskprof import`: runs in a file."""

import os
import sys
from collections.abc import Callable
from typing import IO

import click

from diskprof.cli import completion_candidates
from diskprof.cli.common import NamedFile, open_store, place_of, whole_file
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean


@click.command("export", short_help="Export complete runs to a file.")
@click.argument("runs", nargs=-1, required=True, shell_complete=completion_candidates.runs)
@click.option(
    *("-o", "--out", "--output"),
    type=NamedFile(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write to FILE instead of stdout; - is stdout.",
)
@click.pass_context
def export_command(ctx: click.Context, runs: tuple[str, ...], out: str | None) -> None:
    """Write RUNS to FILE, or to stdout, with all that belongs to them: plan, machine, samples, findings, tags, the engines' output.

    `diskprof import` imports them unchanged into another run database. The file names the machine and its disks.

    \b
    Examples:
      diskprof export latest -o run.jsonl.gz
      ssh server diskprof export latest | diskprof import -
    """
    from diskprof.store.exchange.transfer import export_runs

    place = place_of(out)
    if place is None and sys.stdout.isatty():
        raise UsageError("Refusing to write binary data to a terminal.", "Use -o FILE or redirect.")
    # Path.exists raises where a directory may not be searched: the file is then refused when it is written.
    if place and os.path.exists(place) and not (place.is_file() or place.is_block_device()):  # noqa: PTH110
        raise UsageError(f"{clean(str(place))} is not a file.", "Choose another place with -o.")
    with open_store(ctx) as store:
        ids = list(dict.fromkeys(run_id for run in runs for run_id in store.runs_named(run)))
        if place is None:
            _to_stdout(lambda file: export_runs(store, ids, file))
            return
        with whole_file(place) as file:
            export_runs(store, ids, file)
    say(f"Wrote {clean(str(place))}.")


def _to_stdout(write: Callable[[IO[bytes]], None]) -> None:
    try:
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Whoever read it has enough; nothing more can be said to them, not even at the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise DiskprofError("The reader of stdout exited before the export was complete.") from None


@click.command("import", short_help="Import runs: exported ones, and results of fio and ioping.")
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE...")
@click.pass_context
def import_command(ctx: click.Context, files: tuple[str, ...]) -> None:
    """Take the runs in FILES into the run database; `-` is stdin. Prints their ids.

    A file is one of `diskprof export`, or a result of fio (JSON or json+ of fio 3.0 or later, also with --status-interval) or
    ioping (-J or -B): diskprof tells by its content. Of a folder all results in it are imported; those that bench-fio wrote to one
    folder are one run with a sweep.

    All of them are imported, or none if a file is not whole. After an interruption the same command goes on where it stopped. A
    run that is here already stays as it is. If another run has its id, it gets a new one.

    A fio job file is no result: `diskprof presets import` makes a preset of it.

    \b
    Examples:
      diskprof import run.jsonl.gz
      fio --output-format=json+ job.fio | diskprof import -
      diskprof import results/
    """
    from diskprof.runner.result_files import import_files

    with open_store(ctx) as store:
        imported = import_files(store, files, sys.stdin.buffer)
    for run in imported.runs:
        if not run.new:
            say(f"{run.run_id} already exists.")
        elif run.run_id != run.given:
            say(f"{run.given} is already the id of another run; imported as {run.run_id}.")
        click.echo(run.run_id)
    if imported.left_out:
        say(f"Left out {imported.left_out} file{'' if imported.left_out == 1 else 's'} without results.")
