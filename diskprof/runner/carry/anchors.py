"""Whether what a run works on is still there: after an unmount the same path is another disk, and fio makes what it misses."""

import errno
import os
from collections.abc import Callable
from functools import partial

from diskprof.model.errors import DiskprofError
from diskprof.model.plan import Plan
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.runner.carry.apart import apart


class Anchors:
    """The test files of a plan, and the file systems of its directories without one. To be made once the files are there.

    A test file has a name that nobody else gives: where that is, the file is. Raises DiskprofError.
    """

    def __init__(self, plan: Plan) -> None:
        self._files = tuple(file.path for file in plan.test_files)
        bare = () if self._files else (each.path for each in plan.targets if each.kind is TargetKind.DIRECTORY)
        self._directories = tuple((path, _number_of(path)) for path in bare)

    def check(self) -> None:
        """Raises DiskprofError where something went away, or does not answer."""
        for path in self._files:
            self._look(partial(_there, path), path)
        for path, number in self._directories:
            self._look(partial(_same, path, number), path)

    @staticmethod
    def _look(look: Callable[[], None], path: str) -> None:
        try:
            apart(look, f"{clean(path)} cannot be looked at")
        except OSError as error:
            raise _gone(path, error) from None


def _gone(path: str, error: OSError) -> DiskprofError:
    return DiskprofError(
        f"{clean(path)} is not there any more ({error.strerror}): its file system went away, or somebody removed it. "
        "The tests that are left would be of another disk, so they were not run.",
        "See `dmesg` and `findmnt`.",
    )


def _number_of(path: str) -> int:
    try:
        return os.stat(path).st_dev  # noqa: PTH116
    except OSError as error:
        raise _gone(path, error) from None


def _there(path: str) -> None:
    os.lstat(path)


def _same(path: str, number: int) -> None:
    if os.stat(path).st_dev != number:  # noqa: PTH116
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
