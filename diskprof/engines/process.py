"""The only place that starts a program."""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

from msgspec import Struct

from diskprof.model.errors import DiskprofError

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PR_SET_PDEATHSIG = 1
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20
_LADDER = ((signal.SIGINT, 1.2), (signal.SIGTERM, 0.2), (signal.SIGKILL, 0.5))
_DRAIN_S = 1.0
_POLL_S = 0.02
_GATHER_S = 0.02
_PIECE_BYTES = 64 << 10
_BRIEF_BYTES = 64 << 10
_LONGEST_LINE = 32 << 20
_LAST_WAIT_S = 0.5
_PATIENCE_S = 2.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_EDITORS = ("sensible-editor", "nano", "vim", "vi")
"""For whoever has neither VISUAL nor EDITOR, the first that is installed."""
LATE_S = 1.0
"""Waking so much later than asked for, this process was stopped meanwhile, and what it waits for perhaps with it."""

Bytes = Callable[[bytes], None]


class CpuTime(Struct, frozen=True):
    """The CPU time of a process with all its threads since it began, in seconds."""

    user_s: float
    system_s: float


def environment(workdir: Path | None = None) -> Mapping[str, str]:
    """The whole environment of a program: no secrets, no locale, and a TMPDIR that nobody else can write to (F22)."""
    own = {"PATH": os.environ.get("PATH") or _PATH, "LC_ALL": "C"}
    return own | ({"TMPDIR": str(workdir)} if workdir else {})


class Process:
    """A program under way: its output goes to callbacks, its end wakes `ended`. It dies when this process does (F18, F19)."""

    def __init__(self, popen: "subprocess.Popen[bytes]", *, on_output: Bytes, on_error: Bytes) -> None:
        self._popen = popen
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._pipes = [_Pipe(on_output), _Pipe(on_error)]
        self._pidfd: int | None = None
        self._given_up = False

    @staticmethod
    async def start(
        argv: Sequence[str], *, workdir: Path, on_output: Bytes, on_error: Bytes, pass_fds: Sequence[int] = ()
    ) -> "Process":
        """Starts `argv` in a session of its own, in `workdir`. Raises DiskprofError where it cannot be started.

        To be called in the main thread: the kernel ends the program with the thread that started it (F19).
        """
        popen = _spawn(argv, workdir, pass_fds)
        process = Process(popen, on_output=on_output, on_error=on_error)
        try:
            await process._attach()
        except BaseException:  # Cancelled or interrupted too, the program must not stay: nobody else knows of it.
            popen.kill()
            raise
        return process

    async def _attach(self) -> None:
        for pipe, file in zip(self._pipes, (self._popen.stdout, self._popen.stderr), strict=True):
            assert file is not None
            # A reader that is late for some seconds must not hold fio up: room for many documents.
            with contextlib.suppress(OSError):
                fcntl.fcntl(file.fileno(), _F_SETPIPE_SZ, _PIPE_BYTES)
            await self._loop.connect_read_pipe(partial(_same, pipe), file)
        try:
            self._pidfd = os.pidfd_open(self._popen.pid)
        except OSError:
            self._poll()
        else:
            self._loop.add_reader(self._pidfd, self._reap)

    def _poll(self) -> None:
        """For kernels before 5.3, which have no pidfd."""
        if self._popen.poll() is None:
            self._loop.call_later(_POLL_S, self._poll)
        else:
            self._exited.set()

    def _reap(self) -> None:
        if self._popen.poll() is not None:
            self._forget_pidfd()
            self._exited.set()

    def _forget_pidfd(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs, or where it is stuck in the kernel."""
        return self._popen.returncode

    def cpu_time(self) -> CpuTime | None:
        """By the kernel's count, in its ticks (10 ms); None once the program is gone."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_bytes()
        except OSError:
            return None
        # The name before the last bracket may hold anything; utime and stime are the 14th and the 15th figure (proc(5)).
        fields = stat.rpartition(b")")[2].split()
        return CpuTime(int(fields[11]) / _TICKS_PER_S, int(fields[12]) / _TICKS_PER_S)

    async def ended(self) -> None:
        """Returns when the program is gone and all that it said has been passed on."""
        await self._exited.wait()
        # Somebody else may hold the other end of a pipe: no waiting for that for ever.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                for pipe in self._pipes:
                    await pipe.at_end.wait()

    def interrupt(self) -> None:
        """Asks the program by SIGINT to end, and does not wait for it."""
        if self._popen.returncode is None:
            self._popen.send_signal(signal.SIGINT)

    async def stop(self) -> int | None:
        """Ends the program: SIGINT, for its last words, then SIGTERM, then SIGKILL, each with a bounded wait (F20).

        Returns its exit code, or None if even SIGKILL did not end it: it is stuck in the kernel.
        """
        for number, patience_s in _LADDER:
            if self._popen.returncode is not None:
                break
            self._popen.send_signal(number)
            await self._end_within(patience_s)
        self._given_up = self.code is None
        return self.code

    async def _end_within(self, patience_s: float) -> None:
        late = True
        while late and self._popen.returncode is None:
            deadline = time.monotonic() + patience_s
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self.ended()
            # Had we been stopped meanwhile, and the program too, it had no time at all.
            late = time.monotonic() - deadline >= LATE_S

    async def close(self) -> None:
        """Nothing of the program remains, whatever state it was in; only a process stuck in the kernel can."""
        try:
            if self._popen.returncode is None and not self._given_up:
                await self.stop()
        finally:
            if self._popen.returncode is None:
                self._popen.kill()
            self._forget_pidfd()
            for pipe in self._pipes:
                pipe.close()


def _spawn(argv: Sequence[str], workdir: Path, pass_fds: Sequence[int]) -> "subprocess.Popen[bytes]":
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("An engine must be started from the main thread.")
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=workdir,
            env=environment(workdir),
            pass_fds=tuple(pass_fds),
            start_new_session=True,
            preexec_fn=_die_with_parent(),
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or error
        raise DiskprofError(f"{argv[0]} cannot be started: {why}.", "See `diskprof doctor`.") from None


class _Pipe(asyncio.Protocol):
    """Passes on what comes, and what comes shortly after it together.

    fio writes a document in dozens of pieces: to be woken by each would take a processor from what it measures (F56).
    """

    def __init__(self, on_data: Bytes) -> None:
        self.at_end = asyncio.Event()
        self._on_data = on_data
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.ReadTransport | None = None
        self._gathered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._on_data(data)
        gathered, self._gathered = self._gathered, False
        # So much at once is no piece: somebody pours, and waits when the pipe is full. After a pause the rest of a document
        # was there, and what comes next is the beginning of another.
        if self._transport and not gathered and len(data) < _PIECE_BYTES:
            self._transport.pause_reading()
            self._loop.call_later(_GATHER_S, self._read_on)

    def _read_on(self) -> None:
        if self._transport:
            self._gathered = True
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.at_end.set()

    def close(self) -> None:
        if self._transport:
            self._transport.close()


def _same(pipe: _Pipe) -> _Pipe:
    return pipe


def dies_with_parent(number: signal.Signals) -> None:
    """From now on this process gets that signal when the one that started it is gone, in place of SIGKILL."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def _die_with_parent() -> Callable[[], None]:
    """What the child does before it becomes the program. Everything is looked up here, before the fork."""
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(127)

    return prepare


class Brief(Struct, frozen=True):
    """What a program that answers at once has said; `code` is None where it could not be started or did not end.

    `late` where it did not end in time: the disk that it is read from may be busy.
    """

    code: int | None
    output: str
    late: bool = False


def run_briefly(argv: Sequence[str], timeout_s: float = 5.0, waiting: Callable[[], None] | None = None) -> Brief:
    """Asks a program one thing, such as its version. No more than 64 KiB of its answer are read; raises nothing.

    `waiting` is called once where it has said nothing for two seconds.
    """
    try:
        popen = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            cwd="/",
            start_new_session=True,
        )
    except (OSError, ValueError):
        return Brief(None, "")
    deadline = time.monotonic() + timeout_s
    try:
        if waiting and not _speaks_within(popen, min(_PATIENCE_S, timeout_s)):
            waiting()
        output = _read_until(popen, deadline)
        code = popen.wait(max(0.0, deadline - time.monotonic())) if output is not None else None
    except subprocess.TimeoutExpired:
        code = None
    finally:
        late = time.monotonic() >= deadline
        assert popen.stdout is not None
        popen.stdout.close()
        if popen.poll() is None:
            os.killpg(popen.pid, signal.SIGKILL)
            # A program on a disk that hangs does not even die: no waiting for that for ever.
            with contextlib.suppress(subprocess.TimeoutExpired):
                popen.wait(_LAST_WAIT_S)
    return Brief(code, (output or b"").decode("utf-8", "replace"), late=code is None and late)


def _speaks_within(popen: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether there is something to read, be it the end."""
    assert popen.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(popen.stdout, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def _read_until(popen: "subprocess.Popen[bytes]", deadline: float) -> bytes | None:
    """All that a program says; None where it says too much, or does not come to an end."""
    assert popen.stdout is not None
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(popen.stdout, selectors.EVENT_READ)
        while len(output) < _BRIEF_BYTES and selector.select(max(0.0, deadline - time.monotonic())):
            data = os.read(popen.stdout.fileno(), _BRIEF_BYTES)
            if not data:
                return output
            output += data
    return None


class Dialogue:
    """A program of the person's that is spoken to in lines, such as ssh. It keeps our environment, and dies when this process does.

    To be used in the main thread, as `Process`.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._said = b""
        self._listening = asyncio.create_task(self._listen())

    @staticmethod
    async def start(argv: Sequence[str]) -> "Dialogue":
        """Raises DiskprofError where it cannot be started."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DiskprofError(f"{argv[0]} cannot be started: {why}.") from None
        return Dialogue(process)

    async def _listen(self) -> None:
        assert self._process.stderr
        while data := await self._process.stderr.read(_PIECE_BYTES):
            self._said = (self._said + data)[-_PIECE_BYTES:]

    def send(self, line: bytes) -> None:
        """Writes a line, without waiting for it to be read."""
        assert self._process.stdin
        self._process.stdin.write(line + b"\n")

    async def line(self) -> bytes:
        """The next line, without its end; empty at the end. Raises DiskprofError for an endless one."""
        assert self._process.stdout
        try:
            return (await self._process.stdout.readline()).rstrip(b"\n")
        except ValueError:
            raise DiskprofError("A program says too much in one line.") from None

    async def close(self) -> "Ended":
        """Ends the program, whatever state it is in; what it said is on stderr alone."""
        assert self._process.stdin
        self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _DRAIN_S)
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        # A child of it may hold stderr open.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._listening), _DRAIN_S)
        self._listening.cancel()
        return Ended(self._process.returncode or 0, b"", self._said.decode("utf-8", "replace"))


def start_session(argv: Sequence[str], order: bytes, log: BinaryIO) -> bytes:
    """Starts a program of ours in a session of its own, hands it `order` and returns what it says until it closes its output.

    Its stderr goes to `log`. It keeps our environment, since it is diskprof itself. Raises DiskprofError where
    it cannot be started.
    """
    try:
        popen = subprocess.Popen(
            list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    except OSError as error:
        raise DiskprofError(f"{error.filename or argv[0]} cannot be used: {error.strerror}.") from None
    output, _ = popen.communicate(order)
    return output


class Ended(Struct, frozen=True):
    """How a program ended: its exit code, negative for a signal, and all that it said."""

    code: int
    output: bytes
    errors: str


def run_here(argv: Sequence[str], source: bytes | Path = b"") -> Ended:
    """Runs a program of the person's to its end, with `source` (bytes, or a file) for its stdin.

    It keeps our environment. Raises DiskprofError where it cannot be started, or `source` cannot be read.
    """
    try:
        # A file takes what a child of the program might say for ever: ssh leaves the connection that others share behind.
        with tempfile.TemporaryFile() as errors, _opened(source) as given:
            done = subprocess.run(list(argv), stdin=given, stdout=subprocess.PIPE, stderr=errors, check=False)
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DiskprofError(f"{argv[0]} cannot be started: {why}.") from None
    return Ended(done.returncode, done.stdout, said)


@contextlib.contextmanager
def _opened(source: bytes | Path) -> Iterator[IO[bytes]]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    else:
        with tempfile.TemporaryFile() as file:
            file.write(source)
            file.seek(0)
            yield file


def run_in_terminal(argv: Sequence[str]) -> int:
    """Runs a program of the person's in this terminal; its exit code, negative for a signal.

    It keeps our environment. To be called in the main thread. Raises DiskprofError where it cannot be started.
    """
    # Ctrl+C is for the program alone. A handler, since it would inherit SIG_IGN.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        return subprocess.run(list(argv), check=False).returncode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DiskprofError(f"{argv[0]} cannot be started: {why}.") from None
    finally:
        signal.signal(signal.SIGINT, before)


def edit_file(path: Path) -> None:
    """Opens a file in $VISUAL, $EDITOR or an editor that is installed, in this terminal, and returns when it is closed.

    It keeps our environment, since it is the person's program. To be called in the main thread. Raises DiskprofError where
    there is no editor, or it fails.
    """
    argv = _editor()
    try:
        code = run_in_terminal([*argv, str(path)])
    except DiskprofError as error:
        raise DiskprofError(error.message, "Set VISUAL or EDITOR to your editor.") from None
    if code:
        how = f"failed with exit code {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
        raise DiskprofError(f"{argv[0]} {how}.", "Set VISUAL or EDITOR to your editor.")


def _editor() -> Sequence[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError as error:
            raise DiskprofError(f"{name} is not valid: {error}.", "Quote it as in a shell.") from None
        if words:
            return words
    if found := next(filter(shutil.which, _EDITORS), ""):
        return [found]
    raise DiskprofError("There is no editor.", "Set VISUAL or EDITOR to one.")
