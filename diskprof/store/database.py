"""One connection to the store's file: opened with care, its errors in words that a person can act on."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Self
from urllib.parse import quote

from diskprof.model.cells import shorten_middle
from diskprof.model.errors import StoreBusy, StoreError
from diskprof.model.text import clean
from diskprof.store import paths
from diskprof.store.schema import VERSION, make_tables, version_of

_OLDEST_SQLITE = (3, 37, 0)  # STRICT tables
_WAL_LIMIT = 8 << 20
SYNC_EVERY_S = 2.5
"""A run commits at least every 1.2 s: with that a sync begins at most 3.7 s after what it brings onto the disk."""


class Database:
    """A connection, used from one thread. `journal` is "wal" or, where the file system cannot share memory, "delete"."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, read_only: bool, timeout_s: float) -> None:
        self._connection = connection
        self._timeout_s = self._set_s = timeout_s
        self.path = path
        self.read_only = read_only
        self.journal = ""
        self.commits = 0
        self._synchronous, self._surely = "", "EXTRA"
        self._syncer: Syncer | None = None

    @classmethod
    def open(cls, path: Path, *, create: bool, timeout_s: float) -> Self:
        """Opens or makes the store at `path`. Raises StoreError and then leaves the file as it was."""
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old for the store.", "diskprof needs SQLite 3.37 or later."
            )
        # SQLite alone may open the file: closing any other descriptor of it would drop the locks that this process holds on
        # it, and another process would then take the WAL away from under a running run (sqlite.org/howtocorrupt.html, 2.2).
        path = path.absolute()
        if not paths.check_place(path):
            if not create:
                raise StoreError(f"There is no store at {path}.", "It is made by the first run.")
            paths.make_place(path)
        read_only = not paths.can_write(path)
        with _errors_of(path):
            connection = _connect(path, timeout_s, read_only=read_only)
            database = cls(connection, path, read_only=read_only, timeout_s=timeout_s)
            try:
                database._prepare()
            except BaseException:  # Interrupted too: an open connection would keep its locks.
                database.close()
                raise
        return database

    def close(self) -> None:
        self._connection.close()

    def _prepare(self) -> None:
        db = self._connection
        # In one transaction: another process may be making the tables at this moment.
        with self._transaction("BEGIN"):
            version = version_of(db)
        if version is None:
            raise StoreError(
                f"{self.path} is a database of another program.", "Name another file with --store, or leave it out."
            )
        if version not in (0, VERSION):
            raise StoreError(
                f"The store {self.path} was written by a newer diskprof, or by one of before 0.1.0"
                f" (its version is {version}, this one knows {VERSION}).",
                "Update diskprof, name another file with --store, or move this one away to begin a new store.",
            )
        if self.read_only and version == 0:
            raise StoreError(
                f"The store {self.path} is empty, and cannot be begun: it is read-only.",
                "Name a file that you can write with --store.",
            )
        if not self.read_only:
            if version == 0:
                # Before the first page is written, or it is too late.
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._choose_journal()
            if version == 0:
                with self._transaction("BEGIN IMMEDIATE"):
                    if version_of(db) == 0:  # Another process may have been quicker.
                        make_tables(db)
                # Again, for a process that made the same store at the same time may have been in the way.
                self._choose_journal()
        db.execute("PRAGMA foreign_keys = ON")
        (self.journal,) = db.execute("PRAGMA journal_mode").fetchone()
        if self.journal == "wal":
            # SQLite keeps it beside the file itself, not beside a link to it.
            file = self.path.resolve()
            self._syncer = Syncer(file.with_name(f"{file.name}-wal"))

    def _choose_journal(self) -> None:
        db = self._connection
        (mode,) = db.execute("PRAGMA journal_mode").fetchone()
        far = paths.on_network(self.path)
        wanted = "delete" if far else "wal"
        if mode != wanted:
            # Another process that is just opening the store may be in the way, and some file systems cannot share
            # memory: then the journal stays as it is, which is slower and just as safe.
            with suppress(sqlite3.OperationalError):
                db.execute(f"PRAGMA journal_mode = {wanted}")
        # EXTRA also waits for the removal of a rollback journal. On a server that is done when it answers, and not every
        # network file system can sync a directory.
        self._surely = "FULL" if far else "EXTRA"
        self._set_synchronous(at_once=True)
        db.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")

    def _set_synchronous(self, *, at_once: bool) -> None:
        """Whether a commit waits for the disk (F77). Outside a transaction."""
        wanted = self._surely if at_once else "NORMAL"
        if self._synchronous != wanted:
            self._connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """All that is read inside is of one moment. Raises StoreError."""
        with _errors_of(self.path), self._transaction("BEGIN"):
            yield self._connection

    @contextmanager
    def write(self, *, at_once: bool = True) -> Iterator[sqlite3.Connection]:
        """All that is written inside is kept, or nothing. Raises StoreError.

        It is on the disk at the end, or, unless `at_once`, some seconds later, if more is written.
        """
        if self.read_only:
            raise StoreError(f"The store {self.path} can only be read here.", _WRITE_HINT)
        syncer = None if at_once else self._syncer
        if syncer:
            syncer.check()
        with _errors_of(self.path):
            self._set_synchronous(at_once=at_once)
            with self._transaction("BEGIN IMMEDIATE"):
                yield self._connection
        self.commits += 1
        if syncer:
            syncer.committed()

    def attach(self, path: Path, name: str) -> None:
        """Lets statements read another store, too, as `name`. Raises StoreError."""
        with _errors_of(path):
            self._connection.execute(f"ATTACH DATABASE ? AS {name}", (str(path),))

    @contextmanager
    def waiting(self, timeout_s: float) -> Iterator[None]:
        """Inside, a lock of another program is waited for this long."""
        before, self._timeout_s = self._timeout_s, timeout_s
        try:
            yield
        finally:
            self._timeout_s = before

    def _set_patience(self) -> None:
        """Tells SQLite only where it is another than before: a run writes thousands of times with the same."""
        if self._set_s != self._timeout_s:
            self._connection.execute(f"PRAGMA busy_timeout = {round(self._timeout_s * 1000)}")
            self._set_s = self._timeout_s

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._set_patience()
        self._connection.execute(begin)
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # Interrupted too, a transaction must not stay open; after some errors (disk full) SQLite rolled it back itself.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def pragma(self, name: str) -> int:
        """The value of a PRAGMA, outside a transaction. Raises StoreError."""
        with _errors_of(self.path):
            self._set_patience()
            return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def shrink(self) -> None:
        """Gives free pages back to the file system. Raises StoreError."""
        with _errors_of(self.path):
            self._set_patience()
            # A step of this PRAGMA frees one page and has no columns: `execute` would take one step, a script takes all.
            self._connection.executescript("PRAGMA incremental_vacuum")
            # The file itself shrinks when the WAL is copied into it; PASSIVE waits for nobody.
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


class Syncer:
    """Syncs the write-ahead log `wal` every 2.5 s, as long as something is committed: beside the work, since a disk under test
    may take seconds for it (F78).

    SQLite holds no lock on that log (F77), so closing another descriptor of it loses none.
    """

    def __init__(self, wal: Path) -> None:
        self._wal = wal
        self._began_s = -SYNC_EVERY_S
        self._thread: Thread | None = None
        self._error: OSError | None = None

    def check(self) -> None:
        """To be called before something is written. Raises StoreError where a sync failed, once for each."""
        error, self._error = self._error, None
        if error:
            raise StoreError(
                f"What was written to {self._wal} did not get onto the disk: {error.strerror}.",
                "Its disk fails or is full. Check dmesg.",
            )

    def committed(self) -> None:
        """To be called after each commit. Waits for nothing."""
        now = time.monotonic()
        if now - self._began_s < SYNC_EVERY_S or (self._thread and self._thread.is_alive()):
            return
        self._began_s = now
        # It must not keep the process from its end: nobody waits for a disk that does not answer.
        self._thread = Thread(target=self._sync, name="sync", daemon=True)
        self._thread.start()

    def _sync(self) -> None:
        try:
            # By its name: where somebody removed the store, there is nothing left to sync.
            with suppress(FileNotFoundError):
                descriptor = os.open(self._wal, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fdatasync(descriptor)
                finally:
                    os.close(descriptor)
        except OSError as error:
            self._error = error


def _connect(path: Path, timeout_s: float, *, read_only: bool) -> sqlite3.Connection:
    if not read_only:
        return _connect_uri(path, "mode=rw", timeout_s)
    connection = _connect_uri(path, "mode=ro", timeout_s)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        # A WAL store on a file system that cannot be written: SQLite would make its shared memory beside it. Without a
        # WAL that holds anything there is nothing to share, and the file can be taken as it is.
        wal = path.with_name(path.name + "-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        return _connect_uri(path, "mode=ro&immutable=1", timeout_s)
    return connection


def _connect_uri(path: Path, mode: str, timeout_s: float) -> sqlite3.Connection:
    uri = f"file:{quote(bytes(path))}?{mode}"
    return sqlite3.connect(uri, uri=True, timeout=timeout_s, isolation_level=None)


_WRITE_HINT = "You may not write to it or to its directory, or the file system is mounted read-only."
_BACKUP_HINT = "Move the file away to begin a new store; `sqlite3 FILE .recover` may save what is in it."
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_ADVICE = {
    **dict.fromkeys(
        _LOCKED, ("is busy: another program keeps it locked", "Try again; `fuser FILE` names the program.")
    ),
    sqlite3.SQLITE_READONLY: ("cannot be written", _WRITE_HINT),
    sqlite3.SQLITE_PERM: ("cannot be written", _WRITE_HINT),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Its disk fails or is full. Check dmesg."),
    sqlite3.SQLITE_CORRUPT: ("is damaged", _BACKUP_HINT),
    sqlite3.SQLITE_NOTADB: ("is not a diskprof store", "Name another file with --store, or leave it out."),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free space, or choose another file with --store."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", _WRITE_HINT),
    sqlite3.SQLITE_TOOBIG: ("cannot take a value of that size", ""),
}


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """SQLite's errors as StoreError; mistakes of ours (a closed connection, a wrong thread) as they are."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        # Without a code it is Python's own: text in the file that is not UTF-8.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        what, hint = _ADVICE.get(code & 0xFF, ("cannot be used", _BACKUP_HINT))
        why = shorten_middle(clean(str(error)), 100)
        kind = StoreBusy if code & 0xFF in _LOCKED else StoreError
        raise kind(f"The run database {path} {what} ({why}).", hint.replace("FILE", str(path))) from error
    except UnicodeDecodeError as error:
        raise StoreError(f"The store {path} is damaged.", _BACKUP_HINT.replace("FILE", str(path))) from error
    except OverflowError as error:
        raise StoreError(f"A number is too large for the store ({error}).") from error
