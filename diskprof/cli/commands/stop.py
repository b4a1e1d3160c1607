"""`diskprof stop [RUN]`."""

import select
import time

import click

from diskprof.cli import completing
from diskprof.cli.common import open_store
from diskprof.cli.running import running_run
from diskprof.model.errors import DiskprofError
from diskprof.store import Store

_PATIENCE_S = 15.0


@click.command("stop", short_help="Stop a run that is under way.")
@click.argument("run", required=False, shell_complete=completing.running)
@click.pass_context
def command(ctx: click.Context, run: str | None) -> None:
    """Stop RUN (default: the one that is running). What it measured is kept; it counts as cancelled."""
    from diskprof.runner.detached.launch import request_stop

    with open_store(ctx) as store:
        run_id = running_run(store, run)
        request_stop(store, run_id)
        _wait(store, run_id)
        click.echo(f"Stopped {run_id}.", err=True)


def _wait(store: Store, run_id: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not store.run(run_id).status.over:
        if time.monotonic() > deadline:
            raise DiskprofError(
                f"Run {run_id} has not ended within {_PATIENCE_S:.0f} s.",
                "Its engine may be stuck in the kernel; `diskprof attach` shows where it stands.",
            )
        select.select([], [], [], 0.05)
        store.reap()
