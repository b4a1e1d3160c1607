"""tracefs for one test, mounted where it is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loops import call

from diskprof.devices.requests.tracefs import tracefs


@contextmanager
def traces(directory: Path) -> Iterator[Path]:
    """Where the instances of traces are. Needs "tracefs"."""
    place = tracefs()
    if place:
        yield place / "instances"
        return
    mounted = directory / "tracing"
    mounted.mkdir()
    call("mount", "-t", "tracefs", "tracefs", mounted)
    try:
        yield mounted / "instances"
    finally:
        call("umount", mounted)
