"""What a person is told on stderr: wrapped at words on a terminal, one line a message elsewhere, so that it can be searched."""

import shutil
import sys

from diskprof.model.cells import wrap
from diskprof.model.text import clean

_MOST = 100


def say(text: str) -> None:
    """Writes lines to stderr; they may hold foreign text."""
    lines = clean(text, keep_newlines=True).splitlines()
    if sys.stderr.isatty():
        width = min(shutil.get_terminal_size().columns, _MOST)
        # Indented lines, such as a list or a command, stay as they are.
        lines = [part for line in lines for part in ([line] if line[:1].isspace() else wrap(line, width))]
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()
