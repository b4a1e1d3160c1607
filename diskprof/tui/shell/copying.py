"""What `y` copies: for the clipboard of the terminal, which may not allow it, and into a file in any case (F48)."""

from __future__ import annotations

import base64
import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean

if TYPE_CHECKING:
    from pathlib import Path

    from textual.screen import Screen

    from diskprof.model.plan import Plan

MOST_FOR_CLIPBOARD = 72 * 1024
"""Bytes. xterm, and others after it, take no more at once."""

_SCREEN_PIECE = 700
"""Characters. GNU screen passes no longer string on to its terminal."""


class Copy(Struct, frozen=True):
    """`what` names the text in a sentence: `the report`. `make` gives it, in any thread; it may raise DiskprofError."""

    what: str
    make: Callable[[], str]


def copy_of(screen: Screen[object]) -> Copy | None:
    """What is worth copying on a screen now."""
    from diskprof.tui.shell.base import ModeScreen

    make = screen.copy_text() if isinstance(screen, ModeScreen) else None
    return Copy(screen.COPIES, make) if isinstance(screen, ModeScreen) and make else None


def commands_of(plan: Plan) -> str:
    """The commands of a plan, as a shell takes them, each below its title."""
    from diskprof.reports.content.plan_report import steps

    return "\n\n".join(f"# {clean(title)}\n{clean(shlex.join(step.command))}" for title, step in steps(plan))


def clipboard_sequences(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """OSC 52, as the terminal takes it: GNU screen passes it on in pieces, tmux is asked in another way."""
    data = text.encode("utf-8", "replace")
    if len(data) > MOST_FOR_CLIPBOARD or environment.get("TMUX"):
        return
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\a"
    if environment.get("STY"):
        for start in range(0, len(sequence), _SCREEN_PIECE):
            yield f"\x1bP{sequence[start : start + _SCREEN_PIECE]}\x1b\\"
    else:
        yield sequence


def copied_path() -> Path:
    """`$XDG_CACHE_HOME/diskprof/copied.txt`, usually `~/.cache/diskprof/copied.txt`. Raises DiskprofError without a home."""
    from pathlib import Path

    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        place = Path(base) if base.startswith("/") else Path("~/.cache").expanduser()
    except RuntimeError:
        raise DiskprofError("There is no home directory to copy into.", "$XDG_CACHE_HOME names a place.") from None
    return place / "diskprof/copied.txt"


def write_copy(text: str, path: Path | None = None) -> Path:
    """Writes the text where only its owner can read it, in the place of the last one. Raises DiskprofError."""
    path = path or copied_path()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            file.write(text if text.endswith("\n") else text + "\n")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        why = (error.strerror or str(error)).lower()
        raise DiskprofError(f"{path} cannot be written: {why}.", "$XDG_CACHE_HOME names another place.") from None
    return path


class Kept(Struct, frozen=True):
    """Where a copy is: in `path`, and in a tmux buffer if `in_tmux`."""

    path: Path
    in_tmux: bool


def keep_copy(text: str) -> Kept:
    """Writes the text to its file, and from there into tmux, which takes no OSC 52 by itself. Raises DiskprofError."""
    path = write_copy(text)
    socket = os.environ.get("TMUX", "").partition(",")[0]
    if not socket:
        return Kept(path, in_tmux=False)
    from diskprof.engines.process import run_briefly

    # tmux before 3.2 knows no -w, with which it hands the text on to the terminal.
    loads = (["tmux", "-S", socket, "load-buffer", *more, str(path)] for more in (["-w"], []))
    return Kept(path, in_tmux=any(run_briefly(words, 2.0).code == 0 for words in loads))


def told(copy: Copy, kept: Kept, *, sent: bool) -> str:
    """What was done, and no more than that: whether a terminal takes what is sent to its clipboard cannot be seen."""
    if kept.in_tmux:
        where = f"to tmux's buffer, to the terminal's clipboard (if it takes copies) and to {kept.path}"
    elif sent:
        where = f"to the terminal's clipboard (if it takes copies) and to {kept.path}"
    else:
        where = f"to {kept.path}"
    return f"{copy.what[:1].upper()}{copy.what[1:]} copied {where}"
