"""The system's ssh to a real sshd: what it passes on, and its own words where it does not get in."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from program import gone, until
from sshd import HOST, Server, sshd

from diskprof.fleet.hosts.connection import (
    Connection,
    HostUnreachable,
    checked_host,
    line_for_any_shell,
    shared_connection,
)
from diskprof.model.errors import UsageError

pytestmark = pytest.mark.needs("ssh", "sshd", "ssh-keygen")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("host")
    with sshd(directory / "sshd", directory) as served:
        yield served


@pytest.fixture(autouse=True)
def client(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{server.client(tmp_path / 'bin')}:/usr/sbin:/usr/bin:/sbin:/bin")


def test_one_connection_carries_all_and_nothing_of_it_stays(server: Server, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    sent.write_bytes(bytes(range(256)) * 1000)
    with shared_connection(HOST) as connection:
        assert connection.run(("cat",), sent).output == sent.read_bytes()
        done = connection.run(("sh", "-c", 'echo "$1"; echo err >&2; exit 7', "sh", "a 'quoted' $word\n;"))
        assert (done.code, done.output, done.errors) == (7, b"a 'quoted' $word\n;\n", "err\n")
        assert len(server.sessions()) == 1
        assert connection.socket and connection.socket.parent.stat().st_mode & 0o777 == 0o700
    assert not connection.socket.parent.exists()


@pytest.fixture
def runtime(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As short as that of a person: a socket's path is of 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="run-", dir="/tmp") as run:
        monkeypatch.setenv("XDG_RUNTIME_DIR", run)
        yield Path(run)
        server.cut()


def test_the_next_call_uses_the_connection_that_is_still_open(server: Server, runtime: Path) -> None:
    for _ in range(2):
        with shared_connection(HOST, persist=True) as connection:
            assert connection.run(("echo", "here")).output == b"here\n"
    (session,) = server.sessions()
    assert connection.socket and connection.socket.exists() and connection.socket.parent.stat().st_mode & 0o777 == 0o700
    with shared_connection(HOST) as other:
        until(lambda: gone(session), "the end of the connection that lasts")
        assert other.run(("echo", "anew")).output == b"anew\n"
    assert not list((runtime / "diskprof-ssh").iterdir())


def test_a_connection_that_broke_meanwhile_is_made_anew(server: Server, runtime: Path) -> None:
    with shared_connection(HOST, persist=True) as connection:
        connection.run(("true",))

    def master() -> int:
        said = subprocess.run(["ssh", "-O", "check", f"-oControlPath={connection.socket}", HOST], capture_output=True)
        return int(re.findall(rb"pid=(\d+)", said.stderr)[0])

    for break_it in (server.cut, lambda: os.kill(master(), signal.SIGKILL)):
        before = master()
        break_it()
        # One that is still dying would take the name of the next one's socket away with its own.
        until(partial(gone, before), "the end of the connection that broke")
        with shared_connection(HOST, persist=True) as again:
            assert again.run(("echo", "here")).output == b"here\n"
        assert again.socket == connection.socket and master() != before


def test_a_host_whose_configuration_differs_has_another_connection(
    server: Server, runtime: Path, tmp_path: Path
) -> None:
    with (
        shared_connection(HOST, persist=True) as connection,
        changed(
            server.directory / "client",
            (server.directory / "client").read_text() + "\n  ProxyJump none\n  Tunnel yes\n",
        ),
        shared_connection(HOST, persist=True) as other,
    ):
        assert connection.socket != other.socket


def test_a_directory_that_others_can_enter_holds_no_socket(runtime: Path) -> None:
    (runtime / "diskprof-ssh").mkdir(mode=0o755)
    with shared_connection(HOST, persist=True) as connection:
        assert connection.run(("true",)).code == 0
        assert connection.socket and runtime not in connection.socket.parents
    assert not connection.socket.exists()


def test_a_socket_that_others_could_have_made_is_not_spoken_to(server: Server, runtime: Path) -> None:
    with shared_connection(HOST, persist=True) as connection:
        assert connection.run(("true",)).code == 0
    (runtime / "diskprof-ssh").chmod(0o755)
    with shared_connection(HOST) as other:
        assert other.run(("true",)).code == 0
    # The master that was told to stop takes its socket away.
    assert connection.socket and connection.socket.exists()


@pytest.mark.needs("root")
def test_a_runtime_directory_that_cannot_be_entered_is_no_error(runtime: Path) -> None:
    runtime.chmod(0o700)
    program = (
        "import os\n"
        "from diskprof.fleet.hosts.connection import shared_connection\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "for persist in (True, False):\n"
        f"    with shared_connection({HOST!r}, persist=persist) as connection: print(connection.socket)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(runtime) not in done.stdout and len(done.stdout.splitlines()) == 2


def test_the_connection_of_the_configuration_is_used_and_stays_open(
    server: Server, runtime: Path, tmp_path: Path
) -> None:
    own = runtime / "own"
    text = (server.directory / "client").read_text()
    with changed(
        server.directory / "client", f"{text}\n  ControlMaster auto\n  ControlPath {own}\n  ControlPersist 60\n"
    ):
        for persist in (True, False):
            with shared_connection(HOST, persist=persist) as connection:
                assert connection.run(("echo", "here")).output == b"here\n"
        assert len(server.sessions()) == 1 and own.exists()
    with changed(server.directory / "client", f"{text}\n  ControlPath {own}\n"):
        with shared_connection(HOST) as connection:
            assert connection.run(("echo", "open")).output == b"open\n"
        assert len(server.sessions()) == 1
        subprocess.run(("ssh", "-Oexit", HOST), capture_output=True, check=True)
        with shared_connection(HOST) as connection:
            assert connection.run(("true",)).code == 0 and connection.socket
    assert list(runtime.iterdir()) == []


def test_no_port_of_the_configuration_is_held(server: Server, runtime: Path) -> None:
    text = (server.directory / "client").read_text()
    held = runtime / "port"
    with (
        changed(server.directory / "client", f"{text}\n  LocalForward {held} localhost:9\n"),
        shared_connection(HOST, persist=True) as connection,
    ):
        assert connection.run(("true",)).code == 0
        assert not held.exists()


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    before = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(before)


def test_what_keeps_ssh_out_is_said_in_its_own_words(server: Server) -> None:
    with changed(server.directory / "authorized", ""), pytest.raises(HostUnreachable, match="Permission denied"):
        Connection(HOST).run(("true",))
    other = (server.directory / "user.pub").read_text()
    with (
        changed(server.directory / "known", f"{HOST} {other}"),
        pytest.raises(HostUnreachable, match=r"Host key verification failed[^$]*Try: ssh disks.example true"),
    ):
        Connection(HOST).run(("true",))
    assert Connection(HOST).run_in_terminal(("sh", "-c", "exit 4")) == 4


@pytest.mark.parametrize("given", ["", "-oProxyCommand=x", "a@-b", "@host", "two words", "x\n"])
def test_no_host_is_taken_for_an_option(given: str) -> None:
    with pytest.raises(UsageError, match="not valid as a host"):
        checked_host(given)


def test_a_host_is_as_ssh_takes_it() -> None:
    for given in ("db1", "root@db1.example", "me@corp@jump", "[::1]", "fe80::1%eth0"):
        assert checked_host(given) == given
    assert Connection("db1").argv(("echo", "a/b"))[-3:] == ("--", "db1", "echo a/b")


@pytest.mark.parametrize("shell", [shell for shell in ("sh", "bash", "zsh", "fish", "tcsh") if shutil.which(shell)])
def test_every_login_shell_takes_the_words_as_they_are(shell: str) -> None:
    words = ("a b", "it's", "x!y", "two\\\\", "$HOME `id`", "new\nline", "-n", "*", "", "é%1", "=ls", "end\n")
    line = line_for_any_shell(("printf", "%s|", *words))
    # csh, which is seldom there, takes a line of these, and nothing else in quotes that it would read itself.
    assert line.isascii() and "\n" not in line and "!" not in line and "\\\\" not in line
    done = subprocess.run([shell, "-c", line], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{word}|" for word in words)
