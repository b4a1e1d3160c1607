"""`diskprof runs`, `show`, `attach`, `stop`, `tag`, `delete`, `undelete` and `clean`: the runs that are in the store."""

import select
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

import click

from diskprof.cli import completion_candidates
from diskprof.cli.common import (
    echo_json,
    exit_code_of,
    exit_code_of_series,
    open_store,
    print_fleet,
    print_result,
    print_series,
    width_of_stdout,
)
from diskprof.cli.disk_class import class_option
from diskprof.cli.encoding import stdout_is_utf8
from diskprof.cli.following import following
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, RunNotFound, UsageError
from diskprof.model.run import RunSummary, Status
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.reports.formats import FollowFormat
from diskprof.runner import session
from diskprof.runner.session import Session
from diskprof.store import Item, ItemKind, Store

_PATIENCE_S = 30.0
_UNCUT = 1 << 20
_MOST = 2**63 - 1
"""What SQLite can count to."""


@click.command("runs", short_help="List saved runs.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.option("--limit", "-n", type=click.IntRange(1), help="Show only the N newest.")
@click.option("--trash", is_flag=True, help="List deleted runs (kept for a week).")
@click.pass_context
def runs_command(ctx: click.Context, as_json: bool, limit: int | None, trash: bool) -> None:
    """List the runs that were kept, newest first. A series or a fleet run is one row (`show` lists its runs); --json has
    every run."""
    most = None if limit is None else min(limit, _MOST)
    with open_store(ctx) as store:
        rows = not trash and not as_json
        series = {each.id: each for each in store.series_list()} if rows else {}
        fleets = {each.id: each for each in store.fleet_runs()} if rows else {}
        # A row of the list may be many runs.
        summaries = store.trash()[:most] if trash else store.summaries(limit=None if series or fleets else most)
    if series or fleets:
        from diskprof.reports.content.series_rows import folded

        summaries = folded(summaries, series, fleets)[:most]
    if as_json:
        from diskprof.reports.data.json_runs import summaries_json

        echo_json(summaries_json(summaries))
        return
    if not summaries and trash:
        say("The trash is empty.")
        return
    if not summaries:
        say("No runs yet. `diskprof run quick DIRECTORY` makes one.")
        return
    from diskprof.reports.render.text import runs_table

    # Elsewhere than on a terminal nothing is cut: it is searched.
    width = width_of_stdout() if sys.stdout.isatty() else _UNCUT
    click.echo(runs_table(summaries, width), nl=False)


@click.command("show", short_help="Show the result of a run.")
@click.argument("run", default="latest", shell_complete=completion_candidates.runs)
@click.option("--json", "as_json", is_flag=True, help="Print the run as JSON.")
@click.option("--plot", is_flag=True, help="Plot IOPS, bandwidth and latency over time.")
@class_option
@click.pass_context
def show_command(ctx: click.Context, run: str, as_json: bool, plot: bool, disk_class: str) -> None:
    """Show the result of RUN, a series or a fleet run: an id or the beginning of one, a tag, `latest` or `latest~N`."""
    if plot and as_json:
        raise click.UsageError("--plot and --json exclude each other.", ctx)
    with open_store(ctx) as store:
        found = store.resolve_item(run)
        several = {ItemKind.SERIES: print_series, ItemKind.FLEET: print_fleet}.get(found.kind)
        if several and disk_class:
            raise UsageError("--class is of one run.", f"Give one of: {', '.join(store.runs_named(found.id))}.")
        if several and not plot:
            several(store, found.id, as_json)
            return
        if several:
            raise UsageError("--plot is of one run.", f"Give one of: {', '.join(store.runs_named(found.id))}.")
        run_id = found.id
        print_result(store, run_id, as_json, disk_class)
        if plot:
            from diskprof.reports.render.plotext_plot import run_plots

            samples = store.samples(run_id, histograms=False).samples
            width = width_of_stdout()
            drawn = run_plots(
                store.run(run_id), samples, width, colour=sys.stdout.isatty(), ascii_only=not stdout_is_utf8()
            )
            click.echo(drawn, nl=False)


@click.command("attach", short_help="Watch a run in progress.")
@click.argument("run", required=False, shell_complete=completion_candidates.running)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON at the end.")
@click.option(
    "--follow",
    type=click.Choice([str(form) for form in FollowFormat]),
    help="Print a line for each interval from now on, instead of the result.",
)
@click.pass_context
def attach_command(ctx: click.Context, run: str | None, as_json: bool, follow: str | None) -> None:
    """Watch RUN or a series (default: the one that is running) to its end and print its result.

    Ctrl+C detaches; the run continues.
    """
    import asyncio

    from diskprof.cli.watching import CALM_PERIOD_S, PERIOD_S, watch, watch_series

    if follow and as_json:
        raise click.UsageError("--follow and --json exclude each other.", ctx)
    wanted = FollowFormat(follow) if follow else None
    with open_store(ctx) as store:
        found = _running(store, run)
        if found.is_fleet:
            if wanted:
                raise UsageError("--follow is of one run.", f"Give one of: {', '.join(store.runs_named(found.id))}.")
            from diskprof.cli.fleet_running import watch_to_the_end

            ctx.exit(watch_to_the_end(store, found.id, as_json, stoppable=False))
        with following(store.path, found, wanted, from_now=True):
            watching = watch_series if found.is_series else watch
            asyncio.run(watching(store.path, found.id, CALM_PERIOD_S if wanted else PERIOD_S))
        if found.is_series:
            if wanted is None:
                print_series(store, found.id, as_json)
            ctx.exit(exit_code_of_series(store, found.id))
        if wanted is None:
            print_result(store, found.id, as_json)
        ctx.exit(exit_code_of(store.run(found.id)))


@click.command("stop", short_help="Stop a run in progress.")
@click.argument("run", required=False, shell_complete=completion_candidates.running)
@click.pass_context
def stop_command(ctx: click.Context, run: str | None) -> None:
    """Stop RUN or a series (default: the one that is running). What it measured is kept; it counts as cancelled.

    To stop a run of a series stops the series; its complete runs are kept.
    """
    with open_store(ctx) as store:
        found = _running(store, run)
        if found.is_fleet:
            from diskprof.fleet.detached import stop_fleet

            stop_fleet(store, found.id)
        else:
            Session().request_stop(store, found.id)
        _wait_for_end(store, found)
        kept = ""
        if found.is_series:
            complete = sum(each.status is Status.COMPLETE for each in store.series_runs(found.id))
            kept = f" {complete} complete run{' is' if complete == 1 else 's are'} kept."
        say(f"Stopped {found.id}.{kept}")


def _wait_for_end(store: Store, item: Item) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    run_id = item.id
    while not _status_of(store, item).over:
        if time.monotonic() > deadline:
            raise DiskprofError(
                f"Run {run_id} did not stop within {_PATIENCE_S:.0f} s.",
                "Its engine may be stuck in the kernel; check with `diskprof attach`.",
            )
        select.select([], [], [], 0.05)
        store.reap()


def _status_of(store: Store, item: Item) -> Status:
    match item.kind:
        case ItemKind.SERIES:
            return store.series(item.id).status
        case ItemKind.FLEET:
            return store.fleet_run(item.id).status
        case ItemKind.RUN:
            return store.run(item.id).status


def _running(store: Store, name: str | None) -> Item:
    """The run or series called `name`, or the only one under way. Raises RunNotFound."""
    if name is not None:
        return store.resolve_item(name)
    series = [each.id for each in store.series_list() if each.status is Status.RUNNING]
    fleets = [each.id for each in store.fleet_runs() if each.status is Status.RUNNING]
    groups = [*series, *fleets]
    runs = [each.id for each in store.running() if not _is_of(each, groups)]
    running = [
        *(Item(each, ItemKind.SERIES) for each in series),
        *(Item(each, ItemKind.FLEET) for each in fleets),
        *(Item(each) for each in runs),
    ]
    if len(running) == 1:
        return running[0]
    if running:
        raise RunNotFound(
            f"{len(running)} runs in progress: {', '.join(each.id for each in running)}.", "Give the run."
        )
    raise RunNotFound("No run in progress.", "`diskprof runs` lists the saved runs.")


def _is_of(run: RunSummary, groups: Sequence[str]) -> bool:
    """Whether a run is one of a series or of a fleet run."""
    own = (run.series.series_id if run.series else "", run.fleet.fleet_id if run.fleet else "")
    return any(group in groups for group in own)


@click.command("tag", short_help="Set tags or the note of a run.")
@click.argument("run", shell_complete=completion_candidates.runs)
@click.argument("tags", nargs=-1, shell_complete=completion_candidates.tags)
@click.option("--remove", "removed", multiple=True, metavar="TAG", help="Remove a tag.")
@click.option("--note", help="Set the note.")
@click.pass_context
def tag_command(
    ctx: click.Context, run: str, tags: tuple[str, ...], removed: tuple[str, ...], note: str | None
) -> None:
    """Add TAGS to RUN and print its tags; without TAGS print them. A tag names the newest run that has it.

    Those of a series are those of all its runs.
    """
    with open_store(ctx) as store:
        ids = store.runs_named(run)
        for run_id in ids:
            kept = [tag for tag in store.run(run_id).tags if tag not in removed]
            if tags or removed:
                store.set_tags(run_id, tuple(dict.fromkeys([*kept, *tags])))
            if note is not None:
                store.set_note(run_id, note)
        if now := store.run(ids[-1]).tags:
            click.echo(clean(" ".join(now)))
        else:
            say(f"{'Run' if len(ids) == 1 else 'Series'} {store.resolve_item(run).id} has no tags.")


@click.command("delete", short_help="Delete runs (can be restored for a week).")
@click.argument("runs", nargs=-1, shell_complete=completion_candidates.runs)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--purge", is_flag=True, help="Delete permanently; without RUNS, empty the trash.")
@click.pass_context
def delete_command(ctx: click.Context, runs: tuple[str, ...], yes: bool, purge: bool) -> None:
    """Delete RUNS: they go to the trash, which empties after a week. A run in progress is not deleted, nor a run
    of a series in progress.

    `diskprof undelete` restores them, `diskprof runs --trash` lists them.
    """
    if not runs and not purge:
        raise click.UsageError("Missing argument 'RUNS...'.", ctx)
    with open_store(ctx) as store:
        named = _to_delete(store, runs, purge=purge)
        ids = list(dict.fromkeys(run_id for each in named.values() for run_id in each))
        if not ids:
            say("The trash is empty.")
            return
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("No terminal to confirm on.", "Add --yes.")
            click.confirm(f"Delete {', '.join(named)}{' for good' if purge else ''}?", abort=True, err=True)
        gone, errors = session.purge(store, ids) if purge else session.delete(store, ids)
        store.empty_trash()
    said = ", ".join(named if len(gone) == len(ids) else gone)
    if gone and purge:
        say(f"Deleted {said} for good.")
    elif gone:
        say(f"Deleted {said}. Undo: diskprof undelete")
    if errors:
        raise errors[0]


def _to_delete(store: Store, names: Sequence[str], *, purge: bool) -> dict[str, list[str]]:
    """The ids of the runs of these names, by what each is called; where they are purged some may be in the trash, and all of it
    without names."""
    if not names:
        return {summary.id: [summary.id] for summary in store.trash()}
    found = {}
    for name in names:
        ids = _to_purge(store, name) if purge else store.runs_named(name)
        item = Item(ids[0])
        with suppress(RunNotFound):
            item = store.resolve_item(name)
        if item.is_series:
            store.refuse_series_under_way(item.id)
        found[f"{item.id} (series, {len(ids)} runs)" if item.is_series else item.id] = ids
    return found


def _to_purge(store: Store, name: str) -> list[str]:
    try:
        return store.runs_named(name)
    except RunNotFound as error:
        try:
            return store.runs_named(name, trash=True)
        except RunNotFound:
            raise error from None


@click.command("undelete", short_help="Restore deleted runs.")
@click.argument("runs", nargs=-1, shell_complete=completion_candidates.in_trash)
@click.pass_context
def undelete_command(ctx: click.Context, runs: tuple[str, ...]) -> None:
    """Restore RUNS from the trash; without RUNS those deleted last. `diskprof runs --trash` lists what is in it."""
    with open_store(ctx) as store:
        ids = [each for run in runs for each in store.runs_named(run, trash=True)] or list(store.last_discarded())
        for run_id in ids:
            store.restore(run_id)
    say(f"Restored {', '.join(ids)}." if ids else "The trash is empty.")


@click.command("clean", short_help="Remove leftover test files.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completion_candidates.directories)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def clean_command(ctx: click.Context, paths: tuple[str, ...], yes: bool) -> None:
    """Remove leftover test files of runs: they were killed, the power failed, or they could not remove them.

    They are found by the runs that are stored, and by their names in each directory PATH and in those where runs worked
    before. Nothing is removed unasked, nor while a run may use it.
    """
    from diskprof.runner.leftovers import left_alone, leftovers, remove

    with open_store(ctx) as store:
        for line in left_alone(paths):
            say(line)
        found = list(leftovers(store, (*paths, *store.targets())))
        if not found:
            say("No leftover test files.")
            return
        for leftover in found:
            click.echo(f"{clean(leftover.directory)}  {format_size(leftover.size_bytes)}  {leftover.origin}")
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("No terminal to confirm on.", "Add --yes.")
            click.confirm("Remove them?", abort=True, err=True)
        for leftover in found:
            remove(store, leftover)
        say(f"Removed {len(found)}.")
