"""A run of the real program at a chosen moment, for a test to do harm to."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from program import DISKPROF, descendants, environment, own_preset, until
from standin import Misbehaviour, Moment, write_standin

from diskprof.engines.tools import find_tool
from diskprof.model.errors import StoreError
from diskprof.model.preset import EngineName
from diskprof.model.run import Run
from diskprof.model.sample import Phase, Sample
from diskprof.store import Store

PRESET = """
name = "matrix"
title = "Matrix"
category = "quick"

[parameters]
size = "8m"
ramp = "300ms"
first = { default = "750ms", kind = "duration" }
second = { default = "500ms", kind = "duration" }

[fio]
size = "$size"
time_based = true
rate_iops = 20
thinktime = "1ms"

[[test]]
name = "reads"
title = "Random reads"
options = { rw = "randread", bs = "4k", ramp_time = "$ramp", runtime = "$first" }

[[test]]
name = "writes"
title = "Random writes"
options = { rw = "randwrite", bs = "4k", runtime = "$second" }
"""
LONG = {
    Moment.LAYING_OUT: ("--set", "size=256m"),
    Moment.RAMP: ("--set", "ramp=600", "--set", "first=601"),
    Moment.MEASURING: ("--set", "first=600"),
    Moment.BETWEEN: ("--set", "second=600"),
}
"""What makes a moment last, the laying out at the rate of `make_case`."""
BRIEF = {
    Moment.LAYING_OUT: (),
    Moment.RAMP: ("--set", "ramp=1500ms", "--set", "first=1600ms"),
    Moment.MEASURING: ("--set", "first=1500ms"),
    Moment.BETWEEN: (),
}
"""What makes it last long enough to be caught."""
ACTING = {Moment.MEASURING: ("--set", "first=2500ms")}
"""What makes room for the stand-in's act, also where the disk stands still for a second."""
STORE = Path(".local/share/diskprof/runs.db")

# The watch for silence, with less patience than a person's disk gets.
IMPATIENT = """
import functools
from diskprof.runner.carry import execute
execute.measure = functools.partial(execute.measure, stall_limit_s=3.5)
from diskprof.cli.entry import run
run()
"""


def make_home(home: Path) -> Path:
    """A home with the preset `matrix`, an empty store and a directory `disk` to run it in.

    The store is there from the start: on a slow disk whoever looks at one that is being made keeps it from being made.
    """
    own_preset(home, "matrix", PRESET)
    (home / "disk").mkdir()
    Store.open(home / STORE).close()
    return home


@dataclass
class Case:
    """One run: at which moment it is to be harmed, and what is to be seen of it."""

    home: Path
    moment: Moment
    standin: Path
    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    engine: EngineName = EngineName.FIO

    @property
    def disk(self) -> Path:
        return self.home / "disk"

    @property
    def store_path(self) -> Path:
        return self.home / STORE

    def store(self) -> Store:
        return Store.open(self.store_path)

    def run_id(self) -> str:
        """The newest run, once there is one."""
        if not self.store_path.exists():
            return ""
        try:
            with self.store() as store:
                return next((summary.id for summary in store.summaries(limit=1)), "")
        except StoreError:
            # It is being made at this moment.
            return ""

    def seen(self) -> tuple[Sample, ...]:
        """What anybody can read now."""
        with self.store() as store:
            return store.samples(self.run_id()).samples

    def reached(self, store: Store) -> bool:
        """Whether the run has come to its moment."""
        if self.moment is Moment.BETWEEN:
            return (self.standin.parent / "waiting").exists()
        phase = {Moment.LAYING_OUT: Phase.PREPARING, Moment.RAMP: Phase.WARMING, Moment.MEASURING: Phase.MEASURING}
        runs = store.summaries(limit=1)
        return any(sample.phase is phase[self.moment] for run in runs for sample in store.samples(run.id).samples)

    def arrive(self, process: subprocess.Popen[str] | None = None) -> None:
        """Returns when the run, that of `process` or a detached one, has come to its moment."""
        over = process.poll if process else lambda: None
        with self.store() as store:
            until(lambda: self.reached(store) or over() is not None, f"a run in the state {self.moment}")
        assert over() is None, process and process.communicate()

    def go_on(self) -> None:
        """Lets the second test begin, where it waits for that."""
        gate = self.standin.parent / "gate"
        if gate.exists():
            until(lambda: _opened(gate), "a second test that waits")

    def engines(self) -> list[int]:
        """The processes of the engine: the stand-in itself before it becomes fio."""
        with self.store() as store:
            return descendants(store.runner(self.run_id()).pid, self.engine)

    @contextmanager
    def started(self, *, impatient: bool = False) -> Iterator[subprocess.Popen[str]]:
        """The run in the foreground, without a terminal; what is left of it is killed by its own process id."""
        program = (sys.executable, "-c", IMPATIENT) if impatient else DISKPROF
        process = subprocess.Popen(
            [*program, *self.words],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.communicate()

    def ended(self) -> Run:
        """The run as the next start finds it."""
        with self.store() as store:
            store.reap()
            return store.run(self.run_id())

    def integrity(self) -> str:
        with closing(sqlite3.connect(self.store_path)) as db:
            return str(db.execute("PRAGMA integrity_check").fetchone()[0])


def _opened(gate: Path) -> bool:
    """Opens a FIFO for writing; not if nobody is there to read, whom a plain open would wait for without end."""
    try:
        os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return False
    return True


def make_case(
    home: Path, moment: Moment, misbehaviour: Misbehaviour = Misbehaviour.NONE, *, lasting: bool = True
) -> Case:
    """A case with a home of its own. `lasting`: the moment does not pass by itself before somebody has seen it."""
    make_home(home)
    acting = misbehaviour is not Misbehaviour.NONE
    slow = "4m" if moment is Moment.LAYING_OUT and not acting else ""
    standin = write_standin(home / "fio", find_tool(EngineName.FIO).path, moment, misbehaviour, rate=slow)
    words = ("run", "matrix", "disk", "--yes", *((LONG if lasting else ACTING if acting else BRIEF).get(moment, ())))
    return Case(home, moment, standin, words, environment(home, DISKPROF_FIO=str(standin), TMPDIR=str(home)))


def stand_still(case: Case, process: subprocess.Popen[str], seconds: float) -> None:
    """Runner and engine are stopped for so long; the runner wakes first, and has had a turn before the engine does."""
    engines = case.engines()
    stopped = time.monotonic()
    signalled([process.pid, *engines], signal.SIGSTOP)
    with case.store() as store:
        run_id = case.run_id()
        before = store.run(run_id).progress
        until(lambda: time.monotonic() - stopped > seconds, "the time to pass")
        process.send_signal(signal.SIGCONT)
        until(lambda: process.poll() is not None or store.run(run_id).progress != before, "a turn of the runner")
    signalled(engines, signal.SIGCONT)


def signalled(pids: list[int], number: int) -> None:
    for pid in pids:
        os.kill(pid, number)
