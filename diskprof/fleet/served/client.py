"""fio's client: what it is given for a test on several hosts, and what of its document is of which host."""

import json
import re
from collections.abc import Mapping, Sequence
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from diskprof.engines.fio.reader import fio_argv
from diskprof.engines.jsonstream import Document, DocumentStream, JsonObject, Noise
from diskprof.fleet.served.talk import ServedResult, ServerReady
from diskprof.model.errors import UsageError
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import EngineName

_OF_ALL = "All clients"
_OF_FIO = ("--output-format=", "--status-interval=", "--readonly")
_MISREAD = re.compile(r"[;#\]]|\$\{")
"""In a file of jobs they begin a comment, end a name, or begin that of a variable."""


class Served(Struct, frozen=True):
    """A host whose server is ready; `socket` reaches it from here."""

    socket: str
    hello: ServerReady


def refuse_unserved(plan: Plan) -> None:
    """Raises UsageError for a plan that fio's client and server cannot carry out, or only as another load."""
    whole = "it is repeated in rounds" if plan.rounds else "it searches for a limit" if plan.limit else ""
    whole = "it draws a map" if plan.read_write_map else whole
    for test in plan.tests:
        if why := _obstacle(test) or whole:
            raise UsageError(f"{test.name} cannot run with --engine fio-server: {why}.", "Omit --engine.")


def as_served(plan: Plan) -> Plan:
    """The plan with one interval for the whole of a test: fio's client tells of it once. Raises what `refuse_unserved` raises."""
    refuse_unserved(plan)
    return replace(plan, tests=tuple(map(_told_once, plan.tests)))


def _told_once(test: PlannedTest) -> PlannedTest:
    whole_ms = ceil(test.seconds * 1000)
    argv = fio_argv(test.argv[0], test.load.fio, interval_ms=whole_ms, read_only=not test.writes, latency=test.latency)
    return replace(test, argv=argv, interval_ms=whole_ms)


def _obstacle(test: PlannedTest) -> str:
    if test.engine is not EngineName.FIO:
        return f"it runs {test.engine}"
    if test.steady:
        return "it ends once it is steady, and fio's client tells of a test at its end only"
    if test.load.searches:
        return "it searches for a queue depth"
    if any(job.runtime_s is None for job in test.load.fio):
        return "one of its jobs has no runtime"
    if any(map(_MISREAD.search, test.argv[1:])):
        return "a name or a value has a character that fio misreads in a job file (; # ] ${)"
    return ""


def job_file(argv: Sequence[str]) -> str:
    """The jobs of a command of fio's."""
    # A server puts the client's address before the names of files.
    lines = ["[global]", "unique_filename=0"]
    for word in argv[1:]:
        if word.startswith(_OF_FIO):
            continue
        name, _, value = word.removeprefix("--").partition("=")
        lines.append(f"[{value}]" if name == "name" else f"{name}={value}")
    return "\n".join(lines) + "\n"


def client_argv(program: str, served: Sequence[tuple[Served, str]]) -> tuple[str, ...]:
    """The command of the client; with each host the path of its file of jobs."""
    words = [program, "--output-format=json+"]
    for each, path in served:
        words += [f"--client=sock:{each.socket}", path]
    return tuple(words)


def by_host(output: bytes, served: Sequence[Served]) -> list[ServedResult]:
    """What the client printed, for each of `served`."""
    stream = DocumentStream()
    pieces = [*stream.feed(output), *stream.close()]
    documents = [piece.value for piece in pieces if isinstance(piece, Document)]
    lines = [line for piece in pieces if isinstance(piece, Noise) for line in piece.text.splitlines()]
    return [_of_host(documents[-1] if documents else {}, lines, each) for each in served]


def _of_host(document: JsonObject, lines: Sequence[str], served: Served) -> ServedResult:
    mark = f"<{served.hello.hostname}> "
    said = tuple(
        line.removeprefix(mark)
        for line in lines
        if line.startswith((mark, "fio: ")) and line.removeprefix(mark).startswith("fio: ")
    )
    jobs = [
        _without_place(job)
        for job in _objects(document, "client_stats")
        if job.get("hostname") == served.socket and job.get("jobname") != _OF_ALL
    ]
    if not jobs:
        return ServedResult("", said, 1)
    rest = {key: value for key, value in document.items() if key not in ("client_stats", "disk_util")}
    disks = [_without_place(each) for each in _objects(document, "disk_util") if each.get("hostname") == served.socket]
    own = {**rest, "jobs": jobs, **({"disk_util": disks} if disks else {})}
    return ServedResult(json.dumps(own, indent=2), said, int(any(job.get("error") for job in jobs)))


def _objects(document: JsonObject, key: str) -> list[JsonObject]:
    found = document.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _without_place(entry: Mapping[str, object]) -> dict[str, object]:
    """Of the socket, which is gone after the run."""
    return {key: value for key, value in entry.items() if key not in ("hostname", "port")}
