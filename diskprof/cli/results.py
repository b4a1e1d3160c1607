"""The result of a run, printed."""

from typing import TYPE_CHECKING

import click

from diskprof.cli.common import echo_json, width_of_stdout
from diskprof.cli.encoding import stdout_is_utf8
from diskprof.model.run import Run
from diskprof.store import Store

if TYPE_CHECKING:
    from diskprof.analysis.kernel import KernelView


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


def seen_by_kernel(store: Store, run: Run) -> "dict[int, KernelView]":
    """What the kernel saw of each test of a run, out of some hundred columns of each."""
    from diskprof.analysis.kernel import seen_by_test

    found: dict[int, KernelView] = {}
    for test in run.tests:
        samples, system = store.course(run.id, test.index).samples, store.system_course(run.id, test.index).samples
        found |= seen_by_test(samples, system)
    return found
