"""What is wrong with a file that a person wrote, and what is only worth knowing."""

from msgspec import Struct

from diskprof.model.advice import on_screen
from diskprof.model.errors import UsageError

KeyPath = tuple[str | int, ...]
"""As pydantic has it: ("test", 0, "options", "bs")."""


class Problem(Struct, frozen=True):
    """A preset file or the configuration file, or one key in it, that cannot be used.

    `line` counts from 1 and is None where no line is to blame; `preset` names the preset that is lost, as far as it is known.
    """

    path: str
    line: int | None
    key: str
    message: str
    preset: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


class Notice(Struct, frozen=True):
    """Nothing wrong, but good to know: the person's own preset stands in the place of a shipped one."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class Fault(Struct, frozen=True):
    """One thing wrong in a preset file, at a key path."""

    path: KeyPath
    message: str


class Faulty(Exception):
    """Nothing can be made of a preset file, for these faults."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__()
        self.faults = faults


def sentence(error: UsageError) -> str:
    """An error on one line, in words for both front ends."""
    return f"{error.message}. {on_screen(error.hint)}" if error.hint else error.message
