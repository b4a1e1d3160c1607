"""What a coordinator and an agent say to each other: JSON, a line each.

A request is `{"n": 3, "ask": "StopRun", "with": {...}}`; the agent answers `{"n": 3, "answer": ...}` or `{"n": 3, "error": {...}}`,
and between its answers tells news of the run that it was asked to follow.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import asdict

from diskprof.model.advice import Advice
from diskprof.model.device import Device
from diskprof.model.errors import DiskprofError
from diskprof.model.expectation import Asked
from diskprof.model.fleet import MemberOrder
from diskprof.model.plan import Plan, WritePermission
from diskprof.model.preset import Preset
from diskprof.model.run import Environment, Progress, Status
from diskprof.runner.detached.order import RunAnswer, refusal, refused
from diskprof.store.codec import checked
from diskprof.store.exchange.runfile import COLUMNS, line_of
from diskprof.store.exchange.runfile_values import Record, record_of

T = TypeVar("T")
NO_WRITING = WritePermission()


class Hello(Struct, frozen=True):
    """`store`: the file of runs; None for the host's own. Answered by a Greeting."""

    store: str | None = None


class Greeting(Struct, frozen=True):
    """`home` says where the runs are kept: two names of one host have the same."""

    version: str
    hostname: str
    machine: str
    home: str = ""


class AskClock(Struct, frozen=True):
    """Answered by the host's clock, ns since 1970."""


class Earlier(Struct, frozen=True):
    """A run that is to be repeated, and the disks of each of its targets, which have to be the same."""

    run_id: str
    disks: tuple[tuple[Device, ...], ...]


class MakePlan(Struct, frozen=True):
    """Answered by the plan, with what speaks against it among its hazards."""

    preset: Preset
    target: str
    settings: tuple[tuple[str, str], ...] = ()
    expectations: tuple[Asked, ...] = ()
    permission: WritePermission = NO_WRITING
    concurrent: bool = False
    disk_class: str = ""
    earlier: Earlier | None = None


class StartRun(Struct, frozen=True):
    """Answered when the run has begun. A run of that id that is there already has begun: the answer to that was lost."""

    plan: Plan
    member: MemberOrder
    tags: tuple[str, ...] = ()
    note: str = ""
    concurrent: bool = False


class MakeRoom(Struct, frozen=True):
    """Answered by the path of a new directory for sockets, which nobody else can enter and which is gone when the agent ends."""


class LetGo(Struct, frozen=True):
    """A run that waits shall go on at that time of its host's clock, ns since 1970."""

    run_id: str
    at_ns: int


class Follow(Struct, frozen=True):
    """Tell news of a run from now on: what comes after so many messages and the cursors of samples and kernel statistics.

    `known`: its beginning was told. `ended`: so many of its tests are known to be over.
    """

    run_id: str
    known: bool
    messages: int
    samples: int
    system: int
    ended: int


class StopRun(Struct, frozen=True):
    """Answered at once: the run is over when the news say so."""

    run_id: str


class ExportRun(Struct, frozen=True):
    """Answered by a Piece of the file of a run that is over, from byte `start` on."""

    run_id: str
    start: int = 0


class ExportPiece(Struct, frozen=True):
    """`data` in base64; `last`: nothing comes after it."""

    data: str
    last: bool


HostRequest = Hello | AskClock | MakePlan | MakeRoom | StartRun | LetGo | Follow | StopRun | ExportRun
_KINDS = {
    kind.__name__: kind for kind in (Hello, AskClock, MakePlan, MakeRoom, StartRun, LetGo, Follow, StopRun, ExportRun)
}


class Began(Struct, frozen=True):
    """The beginning of a run; `started_at_us` by its host's clock, microseconds since 1970."""

    plan: Plan
    environment: Environment
    started_at_us: int
    tags: tuple[str, ...]
    note: str


class RunState(Struct, frozen=True):
    """Where a run is. `running` is the test that is, with when it began (ns since the run did).

    `ready`: it waits for others; `passed_us`: when it was let go, by its host's clock, microseconds since 1970.
    """

    run_id: str
    status: Status
    began: Began | None = None
    running: tuple[int, int] | None = None
    progress: Progress | None = None
    ready: bool = False
    passed_us: int | None = None


class News(RunState, frozen=True):
    """What happened in a run since the last news.

    `records` are ended tests (without their documents), messages and samples, as in a file of runs.
    """

    records: tuple[Record, ...] = ()


BEAT = b"{}"
"""A line that says nothing but that the agent is there."""


def request_line(number: int, request: HostRequest) -> bytes:
    return line_of({"n": number, "ask": type(request).__name__, "with": request})


def read_request(line: bytes) -> tuple[int, HostRequest]:
    """The inverse of `request_line`. Raises ValueError."""
    data = json.loads(line)
    try:
        return int(data["n"]), cast(HostRequest, read(_KINDS[data["ask"]], data["with"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no request: {error}") from None


def answer_line(number: int, value: object) -> bytes:
    return line_of({"n": number, "answer": value})


def error_line(number: int, error: DiskprofError) -> bytes:
    return line_of({"n": number, "error": refusal(error)})


def error_of(data: Mapping[str, Any]) -> DiskprofError:
    """The error that an answer tells. Raises ValueError."""
    answer = read(RunAnswer, data["error"])
    hint = answer.hint
    return refused(RunAnswer("", answer.error, answer.message, hint if isinstance(hint, str | Advice) else ""))


def news_line(news: News, records: list[tuple[str, object]]) -> bytes:
    """`records` by the keys that they have in a file of runs, in place of those of `news`."""
    fields = {name: getattr(news, name) for name in RunState.__struct_fields__}
    return line_of({"news": fields, "records": records})


def read_news(data: Mapping[str, Any]) -> News:
    """The inverse of `news_line`. Raises BadFile, ValueError."""
    records = tuple(record_of(str(key), value, COLUMNS) for key, value in data["records"])
    state = read(RunState, data["news"])
    return News(**asdict(state), records=records)


def read(kind: type[T], data: object) -> T:
    """A value of a dataclass out of its JSON. Raises ValueError."""
    return checked(kind, data)
