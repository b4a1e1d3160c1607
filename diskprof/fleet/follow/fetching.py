"""Bringing runs of hosts here that were lost: the coordinator died, or its host was away until the end."""

import asyncio
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from diskprof.fleet.follow.link import ANSWER_S, Link, LinkLost, agent_argv
from diskprof.fleet.follow.messages import News
from diskprof.fleet.follow.replica import Replica
from diskprof.model.errors import DiskprofError, Refused, RunNotFound
from diskprof.model.fleet import FleetMember, FleetRun, MemberState
from diskprof.model.run import FleetPlace, Status
from diskprof.model.text import clean
from diskprof.store import Store, is_alive


class Fetched(Struct, frozen=True):
    """What became of a lost member: `status` of its run, which is here whole if that is over; or why nothing came."""

    label: str
    status: Status | None = None
    error: DiskprofError | None = None


def lost_members(fleet: FleetRun) -> list[int]:
    """The members whose runs may still be on their hosts."""
    return [index for index, status in enumerate(fleet.statuses) if status.state is MemberState.LOST and status.run_id]


def fetch(store: Store, fleet_id: str, program_of: Callable[[FleetMember], tuple[str, ...]]) -> list[Fetched]:
    """Brings what is lost of a fleet run, as far as it can be reached and is over. Raises Refused while it is in progress."""
    store.reap()
    fleet = store.fleet_run(fleet_id)
    if fleet.status.over and not lost_members(fleet):
        return []
    if fleet.status is Status.RUNNING and is_alive(store.coordinator(fleet_id)):
        raise Refused(f"The fleet run {fleet_id} is in progress: its coordinator brings the runs.", "Wait for its end.")
    found = asyncio.run(_fetch(store, fleet, program_of))
    _conclude(store, fleet_id)
    return found


async def _fetch(store: Store, fleet: FleetRun, program_of: Callable[[FleetMember], tuple[str, ...]]) -> list[Fetched]:
    return list(await asyncio.gather(*(_bring(store, fleet, index, program_of) for index in lost_members(fleet))))


async def _bring(
    store: Store, fleet: FleetRun, index: int, program_of: Callable[[FleetMember], tuple[str, ...]]
) -> Fetched:
    member, status = fleet.members[index], fleet.statuses[index]
    runs = [run for run in store.runs_of_fleet(fleet.id) if run.fleet and run.fleet.member == index]
    run = next((run for run in runs if run.id == status.run_id), None)
    # Of one that nothing was told of yet the repeat is the one after those that are here.
    place = FleetPlace(fleet.id, index, repeat=1 + max((each.fleet.repeat for each in runs if each.fleet), default=0))
    replica = Replica(store, status.run_id, run.fleet if run and run.fleet else place)
    if run and (member.host is None or not replica.is_copy):
        # Its run is in this store, and was all the time.
        if run.status.over:
            store.fleets.set_member(fleet.id, index, replace(status, state=MemberState.DONE, reason=""))
        return Fetched(member.label, run.status)
    try:
        program = await asyncio.to_thread(program_of, member)
        link = await Link.open(member.host, agent_argv(member.host, program), None)
        try:
            await link.tell(replica.follow())
            news = await _first_news(link)
            replica.add(news)
            if not news.status.over:
                # Nobody follows it from here on.
                store.fleets.set_reached(status.run_id, reached=False)
                return Fetched(member.label, news.status)
            if replica.is_copy:
                await replica.fetch(link, member.label)
        finally:
            await link.close()
    except RunNotFound as error:
        if replica.status is None:
            reason = "Its run did not begin."
            store.fleets.set_member(fleet.id, index, replace(status, state=MemberState.LEFT_OUT, reason=reason))
        return Fetched(member.label, error=error)
    except DiskprofError as error:
        return Fetched(member.label, error=error)
    store.fleets.set_member(fleet.id, index, replace(status, state=MemberState.DONE, reason=""))
    return Fetched(member.label, store.run(status.run_id).status)


async def _first_news(link: Link) -> News:
    """Raises LinkLost where none come."""
    try:
        async with asyncio.timeout(ANSWER_S):
            while (news := await link.news.get()) is None:
                if link.lost:
                    raise link.lost
            return news
    except TimeoutError:
        raise LinkLost(f"{clean(link.name)} does not answer.") from None


def _conclude(store: Store, fleet_id: str) -> None:
    """Says how the fleet run ended, once nothing of it is lost any more."""
    fleet = store.fleet_run(fleet_id)
    if lost_members(fleet):
        return
    runs = store.runs_of_fleet(fleet_id)
    left = [status for status in fleet.statuses if status.state is not MemberState.DONE]
    wanted = fleet.wanted.repeats
    whole = {run.fleet.member for run in runs if run.fleet and run.fleet.repeat == wanted}
    # Of a fleet run that repeats the coordinator alone could begin what was still to come.
    complete = (
        not left
        and all(run.status is Status.COMPLETE for run in runs)
        and (not fleet.is_repeated or len(whole) == len(fleet.members))
    )
    store.fleets.take(fleet_id)
    reason = "" if complete else "Not all of its runs are complete, or there."
    store.fleets.finish(fleet_id, status=Status.COMPLETE if complete else Status.FAILED, reason=reason)
