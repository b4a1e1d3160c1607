"""`diskprof run PRESET TARGET`, `diskprof rerun RUN`, and `diskprof what-limits TARGET`."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from msgspec.structs import replace

from diskprof.cli import completion_candidates
from diskprof.cli.carrying import named, run_here
from diskprof.cli.common import (
    not_empty,
    open_store,
    print_caps,
)
from diskprof.cli.disk_class import class_option
from diskprof.cli.fleet_running import (
    FleetStart,
    HostOrder,
    disks_to_test,
    fleet_options,
    fleet_order,
    fleet_repetition,
    rerun_fleet,
    run_fleet,
)
from diskprof.cli.planning import Request, plan_in_turn, plan_of
from diskprof.cli.preset_options import quick_option, settings_option, variant_option
from diskprof.cli.run_options import (
    allow_write_option,
    concurrent_option,
    confirm_device_option,
    detach_option,
    dry_run_option,
    json_option,
    note_option,
    overwrite_option,
    tag_option,
    wait_option,
    yes_option,
)
from diskprof.cli.saying import say
from diskprof.cli.starting import Start, carry_out, carry_out_series, company_of
from diskprof.model.errors import DiskprofError
from diskprof.model.fleet import FleetEngine
from diskprof.model.plan import Plan, WritePermission
from diskprof.model.run import Run
from diskprof.model.target import TargetKind
from diskprof.reports.formats import FollowFormat
from diskprof.runner.session import Company, Session


@click.command("run", short_help="Run a preset on a directory, a file or a device.")
@click.argument("preset", shell_complete=completion_candidates.presets_and_files)
@click.argument("targets", nargs=-1, metavar="[TARGET]...", shell_complete=completion_candidates.targets)
@settings_option
@click.option(
    "--steady",
    default="",
    metavar="FIGURE",
    help="Go on until a figure is steady: read.iops, or 'read.iops windows=5 window=10s range=20% slope=10% at_most=30m'.",
    shell_complete=completion_candidates.steady_figures,
)
@variant_option
@quick_option
@click.option(
    "--target", "slots", multiple=True, metavar="SLOT=PATH", help="Target by name, for presets with several targets."
)
@click.option(
    "--expect",
    "expectations",
    multiple=True,
    metavar="EXPRESSION",
    help="Fail (exit 5) unless the condition holds: 'rand-r.read.iops>=5000', or 'read.iops>=5000' with one test; or unless"
    " the tests do what a class of disks does at the least: aws-gp3.",
)
@class_option
@tag_option
@note_option
@dry_run_option
@json_option
@click.option(
    "--follow",
    type=click.Choice([str(form) for form in FollowFormat]),
    help="Print a line for each interval during the run, instead of the result.",
)
@click.option("--nagios", is_flag=True, help="Print one line and exit 0 to 3 like a Nagios plugin.")
@detach_option
@yes_option
@allow_write_option
@confirm_device_option
@overwrite_option
@click.option(
    "--repeat", "repeats", type=int, metavar="N", help="Run N times, as a series; with several targets N times each."
)
@click.option(
    "--until",
    metavar="PERCENT",
    callback=not_empty,
    help="Repeat until the 95% interval of every headline figure is within PERCENT of its median: 3%.",
)
@click.option(
    "--at-most",
    metavar="DURATION",
    callback=not_empty,
    help="Start no repeat that would end later.  [default with --until: 10 repeats, at least 20m]",
)
@click.option("--pause", metavar="DURATION", callback=not_empty, help="Pause between two runs of a series.")
@click.option(
    "--in-order", is_flag=True, help="All repeats of the first target first. By default targets alternate: A B B A."
)
@wait_option
@concurrent_option
@fleet_options
@click.pass_context
def run_command(
    ctx: click.Context,
    preset: str,
    targets: tuple[str, ...],
    settings: tuple[str, ...],
    steady: str,
    variant: str,
    slots: tuple[str, ...],
    expectations: tuple[str, ...],
    disk_class: str,
    tags: tuple[str, ...],
    note: str,
    dry_run: bool,
    as_json: bool,
    follow: str | None,
    nagios: bool,
    detach: bool,
    yes: bool,
    allow_write: bool,
    confirm: tuple[str, ...],
    overwrite: tuple[str, ...],
    repeats: int | None,
    until: str,
    at_most: str,
    pause: str,
    in_order: bool,
    wait: bool,
    concurrent: bool,
    one_by_one: bool,
    at_once: int | None,
    engine: str,
    skip_unready: bool,
    each_disk: bool,
) -> None:
    """Run PRESET on TARGET: a directory (for a temporary test file), a file or a block device (both only read).

    A block device is written to only with --allow-write, if nothing uses it, and once it is named: typed, or by --confirm-device.

    PRESET may be the path of a fio job file: what cannot be taken over is said or refused (docs/importing.md).

    Progress goes to stderr, the result to stdout. Ctrl+C stops the run and keeps what was measured.

    With --repeat or --until the runs are a series: one id, one result. Several TARGETs are tested in turn, never at once;
    on several hosts each repeat starts together, and with --until a host ends once its own figures are within.

    A TARGET on another host is [USER@]HOST:TARGET, a file of such lines @FILE: the hosts run at the same time, each its own
    run, and the results are here as one fleet run (docs/fleet.md). HOST:by-serial:SERIAL names a disk by its serial number.
    With --each-disk it is the disks of this machine: what they lose together shows the limit that they share.

    \b
    Examples:
      diskprof run quick /mnt/data
      diskprof run quick . --set size=256m --set runtime=2 --json
      diskprof run fio-randread-qd32 /dev/sda --dry-run
      diskprof run job.fio /mnt/data
      diskprof run quick /mnt/data --expect 'randread-4k-qd32.read.iops>=5000'
      diskprof run quick /mnt/data --repeat 5
      diskprof run quick /mnt/old /mnt/new --until 3% --at-most 30m
      diskprof run quick web1:/srv web2:/srv root@db1:by-serial:S4XY
      diskprof run quick web1:/srv web2:/srv --repeat 3
      diskprof run quick @inventory.yml#web:/srv --at-once 4
      diskprof run fio-randread-qd32 --each-disk
    """
    from diskprof.fleet.hosts.members import names_hosts
    from diskprof.runner.plan.repeats import repetition

    order = fleet_order(
        one_by_one=one_by_one,
        at_once=at_once,
        skip_unready=skip_unready,
        each_disk=each_disk,
        engine=FleetEngine(engine),
    )
    if order.each_disk or names_hosts(targets):
        if nagios or follow or wait or slots:
            raise click.UsageError(
                "--nagios, --follow, --wait and --target are not for --each-disk, nor for several hosts.", ctx
            )
        wanted = fleet_repetition(repeats, until, at_most, pause, in_order=in_order, each_disk=each_disk)
        order = replace(order, wanted=wanted)
        session = Session(ctx.find_root().obj)
        targets = disks_to_test(session, targets) if order.each_disk else targets
        if steady:
            settings = (*settings, f"steady={steady}")
        request = Request(
            preset, None, settings, (), expectations, variant, allow_write, overwrite, confirm, disk_class
        )
        how = FleetStart(tags, note, dry_run, as_json, detach, yes, concurrent)
        ctx.exit(run_fleet(ctx, session, request, targets, order, how))
    if order != HostOrder():
        raise click.UsageError(
            "--engine, --one-by-one, --at-once and --skip-unready are for targets on hosts (HOST:TARGET) and --each-disk.",
            ctx,
        )

    series = repetition(repeats, until, at_most, pause, in_order=in_order, targets=len(targets))
    if nagios and (as_json or follow or detach or dry_run or series):
        raise click.UsageError("--nagios excludes --json, --follow, --detach, --dry-run, --repeat and --until.", ctx)
    if steady:
        settings = (*settings, f"steady={steady}")
    requests = [
        Request(preset, target, settings, slots, expectations, variant, allow_write, overwrite, confirm, disk_class)
        for target in targets or (None,)
    ]
    request = requests[0]
    following_in = _following(ctx, follow, as_json or detach or dry_run)
    company = company_of(ctx, wait, concurrent)
    start = Start(tags, note, dry_run, as_json, following_in, detach, yes, tuple(confirm), company)
    session = Session(ctx.find_root().obj)
    if nagios:
        ctx.exit(_run_as_plugin(ctx, session, request, tags, note, start.company))
    if series:
        carry_out_series(ctx, session, [partial(plan_of, session, each) for each in requests], series, start)
    carry_out(ctx, session, lambda: plan_of(session, request), start)


def _following(ctx: click.Context, follow: str | None, otherwise: bool) -> FollowFormat | None:
    if follow and otherwise:
        raise click.UsageError("--follow excludes --json, --detach and --dry-run.", ctx)
    return FollowFormat(follow) if follow else None


_HOW = (
    *("tags", "note", "dry_run", "as_json", "follow", "detach", "yes"),
    *("allow_write", "confirm", "overwrite", "wait", "concurrent", "skip_unready"),
)
"""The options of `run` that say how to start, which `rerun` has too."""


@click.command(
    "rerun",
    short_help="Run again with the same preset, settings and target.",
    params=[option for option in run_command.params if option.name in _HOW],
)
@click.argument("run", shell_complete=completion_candidates.runs)
@click.pass_context
def rerun_command(ctx: click.Context, /, run: str, **how: Any) -> None:
    """Run RUN again: same preset, settings, targets and expectations, planned anew. Tags and note are not copied.

    A series is repeated as it was: as often, or until the same interval, in the same order; so is a fleet run, on the same
    hosts, each by its own plan. A read/write map that is not complete goes on: cells that it has are not measured again.

    If the preset changed since, the tests that the run recorded are used. A target on another disk than then is refused.

    \b
    Examples:
      diskprof rerun latest --tag after-upgrade
      diskprof rerun k3f7p2qa --dry-run
    """
    company = company_of(ctx, how["wait"], how["concurrent"])
    permission = WritePermission(how["allow_write"], how["overwrite"])
    follow = _following(ctx, how["follow"], how["as_json"] or how["detach"] or how["dry_run"])
    start = Start(
        *(how["tags"], how["note"], how["dry_run"], how["as_json"], follow, how["detach"], how["yes"], how["confirm"]),
        company,
    )
    session = Session(ctx.find_root().obj)
    with open_store(ctx) as store:
        found = store.resolve_item(run)
        if found.is_fleet:
            if follow or company is Company.WAIT:
                raise click.UsageError("--follow and --wait are not for a fleet run.", ctx)
            fleet_start = FleetStart(
                *(start.tags, start.note, start.dry_run, start.as_json, start.detach, start.yes),
                concurrent=company is Company.BESIDE,
            )
            ctx.exit(
                rerun_fleet(
                    *(session, store, found.id, permission, how["confirm"], fleet_start),
                    skip_unready=how["skip_unready"],
                )
            )
        if how["skip_unready"]:
            raise click.UsageError("--skip-unready is for a fleet run.", ctx)
        series = store.series(found.id) if found.is_series else None
        records = session.runs_to_repeat(store, found)

    def make(record: Run) -> Plan:
        plan = session.again(record, permission).plan
        assert plan is not None
        return plan

    if series:
        carry_out_series(ctx, session, [partial(make, record) for record in records], series.wanted, start)
    carry_out(ctx, session, partial(make, records[0]), start)


@click.command(
    "what-limits",
    short_help="Find the caps of IOPS and bandwidth, in three minutes.",
    params=[option for option in run_command.params if option.name in (*_HOW, "settings", "disk_class")],
)
@click.argument("target", shell_complete=completion_candidates.targets)
@click.pass_context
def what_limits_command(
    ctx: click.Context, /, target: str, settings: tuple[str, ...], disk_class: str, **how: Any
) -> None:
    """Tell what limits TARGET: the caps of IOPS and of bandwidth, the block size at which one hands over to the other, the queue
    depth that suffices, for reads and writes, and the vendors' tiers that match.

    It runs the preset what-limits: 40 cells of 3 s. An existing file, and a device without --allow-write, is only read.

    \b
    Examples:
      diskprof what-limits /mnt/data
      diskprof what-limits /dev/sdb --json
    """
    session = Session(ctx.find_root().obj)
    company = company_of(ctx, how["wait"], how["concurrent"])
    follow = _following(ctx, how["follow"], how["as_json"] or how["detach"] or how["dry_run"])
    given = any(setting.startswith("writes=") for setting in settings)
    kind = session.resolve_target(target, session.scan()).kind
    if not given and not how["allow_write"] and kind is not TargetKind.DIRECTORY:
        say("Reads only: an existing file is only read, a device unless --allow-write is given.")
        settings = (*settings, "writes=")
    request = Request(
        "what-limits",
        target,
        settings,
        allow_write=how["allow_write"],
        overwrite=how["overwrite"],
        confirm=how["confirm"],
        disk_class=disk_class,
    )
    start = Start(
        *(how["tags"], how["note"], how["dry_run"], how["as_json"], follow, how["detach"], how["yes"], how["confirm"]),
        company,
    )
    carry_out(ctx, session, lambda: plan_of(session, request), start, print_caps)


def _run_as_plugin(
    ctx: click.Context, session: Session, request: Request, tags: Sequence[str], note: str, company: Company
) -> int:
    """Runs the request and prints the line; returns 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN."""
    from diskprof.analysis.expectations import judge
    from diskprof.reports.data.nagios import PluginStatus, plugin_line, unknown_line

    try:
        plan = plan_in_turn(session, company, request)
        with open_store(ctx) as store:
            run = store.run(run_here(session, named(plan, request.confirm, asking=False), store, tags, note, company))
    except DiskprofError as error:
        click.echo(unknown_line(str(error)))
        return int(PluginStatus.UNKNOWN)
    status, line = plugin_line(run, judge(run))
    click.echo(line)
    return int(status)
