"""`diskprof fleet`: what is left to do with runs on several hosts."""

import click

from diskprof.cli import completion_candidates
from diskprof.cli.common import open_store
from diskprof.cli.fleet_running import program_of
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, ExitCode, UsageError
from diskprof.model.text import clean


@click.group("fleet", short_help="Bring runs of hosts that were lost.")
def fleet_command() -> None:
    """Runs on several hosts: `diskprof run PRESET HOST:TARGET ...` starts them (docs/fleet.md)."""


@fleet_command.command("fetch", short_help="Bring the runs of hosts that were lost.")
@click.argument("fleet", required=False, shell_complete=completion_candidates.runs)
@click.pass_context
def fetch_command(ctx: click.Context, fleet: str | None) -> None:
    """Bring here what is lost of FLEET, or of every fleet run: its coordinator was killed, or a host was away until the end.

    The runs went on there by themselves. One that is still in progress is left to its end: fetch again later.

    \b
    Examples:
      diskprof fleet fetch
      diskprof fleet fetch k3f7p2qa
    """
    from diskprof.fleet.follow.fetching import fetch, lost_members
    from diskprof.model.run import Status

    with open_store(ctx) as store:
        if fleet is None:
            ids = [each.id for each in store.fleet_runs() if each.status.over and lost_members(each)]
        else:
            found = store.resolve_item(fleet)
            if not found.is_fleet:
                raise UsageError(f"{found.id} is no fleet run.", "`diskprof runs` lists them.")
            ids = [found.id]
        results = [each for fleet_id in ids for each in fetch(store, fleet_id, program_of)]
        if not results:
            say("Nothing is lost.")
        missing = list[DiskprofError]()
        for each in results:
            if each.error:
                missing.append(each.error)
                say(f"{clean(each.label)}: {each.error}")
            elif each.status is Status.RUNNING:
                say(f"{clean(each.label)}: still in progress. Fetch it later.")
            else:
                say(f"{clean(each.label)}: fetched, {each.status}.")
        for fleet_id in ids:
            click.echo(fleet_id)
    ctx.exit(int(missing[0].exit_code) if missing else ExitCode.OK)
