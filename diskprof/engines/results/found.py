"""What a result file says of a run: the tests, when it was, and of the machine no more than the file names."""

from datetime import UTC, datetime

from msgspec import Struct

from diskprof.model.errors import DiskprofError
from diskprof.model.job import EngineJob
from diskprof.model.preset import EngineName
from diskprof.model.run import Status, TestResult
from diskprof.model.sample import LatencyKind, Sample
from diskprof.model.target import Target

NOT_WHOLE = "Copy it again, or run the test again: it was cut off or changed."
_FIRST, _LAST = datetime(1990, 1, 1, tzinfo=UTC).timestamp(), datetime(2200, 1, 1, tzinfo=UTC).timestamp()


class BadResults(DiskprofError):
    """A file that is no result of fio's or ioping's, or not a whole one. `message` begins in the middle of a sentence."""


class NoResults(BadResults):
    """Something else than a result: a folder may have such files beside its results."""


class FoundTest(Struct, frozen=True):
    """A test of a result file. `jobs` have names of their own; `result` is None where nothing was measured.

    Times are in ns since the run began. `samples` are empty where the file tells only of the end; their `test` is the test's place.
    `document` is the engine's own output, byte for byte; of tests that share one the first has it. `interval_ms` is the time
    between two status documents.
    """

    jobs: tuple[EngineJob, ...]
    status: Status
    reason: str
    result: TestResult | None
    started_ns: int
    ended_ns: int
    latency: LatencyKind = LatencyKind.LAT
    samples: tuple[Sample, ...] = ()
    document: bytes = b""
    interval_ms: int = 1000


class FoundRun(Struct, frozen=True):
    """A run of a result file. `started_at` is None where the file does not say when; `version` and `hostname` are empty where
    it does not say. `notes` are lines for the person. `reason` says why the run is not complete."""

    engine: EngineName
    tests: tuple[FoundTest, ...]
    target: Target
    started_at: datetime | None
    seconds: float
    version: str = ""
    hostname: str = ""
    notes: tuple[str, ...] = ()
    status: Status = Status.COMPLETE
    reason: str = ""


def moment_of(seconds: float | None) -> datetime | None:
    """A time of day of a file, in seconds since 1970; None for what no clock of a machine with fio can have said."""
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None and _FIRST <= seconds < _LAST else None
