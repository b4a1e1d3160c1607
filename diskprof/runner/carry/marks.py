"""The mark in the private directory of a test file: which run made it, for whoever finds it where no store knows of it."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from diskprof.devices.scan.mounts import may_hang, mount_of
from diskprof.model.text import clean
from diskprof.runner.carry.testfile import DIRECTORY, FILE_NAME, MARK_NAME
from diskprof.store import ProcessIdentity, is_alive, is_elsewhere, this_process

_ABOUT = "diskprof made this directory for a test file. It can be removed when that run has ended."
_MOST_BYTES = 1 << 14
_WRITABLE_BY_OTHERS = 0o022


class Mark(Struct, frozen=True):
    """The run that made a directory, the file of its store, the process that carries the run out, and the name of its machine."""

    run_id: str
    store: str
    runner: ProcessIdentity
    host: str = ""


class Found(Struct, frozen=True):
    """A private directory that was found by its name, with the bytes that its test files take up. `objection` says why it is left
    alone; empty for a leftover.

    `mark` is None where it has none that can be read: the power failed.
    """

    directory: str
    size_bytes: int
    mark: Mark | None
    objection: str


def mark_bytes(mark: Mark) -> bytes:
    """What is written into the directory."""
    runner = mark.runner
    body = {
        "about": _ABOUT,
        "run": mark.run_id,
        "store": mark.store,
        "pid": runner.pid,
        "start_ticks": runner.start_ticks,
        "boot_id": runner.boot_id,
        "place": runner.place,
        "host": mark.host,
    }
    return json.dumps(body, indent=1).encode() + b"\n"


def read_mark(data: bytes) -> Mark | None:
    """The inverse of `mark_bytes`; None for anything else."""
    try:
        body = json.loads(data)
        words = [body[key] for key in ("run", "store", "boot_id", "place")]
        pid, start_ticks, host = body["pid"], body["start_ticks"], body.get("host", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if (
        not all(isinstance(word, str) and word for word in words)
        or not isinstance(host, str)
        or not (type(pid) is type(start_ticks) is int)
    ):
        return None
    run_id, store, boot_id, place = words
    return Mark(run_id, store, ProcessIdentity(pid, start_ticks, boot_id, place), host)


def found_in(place: str) -> Iterator[Found]:
    """The private directories in a directory, or the one that `place` is itself. Raises OSError where it cannot be listed."""
    path = Path(place).absolute()
    if DIRECTORY.fullmatch(path.name):
        names = [path.name]
        path = path.parent
    else:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if DIRECTORY.fullmatch(entry.name))
    for name in names:
        if found := look_at(path / name):
            yield found


def look_at(directory: Path) -> Found | None:
    """What is in a private directory; None for what is no directory, or gone. No link is followed."""
    found = str(directory)
    try:
        inside = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except PermissionError:
        return Found(found, 0, None, _OF_OTHERS)
    except OSError:
        return None
    try:
        status = os.fstat(inside)
        if status.st_uid != os.geteuid():
            return Found(found, 0, None, _OF_OTHERS)
        if status.st_mode & _WRITABLE_BY_OTHERS:
            return Found(found, 0, None, "other users may write to it")
        mark = _mark_in(inside)
        names = set(os.listdir(inside)) - {MARK_NAME}  # noqa: PTH208
        files = set(filter(FILE_NAME.fullmatch, names))
        size, strangers = _size_of(files, inside), names - files
    finally:
        os.close(inside)
    objection = _objection(mark, directory, strangers)
    return Found(found, size, mark, objection)


_OF_OTHERS = "it belongs to another user"


def _objection(mark: Mark | None, directory: Path, strangers: set[str]) -> str:
    where = mount_of(str(directory))
    shared = where is not None and may_hang(where)
    if mark is None:
        if strangers:
            return "it has no diskprof marker and contains other files"
        return "it has no diskprof marker, and another machine may use it" if shared else ""
    if is_alive(mark.runner):
        return f"run {clean(mark.run_id)} (process {mark.runner.pid}) is using it"
    # Machines that were cloned may have one machine-id: then only the boot and the name tell them apart.
    another = shared and mark.runner.boot_id != this_process().boot_id and mark.host != os.uname().nodename
    if another or is_elsewhere(mark.runner):
        return f"run {clean(mark.run_id)} made it on another machine or in another container, and may still use it"
    return ""


def _mark_in(inside: int) -> Mark | None:
    try:
        # Whatever lies there under this name: who opens a FIFO would wait.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(MARK_NAME, flags, dir_fd=inside)
    except OSError:
        return None
    try:
        return read_mark(os.read(descriptor, _MOST_BYTES))
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _size_of(names: Iterable[str], inside: int) -> int:
    """The bytes that files take up on the disk."""
    found = 0
    for name in names:
        with suppress(FileNotFoundError):
            found += os.stat(name, dir_fd=inside, follow_symlinks=False).st_blocks * 512
    return found
