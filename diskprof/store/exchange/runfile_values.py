"""The records of a file of runs (runfile.py), and how one line of JSON becomes one: checked, whoever wrote it."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from diskprof.model.errors import DiskprofError, EngineError, StoreError
from diskprof.model.finding import Finding
from diskprof.model.histogram import Histogram
from diskprof.model.plan import Plan
from diskprof.model.run import Environment, Message, Progress, Status, TestResult
from diskprof.model.sample import Sample, SystemSample
from diskprof.store import codec

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
LONGEST_TEXT = 1 << 16
_LARGEST = 1 << 63
_HISTOGRAM = "histogram"
_WORDS = frozenset({"phase", "direction", _HISTOGRAM})
# Percentiles are computed from the histogram, as they were at first.
SAMPLE_FIELDS = tuple(field.name for field in fields(Sample) if field.compare)
SYSTEM_FIELDS = tuple(field.name for field in fields(SystemSample))
FROM_NEWER = "It may come from a newer diskprof: update this one."

Columns = Mapping[str, tuple[str, ...]]
"""The columns of `samples` and of `system`, as the header of a file names them."""


class BadFile(DiskprofError):
    """A file that holds no runs, or not what it should. Nothing of it is kept."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says of a run, apart from its tests, messages and samples. `id` is what it was called where it was made."""

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


@dataclass(frozen=True, slots=True)
class TestEnd:
    """How test `index` went; `document` is its engine's final output."""

    index: int
    status: Status
    reason: str
    started_ns: int | None
    ended_ns: int | None
    result: TestResult | None
    document: bytes


@dataclass(frozen=True, slots=True)
class End:
    """A run is whole: how many of each it has."""

    tests: int
    messages: int
    samples: int
    system: int


Batch = tuple[Message, ...] | tuple[Sample, ...] | tuple[SystemSample, ...]
Record = Head | TestEnd | Batch | End


def parsed(line: bytes) -> Any:
    """The JSON of a line; no number that is none, and none beyond what 64 bits hold."""
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


def record_of(key: str, value: Any, columns: Columns) -> Record:
    """What a line says under its key. Raises BadFile for what it cannot say."""
    try:
        match key:
            case "run":
                return _head(value)
            case "test":
                return _test(value)
            case "messages":
                return tuple(_checked(codec.message_from(json.dumps(message))) for message in _list(value))
            case "samples":
                return _samples(_list(value), columns[key])
            case "system":
                return _system(_list(value), columns[key])
            case "end":
                return End(**{field.name: _count(_table(value), field.name) for field in fields(End)})
            case _:
                raise BadFile(f"{key[:40]!r} is nothing that is known here", FROM_NEWER)
    except StoreError as error:
        raise BadFile(error.message.replace("A stored ", "its ").rstrip(".")) from None


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadFile("a table was expected")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise BadFile("a list was expected")
    return value


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise BadFile(f"{key} is no text")
    return value


def _count(table: dict[str, Any], key: str) -> int:
    value = table.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadFile(f"{key} is no number of things")
    return value


def _since(table: dict[str, Any], key: str) -> int | None:
    return None if table.get(key) is None else _count(table, key)


def _time(table: dict[str, Any], key: str) -> datetime:
    try:
        moment = datetime.fromisoformat(_text(table, key))
        # Far from the ends of the calendar, where no other time zone can be told.
        if moment.tzinfo is None or not 1970 <= moment.year <= 9000:
            raise ValueError
        return codec.from_micros(codec.to_micros(moment))
    except (ValueError, OverflowError):
        raise BadFile(f"{key} is no time") from None


def _over(table: dict[str, Any]) -> Status:
    status = codec.status_from(_text(table, "status"))
    if not status.over:
        raise BadFile(f"a run that is {status.value} is not over, and cannot be imported")
    return status


def _checked(value: T) -> T:
    """The value. Raises BadFile for one that no run has; looked at as it came out, since "1e999" can be read as a number too."""
    _check_tree(parsed(codec.to_json(value).encode()))
    return value


def _check_tree(value: Any, where: str = "") -> None:
    """Raises BadFile for what is of no use in a plan, a result or an environment: negative amounts and endless texts."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check_tree(item, key)
    elif isinstance(value, list):
        for item in value:
            _check_tree(item, where)
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise BadFile(f"{where[:40]} is too long")
    elif isinstance(value, int | float) and value < 0:
        raise BadFile(f"{where[:40]} is negative")


def _head(value: Any) -> Head:
    table = _table(value)
    status = _over(table)
    tags = table.get("tags")
    _check_tree(tags, "tags")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise BadFile("its tags are no words")
    if status is Status.SKIPPED:
        raise BadFile("a run is never skipped")
    plan = _checked(codec.plan_from(json.dumps(table.get("plan"))))
    if not plan.tests:
        raise BadFile("its plan has no tests")
    progress = table.get("progress")
    return Head(
        id=_text(table, "id"),
        status=status,
        reason=_text(table, "reason"),
        started_at=_time(table, "started_at"),
        ended_at=None if table.get("ended_at") is None else _time(table, "ended_at"),
        tags=tuple(tags),
        note=_text(table, "note"),
        headline=_text(table, "headline"),
        plan=plan,
        environment=_checked(codec.environment_from(json.dumps(table.get("environment")))),
        findings=_checked(codec.findings_from(json.dumps(table.get("findings")))),
        progress=None if progress is None else _checked(_validated(Progress, progress)),
    )


def _test(value: Any) -> TestEnd:
    table = _table(value)
    document, result = table.get("document"), table.get("result")
    if not isinstance(document, str):
        raise BadFile("document is no text")
    try:
        data = document.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise BadFile("document is no text") from None
    return TestEnd(
        index=_count(table, "index"),
        status=_over(table),
        reason=_text(table, "reason"),
        started_ns=_since(table, "started_ns"),
        ended_ns=_since(table, "ended_ns"),
        result=None if result is None else _checked(codec.result_from(json.dumps(result))),
        document=data,
    )


def _samples(rows: list[Any], columns: tuple[str, ...]) -> tuple[Sample, ...]:
    found = [_cells(row, columns) for row in rows]
    for cells in found:
        cells[_HISTOGRAM] = _unpacked(cells.get(_HISTOGRAM))
        _check_tree([value for key, value in cells.items() if key != _HISTOGRAM], "a sample's figure")
    return tuple(_validated(list[Sample], found))


def _system(rows: list[Any], columns: tuple[str, ...]) -> tuple[SystemSample, ...]:
    found = [_cells(row, columns) for row in rows]
    return tuple(_validated(list[SystemSample], found))


def _cells(row: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(row, list) or len(row) != len(columns):
        raise BadFile("a sample does not have a figure for each column")
    cells = dict(zip(columns, row, strict=True))
    if any(isinstance(value, str) != (key in _WORDS) for key, value in cells.items() if value is not None):
        raise BadFile("a sample has a word for a figure")
    return cells


def _unpacked(packed: Any) -> Histogram | None:
    """A histogram that was looked into: a checksum alone says nothing of what a stranger made."""
    if packed is None:
        return None
    try:
        data = base64.b64decode(packed, validate=True)
        histogram = Histogram.unpack(data)
    except (TypeError, ValueError, binascii.Error, EngineError):
        raise BadFile("a histogram cannot be read") from None
    if histogram.total >= _LARGEST:
        raise BadFile("a histogram counts more than can be measured")
    # As it stands in the file: it would be packed again for the store.
    return Histogram.packed(data)


def _validated(kind: Any, data: Any) -> Any:
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise BadFile(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
