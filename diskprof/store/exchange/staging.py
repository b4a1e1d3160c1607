"""Where an import is prepared: a store of its own, from which its runs are taken over together once all of them are there.

It outlives an import that is killed. The next one of the same files into the same store goes on with it: what was read before is
not read again, and since nothing is taken over before the end, nothing comes twice.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from diskprof.model.errors import DiskprofError, StoreError
from diskprof.store.database import Database
from diskprof.store.exchange.runfile_values import Record

_ROOM_HINT = "Free space in /tmp, or set TMPDIR to another directory."
_BUSY_S = 5.0
_MARKS = "CREATE TABLE IF NOT EXISTS staged (source TEXT NOT NULL, number INTEGER NOT NULL, given TEXT NOT NULL)"


class RunSource(Struct, frozen=True):
    """What runs are read from. `name` is for messages; `records` gives what it holds without the first so many of its runs.

    `key` is the same for the same content alone, so that it is known again; empty where that cannot be told.
    """

    name: str
    records: Callable[[int], Iterator[Record]]
    key: str = ""


def file_key(path: Path, part: int = 0) -> str:
    """The key of a file as it is now, or of a part of it. Raises OSError."""
    found = path.stat()
    return f"{path.absolute()}\0{found.st_dev}\0{found.st_ino}\0{found.st_size}\0{found.st_mtime_ns}\0{part}"


class Staging:
    """A store that lasts as long as an import."""

    def __init__(self, database: Database) -> None:
        self.database = database
        with database.write() as db:
            db.execute(_MARKS)

    def runs_of(self, source: RunSource) -> list[tuple[int, str]]:
        """The runs of a source that are here: the number of each, and the id that it had where it came from."""
        with self.database.read() as db:
            rows = db.execute("SELECT number, given FROM staged WHERE source = ? ORDER BY number", (source.key,))
            return rows.fetchall() if source.key else []

    def _is_of(self, sources: Iterable[RunSource]) -> bool:
        """Whether all that is here is of these."""
        with self.database.read() as db:
            known = {key for (key,) in db.execute("SELECT DISTINCT source FROM staged")}
            (count,) = db.execute("SELECT count(*) FROM run").fetchone()
            (marked,) = db.execute("SELECT count(*) FROM staged").fetchone()
        return count == marked and known <= {source.key for source in sources}


@contextmanager
def new_staging() -> Iterator[Staging]:
    """One that nothing goes on with. Raises StoreError."""
    try:
        directory = tempfile.TemporaryDirectory(prefix="diskprof-import-")
    except OSError as error:
        raise _no_room(error) from None
    with directory as path, _errors_of(Path(path)), closing(_database(Path(path))) as database:
        yield Staging(database)


@contextmanager
def staging_for(store: Path, sources: Iterable[RunSource]) -> Iterator[Staging]:
    """That of a killed import of these sources into `store`, else a new one; another import's that is under way is left alone.

    It stays where this process is killed or interrupted. Raises StoreError.
    """
    place = Path(tempfile.gettempdir()) / f"diskprof-import-{os.geteuid()}-{_name_of(store)}"
    with _locked(place) as own:
        if not own:
            with new_staging() as staging:
                yield staging
            return
        try:
            with _errors_of(place), closing(_begun(place, tuple(sources))) as database:
                yield Staging(database)
        except KeyboardInterrupt:
            raise
        except BaseException:
            # Whatever else ended it, what is staged may be wrong: only one that was interrupted continues.
            _clear(place)
            raise
        _clear(place)


def _name_of(store: Path) -> str:
    return sha256(os.fsencode(store.resolve())).hexdigest()[:16]


@contextmanager
def _locked(place: Path) -> Iterator[bool]:
    """Makes the directory, and keeps other imports away from it; False where another has it, or it is not ours alone."""
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        # Somebody else's, or gone again this moment.
        yield False
        return
    try:
        own = _is_ours(place, descriptor) and _lock(descriptor)
        try:
            yield own
        finally:
            # What is to be gone on with stays, as it is not empty.
            if own:
                with suppress(OSError):
                    place.rmdir()
    finally:
        os.close(descriptor)


def _is_ours(place: Path, descriptor: int) -> bool:
    """Whether a directory that was opened is still the one of that name, no link to it, and nobody else can write to it."""
    found = os.fstat(descriptor)
    try:
        named = place.lstat()
    except OSError:
        return False
    same = (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino)
    return same and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _begun(place: Path, sources: tuple[RunSource, ...]) -> Database:
    """What a killed import left, if all of it is of these sources and can be read; else a new one."""
    with suppress(StoreError):
        database = _database(place)
        with suppress(StoreError):
            if Staging(database)._is_of(sources):
                return database
        database.close()
    _clear(place)
    return _database(place)


def _clear(place: Path) -> None:
    for each in list(place.iterdir()):
        with suppress(OSError):
            each.unlink()


def _database(place: Path) -> Database:
    return Database.open(place / "staged.db", create=True, timeout_s=_BUSY_S)


@contextmanager
def _errors_of(place: Path) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if str(place) in error.message:
            raise StoreError(error.message, _ROOM_HINT) from None
        raise


def _no_room(error: OSError) -> DiskprofError:
    return StoreError(f"No temporary directory can be made: {error.strerror or error}.", _ROOM_HINT)
