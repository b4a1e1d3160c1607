"""Test files: made in a private, marked directory, never over another file, removed however the run ends."""

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
from diskprof.model.preset import Layout
from diskprof.model.text import clean
from diskprof.runner.carry.in_child import NoAnswer, apart
from diskprof.store import sync

DIRECTORY = re.compile(r"\.diskprof-[0-9a-f]{8}")
"""What the private directory of test files is called."""
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\.dat")
"""What a test file in it is called."""
MARK_NAME = "diskprof.json"
_LATER = Advice("`diskprof clean` tries again.", "The Run screen removes it.")


@contextmanager
def held_test_files(
    directories: Sequence[str], files: Sequence[TestFile], mark: bytes, on_trouble: Callable[[str], None]
) -> Iterator[None]:
    """Makes the directories and in them the files at their full (sparse) size, and removes all in the end (F28).

    Each directory has `mark` in it before a file is made: by that it is found where no store knows of it.

    Raises UsageError where one cannot be made, NoAnswer where the file system hangs. What cannot be removed is told to
    `on_trouble`: it must not hide how the run ended.
    """
    with ExitStack() as held:
        for directory in directories:
            held.enter_context(_held(directory, mark, on_trouble))
        _create(files)
        yield


@contextmanager
def files_of_a_test(files: Sequence[TestFile], on_trouble: Callable[[str], None]) -> Iterator[None]:
    """Makes those of the files that are SPARSE, and removes all of them in the end. Raises and tells as `held_test_files`."""
    _create([file for file in files if file.layout is Layout.SPARSE])
    try:
        yield
    finally:
        if files:
            what = f"Could not remove the files of a test: {clean(files[0].directory)}"
            try:
                apart(partial(_unlink, files), what)
            except OSError as error:
                on_trouble(f"{what}: {error.strerror}.")
            except NoAnswer as error:
                on_trouble(error.kept)


def _unlink(files: Sequence[TestFile]) -> None:
    for file in files:
        Path(file.path).unlink(missing_ok=True)


@contextmanager
def _held(private: str, mark: bytes, on_trouble: Callable[[str], None]) -> Iterator[None]:
    directory = Path(private)
    what = f"Cannot create a test file in {clean(str(directory.parent))}"
    try:
        apart(partial(_make_directory, directory, mark), what)
    except OSError as error:
        raise UsageError(f"{what}: {error.strerror}.", "Choose a writable directory.") from None
    try:
        _secure(directory, what)
        yield
    finally:
        try:
            remove_directory(private, known_there=True)
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
        raise UsageError(f"{what}: {error.strerror}.", "The disk fails or is full. Check dmesg.") from None


def _sync(directory: Path) -> None:
    for each in (directory / MARK_NAME, directory, directory.parent):
        sync(each)


def _create(files: Sequence[TestFile]) -> None:
    if not files:
        return
    what = f"{'Test files' if len(files) > 1 else 'A test file'} cannot be made in {clean(files[0].directory)}"
    try:
        apart(partial(_make, files), what)
    except OSError as error:
        raise UsageError(
            f"{what}: {error.strerror}.",
            Advice(
                "Choose a smaller size (--set size=...) or another directory.",
                "Choose a smaller size or another directory.",
            ),
        ) from None


def _make(files: Sequence[TestFile]) -> None:
    for file in files:
        descriptor = os.open(file.path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, file.size_bytes)
        finally:
            os.close(descriptor)


def is_ours(directory: str) -> bool:
    """Whether a record of a private directory is one that diskprof can have made: a stored run may come from anywhere."""
    path = Path(directory)
    return path.is_absolute() and DIRECTORY.fullmatch(path.name) is not None and ".." not in path.parts


def remove_directory(directory: str, *, known_there: bool = False) -> None:
    """Removes a private directory with its test files and its mark. Raises DiskprofError; where it is a NoAnswer, they are
    removed as soon as the file system answers again.

    What is gone already is well, unless it was `known_there`: then its file system may be what went away, with it.

    Nothing is followed: neither a link in the place of the directory nor one in the place of a file. What is not called as
    test files are stays, and the directory with it.
    """
    if not is_ours(directory):
        raise DiskprofError(f"{clean(directory)} is not a diskprof directory: not removed.")
    what = f"Could not remove the test file: {clean(directory)}"
    try:
        apart(partial(_remove, Path(directory)), what)
    except FileNotFoundError:
        if known_there:
            words = "no longer exists here. If its file system was unmounted, it is still on it."
            raise DiskprofError(f"{what} {words}", joined(("When mounted again:", _LATER))) from None
    except OSError as error:
        link = error.errno in (errno.ENOTDIR, errno.ELOOP)
        reason = "it is a link, or no directory" if link else error.strerror
        raise DiskprofError(f"{what}: {reason}.", "Remove it manually." if link else _LATER) from None


def _remove(directory: Path) -> None:
    parent = os.open(directory.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _remove_in(parent, directory.name)
    finally:
        os.close(parent)


def _remove_in(parent: int, name: str) -> None:
    inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        # A link is removed as the link that it is.
        for each in filter(FILE_NAME.fullmatch, os.listdir(inside)):  # noqa: PTH208
            os.unlink(each, dir_fd=inside)
        with suppress(FileNotFoundError):
            os.unlink(MARK_NAME, dir_fd=inside)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=parent)
