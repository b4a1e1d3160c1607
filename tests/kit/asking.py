"""The real program at a terminal, with a person who reads what it asks and types an answer."""

import os
import pty
import select
import subprocess
import termios
import time
from pathlib import Path

from program import DISKPROF, PATIENCE_S, environment


class Terminal:
    """The program at a terminal of its own, with a person who reads and types."""

    def __init__(self, home: Path, *words: str, columns: int = 80) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        self.seen = ""
        self.process = subprocess.Popen(
            [*DISKPROF, *words], env=environment(home), cwd=home, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)

    def read_until(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while words not in self.seen:
            assert time.monotonic() < deadline and self._read(), self.seen

    def _read(self) -> bool:
        readable, _, _ = select.select([self._ours], [], [], PATIENCE_S)
        try:
            data = os.read(self._ours, 65536) if readable else b""
        except OSError:
            data = b""
        self.seen += data.decode(errors="replace")
        return bool(data)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode() + b"\n")

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._ours)
        return self.process.wait(PATIENCE_S)
