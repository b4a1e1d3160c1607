"""The `diskprof` program from a process that has loaded it already: most of what a short command takes is the loading.

Each command is a process of its own, with its own words, surroundings and streams, that ends as the program does. What is said
of starting, of streams that are closed and of signals while it loads belongs to `program.py`.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory
from typing import Any

from program import PATIENCE_S, environment

_MAIN = Path(__file__).with_name("forked_main.py")
_CALLER = """#!{python} -ISE
import json, os, socket, sys
words = [os.fsencode(word).hex() for word in sys.argv[1:]]
with socket.socket(socket.AF_UNIX) as there:
    there.connect({path!r})
    order = dict(words=words, cwd=os.getcwd(), env=dict(os.environ))
    socket.send_fds(there, [json.dumps(order).encode()], [0, 1, 2])
    code = int(there.recv(16))
sys.exit(code if code >= 0 else 128 - code)
"""


class Loaded:
    """The loaded program. Python itself was started with `env`: its encodings are those of every command."""

    def __init__(self, env: Mapping[str, str], directory: Path) -> None:
        self._env = dict(env)
        self._files = directory / "out", directory / "err"
        self._process = subprocess.Popen(
            [sys.executable, "-P", _MAIN], env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def run(
        self, *words: str | Path, cwd: Path, uid: int | None = None, **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs the program to its end, without a terminal; with `uid`, with the rights of that user alone."""
        out, err = self._files
        for file in self._files:
            file.write_bytes(b"")
        order = {
            "words": [os.fsencode(word).hex() for word in words],
            "cwd": str(cwd),
            "env": {**self._env, **more},
            "out": str(out),
            "err": str(err),
            "uid": uid,
        }
        assert self._process.stdin
        self._process.stdin.write(f"{json.dumps(order)}\n".encode())
        child = self._answer()
        try:
            code = self._answer()
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            self._answer()
            raise
        return subprocess.CompletedProcess(words, code, out.read_bytes(), err.read_bytes())

    def _answer(self) -> int:
        stdout = self._process.stdout
        assert stdout
        if not select([stdout], [], [], PATIENCE_S)[0]:
            raise TimeoutError("the program goes on and on")
        line = stdout.readline()
        assert line, "the program could not be loaded"
        return int(line)

    def end(self) -> None:
        """Ends the process."""
        self._process.communicate()


@contextmanager
def loaded(home: Path, **more: str) -> Iterator[Loaded]:
    """The program for a person whose home this is."""
    with TemporaryDirectory() as directory:
        program = Loaded(environment(home, **more), Path(directory))
        try:
            yield program
        finally:
            program.end()


@contextmanager
def program_for_shells(directory: Path) -> Iterator[Path]:
    """A directory for the PATH of a shell with a `diskprof` in it that becomes the loaded program, with the streams it has.

    A signal to it does not reach the program, nor is a terminal that of the program.
    """
    directory.mkdir(parents=True)
    with TemporaryDirectory() as short:
        # The path of a socket has room for a hundred characters.
        path = f"{short}/callers"
        program = directory / "diskprof"
        program.write_text(_CALLER.format(python=sys.executable, path=path))
        program.chmod(0o755)
        with subprocess.Popen(
            [sys.executable, "-P", _MAIN, path],
            env=environment(Path("/")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout and process.stdout.readline(), "the program could not be loaded"
            yield directory


@cache
def _shared() -> Loaded:
    """One for all tests of this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(loaded(Path("/")))


def diskprof(*words: str | Path, home: Path, uid: int | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """As `program.diskprof`. What Python reads when it starts cannot be said in `more`. `uid`: as in `Loaded.run`."""
    env = environment(home, **more)
    assert env["LANG"] == "C.UTF-8"
    assert not any(name.startswith(("PYTHON", "LC_")) for name in more)
    done = _shared().run(*words, cwd=home, uid=uid, **env)
    return subprocess.CompletedProcess(done.args, done.returncode, _text(done.stdout), _text(done.stderr))


def diskprof_json(*words: str | Path, home: Path, **more: str) -> Any:
    """As `program.diskprof_json`."""
    done = diskprof(*words, home=home, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _text(data: bytes) -> str:
    """As a pipe in text mode gives it."""
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")
