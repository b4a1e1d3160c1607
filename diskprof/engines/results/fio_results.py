"""fio's JSON and json+ of somebody's own runs: one document, or those that --status-interval prints; also a client's."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite

from msgspec import Struct
from msgspec.structs import replace

from diskprof.engines.events import Sampled
from diskprof.engines.fio.document import StatusDocument, read_final, read_status, without_mixed_latencies
from diskprof.engines.fio.faults import version_of
from diskprof.engines.fio.samples import Sampler
from diskprof.engines.jsonstream import Broken, Document, JsonObject, Noise, StreamPart, count, section
from diskprof.engines.reasons import explain
from diskprof.engines.results.found import NOT_WHOLE, BadResults, FoundRun, FoundTest, NoResults, moment_of
from diskprof.model.job import FioJob, fio_job
from diskprof.model.load import Load
from diskprof.model.preset import EngineName, Options
from diskprof.model.run import Status
from diskprof.model.sample import Direction, LatencyKind, Sample
from diskprof.model.target import Target, TargetKind
from diskprof.model.text import clean

MOST_JOBS = 4096
"""Entries of a document: what fio itself can run."""
MOST_RUNS = 1000
_LONGEST_OPTION = 1000
_LARGEST = float(1 << 62)
_ALL_CLIENTS = "All clients"
_MS = 1_000_000
_SLACK_MS = 1500
"""fio tells its age in whole seconds, rounded up."""
_SEPARATOR = re.compile(r"(?<!\\):")
_PLACES = ("filename", "directory")


class _Entry(Struct, frozen=True):
    """A job of a document: fio's own name for it, and one that no other job of the document has."""

    data: JsonObject
    name: str
    options: Options
    group: int
    host: str


class _Told(Struct, frozen=True):
    """A document. `groups` are its jobs, those together that ran together; `total` is a client's sum of them."""

    document: Document
    entries: tuple[_Entry, ...]
    groups: tuple[range, ...]
    total: JsonObject | None
    options: Options

    @property
    def written_ms(self) -> int:
        """When fio wrote it, in ms since 1970; 0 where it does not say."""
        value = self.document.value
        return count(value, "timestamp_ms") or 1000 * count(value, "timestamp")

    @property
    def age_ms(self) -> int:
        """How long fio had been running by then, at the most."""
        elapsed = max((count(entry.data, "elapsed") for entry in self.entries), default=0)
        return 1000 * elapsed or sum(self.longest_ms(group) for group in self.groups)

    @property
    def begun_ms(self) -> int:
        """When its first job began, in ms since 1970, to a second."""
        told = [begun for entry in self.entries if (begun := count(entry.data, "job_start"))]
        return min([self.written_ms - self.age_ms, *told])

    @property
    def ios(self) -> int:
        return sum(count(section(entry.data, way), "total_ios") for entry in self.entries for way in Direction)

    @property
    def shape(self) -> tuple[object, ...]:
        """What is the same in every document of one run."""
        return (self.document.value.get("fio version"), *((entry.name, entry.options) for entry in self.entries))

    def longest_ms(self, group: range) -> int:
        entries = [self.entries[place].data for place in group]
        ways = [count(section(entry, way), "runtime") for entry in entries for way in Direction]
        # What an engine without reads and writes took, fio tells in another place.
        return max(ways, default=0) or max((count(entry, "job_runtime") for entry in entries), default=0)


def is_fio(value: JsonObject) -> bool:
    """Whether a JSON object is a document of fio's."""
    return "fio version" in value and ("jobs" in value or "client_stats" in value)


def fio_runs(parts: Iterable[StreamPart]) -> Iterator[FoundRun]:
    """The runs that documents and noise tell of, in their order.

    Raises BadResults for a document that is damaged, too old, or has no jobs; NoResults where there is none.
    """
    run: _Run | None = None
    found = 0
    broken = False
    for part in parts:
        match part:
            case Broken():
                broken = True
            case Document(value) if is_fio(value):
                told = _told(part)
                if run and run.goes_on_in(told):
                    run.add(told)
                    continue
                if run:
                    yield run.found(cut_off=False)
                found += 1
                if found > MOST_RUNS:
                    raise BadResults(f"it has more than {MOST_RUNS} runs")
                run, broken = _Run(told), False
            case Document() | Noise():
                pass
    if run is None:
        if broken:
            raise BadResults("its only document is not whole", NOT_WHOLE)
        raise NoResults("it has no document of fio's")
    yield run.found(cut_off=broken)


# --- A document -----------------------------------------------------------------------------------------------------


def _told(document: Document) -> _Told:
    value = document.value
    _refuse_old(value)
    client = value.get("client_stats")
    given = client if isinstance(client, list) else value.get("jobs")
    jobs = [job for job in given if isinstance(job, dict)] if isinstance(given, list) else []
    if not jobs:
        raise BadResults("a document of fio's has no jobs")
    if len(jobs) > MOST_JOBS:
        raise BadResults(f"a document has more than {MOST_JOBS} jobs")
    total = next((job for job in jobs if job.get("jobname") == _ALL_CLIENTS), None) if client else None
    entries = _entries([job for job in jobs if job is not total] or jobs, _options(value, "global options"))
    groups = _groups(entries)
    alone = len(groups) == 1 and len(entries) > 1
    return _Told(document, entries, groups, total if alone else None, _options(value, "global options"))


def _refuse_old(value: JsonObject) -> None:
    version = str(value.get("fio version", ""))
    known = version_of(version.removeprefix("fio-"))
    if known and known < (3, 0):
        raise BadResults(
            f"it is of {clean(version[:40])}, whose JSON has other units and no distribution",
            "Run the test again with fio 3.0 or later.",
        )


def _options(data: JsonObject, key: str) -> Options:
    """Options as fio was given them; one without a value is on."""
    return tuple(
        (clean(name), clean(value) or "1")
        for name, value in section(data, key).items()
        if isinstance(value, str) and len(name) + len(value) <= _LONGEST_OPTION
    )


def _entries(jobs: Sequence[JsonObject], given: Options) -> tuple[_Entry, ...]:
    hosts = [clean(str(job.get("hostname", ""))[:_LONGEST_OPTION]) for job in jobs]
    servers = [f"{host}:{count(job, 'port')}" for job, host in zip(jobs, hosts, strict=True)]
    several = len(set(servers)) > 1
    places = hosts if len(set(hosts)) == len(set(servers)) else servers
    names: dict[tuple[str, str, Options], str] = {}
    taken: set[str] = set()
    found = []
    for job, host, place in zip(jobs, hosts, places, strict=True):
        called = clean(str(job.get("jobname", ""))[:_LONGEST_OPTION]) or "job"
        own = _options(job, "job options")
        options = tuple({**dict(given), **dict(own)}.items())
        key = (called, place if several else "", own)
        if key not in names:
            names[key] = _unlike(f"{called}@{place}" if several else called, taken)
            taken.add(names[key])
        found.append(_Entry(job, names[key], options, count(job, "groupid"), host))
    # Each server counts its groups anew.
    return tuple(sorted(found, key=lambda entry: entry.group)) if several else tuple(found)


def _unlike(name: str, taken: set[str]) -> str:
    """`name`, with a number where another job has it."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def _groups(entries: Sequence[_Entry]) -> tuple[range, ...]:
    """The entries that ran together: fio counts a group at a stonewall, which it names from 3.4x on, and at new_group."""
    starts = [0]
    for place, (before, entry) in enumerate(pairwise(entries), 1):
        own = dict(entry.options)
        beside = "new_group" in own and "stonewall" not in own
        if entry.group != before.group and not beside:
            starts.append(place)
    return tuple(range(start, end) for start, end in pairwise((*starts, len(entries))))


def _job(name: str, options: Options) -> FioJob:
    """The job by its options, without those that no job can have."""
    whole = fio_job(options, name)
    if not _sane(whole):
        whole = fio_job([option for option in options if _sane(fio_job([option]))], name)
    return whole if _sane(whole) else fio_job((), name)


def _sane(job: FioJob) -> bool:
    return all(_measurable(getattr(job, name)) for name in job.__struct_fields__)


def _measurable(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_measurable, value))
    return not isinstance(value, int | float) or (isfinite(value) and 0 <= value < _LARGEST)


# --- A run ----------------------------------------------------------------------------------------------------------


class _Course:
    """The samples of the jobs that ran together. `alone`: no others ran before and after, so that all documents are of their time;
    else those between their first I/O and their last, since fio counts the time of a job that has ended on."""

    def __init__(self, place: int, jobs: Sequence[FioJob], interval_ms: int, *, alone: bool) -> None:
        self._alone = alone
        ramp = any(job.ramp_s > 0 for job in jobs)
        self._sampler = Sampler(test=place, started_ns=0, interval_ms=interval_ms, ramp=ramp, preparing=False)
        self._last: StatusDocument | None = None
        self._unmoved: list[tuple[int | None, int]] = []
        self.samples: list[Sample] = []

    def add(self, document: StatusDocument, at_ns: int) -> None:
        if not self._alone and self._last and _amounts(document) == _amounts(self._last):
            # It is not begun or over, unless a later document shows that the disk stood still.
            self._unmoved.append((document.timestamp_ms, at_ns))
            return
        if self._last and self._last.ios:
            for timestamp_ms, then_ns in self._unmoved:
                self._take(replace(self._last, timestamp_ms=timestamp_ms), then_ns)
        self._unmoved.clear()
        self._take(document, at_ns)
        self._last = document

    def _take(self, document: StatusDocument, at_ns: int) -> None:
        for event in self._sampler.add(document, at_ns):
            self.samples += event.samples if isinstance(event, Sampled) else ()

    def close(self) -> None:
        for event in self._sampler.finish():
            self.samples += event.samples if isinstance(event, Sampled) else ()


def _amounts(document: StatusDocument) -> list[tuple[int, int]]:
    return [(way.ios, way.bytes) for entry in document.entries for way in entry.values()]


@dataclass
class _Run:
    """A run whose documents come one after the other; what they tell of time is kept, of the rest the last."""

    first: _Told
    last: _Told = field(init=False)
    _times: list[int] = field(default_factory=list)
    _courses: list[_Course] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.last = self.first
        self._times.append(self._at_ns(self.first))

    def goes_on_in(self, told: _Told) -> bool:
        """Whether a document is a later one of the same run: it has the same jobs, and fio had begun before the one before."""
        last = self.last
        if told.shape != last.shape or told.written_ms < last.written_ms:
            return False
        if abs(told.begun_ms - last.begun_ms) > _SLACK_MS:
            return False
        return told.ios >= last.ios or last.written_ms > told.begun_ms + 1000

    def add(self, told: _Told) -> None:
        """A later document. From the second on there are samples, for now it is known how far apart the documents are."""
        self._times.append(self._at_ns(told))
        if not self._courses:
            for place, group in enumerate(self.first.groups):
                jobs = [_job("", self.first.entries[entry].options) for entry in group]
                self._courses.append(_Course(place, jobs, self._interval_ms, alone=len(self.first.groups) == 1))
            self._sample(self.first)
        self._sample(told)
        self.last = told

    def _at_ns(self, told: _Told) -> int:
        return max(0, told.written_ms - self.first.begun_ms) * _MS

    def _sample(self, told: _Told) -> None:
        status = read_status({"jobs": [entry.data for entry in told.entries]})
        for group, course in zip(self.first.groups, self._courses, strict=True):
            part = StatusDocument(told.written_ms or None, status.entries[group.start : group.stop])
            course.add(part, self._at_ns(told))

    def found(self, *, cut_off: bool) -> FoundRun:
        """The run. `cut_off`: what followed its last whole document is the beginning of another."""
        last = self.last
        for course in self._courses:
            course.close()
        tests, begins_ns = [], 0
        for place, group in enumerate(last.groups):
            samples = tuple(self._courses[place].samples) if self._courses else ()
            started_ns, ended_ns = self._time_of(group, begins_ns, samples)
            begins_ns = ended_ns
            document = last.document.raw if place == 0 else b""
            tests.append(self._test(group, started_ns, ended_ns, samples, document))
        hosts = {entry.host for entry in last.entries}
        status, reason = _how_it_ended(tests, cut_off=cut_off)
        return FoundRun(
            EngineName.FIO,
            tuple(tests),
            _target(last),
            moment_of(last.written_ms and self.first.begun_ms / 1000),
            self._at_ns(last) / 1e9,
            version=clean(str(last.document.value.get("fio version", ""))[:100]).removeprefix("fio-"),
            hostname=hosts.pop() if len(hosts) == 1 else "",
            status=status,
            reason=reason,
        )

    def _time_of(self, group: range, begins_ns: int, samples: Sequence[Sample]) -> tuple[int, int]:
        """When a test began and ended: by fio's word from 3.4x on, or by its samples, else after the one before."""
        if len(self.last.groups) == 1:
            return 0, self._at_ns(self.last)
        told = [begun for entry in group if (begun := count(self.last.entries[entry].data, "job_start"))]
        if told:
            begins_ns = max(0, min(told) - self.first.begun_ms) * _MS
        elif samples:
            begins_ns = max(0, samples[0].at_ns - samples[0].duration_ns)
        return begins_ns, max([begins_ns + self.last.longest_ms(group) * _MS, *(sample.at_ns for sample in samples)])

    def _test(
        self, group: range, started_ns: int, ended_ns: int, samples: tuple[Sample, ...], document: bytes
    ) -> FoundTest:
        entries = [self.last.entries[place] for place in group]
        jobs = tuple(_job(name, options) for name, options in {entry.name: entry.options for entry in entries}.items())
        final = read_final({"jobs": [{**entry.data, "jobname": entry.name} for entry in entries]})
        result = final.result
        if self.last.total:
            whole = read_final({"jobs": [self.last.total]}).result
            result = replace(whole, jobs=result.jobs)
        result = without_mixed_latencies(result, Load(jobs)) if len(jobs) > 1 else result
        reason = ""
        if final.errors:
            reason = explain(final.errors[0])
        elif final.failed_ios:
            reason = f"{final.failed_ios} requests failed."
        elif not result.directions:
            reason = "It has no reads and no writes."
        kinds = {part.latency_kind for _, part in result.directions}
        return FoundTest(
            jobs,
            Status.FAILED if reason else Status.COMPLETE,
            reason,
            result if result.directions else None,
            started_ns,
            ended_ns,
            LatencyKind.CLAT if LatencyKind.CLAT in kinds else LatencyKind.LAT,
            samples,
            document,
            self._interval_ms,
        )

    @property
    def _interval_ms(self) -> int:
        steps = sorted(after - before for before, after in pairwise(self._times))
        return max(1, steps[len(steps) // 2] // _MS) if steps else 1000


def _how_it_ended(tests: Sequence[FoundTest], *, cut_off: bool) -> tuple[Status, str]:
    if failed := next((test for test in tests if test.status is Status.FAILED), None):
        return Status.FAILED, failed.reason
    if cut_off:
        return (
            Status.INTERRUPTED,
            "The file breaks off in a later document: these are the figures of the last whole one.",
        )
    return Status.COMPLETE, ""


def _target(told: _Told) -> Target:
    """What the jobs worked on by their options, and the disk where the document names just one."""
    named = {
        key: dict.fromkeys(path for entry in told.entries if (path := dict(entry.options).get(key))) for key in _PLACES
    }
    paths = list(named["filename"]) or list(named["directory"])
    path = ", ".join(paths) if len(paths) < 4 else f"{', '.join(paths[:3])} and {len(paths) - 3} more"
    one = len(paths) == 1 and len(_SEPARATOR.split(paths[0])) == 1
    if named["filename"]:
        raw = one and path.startswith("/dev/")
        kind = TargetKind.DEVICE if raw else TargetKind.FILE
    else:
        kind = TargetKind.DIRECTORY
    return Target(kind, path, path, device=_device(told.document.value) if not told.total else "")


def _device(value: JsonObject) -> str:
    given = value.get("disk_util")
    disks = [disk for disk in given if isinstance(disk, dict)] if isinstance(given, list) else []
    above = [disk for disk in disks if "aggr_util" in disk] or disks
    name = above[0].get("name") if len(above) == 1 else ""
    return clean(name[:100]) if isinstance(name, str) else ""
