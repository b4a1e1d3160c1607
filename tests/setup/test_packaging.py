"""What is built is whole: the wheel, made from the source archive, works in an environment of its own."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from setup_machine import REPOSITORY

pytestmark = pytest.mark.needs("package-index")

PATIENCE_S = 280


def run(*words: str | Path, cwd: Path, **more: str) -> str:
    """Runs a program that must succeed; its stdout."""
    # What is installed is started a few times, which needs a tenth of what pip would compile.
    more = {"PIP_COMPILE": "0", **more}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "MAKE"))}
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        env={**kept, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the source archive and the wheel that was built from it."""
    directory = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", directory, REPOSITORY, cwd=directory)
    return directory


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("diskprof-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean virtual environment, with the wheel and what it asks for, and nothing else."""
    directory = tmp_path_factory.mktemp("installed")
    # Without a pip of its own, which takes seconds to unpack: this one installs into it.
    run(sys.executable, "-m", "venv", "--without-pip", directory / "venv", cwd=directory)
    python = directory / "venv/bin/python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", wheel, cwd=directory)
    return directory


def test_the_installed_program_starts(installed: Path) -> None:
    said = run(installed / "venv/bin/diskprof", "--version", cwd=installed, HOME=str(installed))
    assert said.startswith("diskprof ")


def test_the_presets_come_along(installed: Path) -> None:
    found = json.loads(run(installed / "venv/bin/diskprof", "presets", "--json", cwd=installed, HOME=str(installed)))
    names = {preset["name"] for preset in found}
    assert {path.stem for path in (REPOSITORY / "presets").glob("*.toml")} <= names
    assert "quick" in names


def test_the_man_page_and_the_completions_are_installed(installed: Path) -> None:
    share = installed / "venv/share"
    for name in (
        "man/man1/diskprof.1",
        "bash-completion/completions/diskprof",
        "zsh/site-functions/_diskprof",
        "fish/vendor_completions.d/diskprof.fish",
    ):
        assert (share / name).read_text() == (REPOSITORY / "share" / name).read_text()


def test_every_module_can_be_imported_with_the_declared_requirements_alone(installed: Path) -> None:
    walk = (
        "import diskprof, importlib, pkgutil\n"
        "for found in pkgutil.walk_packages(diskprof.__path__, 'diskprof.'):\n"
        "    if not found.name.endswith('__main__'): importlib.import_module(found.name)\n"
        "print(diskprof.__file__)\n"
    )
    where = run(installed / "venv/bin/python", "-c", walk, cwd=installed, HOME=str(installed))
    assert where.startswith(str(installed))


def test_all_files_of_the_package_are_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        licence = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    package = REPOSITORY / "diskprof"
    mine = {
        str(path.relative_to(REPOSITORY))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    presets = REPOSITORY / "presets"
    shipped = {f"diskprof/presets/library/{path.relative_to(presets)}" for path in presets.rglob("*.toml")}
    assert mine <= inside
    assert shipped <= inside
    shared = REPOSITORY / "share"
    beside = {f"share/{path.relative_to(shared)}" for path in shared.rglob("*") if path.is_file()}
    beside = {re.sub("^share/(?=ansible/|kubernetes/)", "share/diskprof/", path) for path in beside}
    assert {name.partition(".data/data/")[2] for name in inside if not name.startswith("diskprof/")} == beside
    assert licence


@pytest.mark.needs("make", "fio", "ioping")
def test_the_source_archive_sets_itself_up(built: Path, tmp_path: Path) -> None:
    (path,) = built.glob("diskprof-*.tar.gz")
    run("tar", "-xzf", path, cwd=tmp_path)
    (source,) = tmp_path.glob("diskprof-*")
    for name in ("CONTRIBUTING.md", ".ci/run", "docs/facts.md", "tests/kit/skips.py", "presets/quick.toml"):
        assert (source / name).exists()
    make = ("make", f"PYTHON={sys.executable}")
    assert run(*make, "run", "ARGS=--version", cwd=source).startswith("diskprof ")
    assert run(*make, "run", "ARGS=presets", cwd=source).count("Quick check")
    assert (source / ".venv/.ready-run").read_text().startswith(f"{source}\n")
    before = (source / ".venv/pyvenv.cfg").stat().st_mtime_ns
    assert run(*make, "setup", cwd=source) == ""
    assert (source / ".venv/pyvenv.cfg").stat().st_mtime_ns == before
