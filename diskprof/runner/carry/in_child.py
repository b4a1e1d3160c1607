"""Work on a file system that may not answer, done by a child process: who waits for a disk in the kernel cannot be ended."""

import os
import select
import signal
import time
from collections.abc import Callable

from diskprof.engines.process import LATE_S
from diskprof.model.errors import DiskprofError

PATIENCE_S = 10.0


class NoAnswer(DiskprofError):
    """The file system did not answer in time. The work is done as soon as it does."""


def apart(work: Callable[[], None], what: str) -> None:
    """Does `work` in a child process and waits `PATIENCE_S` for its end.

    Raises OSError as `work` did, with its number alone, and NoAnswer, which begins with `what`, where the child still waits.
    """
    theirs_end, own_end = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, own_end)
    os.close(own_end)
    try:
        poll = select.poll()
        poll.register(theirs_end, select.POLLIN)
        if not _answers(poll):
            raise NoAnswer(
                f"{what}: the file system has not answered for {PATIENCE_S:.0f} s.",
                "It will be removed when the file system responds.",
            )
        answer = os.read(theirs_end, 16)
    finally:
        os.close(theirs_end)
    os.waitpid(child, 0)
    if not answer:
        raise DiskprofError(f"{what}: the helper process exited unexpectedly.")
    if number := int(answer):
        raise OSError(number, os.strerror(number))


def _answers(poll: select.poll) -> bool:
    """Whether there is an answer in time. Where this process was stopped meanwhile, the child may have been too."""
    while True:
        began = time.monotonic()
        if poll.poll(PATIENCE_S * 1000):
            return True
        if time.monotonic() - began < PATIENCE_S + LATE_S:
            return False


def _work(work: Callable[[], None], answer: int) -> None:
    """The child's life. It keeps nothing open that somebody may wait for the end of, and no signal for the others reaches it."""
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        os.setsid()
        os.closerange(0, answer)
        os.closerange(answer + 1, os.sysconf("SC_OPEN_MAX"))
        try:
            work()
        except OSError as error:
            os.write(answer, b"%d" % (error.errno or 5))
        else:
            os.write(answer, b"0")
    finally:
        os._exit(0)
