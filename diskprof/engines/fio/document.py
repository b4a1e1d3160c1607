"""fio's JSON, read once: counters of a status document, results of a final one. No dict of fio's goes past this file.

Plain extraction instead of a pydantic model: a status document of 24 kB costs 0.6 ms of processor time this way, up to four
times a second while a disk is being measured.
"""

from collections.abc import Mapping, Sequence
from math import fsum, sqrt

from msgspec import Struct
from msgspec.structs import replace

from diskprof.engines.jsonstream import JsonObject, count, figure, section
from diskprof.model.errors import EngineError
from diskprof.model.histogram import Histogram, bucket_of, merge
from diskprof.model.load import Load
from diskprof.model.run import PERCENTILES, Cpu, DirectionResult, JobResult, Latency, Result, TestResult
from diskprof.model.sample import Direction, LatencyKind
from diskprof.model.text import clean
from diskprof.model.units import format_latency

_KEYS = {name: f"{100 * q:.6f}" for name, q in PERCENTILES.items()}
"""What fio calls them."""


class Counters(Struct, frozen=True):
    """One direction of one job entry, cumulative since its epoch began (F3).

    `timed` I/Os have a latency; in a ramp none have (F4).
    """

    ios: int
    bytes: int
    runtime_ms: int
    timed: int
    mean_ns: float
    min_ns: int
    max_ns: int
    bins: Mapping[int, int]


Entry = Mapping[Direction, Counters]


class StatusDocument(Struct, frozen=True):
    """One document of the stream. `timestamp_ms` is fio's wall clock when it was written, None before fio had it."""

    timestamp_ms: int | None
    entries: tuple[Entry, ...]

    @property
    def ios(self) -> int:
        return sum(counters.ios for entry in self.entries for counters in entry.values())


class FinalDocument(Struct, frozen=True):
    """What the last document says. `errors` are the errno values of jobs that failed, `failed_ios` those that fio went on after."""

    result: TestResult
    errors: tuple[int, ...]
    failed_ios: int
    runtime_ms: int
    ios: int
    bytes: int


class _Buckets(dict[str, int]):
    """The bucket of each latency that fio wrote as a key, -1 for what is no number. Found once: a document has hundreds."""

    def __missing__(self, text: str) -> int:
        index = bucket_of(int(text)) if len(text) < 20 and text.isascii() and text.isdigit() else -1
        if len(self) < _MOST_KEYS:
            self[text] = index
        return index


_MOST_KEYS = 4096
_BUCKETS = _Buckets()


def _bins(latency: JsonObject) -> dict[int, int]:
    bins: dict[int, int] = {}
    for text, value in section(latency, "bins").items():
        if type(value) is int and value > 0 and (index := _BUCKETS[text]) >= 0:
            bins[index] = bins.get(index, 0) + value
    return bins


def _jobs(document: JsonObject) -> list[JsonObject]:
    jobs = document.get("jobs")
    if not isinstance(jobs, list):
        raise EngineError("fio's output has no jobs.")
    return [job for job in jobs if isinstance(job, dict)]


def _timed(latency: JsonObject, bins: Mapping[int, int]) -> int:
    # N came with fio 3.18 (F8). A distribution of unknown size counts as one.
    return count(latency, "N") if "N" in latency else sum(bins.values()) or bool(figure(latency, "mean"))


def read_status(document: JsonObject) -> StatusDocument:
    """The counters of a status document. Raises EngineError where it is no document of fio's."""
    timestamp = count(document, "timestamp_ms")
    return StatusDocument(timestamp or None, tuple(_entry(job) for job in _jobs(document)))


def _entry(job: JsonObject) -> Entry:
    return {direction: _counters(section(job, direction)) for direction in Direction}


def _latency_kind(data: JsonObject) -> LatencyKind:
    """The latency of which fio gives the distribution: lat where it was asked for and fio has it, from 3.18 on (F69)."""
    latency = section(data, "lat_ns")
    return LatencyKind.LAT if "bins" in latency or "percentile" in latency else LatencyKind.CLAT


def _counters(data: JsonObject) -> Counters:
    latency = section(data, f"{_latency_kind(data)}_ns")
    bins = _bins(latency)
    return Counters(
        ios=count(data, "total_ios"),
        bytes=count(data, "io_bytes"),
        runtime_ms=count(data, "runtime"),
        timed=_timed(latency, bins),
        mean_ns=figure(latency, "mean") or 0.0,
        min_ns=count(latency, "min"),
        max_ns=count(latency, "max"),
        bins=bins,
    )


def read_final(document: JsonObject) -> FinalDocument:
    """The results of a final document, to fio's last digit where one job entry gave them.

    Raises EngineError where it is no document of fio's.
    """
    jobs = _jobs(document)
    sections = [data for direction in Direction for data in _sections(jobs, direction)]
    result = _result(jobs)
    return FinalDocument(
        result=TestResult(result.read, result.write, result.cpu, result.sync, _results(jobs) if len(jobs) > 1 else ()),
        errors=tuple(code for job in jobs if (code := count(job, "error"))),
        failed_ios=sum(count(job, "total_err") for job in jobs),
        runtime_ms=max((count(data, "runtime") for data in sections), default=0),
        ios=sum(count(data, "total_ios") for data in sections),
        bytes=sum(count(data, "io_bytes") for data in sections),
    )


def _results(jobs: Sequence[JsonObject]) -> tuple[JobResult, ...]:
    """Each job by its name; the copies of one are entries of the same name."""
    entries: dict[str, list[JsonObject]] = {}
    for job in jobs:
        entries.setdefault(clean(str(job.get("jobname", ""))), []).append(job)
    return tuple(_job_result(name, mine) for name, mine in entries.items())


def _job_result(name: str, entries: Sequence[JsonObject]) -> JobResult:
    whole = _result(entries)
    copies = tuple(_plain(_result([entry])) for entry in entries) if len(entries) > 1 else ()
    return JobResult(whole.read, whole.write, whole.cpu, whole.sync, name, copies)


def _plain(result: Result) -> Result:
    """Without the histograms, which are in that of the job."""
    read, write = (part and replace(part, histogram=None) for part in (result.read, result.write))
    return replace(result, read=read, write=write)


def _result(jobs: Sequence[JsonObject]) -> Result:
    """What several entries say together."""
    return Result(
        read=_direction(_sections(jobs, Direction.READ)),
        write=_direction(_sections(jobs, Direction.WRITE)),
        cpu=_cpu(jobs),
        sync=_latency([latency for job in jobs if (latency := section(section(job, "sync"), "lat_ns"))]),
    )


def _sections(jobs: Sequence[JsonObject], direction: Direction) -> list[JsonObject]:
    return [data for job in jobs if (data := section(job, direction)) and _did_something(data)]


def _did_something(data: JsonObject) -> bool:
    return count(data, "total_ios") > 0 or count(data, "io_bytes") > 0


def _direction(parts: Sequence[JsonObject]) -> DirectionResult | None:
    if not parts:
        return None
    kinds = {_latency_kind(data) for data in parts}
    kind = kinds.pop() if len(kinds) == 1 else LatencyKind.CLAT
    histogram = merge(Histogram.of(_bins(section(data, f"{kind}_ns"))) for data in parts)
    ios, size = (sum(count(data, name) for data in parts) for name in ("total_ios", "io_bytes"))
    runtime = max(count(data, "runtime") for data in parts)
    if len(parts) == 1:
        iops, bandwidth = figure(parts[0], "iops") or 0.0, _bandwidth(parts[0])
    else:
        # As fio sums up a group: over the longest job. Rates added up are what no disk did where a job ended early.
        iops = round(1000 * ios / runtime, 6) if runtime else 0.0
        bandwidth = _over(size, runtime)
    return DirectionResult(
        ios=ios,
        bytes=size,
        iops=iops,
        bandwidth_bytes_per_s=bandwidth,
        runtime_ms=runtime,
        latency=_latency([section(data, f"{kind}_ns") for data in parts]) or Latency(),
        histogram=histogram or None,
        latency_kind=kind,
        clat=_latency([section(data, "clat_ns") for data in parts]),
        slat=_latency([_submission(data) for data in parts]),
        lat=_latency([section(data, "lat_ns") for data in parts]) if kind is LatencyKind.CLAT else None,
    )


def _submission(data: JsonObject) -> JsonObject:
    """slat, empty where a job does not submit apart from doing. Before 3.18 fio does not say of how many I/Os."""
    latency = section(data, "slat_ns")
    if not figure(latency, "mean"):
        return {}
    return latency if "N" in latency else {**latency, "N": count(data, "total_ios")}


def _sum(figures: Sequence[float]) -> float:
    """The sum of what several jobs say, with the six digits behind the point that fio gives, and no others from adding."""
    return figures[0] if len(figures) == 1 else round(fsum(figures), 6)


def _bandwidth(data: JsonObject) -> float:
    given = figure(data, "bw_bytes")
    if given is not None:
        return given
    # fio 3.1 prints KiB/s only (F8); later versions compute bw_bytes like this.
    return _over(count(data, "io_bytes"), count(data, "runtime"))


def _over(size: int, runtime_ms: int) -> float:
    """Bytes per second, whole ones as fio gives."""
    return 1000 * size // runtime_ms if runtime_ms else 0


def _cpu(jobs: Sequence[JsonObject]) -> Cpu | None:
    shares = [(figure(job, "usr_cpu"), figure(job, "sys_cpu")) for job in jobs]
    known = [(user, system) for user, system in shares if user is not None and system is not None]
    if not known:
        return None
    return Cpu(_sum([user for user, _ in known]), _sum([system for _, system in known]), len(known))


def _latency(parts: Sequence[JsonObject]) -> Latency | None:
    """One distribution as fio prints it; several merged: the mean by weight, percentiles from the merged histogram."""
    timed = [(latency, number, bins) for latency in parts if (number := _timed(latency, bins := _bins(latency)))]
    if not timed:
        return None
    histogram = merge(Histogram.of(bins) for _, _, bins in timed)
    if len(timed) == 1:
        return _single_latency(timed[0][0], histogram)
    total = sum(number for _, number, _ in timed)
    mean = sum(number * (figure(latency, "mean") or 0.0) for latency, number, _ in timed) / total
    spread = sum(
        number * ((figure(latency, "stddev") or 0.0) ** 2 + ((figure(latency, "mean") or 0.0) - mean) ** 2)
        for latency, number, _ in timed
    )
    return Latency(
        mean=mean,
        min=min(count(latency, "min") for latency, _, _ in timed),
        max=max(count(latency, "max") for latency, _, _ in timed),
        stddev=sqrt(spread / total),
        **{name: histogram.quantile(q) for name, q in PERCENTILES.items()},
    )


def _single_latency(latency: JsonObject, histogram: Histogram) -> Latency:
    percentiles = section(latency, "percentile")

    def percentile(key: str, q: float) -> float | None:
        given = figure(percentiles, key)
        return histogram.quantile(q) if given is None else given

    return Latency(
        mean=figure(latency, "mean"),
        min=figure(latency, "min"),
        max=figure(latency, "max"),
        stddev=figure(latency, "stddev"),
        **{name: percentile(_KEYS[name], q) for name, q in PERCENTILES.items()},
    )


def without_mixed_latencies(result: TestResult, load: Load) -> TestResult:
    """Jobs that do different things have a latency each, and none together."""

    def own(direction: Direction) -> DirectionResult | None:
        part = result.direction(direction)
        if part is None or load.alike(direction):
            return part
        return replace(part, latency=Latency(), histogram=None, clat=None, slat=None, lat=None)

    sync = result.sync if len(load.sync_calls) < 2 else None
    return replace(result, read=own(Direction.READ), write=own(Direction.WRITE), sync=sync)


def depths_told(document: JsonObject, *, ended_early: bool) -> str:
    """A sentence for each job of a final document that searched; empty where none did.

    `ended_early`: fio ends before its time when it has found the depth, and only then (F61).
    """
    jobs = document.get("jobs")
    entries = [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []
    searched = [job for job in entries if count(job, "latency_target")]
    several = len({str(job.get("jobname")) for job in searched}) > 1
    said = [
        f"{clean(str(job.get('jobname')))}: {_told(job, ended_early)}" if several else _told(job, ended_early)
        for job in searched
    ]
    return " ".join(dict.fromkeys(said))


def _told(job: JsonObject, ended_early: bool) -> str:
    share = figure(job, "latency_percentile") or 100
    asked = f"{share:g}% of the I/Os within {format_latency(count(job, 'latency_target'))}"
    if ended_early:
        return f"{count(job, 'latency_depth')} is the deepest queue (QD) that keeps {asked}."
    return f"fio found no queue depth that keeps {asked}."
