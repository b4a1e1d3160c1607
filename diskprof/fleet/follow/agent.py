"""The agent: what a coordinator talks to on a host, over stdin and stdout. It ends with its stdin, and never ends a run."""

import base64
import os
import platform
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from diskprof import __version__
from diskprof.config.file import load_config
from diskprof.fleet.follow.messages import (
    BEAT,
    AskClock,
    Began,
    ExportPiece,
    ExportRun,
    Follow,
    Greeting,
    Hello,
    HostRequest,
    LetGo,
    MakePlan,
    MakeRoom,
    News,
    StartRun,
    StopRun,
    answer_line,
    error_line,
    news_line,
    read_request,
)
from diskprof.fleet.socket_room import socket_room
from diskprof.model.errors import DiskprofError, RunNotFound, UsageError
from diskprof.model.plan import Plan
from diskprof.model.run import Run, Status
from diskprof.runner.detached.launch import request_stop, start_detached
from diskprof.runner.neighbours import refuse_beside_others
from diskprof.runner.session import Session, Wish
from diskprof.store import Store, this_process
from diskprof.store.codec import to_micros
from diskprof.store.exchange.runfile import rows_of
from diskprof.store.exchange.runfile_values import TestEnd
from diskprof.store.exchange.transfer import export_runs, on_its_way

_LOOK_EVERY_S = 1.0
_HURRY_S = 0.2
"""While the run waits for others."""
_BEAT_EVERY_S = 2.0
_BATCH = 200
_PIECE_BYTES = 1 << 20
_READ_BYTES = 1 << 16


class Agent:
    """Answers requests, and tells of the run that is followed. `write` is handed lines."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._store: Store | None = None
        self._path: Path | None = None
        self._follow: Follow | None = None
        self._told: tuple[object, ...] = ()
        self._spoke = 0.0
        self._waits, self._heard = False, 0.0
        self._export: tuple[str, IO[bytes]] | None = None
        self._undo = ExitStack()

    @property
    def wait_s(self) -> float | None:
        """After so long without a request `look` is to be called; None for never."""
        return None if self._follow is None else _HURRY_S if self._waits else _LOOK_EVERY_S

    def hear(self, line: bytes) -> None:
        """Answers a line. Raises ValueError for what is no request."""
        number, request = read_request(line)
        try:
            self._say(answer_line(number, self._answer(request)))
        except DiskprofError as error:
            self._say(error_line(number, error))

    def _answer(self, request: HostRequest) -> object:
        match request:
            case Hello(store):
                return self._greet(store)
            case AskClock():
                return time.time_ns()
            case MakePlan():
                return self._plan(request)
            case MakeRoom():
                return str(self._undo.enter_context(socket_room()))
            case StartRun():
                self._start(request)
            case LetGo(run_id, at_ns):
                moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_ns // 1000)
                self.store.barriers.let_go(run_id, moment)
            case Follow(run_id):
                self.store.run(run_id)
                self._follow, self._told = request, ()
            case StopRun(run_id):
                with suppress(RunNotFound):
                    request_stop(self.store, run_id)
            case ExportRun(run_id, start):
                return self._piece(run_id, start)
        return None

    def close(self) -> None:
        """Removes the directories of its sockets, and closes the file of the run that it exported."""
        self._undo.close()

    @property
    def store(self) -> Store:
        if self._store is None:
            raise UsageError("Nobody said hello.")
        return self._store

    def _greet(self, store: str | None) -> Greeting:
        self._path = Path(store) if store else load_config().settings.store
        self._store = Store.open(self._path)
        self._store.reap()
        here = this_process()
        home = f"{here.place} {here.boot_id} {self._store.path.resolve()}"
        return Greeting(__version__, socket.gethostname(), platform.machine(), home)

    def _plan(self, wanted: MakePlan) -> Plan:
        session = Session(self._path)
        tree = session.scan()
        wish = Wish(
            *(wanted.preset, None, tree, dict(wanted.settings)),
            permission=wanted.permission,
            expectations=wanted.expectations,
            disk_class=wanted.disk_class,
        )
        plan = session.make_plan(wish, session.resolve_target(wanted.target, tree), {})
        if wanted.earlier:
            from diskprof.runner.again import refuse_other_disks

            refuse_other_disks(wanted.earlier.run_id, wanted.earlier.disks, plan, tree)
        if not wanted.concurrent:
            refuse_beside_others(plan, self.store, tree)
        return plan

    def _start(self, wanted: StartRun) -> None:
        with suppress(RunNotFound):
            self.store.run(wanted.member.run_id)
            return
        start_detached(
            *(wanted.plan, self.store.path),
            tags=wanted.tags,
            note=wanted.note,
            concurrent=wanted.concurrent,
            member=wanted.member,
        )

    def _piece(self, run_id: str, start: int) -> ExportPiece:
        if self._export is None or self._export[0] != run_id:
            with ExitStack() as undo:
                file = undo.enter_context(on_its_way(self.store))
                export_runs(self.store, [run_id], file)
                self._undo.enter_context(undo.pop_all())
            self._export = run_id, file
        file = self._export[1]
        size = file.seek(0, os.SEEK_END)
        file.seek(start)
        piece = file.read(_PIECE_BYTES)
        return ExportPiece(base64.b64encode(piece).decode("ascii"), last=start + len(piece) >= size)

    def look(self) -> None:
        """Tells what is new in the run that is followed."""
        if self._follow is None:
            return
        try:
            self._tell(self._follow)
        except RunNotFound:
            self._follow = None
        if time.monotonic() - self._spoke >= _BEAT_EVERY_S:
            self._say(BEAT)

    def _tell(self, follow: Follow) -> None:
        store, run_id = self.store, follow.run_id
        store.reap()
        run = store.run(run_id)
        barrier = store.barriers.of(run_id)
        self._waits = barrier is not None and not barrier.passed_at and not run.status.over
        if self._waits and time.monotonic() - self._heard >= _BEAT_EVERY_S:
            self._heard = time.monotonic()
            store.barriers.hear(run_id)
        ended = [test for test in run.tests if test.status.over]
        samples = store.samples(run_id, after=follow.samples, most=_BATCH)
        system = store.system_samples(run_id, after=follow.system, most=_BATCH)
        messages = run.messages[follow.messages : follow.messages + _BATCH]
        records: list[tuple[str, object]] = [
            ("test", TestEnd(test.index, test.status, test.reason, test.started_ns, test.ended_ns, test.result, b""))
            for test in ended[follow.ended :]
            if not run.status.over
        ]
        records += [("messages", messages)] if messages else []
        records += [("samples", rows_of(samples.samples))] if samples.samples else []
        records += [("system", rows_of(system.samples))] if system.samples else []
        # A run is over for the coordinator when all that happened in it was told.
        whole = len(samples.samples) < _BATCH and len(system.samples) < _BATCH
        ready, passed = barrier is not None and barrier.ready_at is not None, barrier.passed_at if barrier else None
        told = (run.status, ready, passed, run.progress, whole)
        if records or told != self._told:
            news = News(
                *(run_id, run.status if whole else Status.RUNNING),
                began=None if follow.known else _beginning(run),
                running=_running(run),
                progress=run.progress,
                ready=ready,
                passed_us=to_micros(passed) if passed else None,
            )
            self._say(news_line(news, records))
        self._told = told
        self._follow = Follow(
            *(run_id, True, follow.messages + len(messages), samples.last, system.last, len(ended)),
        )
        if run.status.over and whole:
            self._follow = None

    def _say(self, line: bytes) -> None:
        self._write(line)
        self._spoke = time.monotonic()


def _beginning(run: Run) -> Began:
    return Began(run.plan, run.environment, to_micros(run.started_at), run.tags, run.note)


def _running(run: Run) -> tuple[int, int] | None:
    found = [
        (test.index, test.started_ns) for test in run.tests if not test.status.over and test.started_ns is not None
    ]
    return found[0] if found else None


def main() -> int:
    """Serves stdin until it ends."""
    out = os.dup(1)
    # Whatever else prints must not come between the lines.
    os.dup2(2, 1)

    def write(line: bytes) -> None:
        data = memoryview(line + b"\n")
        while data:
            data = data[os.write(out, data) :]

    agent, buffered = Agent(write), b""
    try:
        while True:
            ready, _, _ = select.select([0], [], [], agent.wait_s)
            if ready:
                data = os.read(0, _READ_BYTES)
                if not data:
                    return 0
                *lines, buffered = (buffered + data).split(b"\n")
                for line in lines:
                    agent.hear(line)
            else:
                agent.look()
    except BrokenPipeError:
        return 0
    except (DiskprofError, ValueError) as error:
        sys.stderr.write(f"diskprof: {error}\n")
        return 1
    finally:
        agent.close()
