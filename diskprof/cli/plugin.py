"""`diskprof run --nagios`: one line on stdout, and the exit codes of a monitoring plugin, whatever happens."""

from collections.abc import Sequence

import click

from diskprof.cli.common import open_store
from diskprof.cli.permission import named
from diskprof.cli.planning import Request
from diskprof.cli.queueing import Company, plan_in
from diskprof.model.errors import DiskprofError


def run_as_plugin(ctx: click.Context, request: Request, tags: Sequence[str], note: str, company: Company) -> int:
    """Runs the request and prints the line; returns 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN."""
    from diskprof.analysis.expectations import judge
    from diskprof.cli.commands.run import run_here
    from diskprof.reports.data.nagios import PluginStatus, plugin_line, unknown_line

    try:
        plan = plan_in(company, request, ctx)
        with open_store(ctx) as store:
            run = store.run(run_here(named(plan, request.confirm, asking=False), store, tags, note, company))
    except DiskprofError as error:
        click.echo(unknown_line(str(error)))
        return int(PluginStatus.UNKNOWN)
    status, line = plugin_line(run, judge(run))
    click.echo(line)
    return int(status)
