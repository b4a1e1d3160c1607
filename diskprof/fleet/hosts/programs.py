"""What this machine can send to a host that has no diskprof: a zipapp or a bundle of this version."""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

import diskprof
from diskprof.fleet.hosts.bundle import bundle_name, write_bundle
from diskprof.model.errors import DiskprofError, UsageError

_BLOCK = 1 << 20
_making = threading.Lock()


class ProgramForm(StrEnum):
    """In which form a program travels."""

    ZIPAPP = "zipapp"
    BUNDLE = "bundle"


class Program(Struct, frozen=True):
    """A file that can be sent, its SHA-256, and the machine that it is for, as `uname -m` calls it."""

    form: ProgramForm
    path: Path
    digest: str
    machine: str

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size


def programs_here() -> Iterator[Program]:
    """The zipapps and the bundles that are there already, zipapps first: this program itself, or files in `programs_directory`.

    Those for other machines than this come last.

    Raises DiskprofError for a file that cannot be read.
    """
    zipapp = _own_zipapp() or programs_directory() / f"{bundle_name()}.pyz"
    if zipapp.is_file():
        yield _program(zipapp)
    made = _made_bundle()
    for bundle in (programs_directory() / f"{bundle_name()}.tar.gz", made):
        if bundle.is_file():
            yield _program(bundle)
            break
    for end in (".pyz", ".tar.gz"):
        for path in sorted(programs_directory().glob(bundle_name("*") + end)):
            if (machine := _machine_of(path)) != os.uname().machine:
                yield _program(path, machine)


def named_program(path: Path) -> Program:
    """The zipapp or bundle that a person names. Raises UsageError where it is neither, or cannot be read."""
    if not path.name.endswith((".pyz", ".tar.gz")):
        raise UsageError(
            f"{path} is neither a zipapp (.pyz) nor a bundle (.tar.gz).", "`make pyz` or `make bundle` makes one."
        )
    return _program(path, _machine_of(path))


def _machine_of(path: Path) -> str:
    """The machine that a file is for: the last part of its name."""
    return path.name.rpartition("-")[2].removesuffix(".pyz").removesuffix(".tar.gz")


def make_bundle(saying: Callable[[str], None]) -> Program:
    """A bundle of this very installation, made once and kept in the cache. Raises DiskprofError where it cannot be made."""
    with _making:  # for several hosts at once
        return _bundle_of(_made_bundle(), saying)


def _bundle_of(path: Path, saying: Callable[[str], None]) -> Program:
    if path.is_file():
        return _program(path)
    saying("Making a bundle of this installation, once ...")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in path.parent.glob("diskprof-*.tar.gz"):
            old.unlink()
    except OSError as error:
        raise DiskprofError(f"No bundle was made: {error.filename}: {error.strerror}.", "Set XDG_CACHE_HOME.") from None
    write_bundle(path)
    return _program(path)


def programs_directory() -> Path:
    """Where a person may lay what `make pyz` and `make bundle` make: ~/.local/share/diskprof/programs."""
    import platformdirs

    return Path(platformdirs.user_data_dir("diskprof")) / "programs"


def _made_bundle() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("diskprof")) / "made" / f"{bundle_name()}-{_state()}.tar.gz"


def _state() -> str:
    """Changes with every file of this installation's diskprof, and with its Python."""
    package = Path(diskprof.__file__).parent
    seen = hashlib.sha256(f"{sys.version} {package}".encode())
    for directory, names, files in os.walk(package):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for name in sorted(files):
            known = Path(directory, name).stat()
            seen.update(f"{name} {known.st_size} {known.st_mtime_ns}\n".encode())
    return seen.hexdigest()[:12]


def _own_zipapp() -> Path | None:
    """The zipapp that this program was started from."""
    archive = getattr(getattr(sys.modules["__main__"], "__loader__", None), "archive", None)
    return Path(archive).absolute() if archive else None


def _program(path: Path, machine: str | None = None) -> Program:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    form = ProgramForm.ZIPAPP if path.suffix == ".pyz" else ProgramForm.BUNDLE
    return Program(form, path, digest.hexdigest(), os.uname().machine if machine is None else machine)
