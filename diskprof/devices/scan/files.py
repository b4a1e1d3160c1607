"""Small files of the kernel, read from roots that tests can move."""

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from msgspec import Struct


class Roots(Struct, frozen=True):
    """Where the kernel's trees are: the real machine's, or a copy in a test."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")
    run: Path = Path("/run")

    @property
    def blocks(self) -> Path:
        return self.sys / "class" / "block"


SYSTEM = Roots()


def read_bytes(path: Path, limit: int = 1 << 22) -> bytes:
    """The file's first `limit` bytes; nothing if it cannot be read, as when its device has just gone (F35)."""
    # Without an object around each: a scan reads thousands of them.
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        parts = []
        while limit > 0 and (part := os.read(file, min(limit, 1 << 16))):
            parts.append(part)
            limit -= len(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(file)


def read_text(path: Path) -> str:
    """The file's text without surrounding blanks, "" if it cannot be read; odd bytes survive as surrogates."""
    return os.fsdecode(read_bytes(path)).strip()


class KeptOpen:
    """A small file that is read time and again: opened once, a quarter of the time of `read_text`."""

    def __init__(self, path: Path) -> None:
        self._file: FileIO | None = None
        with suppress(OSError):
            self._file = FileIO(path)

    def read(self) -> bytes:
        """What stands in it now; nothing if it cannot be read."""
        if self._file is None:
            return b""
        try:
            parts, at = [], 0
            while part := os.pread(self._file.fileno(), 1 << 16, at):
                parts.append(part)
                at += len(part)
            return b"".join(parts)
        except OSError:
            return b""

    def close(self) -> None:
        """Gives the descriptor back: from now on there is nothing to read."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_int(path: Path) -> int | None:
    """The file's number, None if there is none."""
    try:
        return int(read_text(path))
    except ValueError:
        return None


def list_names(path: Path) -> tuple[str, ...]:
    """The names in a directory, sorted; none if it cannot be read."""
    try:
        return tuple(sorted(os.listdir(path)))  # noqa: PTH208
    except OSError:
        return ()


def may(path: str | Path, mode: int) -> bool:
    """os.access for the user that opens it, which under set-uid or sudo -E is the effective one."""
    return os.access(path, mode, effective_ids=True)
