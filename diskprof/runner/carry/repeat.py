"""A series from its first run to its last, one after the other, in one process."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import TypeVar

from msgspec import Struct

from diskprof.analysis.series_figures import RepeatFigure, repeat_figures, series_figures, widest
from diskprof.model.errors import DiskprofError, StoreBusy, StoreError
from diskprof.model.run import SeriesPlace, Status
from diskprof.model.run_series import SeriesPlan, Spread, TargetOrder
from diskprof.model.units import format_duration, percent_words
from diskprof.runner.carry.begin import Begun, begun
from diskprof.runner.carry.execute import StopRequest, execute
from diskprof.runner.neighbours import Neighbour, Occupied
from diskprof.store import Store

_HEARD_EVERY_S = 60.0
_LOOK_EVERY_S = 0.5
_LOCK_S = 0.2
_LAST_WORD_S = 15.0
_PATIENCE_S = 60.0
"""A locked store is waited for between two runs as long as within one."""

T = TypeVar("T")

Watch = Callable[[Begun], Awaitable[None]]
"""What goes on beside a run."""


class _End(Struct, frozen=True):
    status: Status
    reason: str


class Repeater:
    """Carries out a series; each of its runs is checked as a run alone is.

    Statistics are made between two runs, never during one. `concurrent` as in `begun`.
    """

    def __init__(self, planned: SeriesPlan, store: Store, stop: StopRequest, *, concurrent: bool = False) -> None:
        self._planned, self._wanted, self._store, self._stop = planned, planned.wanted, store, stop
        self._concurrent = concurrent
        self._began = time.monotonic()
        self._figures: list[tuple[RepeatFigure, ...]] = []
        self._spread: Spread | None = None
        alternated = planned.wanted.order is TargetOrder.ALTERNATED
        self._longest_s = planned.round_s if alternated else planned.round_s / len(planned.plans)

    async def carry_out(self, first: Begun, release: Callable[[], None], beside: Watch | None = None) -> str:
        """Carries out all runs; returns the id of the series once it is over. Raises StoreError.

        `first` has begun; `release` ends its `begun`, since the next run may want the same devices for itself.
        """
        place = self._store.run(first.run_id).series
        assert place
        end = _End(Status.FAILED, "The runner ended unexpectedly.")
        try:
            end = await self._carried_out(first, place, beside)
            release()
            if end.status is Status.COMPLETE:
                end = await self._rest(place.series_id, beside)
        except DiskprofError as error:
            end = _End(Status.FAILED, error.kept)
            raise
        finally:
            with self._store.waiting(_LAST_WORD_S):
                self._store.repeats.finish(place.series_id, status=end.status, reason=end.reason)
        return place.series_id

    async def _rest(self, series_id: str, beside: Watch | None) -> _End:
        """All runs after the first."""
        arms = len(self._planned.plans)
        turns = self._wanted.turns(arms)
        next(turns)
        done, step = 1, arms if self._wanted.order is TargetOrder.ALTERNATED else 1
        began = self._began
        while True:
            whole = done % step == 0
            if whole and await self._is_narrow(series_id):
                within = percent_words(self._wanted.until or 0.0)
                return _End(Status.COMPLETE, f"Every headline figure is within {within} after {done // arms} repeats.")
            turn = next(turns, None)
            if turn is None:
                return _End(Status.COMPLETE, "")
            if whole:
                now = time.monotonic()
                self._longest_s, began = max(self._longest_s, now - began), now
                if self._is_over_cap(now, self._longest_s):
                    return _End(Status.COMPLETE, self._capped(done))
            end = await self._next(SeriesPlace(series_id, *turn), done, beside)
            if end:
                return end
            done += 1

    def _is_over_cap(self, now: float, takes_s: float) -> bool:
        """Whether what comes next, and takes so long, would end after the cap."""
        cap = self._wanted.at_most_s
        return cap is not None and now - self._began + takes_s > cap

    async def _next(self, place: SeriesPlace, done: int, beside: Watch | None) -> _End | None:
        """The run at a place, after the pause; `done` are before it. None where the series goes on after it."""
        await self._wait(self._wanted.pause_s, place.series_id)
        with ExitStack() as holds:
            try:
                run = await self._begun(place, done, holds)
                if isinstance(run, _End):
                    return run
                end = await self._carried_out(run, place, beside)
                return None if end.status is Status.COMPLETE else end
            except StoreError:
                raise
            except DiskprofError as error:
                return _End(Status.FAILED, f"{self._which(place)} did not start: {error.kept}")

    async def _begun(self, place: SeriesPlace, done: int, holds: ExitStack) -> Begun | _End:
        """The run at a place once nobody else uses its disks, or why the series ends before it."""
        plan = self._planned.plans[place.arm]

        def begin() -> Begun:
            return holds.enter_context(begun(plan, self._store, concurrent=self._concurrent, series=place))

        while not self._stop.event.is_set():
            try:
                if run := await self._unlocked(begin):
                    return run
            except Occupied as occupied:
                # Somebody started a run beside this series: two at once distort each other, so it waits.
                if self._is_over_cap(time.monotonic(), plan.likely_seconds):
                    return _End(Status.COMPLETE, self._capped(done, occupied.neighbour))
                await self._wait(_LOOK_EVERY_S, place.series_id)
                await self._unlocked(self._store.reap)
        return _End(self._stop.status, self._stop.reason)

    async def _unlocked(self, work: Callable[[], T]) -> T | None:
        """What `work` gives, waiting for a locked store as long as within a run; None as soon as it is asked to stop.

        Raises StoreBusy.
        """
        until = time.monotonic() + _PATIENCE_S
        while not self._stop.event.is_set():
            try:
                with self._store.waiting(_LOCK_S):
                    return work()
            except StoreBusy:
                if time.monotonic() >= until:
                    raise
                # SQLite waits for a lock with the whole process: here whoever asks to stop is heard.
                await asyncio.sleep(0)
        return None

    async def _carried_out(self, run: Begun, place: SeriesPlace, beside: Watch | None) -> _End:
        other = asyncio.ensure_future(beside(run)) if beside else None
        try:
            status = await execute(run, self._stop)
        except DiskprofError:
            # The store could not be written: it will never say that the run is over.
            if other:
                other.cancel()
            raise
        finally:
            if other:
                with suppress(asyncio.CancelledError):
                    await other
        if self._stop.event.is_set():
            return _End(self._stop.status, self._stop.reason)
        record = await self._unlocked(lambda: self._store.run(run.run_id))
        if record is None:
            return _End(self._stop.status, self._stop.reason)
        self._figures.append(repeat_figures(record, place.arm))
        return _End(status, "" if status is Status.COMPLETE else f"{self._which(place)} failed: {record.reason}")

    async def _is_narrow(self, series_id: str) -> bool:
        """After a round: keeps how far apart the repeats are, and says whether that is what was wanted."""
        self._spread = spread = widest(series_figures(self._figures))
        if spread:
            await self._unlocked(lambda: self._store.repeats.add_spread(series_id, spread))
        return bool(self._wanted.until and self._spread and self._spread.within(self._wanted.until))

    async def _wait(self, seconds: float, series_id: str) -> None:
        """Returns after so long, or as soon as it is asked to stop."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stop.event.is_set():
            await self._unlocked(lambda: self._store.repeats.touch(series_id))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.event.wait(), min(left, _HEARD_EVERY_S))

    def _which(self, place: SeriesPlace) -> str:
        where = f" on {self._planned.targets[place.arm]}" if len(self._planned.plans) > 1 else ""
        return f"Repeat {place.repeat}{where}"

    def _capped(self, runs: int, neighbour: Neighbour | None = None) -> str:
        """`neighbour` is whom the next run waits for."""
        cap = format_duration(self._wanted.at_most_s or 0.0)
        said = f"Ended after {runs} run{'' if runs == 1 else 's'}: the next would end after {cap} (at most)."
        if neighbour:
            said = f"{said} It waited for run {neighbour.run_id} on {' and '.join(neighbour.disks)}."
        if self._wanted.until is None or self._spread is None:
            return said
        return f"{said} {self._figure(self._spread)} is not within {percent_words(self._wanted.until)}."

    def _figure(self, spread: Spread) -> str:
        title = self._planned.plans[spread.arm].title(spread.test)
        where = f" on {self._planned.targets[spread.arm]}" if len(self._planned.plans) > 1 else ""
        return f"{title} {spread.direction.value} {spread.quantity.value}{where}"
