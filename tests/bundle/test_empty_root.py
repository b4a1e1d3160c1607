"""Every command of the bundle in roots without a Python, and of the zipapp with each Python that is here (`make test-bundle`).

The emptiest root has busybox, fio with its libraries, and no C library of its own where programs look for one. DISKPROF_ROOTS
names more, such as what debootstrap makes of an older or a newer distribution: `fio` must be in them.
"""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from terminal import terminal

from diskprof.cli.main import main
from diskprof.fleet.hosts.bundle import bundle_name

DIST = Path(__file__).parents[2] / "dist"
"""With what `make pyz` and `make bundle` made."""
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
PRESET = """
name = "tiny"
title = "Tiny"
[fio]
size = "1m"
[[test]]
name = "reads"
title = "Reads"
options = { rw = "randread", bs = "4k" }
"""
ENTER = 'mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
SOME_PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

pytestmark = pytest.mark.needs("root", "sys-admin", "unshare", "fio")


def roots() -> Sequence[str]:
    return ["busybox", *filter(None, os.environ.get("DISKPROF_ROOTS", "").split(":"))]


def pythons() -> Sequence[str]:
    """The Pythons that pyenv or the distribution has, of the versions that the zipapp is for."""
    found = []
    for version in VERSIONS:
        paths = [
            *Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"),
            shutil.which(f"python{version}"),
        ]
        found += [str(path) for path in paths[:1] if path]
    return found


@pytest.fixture(params=roots(), scope="module")
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """The words that start the bundle in a root."""
    given = Path(request.param)
    directory = given if given.is_absolute() else emptiest(tmp_path_factory.mktemp("root"))
    assert not [name for each in SOME_PATH.split(":") for name in (directory / each.strip("/")).glob("python*")]
    place = directory / "opt/diskprof"
    with tarfile.open(DIST / f"{bundle_name()}.tar.gz") as tar:
        tar.extractall(place, filter="tar")
    yield ("unshare", "--mount", "sh", "-c", ENTER, str(directory), f"/opt/diskprof/{bundle_name()}/diskprof")
    shutil.rmtree(place)
    shutil.rmtree(directory / "root/a home")


def emptiest(root: Path) -> Path:
    if not (busybox := shutil.which("busybox")):
        pytest.skip("needs busybox: apt-get install busybox-static")
    for name in ("bin", "proc", "sys", "dev", "tmp", "root", "opt", "etc"):
        (root / name).mkdir()
    shutil.copy(busybox, root / "bin/busybox")
    for name in ("sh", "readlink", "dirname"):
        (root / "bin" / name).symlink_to("busybox")
    for name in ("fio", "ioping"):
        program = shutil.which(name)
        assert program
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for word in [program, *(word for word in said.split() if word.startswith("/"))]:
            # Where fio alone looks: beside its loader, but not where a loader looks for what a program needs.
            copy = root / (word.lstrip("/") if "ld-linux" in word else f"fio/{Path(word).name}")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(word, copy)
        loader = next(word for word in said.split() if "ld-linux" in word)
        (root / "bin" / name).write_text(f'#!/bin/sh\nexec {loader} --library-path /fio /fio/{name} "$@"\n')
        (root / "bin" / name).chmod(0o755)
    return root


@pytest.fixture(params=pythons())
def zipapp(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The words that start the zipapp with one Python."""
    return (request.param, str(DIST / f"{bundle_name()}.pyz"))


class Program:
    """One form of diskprof, with a home and files of its own below `home`."""

    def __init__(self, words: Sequence[str], home: str, outside: Path) -> None:
        self.words, self.home, self.outside = words, home, outside
        self.environment = {"HOME": home, "PATH": SOME_PATH, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        outside.mkdir(parents=True, exist_ok=True)
        (outside / "tiny.toml").write_text(PRESET)

    def __call__(self, *words: str, code: int = 0, given: bytes = b"") -> str:
        done = subprocess.run(
            [*self.words, *words], env=self.environment, cwd="/", input=given, capture_output=True, timeout=300
        )
        assert done.returncode == code, (words, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()


def every_command(program: Program) -> None:
    home = program.home
    assert program("--version").startswith("diskprof ")
    for name in main.list_commands(click.Context(main)):
        assert program(name, "--help").startswith("Usage: ")
    assert any(preset["name"] == "quick" for preset in json.loads(program("presets", "--json")))
    json.loads(program("devices", "--json"))
    program("config")
    assert "usable" in program("doctor")
    for shell in ("bash", "zsh", "fish"):
        assert program("completion", shell)
    first = program("run", f"{home}/tiny.toml", home, "--detach").strip()
    program("attach", first)
    program("rerun", first, "--yes")
    two = json.loads(program("runs", "--json"))
    assert [run["status"] for run in two] == ["complete", "complete"]
    assert "Reads" in program("show", first)
    program("show", first, "--plot")
    program("history", "--run", first)
    program("compare", first, "latest")
    for form in ("markdown", "html", "csv"):
        program("report", first, "--format", form)
    program("tag", first, "kept")
    program("export", first, "-o", f"{home}/run.zip")
    program("delete", first, "--yes")
    program("undelete")
    program("--store", f"{home}/other.db", "import", f"{home}/run.zip")
    program("clean")
    detached = program("run", "quick", home, "--set", "runtime=10m", "--set", "size=1m", "--yes", "--detach").strip()
    program("stop", detached)
    with terminal([*program.words], program.environment, cwd=Path("/")) as screen:
        screen.wait_for("Run", "Live", "Runs", "Compare")
        screen.press("q")


def test_the_bundle_where_there_is_no_python(root: tuple[str, ...]) -> None:
    every_command(Program(root, "/root/a home", Path(root[5]) / "root/a home"))


def test_the_zipapp_with_each_python(zipapp: tuple[str, ...], tmp_path: Path) -> None:
    every_command(Program(zipapp, str(tmp_path / "a home"), tmp_path / "a home"))
