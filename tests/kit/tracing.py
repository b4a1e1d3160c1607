"""tracefs for one test, mounted where it is not."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loops import call

from diskprof.devices.requests.tracefs import tracefs

_TURNS = "/sys/kernel/tracing"


@contextmanager
def traces(directory: Path) -> Iterator[Path]:
    """Where the instances of traces are. Needs "tracefs". One test at a time: what it mounts the programs of all others see."""
    turn = os.open(_TURNS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if place := tracefs():
            yield place / "instances"
            return
        mounted = directory / "tracing"
        mounted.mkdir()
        call("mount", "-t", "tracefs", "tracefs", mounted)
        try:
            yield mounted / "instances"
        finally:
            call("umount", mounted)
    finally:
        os.close(turn)
