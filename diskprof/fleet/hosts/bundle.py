"""A bundle: diskprof, its Python and its C library in one tar, made of what runs here, for a host that has none of them.

The C library comes along with its loader, so that the host's own, older or another, does not matter (F92).
"""

import ctypes
import ctypes.util
import gzip
import importlib.metadata
import marshal
import os
import re
import shutil
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path, PurePosixPath

import diskprof
from diskprof.engines.process import run_briefly
from diskprof.model.errors import DiskprofError
from diskprof.presets.library import shipped_directory

_LEFT_OUT = frozenset(
    {
        *(
            "__pycache__",
            "ensurepip",
            "idlelib",
            "lib2to3",
            "pydoc_data",
            "site-packages",
            "dist-packages",
            "test",
            "tests",
        ),
        *("tkinter", "turtledemo", "venv", "unittest", "distutils"),
    }
)
_UNUSED_EXTENSIONS = re.compile(
    r"(_tkinter|nis|_curses|_gdbm|_dbm|readline|_ssl|_hashlib|_crypt|_uuid|_test|xx|_ctypes_test)"
)
_LIBRARY = re.compile(r"(?:(\S+) => )?(/\S+) \(0x")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)""")
_HEADER_BYTES = 16
_STEP = 20

_LAUNCHER = """#!/bin/sh
# diskprof with a Python and a C library of its own: the loader has the name that ps is to show.
here=$(dirname "$(readlink -f "$0")"){up}
exec "$here/lib/diskprof" --library-path "$here/lib" --argv0 "$here/bin/python3" "$here/lib/python" {words}"$@"
"""
_MAIN = """import os, sys
sys.argv[0] = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "diskprof")
from diskprof.__main__ import start
start()
"""
_FIND_LIBRARY = '''"""Finds the libraries of the bundle, without a compiler or ldconfig."""
import os, sys
def find_library(name):
    found = os.listdir(os.path.join(sys.prefix, "lib"))
    return next((each for each in sorted(found) if each.startswith(f"lib{name}.so")), None)
'''


def own_bundle() -> Path | None:
    """The directory of the bundle that this program runs from."""
    root = Path(diskprof.__file__).parents[2]
    return root if (root / "lib/diskprof").is_file() and (root / "app/__main__.py").is_file() else None


def bundle_name(machine: str = "") -> str:
    """What a bundle of this version for a machine, or this one, is called, without the end of the file's name."""
    return f"diskprof-{diskprof.__version__}-linux-{machine or os.uname().machine}"


def write_bundle(path: Path, documents: Iterable[Path] = ()) -> None:
    """Writes the bundle, a .tar.gz with one directory, to `path`; `documents` come along.

    Raises DiskprofError where it cannot be made of what is here, or not be written.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="diskprof-bundle-") as work:
            root = own_bundle() or Path(work) / bundle_name()
            if not root.exists():
                _put_together(root, documents)
            _pack(root, path)
    except OSError as error:
        raise DiskprofError(f"No bundle was made: {error.filename or path}: {error.strerror}.") from None


def _put_together(root: Path, documents: Iterable[Path]) -> None:
    python = root / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    for directory in (root / "bin", root / "app", python):
        directory.mkdir(parents=True)
    _copy_code(Path(sysconfig.get_path("stdlib")), python)
    _copy_code(Path(sysconfig.get_path("platstdlib")) / "lib-dynload", python / "lib-dynload")
    (python / "ctypes/util.pyc").unlink()
    (python / "ctypes/util.py").write_text(_FIND_LIBRARY)
    _copy_packages(root / "app")
    (root / "app/__main__.py").write_text(_MAIN)
    shutil.copy(Path(sys.executable).resolve(), root / "lib/python")
    _copy_libraries(root)
    _write_program(root / "diskprof", _LAUNCHER.format(up="", words='-I "$here/app" '))
    _write_program(root / "bin/python3", _LAUNCHER.format(up="/..", words=""))
    for document in documents:
        (root / "share").mkdir(exist_ok=True)
        shutil.copy(document, root / "share")


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _copy_code(source: Path, target: Path) -> None:
    """Python's own modules, compiled, and its extensions; what diskprof never imports stays behind."""
    for directory, names, files in os.walk(source):
        names[:] = sorted(name for name in names if name not in _LEFT_OUT and not name.startswith("config-"))
        there = target / Path(directory).relative_to(source)
        there.mkdir(exist_ok=True)
        for name in files:
            if name.endswith(".so") and not _UNUSED_EXTENSIONS.match(name):
                shutil.copy(Path(directory, name), there)
            elif name.endswith(".py"):
                _compile(Path(directory, name), there / name)
            elif name == "LICENSE.txt":
                shutil.copy(Path(directory, name), there)


def _compile(source: Path, target: Path) -> None:
    """Writes the byte code of a module beside where the module would be: it is read without the module."""
    try:
        kept = Path(cache_from_source(str(source))).read_bytes()
    except OSError:
        kept = b""
    known = source.stat()
    dated = (number & 0xFFFFFFFF for number in (0, int(known.st_mtime), known.st_size))
    expected = MAGIC_NUMBER + b"".join(number.to_bytes(4, "little") for number in dated)
    if kept[:_HEADER_BYTES] != expected:
        try:
            code = compile(source.read_bytes(), source.name, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError):
            return  # A template of another version: nobody can import it here either.
        kept = expected + marshal.dumps(code)
    target.with_suffix(".pyc").write_bytes(kept)


def _copy_packages(app: Path) -> None:
    """diskprof and what it requires."""
    package = Path(diskprof.__file__).parent
    own = package.parent
    if (own / "__main__.py").is_file():  # an unpacked zipapp
        _copy_all(own, ((path.relative_to(own)) for path in own.rglob("*") if path.is_file()), app)
        return
    _copy_all(own, (path.relative_to(own) for path in package.rglob("*") if path.is_file()), app)
    presets = shipped_directory()
    _copy_all(
        presets, (path.relative_to(presets) for path in presets.rglob("*.toml")), app / "diskprof/presets/library"
    )
    for distribution in required():
        for file in distribution.files or ():
            if ".." not in file.parts:
                _copy_all(Path(str(distribution.locate_file(""))), (file,), app)


def _copy_all(source: Path, files: Iterable[PurePosixPath | Path], target: Path) -> None:
    for file in files:
        there = target / file
        if file.suffix == ".pyc" or file.name == "RECORD":
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".py":
            _compile(source / file, there)
        elif (source / file).is_file():
            shutil.copy(source / file, there)


def required() -> Sequence[importlib.metadata.Distribution]:
    """What diskprof is installed with, down to the last. Raises DiskprofError where diskprof itself is not installed."""
    found: dict[str, importlib.metadata.Distribution] = {}
    asked: set[tuple[str, frozenset[str]]] = set()
    try:
        waiting = list(_requirements(importlib.metadata.requires("diskprof") or (), frozenset()))
    except importlib.metadata.PackageNotFoundError:
        raise DiskprofError("diskprof is not installed here, so that no bundle can be made of it.") from None
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in asked:
            continue
        asked.add((name, extras))
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system or Python
        waiting += _requirements(found[name].requires or (), extras)
    return [found[name] for name in sorted(found)]


def _requirements(lines: Iterable[str], extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for line in lines:
        wanted, _, marker = line.partition(";")
        extra = _EXTRA.search(marker)
        match = _REQUIREMENT.match(wanted)
        if match and (not extra or extra[1] in extras):
            more = frozenset(filter(None, (each.strip() for each in (match[2] or "").split(","))))
            yield re.sub(r"[-_.]+", "-", match[1]).lower(), more


def _copy_libraries(root: Path) -> None:
    """The C library with its loader, and every other library that something in the bundle is linked with."""
    linked = [root / "lib/python", *root.rglob("*.so")]
    if (udev := _loaded("udev")) is not None:
        shutil.copy(udev, root / "lib" / (ctypes.util.find_library("udev") or udev.name))
        linked.append(udev)
    loader = ""
    for start in range(0, len(linked), _STEP):
        said = run_briefly(("ldd", *map(str, linked[start : start + _STEP])), timeout_s=60)
        if "not found" in said.output or said.code is None:
            raise DiskprofError("No bundle was made: ldd does not find every library of this Python.")
        for name, path in _LIBRARY.findall(said.output):
            if name and not (root / "lib" / name).exists():
                shutil.copy(path, root / "lib" / name)
            elif not name and Path(path).name.startswith("ld-linux"):
                loader = path
    if not loader:
        raise DiskprofError(
            "No bundle was made: it takes a system with glibc.", "On another one, install diskprof on the host."
        )
    for path in (root / "lib/python", *root.rglob("*.so*")):
        path.chmod(0o755)
        run_briefly(("strip", "--strip-unneeded", str(path)), timeout_s=30)
    shutil.copy(loader, root / "lib/diskprof")


def _loaded(name: str) -> Path | None:
    """Where a library lies that ctypes finds."""
    found = ctypes.util.find_library(name)
    if not found:
        return None
    ctypes.CDLL(found)
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next((Path(line.split(None, 5)[5]) for line in lines if f"/lib{name}.so" in line), None)


def _pack(root: Path, path: Path) -> None:
    """The same bytes for the same files, whoever packs them and when."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with (
            part.open("wb") as file,
            gzip.GzipFile("", "wb", 6, file, 0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar,
        ):
            for each in (root, *sorted(root.rglob("*"))):
                if "__pycache__" not in each.parts:
                    name = PurePosixPath(bundle_name(), *each.relative_to(root).parts)
                    tar.add(each, str(name), recursive=False, filter=plain)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
