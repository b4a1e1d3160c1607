"""The records of a file of runs (runfile.py), and how one line of JSON becomes one: checked, whoever wrote it."""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import repeat
from typing import Any, TypeVar

from msgspec import Struct

from diskprof.model.drive import DriveRecord
from diskprof.model.errors import DiskprofError, EngineError
from diskprof.model.fleet import FleetRun
from diskprof.model.histogram import Histogram
from diskprof.model.plan import Plan
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Environment, Finding, FleetPlace, Message, Progress, SeriesPlace, Status, TestResult
from diskprof.model.run_series import RunSeries
from diskprof.model.sample import SAMPLE_FIELDS, Direction, Phase, Sample, SystemSample
from diskprof.store import codec

LONGEST_TEXT = 1 << 16
_LARGEST = 1 << 63
# Percentiles are computed from the histogram, as they were at first.
SYSTEM_FIELDS = SystemSample.__struct_fields__
FROM_NEWER = "It may come from a newer diskprof: update this one."

T = TypeVar("T", "Head", "TestEnd", RunSeries, FleetRun)

ColumnNames = Mapping[str, tuple[str, ...]]
"""The columns of `samples` and of `system`, as the header of a file names them."""


class BadFile(DiskprofError):
    """A file that holds no runs, or not what it should. Nothing of it is kept."""


class Head(Struct, frozen=True):
    """What a file says of a run, apart from its tests, messages and samples. `id` is what it was called where it was made.

    `imported_from` as of `Run`: the id of such a run stands for its results.
    """

    id: str
    status: Status
    reason: str
    started_at: datetime
    ended_at: datetime | None
    tags: tuple[str, ...]
    note: str
    headline: str
    plan: Plan
    environment: Environment
    findings: tuple[Finding, ...]
    progress: Progress | None
    series: SeriesPlace | None = None
    imported_from: str = ""
    fleet: FleetPlace | None = None
    drives: tuple[DriveRecord, ...] = ()


class TestEnd(Struct, frozen=True):
    """How test `index` went; `document` is its engine's final output, `processes` what others did meanwhile."""

    index: int
    status: Status
    reason: str
    started_ns: int | None
    ended_ns: int | None
    result: TestResult | None
    document: bytes
    processes: tuple[ProcessIo, ...] = ()


class End(Struct, frozen=True):
    """A run is whole: how many of each it has."""

    tests: int
    messages: int
    samples: int
    system: int


Batch = tuple[Message, ...] | tuple[Sample, ...] | tuple[SystemSample, ...]
Record = RunSeries | FleetRun | Head | TestEnd | Batch | End


def parsed(line: bytes) -> Any:
    """The JSON of a line; no number that is none, and none beyond what 64 bits hold."""
    import orjson

    with suppress(orjson.JSONDecodeError):
        return orjson.loads(line)
    # It takes no bytes that are no UTF-8 (F11); and Python's own says what was wrong.
    try:
        return json.loads(line, parse_int=_int, parse_float=_float, parse_constant=_float)
    except (ValueError, RecursionError):
        raise BadFile("it is no JSON of ours") from None


def _int(text: str) -> int:
    if len(text) > 20 or not -_LARGEST <= (value := int(text)) < _LARGEST:
        raise BadFile(f"{text[:24]} is too large a number")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not -_LARGEST <= value <= _LARGEST:
        raise BadFile(f"{text[:24]} is not a number that can be measured")
    return value


def record_of(key: str, value: Any, columns: ColumnNames) -> Record:
    """What a line says under its key. Raises BadFile for what it cannot say."""
    record: Record
    match key:
        case "series":
            record = _series(value)
        case "fleet":
            record = _fleet(value)
        case "run":
            record = _head(value)
        case "test":
            record = _test(value)
        case "messages":
            record = tuple(_validated(list[Message], value))
        case "samples":
            return _samples(value, columns[key])
        case "system":
            return _system(value, columns[key])
        case "end":
            record = _validated(End, value)
        case _:
            raise BadFile(f"{key[:40]!r} is nothing that is known here", FROM_NEWER)
    if not record:
        raise BadFile(f"there are no {key}")
    # As it came out, since pydantic reads "1e999" as a number too.
    _check(record, key, least=-_LARGEST if key == "fleet" else 0)
    return record


def _head(value: Any) -> Head:
    head: Head = _validated(Head, value)
    if head.status is Status.SKIPPED:
        raise BadFile("a run is never skipped")
    if not head.plan.tests:
        raise BadFile("its plan has no tests")
    return _over(head)


def _series(value: Any) -> RunSeries:
    series: RunSeries = _validated(RunSeries, value)
    if not series.targets:
        raise BadFile("its series has no targets")
    return _over(series)


def _fleet(value: Any) -> FleetRun:
    fleet: FleetRun = _validated(FleetRun, value)
    if not fleet.members or len(fleet.members) != len(fleet.statuses):
        raise BadFile("its fleet run has not a state for each of its members")
    return _over(fleet)


def _test(table: Any) -> TestEnd:
    try:
        table["document"] = table["document"].encode("utf-8", "surrogateescape")
        for part in codec.directions_of(table["result"]) if table["result"] is not None else ():
            # Computed from the histogram, as it was at first.
            part.pop("within", None)
            if part.get("histogram") is not None:
                part["histogram"] = _unpacked(part["histogram"])
    except (KeyError, ValueError, TypeError, AttributeError):
        raise BadFile("its document or a histogram cannot be read") from None
    end: TestEnd = _validated(TestEnd, table)
    return _over(end)


def _over(ended: T) -> T:
    if not ended.status.over:
        raise BadFile(f"a run that is {ended.status.value} is not over, and cannot be imported")
    return ended


_NONE = type(None)
_WHOLE, _WORD = frozenset({int}), frozenset({str})
_KINDS_OF_CELLS: dict[str, frozenset[type]] = {
    **dict.fromkeys((*SAMPLE_FIELDS, *SYSTEM_FIELDS), _WHOLE | {_NONE}),
    **dict.fromkeys(("test", "at_ns", "duration_ns", "ios", "bytes"), _WHOLE),
    **dict.fromkeys(("phase", "direction"), _WORD),
    **dict.fromkeys(("mean_ns", *codec.SYSTEM_REALS), _WHOLE | {float, _NONE}),
    "histogram": _WORD | {_NONE},
}
_PHASES, _DIRECTIONS = {each.value: each for each in Phase}, {each.value: each for each in Direction}


def _samples(rows: Any, columns: tuple[str, ...]) -> tuple[Sample, ...]:
    table = _table(rows, columns, least=0)
    table["phase"] = _words("phase", table, _PHASES)
    table["direction"] = _words("direction", table, _DIRECTIONS)
    packed = table.get("histogram", ())
    table["histogram"] = [None if each is None else _unpacked(each) for each in packed] or repeat(None)
    return tuple(map(Sample, *(_column(name, table) for name in SAMPLE_FIELDS)))


def _system(rows: Any, columns: tuple[str, ...]) -> tuple[SystemSample, ...]:
    table = _table(rows, columns, least=-_LARGEST)
    table["phase"] = _words("phase", table, _PHASES)
    return tuple(map(SystemSample, *(_column(name, table) for name in SYSTEM_FIELDS)))


def _table(rows: Any, columns: tuple[str, ...], least: int) -> dict[str, Iterable[Any]]:
    """The columns of samples by their names, each with nothing in it that a sample cannot have there."""
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        raise BadFile("a sample does not have a figure for each column")
    if not rows:
        raise BadFile("there are no samples")
    table: dict[str, Iterable[Any]] = {}
    for name, cells in zip(columns, zip(*rows, strict=True), strict=True):
        kinds = set(map(type, cells))
        if not kinds <= _KINDS_OF_CELLS[name]:
            raise BadFile(f"{name} is not what it should be")
        if int in kinds or float in kinds:
            numbers = [cell for cell in cells if cell is not None] if _NONE in kinds else cells
            if not least <= min(numbers) <= max(numbers) < _LARGEST:
                raise BadFile(f"{name} is a number that cannot be measured")
        table[name] = cells
    return table


def _column(name: str, table: Mapping[str, Iterable[Any]]) -> Iterable[Any]:
    found = table.get(name)
    if found is None and _NONE not in _KINDS_OF_CELLS[name]:
        raise BadFile(f"there is no {name}")
    return repeat(None) if found is None else found


def _words(name: str, table: Mapping[str, Iterable[Any]], known: Mapping[str, object]) -> list[object]:
    try:
        return [known[cell] for cell in _column(name, table)]
    except KeyError as error:
        raise BadFile(f"{name}: {str(error)[:40]} is not known") from None


def _unpacked(packed: Any) -> Histogram:
    """A histogram that was looked into: a checksum alone says nothing of what a stranger made."""
    try:
        data = base64.b64decode(packed, validate=True)
        # As it stands in the file: it would be packed again for the store. To count its I/Os looks into it.
        histogram = Histogram.packed(data)
        total = histogram.total
    except (TypeError, ValueError, binascii.Error, EngineError):
        raise BadFile("a histogram cannot be read") from None
    if total >= _LARGEST:
        raise BadFile("a histogram counts more than can be measured")
    return histogram


def _validated(kind: Any, data: Any) -> Any:
    try:
        return codec.checked(kind, data)
    except ValueError as error:
        raise BadFile(str(error)) from None


_SIGNED = {"slope"}
"""What may fall below zero: a line that fits windows or rounds."""


def check_record(record: Record) -> None:
    """Raises BadFile for a record that no run has, whoever made it."""
    _check(record, "it", least=0)


def check_values(value: object) -> None:
    """As `check_record`, of what a record is made of."""
    _check(value, "it", least=0)


def _check(value: object, where: str, least: int) -> None:
    """Raises BadFile for what no run has: numbers below `least` or beyond 64 bits, endless texts, times outside the calendar."""
    match value:
        case str():
            if len(value) > LONGEST_TEXT:
                raise BadFile(f"{where} is too long")
        case int() | float():
            if not least <= value < _LARGEST:
                raise BadFile(f"{where} is a number that cannot be measured")
        case datetime():
            # Far from the ends of the calendar, where no other time zone can be told.
            if value.tzinfo is None or not 1970 <= value.year <= 9000:
                raise BadFile(f"{where} is no time")
        case Histogram():
            pass  # looked into when it was unpacked
        case tuple():
            for item in value:
                _check(item, where, least)
        case Struct():
            for name in value.__struct_fields__:
                one = getattr(value, name)
                # Most of what there is: what is not known, and what is empty.
                if one is not None and one != ():
                    _check(one, name, -_LARGEST if name in _SIGNED else least)
