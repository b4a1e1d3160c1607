"""Values to columns and JSON, and back.

What is read back as JSON was perhaps written by another version or another hand, so it is checked.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from diskprof.model.advice import Advice
from diskprof.model.drive import DriveRecord
from diskprof.model.errors import EngineError, StoreError
from diskprof.model.histogram import Histogram
from diskprof.model.plan import Plan
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import DirectionResult, Environment, Finding, Message, Progress, Status, TestResult
from diskprof.model.run_series import Repetition, Spread
from diskprof.model.sample import WITHIN_NS, Direction, Phase, Sample, SystemSample

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# The numbers stand in stores: add, never change.
_PHASES = (Phase.PENDING, Phase.PREPARING, Phase.WARMING, Phase.MEASURING, Phase.DONE)
_PHASE_NUMBER = {phase: number for number, phase in enumerate(_PHASES)}
_DIRECTIONS = (Direction.READ, Direction.WRITE)
_DIRECTION_NUMBER = {direction: number for number, direction in enumerate(_DIRECTIONS)}


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970. `moment` knows its zone."""
    if moment.tzinfo is None:
        raise ValueError("a time of day without a time zone")
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


@cache
def status_from(text: str) -> Status:
    """Raises StoreError for a word that is no status."""
    try:
        return Status(text)
    except ValueError:
        raise StoreError(f"A stored status cannot be read: {text!r}.", DAMAGED) from None


def to_text(text: str) -> str:
    """`text` with what UTF-8 cannot hold (bytes of a file name that is not UTF-8) replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def to_real(value: float | None, what: str) -> float | None:
    """A column's number. Raises StoreError for NaN, which SQLite would keep as "not known"."""
    if value is not None and math.isnan(value):
        raise StoreError(f"{what} is not a number and cannot be stored.")
    return value


def to_json(value: object) -> str:
    """A dataclass of the model (or a tuple of them) as JSON; histograms packed; NaN and infinities as Python writes them."""
    return json.dumps(value, default=plain, separators=(",", ":"))


def plain(value: object) -> object:
    """For `json.dumps`: a dataclass as a table of its fields, a histogram packed. Raises TypeError for anything else."""
    if isinstance(value, Histogram):
        return base64.b64encode(value.pack()).decode("ascii")
    if isinstance(value, Struct):
        tag = {config.tag_field: config.tag} if (config := value.__struct_config__).tag_field else {}
        table = tag | {name: getattr(value, name) for name in value.__struct_fields__}
        return table | {"within": value.share_within(WITHIN_NS)} if isinstance(value, DirectionResult) else table
    raise TypeError(f"{type(value).__name__} has no place in the store")


@lru_cache(maxsize=32)
def plan_from(text: str) -> Plan:
    """The plan of `to_json`. Raises StoreError. Values are immutable, so the same text gives the same object."""
    return _decode(Plan, text, "plan")


def directories_from(text: str) -> tuple[str, ...]:
    """The private directories of a plan, without looking at the rest of it: there may be thousands. What cannot be read is left
    out."""
    with suppress(ValueError, TypeError, AttributeError, KeyError):
        plan = json.loads(text)
        found = (plan["directory"], *(other["directory"] for other in plan.get("others", ())))
        return tuple(str(directory) for directory in found if directory)
    return ()


@lru_cache(maxsize=32)
def environment_from(text: str) -> Environment:
    return _decode(Environment, text, "environment")


@lru_cache(maxsize=32)
def findings_from(text: str) -> tuple[Finding, ...]:
    return _decode(tuple[Finding, ...], text, "findings")


@lru_cache(maxsize=32)
def drives_from(text: str) -> tuple[DriveRecord, ...]:
    return _decode(tuple[DriveRecord, ...], text, "counter of a drive") if text != "[]" else ()


@lru_cache(maxsize=32)
def spreads_from(text: str) -> tuple[Spread, ...]:
    return _decode(tuple[Spread, ...], text, "spread of a series") if text != "[]" else ()


@lru_cache(maxsize=32)
def repetition_from(text: str) -> Repetition:
    return _decode(Repetition, text, "repetition")


@lru_cache(maxsize=256)
def message_from(text: str) -> Message:
    return _decode(Message, text, "message")


@lru_cache(maxsize=256)
def result_from(text: str) -> TestResult:
    """The result of `to_json`, its histograms still packed. Raises StoreError."""
    return _decode(TestResult, text, "result", _read_histograms)


def _read_histograms(data: Any) -> None:
    for part in directions_of(data):
        if part.get("histogram") is not None:
            part["histogram"] = Histogram.packed(base64.b64decode(part["histogram"], validate=True))


def directions_of(data: Any) -> list[Any]:
    """What the JSON of a TestResult says of each direction: together, of each job and each copy. Raises TypeError or
    AttributeError."""
    jobs = data.get("jobs", ())
    results = (data, *jobs, *(copy for job in jobs for copy in job.get("copies", ())))
    return [part for each in results for direction in _DIRECTIONS if (part := each.get(direction.value))]


def _decode(kind: type[T], text: str, what: str, prepare: Callable[[Any], None] | None = None) -> T:
    try:
        data = json.loads(text)
        if prepare:
            prepare(data)
        return checked(kind, data)
    except (ValueError, TypeError, AttributeError, EngineError, binascii.Error) as error:
        raise StoreError(f"A stored {what} cannot be read: {error}.", DAMAGED) from None


DAMAGED = Advice(
    "The store is damaged, or another program wrote to it. `diskprof delete` removes the run.",
    "The store is damaged, or another program wrote to it. The list of runs deletes it.",
)


def checked(kind: type[T], data: object) -> T:
    """A value of the model out of its JSON. Raises ValueError, which says what is wrong and where."""
    if kind not in _READY:
        _make_ready(kind)
    try:
        return convert(data, kind, dec_hook=_as_it_is)
    except ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        place = where.strip("`").removeprefix("$").removeprefix(".")
        raise ValueError(f"{place}: {what}" if place else what) from None


def _make_ready(kind: type[Any]) -> None:
    """Has msgspec look at the fields of a type: two threads that do so at once crash it (F101)."""
    with _LOOKING:
        with suppress(ValidationError):
            convert(None, kind, dec_hook=_as_it_is)
        _READY.add(kind)


_READY = set[type[Any]]()
_LOOKING = Lock()


def _as_it_is(kind: type[Any], value: object) -> object:
    """A histogram, which was unpacked before."""
    if isinstance(value, kind):
        return value
    raise TypeError(f"no {kind.__name__}")


def phase_number(phase: Phase) -> int:
    """What stands for it in a column."""
    return _PHASE_NUMBER[phase]


def direction_number(direction: Direction) -> int:
    """As `phase_number`."""
    return _DIRECTION_NUMBER[direction]


_STORED = (0.5, 0.99, 0.999)


def sample_row(run: int, seq: int, sample: Sample) -> tuple[object, ...]:
    return (
        *(run, seq, sample.test, _PHASE_NUMBER[sample.phase], _DIRECTION_NUMBER[sample.direction]),
        *(sample.at_ns, sample.duration_ns, sample.ios, sample.bytes),
        *(to_real(sample.mean_ns, "A sample's mean latency"), sample.min_ns, sample.max_ns),
        None if sample.histogram is None else sample.histogram.pack(),
        *(*sample.quantiles(_STORED), sample.share_within(WITHIN_NS)),
    )


SAMPLE_COLUMNS = (
    "test, phase, direction, at_ns, duration_ns, ios, bytes, mean_ns, min_ns, max_ns, histogram,"
    " p50_ns, p99_ns, p99_9_ns, within"
)


def samples_from(rows: Iterable[Sequence[Any]]) -> tuple[Sample, ...]:
    """Rows of SAMPLE_COLUMNS and one more column, which is left out. Raises EngineError for a damaged histogram."""
    packed, phases, directions = Histogram.packed, _PHASES, _DIRECTIONS
    return tuple(
        Sample(
            *(test, phases[phase], directions[direction], at, duration, ios, size, mean, least, most),
            *(None if histogram is None else packed(histogram), p50, p99, p99_9, within),
        )
        for test, phase, direction, at, duration, ios, size, mean, least, most, histogram, p50, p99, p99_9, within, _ in rows
    )


_SYSTEM_FIELDS = SystemSample.__struct_fields__
SYSTEM_REALS = ("cpu_user", "cpu_system", "cpu_iowait", "cpu_steal", "temperature_c")
_system_reals, _system_values = attrgetter(*SYSTEM_REALS), attrgetter(*_SYSTEM_FIELDS)
SYSTEM_COLUMNS = ", ".join(_SYSTEM_FIELDS)
SYSTEM_LEVELS = (*SYSTEM_REALS, "memory_available_bytes", "cached_bytes", "dirty_bytes")
"""Columns that say how much there is of something; the others are amounts of their interval."""


def system_row(run: int, seq: int, sample: SystemSample) -> tuple[object, ...]:
    for name, value in zip(SYSTEM_REALS, _system_reals(sample), strict=True):
        if value is not None:
            to_real(value, f"A system sample's {name}")
    test, phase, *values = _system_values(sample)
    return (run, seq, test, _PHASE_NUMBER[phase], *values)


def system_from(rows: Iterable[tuple[Any, ...]]) -> tuple[SystemSample, ...]:
    """Rows of SYSTEM_COLUMNS and one more column, which is left out."""
    phases = _PHASES
    return tuple(SystemSample(row[0], phases[row[1]], *row[2:-1]) for row in rows)


PROCESS_COLUMNS = ", ".join(ProcessIo.__struct_fields__)


def process_row(run: int, each: ProcessIo) -> tuple[object, ...]:
    return (
        *(run, each.test, each.pid, each.start_ticks, to_text(each.name)),
        *(each.read_bytes, each.write_bytes, each.first_ns, each.last_ns),
    )


PROGRESS_COLUMNS = "test, phase, fraction, overall, remaining_s, at_ns, silent_s"


def progress_row(run: int, progress: Progress) -> tuple[object, ...]:
    return (
        *(run, progress.test, _PHASE_NUMBER[progress.phase]),
        *(to_real(progress.fraction, "A fraction"), to_real(progress.overall, "A fraction")),
        *(to_real(progress.remaining_s, "A time left"), progress.at_ns, to_real(progress.silent_s, "A silence")),
    )


def progress_from(row: tuple[Any, ...]) -> Progress:
    """A row of PROGRESS_COLUMNS."""
    test, phase, *numbers = row
    return Progress(test, _PHASES[phase], *numbers)
