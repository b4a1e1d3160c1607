"""The engine's private directory (F22), and those of runners that were killed."""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from diskprof.model.errors import DiskprofError, RunNotFound
from diskprof.store import Store, is_alive, is_elsewhere

_NAME = re.compile(r"diskprof-(?P<run>[0-9a-z][0-9a-z_-]*)\.[^.]+")


@contextmanager
def private_directory(run_id: str) -> Iterator[Path]:
    """A new directory that nobody else can enter, gone at the end. Raises DiskprofError."""
    try:
        made = tempfile.TemporaryDirectory(prefix=f"diskprof-{run_id}.", ignore_cleanup_errors=True)
    except OSError as error:
        raise DiskprofError(
            f"Cannot create a working directory for fio: {error.strerror}.",
            "Free space in /tmp, or set TMPDIR to another directory.",
        ) from None
    with made as path:
        yield Path(path)


def sweep(store: Store, place: Path | None = None) -> None:
    """Removes the private directories of runs of this store whose runner is gone. There is nothing of anybody's in them."""
    for path in (place or Path(tempfile.gettempdir())).glob("diskprof-*.*"):
        match = _NAME.fullmatch(path.name)
        # Another may have taken it away meanwhile, or forbid us to.
        with suppress(OSError, RunNotFound):
            status = path.lstat()
            if match and stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                runner = store.runner(match["run"])
                if not (is_alive(runner) or is_elsewhere(runner)):
                    shutil.rmtree(path)
