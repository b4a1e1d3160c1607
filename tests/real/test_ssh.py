"""`diskprof ssh` to a real sshd: what is sent and kept, what is refused before anything is changed."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from program import environment, gone, until
from setup_machine import REPOSITORY
from sshd import HOST, Server, sshd

from diskprof.fleet.hosts.bundle import bundle_name
from diskprof.fleet.hosts.connection import shared_connection
from diskprof.fleet.hosts.programs import named_program, programs_directory
from diskprof.fleet.hosts.remote_program import prepared
from diskprof.model.errors import DiskprofError

pytestmark = pytest.mark.needs("ssh", "sshd", "ssh-keygen", "fio")

TOOLS = (
    *("sh", "sha256sum", "cut", "tar", "gzip", "mkdir", "mv", "rm", "rmdir", "cat", "chmod", "dirname", "readlink"),
    *("uname", "id", "df", "awk", "sed", "tr", "grep", "env", "setsid", "sleep"),
)


@pytest.fixture(scope="module")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zipapp") / f"diskprof-{os.uname().machine}.pyz"
    subprocess.run([sys.executable, REPOSITORY / "scripts/pyz.py", "--installed", "--output", path], check=True)
    return path


class Host:
    """A host with a few tools, and fio and Python if they are put there."""

    def __init__(self, server: Server, directory: Path, run: str) -> None:
        self.server, self.home, self.bin = server, server.home, server.directory / "bin"
        self.path = f"{server.client(directory / 'client')}:{os.environ['PATH']}"
        self.environment = environment(directory, PATH=self.path, XDG_RUNTIME_DIR=run)

    @property
    def cache(self) -> Path:
        return self.home / ".cache"

    def sent(self) -> list[str]:
        return sorted(path.name for path in self.cache.glob("diskprof/sent/*"))

    def has(self, name: str, text: str = "") -> None:
        program = self.bin / name
        program.unlink(missing_ok=True)
        if text:
            program.write_text(text)
            program.chmod(0o755)
        else:
            found = shutil.which(name)
            assert found
            program.symlink_to(found)

    def ssh(self, *words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "diskprof", "ssh", *map(str, words)],
            env={**self.environment, "HOME": str(home)},
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
        )


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    (tmp_path / "home").mkdir()
    with (
        # As short as that of a person: a socket's path is of 107 bytes at most.
        tempfile.TemporaryDirectory(prefix="run-", dir="/tmp") as run,
        sshd(tmp_path / "sshd", tmp_path / "home", path=str(tmp_path / "sshd/bin")) as server,
    ):
        (server.directory / "bin/diskprof").unlink()
        host = Host(server, tmp_path, run)
        for name in TOOLS:
            host.has(name)
        yield host
        server.cut()


def python_of(host: Host) -> None:
    host.has("python3.14", f'#!/bin/sh\nexec {sys.executable} "$@"\n')


def test_what_fits_is_sent_once_and_removed_where_nothing_is_to_stay(host: Host, zipapp: Path, tmp_path: Path) -> None:
    host.has("fio")
    python_of(host)
    first = host.ssh("--program", zipapp, HOST, "config", "path", home=tmp_path)
    assert (first.returncode, first.stdout) == (0, f"{host.home}/.config/diskprof/config.toml\n"), first.stderr
    assert "Sending the zipapp (" in first.stderr
    (kept,) = host.sent()
    again = host.ssh("--program", zipapp, HOST, "show", "no-such-run", home=tmp_path)
    assert again.returncode == 2
    assert "Sending" not in again.stderr and "no-such-run" in again.stderr
    assert host.sent() == [kept]
    (session,) = host.server.sessions()
    out = host.ssh("--log-out", "--program", zipapp, HOST, "config", "path", home=tmp_path)
    assert out.returncode == 0 and host.sent() == [kept], out.stderr
    until(lambda: gone(session) and not host.server.sessions(), "the end of the connections")
    last = host.ssh("--leave-nothing", "--program", zipapp, HOST, "presets", home=tmp_path)
    assert last.returncode == 0 and "quick" in last.stdout
    assert not host.cache.exists() or not list(host.cache.iterdir())


REFUSED: Mapping[str, tuple[Sequence[str], Mapping[str, str], int, str]] = {
    "no fio": ([], {"fio": "", "apk": "exit 1"}, 3, r"no fio on disks.example.\nInstall it there: (sudo )?apk add fio"),
    "no python": ([], {}, 3, "There is no Python 3.11 or later on disks.example, which a zipapp takes."),
    "another machine": ([], {"uname": "case $1 in -s) echo Linux;; *) echo vax;; esac"}, 3, "which is vax"),
    "no room": (["python"], {"df": "echo; echo x x x 1000"}, 3, "There is no room for diskprof in"),
    "no sha256sum": ([], {"sha256sum": ""}, 3, "There is no sha256sum on disks.example."),
    "damaged": (["python"], {"sha256sum": "echo 0000 -"}, 1, "it arrived damaged. Nothing of it stays there."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_said_and_nothing_stays(
    case: str, host: Host, zipapp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more, tools, code, said = REFUSED[case]
    monkeypatch.setenv("PATH", host.path)
    host.has("fio")
    if "python" in more:
        python_of(host)
    for name, text in tools.items():
        (host.bin / name).unlink(missing_ok=True)
        if text:
            host.has(name, f"#!/bin/sh\n{text}\n")
    with shared_connection(HOST) as connection, pytest.raises(DiskprofError, match=said) as caught:
        prepared(connection, lambda _: None, named_program(zipapp))
    assert caught.value.exit_code == code
    assert {path.name for path in host.home.rglob("*")} <= ({".cache"} if case == "damaged" else set())


def test_a_host_of_another_machine_is_sent_what_lies_here_for_it(
    host: Host, zipapp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", host.path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    host.has("fio")
    python_of(host)
    (host.bin / "uname").unlink(missing_ok=True)
    host.has("uname", "#!/bin/sh\ncase $1 in -s) echo Linux;; *) echo vax;; esac\n")
    with shared_connection(HOST) as connection:
        with pytest.raises(DiskprofError, match="is vax, and this is") as caught:
            prepared(connection, lambda _: None)
        assert str(programs_directory()) in caught.value.hint
        programs_directory().mkdir(parents=True)
        # Only its name says what it is for: it starts here.
        shutil.copy(zipapp, programs_directory() / f"{bundle_name('vax')}.pyz")
        sent = prepared(connection, lambda _: None)
        assert Path(sent.sent).name == named_program(zipapp).digest
        assert prepared(connection, pytest.fail) == sent


def test_a_host_that_lets_nobody_in_and_one_that_is_no_host(host: Host, tmp_path: Path) -> None:
    (host.server.directory / "authorized").write_text("")
    done = host.ssh(HOST, home=tmp_path)
    assert (done.returncode, "Permission denied (publickey)" in done.stderr) == (2, True), done.stderr
    assert host.ssh("--", "-oProxyCommand=x", home=tmp_path).returncode == 2
