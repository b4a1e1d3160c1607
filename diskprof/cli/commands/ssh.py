"""`diskprof ssh [USER@]HOST [ARGS]`: diskprof on another host, sent there if need be."""

import sys
from pathlib import Path

import click

from diskprof.cli.common import NamedFile
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError


@click.command(
    "ssh",
    short_help="Run diskprof on another host that has fio alone.",
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--program",
    type=NamedFile(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Send this zipapp (.pyz) or bundle (.tar.gz).",
)
@click.option("--leave-nothing", is_flag=True, help="Remove what was sent at the end; the run database there stays.")
@click.option("--log-out", is_flag=True, help="Close the connection at the end, not 60 s later.")
@click.argument("host", metavar="[USER@]HOST")
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def ssh_command(
    ctx: click.Context, program: Path | None, leave_nothing: bool, log_out: bool, host: str, arguments: tuple[str, ...]
) -> None:
    """Run `diskprof ARGS` on HOST; without ARGS its screen opens. Options of ssh itself belong in ~/.ssh/config.

    The host needs fio, and neither Python nor diskprof: what fits is sent over the same connection, once, and kept in
    ~/.cache/diskprof there. The exit code is that of diskprof on the host; runs stay in the run database there. The connection
    stays open for 60 s, so that the next call need not log in again.

    \b
    Examples:
      diskprof ssh db1
      diskprof ssh root@db1 run quick /mnt/data --tag before
      diskprof ssh --leave-nothing db1 doctor
    """
    from diskprof.fleet.hosts.connection import SSH_FAILED, shared_connection
    from diskprof.fleet.hosts.programs import named_program
    from diskprof.fleet.hosts.remote_program import forget, prepared

    given = named_program(program) if program else None
    with shared_connection(host, persist=not (leave_nothing or log_out)) as connection:
        remote = prepared(connection, say, given)
        terminal = sys.stdin.isatty() and sys.stdout.isatty()
        code = connection.run_in_terminal(remote.words(arguments), terminal=terminal)
        if code == SSH_FAILED:
            raise DiskprofError(
                f"The connection to {host} was lost.", f"A run there continues: diskprof ssh {host} attach"
            )
        if leave_nothing and not forget(connection, remote):
            say(f"diskprof stays on {host} in {remote.sent}, for a run there still needs it.")
    ctx.exit(code)
