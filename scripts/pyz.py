"""Writes the zipapp, dist/diskprof-VERSION-linux-MACHINE.pyz: one file for every Python that diskprof supports.

    --python 3.11 ...   the versions (otherwise all)
    --machine aarch64   for another machine than this
    --installed         for this Python alone, of what is installed with it: asks no package index, and packs less tightly
    --output FILE       another place

Of our own, because shiv and pex deflate each of four builds of pydantic's core for itself, which is 13 MB. xz packs them
together (F72).
"""

import argparse
import hashlib
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from diskprof import __version__
from diskprof.fleet.hosts.bundle import required

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MAIN = """import os, sys
program = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "diskprof")
if os.path.isfile(program):
    sys.argv[0] = program
from diskprof.__main__ import start
start()
"""
LIMIT = 8_000_000
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_12")
_PURE = "-none-any.whl"
_ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
"""EM_X86_64 and EM_AARCH64 of elf.h: the machines for which all that diskprof needs comes built."""
_LEFT_OUT = re.compile(r"yaml/_yaml\.|.*/sboms/")
"""PyYAML does without its extension, which is 3 MB for each Python, where nothing large is read."""


def download(directory: Path, python: str, machine: str, *wanted: str) -> None:
    """Fetches wheels for a Python and machine, of glibc 2.17 and later."""
    short = python.replace(".", "")
    words = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:"]
    words += ["-d", str(directory), "--python-version", python, "--implementation", "cp"]
    words += [word for abi in (f"cp{short}", "abi3", "none") for word in ("--abi", abi)]
    words += [word for name in PLATFORMS for word in ("--platform", f"{name}_{machine}")]
    subprocess.run([*words, *wanted], check=True)


def wheels(directory: Path, pythons: Sequence[str], machine: str) -> list[Path]:
    """Wheels of all that diskprof needs: the same versions for each Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    download(directory, pythons[0], machine, *project["dependencies"])
    built = [path.name.split("-")[:3] for path in directory.glob("*.whl") if not path.name.endswith(_PURE)]
    pinned = [
        f"{name}=={version}" for name, version, tag in built if tag.startswith(f"cp{pythons[0].replace('.', '')}")
    ]
    for python in pythons[1:]:
        download(directory, python, machine, "--no-deps", *pinned)
    return sorted(directory.glob("*.whl"))


def own() -> Iterator[tuple[str, bytes]]:
    """Every file of diskprof's own."""
    yield "__main__.py", MAIN.encode()
    for path in (ROOT / "diskprof").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(ROOT)), path.read_bytes()
    for path in (ROOT / "presets").rglob("*.toml"):
        yield f"diskprof/presets/library/{path.relative_to(ROOT / 'presets')}", path.read_bytes()
    for path in (
        ROOT / "LICENSE",
        ROOT / "README.md",
        ROOT / "share/man/man1/diskprof.1",
        *(ROOT / "docs").glob("*.md"),
    ):
        yield f"share/{path.name}", path.read_bytes()


def unpacked(fetched: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Every file of the wheels."""
    for wheel in fetched:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if not name.endswith(("/", "/RECORD")) and ".data/" not in name and not _LEFT_OUT.match(name):
                    yield name, archive.read(name)


def installed() -> Iterator[tuple[str, bytes]]:
    """Every file of what diskprof needs, as it is installed with this Python."""
    for distribution in required():
        for file in distribution.files or ():
            wanted = ".." not in file.parts and file.suffix != ".pyc" and file.name != "RECORD"
            if wanted and not _LEFT_OUT.match(str(file)):
                yield str(file), file.read_binary()


def packed(content: Iterator[tuple[str, bytes]], preset: int) -> bytes:
    """One stream of xz, like beside like: what is built for several Pythons takes little more than for one."""
    named = dict(content)
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(named, key=lambda name: (name.rpartition(".")[2], name)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(named[name]), 0o644
            tar.addfile(entry, io.BytesIO(named[name]))
    return lzma.compress(memory.getvalue(), preset=preset)


def of_machine(content: Iterator[tuple[str, bytes]], machine: str) -> Iterator[tuple[str, bytes]]:
    """The same files. Raises ValueError for a library that is built for another machine."""
    for name, data in content:
        # e_machine, in the order of bytes that both have (elf.h).
        if data.startswith(b"\x7fELF") and int.from_bytes(data[18:20], "little") != _ELF_MACHINES[machine]:
            raise ValueError(f"{name} is not for {machine}.")
        yield name, data


def everything(pythons: Sequence[str], machine: str) -> bytes:
    """All that is unpacked, from the package index."""
    with tempfile.TemporaryDirectory() as directory:
        fetched = unpacked(wheels(Path(directory), pythons, machine))
        return packed(chain(own(), of_machine(fetched, machine)), 6)


def write(path: Path, content: bytes, pythons: Sequence[str], machine: str) -> None:
    """Writes the zipapp."""
    start = (ROOT / "scripts/pyz_start.py").read_text()
    digest = hashlib.sha256(content).hexdigest()
    for name, value in (("DIGEST", digest), ("MACHINE", machine), ("PYTHONS", " ".join(pythons))):
        start = re.sub(f"@{name}@", value, start)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in (("__main__.py", start.encode()), ("diskprof.tar.xz", content)):
                archive.writestr(zipfile.ZipInfo(name), data)
    path.chmod(0o755)


def main() -> int:
    """Writes what is asked for and says how large it is; 1 if that is too large."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", nargs="+", default=PYTHONS)
    parser.add_argument("--machine", choices=_ELF_MACHINES, default=os.uname().machine)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--installed", action="store_true")
    given = parser.parse_args()
    path = given.output or ROOT / f"dist/diskprof-{__version__}-linux-{given.machine}.pyz"
    if given.installed:
        pythons, machine = (f"{sys.version_info.major}.{sys.version_info.minor}",), os.uname().machine
        write(path, packed(chain(own(), installed()), 1), pythons, machine)
    else:
        write(path, everything(given.python, given.machine), given.python, given.machine)
    size = path.stat().st_size
    print(f"{path} ({size / 1e6:.1f} MB)")
    if size > LIMIT:
        print(f"It may be no larger than {LIMIT / 1e6:.0f} MB.", file=sys.stderr)
    return int(size > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
