"""Test files that a runner could not remove: it was killed, or the file system did not let it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from diskprof.devices.mounts import may_hang, mount_by_name, read_mountinfo
from diskprof.model.errors import Refused
from diskprof.model.plan import TestFile
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.model.value import dataclass
from diskprof.runner.testfile import is_ours, remove_test_file
from diskprof.store import Store, is_alive, is_elsewhere


@dataclass(frozen=True, slots=True)
class Leftover:
    """The test file of a run that is over, still there; `size_bytes` is what it takes up on the disk."""

    run_id: str
    file: TestFile
    size_bytes: int


def leftovers(store: Store, *, patient: bool = True) -> Iterator[Leftover]:
    """What runs of this store left behind, as far as it can be seen from here.

    Unless `patient`, nothing is asked of file systems that may not answer: a server's that is gone.
    """
    doubtful = [] if patient else [entry for entry in read_mountinfo() if may_hang(entry)]
    for run_id, file in store.test_files():
        # Another user's directory cannot be seen, nor could the file in it be removed; a failed device cannot be asked.
        with suppress(OSError):
            if not is_ours(file) or mount_by_name(file.directory, doubtful):
                continue
            if Path(file.directory).is_dir() and not _may_live(store, run_id):
                path = Path(file.path)
                yield Leftover(run_id, file, path.lstat().st_blocks * 512 if path.exists() else 0)


def notice(store: Store) -> str:
    """A line about what killed runs left behind, for the start of a command; empty where nothing is left."""
    found = list(leftovers(store, patient=False))
    if not found:
        return ""
    size = format_size(sum(each.size_bytes for each in found))
    files = "a test file" if len(found) == 1 else f"{len(found)} test files"
    them = "it" if len(found) == 1 else "them"
    return f"Runs that were killed or failed left {files} behind ({size}). To see and remove {them}: diskprof clean"


def remove(store: Store, leftover: Leftover) -> None:
    """Removes the file and its private directory. Raises Refused while a run may still use it, DiskprofError where it fails."""
    user = _user_of(leftover.file) or (leftover.run_id if _may_live(store, leftover.run_id) else "")
    if user:
        raise Refused(
            f"{clean(leftover.file.directory)} may still be in use, by {user}, so it is left alone.",
            "Try again when that is over.",
        )
    remove_test_file(leftover.file)


def _may_live(store: Store, run_id: str) -> bool:
    """Whether the runner of a run may live: here, or where it cannot be seen from here."""
    runner = store.runner(run_id)
    return is_alive(runner) or is_elsewhere(runner)


def _user_of(file: TestFile) -> str:
    """Who has the file open: an engine that is stuck in the kernel outlives even SIGKILL. "" if nobody can be seen."""
    try:
        status = Path(file.path).lstat()
    except OSError:
        return ""
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and (status.st_dev, status.st_ino) in _files_of(process):
            return f"process {process.name}"
    return ""


def _files_of(process: Path) -> Iterator[tuple[int, int]]:
    try:
        numbers = os.listdir(process / "fd")  # noqa: PTH208
    except OSError:
        return
    for number in numbers:
        link = process / "fd" / number
        with suppress(OSError):
            # Only names of test files are looked at: a file of a dead server would hang.
            if "/.diskprof-" in str(link.readlink()):
                status = link.stat()
                yield status.st_dev, status.st_ino
