"""The plans of all members, each made by its own host, before anything starts."""

import asyncio
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.engines.tools import find_tool
from diskprof.fleet.follow.link import Link, agent_argv
from diskprof.fleet.follow.messages import MakePlan
from diskprof.fleet.order import MemberPlan
from diskprof.fleet.served.client import as_served
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.fleet import FleetMember, HostClock
from diskprof.model.plan import Plan, Severity
from diskprof.model.preset import EngineName
from diskprof.model.text import clean
from diskprof.runner.plan.planner import refuse_if_blocked

_AT_ONCE = 32
"""So many hosts are asked at the same time."""


class Prospect(Struct, frozen=True):
    """What a member would do, or why it does not. `error` stands beside a plan that something blocks."""

    member: FleetMember
    program: tuple[str, ...]
    plan: Plan | None = None
    clock: HostClock | None = None
    error: DiskprofError | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        hazards = self.plan.hazards if self.plan else ()
        return tuple(hazard.message for hazard in hazards if hazard.severity is Severity.WARNS)


async def plan_members(
    members: Sequence[FleetMember],
    program_of: Callable[[FleetMember], tuple[str, ...]],
    wanted: Callable[[FleetMember], MakePlan],
    store: str,
) -> list[Prospect]:
    """A prospect for each member, in their order; `store` is that of this machine. Raises nothing that a host is the cause of."""
    room = asyncio.Semaphore(_AT_ONCE)
    homes = dict[FleetMember, str]()

    async def one(member: FleetMember) -> Prospect:
        program: tuple[str, ...] = ()
        async with room:
            try:
                program = await asyncio.to_thread(program_of, member)
                link = await Link.open(
                    member.host, agent_argv(member.host, program), store if member.host is None else None
                )
                homes[member] = link.home
                try:
                    clock = await link.clock()
                    plan = await link.ask(wanted(member), Plan)
                finally:
                    await link.close()
            except DiskprofError as error:
                return Prospect(member, program, error=error)
        try:
            _refuse_search(plan)
            refuse_if_blocked(plan)
        except DiskprofError as error:
            return Prospect(member, program, plan, clock, error)
        return Prospect(member, program, plan, clock)

    return list(_each_once(await asyncio.gather(*map(one, members)), homes))


def _refuse_search(plan: Plan) -> None:
    """Raises UsageError for a search for a limit or a map, whose tests come about on its way."""
    if plan.search:
        what = "searches for a limit" if plan.limit else "draws a map"
        raise UsageError(
            f"{plan.preset} {what}: on one host at a time.",
            f"diskprof ssh HOST run {plan.preset} {shlex.quote(clean(plan.target.path))}",
        )


def _each_once(prospects: Sequence[Prospect], homes: Mapping[FleetMember, str]) -> Iterator[Prospect]:
    """With an error where a host is another by a second name: its disks would take their strength from each other."""
    seen = dict[str, FleetMember]()
    for prospect in prospects:
        host, home = prospect.member.host, homes.get(prospect.member, "")
        if host is None or not home or prospect.error:
            yield prospect
        elif known := seen.get(home):
            error = UsageError(
                f"It is the same host as {clean(known.label)}.",
                "Name each host once. Several disks of one machine: diskprof ssh HOST run PRESET --each-disk",
            )
            yield replace(prospect, error=error)
        else:
            seen[home] = prospect.member
            yield prospect


def member_plans(prospects: Sequence[Prospect]) -> tuple[MemberPlan, ...]:
    """The members of the coordinator; one that cannot start is left out, with the reason."""
    return tuple(
        MemberPlan(None, reason=each.error.message) if each.error else MemberPlan(each.plan, each.program)
        for each in prospects
    )


def served(prospects: Sequence[Prospect]) -> list[Prospect]:
    """As fio's client carries them out. Raises UsageError for a plan that it cannot, EngineMissing where there is no fio here."""
    find_tool(EngineName.FIO)
    return [replace(each, plan=as_served(each.plan)) if each.plan else each for each in prospects]


def refusal_of(prospects: Sequence[Prospect]) -> DiskprofError | None:
    """What is in the way of the members that cannot start, all of it, as the error that weighs most; None where nothing is."""
    errors = [(prospect, prospect.error) for prospect in prospects if prospect.error]
    if not errors:
        return None
    worst = max((error for _, error in errors), key=lambda error: error.exit_code)
    lines = [f"{clean(prospect.member.label)}: {error}" for prospect, error in errors]
    hint = (
        "Nothing was started. --skip-unready leaves such hosts out."
        if len(errors) < len(prospects)
        else "Nothing was started."
    )
    return type(worst)("\n".join(lines), hint)
