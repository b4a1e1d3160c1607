"""The real `diskprof` program, started as a person or a script would."""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DISKPROF = (sys.executable, "-m", "diskprof")
PATIENCE_S = 150.0
"""A busy disk of 100 IOPS takes a minute for what takes a second elsewhere; how long is no statement about the program."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """A person's environment with a home and a store of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color", "DISKPROF_SMARTCTL": "", **more}


def write_program(directory: Path, *, first: str = "") -> Path:
    """A directory for the PATH with a `diskprof` in it, which does `first` first."""
    directory.mkdir(parents=True)
    program = directory / "diskprof"
    program.write_text(f'#!/bin/sh\n{first}\nexec "{sys.executable}" -m diskprof "$@"\n')
    program.chmod(0o755)
    return directory


def write_quick_fio(directory: Path) -> str:
    """A PATH with a `fio` in this directory that goes by the kernel's clock.

    To gauge that of the processor, fio spins for 64 ms each time it starts: half of all that a short test takes.
    """
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "fio"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("fio")} --clocksource=clock_gettime "$@"\n')
    program.chmod(0o755)
    return f"{directory}:{os.environ['PATH']}"


def own_preset(home: Path, name: str, text: str) -> Path:
    """A preset of the person whose home this is, in the place of one of the same name."""
    path = home / ".config/diskprof/presets" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def diskprof(*words: str | Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end, without a terminal."""
    return subprocess.run(
        [*DISKPROF, *map(str, words)],
        env=environment(home, **more),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def diskprof_json(*words: str | Path, home: Path, **more: str) -> Any:
    """The JSON that the program prints; it must have succeeded."""
    done = diskprof(*words, home=home, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def started(*words: str | Path, home: Path) -> Iterator[subprocess.Popen[str]]:
    """The program under way; what is left of it is killed by its own process id."""
    process = subprocess.Popen(
        [*DISKPROF, *map(str, words)],
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(condition: Any, what: str) -> Any:
    """The first true value of `condition()`; fails after the patience of a test."""
    deadline = time.monotonic() + PATIENCE_S
    looks = 0
    while not (value := condition()):
        assert time.monotonic() < deadline, f"still waiting for {what}"
        # What is not there at once takes seconds, and many of those who wait look into a store each time.
        select.select([], [], [], 0.02 if (looks := looks + 1) < 10 else 0.1)
    return value


def descendants(pid: int, name: str = "") -> list[int]:
    """Ids of the live processes, called `name` if one is given, whose parent is `pid`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = stat.read_text().rpartition(")")
        except OSError:
            continue
        state, parent = tail.split()[:2]
        if name in ("", head.partition("(")[2]) and int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended (a zombie has)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
