"""The tests of a fleet run by fio's client: a client for each test, as soon as the servers of all hosts are ready for it."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diskprof.engines.process import Dialogue, Process
from diskprof.engines.tools import find_tool
from diskprof.fleet.hosts.connection import Connection
from diskprof.fleet.member import Member
from diskprof.fleet.served.client import Served, by_host, client_argv, job_file
from diskprof.fleet.served.talk import FIO_SOCKET, RELAY_SOCKET, ServerReady, measured_line, read_hello
from diskprof.fleet.socket_room import socket_room
from diskprof.model.preset import EngineName

_LOOK_S = 0.1
_LATE_S = 20.0
"""So long servers that are ready wait for those of the other hosts."""
_OVERDUE_S = 60.0
_LONGEST_LINE = 1 << 20


@dataclass
class _Ready:
    """A server that waits for its client."""

    member: Member
    hello: ServerReady
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def goes_on(self) -> bool:
        return self.member.goes_on and not self.reader.at_eof()


async def measure_served(members: Sequence[Member]) -> None:
    """Carries out the tests of all members, until it is cancelled. Raises DiskprofError where there is no fio or ssh."""
    program = find_tool(EngineName.FIO).path
    with socket_room() as directory:
        session = _Session(members, str(program), directory)
        try:
            await session.carry_out()
        finally:
            await session.close()


class _Session:
    def __init__(self, members: Sequence[Member], program: str, directory: Path) -> None:
        self._members, self._program, self._directory = members, program, directory
        self._ready: dict[int, _Ready] = {}
        self._forwards: list[Dialogue] = []

    async def carry_out(self) -> None:
        for member in self._members:
            await self._forward(member)
        since = 0.0
        while True:
            going = [member for member in self._members if member.goes_on]
            self._ready = {index: each for index, each in self._ready.items() if each.goes_on}
            await asyncio.gather(*(self._meet(member) for member in going if member.index not in self._ready))
            since = since if self._ready and since else time.monotonic()
            late = [member for member in going if member.index not in self._ready]
            if self._ready and (not late or time.monotonic() - since > _LATE_S):
                for member in late:
                    # Alone it would measure another load.
                    member.stopping.set()
                await self._measure()
                since = 0.0
            await asyncio.sleep(_LOOK_S)

    async def _forward(self, member: Member) -> None:
        """Lays the sockets of its host where this machine has them."""
        place = self._place(member)
        if member.member.host is None:
            place.symlink_to(member.room)
            return
        place.mkdir()
        sockets = {place / name: f"{member.room}/{name}" for name in (FIO_SOCKET, RELAY_SOCKET)}
        self._forwards.append(await Dialogue.start(Connection(member.member.host).forwarding(sockets)))

    def _place(self, member: Member) -> Path:
        return self._directory / str(member.index)

    async def _meet(self, member: Member) -> None:
        """Whether its server is ready for a test. Behind a connection that is forwarded there may be nobody."""
        with suppress(OSError, ValueError, TimeoutError):
            reader, writer = await asyncio.open_unix_connection(self._place(member) / RELAY_SOCKET, limit=_LONGEST_LINE)
            try:
                async with asyncio.timeout(_LATE_S):
                    hello = read_hello(await reader.readline())
            except BaseException:
                # Cancelled too, the connection must not stay open.
                writer.close()
                raise
            self._ready[member.index] = _Ready(member, hello, reader, writer)

    async def _measure(self) -> None:
        """The test that comes first of those that servers are ready for."""
        test = min(each.hello.test for each in self._ready.values())
        batch = [each for each in self._ready.values() if each.hello.test == test]
        served = [Served(str(self._place(each.member) / FIO_SOCKET), each.hello) for each in batch]
        files = list[tuple[Served, str]]()
        for each, one in zip(batch, served, strict=True):
            path = self._directory / f"{each.member.index}.fio"
            path.write_text(job_file(one.hello.argv))
            files.append((one, str(path)))
        plans = [each.member.planned.plan for each in batch]
        output = await self._run(
            client_argv(self._program, files), max(plan.tests[test].seconds for plan in plans if plan), batch
        )
        for each, measured in zip(batch, by_host(output, served), strict=True):
            each.writer.write(measured_line(measured))
            with suppress(ConnectionError):
                await each.writer.drain()
            each.writer.close()
            del self._ready[each.member.index]

    async def _run(self, argv: Sequence[str], seconds: float, batch: Sequence[_Ready]) -> bytes:
        """What the client prints; it is ended when no host is left that waits for it, or it takes too long."""
        output = bytearray()
        process = await Process.start(argv, workdir=self._directory, on_output=output.extend, on_error=output.extend)
        ended = asyncio.ensure_future(process.ended())
        deadline = time.monotonic() + seconds + _OVERDUE_S
        try:
            while not ended.done() and time.monotonic() < deadline and any(each.goes_on for each in batch):
                await asyncio.wait([ended], timeout=_LOOK_S)
        finally:
            ended.cancel()
            await process.close()
        return bytes(output)

    async def close(self) -> None:
        for each in self._ready.values():
            each.writer.close()
        await asyncio.gather(*(forward.close() for forward in self._forwards))
