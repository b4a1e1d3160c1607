"""The way in: to the screen or to a command, and the one place that turns errors into words and exit codes."""

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence

from diskprof.cli.encoding import heed_locale
from diskprof.cli.saying import say
from diskprof.cli.setting_options import VARIABLES
from diskprof.model.advice import on_command_line
from diskprof.model.errors import DiskprofError, ExitCode

_UNCOLLECTED = 20_000
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run() -> None:
    """The entry point of the `diskprof` program."""
    # What a command imports comes to stay: to look for garbage among it a hundred times takes 4 to 8% of a short command.
    gc.set_threshold(_UNCOLLECTED)
    _give_streams()
    code = _exit_code(_screen if just_the_screen(sys.argv, os.environ) else _command)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _unwritable(error)
    sys.exit(code)


def just_the_screen(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether there is nothing to be read of the command line: then the screen opens without what reads it (F44)."""
    return len(arguments) == 1 and not any(name in environment for name in (*VARIABLES.values(), "_DISKPROF_COMPLETE"))


def _screen() -> int:
    _heed_interrupts()
    from diskprof.cli.open_screen import open_screen

    return open_screen(None)


def _command() -> int:
    from diskprof.cli.main import run_command

    _heed_interrupts()
    return run_command()


def _heed_interrupts() -> None:
    """As Python does, until the program began to load (diskprof/__main__.py)."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _give_streams() -> None:
    """Where one of the three is closed, the next file that is opened, such as the store, would stand in its place."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _exit_code(act: Callable[[], int]) -> int:
    heed_locale()
    try:
        return act()
    except DiskprofError as error:
        if as_plugin():
            return unknown(str(error))
        # Most messages name something foreign: a path, a label, what a tool said (F39).
        say(f"diskprof: {error.message}")
        if error.hint:
            say(on_command_line(error.hint))
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except OSError as error:
        # Whoever opens a file says what is wrong with it: this is stdout.
        if error.filename is None and error.errno in _FULL:
            return _unwritable(error)
        raise


def as_plugin() -> bool:
    """Whether a monitoring system reads what is printed."""
    return "--nagios" in sys.argv[1:]


def unknown(said: str) -> int:
    """A monitoring system takes the code of wrong usage for that of a disk that is too slow."""
    from diskprof.reports.data.nagios import PluginStatus, unknown_line

    sys.stdout.write(f"{unknown_line(said)}\n")
    sys.stdout.flush()
    return int(PluginStatus.UNKNOWN)


def _unwritable(error: OSError) -> int:
    """stdout is a file on a full disk, or a reader that went away; what still waits for it must not come up again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if error.errno != errno.EPIPE:
        say(f"diskprof: The result cannot be written: {error.strerror}.")
    return int(ExitCode.FAILED)
