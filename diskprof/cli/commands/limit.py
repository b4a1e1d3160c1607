"""`diskprof limit TARGET --keep PROMISE`: the highest load that keeps what is promised of a latency; `diskprof map TARGET`: the
latency of reads beside writes."""

from typing import TYPE_CHECKING

import click

from diskprof.cli import completion_candidates
from diskprof.cli.common import not_empty
from diskprof.cli.planning import Request, limit_plan_of, plan_of
from diskprof.cli.preset_options import quick_option, settings_option, variant_option
from diskprof.cli.run_options import start_options
from diskprof.cli.starting import Start, carry_out, company_of
from diskprof.model.limit import CURVE_POINTS, LimitBy
from diskprof.runner.session import Session

if TYPE_CHECKING:
    from diskprof.model.plan import Plan


@click.command("limit", short_help="Find the highest load that keeps a latency.")
@click.argument("target", shell_complete=completion_candidates.targets)
@click.option(
    "--keep",
    "promises",
    multiple=True,
    required=True,
    metavar="PROMISE",
    help="Latency to keep: 'read.p99<=5ms', 'write.p99.9<=20ms', 'read.mean<1ms' (repeatable: all at once).",
)
@click.option(
    "--load",
    default="limit",
    metavar="PRESET[:TEST]",
    callback=not_empty,
    help="The test whose load is raised.  [default: 4k random reads; others: --set rw=randwrite, --set bs=16k]",
    shell_complete=completion_candidates.presets_and_files,
)
@click.option(
    "--by",
    type=click.Choice([str(by) for by in LimitBy]),
    default=None,
    help="What is raised: I/Os a second, or the queue depth.  [default: rate]",
)
@click.option("--depth", type=int, default=None, help="Most I/Os in flight (2 to 256).  [default: 64]")
@click.option(
    "--curve", is_flag=True, help="Then measure the latency at 10 loads up to 110% of the highest: 50 s more."
)
@settings_option
@start_options
@click.pass_context
def limit_command(
    ctx: click.Context,
    target: str,
    promises: tuple[str, ...],
    load: str,
    by: str | None,
    depth: int | None,
    curve: bool,
    settings: tuple[str, ...],
    tags: tuple[str, ...],
    note: str,
    dry_run: bool,
    as_json: bool,
    detach: bool,
    yes: bool,
    allow_write: bool,
    confirm: tuple[str, ...],
    overwrite: tuple[str, ...],
    wait: bool,
    concurrent: bool,
) -> None:
    """Find the most I/Os a second at which TARGET keeps a latency, in at most 12 trials and 90 s.

    The result is two loads: the highest that kept it, and the lowest that did not. The run is kept like any other: `show`,
    `compare`, `report`, `rerun`, `history` work on it (docs/limits.md).

    Exit codes: 0 measured, also where nothing kept it; 1 failed.

    \b
    Examples:
      diskprof limit /mnt/data --keep 'read.p99<=5ms'
      diskprof limit /mnt/data --keep 'read.p99<=2ms' --keep 'read.p99.9<=10ms' --set size=256m
      diskprof limit /mnt/data --keep 'write.p99<=10ms' --load oltp-70-30
      diskprof limit /dev/sdb --keep 'read.p99<=20ms' --by depth
      diskprof limit /mnt/data --keep 'read.p99<=5ms' --curve
    """
    request = Request(load, target, settings, allow_write=allow_write, overwrite=overwrite, confirm=confirm)
    start = Start(tags, note, dry_run, as_json, None, detach, yes, confirm, company_of(ctx, wait, concurrent))
    session = Session(ctx.find_root().obj)

    def make() -> "Plan":
        return limit_plan_of(session, request, promises, by, depth, CURVE_POINTS if curve else None)

    carry_out(ctx, session, make, start)


@click.command("map", short_help="Map read latency over reads and writes done together.")
@click.argument("target", shell_complete=completion_candidates.targets)
@settings_option
@variant_option
@quick_option
@start_options
@click.pass_context
def map_command(
    ctx: click.Context,
    target: str,
    settings: tuple[str, ...],
    variant: str,
    tags: tuple[str, ...],
    note: str,
    dry_run: bool,
    as_json: bool,
    detach: bool,
    yes: bool,
    allow_write: bool,
    confirm: tuple[str, ...],
    overwrite: tuple[str, ...],
    wait: bool,
    concurrent: bool,
) -> None:
    """Map which reads and writes TARGET does together, and the latency of the reads, in at most 6 minutes.

    It runs the preset read-write-map: 8 read rates, each beside none and 8 rates of writes, 3 s each. Loads beyond one that is
    not reached are skipped. `rerun` of a map that was stopped or killed measures the cells that are missing (docs/limits.md).

    \b
    Examples:
      diskprof map /mnt/data
      diskprof map /mnt/data --set write_rw=randwrite --set write_bs=16k
      diskprof map /mnt/data --quick
    """
    request = Request(
        *("read-write-map", target, settings),
        variant=variant,
        allow_write=allow_write,
        overwrite=overwrite,
        confirm=confirm,
    )
    start = Start(tags, note, dry_run, as_json, None, detach, yes, confirm, company_of(ctx, wait, concurrent))
    session = Session(ctx.find_root().obj)
    carry_out(ctx, session, lambda: plan_of(session, request), start)
