"""A member whose host is away: it is asked again until it is back, or its time is over; nothing is forgotten meanwhile."""

import asyncio
import time
from collections.abc import Callable, Sequence

import pytest
from recorded import make_plan

from diskprof.fleet import member as module
from diskprof.fleet.follow.link import Link, LinkLost
from diskprof.fleet.follow.messages import HostRequest, LetGo, News, StartRun
from diskprof.fleet.hosts.connection import HostUnreachable
from diskprof.fleet.member import Member, MemberStart
from diskprof.fleet.order import FleetOrder, MemberPlan
from diskprof.model.errors import DiskprofError, RunNotFound
from diskprof.model.fleet import FleetMember, HostClock, MemberState, MemberStatus, NewFleet
from diskprof.model.run import FleetPlace, Status
from diskprof.store import Store


class Agent:
    """In place of a connection: keeps what it is told, and answers as it is made to."""

    def __init__(self, answer: Callable[[HostRequest], DiskprofError | None] = lambda _: None) -> None:
        self.told, self._answer = list[HostRequest](), answer
        self.news = asyncio.Queue[News | None]()
        self.lost: DiskprofError | None = None
        self.again = asyncio.Event()
        """It was let go for the third time."""

    async def clock(self) -> HostClock:
        return HostClock(5_000, 100)

    async def tell(self, request: HostRequest) -> None:
        self.told.append(request)
        if sum(isinstance(each, LetGo) for each in self.told) == 3:
            self.again.set()
        if error := self._answer(request):
            raise error

    async def close(self) -> str:
        return ""


@pytest.fixture
def member(store: Store) -> Member:
    new = NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),))
    order = FleetOrder(new, (MemberPlan(make_plan(), ("diskprof",)),), str(store.path))
    return Member(store, order, store.fleets.create(new), 0)


def stored(store: Store) -> MemberStatus:
    (fleet,) = store.fleet_runs()
    return fleet.statuses[0]


def connects(monkeypatch: pytest.MonkeyPatch, agent: Agent) -> None:
    async def connected(*_: object) -> Agent:
        return agent

    monkeypatch.setattr(Link, "open", connected)
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)


async def test_a_host_that_refuses_is_asked_again_until_its_time_is_over(
    member: Member, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    member.status = MemberStatus(MemberState.RUNNING, run_id="abcdefgh")
    member.until(time.monotonic() + 60)
    asked = list[str | None]()

    async def refuse(host: str | None, argv: Sequence[str], path: str | None) -> Link:
        asked.append(host)
        if len(asked) == 3:
            member.until(0.0)
        raise HostUnreachable("Connection refused.")

    monkeypatch.setattr(Link, "open", refuse)
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)
    await member.follow()
    assert asked == ["web1"] * 3
    assert member.outcome is None
    status = stored(store)
    assert (status.state, status.reason) == (MemberState.LOST, "Connection refused.")


async def test_a_run_is_known_here_before_its_host_knows_of_it(
    member: Member, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = list[MemberStatus]()

    def answer(request: HostRequest) -> DiskprofError | None:
        known.append(stored(store))
        return LinkLost("Reset.") if isinstance(request, StartRun) else RunNotFound("There is no such run.")

    agent = Agent(answer)
    connects(monkeypatch, agent)
    monkeypatch.setattr(module, "_BEGIN_S", 0.0)
    await member.begin(MemberStart(FleetPlace(store.fleet_runs()[0].id, 0), barrier=True))
    (start,) = agent.told
    assert isinstance(start, StartRun)
    assert known[0].run_id == start.member.run_id
    # Whether it began nobody knows: it is looked for.
    assert (stored(store).state, stored(store).reason) == (MemberState.LOST, "Reset.")
    await member.follow()
    assert (stored(store).state, stored(store).reason) == (MemberState.LEFT_OUT, "Its run did not begin: Reset.")


async def test_one_that_was_away_when_the_others_were_let_go_is_let_go_when_it_is_back(
    member: Member, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent(lambda request: LinkLost("Reset.") if isinstance(request, LetGo) and len(agent.told) < 6 else None)
    connects(monkeypatch, agent)
    await member.begin(MemberStart(FleetPlace(store.fleet_runs()[0].id, 0), barrier=True))
    run_id = member.status.run_id
    following = asyncio.create_task(member.follow())
    agent.news.put_nowait(News(run_id, Status.RUNNING, ready=True))
    monkeypatch.setattr(module.Replica, "add", lambda *_: None)
    await member.ready.wait()
    assert member.waits
    with pytest.raises(LinkLost):
        await member.let_go(1_000_000)
    agent.lost = LinkLost("Reset.")
    agent.news.put_nowait(None)
    await agent.again.wait()
    agent.lost = None
    assert [each for each in agent.told if isinstance(each, LetGo)] == [LetGo(run_id, 1_005_000)] * 3
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
