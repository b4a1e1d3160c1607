"""What `diskprof import` is given: exported runs, result files of fio and ioping, and folders of them; told by their content."""

import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct

from diskprof.engines.results.found import NOT_WHOLE, BadResults, FoundRun, NoResults
from diskprof.engines.results.recognise import LARGEST, results_of
from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.job import FioJob
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.runner.result_runs import ResultRun, SweepFile, records_of, swept
from diskprof.store import Store
from diskprof.store.exchange.runfile import read
from diskprof.store.exchange.runfile_values import BadFile, Record
from diskprof.store.exchange.staging import RunSource, file_key
from diskprof.store.exchange.transfer import ImportedRun, import_records

MOST_FILES = 10_000
_GZIP = b"\x1f\x8b"
_LOOKED_AT = 64 << 10
_PIECE = 1 << 20
_BENCH_FIO = re.compile(r"((?:rand)?(?:read|write|rw)|readwrite)-(\d{1,6})-(\d{1,6})\.json")
"""MODE-IODEPTH-NUMJOBS.json, as bench-fio calls its files and fio-plot reads them."""


class Imported(Struct, frozen=True):
    """`left_out`: how many files of folders were no results."""

    runs: tuple[ImportedRun, ...]
    left_out: int


@dataclass(slots=True)
class _Pile:
    """What was found to import."""

    sources: list[RunSource] = field(default_factory=list)
    left_out: int = 0


def import_files(store: Store, places: Sequence[str], stdin: IO[bytes]) -> Imported:
    """Takes all runs of files and folders into the store, or none of them; `-` is `stdin`.

    Raises BadFile for a file that is not whole or not known, UsageError for a place that is not there, DiskprofError for one that
    cannot be read.
    """
    with ExitStack() as stack:
        pile = _Pile()
        for place in places:
            if place == "-":
                _add(pile, "stdin", stdin, datetime.now(UTC))
            else:
                _add_place(pile, Path(place), stack)
        return Imported(tuple(import_records(store, pile.sources)), pile.left_out)


def _add_place(pile: _Pile, path: Path, stack: ExitStack) -> None:
    try:
        if path.is_dir():
            _add_folder(pile, path)
            return
        if path.exists() and not (path.is_file() or path.is_fifo()):
            raise UsageError(f"{clean(str(path))} is not a file.", "Give a result file, or one of `diskprof export`.")
        _add_file(pile, path, stack)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        kind = UsageError if missing else DiskprofError
        raise kind(f"{clean(str(path))} cannot be read: {error.strerror}.") from None


def _add_file(pile: _Pile, path: Path, stack: ExitStack) -> None:
    """Raises OSError."""
    if path.is_fifo():
        file = stack.enter_context(path.open("rb"))
        _add(pile, str(path), file, _written(file))
        return
    with path.open("rb") as file:
        if _is_export(file.read(_LOOKED_AT)):
            pile.sources.append(_export(path))
            return
        file.seek(0)
        _add(pile, str(path), file, _written(file), file_key(path))


def _export(path: Path) -> RunSource:
    """An exported file. Raises OSError."""
    return RunSource(str(path), partial(_exported, path), file_key(path))


def _exported(path: Path, skip: int) -> Iterator[Record]:
    """The records of an exported file, which is open only while they are read: there may be thousands."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise DiskprofError(f"{clean(str(path))} cannot be read: {error.strerror}.") from None
    with file:
        yield from read(file, str(path), skip)


def _written(file: IO[bytes]) -> datetime:
    return datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)


def _add(pile: _Pile, name: str, file: IO[bytes], written: datetime, key: str = "") -> None:
    """`key` as of `Source`: of what is no file that can be read again there is none."""
    beginning = file.read(_LOOKED_AT)
    whole = _Behind(beginning, file)
    if _is_export(beginning):
        pile.sources.append(RunSource(name, partial(read, whole, name)))
        return
    found = _results(name, _content(name, beginning, whole))
    results = [
        ResultRun(_called(name, place, len(found)), name, run, tuple(test.document for test in run.tests))
        for place, run in enumerate(found, 1)
    ]
    pile.sources += [
        _result_source(result, written, f"{key}\0{place}" if key else "") for place, result in enumerate(results)
    ]


def _result_source(result: ResultRun, written: datetime, key: str) -> RunSource:
    """One run that was read from results."""
    return RunSource(result.path, lambda skip: iter(()) if skip else _records(result, written), key)


class _Behind:
    """A file whose beginning was looked at already."""

    def __init__(self, beginning: bytes, file: IO[bytes]) -> None:
        self._beginning, self._file = beginning, file

    def read(self, size: int = -1, /) -> bytes:
        if not self._beginning:
            return self._file.read(size)
        if size < 0:
            found, self._beginning = self._beginning + self._file.read(), b""
        else:
            found, self._beginning = self._beginning[:size], self._beginning[size:]
        return found


def _is_export(beginning: bytes) -> bool:
    """Whether a file is packed, and what is in it begins as `diskprof export` begins a file, or as nothing at all."""
    if not beginning.startswith(_GZIP):
        return False
    try:
        beginning = zlib.decompressobj(wbits=31).decompress(beginning, 200)
    except zlib.error:
        return True
    return b'"diskprof runs"' in beginning or not beginning


def _content(name: str, beginning: bytes, file: _Behind) -> bytes:
    """The bytes of a file of results, unpacked."""
    if not beginning.startswith(_GZIP):
        data = _read(file)
    else:
        unpacking = zlib.decompressobj(wbits=31)
        try:
            data = unpacking.decompress(_read(file), LARGEST + 1)
        except zlib.error:
            raise _bad(name, "it is damaged", NOT_WHOLE) from None
        if not unpacking.eof and len(data) <= LARGEST:
            raise _bad(name, "its end is missing", NOT_WHOLE)
    if len(data) > LARGEST:
        raise _bad(name, f"it is larger than {format_size(LARGEST)}: this is no result file")
    return data


def _read(file: _Behind) -> bytes:
    """All of it, or a little more than the largest that is taken: it may be the image of a disk."""
    data = bytearray()
    while len(data) <= LARGEST and (piece := file.read(_PIECE)):
        data += piece
    return bytes(data)


def _results(name: str, data: bytes) -> tuple[FoundRun, ...]:
    try:
        return results_of(data, name)
    except BadResults as error:
        raise _bad(name, error.message, error.hint) from None


def _bad(name: str, what: str, hint: str | Advice = "") -> BadFile:
    return BadFile(f"{clean(name)}: {clean(what)[:300]}. Nothing was imported.", hint)


def _records(result: ResultRun, written: datetime) -> Iterator[Record]:
    try:
        yield from records_of(result, written)
    except BadFile as error:
        raise _bad(result.path, error.message, error.hint) from None


def _called(name: str, place: int, of: int) -> str:
    called = Path(name).name
    return called if of == 1 else f"{called} {place}"


# --- Folders --------------------------------------------------------------------------------------------------------


class _InFolder(Struct, frozen=True):
    """A file of a folder that holds results."""

    path: Path
    runs: tuple[FoundRun, ...]
    written: datetime


def _add_folder(pile: _Pile, folder: Path) -> None:
    """Raises OSError."""
    files = [(directory, paths) for directory, paths in _files(folder) if paths]
    count = sum(len(paths) for _, paths in files)
    before = pile.left_out
    for directory, paths in files:
        found: list[_InFolder] = []
        for path in paths:
            with path.open("rb") as file:
                beginning = file.read(_LOOKED_AT)
                if _is_export(beginning):
                    pile.sources.append(_export(path))
                elif results := _results_among_others(str(path), beginning, file):
                    found.append(_InFolder(path, results, _written(file)))
                else:
                    pile.left_out += 1
        _add_found(pile, folder, directory, found)
    if pile.left_out - before == count:
        raise UsageError(f"{clean(str(folder))} has no result files.", "Give a folder with fio's or ioping's JSON.")


def _files(folder: Path) -> list[tuple[Path, list[Path]]]:
    """The files in a folder and below it, but for hidden ones and other file systems. Raises OSError, UsageError for too many."""

    def stopped(error: OSError) -> None:
        raise error

    found: list[tuple[Path, list[Path]]] = []
    count, here = 0, folder.stat().st_dev
    for directory, below, names in os.walk(folder, onerror=stopped):
        place = Path(directory)
        below[:] = sorted(name for name in below if not name.startswith(".") and (place / name).lstat().st_dev == here)
        paths = [place / name for name in sorted(names) if not name.startswith(".")]
        found.append((place, [path for path in paths if path.is_file()]))
        count += len(found[-1][1])
        if count > MOST_FILES:
            raise UsageError(f"{clean(str(folder))} has more than {MOST_FILES:,} files.", "Give a folder below it.")
    return found


def _results_among_others(name: str, beginning: bytes, file: IO[bytes]) -> tuple[FoundRun, ...]:
    """The runs of a file; none of one that is something else."""
    if not any(mark in beginning for mark in (b'"fio version"', b'"ioping"', b'"stat"', b'"io"', _GZIP)):
        return ()
    try:
        return results_of(_content(name, beginning, _Behind(beginning, file)))
    except NoResults:
        return ()
    except BadResults as error:
        raise _bad(name, error.message, error.hint) from None


def _add_found(pile: _Pile, folder: Path, directory: Path, found: Sequence[_InFolder]) -> None:
    """A run for each, or one for all those that bench-fio made together."""
    cells = _cells(found)
    if cells:
        whole, names, options = swept(cells)
        called = str(folder.absolute().name / directory.relative_to(folder))
        documents = tuple(test.document for test in whole.tests)
        result = ResultRun(called, str(directory), whole, documents, options, names)
        key = "\0".join(file_key(each.path) for each in found)
        pile.sources.append(_result_source(result, max(each.written for each in found), key))
    for each in found:
        if cells and _BENCH_FIO.fullmatch(each.path.name):
            continue
        for place, run in enumerate(each.runs, 1):
            documents = tuple(test.document for test in run.tests)
            result = ResultRun(_called(str(each.path), place, len(each.runs)), str(each.path), run, documents)
            pile.sources.append(_result_source(result, each.written, file_key(each.path, place)))


def _cells(found: Sequence[_InFolder]) -> list[SweepFile]:
    """The files of a folder that are one sweep: named as bench-fio names them, of one fio on one target; else none."""
    matches = [(match, each.runs) for each in found if (match := _BENCH_FIO.fullmatch(each.path.name))]
    if len(matches) < 2 or any(len(runs) != 1 or len(runs[0].tests) != 1 for _, runs in matches):
        return []
    if len({(runs[0].target, runs[0].version) for _, runs in matches}) > 1:
        return []
    cells = []
    for match, ((run,)) in sorted(matches, key=lambda each: (each[0][1], int(each[0][3]), int(each[0][2]))):
        jobs = run.tests[0].jobs
        if any(
            not isinstance(job, FioJob) or (job.iodepth, job.numjobs) != (int(match[2]), int(match[3])) for job in jobs
        ):
            return []
        options = (("iodepth", match[2]), ("numjobs", match[3]))
        cells.append(SweepFile(match[0].removesuffix(".json"), options, run))
    return cells
