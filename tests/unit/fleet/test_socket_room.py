"""The directory for sockets: it ends with its process, or with the next start where that was killed."""

import os
import signal
from pathlib import Path

from diskprof.fleet.socket_room import socket_room


def entered() -> tuple[int, Path]:
    """A process that has one until it is killed."""
    reading, writing = os.pipe()
    if not (pid := os.fork()):
        with socket_room() as path:
            (path / "0").mkdir()
            os.write(writing, os.fsencode(path))
            os.close(writing)
            signal.pause()
        os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        return pid, Path(os.fsdecode(said.read()))


def test_what_a_killed_process_left_is_removed_and_nothing_that_another_uses() -> None:
    pid, path = entered()
    try:
        with socket_room() as own:
            assert path.is_dir() and own.is_dir() and own != path
            assert own.stat().st_mode & 0o077 == 0
        assert path.is_dir() and not own.exists()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert path.is_dir()
    with socket_room():
        assert not path.exists()
