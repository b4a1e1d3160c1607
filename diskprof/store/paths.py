"""Where the store lies, and making a place for it that nobody else can read."""

import contextlib
import errno
import os
import pwd
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from diskprof.model.device import NETWORK_FILE_SYSTEMS
from diskprof.model.errors import StoreError

_SMALLEST_DATABASE = 512


class Person(Struct, frozen=True):
    """Somebody with a home directory, by numbers."""

    uid: int
    gid: int
    home: Path


def caller() -> Person | None:
    """Who called sudo, where root works for somebody else; None otherwise.

    sudo may or may not keep HOME: it counts if it is theirs, else the user data base says where their home is.
    """
    if os.geteuid() != 0:
        return None
    try:
        uid, gid = int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"])
        home = Path(os.environ.get("HOME", ""))
        if not (home.is_absolute() and home.stat().st_uid == uid):
            home = Path(pwd.getpwuid(uid).pw_dir)
        return Person(uid, gid, home) if uid > 0 and gid >= 0 and home.is_dir() else None
    except (KeyError, ValueError, OverflowError, OSError):
        return None


def default_path() -> Path:
    """`$DISKPROF_HOME/runs.db`, else `$XDG_DATA_HOME/diskprof/runs.db`, else `~/.local/share/diskprof/runs.db`.

    Under sudo `~` is the home of the person who called it: their runs stay together. Raises StoreError where there is no
    home directory.
    """
    try:
        if home := os.environ.get("DISKPROF_HOME"):
            return Path(home).expanduser().absolute() / "runs.db"
        data = os.environ.get("XDG_DATA_HOME", "")
        # The XDG specification: a relative path is to be ignored.
        if data.startswith("/"):
            base = Path(data)
        else:
            person = caller()
            base = (person.home if person else Path("~").expanduser()) / ".local" / "share"
    except RuntimeError:
        raise StoreError("There is no home directory to keep the runs in.", _REACH_HINT) from None
    return base / "diskprof" / "runs.db"


def check_place(path: Path) -> bool:
    """True if a store may be there already, False if nothing is. Raises StoreError where a store can never be.

    Anything but a regular file is refused before SQLite sees it: a block device looks to SQLite like an empty
    file, and it would write a database over the disk.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise StoreError(f"The store {path} is a link to nothing.", "Remove the link or make its target.") from None
        return False
    except OSError as error:
        raise StoreError(f"The store {path} cannot be reached: {_reason(error)}.", _REACH_HINT) from None
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"The store {path} is not a file.", "Name a file with --store, or leave --store out.")
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StoreError(
            f"The store {path} cannot be read: permission denied.",
            "It belongs to another user. Name another file with --store.",
        )
    if 0 < found.st_size < _SMALLEST_DATABASE:
        # SQLite takes less than a page for an empty file.
        raise StoreError(f"{path} is not a diskprof store.", "Name another file with --store, or leave it out.")
    return True


def make_place(path: Path) -> None:
    """Makes the directories that are missing (0700) and an empty file (0600) for a store. Raises StoreError."""
    with as_owner_of(path):
        _make_place(path)


@contextlib.contextmanager
def as_owner_of(path: Path) -> Iterator[None]:
    """Under sudo, what is made inside belongs to the person who called it, if the nearest directory that exists does.

    It is made with their rights alone, so that no link of theirs leads root anywhere. SQLite gives what it makes
    beside the file to the file's owner by itself.
    """
    person = caller()
    if person is None or not _belongs_to(path.parent, person.uid):
        yield
        return
    gid, groups = os.getegid(), os.getgroups()
    try:
        # Where a container does not know that user, root makes it after all.
        with contextlib.suppress(OSError):
            os.setgroups([person.gid])
            os.setegid(person.gid)
            os.seteuid(person.uid)
        yield
    finally:
        os.seteuid(0)
        os.setegid(gid)
        os.setgroups(groups)


def _belongs_to(directory: Path, uid: int) -> bool:
    for place in (directory, *directory.parents):
        try:
            return place.stat().st_uid == uid
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return False


def _make_place(path: Path) -> None:
    try:
        for directory in reversed(path.parents):
            if not directory.is_dir():
                directory.mkdir(mode=0o700, exist_ok=True)
                sync(directory.parent)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(f"The store {path} cannot be made: {_reason(error)}.", _REACH_HINT) from None


def sync(path: Path) -> None:
    """Brings a file, or the names in a directory, onto the disk, where its file system can do that. Raises OSError.

    SQLite does so for the directory of a database, not for those above it (F77).
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        # One may make something in a directory that one may not list.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def can_write(path: Path) -> bool:
    """Whether this process may write to the store and beside it, where SQLite keeps its journal."""
    return all(
        os.access(place, mode, effective_ids=os.access in os.supports_effective_ids)
        for place, mode in ((path, os.R_OK | os.W_OK), (path.parent, os.W_OK | os.X_OK))
    )


def on_network(path: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> bool:
    """Whether the file lies where several machines may reach it: there SQLite's WAL, which shares memory, is unsafe."""
    where, fs_type = str(path.resolve()), ""
    longest = -1
    try:
        lines = mountinfo.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
        inside = point == "/" or where == point or where.startswith(point + "/")
        # A later line covers an earlier one of the same mount point.
        if inside and len(point) >= longest:
            longest, fs_type = len(point), after.split(" ", 1)[0]
    return fs_type in NETWORK_FILE_SYSTEMS


_REACH_HINT = "Choose another file with --store FILE or $DISKPROF_HOME."


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
