"""The forms that diskprof travels in, the zipapp and the bundle: whole, and with a runner of their own."""

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from setup_machine import REPOSITORY

from diskprof.fleet.hosts.bundle import bundle_name, write_bundle
from diskprof.presets.library import load_library

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


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    directory = tmp_path_factory.mktemp("bundle")
    write_bundle(directory / "bundle.tar.gz")
    assert (directory / "bundle.tar.gz").stat().st_size < 40e6
    with tarfile.open(directory / "bundle.tar.gz") as tar:
        tar.extractall(directory, filter="tar")
    return (str(directory / bundle_name() / "diskprof"),)


@pytest.fixture(scope="module")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    path = tmp_path_factory.mktemp("zipapp") / "diskprof.pyz"
    subprocess.run([sys.executable, REPOSITORY / "scripts/pyz.py", "--installed", "--output", path], check=True)
    return (sys.executable, str(path))


@pytest.fixture(params=["bundle", "zipapp"])
def form(request: pytest.FixtureRequest) -> tuple[str, ...]:
    words: tuple[str, ...] = request.getfixturevalue(request.param)
    return words


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "tiny.toml").write_text(PRESET)
    return tmp_path / "home"


def run(*words: str | Path, home: Path, code: int = 0) -> str:
    done = subprocess.run(
        list(map(str, words)),
        env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": "/nonexistent"},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout or done.stderr


@pytest.mark.needs("fio")
def test_it_is_whole_and_its_runner_starts(form: tuple[str, ...], home: Path) -> None:
    assert run(*form, "--version", home=home).startswith("diskprof ")
    names = {preset["name"] for preset in json.loads(run(*form, "presets", "--json", home=home))}
    assert names >= {preset.name for preset in load_library(home).presets}
    json.loads(run(*form, "devices", "--json", home=home))
    run_id = run(*form, "run", home.parent / "tiny.toml", home, "--detach", home=home).strip()
    run(*form, "attach", run_id, home=home)
    (shown,) = json.loads(run(*form, "runs", "--json", home=home))
    assert (shown["id"], shown["status"]) == (run_id, "complete")


def test_what_the_zipapp_cannot_do_it_says(zipapp: tuple[str, ...], home: Path) -> None:
    for name, value, said in (
        ("MACHINE", "vax", "This file is for vax, and this is "),
        ("PYTHONS", "3.2", "It takes Python 3.2, and this is 3."),
    ):
        other = home / "other.pyz"
        other.write_bytes(Path(zipapp[1]).read_bytes())
        subprocess.run([sys.executable, "-c", PATCH, other, name, value], check=True)
        assert said in run(sys.executable, other, "--version", home=home, code=3)
    assert not (home / ".cache").exists()


PATCH = """
import re, sys, zipfile
path, name, value = sys.argv[1:]
with zipfile.ZipFile(path) as archive:
    text = archive.read("__main__.py").decode()
with zipfile.ZipFile(path, "w") as archive:
    archive.writestr("__main__.py", re.sub(f'^{name} = "[^"]*"', f'{name} = "{value}"', text, flags=re.M))
"""


def test_a_library_of_another_machine_does_not_get_into_the_zipapp() -> None:
    spec = importlib.util.spec_from_file_location("pyz", REPOSITORY / "scripts/pyz.py")
    assert spec and spec.loader
    pyz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pyz)
    # As elf.h lays it out: e_type and e_machine follow 16 bytes.
    arm = b"\x7fELF".ljust(16, b"\0") + bytes([3, 0, 183, 0])
    content = [("core.so", arm), ("core.py", b"")]
    assert list(pyz.of_machine(iter(content), "aarch64")) == content
    with pytest.raises(ValueError, match=r"core\.so is not for x86_64"):
        list(pyz.of_machine(iter(content), "x86_64"))
