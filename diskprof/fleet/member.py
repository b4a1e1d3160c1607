"""One member of a fleet run: started on its host, followed to its end, attached again whenever its host is back."""

import asyncio
import math
import time
from contextlib import suppress
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from diskprof.fleet.follow.link import SILENT_S, Link, LinkLost, agent_argv
from diskprof.fleet.follow.messages import LetGo, MakeRoom, News, StartRun, StopRun
from diskprof.fleet.follow.replica import Replica, moment_of
from diskprof.fleet.order import FleetOrder, MemberPlan
from diskprof.model.errors import DiskprofError, RunNotFound, StoreError
from diskprof.model.fleet import FleetMember, HostClock, MemberOrder, MemberState, MemberStatus
from diskprof.model.run import FleetPlace, Status
from diskprof.store import Store

_AGAIN_S = 2.0
GRACE_S = 120.0
"""So much longer than planned a lost run is waited for."""
_BEGIN_S = 20.0
"""So long after the connection was lost during a start request the run may still begin."""
_LOOK_S = 1.0


class MemberStart(Struct, frozen=True):
    """How a member's run begins: its place, and whether it waits for those of the others."""

    place: FleetPlace
    barrier: bool


class Member:
    """What is known of it stands in the store as soon as it is known."""

    def __init__(self, store: Store, order: FleetOrder, fleet_id: str, index: int) -> None:
        self._store, self._order, self._fleet_id, self.index = store, order, fleet_id, index
        self.member: FleetMember = order.new.members[index]
        self.planned: MemberPlan = order.plans[index]
        self.status = MemberStatus()
        self.outcome: Status | None = None
        """How its run ended; None until that is known."""
        self.ready = asyncio.Event()
        """Its run is prepared, or will never be."""
        self.stopping = asyncio.Event()
        self.room = ""
        """The directory on its host where the sockets of fio's servers are."""
        self._go_ns: int | None = None
        self._place: FleetPlace | None = None
        self._ran = False
        self._link: Link | None = None
        self._replica: Replica | None = None
        self._deadline, self._stop_by, self._begun_by = 0.0, math.inf, 0.0

    @property
    def left_out(self) -> bool:
        return self.status.state is MemberState.LEFT_OUT

    @property
    def waits(self) -> bool:
        """Whether its run is prepared and can be let go, if need be once its host is back."""
        going = self.status.state in (MemberState.RUNNING, MemberState.LOST)
        return self.ready.is_set() and self.outcome is None and going and not self.stopping.is_set()

    @property
    def goes_on(self) -> bool:
        """Whether its run is under way, and its host answers."""
        return self.status.state is MemberState.RUNNING and self.outcome is None and not self.stopping.is_set()

    def leave_out(self, reason: str) -> None:
        """It is not started, or did not start; what it measured before is kept."""
        if self._ran:
            self.outcome = Status.FAILED
            self._set(state=MemberState.DONE, reason=f"{self._which} did not start: {reason}")
        else:
            self._set(state=MemberState.LEFT_OUT, reason=reason)
        self.ready.set()

    def rest(self) -> None:
        """It has no further repeat, while others have."""
        if self.status.began_at:
            # The skew is that of those that begin together.
            self._set(began_at=None)

    @property
    def _which(self) -> str:
        return f"Repeat {self._place.repeat}" if self._place and self._order.new.wanted.repeats != 1 else "Its run"

    async def begin(self, start: MemberStart) -> None:
        """Starts its run. Raises what refuses that, LinkLost where the host cannot be reached; nothing is running there then.

        Where the connection is lost before the answer it is lost, and `follow` finds out what became of its run.
        """
        plan = self.planned.plan
        assert plan is not None
        await self._disconnect()
        self._place = start.place
        run_id = self._store.fleets.new_run_id()
        self.outcome, self._go_ns, self._replica = None, None, Replica(self._store, run_id, start.place)
        self.ready.clear()
        self.status = replace(self.status, run_id="", began_at=None)
        link = await self._connect()
        # Before the host knows of it: so it is found again, whatever becomes of us.
        self._set(state=MemberState.WAITING, reason="", run_id=run_id)
        self.room = await link.ask(MakeRoom(), str) if self._order.served else ""
        order = MemberOrder(run_id, start.place if self.member.host is None else None, start.barrier, self.room)
        self.until(time.monotonic() + plan.seconds + GRACE_S)
        try:
            await link.tell(
                StartRun(plan, order, self._tags(start), self._order.note, concurrent=self._order.concurrent)
            )
        except LinkLost as error:
            self._begun_by = time.monotonic() + _BEGIN_S
            self._set(state=MemberState.LOST, reason=await self._disconnect() or error.message)
        except DiskprofError:
            await self._disconnect()
            raise
        else:
            self._set(state=MemberState.RUNNING, reason="")

    def _tags(self, start: MemberStart) -> tuple[str, ...]:
        host = (self.member.host.removeprefix("ssh://").rpartition("@")[2],) if self.member.host else ()
        return (*self._order.tags, *host)

    def until(self, deadline: float) -> None:
        """A lost run is waited for no longer than that (`time.monotonic`)."""
        self._deadline = deadline

    @property
    def _patience(self) -> float:
        return min(self._deadline, self._stop_by)

    async def follow(self) -> None:
        """Writes down what happens until its run is over, or it is given up as lost. Raises StoreError."""
        try:
            while self.outcome is None and self.status.state in (MemberState.RUNNING, MemberState.LOST):
                try:
                    link = self._link or await self._connect()
                    await self._attend(link)
                except RunNotFound as error:
                    if self._replica and self._replica.status is not None:
                        self._lose(error.message)
                        return
                    if time.monotonic() > self._begun_by:
                        self.leave_out(f"Its run did not begin: {self.status.reason or error.message}")
                        return
                    await self._disconnect()
                    await asyncio.sleep(_AGAIN_S)
                except StoreError:
                    raise
                except DiskprofError as error:
                    said = await self._disconnect()
                    self._lose(said or error.message)
                    if time.monotonic() > self._patience:
                        return
                    await asyncio.sleep(_AGAIN_S)
        finally:
            self.ready.set()
            await self._disconnect()

    async def _connect(self) -> Link:
        host = self.member.host
        argv = agent_argv(host, self.planned.program)
        link = await Link.open(host, argv, self._order.store if host is None else None)
        try:
            self.status = replace(self.status, clock=await link.clock() if host else HostClock(0, 0))
        except DiskprofError:
            await link.close()
            raise
        self._link = link
        return link

    async def _disconnect(self) -> str:
        link, self._link = self._link, None
        return await link.close() if link else ""

    async def _attend(self, link: Link) -> None:
        """Follows over one connection. Returns when the run is over and here; raises LinkLost before that."""
        replica = self._replica
        assert replica is not None
        await link.tell(replica.follow())
        if self._go_ns is not None and self.status.began_at is None:
            # The others were let go while its host was away; what it heard of that already does no harm twice.
            await self.let_go(self._go_ns)
        stop = asyncio.create_task(self._stop_over(link, replica.run_id))
        try:
            while True:
                if (news := await self._next(link)) is None:
                    continue
                if self._note(news):
                    break
        finally:
            stop.cancel()
            with suppress(asyncio.CancelledError, DiskprofError):
                await stop
        if self.member.host is not None and replica.is_copy:
            await replica.fetch(link, self.member.host)
        self.outcome, self._ran = self._store.run(replica.run_id).status, True
        self._set(state=MemberState.DONE, reason="")

    async def _next(self, link: Link) -> News | None:
        heard = time.monotonic()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    news = await link.news.get()
                    break
            now = time.monotonic()
            if now - heard > SILENT_S:
                self._lose(f"No answer for {SILENT_S:.0f} s.")
            if now > max(self._patience, heard + 2 * SILENT_S):
                raise LinkLost(self.status.reason)
        if news is None and link.lost:
            raise link.lost
        if self.status.state is MemberState.LOST:
            self._find()
        return news

    def _note(self, news: News) -> bool:
        """Whether the run is over."""
        if self.member.host is not None:
            assert self._replica is not None
            self._replica.add(news)
        clock = self.status.clock
        # Where fio's client starts the tests, what passed the barrier measures nothing yet.
        if news.passed_us is not None and self.status.began_at is None and clock and not self._order.served:
            offset = timedelta(microseconds=clock.offset_ns // 1000)
            self._set(began_at=moment_of(news.passed_us) - offset)
        if news.ready or news.status.over:
            self.ready.set()
        return news.status.over

    async def _stop_over(self, link: Link, run_id: str) -> None:
        await self.stopping.wait()
        await link.tell(StopRun(run_id))

    async def let_go(self, at_ns: int) -> None:
        """Its run goes on at that time of this machine's clock, or as soon as its host is back. Raises LinkLost."""
        self._go_ns = at_ns
        link, clock = self._link, self.status.clock
        if link and clock and self._replica:
            await link.tell(LetGo(self._replica.run_id, at_ns + clock.offset_ns))

    def stop(self, within_s: float) -> None:
        """Asks its run to end; a lost one is waited for no longer than that."""
        self.stopping.set()
        self._stop_by = min(self._stop_by, time.monotonic() + within_s)

    def _lose(self, reason: str) -> None:
        if self.status.state is not MemberState.LOST or reason != self.status.reason:
            self._set(state=MemberState.LOST, reason=reason)
            self._mark(reached=False)

    def _find(self) -> None:
        self._set(state=MemberState.RUNNING, reason="")
        self._mark(reached=True)

    def _mark(self, *, reached: bool) -> None:
        if self.member.host is not None and self._replica and self._replica.status is not None:
            self._store.fleets.set_reached(self._replica.run_id, reached=reached)

    def _set(self, **changes: object) -> None:
        self.status = replace(self.status, **changes)
        self._store.fleets.set_member(self._fleet_id, self.index, self.status)
