"""ioping's JSON (-J) and its raw line (-B) of somebody's own runs."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from diskprof.engines.ioping import Requests, Statistics, total_result
from diskprof.engines.jsonstream import JsonObject, count, figure, section
from diskprof.engines.results.found import NOT_WHOLE, BadResults, FoundRun, FoundTest, moment_of
from diskprof.model.histogram import Histogram
from diskprof.model.job import IopingJob, ioping_job
from diskprof.model.preset import EngineName
from diskprof.model.run import Status, TestResult
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.model.target import Target, TargetKind
from diskprof.model.text import clean

_LONGEST = 1000
_NS = 1_000_000_000
_MS = 1_000_000
_RAW = ("count", "time", "iops", "bps", "min", "avg", "max", "mdev", "load_count", "load_time")
"""The columns of a raw line from ioping 1.0 on, times in ns (its man page, RAW STATISTICS)."""


def is_ioping(elements: Sequence[object]) -> bool:
    """Whether a JSON array is ioping's."""
    return bool(elements) and all(isinstance(each, dict) and ("io" in each or "stat" in each) for each in elements)


def ioping_run(elements: Sequence[JsonObject], document: bytes) -> FoundRun:
    """The run that the elements of an array of ioping's tell of. Raises BadResults where the final statistics are missing."""
    last = elements[-1]
    total = Statistics(section(last, "stat"), section(last, "load"))
    if not total.stat:
        raise BadResults("ioping's final statistics are missing", NOT_WHOLE)
    ends = [figure(element, "timestamp") or 0.0 for element in elements]
    began = min((end - _took(element) / 1e9 for end, element in zip(ends, elements, strict=True)), default=0.0)
    seconds = min(max(0.0, ends[-1] - began), 1e9)
    direction, requests, samples = Direction.READ, Requests(), []
    for element, end in zip(elements, ends, strict=True):
        request = section(element, "io")
        if request.get("operation") == "write":
            direction = Direction.WRITE
        if request and request.get("ignored") is False:
            requests.add(count(request, "time"))
        if element is not last:
            samples.append((element, min(max(0.0, end - began), seconds)))
    given = section(elements[0], "target")
    return _run(
        total_result(total, requests, direction) if total.count else None,
        _job(total, direction),
        _target(given),
        tuple(sample for element, at in samples if (sample := _sample(element, round(at * 1e9), direction))),
        document,
        began,
        seconds or total.duration_ns / 1e9,
    )


def _took(element: JsonObject) -> int:
    return count(section(element, "io"), "time") or count(section(element, "load"), "time")


def _sample(element: JsonObject, at_ns: int, direction: Direction) -> Sample | None:
    """A request, or a period; None of one that ioping leaves out of its statistics."""
    request, stat = section(element, "io"), section(element, "stat")
    if request:
        if request.get("ignored") is not False:
            return None
        took, ios, size = count(request, "time"), 1, count(request, "size")
        mean, low, high, histogram = float(took), took, took, Histogram.of_latencies((took,))
        duration = took
    elif ios := count(stat, "count"):
        size, histogram = count(stat, "size"), None
        mean, low, high = count(stat, "time") / ios, count(stat, "min"), count(stat, "max")
        duration = count(section(element, "load"), "time")
    else:
        return None
    return Sample(0, Phase.MEASURING, direction, at_ns, max(duration, _MS), ios, size, mean, low, high, histogram)


def _job(total: Statistics, direction: Direction) -> IopingJob:
    """What is known of the options; the time between two requests is not."""
    size = total.bytes // total.count if total.count else 0
    options = (*((("size", str(size)),) if size else ()), *((("write", "1"),) if direction is Direction.WRITE else ()))
    return replace(ioping_job(options, "ioping"), interval_s=0.0)


def _target(given: JsonObject) -> Target:
    path, fs_type, device = (clean(str(given.get(key, ""))[:_LONGEST]) for key in ("path", "fstype", "device"))
    raw = path.startswith("/dev/") and path == device
    kind = TargetKind.DEVICE if raw else TargetKind.DIRECTORY
    return Target(kind, path, path, device=device.removeprefix("/dev/"), fs_type="" if raw else fs_type)


def _run(
    result: TestResult | None,
    job: IopingJob,
    target: Target,
    samples: tuple[Sample, ...],
    document: bytes,
    began: float,
    seconds: float,
    notes: tuple[str, ...] = (),
) -> FoundRun:
    reason = "" if result else "ioping measured no request."
    status = Status.COMPLETE if result else Status.FAILED
    test = FoundTest((job,), status, reason, result, 0, round(seconds * _NS), samples=samples, document=document)
    return FoundRun(
        EngineName.IOPING, (test,), target, moment_of(began), seconds, notes=notes, status=status, reason=reason
    )


# --- The raw line ---------------------------------------------------------------------------------------------------


def raw_line(data: bytes) -> Mapping[str, int] | None:
    """The last line of ioping -B by its columns; None for anything else."""
    lines = data.split(b"\n")
    words = next((line.split() for line in reversed(lines) if line.strip()), [])
    if len(words) != len(_RAW) or not all(word.isdigit() and len(word) < 19 for word in words):
        return None
    return dict(zip(_RAW, map(int, words), strict=True))


def raw_run(values: Mapping[str, int], document: bytes) -> FoundRun:
    """The run of a raw line, which says neither when it was, nor where, nor whether it read or wrote."""
    number, seconds = values["count"], values["load_time"] / _NS
    # A line has bytes per second of the time of the requests alone; requests are all of one size.
    size = round(values["bps"] * values["time"] / _NS / number) if number else 0
    stat = {key: values[key] for key in ("count", "time", "iops", "bps", "min", "avg", "max", "mdev")}
    total = Statistics({**stat, "size": number * size}, {"count": values["load_count"], "time": values["load_time"]})
    result = total_result(total, Requests(), Direction.READ) if number else None
    return _run(
        result,
        _job(total, Direction.READ),
        Target(TargetKind.DIRECTORY, "", ""),
        (),
        document,
        0.0,
        seconds,
        ("A raw line of ioping's does not say whether it read or wrote: these are taken for reads.",),
    )
