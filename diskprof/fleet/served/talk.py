"""What a fio server's keeper on a host and the coordinator say to each other: a line of JSON each."""

import json
from dataclasses import dataclass

from diskprof.fleet.follow.messages import read
from diskprof.store.codec import to_json

FIO_SOCKET = "fio"
RELAY_SOCKET = "told"


@dataclass(frozen=True, slots=True)
class Hello:
    """A server is ready for a test: `argv` is what fio is to do, `hostname` what the host calls itself."""

    test: int
    argv: tuple[str, ...]
    hostname: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What fio would have printed: its last document (empty where there is none), its words, its exit code."""

    document: str
    said: tuple[str, ...]
    code: int


def hello_line(hello: Hello) -> bytes:
    return to_json(hello).encode() + b"\n"


def read_hello(line: bytes) -> Hello:
    """The inverse of `hello_line`. Raises ValueError."""
    return read(Hello, json.loads(line))


def measured_line(measured: Measured) -> bytes:
    return to_json(measured).encode() + b"\n"


def read_measured(line: bytes) -> Measured:
    """The inverse of `measured_line`. Raises ValueError."""
    return read(Measured, json.loads(line))
