"""What a runner starts in place of fio where fio serves: `fio --server`, on a socket, whose results come from the fio client.

The runner hears what fio itself would tell it. Whatever ends, the server and the jobs that it forks end too.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from diskprof.engines.process import Process, dies_with_parent
from diskprof.fleet.served.talk import FIO_SOCKET, RELAY_SOCKET, ServedResult, ServerReady, hello_line, read_measured
from diskprof.model.errors import DiskprofError
from diskprof.runner.carry.served import CLIENT_S

_UP_S = 10.0
_LOOK_S = 0.02
_LONGEST = 1 << 28


async def _serve(room: Path, test: int, argv: Sequence[str], descriptors: Sequence[int]) -> ServedResult:
    """Raises DiskprofError where no result comes."""
    said = bytearray()
    socket, relay = room / FIO_SOCKET, room / RELAY_SOCKET
    for left in (socket, relay):
        left.unlink(missing_ok=True)
    words = [argv[0], f"--server=sock:{socket}", *(word for word in argv if word == "--readonly")]
    process = await Process.start(
        words, workdir=Path.cwd(), on_output=said.extend, on_error=said.extend, pass_fds=descriptors
    )
    try:
        async with asyncio.timeout(_UP_S):
            while not socket.exists():
                if process.code is not None:
                    raise DiskprofError(f"fio --server does not start: {said.decode('utf-8', 'replace').strip()}")
                await asyncio.sleep(_LOOK_S)
        return await _told(relay, ServerReady(test, tuple(argv), os.uname().nodename))
    except TimeoutError:
        raise DiskprofError("fio --server does not open its socket.") from None
    finally:
        # It forks a process for each connection, which outlives it and its client.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.close()
        for left in (socket, relay):
            left.unlink(missing_ok=True)


async def _told(relay: Path, hello: ServerReady) -> ServedResult:
    """What the client that connects tells. Raises DiskprofError where none comes, or it goes before it tells."""
    came = asyncio.get_running_loop().create_future()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(hello_line(hello))
        line = b""
        with suppress(ConnectionError, ValueError):
            if not heard.done():
                heard.set_result(None)
            line = await reader.readline()
        writer.close()
        if not came.done():
            came.set_result(line)

    heard = asyncio.get_running_loop().create_future()
    async with await asyncio.start_unix_server(talk, relay, limit=_LONGEST):
        try:
            async with asyncio.timeout(CLIENT_S):
                await heard
        except TimeoutError:
            raise DiskprofError(f"No fio client came within {CLIENT_S:.0f} s.") from None
        line = await came
    try:
        return read_measured(line)
    except ValueError:
        raise DiskprofError("The connection to the fio client was lost.") from None


async def _until_asked(room: Path, test: int, argv: Sequence[str], descriptors: Sequence[int]) -> int:
    work = asyncio.ensure_future(_serve(room, test, argv, descriptors))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    # Of the runner's end by SIGKILL too: whoever is killed so cannot end the jobs.
    dies_with_parent(signal.SIGTERM)
    try:
        measured = await work
    except asyncio.CancelledError:
        return 128
    except (DiskprofError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stderr.writelines(f"{line}\n" for line in measured.said)
    sys.stdout.write(measured.document)
    return measured.code


def main(words: Sequence[str]) -> int:
    """`words`: the directory for the sockets, the index of the test, the descriptors to pass on, and fio's command."""
    room, test, descriptors, *argv = words
    return asyncio.run(_until_asked(Path(room), int(test), argv, json.loads(descriptors)))
