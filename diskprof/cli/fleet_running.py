"""`diskprof run PRESET HOST:TARGET ...`: the plans of all hosts, their start, their progress, their result."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct
from msgspec.structs import replace

from diskprof.cli.carrying import named
from diskprof.cli.common import echo_json, open_store, print_fleet, width_of_stdout
from diskprof.cli.planning import Request, pairs, preset_of
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, ExitCode, UsageError
from diskprof.model.fleet import FleetEngine, FleetMember, FleetPlan, NewFleet
from diskprof.model.plan import WritePermission
from diskprof.model.run import FleetStage, Status
from diskprof.model.run_series import ONCE, Repetition
from diskprof.model.text import clean
from diskprof.runner.session import Session
from diskprof.store import Store

if TYPE_CHECKING:
    from diskprof.fleet.follow.messages import MakePlan
    from diskprof.fleet.planning import Prospect
    from diskprof.model.preset import Preset

F = TypeVar("F", bound=Callable[..., Any])


class HostOrder(Struct, frozen=True):
    """How many hosts run at once, None: all; and whether those that cannot start are left out.

    `each_disk`: the targets are disks of this machine, each alone first, then all together. `wanted`: how often all of that.
    """

    at_once: int | None = None
    skip_unready: bool = False
    each_disk: bool = False
    engine: FleetEngine = FleetEngine.FIO
    wanted: Repetition = ONCE

    @property
    def stages(self) -> tuple[FleetStage, ...]:
        return tuple(FleetStage) if self.each_disk else (FleetStage.TOGETHER,)


class FleetStart(Struct, frozen=True):
    """How to start, by the options of these names."""

    tags: tuple[str, ...]
    note: str
    dry_run: bool
    as_json: bool
    detach: bool
    yes: bool
    concurrent: bool


def fleet_options(command: F) -> F:
    """The options of `run` that are of several hosts."""
    for option in (
        click.option(
            "--skip-unready", is_flag=True, help="Leave out hosts or disks that cannot start, instead of starting none."
        ),
        click.option(
            "--engine",
            type=click.Choice([str(engine) for engine in FleetEngine]),
            default=str(FleetEngine.FIO),
            help="fio-server: fio's own client starts each test on all hosts at once, over ssh.  [default: fio]",
        ),
        click.option("--at-once", type=click.IntRange(1), metavar="N", help="Run on N hosts at once.  [default: all]"),
        click.option(
            "--one-by-one", is_flag=True, help="Run on one host after the other: they share storage or power."
        ),
        click.option(
            "--each-disk",
            is_flag=True,
            help="Run on each TARGET alone, then on all together; without TARGET on every disk of this machine.",
        ),
    ):
        command = option(command)
    return command


def fleet_order(
    *, one_by_one: bool, at_once: int | None, skip_unready: bool, each_disk: bool, engine: FleetEngine
) -> HostOrder:
    """What those options say. Raises UsageError."""
    if one_by_one and at_once is not None:
        raise click.UsageError("--one-by-one and --at-once exclude each other: choose one.")
    if each_disk and (one_by_one or at_once is not None):
        raise click.UsageError("--each-disk runs one by one and then all at once: omit --one-by-one and --at-once.")
    if engine is FleetEngine.FIO_SERVER and (one_by_one or at_once is not None or each_disk):
        raise click.UsageError(
            "--engine fio-server is one load from all hosts at once: omit --one-by-one, --at-once and --each-disk."
        )
    return HostOrder(1 if one_by_one else at_once, skip_unready, each_disk, engine)


def fleet_repetition(
    repeats: int | None, until: str, at_most: str, pause: str, *, in_order: bool, each_disk: bool
) -> Repetition:
    """How often a fleet run runs, by those options. Raises UsageError."""
    from diskprof.runner.plan.repeats import repetition

    if in_order:
        raise click.UsageError("--in-order is for several targets of one machine in turn: omit it.")
    if each_disk and until:
        raise click.UsageError("--until is not for --each-disk, whose disks run together: use --repeat.")
    return repetition(repeats, until, at_most, pause, in_order=False, targets=1) or ONCE


def disks_to_test(session: Session, targets: Sequence[str]) -> tuple[str, ...]:
    """The targets of `--each-disk`: those given, else one for each disk of this machine. Raises UsageError of fewer than two."""
    from diskprof.devices.targets import each_disk
    from diskprof.fleet.hosts.members import names_hosts

    if names_hosts(targets):
        raise click.UsageError(
            "--each-disk is of the disks of one machine. Of another: diskprof ssh HOST run PRESET --each-disk"
        )
    found = tuple(targets) or each_disk(session.scan())
    if len(found) < 2:
        disks = f"the only disk is {clean(found[0])}" if found else "no disk was found"
        hint = "Name two targets or more: --each-disk /mnt/a /mnt/b" if not targets else "Name another target."
        raise UsageError(f"--each-disk needs two disks; {disks}.", hint)
    if len(set(found)) < len(found):
        raise UsageError("--each-disk: a target is named twice.", "Name each once.")
    return found


def run_fleet(
    ctx: click.Context, session: Session, request: Request, targets: Sequence[str], order: HostOrder, how: FleetStart
) -> ExitCode:
    """Plans on all hosts, asks, starts, and watches to the end; returns how the command ends."""
    from diskprof.fleet.hosts.members import members_of

    preset = preset_of(request)
    members = tuple(FleetMember(None, target) for target in targets) if order.each_disk else members_of(targets)
    with open_store(ctx) as store:
        prospects = _planned(members, preset, request, how, store)
        new = NewFleet(preset.name, preset.title, members, order.at_once, order.wanted, order.engine)
        return _carry_out(store, new, prospects, order, how, request.confirm)


def rerun_fleet(
    session: Session,
    store: Store,
    fleet_id: str,
    permission: WritePermission,
    confirm: Sequence[str],
    how: FleetStart,
    *,
    skip_unready: bool,
) -> ExitCode:
    """As `run_fleet`, what a fleet run did: same hosts, targets, preset, settings, order and repeats."""
    import asyncio

    from diskprof.fleet.planned_again import fleet_record, plan_fleet_again

    record = fleet_record(store, fleet_id)
    fleet = record.fleet
    prospects = asyncio.run(
        plan_fleet_again(
            *(record, session.load_library(), program_of, permission, str(store.path)), concurrent=how.concurrent
        )
    )
    order = HostOrder(fleet.at_once, skip_unready, record.each_disk, fleet.engine, fleet.wanted)
    return _carry_out(store, record.new, prospects, order, how, confirm)


def _carry_out(
    store: Store,
    new: NewFleet,
    prospects: list["Prospect"],
    order: HostOrder,
    how: FleetStart,
    confirm: Sequence[str],
) -> ExitCode:
    from diskprof.fleet.detached import start_coordinator
    from diskprof.fleet.order import FleetOrder
    from diskprof.fleet.planning import member_plans, refusal_of, served
    from diskprof.runner.plan.repeats import plan_fleet

    if order.engine is FleetEngine.FIO_SERVER:
        prospects = served(prospects)
    refusal = refusal_of(prospects)
    ready = [prospect for prospect in prospects if not prospect.error]
    plans = [prospect.plan for prospect in ready if prospect.plan]
    planned = plan_fleet(plans, order.wanted, order.at_once, order.stages) if plans else None
    noun = "disk" if order.each_disk else "host"
    if how.dry_run:
        _print_plans(prospects, planned, noun, how.as_json)
        if refusal:
            raise refusal
        return ExitCode.OK
    if refusal and (not order.skip_unready or not ready):
        raise refusal
    asking = sys.stdin.isatty() and sys.stderr.isatty()
    raw = any(prospect.plan and prospect.plan.raw_devices for prospect in ready)
    assert planned
    if asking or refusal:
        _show(prospects, planned, noun)
    prospects = [_named(prospect, confirm, asking=asking) for prospect in prospects]
    if asking and not how.yes and not raw:
        click.confirm(f"Start on {len(ready)} targets?", default=True, abort=True, err=True)
    fleet_id = start_coordinator(
        FleetOrder(
            *(replace(new, wanted=planned.wanted), member_plans(prospects), str(store.path)),
            tags=how.tags,
            note=how.note,
            concurrent=how.concurrent,
            skip_unready=order.skip_unready,
            stages=order.stages,
        )
    )
    if how.detach:
        if how.as_json:
            echo_json({"id": fleet_id})
        else:
            click.echo(fleet_id)
            say(f"Running in the background. Watch it: diskprof attach {fleet_id}")
        return ExitCode.OK
    return watch_to_the_end(store, fleet_id, how.as_json, stoppable=True)


def watch_to_the_end(store: Store, fleet_id: str, as_json: bool, *, stoppable: bool) -> ExitCode:
    """Watches a fleet run and prints its result; where `stoppable`, Ctrl+C stops it, else it detaches."""
    import asyncio

    from diskprof.cli.fleet_watching import watch_fleet
    from diskprof.fleet.detached import stop_fleet

    def stop() -> None:
        say("Stopping all hosts; what they measured is kept. Ctrl+C again leaves them to the coordinator.")
        stop_fleet(store, fleet_id)

    asyncio.run(watch_fleet(store.path, fleet_id, stop if stoppable else None))
    print_fleet(store, fleet_id, as_json)
    fleet = store.fleet_run(fleet_id)
    if fleet.status is Status.INTERRUPTED:
        say(f"The coordinator exited. To bring the runs of the hosts here: diskprof fleet fetch {fleet_id}")
    return exit_code_of_fleet(store, fleet_id)


def exit_code_of_fleet(store: Store, fleet_id: str) -> ExitCode:
    """How a command ends that saw this fleet run to its end: of its runs the first that was not as expected counts."""
    from diskprof.cli.common import exit_code_of

    status = store.fleet_run(fleet_id).status
    if status is not Status.COMPLETE:
        return ExitCode.INTERRUPTED if status is Status.CANCELLED else ExitCode.FAILED
    codes = (exit_code_of(store.run(run.id)) for run in store.runs_of_fleet(fleet_id))
    return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)


def program_of(member: FleetMember) -> tuple[str, ...]:
    """The words that start diskprof where a member is; it is sent there if need be. Raises DiskprofError."""
    from diskprof.fleet.hosts.remote_program import program_of_member

    return program_of_member(member, say)


def _planned(
    members: Sequence[FleetMember], preset: "Preset", request: Request, how: FleetStart, store: Store
) -> list["Prospect"]:
    import asyncio

    from diskprof.analysis.expectations import asked_expectation
    from diskprof.fleet.follow.messages import MakePlan
    from diskprof.fleet.planning import plan_members
    from diskprof.presets.disk_classes import disk_class
    from diskprof.presets.resolve import settings_of

    given = pairs(request.settings, "--set", "--set size=256m --set runtime=5")
    settings = tuple(settings_of(preset, request.variant, given).items())
    expectations = tuple(asked_expectation(text) for text in request.expectations)
    permission = WritePermission(request.allow_write, tuple(request.overwrite))
    named = disk_class(request.disk_class).name if request.disk_class else ""

    def wanted(member: FleetMember) -> "MakePlan":
        return MakePlan(
            preset, member.target, settings, expectations, permission, concurrent=how.concurrent, disk_class=named
        )

    return asyncio.run(plan_members(members, program_of, wanted, str(store.path)))


def _named(prospect: "Prospect", confirm: Sequence[str], *, asking: bool) -> "Prospect":
    """With its raw devices named: HOST:NAME on a host, so that no name stands for the disks of several."""
    plan, host = prospect.plan, prospect.member.host
    if plan is None or prospect.error or not plan.raw_devices:
        return prospect
    own = confirm
    if host is not None:
        own = [word.removeprefix(f"{host}:") for word in confirm if word.startswith(f"{host}:")]
        if asking and not own:
            say(f"{clean(host)}:")
    try:
        return replace(prospect, plan=named(plan, own, asking=asking))
    except DiskprofError as error:
        where = f" Name it with its host: --confirm-device {clean(host)}:NAME" if host else ""
        raise type(error)(f"{clean(prospect.member.label)}: {error.message}", f"Nothing was started.{where}") from None


def _show(prospects: Sequence["Prospect"], planned: FleetPlan, noun: str) -> None:
    """What each host would do, and all together, on stderr."""
    from diskprof.reports.content.fleet.fleet_plan import fleet_plan_sentence
    from diskprof.reports.content.plan_report import hazard_notes, plan_sentence

    for prospect in prospects:
        label = clean(prospect.member.label)
        if prospect.plan is None or prospect.error:
            say(f"{label}: left out: {prospect.error.message if prospect.error else ''}")
            continue
        say(f"{label}: {plan_sentence(prospect.plan)}")
        for note in hazard_notes(prospect.plan):
            say(f"{label}: {note.word}: {note.text} {note.advice}".rstrip())
    say(fleet_plan_sentence(planned, noun))


def _print_plans(prospects: Sequence["Prospect"], planned: FleetPlan | None, noun: str, as_json: bool) -> None:
    if as_json:
        from diskprof.reports.data.json_fleet import fleet_plan_json
        from diskprof.reports.data.json_runs import plan_json

        echo_json(
            {
                **(fleet_plan_json(planned) if planned else {}),
                "members": [
                    {
                        "host": prospect.member.host,
                        "target": prospect.member.target,
                        "error": str(prospect.error) if prospect.error else None,
                        "plan": plan_json(prospect.plan) if prospect.plan else None,
                    }
                    for prospect in prospects
                ],
            }
        )
        return
    from diskprof.reports.content.fleet.fleet_plan import fleet_plan_sentence
    from diskprof.reports.render.text import plan_text

    if planned:
        click.echo(f"{fleet_plan_sentence(planned, noun)}\n")
    for prospect in prospects:
        click.echo(f"{clean(prospect.member.label)}\n")
        if prospect.plan:
            click.echo(plan_text(prospect.plan, width_of_stdout()))
