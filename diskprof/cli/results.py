"""The result of a run, printed."""

import click

from diskprof.cli.common import echo_json, width_of_stdout
from diskprof.cli.encoding import stdout_is_utf8
from diskprof.runner.session import seen_by_kernel
from diskprof.store import Store


def print_result(store: Store, run_id: str, as_json: bool) -> None:
    """The run as it stands in the store, on stdout."""
    run = store.run(run_id)
    kernel = seen_by_kernel(store, run)
    if as_json:
        from diskprof.reports.data.json_runs import run_json

        echo_json(run_json(run, kernel))
        return
    from diskprof.reports.render.text import show

    samples = store.samples(run_id).samples
    drawn = show(run, samples, width_of_stdout(), kernel=kernel, ascii_only=not stdout_is_utf8())
    click.echo(drawn, nl=False)
