"""A connection to an agent: requests and their answers, news in between. Without threads, in one event loop."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, TypeVar

from diskprof import __version__
from diskprof.engines.process import Dialogue
from diskprof.fleet.follow.messages import (
    AskClock,
    ExportPiece,
    ExportRun,
    Greeting,
    Hello,
    HostRequest,
    News,
    error_of,
    read,
    read_news,
    request_line,
)
from diskprof.fleet.hosts.connection import SSH_FAILED, Connection
from diskprof.model.errors import DiskprofError, StoreError, UsageError
from diskprof.model.fleet import HostClock
from diskprof.model.text import clean
from diskprof.store.exchange.runfile_values import parsed

T = TypeVar("T")
_PINGS = 8
ANSWER_S = 60.0
_NOT_FOUND = 127
_LONGEST_WORDS = 300
_LARGEST = 1 << 30
"""Of the file of a run, in bytes; a day at an interval of a second is some 60 MB."""
SILENT_S = 6.0
"""An agent that follows a run says something every 2 s."""


class LinkLost(DiskprofError):
    """The connection is gone; its message ends with what ssh said."""


class HostFailed(DiskprofError):
    """The host cannot read or write its own runs: no error of the store here."""


class Link:
    """An agent on `host`, None: on this machine. `argv` starts it. To be closed, whatever happens to it."""

    def __init__(self, host: str | None, dialogue: Dialogue) -> None:
        self.host, self._dialogue = host, dialogue
        self.news: asyncio.Queue[News | None] = asyncio.Queue()
        """What was told of the run that is followed; None for a sign of life, and at the end."""
        self.lost: DiskprofError | None = None
        self.home = ""
        """As the host greeted."""
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    @staticmethod
    async def open(host: str | None, argv: Sequence[str], store: str | None) -> "Link":
        """Starts an agent and greets it. Raises LinkLost, UsageError where another version answers."""
        link = Link(host, await Dialogue.start(argv))
        try:
            try:
                greeting = await link.ask(Hello(store), Greeting)
            except LinkLost:
                raise await link._absent() from None
            if greeting.version != __version__:
                raise UsageError(
                    f"{clean(link.name)} has diskprof {clean(greeting.version)}, this one is {__version__}.",
                    "Install the same version on both.",
                )
            link.home = greeting.home
        except BaseException:
            # Cancelled too, the program that reaches the host must not stay behind.
            await link.close()
            raise
        return link

    async def _absent(self) -> DiskprofError:
        """Why there is no agent."""
        done = await self._dialogue.close()
        if self.host and done.code == SSH_FAILED:
            return Connection(self.host).unreachable(done.errors)
        said = one_line(done.errors)
        if done.code == _NOT_FOUND:
            return UsageError(
                f"{clean(self.name)} has no diskprof: {said}", "Install it there, so that `ssh HOST diskprof` finds it."
            )
        return LinkLost(f"diskprof does not start on {clean(self.name)}: {said or f'exit code {done.code}'}.")

    @property
    def name(self) -> str:
        return self.host or "this machine"

    async def ask(self, request: HostRequest, kind: type[T]) -> T:
        """The answer to a request.

        Raises the DiskprofError that the agent answers with, HostFailed in place of a StoreError, and LinkLost where it does not
        answer, or what is no answer.
        """
        answer = await self._ask(request)
        try:
            return read(kind, answer)
        except (ValueError, RecursionError):
            raise self._senseless(request) from None

    def _senseless(self, request: HostRequest) -> "LinkLost":
        return LinkLost(f"{clean(self.name)} answers {type(request).__name__} with what is not understood here.")

    async def tell(self, request: HostRequest) -> None:
        """As `ask`, of a request whose answer says only that it was heard."""
        await self._ask(request)

    async def _ask(self, request: HostRequest) -> Any:
        if self.lost:
            raise self.lost
        self._number += 1
        number = self._number
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            with suppress(ConnectionError):
                self._dialogue.send(request_line(number, request))
            async with asyncio.timeout(ANSWER_S):
                data = await future
        except TimeoutError:
            raise LinkLost(f"{clean(self.name)} does not answer.") from None
        finally:
            self._waiting.pop(number, None)
        if "error" not in data:
            return data.get("answer")
        try:
            error = error_of(data)
        except (ValueError, RecursionError):
            raise self._senseless(request) from None
        raise HostFailed(error.message, error.hint) if isinstance(error, StoreError) else error

    async def clock(self) -> HostClock:
        """The host's clock beside this one: of several round trips the shortest counts."""
        found = []
        for _ in range(_PINGS):
            sent = time.time_ns()
            there = await self.ask(AskClock(), int)
            back = time.time_ns()
            if there < 0:
                raise self._senseless(AskClock())
            found.append(((back - sent) // 2, there - (sent + back) // 2))
        within, offset = min(found)
        return HostClock(offset, within)

    async def export(self, run_id: str, file: IO[bytes]) -> None:
        """Writes the file of a run that is over to `file`, piece by piece."""
        import base64

        size = 0
        while True:
            request = ExportRun(run_id, size)
            piece = await self.ask(request, ExportPiece)
            try:
                size += file.write(base64.b64decode(piece.data))
            except ValueError:
                raise self._senseless(request) from None
            if piece.last:
                return
            if size == request.start or size > _LARGEST:
                raise self._senseless(request)

    async def _read(self) -> None:
        error = ""
        try:
            while line := await self._dialogue.line():
                self._hear(line)
        except (DiskprofError, ValueError, LookupError, TypeError, RecursionError, OverflowError) as wrong:
            error = f"It says what is not understood here: {wrong}"
        self.lost = LinkLost(error or "The connection was closed.")
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(self.lost)
        self.news.put_nowait(None)

    def _hear(self, line: bytes) -> None:
        data = parsed(line)
        if not isinstance(data, dict):
            raise ValueError("a line that is no object")
        if "news" in data:
            self.news.put_nowait(read_news(data))
        elif "n" in data:
            future = self._waiting.get(data["n"])
            if future and not future.done():
                future.set_result(data)
        else:
            self.news.put_nowait(None)

    async def close(self) -> str:
        """Ends the agent; what was said on stderr, in one line."""
        done = await self._dialogue.close()
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        return one_line(done.errors)


def one_line(said: str) -> str:
    """What a program said, in one line that can be shown."""
    return " ".join(clean(line.strip()) for line in said.splitlines() if line.strip())[:_LONGEST_WORDS]


def agent_argv(host: str | None, program: Sequence[str]) -> tuple[str, ...]:
    """The words that start an agent: `program` starts diskprof on the host."""
    from diskprof.own_program import HiddenEntry

    words = (*program, HiddenEntry.AGENT)
    return words if host is None else Connection(host).argv(words, compressed=True)
