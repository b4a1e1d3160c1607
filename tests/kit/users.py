"""The program run by another user than the one that runs the tests, and by root in somebody's name (sudo)."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import forked
import program

NOBODY = 65534


@contextmanager
def home_of(uid: int) -> Iterator[Path]:
    """A home directory that the user can reach: pytest's own may not be searched by others."""
    path = Path(tempfile.mkdtemp(prefix="diskprof-test-home-"))
    try:
        os.chown(path, uid, uid)
        yield path
    finally:
        shutil.rmtree(path)


def diskprof_as(uid: int, *words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The program with a user's rights alone, which says of itself that it is /opt/bin/diskprof."""
    return forked.diskprof(*words, home=home, uid=uid)


def diskprof_by_sudo(uid: int, *words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The program run by root as sudo runs it for a user whose home directory is kept in HOME."""
    return program.diskprof(*words, home=home, SUDO_UID=str(uid), SUDO_GID=str(uid), SUDO_USER="somebody")
