"""A directory for sockets: its path is short, nobody else can enter it, and what a killed process left is removed."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HERE = Path("/tmp")
"""A path to a socket is no longer than 107 bytes, which that of TMPDIR may be."""
_PREFIX = "diskprof-sockets-"


@contextmanager
def socket_room() -> Iterator[Path]:
    """Makes one, which is gone afterwards. Removes those of this user whose processes are dead."""
    for left in _HERE.glob(f"{_PREFIX}*"):
        _remove_left(left)
    path, lock = _locked()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked() -> tuple[Path, int]:
    """A new directory and the lock on it, which ends with the process whatever ends that."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_HERE))
        # Before it is locked another process may take it for one that was left.
        with suppress(OSError):
            lock = _lock(path)
            if path.exists():
                return path, lock
            os.close(lock)


def _lock(path: Path) -> int:
    """Raises OSError where it is another's, or locked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(path)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_left(path: Path) -> None:
    with suppress(OSError):
        lock = _lock(path)
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)
