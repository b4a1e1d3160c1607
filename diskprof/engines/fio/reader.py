"""fio: the command line of a test, and what comes out of it."""

import re
from collections.abc import Sequence

from diskprof.engines.events import Ending, Event, Noted, Notes, Outcome, Sampled
from diskprof.engines.fio.document import FinalDocument, depths_told, read_final, read_status, without_mixed_latencies
from diskprof.engines.fio.faults import version_of
from diskprof.engines.fio.samples import Sampler, least_of
from diskprof.engines.fio.sums import FioCount
from diskprof.engines.jsonstream import Broken, Document, DocumentStream, Noise, parse_object
from diskprof.engines.reasons import FioError, empty_handed, explain, is_banner, killed, read_error, read_request_error
from diskprof.model.errors import EngineError, UsageError
from diskprof.model.job import FioJob, Opened
from diskprof.model.plan import PlannedTest
from diskprof.model.run import Status
from diskprof.model.sample import LatencyKind, Phase
from diskprof.model.units import format_duration, format_size

_OPTION = re.compile(r"[a-z][a-z0-9_-]*")
_OURS = frozenset(
    {
        "filename",
        "directory",
        "filename_format",
        "thread",
        "allow_file_create",
        "name",
        "lat_percentiles",
        "slat_percentiles",
    }
)
_LAT_SINCE = (3, 18)
_NO_FILES = "--allow_file_create=0"
_TOLD_TO_STOP = 128
_UNMOVED = empty_handed("fio counted requests that moved no data")
_SHORTFALL = 0.05
_SHORTFALL_S = 0.5


def latency_of(version: str) -> LatencyKind:
    """The latency whose distribution a fio of this version gives: lat from 3.18 on (F69)."""
    known = version_of(version)
    return LatencyKind.LAT if known and known >= _LAT_SINCE else LatencyKind.CLAT


def fio_argv(
    program: str, jobs: Sequence[FioJob], *, interval_ms: int, read_only: bool, latency: LatencyKind = LatencyKind.LAT
) -> tuple[str, ...]:
    """The command of one test: `jobs` run side by side, each on what it has `opened`.

    `read_only` makes fio refuse to write or to make files (F23); beside a job that writes, one that reads makes no files either.
    `latency` is what this fio gives a distribution of.

    Raises UsageError for a file name that fio would take for another one (F27), a job's name that it would not take for one, or an
    option that is no option.
    """
    # A sub-second interval needs its unit, and global options come before the first job (F1, F2).
    argv = [program, "--output-format=json+", f"--status-interval={interval_ms}ms"]
    if read_only:
        argv.append("--readonly")
    for job in jobs:
        argv += [f"--name={_name(job.name)}", *_opened(job.opened), "--thread=1"]
        if latency is LatencyKind.LAT:
            argv += ["--lat_percentiles=1", "--slat_percentiles=1"]
        if read_only or job.reads_only:
            argv.append(_NO_FILES)
        argv += [f"--{_option(name)}={_value(value)}" for name, value in job.options]
    return tuple(argv)


def _opened(opened: Opened) -> list[str]:
    paths = ":".join(map(_escaped, opened.directories or opened.paths))
    if opened.directories:
        return [f"--directory={paths}", f"--filename_format={_value(opened.pattern)}"]
    return [f"--filename={paths}"]


def _escaped(path: str) -> str:
    """`path` as fio's `filename` must spell it. Raises UsageError where no spelling makes fio open that very file (F27)."""
    if path != path.rstrip() or path.lstrip() != path or any(char in path for char in "#;\n\r\0") or "\\:" in path:
        raise UsageError(
            f"fio cannot be given the path {path!r}: it would open a different file.",
            "Paths with #, ;, a line break, or a blank at either end do not work. Use another name.",
        )
    return path.replace(":", "\\:")


def _name(text: str) -> str:
    # fio would take what follows for options of all jobs, and run none of this name (F27).
    if text.startswith("global"):
        raise UsageError(f"{text!r} is not a valid job name: names starting with global are reserved by fio.")
    return _value(text)


def _option(name: str) -> str:
    if not _OPTION.fullmatch(name) or name in _OURS:
        raise UsageError(f"{name!r} is not an allowed option.")
    return name


def _value(text: str) -> str:
    if any(char in text for char in "\n\r\0"):
        raise UsageError(f"{text!r} is not a valid option value.")
    return text


class FioReader:
    """fio's output -> events, and in the end an outcome."""

    name = "fio"

    def __init__(self, planned: PlannedTest, *, index: int, started_ns: int, preparing: bool) -> None:
        self.heard_ns = started_ns
        """When the last document came."""
        self._planned, self._preparing = planned, preparing
        self._stream = DocumentStream()
        self._sampler = Sampler(
            test=index,
            started_ns=started_ns,
            interval_ms=planned.interval_ms,
            ramp=planned.ramp_s > 0,
            preparing=preparing,
            lays_out=not all(job.reads_only for job in planned.load.fio),
            least=least_of(planned.load.fio),
        )
        self._notes = Notes()
        self._error: FioError | None = None
        self._warmed = self._most = 0
        """Bytes seen of the ramp, and in the fullest interval."""

    @property
    def gap_s(self) -> float:
        """The time between two signs of life."""
        return self._planned.interval_ms / 1000

    @property
    def complaint(self) -> str:
        """Why fio has to be ended; empty as long as all is well."""
        return _UNMOVED if self._sampler.unmoved else ""

    @property
    def hold_s(self) -> float | None:
        """After this time without output `idle` wants to be called; None if it need not."""
        return self._sampler.hold_s

    def feed(self, chunk: bytes, at_ns: int) -> list[Event]:
        """Raises EngineError where the output is beyond all bounds."""
        return [event for piece in self._stream.feed(chunk) for event in self._piece(piece, at_ns)]

    def say(self, line: str) -> list[Event]:
        """A line of stderr, or a stray one of stdout."""
        if request := read_request_error(line):
            if request.error.gone:
                self._blame(request.error)
            self._notes.count(request.kind, line)
            return []
        if error := read_error(line):
            self._blame(error)
            return self._notes.say(error.message, warning=True)
        if is_banner(line) or line.startswith("fio: terminating on signal"):
            return []
        return self._notes.say(line, warning=True)

    def _blame(self, error: FioError) -> None:
        """The last error is the reason, unless one said that the device was removed, which explains all others."""
        if not (self._error and self._error.gone):
            self._error = error

    def idle(self) -> list[Event]:
        return self._counted(self._sampler.idle())

    def close(self, at_ns: int) -> list[Event]:
        events = [event for piece in self._stream.close() for event in self._piece(piece, at_ns)]
        return events + self._counted(self._sampler.finish()) + self._notes.close(self.name)

    def _piece(self, piece: Document | Noise | Broken, at_ns: int) -> list[Event]:
        match piece:
            case Noise(text):
                return self.say(text)
            case Broken(size):
                return [Noted(f"Truncated fio output after {format_size(size)}.", warning=True)]
        try:
            status = read_status(piece.value)
        except EngineError as error:
            return self._notes.say(error.message, warning=True)
        self.heard_ns = at_ns
        counted = FioCount(piece.value) if self._planned.steady else None
        return self._counted(self._sampler.add(status, at_ns, counted))

    def _counted(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, Sampled):
                done = sum(sample.bytes for sample in event.samples)
                self._most = max(self._most, done)
                self._warmed += done if event.samples[0].phase is Phase.WARMING else 0
        return events

    def conclude(self, ending: Ending) -> Outcome:
        """What became of the test, after `close`."""
        final = self._final()
        status, reason = self._verdict(ending, final)
        measured = final if final and final.ios and self._sampler.measured and not self.complaint else None
        result = without_mixed_latencies(measured.result, self._planned.load) if measured else None
        searches = self._planned.load.searches
        told = self._depths(final) if final and status is Status.COMPLETE and searches else ""
        return Outcome(status, reason, result, self._stream.last, told=told)

    def _depths(self, final: FinalDocument) -> str:
        document = parse_object(self._stream.last)
        return depths_told(document, ended_early=bool(self._shortfall(final))) if document is not None else ""

    def _final(self) -> FinalDocument | None:
        document = parse_object(self._stream.last) if self._stream.last else None
        try:
            return read_final(document) if document is not None else None
        except EngineError:
            return None

    def _verdict(self, ending: Ending, final: FinalDocument | None) -> tuple[Status, str]:
        """Complete is only what nothing speaks against: fio's exit code alone says little (F15, F16)."""
        if ending.failure:
            return Status.CANCELLED if ending.cancelled else Status.FAILED, ending.failure
        if ending.cancelled and (ending.code != 0 or final is None):
            return Status.CANCELLED, ""
        reason = self._failure(ending.code, final, enough=ending.enough)
        if reason and ending.cancelled:
            return Status.CANCELLED, ""
        return (Status.FAILED, reason) if reason else (Status.COMPLETE, "")

    def _failure(self, code: int | None, final: FinalDocument | None, *, enough: bool) -> str:
        if self._error:
            return self._error.reason
        if final and final.errors:
            return explain(final.errors[0])
        if code is None or code < 0:
            return killed(self.name, code)
        if code == _TOLD_TO_STOP and not enough:
            return "fio was stopped by another process."
        if enough and final is not None and code in (0, _TOLD_TO_STOP):
            return self._shortcoming(final, enough=True)
        if code or final is None:
            said = f": {self._notes.last}" if self._notes.last else ""
            return f"fio ended with exit code {code}{said}" if code else f"fio produced no results{said}"
        return self._shortcoming(final)

    def _shortcoming(self, final: FinalDocument, *, enough: bool = False) -> str:
        """Why a test that fio calls a success is none (F16). Of one that had `enough` no more was wanted than it did."""
        if self.complaint:
            return self.complaint
        if final.failed_ios:
            return f"{final.failed_ios} requests failed."
        if not final.ios:
            said = f" It said: {self._notes.last}" if self._notes.last else ""
            return f"fio ended without any I/O: the target may be in use, missing, or too small.{said}"
        if not self._sampler.measured:
            # Where the ramp is the longer of the two, the runtime ends a fio that keeps to a rate in the middle of it.
            more = "make runtime longer than" if self._timed else "give it more to do than it does in its"
            return f"fio ended during ramp_time, nothing was measured: {more} ramp_time."
        # A search ends when it has found what it looks for (F61).
        return "" if enough or self._planned.load.searches else self._shortfall(final)

    def _shortfall(self, final: FinalDocument) -> str:
        """How much less fio did than it was asked to."""
        amount, seconds = self._planned.amount_bytes, final.runtime_ms / 1000
        if (not self._preparing or amount is None) and not self._too_short(seconds):
            return ""
        if amount is not None:
            # fio counts the ramp towards the amount (F61). What was done in it after its last document, no document tells.
            ramp = self._warmed + self._most if self._planned.ramp_s else 0
            enough = final.bytes + ramp >= amount * (1 - _SHORTFALL)
            return "" if enough else f"fio ended after {format_size(final.bytes)} of {format_size(amount)}."
        asked = format_duration(self._planned.runtime_s)
        return f"fio measured for {format_duration(seconds)} instead of {asked}: the target may be too small."

    def _too_short(self, seconds: float) -> bool:
        if self._planned.amount_bytes is not None and not self._timed:
            return True
        asked = self._planned.runtime_s
        return seconds < asked - max(_SHORTFALL * asked, _SHORTFALL_S)

    @property
    def _timed(self) -> bool:
        """Whether fio itself was given a time limit; otherwise `runtime_s` is an estimate."""
        return any(job.runtime_s is not None for job in self._planned.load.fio)
