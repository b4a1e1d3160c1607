"""A real sshd on 127.0.0.1, with keys made for the test, and the ssh client's side of it."""

import fcntl
import getpass
import os
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from program import descendants, gone, until, write_program

HOST = "disks.example"
_PRIVSEP = Path("/run/sshd")
# A service's own is 0755.
_OURS = 0o711
_SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"
# Later versions of OpenSSH serve a session with a program of its own.
_SESSION_NAMES = ("sshd", "sshd-session")


@dataclass(frozen=True)
class Server:
    """A server on `port`; who logs in has `home` for a home and `diskprof` on the PATH."""

    pid: int
    port: int
    directory: Path
    home: Path
    host: str = HOST

    def ssh(
        self, *command: str | Path, options: Sequence[str] = (), port: int | None = None, tty: bool = True
    ) -> list[str]:
        """The words that run `command` (none: a login shell) on the server; `port` is that of a relay to it."""
        via = ("-p", str(port)) if port else ()
        return [
            "ssh",
            "-F",
            str(self.directory / "client"),
            *(("-t",) if tty else ()),
            *via,
            *options,
            self.host,
            *map(str, command),
        ]

    def client(self, directory: Path) -> Path:
        """A directory for the PATH with an `ssh` that knows this server by HOST, and needs no configuration of the user's."""
        directory.mkdir()
        program = directory / "ssh"
        program.write_text(f'#!/bin/sh\nexec {_program("ssh")} -F {self.directory / "client"} "$@"\n')
        program.chmod(0o755)
        return directory

    def sessions(self) -> list[int]:
        """Ids of the processes that serve a connection each."""
        return [pid for name in _SESSION_NAMES for pid in descendants(self.pid, name)]

    def programs(self) -> list[int]:
        """Ids of the processes that those who are logged in have started."""
        found, parents = list[int](), self.sessions()
        while parents:
            # A session may have a process of sshd's for a child.
            served = [pid for name in _SESSION_NAMES for parent in parents for pid in descendants(parent, name)]
            found += [pid for parent in parents for pid in descendants(parent) if pid not in served]
            parents = served
        return found

    def cut(self) -> None:
        """Ends every connection from the server's side."""
        sessions = self.sessions()
        for pid in sessions:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: all(map(gone, sessions)), "the end of the sessions")


@contextmanager
def sshd(directory: Path, home: Path, host: str = HOST, *, path: str = "") -> Iterator[Server]:
    """A server that keeps all it has in `directory`, called `host`. It needs no root, and then serves its own user only.

    Who logs in has `path` for a PATH, otherwise ours and `diskprof`.
    """
    directory.mkdir()
    for name in ("host", "user"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", directory / name)
    shutil.copy(directory / "user.pub", directory / "authorized")
    # sshd begins where the user's home is, not where HOME says.
    write_program(directory / "bin", first='cd "$HOME" || exit')
    with _privsep() if os.geteuid() == 0 else nullcontext():
        process, port = _start(directory, home, host, path)
        try:
            yield Server(process.pid, port, directory, home, host)
        finally:
            process.kill()
            process.wait()


@contextmanager
def _privsep() -> Iterator[None]:
    """sshd's directory for separated privileges. Without it every connection is reset: the last test that needs it removes it."""
    descriptor = _shared(_PRIVSEP)
    try:
        yield
    finally:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_IMODE(os.fstat(descriptor).st_mode) == _OURS:
                _PRIVSEP.rmdir()
        os.close(descriptor)


def _shared(path: Path) -> int:
    """The directory, made if need be and held so that no other test removes it until the descriptor is closed."""
    while True:
        with suppress(FileExistsError):
            path.mkdir(mode=_OURS)
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.fstat(descriptor).st_nlink:  # otherwise it has just been removed
                return descriptor
            os.close(descriptor)


@contextmanager
def mounted(server: Server, far: Path, here: Path) -> Iterator[int]:
    """The server's directory `far` at `here`, by sshfs, whose process id this is; unmounted at the end, whatever became of it."""
    process = subprocess.Popen(
        ["sshfs", "-f", "-F", str(server.directory / "client"), f"{HOST}:{far}", str(here)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: process.poll() is not None or here.is_mount(), "the mount")
        assert process.poll() is None
        yield process.pid
    finally:
        subprocess.run(["fusermount3", "-u", "-z", str(here)], capture_output=True, check=False)
        process.terminate()
        process.wait()


def _run(*words: str | Path) -> None:
    subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _start(directory: Path, home: Path, name: str, path: str) -> tuple[subprocess.Popen[bytes], int]:
    log = directory / "log"
    for _ in range(5):
        port = _free_port()
        (directory / "server").write_text(_server_config(directory, home, port, path))
        (directory / "client").write_text(_client_config(directory, port, name))
        host = (directory / "host.pub").read_text()
        (directory / "known").write_text(f"[127.0.0.1]:{port} {host}{name} {host}")
        with log.open("wb") as file:
            process = subprocess.Popen(
                [str(_program("sshd")), "-D", "-e", "-f", str(directory / "server")],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        until(lambda: process.poll() is not None or b"Server listening" in log.read_bytes(), "the server")  # noqa: B023
        if process.poll() is None:
            return process, port
        # Somebody else may have taken the port since it was found free.
        assert "in use" in log.read_text(), log.read_text()
    raise AssertionError("no port stays free")


def _program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + _SBIN)
    assert found, name
    return found


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _server_config(directory: Path, home: Path, port: int, path: str) -> str:
    python = os.environ.get("PYTHONPATH", "")
    path = path or f"{directory / 'bin'}:{os.environ.get('PATH', os.defpath)}{_SBIN}"
    repository = Path(__file__).parents[2]
    settings: Mapping[str, object] = {
        "ListenAddress": "127.0.0.1",
        "Port": port,
        "HostKey": directory / "host",
        "AuthorizedKeysFile": directory / "authorized",
        "PidFile": "none",
        # It lets in by a key alone, without root or with a password that is locked, only through PAM.
        "UsePAM": "yes" if os.geteuid() or _locked() else "no",
        "PermitRootLogin": "prohibit-password",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        # Above a test's directory is a world-writable one.
        "StrictModes": "no",
        # A client that was killed may still count for one that is logging in.
        "MaxStartups": "100",
        "Subsystem": "sftp internal-sftp",
        "PrintMotd": "no",
        "PrintLastLog": "no",
        "AcceptEnv": "LANG LC_* NO_COLOR",
        "SetEnv": f"HOME={home} PATH={path} PYTHONPATH={python or repository}",
    }
    return "".join(f"{key} {value}\n" for key, value in settings.items())


def _locked() -> bool:
    """Whether this user has a locked password."""
    try:
        lines = Path("/etc/shadow").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith(f"{getpass.getuser()}:!") for line in lines)


def _client_config(directory: Path, port: int, host: str) -> str:
    settings: Mapping[str, object] = {
        "Host": host,
        "HostName": "127.0.0.1",
        "HostKeyAlias": host,
        "Port": port,
        "User": getpass.getuser(),
        "IdentityFile": directory / "user",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "UserKnownHostsFile": directory / "known",
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "BatchMode": "yes",
        "LogLevel": "ERROR",
        "SendEnv": "LANG LC_* NO_COLOR",
    }
    return "".join(f"{key} {value}\n" for key, value in settings.items())
