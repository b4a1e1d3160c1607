"""The coordinator: starts the runs of all members, follows them, and writes down here what happens there."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from diskprof.fleet.going_on import GoingOn
from diskprof.fleet.member import Member, MemberStart
from diskprof.fleet.order import FleetOrder
from diskprof.fleet.served.session import measure_served
from diskprof.model.errors import DiskprofError, StoreError
from diskprof.model.fleet import MemberState
from diskprof.model.run import FleetPlace, FleetStage, Status
from diskprof.model.text import clean
from diskprof.runner.carry.execute import StopRequest
from diskprof.store import Store

_HEARD_EVERY_S = 60.0
_LAST_WORD_S = 15.0
_STOP_S = 20.0
_LEAD_NS = 1_000_000_000
_AGAIN_S = 1.0
_LOST_S = 20.0
"""So long the others wait for a member that is lost, or refused a repeat, before the start."""


class Coordinator:
    """Carries out a fleet run. `tell` is handed its id once every member has begun, or its first turn has come."""

    def __init__(self, order: FleetOrder, store: Store, stop: StopRequest, tell: Callable[[str], None]) -> None:
        self._order, self._store, self._stop, self._tell = order, store, stop, tell
        self._told = False

    async def carry_out(self) -> str:
        """Returns the id of the fleet run once it is over. Raises what keeps it from starting, StoreError."""
        order, store = self._order, self._store
        fleet_id = store.fleets.create(order.new)
        members = [Member(store, order, fleet_id, index) for index in range(len(order.new.members))]
        for member in members:
            if member.planned.plan is None:
                member.leave_out(member.planned.reason)
        status, reason = Status.FAILED, "The coordinator ended unexpectedly."
        beside = [asyncio.create_task(self._heard(fleet_id)), asyncio.create_task(self._stopping(members))]
        try:
            status, reason = self._end(members, *await self._repeated(fleet_id, members))
        except DiskprofError as error:
            status, reason = Status.FAILED, error.kept
            raise
        finally:
            for task in beside:
                task.cancel()
            with store.waiting(_LAST_WORD_S):
                store.fleets.finish(fleet_id, status=status, reason=reason)
        return fleet_id

    async def _repeated(self, fleet_id: str, members: Sequence[Member]) -> tuple[list[str], str]:
        """Carries out all repeats; what failed, and why there were no more of them."""
        failed, repeat = list[str](), 0
        going = [each for each in members if not each.left_out]
        on = GoingOn(self._order, self._store)
        while going and not self._stop.event.is_set():
            repeat += 1
            for stage in self._order.stages:
                if not self._stop.event.is_set():
                    await self._carry(fleet_id, [each for each in going if not each.left_out], stage, repeat)
                    failed += _failures(going)
            before, going = going, [] if self._stop.event.is_set() else on.after(repeat, going)
            if going:
                for member in before:
                    if member not in going:
                        member.rest()
                await self._pause()
        return failed, on.words

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.event.wait(), self._order.new.wanted.pause_s)

    async def _carry(self, fleet_id: str, members: Sequence[Member], stage: FleetStage, repeat: int) -> None:
        at_once = 1 if stage is FleetStage.ALONE else self._order.new.at_once
        if at_once is None:
            await self._together(fleet_id, members, stage, repeat)
        else:
            # Backwards every other time, so that drift falls on all.
            in_turn = members if repeat % 2 else members[::-1]
            await self._in_turn(fleet_id, in_turn, stage, at_once, repeat)

    async def _begin(self, member: Member, start: MemberStart) -> None:
        """As `Member.begin`; what refuses a repeat may pass: its host is away, or the run before still holds the disk."""
        until = time.monotonic() + _LOST_S
        while True:
            try:
                await member.begin(start)
                return
            except StoreError:
                raise
            except DiskprofError:
                if start.place.repeat == 1 or self._stop.event.is_set() or time.monotonic() > until:
                    raise
            await asyncio.sleep(_AGAIN_S)

    async def _together(self, fleet_id: str, members: Sequence[Member], stage: FleetStage, repeat: int) -> None:
        starts = [
            self._begin(
                member, MemberStart(FleetPlace(fleet_id, member.index, stage, repeat), barrier=len(members) > 1)
            )
            for member in members
        ]
        errors = await asyncio.gather(*starts, return_exceptions=True)
        refused = dict[int, DiskprofError]()
        for member, error in zip(members, errors, strict=True):
            if isinstance(error, DiskprofError):
                refused[member.index] = error
                member.leave_out(error.message)
            elif error:
                raise error
        begun = [member for member in members if member.index not in refused]
        if refused and repeat == 1 and (not self._order.skip_unready or not begun):
            await self._take_back(begun)
            raise self._refusal(refused)
        self._told_of(fleet_id)
        beside = [asyncio.create_task(self._let_go(begun))] if len(members) > 1 else []
        beside += [asyncio.create_task(measure_served(begun))] if self._order.served else []
        try:
            await asyncio.gather(*(member.follow() for member in begun))
        finally:
            for task in beside:
                task.cancel()
            ends = await asyncio.gather(*beside, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _let_go(self, members: Sequence[Member]) -> None:
        """Lets the runs go at the same moment, as soon as all are prepared."""
        waiting = [asyncio.create_task(member.ready.wait()) for member in members]
        lost_since: float | None = None
        while True:
            _, missing = await asyncio.wait(waiting, timeout=0.5)
            if not missing:
                break
            late = [member for member in members if not member.ready.is_set()]
            if any(member.status.state is not MemberState.LOST for member in late):
                lost_since = None
            elif lost_since is None:
                lost_since = time.monotonic()
            elif time.monotonic() - lost_since > _LOST_S:
                break
        for task in waiting:
            task.cancel()
        for member in members:
            if not member.ready.is_set():
                # Alone it would measure another load.
                member.stopping.set()
        at_ns = time.time_ns() + _LEAD_NS
        results = await asyncio.gather(
            *(member.let_go(at_ns) for member in members if member.waits), return_exceptions=True
        )
        for error in results:
            if error and not isinstance(error, DiskprofError):
                raise error

    async def _in_turn(
        self, fleet_id: str, members: Sequence[Member], stage: FleetStage, at_once: int, repeat: int
    ) -> None:
        room = asyncio.Semaphore(at_once)
        refused = dict[int, DiskprofError]()

        async def one(member: Member) -> None:
            async with room:
                if refused or self._stop.event.is_set():
                    member.leave_out("Its turn did not come.")
                    return
                try:
                    await self._begin(
                        member, MemberStart(FleetPlace(fleet_id, member.index, stage, repeat), barrier=False)
                    )
                except DiskprofError as error:
                    member.leave_out(error.message)
                    if not self._told and not self._order.skip_unready:
                        refused[member.index] = error
                    return
                if refused:
                    await self._take_back([member])
                    return
                self._told_of(fleet_id)
                await member.follow()

        tasks = [asyncio.create_task(one(member)) for member in members]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if refused:
            raise self._refusal(refused)
        self._told_of(fleet_id)

    async def _take_back(self, begun: Sequence[Member]) -> None:
        """Ends what was prepared: nothing has been measured."""
        for member in begun:
            member.stop(_STOP_S)
        await asyncio.gather(*(member.follow() for member in begun))

    def _refusal(self, refused: dict[int, DiskprofError]) -> DiskprofError:
        """All that was in the way, as the error of the first."""
        first = next(iter(refused.values()))
        labels = self._order.new.members
        lines = [f"{clean(labels[index].label)}: {error.message}" for index, error in refused.items()]
        hint = "" if self._told else "Nothing was started. --skip-unready leaves such hosts out."
        return type(first)("\n".join(lines), hint)

    def _told_of(self, fleet_id: str) -> None:
        if not self._told:
            self._told = True
            self._tell(fleet_id)

    async def _heard(self, fleet_id: str) -> None:
        while True:
            await asyncio.sleep(_HEARD_EVERY_S)
            self._store.fleets.touch(fleet_id)

    async def _stopping(self, members: Sequence[Member]) -> None:
        await self._stop.event.wait()
        for member in members:
            member.stop(_STOP_S)

    def _end(self, members: Sequence[Member], failed: Sequence[str], ended: str) -> tuple[Status, str]:
        if self._stop.event.is_set():
            return self._stop.status, self._stop.reason
        left = [each for each in members if each.left_out]
        # With --skip-unready a host that was left out is no failure, unless all were.
        allowed = self._order.skip_unready and len(left) < len(members)
        status = Status.FAILED if failed or (left and not allowed) else Status.COMPLETE
        words = [*failed, *(f"{clean(each.member.label)} was left out: {each.status.reason}" for each in left), ended]
        return status, "\n".join(filter(None, dict.fromkeys(words)))


def _failures(members: Sequence[Member]) -> list[str]:
    found = []
    for each in members:
        if each.status.state is MemberState.LOST:
            found.append(f"{clean(each.member.label)} is lost: {each.status.reason}")
        elif each.outcome not in (None, Status.COMPLETE):
            found.append(f"{clean(each.member.label)}: {each.status.reason or f'{each.outcome}.'}")
    return found
