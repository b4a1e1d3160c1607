"""The test file: made in a private, marked directory, never over another file, removed however the run ends."""

import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from diskprof.model.advice import Advice, joined
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.plan import TestFile
from diskprof.model.text import clean
from diskprof.runner.carry.in_child import NoAnswer, apart
from diskprof.store import sync

DIRECTORY = re.compile(r"\.diskprof-[0-9a-f]{8}")
"""What the private directory of a test file is called."""
FILE_NAME = "test.dat"
MARK_NAME = "diskprof.json"
_LATER = Advice("`diskprof clean` tries again.", "The Run screen removes it.")


@contextmanager
def held_test_files(files: Sequence[TestFile], mark: bytes, on_trouble: Callable[[str], None]) -> Iterator[None]:
    """Makes the files at their full (sparse) size and removes them and their directories in the end (F28).

    Each directory has `mark` in it before the file is made: by that it is found where no store knows of it.

    Raises UsageError where one cannot be made, NoAnswer where the file system hangs. What cannot be removed is told to
    `on_trouble`: it must not hide how the run ended.
    """
    with ExitStack() as held:
        for file in files:
            held.enter_context(_held(file, mark, on_trouble))
        yield


@contextmanager
def _held(file: TestFile, mark: bytes, on_trouble: Callable[[str], None]) -> Iterator[None]:
    directory = Path(file.directory)
    what = f"No test file can be made in {clean(str(directory.parent))}"
    try:
        apart(partial(_make_directory, directory, mark), what)
    except OSError as error:
        raise UsageError(f"{what}: {error.strerror}.", "Choose a directory that you may write to.") from None
    try:
        _secure(directory, what)
        _create(file)
        yield
    finally:
        try:
            remove_test_file(file, known_there=True)
        except DiskprofError as error:
            on_trouble(error.kept)


def _make_directory(directory: Path, mark: bytes) -> None:
    directory.mkdir(mode=0o700)
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC
        descriptor = os.open(directory / MARK_NAME, flags, 0o600)
        try:
            os.write(descriptor, mark)
        finally:
            os.close(descriptor)
    except OSError:
        _remove(directory)
        raise


def _secure(directory: Path, what: str) -> None:
    """Brings the directory and its mark onto the disk, before there is a file that a power cut could leave behind."""
    try:
        # A disk that is busy takes its time for this, and no run fails of it: without a mark a directory is found, too.
        with suppress(NoAnswer):
            apart(partial(_sync, directory), what)
    except OSError as error:
        raise UsageError(f"{what}: {error.strerror}.", "The disk fails, or is full. See `dmesg`.") from None


def _sync(directory: Path) -> None:
    for each in (directory / MARK_NAME, directory, directory.parent):
        sync(each)


def _create(file: TestFile) -> None:
    what = f"The test file {clean(file.path)} cannot be made"
    try:
        apart(partial(_make, file), what)
    except OSError as error:
        raise UsageError(
            f"{what}: {error.strerror}.",
            Advice(
                "Choose a smaller size (--set size=...) or another directory.",
                "Choose a smaller size or another directory.",
            ),
        ) from None


def _make(file: TestFile) -> None:
    descriptor = os.open(file.path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, file.size_bytes)
    finally:
        os.close(descriptor)


def is_ours(file: TestFile) -> bool:
    """Whether a record of a test file is one that diskprof can have made: a stored run may come from anywhere."""
    directory = Path(file.directory)
    return (
        directory.is_absolute()
        and DIRECTORY.fullmatch(directory.name) is not None
        and ".." not in directory.parts
        and Path(file.path) == directory / FILE_NAME
    )


def remove_test_file(file: TestFile, *, known_there: bool = False) -> None:
    """Removes the file, its mark and its directory. Raises DiskprofError; where it is a NoAnswer, they are removed as soon
    as the file system answers again.

    What is gone already is well, unless it was `known_there`: then its file system may be what went away, with it.

    Nothing is followed: neither a link in the place of the directory nor one in the place of the file.
    """
    if not is_ours(file):
        raise DiskprofError(f"{clean(file.directory)} is no directory that diskprof makes, so it is left alone.")
    what = f"The test file could not be removed: {clean(file.directory)}"
    try:
        apart(partial(_remove, Path(file.directory)), what)
    except FileNotFoundError:
        if known_there:
            words = "is not there any more. If its file system was unmounted, it is still on that."
            raise DiskprofError(f"{what} {words}", joined(("Once it is mounted again:", _LATER))) from None
    except OSError as error:
        link = error.errno in (errno.ENOTDIR, errno.ELOOP)
        reason = "it is a link, or no directory" if link else error.strerror
        raise DiskprofError(f"{what}: {reason}.", "Remove it by hand." if link else _LATER) from None


def _remove(directory: Path) -> None:
    parent = os.open(directory.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _remove_in(parent, directory.name)
    finally:
        os.close(parent)


def _remove_in(parent: int, name: str) -> None:
    inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        for each in (FILE_NAME, MARK_NAME):
            with suppress(FileNotFoundError):
                os.unlink(each, dir_fd=inside)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=parent)
