"""The system's ssh to a host: configuration, jump hosts, agents and known hosts are ssh's own business."""

import hashlib
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path

from msgspec import Struct

from diskprof.engines.process import Ended, run_here, run_in_terminal
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean

SSH_FAILED = 255
"""What ssh exits with where it could not connect, or lost the connection: else it passes on what the program there did."""
_CONNECT_S = 10
_ALIVE_S = 5
_ALIVE_COUNT = 3
_PERSIST_S = 60
_SOCKET_DIRECTORY = 107 - 17 - 17
"""Bytes: a socket's path has 107 at most, its name here 17 with the slash, and ssh adds 17 until it is bound."""
_PLAIN = re.compile(r"[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+=:,./-]*")


class HostUnreachable(UsageError):
    """ssh does not get in: an unknown host, a refused key, a changed host key. The message ends with what ssh said."""


class Sharing(Enum):
    """Whose connection the calls to a host share."""

    NOBODYS = auto()
    OURS = auto()
    CONFIGURED = auto()
    """That of ssh's own configuration: it is the person's, and stays as it is."""


class Connection(Struct, frozen=True):
    """A host as ssh knows it, [USER@]HOST, and the socket of the connection that several calls share if that is ours."""

    host: str
    socket: Path | None = None
    sharing: Sharing = Sharing.NOBODYS

    def argv(self, words: Sequence[str], *, terminal: bool = False, compressed: bool = False) -> tuple[str, ...]:
        """The words that run `words` on the host. With a `terminal` ssh may ask for a password, without one it never asks.

        A connection that no longer answers ends within 15 s.
        """
        options = self._options(terminal=terminal, compressed=compressed)
        mode = "-tt" if terminal else "-T"
        return ("ssh", mode, *options, "--", self.host, line_for_any_shell(words))

    def forwarding(self, sockets: Mapping[Path, str]) -> tuple[str, ...]:
        """The words that forward each socket here, which is not there yet, to the one on the host, until they are ended."""
        words = [word for here, there in sockets.items() for word in ("-L", f"{here}:{there}")]
        options = (*self._options(), "-oExitOnForwardFailure=yes")
        return ("ssh", "-T", "-N", *options, *words, "--", self.host)

    def _options(self, *, terminal: bool = False, compressed: bool = False) -> tuple[str, ...]:
        options = [
            f"ConnectTimeout={_CONNECT_S}",
            f"ServerAliveInterval={_ALIVE_S}",
            f"ServerAliveCountMax={_ALIVE_COUNT}",
        ]
        if self.sharing is Sharing.OURS:
            options += ["ControlMaster=auto", f"ControlPath={self.socket}", f"ControlPersist={_PERSIST_S}"]
            # Ports that the configuration forwards would be held as long, and the person's next ssh would not get them.
            options += ["ClearAllForwardings=yes"]
        elif self.sharing is Sharing.NOBODYS and not terminal:
            options += ["BatchMode=yes"]
        options += ["Compression=yes"] if compressed else []
        return tuple(f"-o{option}" for option in options)

    def run(self, words: Sequence[str], source: bytes | Path = b"") -> Ended:
        """Runs a program on the host to its end, with `source` (bytes, or a file) for its stdin.

        A second time if the connection that was there breaks, as one does that outlived a network: the program must bear that.
        Raises HostUnreachable where ssh does not get in, DiskprofError where there is no ssh.
        """
        was_there = self.socket is not None and self.socket.exists()
        done = run_here(self.argv(words), source)
        if done.code == SSH_FAILED and was_there:
            done = run_here(self.argv(words), source)
        if done.code == SSH_FAILED:
            raise self.unreachable(done.errors)
        return done

    def run_in_terminal(self, words: Sequence[str], *, terminal: bool = True) -> int:
        """Runs a program on the host with our stdin, stdout and stderr, and there in a `terminal` of its own; its exit code.

        SSH_FAILED is that of ssh, which has said why.
        """
        return run_in_terminal(self.argv(words, terminal=terminal))

    def unreachable(self, said: str) -> HostUnreachable:
        """The error for what ssh said before it gave up."""
        lines = [clean(line) for line in said.splitlines() if line.strip()]
        why = "\n".join(f"  {line}" for line in lines) or "  ssh gave no reason."
        return HostUnreachable(
            f"ssh cannot run anything on {clean(self.host)}:\n{why}", f"Try: ssh {shlex.quote(self.host)} true"
        )


def line_for_any_shell(words: Sequence[str]) -> str:
    """The words as the login shell of a host takes them, whichever that is.

    In quotes, too, csh takes neither a newline nor an exclamation mark, and fish two backslashes for one: what is not plain goes
    as octal numbers to a `sh`.
    """
    line = shlex.join(words)
    if all(map(_PLAIN.fullmatch, words)):
        return line
    octal = "".join(letter if _PLAIN.fullmatch(letter := chr(byte)) else f"\\0{byte:03o}" for byte in os.fsencode(line))
    return f"""sh -c 'eval "exec $(printf %b "$1")"' sh '{octal}'"""


def checked_host(given: str) -> str:
    """[USER@]HOST as it may be given to ssh. Raises UsageError for what ssh would take for something else."""
    user, at, name = given.rpartition("@")
    if (
        not name
        or name.startswith("-")
        or (at and not user)
        or given.startswith("-")
        or not given.isprintable()
        or " " in given
    ):
        raise UsageError(f"{clean(given)!r} is not valid as a host.", "Name it as for ssh: HOST or USER@HOST.")
    return given


@contextmanager
def shared_connection(host: str, *, persist: bool = False) -> Iterator[Connection]:
    """A connection to `host` that all calls share, so that ssh logs in once; closed at the end.

    With `persist` it stays open for 60 s after the last call, for whoever connects to the host next, as Ansible has it; closed
    when its last call ends if the next is without. Where ssh's configuration has a connection that is open or stays so, it is that
    one, and not closed here. Our socket lies in a directory that nobody else can open. Raises UsageError,
    and DiskprofError where there is no ssh or no room for the socket.
    """
    checked = checked_host(host)
    if not shutil.which("ssh"):
        raise DiskprofError("There is no ssh.", "Install the OpenSSH client.")
    configured = run_here(("ssh", "-G", "--", checked)).output
    if _is_configured(checked, configured):
        yield Connection(checked, sharing=Sharing.CONFIGURED)
        return
    lasting = _lasting_socket(checked, configured)
    ours = _is_ours(lasting.parent, make=persist)
    if ours and persist:
        yield Connection(checked, lasting, Sharing.OURS)
        return
    if ours and lasting.exists():
        # Whoever uses it goes on, and it ends with them.
        _tell_master(Connection(checked, lasting, Sharing.OURS), "stop")
    try:
        directory = Path(tempfile.mkdtemp(prefix="diskprof-ssh-"))
    except OSError as error:
        raise DiskprofError(f"No temporary directory for the connection: {error.strerror}.", "Set TMPDIR.") from None
    connection = Connection(checked, directory / "s", Sharing.OURS)
    try:
        yield connection
    finally:
        if connection.socket and connection.socket.exists():
            _tell_master(connection, "exit")
        shutil.rmtree(directory, ignore_errors=True)


def _tell_master(connection: Connection, command: str) -> None:
    run_here(("ssh", f"-oControlPath={connection.socket}", f"-O{command}", "--", connection.host))


def _is_configured(host: str, configuration: bytes) -> bool:
    """Whether ssh's configuration, as `ssh -G` prints it, has a connection to this host that is open, or stays so once it is."""
    lines = (line.partition(" ") for line in configuration.decode(errors="replace").splitlines())
    said = {name: value for name, _, value in lines}
    if said.get("controlpath", "none") == "none":
        return False
    stays = said.get("controlmaster") in ("auto", "autoask") and said.get("controlpersist", "no") != "no"
    return stays or run_here(("ssh", "-Ocheck", "--", host)).code == 0


def _lasting_socket(host: str, configured: bytes) -> Path:
    """Where the socket to a host is that outlives a call.

    It is of all that ssh's configuration says of the host: two that differ by a jump host alone are two.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    directory = Path(runtime, "diskprof-ssh") if runtime.startswith("/") else Path(f"/tmp/diskprof-ssh-{os.geteuid()}")
    return directory / hashlib.sha256(host.encode() + b"\n" + configured).hexdigest()[:16]


def _is_ours(directory: Path, *, make: bool) -> bool:
    """Whether nobody else can open this directory for sockets, and its path leaves room for their names; may `make` it."""
    if len(os.fsencode(directory)) > _SOCKET_DIRECTORY:
        return False
    try:
        if make:
            directory.mkdir(mode=0o700, exist_ok=True)
        found = directory.lstat()
    except OSError:
        return False
    # In /tmp anybody may have made it.
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
