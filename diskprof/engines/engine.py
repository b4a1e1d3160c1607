"""What a front end of an engine sees: one test in, a stream of events out."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from diskprof.engines.events import Counted, Ending, Event, Finished, LineReader, Noted, Outcome, PhaseChanged, Sampled
from diskprof.engines.fio.reader import FioReader
from diskprof.engines.ioping import IopingReader
from diskprof.engines.process import LATE_S, Process
from diskprof.engines.reasons import stuck
from diskprof.model.errors import DiskprofError
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.run import Status
from diskprof.model.sample import Phase
from diskprof.model.units import format_duration

__all__ = ["STALL_LIMIT_S", "Counted", "Event", "Finished", "Noted", "Outcome", "PhaseChanged", "Sampled", "measure"]

STALL_LIMIT_S = 60.0
_SILENT_AFTER_S = 5.0


class _Reader(Protocol):
    """What both engines' readers can do."""

    @property
    def name(self) -> str: ...
    @property
    def heard_ns(self) -> int: ...
    @property
    def gap_s(self) -> float: ...
    @property
    def hold_s(self) -> float | None: ...
    @property
    def complaint(self) -> str: ...
    def feed(self, chunk: bytes, at_ns: int) -> list[Event]: ...
    def say(self, line: str) -> list[Event]: ...
    def idle(self) -> list[Event]: ...
    def close(self, at_ns: int) -> list[Event]: ...
    def conclude(self, ending: Ending) -> Outcome: ...


async def measure(
    planned: PlannedTest,
    *,
    index: int,
    clock: Callable[[], int],
    workdir: Path,
    stop: asyncio.Event,
    enough: asyncio.Event | None = None,
    preparing: bool = False,
    pass_fds: Sequence[int] = (),
    stall_limit_s: float = STALL_LIMIT_S,
) -> AsyncGenerator[Event, None]:
    """Carry out one test and say what happens; ends with Finished.

    `clock` gives ns since the run began. `workdir` is a private directory, the engine's working directory and TMPDIR.
    Setting `stop` ends the test within 2 s; it is then CANCELLED and what was measured is kept. Setting `enough` ends a
    fio test in good order, however long its disk takes for that, and it is COMPLETE. `preparing` marks every sample as
    the laying out of the test file. An engine that says nothing for `stall_limit_s` longer than it should is ended (F21).

    Until the first PhaseChanged the test starts up, without I/O.

    Use it in `contextlib.aclosing`: no process outlives the generator, whichever way it is left. Whatever goes wrong
    with the engine is an Outcome, not an exception. To be called in the main thread (F19).
    """
    if stop.is_set():
        yield Finished(Outcome(Status.CANCELLED))
        return
    reader = _reader(planned, index, clock(), preparing)
    follower = _Follower(planned, reader, clock, stop, stall_limit_s, enough or asyncio.Event())
    try:
        process = await Process.start(
            planned.argv, workdir=workdir, on_output=follower.on_output, on_error=follower.on_error, pass_fds=pass_fds
        )
    except DiskprofError as error:
        yield Finished(Outcome(Status.FAILED, error.message))
        return
    try:
        if preparing or (planned.engine is EngineName.IOPING and planned.bytes_written):
            yield PhaseChanged(Phase.PREPARING, clock())
        async with aclosing(follower.follow(process)) as events:
            async for event in events:
                yield event
    finally:
        await process.close()


def _reader(planned: PlannedTest, index: int, started_ns: int, preparing: bool) -> _Reader:
    if planned.engine is EngineName.FIO:
        return FioReader(planned, index=index, started_ns=started_ns, preparing=preparing)
    return IopingReader(planned, index=index, started_ns=started_ns)


class _Follower:
    """Stands between a process and its reader.

    It takes what comes at once, so that the engine never waits for us, and watches for silence.
    """

    def __init__(
        self,
        planned: PlannedTest,
        reader: _Reader,
        clock: Callable[[], int],
        stop: asyncio.Event,
        stall_limit_s: float,
        enough: asyncio.Event,
    ) -> None:
        self._planned, self._reader, self._clock = planned, reader, clock
        self._stop, self._enough = stop, enough
        self._stall_limit_s = stall_limit_s
        self._events: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._errors = LineReader()
        self._failure = ""
        self._started_ns = self._output_ns = self._listening_ns = self._due_ns = clock()
        self._idled = True
        self._next_notice_s = _SILENT_AFTER_S

    def on_output(self, data: bytes) -> None:
        if self._failure:
            return
        now = self._output_ns = self._clock()
        self._idled = False
        before = self._reader.heard_ns
        try:
            self._add(self._reader.feed(data, now))
            self._failure = self._reader.complaint
        except DiskprofError as error:
            self._failure = error.message
        # A part of a document changes nothing yet.
        if self._failure or self._reader.heard_ns != before:
            self._wake.set()
        if self._reader.heard_ns != before and self._next_notice_s > _SILENT_AFTER_S:
            self._next_notice_s = _SILENT_AFTER_S
            silence = format_duration((now - before) / 1e9)
            self._add([Noted(f"{self._reader.name} responds again after {silence} without a status.", warning=True)])

    def on_error(self, data: bytes) -> None:
        for line in self._errors.feed(data):
            self._add(self._reader.say(line))
        if self._reader.complaint and not self._failure:
            self._failure = self._reader.complaint
            self._wake.set()

    def _add(self, events: Sequence[Event]) -> None:
        self._events.extend(events)
        if events:
            self._wake.set()

    async def follow(self, process: Process) -> AsyncGenerator[Event, None]:
        """Events as they come, until the process is gone or has to go; then how it ended."""
        gone = asyncio.ensure_future(process.ended())
        asked = asyncio.ensure_future(self._stop.wait())
        enough = asyncio.ensure_future(self._enough.wait())
        ended = False
        for future in (gone, asked, enough):
            future.add_done_callback(lambda _: self._wake.set())
        try:
            while not (gone.done() or asked.done() or self._failure):
                self._wake.clear()
                if enough.done() and not ended:
                    # A slow disk works off first what is in flight: fio has as long for that as it may be silent.
                    ended = True
                    process.interrupt()
                self._look()
                while self._events:
                    event = self._events.popleft()
                    yield replace(event, spent=process.cpu_time()) if isinstance(event, Sampled) else event
                await self._sleep()
            cancelled = asked.done() and not gone.done()
            code = process.code if gone.done() else await process.stop()
        finally:
            for future in (gone, asked, enough):
                future.cancel()
            await asyncio.gather(gone, asked, enough, return_exceptions=True)
        for line in self._errors.close():
            self._add(self._reader.say(line))
        self._add(self._reader.close(self._clock()))
        while self._events:
            yield self._events.popleft()
        if code is None:
            self._failure = stuck(self._reader.name, process.pid)
        outcome = self._reader.conclude(Ending(code, cancelled, self._failure, ended and not cancelled))
        if outcome.told:
            yield Noted(outcome.told)
        yield Finished(replace(outcome, survivor=process.pid) if code is None else outcome)

    async def _sleep(self) -> None:
        """Until something happens, or would have to."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds_to_next()):
                await self._wake.wait()

    def _seconds_to_next(self) -> float:
        now = self._clock()
        next_s = min(self._next_notice_s, self._stall_limit_s) - self._silent_s(now)
        hold_s = self._reader.hold_s
        if hold_s is not None and not self._idled:
            next_s = min(next_s, hold_s - (now - self._output_ns) / 1e9)
        return max(0.001, next_s)

    def _silent_s(self, now: int) -> float:
        """Time without a sign of life, while we listened, beyond what is normal."""
        return (now - max(self._reader.heard_ns, self._listening_ns)) / 1e9 - self._reader.gap_s

    def _look(self) -> None:
        now = self._clock()
        if now - self._due_ns >= LATE_S * 1e9:
            # We were held up ourselves, or stopped together with the engine: its silence begins anew.
            self._listening_ns = now
        hold_s = self._reader.hold_s
        if hold_s is not None and not self._idled and now - self._output_ns >= hold_s * 1e9:
            self._idled = True
            self._add(self._reader.idle())
        silent_s, name = self._silent_s(now), self._reader.name
        if silent_s >= self._stall_limit_s:
            silence = format_duration(silent_s)
            self._failure = f"{name} did not respond for {silence} and was killed: the device or {name} hangs."
            self._wake.set()
        elif silent_s >= self._next_notice_s:
            self._next_notice_s *= 2
            self._add(
                [Noted(f"No status from {name} for {format_duration(silent_s)}: the device may hang.", warning=True)]
            )
        self._due_ns = now + round(self._seconds_to_next() * 1e9)
