"""A link between an ssh client and its server that is slow, or goes dead, when a test says so."""

import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# What is kept under way is what a modem would keep, not the megabytes of a loopback connection.
_BUFFER = 4096
_PACKET_S = 0.05


class _Way:
    """One direction of a connection."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self.source, self.sink = source, sink
        self.free_at = 0.0
        self.bytes = 0


class Link:
    """Passes connections on to the server, `rate` bytes a second each way (0: as fast as it goes)."""

    def __init__(self, server_port: int, rate: float) -> None:
        self._server_port, self._rate = server_port, rate
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ways: list[_Way] = []
        self._dead = False
        self._ending = False
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def bytes_to_client(self) -> int:
        """What has come through from the server, of all connections."""
        return sum(way.bytes for way in list(self._ways)[1::2])

    def die(self) -> None:
        """From now on nothing passes, and nobody is told: a cable was pulled."""
        self._dead = True
        os.write(self._wake_write, b".")

    def close(self) -> None:
        self._ending = True
        os.write(self._wake_write, b".")
        # A send that waits for its reader must not wait for ever.
        for way in list(self._ways):
            with suppress(OSError):
                way.sink.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for way in self._ways:
            way.source.close()
        self._listener.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _serve(self) -> None:
        open_ways: list[_Way] = []
        while not self._ending:
            now = time.monotonic()
            ready = {way.source: way for way in open_ways if way.free_at <= now} if not self._dead else {}
            waiting = [way.free_at - now for way in open_ways if way.free_at > now]
            timeout = min(waiting) if waiting and not self._dead else None
            found, _, _ = select.select([self._wake_read, self._listener, *ready], [], [], timeout)
            for source in found:
                if source == self._wake_read:
                    os.read(self._wake_read, 64)
                elif source == self._listener:
                    open_ways += self._accept()
                elif not self._pass(ready[source]):
                    open_ways.remove(ready[source])

    def _accept(self) -> list[_Way]:
        client, _ = self._listener.accept()
        server = socket.socket()
        if self._rate:
            for end in (client, server):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        server.connect(("127.0.0.1", self._server_port))
        ways = [_Way(client, server), _Way(server, client)]
        self._ways += ways
        return ways

    def _pass(self, way: _Way) -> bool:
        """Passes a packet on; false once that direction has ended."""
        size = max(1, int(self._rate * _PACKET_S)) if self._rate else 65536
        try:
            data = way.source.recv(size)
            way.sink.sendall(data)
        except OSError:
            data = b""
        if not data:
            with suppress(OSError):
                way.sink.shutdown(socket.SHUT_WR)
            return False
        way.bytes += len(data)
        if self._rate:
            way.free_at = time.monotonic() + len(data) / self._rate
        return True


@contextmanager
def link(server_port: int, *, rate: float = 0) -> Iterator[Link]:
    """A link to the server on 127.0.0.1, of `rate` bytes a second each way."""
    made = Link(server_port, rate)
    try:
        yield made
    finally:
        made.close()
