"""How this program starts itself again: the one place that knows what it was started from."""

import sys
from enum import StrEnum
from pathlib import Path


class HiddenEntry(StrEnum):
    """The first word for what is no command of a person's: the program starts itself again for it."""

    RUNNER = "_runner"
    AGENT = "_agent"
    COORDINATOR = "_coordinator"
    FIO_SERVER = "_fio-server"


def own_program() -> tuple[str, ...]:
    """The words that start this very program, before its arguments.

    An unpacked zipapp and a bundle are a directory with a `__main__.py` beside the package; a frozen build is its own
    interpreter; all else is a package that this Python finds.
    """
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    directory = Path(__file__).parents[1]
    isolated = "-I" if sys.flags.isolated else "-P"
    if (directory / "__main__.py").is_file():
        return (sys.executable, isolated, str(directory))
    return (sys.executable, isolated, "-m", "diskprof")
