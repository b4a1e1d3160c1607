"""Programs as a person would start them, in a home of their own, and what they cost by the kernel's account."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

REPOSITORY = Path(__file__).parents[2]
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE_S = 60.0

T = TypeVar("T")

CALM = 0.1
"""A measurement during which others took more of a core is made again, as long as there is time."""


def generators() -> None:
    """Makes the modules importable with which the tests make runs without a disk."""
    for part in (REPOSITORY, REPOSITORY / "tests" / "kit"):
        if str(part) not in sys.path:
            sys.path.insert(0, str(part))


def diskprof() -> tuple[str, ...]:
    """How to start diskprof: the program that was installed with this interpreter, else its module."""
    installed = Path(sys.executable).with_name("diskprof")
    return (str(installed),) if installed.exists() else (sys.executable, "-m", "diskprof")


@dataclass(frozen=True)
class Home:
    """A directory of its own for settings, presets and runs."""

    path: Path

    @property
    def store(self) -> Path:
        return self.path / "data" / "diskprof" / "runs.db"

    @property
    def presets(self) -> Path:
        found = self.path / "config" / "diskprof" / "presets"
        found.mkdir(parents=True, exist_ok=True)
        return found

    @property
    def environment(self) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.path),
            "XDG_CONFIG_HOME": str(self.path / "config"),
            "XDG_DATA_HOME": str(self.path / "data"),
            "XDG_CACHE_HOME": str(self.path / "cache"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }


@contextmanager
def new_home(under: Path | None = None) -> Iterator[Home]:
    """A home that is gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix="diskprof-bench-", dir=under))
    try:
        yield Home(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run(argv: Sequence[str], home: Home, *, expect: Sequence[int] = (0,)) -> str:
    """Runs a program to its end and returns its stdout."""
    done = subprocess.run(
        argv,
        env=dict(home.environment),
        cwd=home.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    if done.returncode not in expect:
        raise SystemExit(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout


@dataclass(frozen=True)
class Taken:
    """Seconds that a program took from its start to its end: by the clock, and of a processor (its children included)."""

    wall: float
    cpu: float


def taken(argv: Sequence[str], home: Home, *, expect: Sequence[int] = (0,)) -> Taken:
    """Runs a program to its end. Nothing else that this process started may end meanwhile."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run(argv, home, expect=expect)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(time.perf_counter() - began, used)


def cpu_seconds(pid: int) -> float:
    """The processor time of a process itself, without children. Raises OSError once it is gone.

    By its clock (clock_getcpuclockid(3)), which the kernel counts in nanoseconds, as for /proc/PID/task/*/schedstat, and which has
    the threads that have ended: /proc/PID/stat rounds to 10 ms, an eighth of a percent of a core in 8 s.
    """
    return time.clock_gettime((~pid << 3) | 2)


def rss_mib(pid: int | str = "self", *, peak: bool = False) -> float:
    """The resident memory of a process, now or at its peak. Raises OSError once it is gone."""
    found = re.search(rf"{'VmHWM' if peak else 'VmRSS'}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def children(pid: int) -> set[int]:
    """Ids of the processes that a process, or one of its threads, has started; none once it is gone."""
    found = set[int]()
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found |= set(map(int, (thread / "children").read_text().split()))
    return found


def _busy_seconds() -> float:
    """What all processors worked so far, the host's share of them included; interrupts left out, which are the disk's."""
    user, nice, system, _, _, _, _, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + steal) / _TICKS


class Others:
    """How much of the processors everybody else takes, the host that runs this machine included: the noise of a measurement."""

    def __init__(self, *ours: int) -> None:
        self._pids = {os.getpid(), *ours}
        for pid in tuple(self._pids):
            self._pids |= children(pid)
        self._began, self._busy, self._own = time.perf_counter(), *self._now()

    def _now(self) -> tuple[float, dict[int, float]]:
        own: dict[int, float] = {}
        for pid in self._pids:
            with suppress(OSError):
                own[pid] = cpu_seconds(pid)
        return _busy_seconds(), own

    def share(self) -> float:
        """As a share of one core, since this was made."""
        busy, own = self._now()
        ours = sum(seconds - self._own[pid] for pid, seconds in own.items() if pid in self._own)
        return max(0.0, busy - self._busy - ours) / (time.perf_counter() - self._began)


def calmest(measure: Callable[[], T], rounds: int, patience_s: float) -> list[T]:
    """`rounds` measurements. While there is time they are made again if others were busy, and the calmest are taken.

    What comes out of a measurement has no say in that. All that `measure` starts has to end in it.
    """
    found: list[tuple[float, int, T]] = []
    deadline = time.monotonic() + patience_s
    while True:
        calm = sum(noise <= CALM for noise, _, _ in found)
        if calm >= rounds or (len(found) >= rounds and time.monotonic() >= deadline):
            return [value for _, _, value in sorted(found)[:rounds]]
        busy, own, began = _busy_seconds(), _own_seconds(), time.perf_counter()
        value = measure()
        others = _busy_seconds() - busy - (_own_seconds() - own)
        found.append((max(0.0, others) / (time.perf_counter() - began), len(found), value))


def _own_seconds() -> float:
    """What this process and all that it started and saw end have worked."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Cost:
    """What one process takes from when this is made until `stop`; `others` is what the rest took meanwhile."""

    def __init__(self, pid: int, others: Others | None = None) -> None:
        self._pid, self._others = pid, others
        self.seconds = self.cpu = self.rss = self.others = 0.0
        self._cpu, self._began = cpu_seconds(pid), time.perf_counter()

    def stop(self) -> None:
        """`cpu` and `others` become shares of one core, `rss` what the process holds now, in MiB."""
        self.seconds = time.perf_counter() - self._began
        self.cpu = (cpu_seconds(self._pid) - self._cpu) / self.seconds
        self.rss = rss_mib(self._pid)
        self.others = self._others.share() if self._others else 0.0


class Ended:
    """The end of a process that need not be ours, to wait for without polling."""

    def __init__(self, pid: int) -> None:
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            # It has ended already: the end of a pipe that nobody writes to is as readable.
            self._descriptor, writer = os.pipe()
            os.close(writer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor


def end(pid: int, *, child: bool, patience_s: float = 5.0) -> int | None:
    """Ends a process by its id, gently at first; returns the exit code of a child."""
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return None
        code, gone = _wait(pid, child=child, patience_s=patience_s if number else 0.5)
        if gone:
            return code
    return None


def _wait(pid: int, *, child: bool, patience_s: float) -> tuple[int | None, bool]:
    deadline = time.monotonic() + patience_s
    while True:
        if child:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status), True
        elif not Path(f"/proc/{pid}").exists():
            return None, True
        if time.monotonic() >= deadline:
            return None, False
        time.sleep(0.01)
