"""The file that runs travel in: gzip around one JSON object a line (docs/scripting.md, "Runs on their way").

A header, then for each run a line `run`, one `test` for each test, batches of `messages`, `samples` and `system`, and a line
`end` that counts them; the last line counts the runs. A line `series` or `fleet` is before the first of its runs.
What is read may be anybody's work: it is bounded before it is looked at,
and checked (runfile_values.py) before it is believed.
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any, Protocol

from diskprof import __version__
from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError, StoreError
from diskprof.model.fleet import FleetRun
from diskprof.model.run import Message
from diskprof.model.run_series import RunSeries
from diskprof.model.sample import SAMPLE_FIELDS, Sample, SystemSample
from diskprof.model.text import clean
from diskprof.store import codec
from diskprof.store.exchange.runfile_values import (
    FROM_NEWER,
    SYSTEM_FIELDS,
    BadFile,
    Batch,
    ColumnNames,
    End,
    Head,
    Record,
    TestEnd,
    parsed,
    record_of,
)

FORMAT, VERSION = "diskprof runs", 1
LONGEST_LINE = 32 << 20
"""Bytes of one line; a test's document, the longest thing there is, has some hundred thousand."""
SMALLEST_BOUND = 64 << 20
LARGEST_RATIO = 100
"""A file may unpack to the smaller bound, or to so many times its size if that is more. Real ones take 3 to 20 times."""
_NOT_WHOLE = "Export it again, or copy it again: it was damaged, or changed, on its way."


# --- Writing --------------------------------------------------------------------------------------------------------


class RunWriter:
    """Writes the lines of a file of runs to `file`, which stays open. Raises StoreError for what no file can hold."""

    def __init__(self, file: IO[bytes]) -> None:
        self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
        self._runs = 0
        self._line({"format": FORMAT, "version": VERSION, "diskprof": __version__, "columns": COLUMNS})

    def add(self, record: Record) -> None:
        match record:
            case RunSeries():
                self._line({"series": record})
            case FleetRun():
                self._line({"fleet": record})
            case Head():
                self._line({"run": record})
            case TestEnd():
                self._line({"test": record})
            case End():
                self._line({"end": record})
                self._runs += 1
            case (Message(), *_):
                self._line({"messages": record})
            case (Sample(), *_):
                self._line({"samples": rows_of(record)})
            case (SystemSample(), *_):
                self._line({"system": rows_of(record)})

    def close(self) -> None:
        """Writes the end. A file without it is never taken for a whole one."""
        self._line({"runs": self._runs})
        self._gzip.close()

    def _line(self, value: object) -> None:
        self._gzip.write(line_of(value) + b"\n")


def line_of(value: object) -> bytes:
    """A line of a file, without its end. Raises StoreError for what no file can hold."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, separators=(",", ":")).encode("ascii")
    except ValueError as error:
        raise StoreError(f"The run cannot be written to a file: {error}.", codec.DAMAGED) from None


def rows_of(batch: Batch) -> list[list[object]]:
    """Samples as a line of a file has them, in columns."""
    return [
        _row(sample, SAMPLE_FIELDS if isinstance(sample, Sample) else SYSTEM_FIELDS)
        for sample in batch
        if not isinstance(sample, Message)
    ]


COLUMNS: ColumnNames = {"samples": SAMPLE_FIELDS, "system": SYSTEM_FIELDS}


def _plain(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case bytes():
            # Bytes that are no UTF-8 become surrogates (F11), and bytes again when they are read.
            return value.decode("utf-8", "surrogateescape")
        case _:
            return codec.plain(value)


def _row(sample: object, names: Sequence[str]) -> list[object]:
    return [getattr(sample, name) for name in names]


# --- Reading --------------------------------------------------------------------------------------------------------


class Readable(Protocol):
    """What a file of runs is read from."""

    def read(self, size: int = -1, /) -> bytes: ...


def read(file: Readable, name: str, skip: int = 0) -> Iterator[Record]:
    """The records of a file, in its order; `name` is for messages. Raises BadFile for anything else, also in mid-course.

    The first `skip` runs, which were read before, are left out.
    """
    number = 0
    try:
        packed = _Counted(file)
        with gzip.GzipFile(fileobj=packed, mode="rb") as unpacked:
            lines = _lines(unpacked, packed)
            number, columns = 1, _columns(next(lines, b""))
            runs = 0
            for line in lines:
                number += 1
                key, value = _only(parsed(line))
                if key == "runs":
                    if value != runs or next(lines, None) is not None:
                        raise BadFile("it counts its runs wrongly", _NOT_WHOLE)
                    return
                if runs < skip:
                    runs += key == "end"
                    continue
                record = record_of(key, value, columns)
                runs += isinstance(record, End)
                yield record
        raise BadFile("its end is missing", _NOT_WHOLE)
    except BadFile as error:
        raise _bad(name, number, error.message, error.hint) from None
    except EOFError:
        raise _bad(name, number, "its end is missing", _NOT_WHOLE) from None
    except (gzip.BadGzipFile, zlib.error):
        what = "it is damaged" if number else "it is no file that `diskprof export` wrote"
        raise _bad(name, number, what, _NOT_WHOLE if number else "") from None
    except OSError as error:
        raise DiskprofError(f"{clean(name)} cannot be read: {error.strerror or error}.") from None


def _bad(name: str, line: int, what: str, hint: str | Advice) -> BadFile:
    where = f", line {line}" if line else ""
    return BadFile(f"{clean(name)}{where}: {clean(what)[:300]}. Nothing was imported.", hint)


class _Counted:
    """A packed file that knows how much of it was read, so that what comes out of it can be bounded by that."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.bytes += len(data)
        return data

    def seek(self, place: int) -> None:
        raise io.UnsupportedOperation("a pipe may be read, too")


def _lines(unpacked: gzip.GzipFile, packed: _Counted) -> Iterator[bytes]:
    total = 0
    while line := unpacked.readline(LONGEST_LINE + 1):
        total += len(line)
        if len(line) > LONGEST_LINE or total > max(SMALLEST_BOUND, LARGEST_RATIO * packed.bytes):
            raise BadFile("it unpacks to more than any run of that size")
        if not line.endswith(b"\n"):
            raise BadFile("its end is missing", _NOT_WHOLE)
        yield line


def _only(value: Any) -> tuple[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise BadFile("a line names one thing, this does not", FROM_NEWER)
    return next(iter(value.items()))


def _columns(line: bytes) -> ColumnNames:
    header = parsed(line) if line else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadFile("it is no file that `diskprof export` wrote")
    version, columns = header.get("version"), header.get("columns")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BadFile("it has no version")
    if version > VERSION:
        raise BadFile(
            f"its format is newer (version {version}, this diskprof reads up to {VERSION})", "Update diskprof."
        )
    known = {"samples": SAMPLE_FIELDS, "system": SYSTEM_FIELDS}
    if not isinstance(columns, dict) or set(columns) != set(known):
        raise BadFile("it does not tell its columns")
    for key, names in columns.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise BadFile("its columns are no names")
        if len(set(names)) != len(names) or not set(names) <= set(known[key]):
            raise BadFile(f"it has columns of {key} that are not known here", FROM_NEWER)
    return {key: tuple(names) for key, names in columns.items()}
