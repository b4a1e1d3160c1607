"""What a fio server's keeper on a host and the coordinator say to each other: a line of JSON each."""

import json

from msgspec import Struct

from diskprof.fleet.follow.messages import read
from diskprof.store.codec import to_json

FIO_SOCKET = "fio"
RELAY_SOCKET = "told"


class ServerReady(Struct, frozen=True):
    """A server is ready for a test: `argv` is what fio is to do, `hostname` what the host calls itself."""

    test: int
    argv: tuple[str, ...]
    hostname: str


class ServedResult(Struct, frozen=True):
    """What fio would have printed: its last document (empty where there is none), its words, its exit code."""

    document: str
    said: tuple[str, ...]
    code: int


def hello_line(hello: ServerReady) -> bytes:
    return to_json(hello).encode() + b"\n"


def read_hello(line: bytes) -> ServerReady:
    """The inverse of `hello_line`. Raises ValueError."""
    return read(ServerReady, json.loads(line))


def measured_line(measured: ServedResult) -> bytes:
    return to_json(measured).encode() + b"\n"


def read_measured(line: bytes) -> ServedResult:
    """The inverse of `measured_line`. Raises ValueError."""
    return read(ServedResult, json.loads(line))
