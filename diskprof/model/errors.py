"""Errors that a person is meant to read, each with what to do next and the exit code it ends in."""

from enum import IntEnum

from diskprof.model.advice import Advice, on_command_line, on_screen


class ExitCode(IntEnum):
    """Exit codes of every diskprof command (docs/scripting.md)."""

    OK = 0
    FAILED = 1
    USAGE = 2
    ENGINE_MISSING = 3
    REFUSED = 4
    EXPECTATION_MISSED = 5
    REGRESSED = 6
    NOT_COMPARABLE = 7
    INTERRUPTED = 130


class DiskprofError(Exception):
    """Something went wrong that the person can act on.

    `message` says what is wrong, `hint` what to do next (may be empty).
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, hint: str | Advice = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """As the command line says it."""
        return f"{self.message}\n{on_command_line(self.hint)}" if self.hint else self.message

    @property
    def kept(self) -> str:
        """As it is kept with a run. A screen shows that too, so nothing in it is of the command line alone."""
        return f"{self.message}\n{on_screen(self.hint)}" if self.hint else self.message


class UsageError(DiskprofError):
    """The request itself is wrong: an unknown preset, a bad parameter, a target that is not there."""

    exit_code = ExitCode.USAGE


class PresetError(UsageError):
    """A preset file that cannot be used; the message names the file, the line and the key."""


class UnitError(UsageError):
    """A size, duration or rate that cannot be read."""


class EngineMissing(DiskprofError):
    """fio or ioping is absent, broken, too old, or another program of the same name."""

    exit_code = ExitCode.ENGINE_MISSING


class EngineBusy(DiskprofError):
    """fio or ioping is there (at `path`, as far as that is known), and does not answer: it can be tried again."""

    def __init__(self, message: str, hint: str | Advice, path: str = "") -> None:
        super().__init__(message, hint)
        self.path = path


class Refused(DiskprofError):
    """diskprof will not do this because somebody could lose data."""

    exit_code = ExitCode.REFUSED


class StoreError(DiskprofError):
    """The store cannot be opened, read or written."""


class StoreBusy(StoreError):
    """Another program keeps the store locked; it can be written later."""


class EngineError(DiskprofError):
    """An engine's output cannot be understood."""


class RunNotFound(UsageError):
    """No run, or more than one, answers to the name given."""


class NotComparable(DiskprofError):
    """There are no runs, or too few, that a result could be held against."""

    exit_code = ExitCode.NOT_COMPARABLE


class Cancelled(DiskprofError):
    """The person, or a signal, ended the work."""

    exit_code = ExitCode.INTERRUPTED
