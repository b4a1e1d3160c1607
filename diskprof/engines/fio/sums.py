"""Documents of fio added up, and one taken from another: the result of several rounds, and of some windows of a test.

fio counts from the beginning of a test (F3). What it gives with every document, amounts, distributions, means and deviations by
their numbers, adds up and subtracts exactly; percentiles come from the distributions then, not from fio.
"""

from collections.abc import Mapping, Sequence
from math import sqrt

from msgspec import Struct

from diskprof.engines.events import Counted
from diskprof.engines.fio.document import read_final, without_mixed_latencies
from diskprof.engines.jsonstream import JsonObject, count, figure, parse_object, section
from diskprof.model.errors import EngineError
from diskprof.model.load import Load
from diskprof.model.run import TestResult
from diskprof.model.sample import Direction

_Parts = Sequence[tuple[int, JsonObject]]
"""Sections of documents, each to be added (1) or, the first of two, to be taken off (-1)."""


class FioCount(Struct, frozen=True):
    """What a fio had counted when it wrote a document."""

    document: JsonObject

    def since(self, earlier: Counted | None, load: Load) -> TestResult | None:
        """The result of what came after an `earlier` document of the same fio, None: from the beginning; None where that is
        nothing."""
        before = [(-1, earlier.document)] if isinstance(earlier, FioCount) else []
        return _result([*before, (1, self.document)], load)


def result_of_rounds(documents: Sequence[bytes], load: Load) -> TestResult | None:
    """One result of several final documents of the same test, one after the other; None where they hold none."""
    read = [parse_object(document) for document in documents]
    return _result([(1, document) for document in read if document is not None], load)


def _result(documents: _Parts, load: Load) -> TestResult | None:
    entries: list[list[tuple[int, JsonObject]]] = []
    for sign, document in documents:
        jobs = document.get("jobs")
        found = [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []
        if entries and len(found) != len(entries):
            return None
        entries = entries or [[] for _ in found]
        for mine, job in zip(entries, found, strict=True):
            mine.append((sign, job))
    try:
        final = read_final({"jobs": [_entry(parts) for parts in entries]})
    except EngineError:
        return None
    return without_mixed_latencies(final.result, load) if final.ios else None


def _entry(parts: _Parts) -> JsonObject:
    sync = [(sign, section(section(job, "sync"), "lat_ns")) for sign, job in parts]
    return {
        "jobname": parts[-1][1].get("jobname", ""),
        **_cpu(parts),
        **{
            direction.value: _direction([(sign, section(job, direction)) for sign, job in parts])
            for direction in Direction
        },
        "sync": {"lat_ns": _latency(sync)},
    }


def _cpu(parts: _Parts) -> JsonObject:
    """Shares of the time of each part."""
    spans = [(sign * count(job, "job_runtime"), job) for sign, job in parts]
    total = sum(span for span, _ in spans)
    shares = {name: [(span, figure(job, name)) for span, job in spans] for name in ("usr_cpu", "sys_cpu")}
    if total <= 0 or any(share is None for known in shares.values() for _, share in known):
        return {}
    return {
        name: round(max(0.0, sum(span * (share or 0.0) for span, share in known) / total), 6)
        for name, known in shares.items()
    }


def _direction(parts: _Parts) -> JsonObject:
    ios, size, runtime = (
        max(0, sum(sign * count(part, name) for sign, part in parts)) for name in ("total_ios", "io_bytes", "runtime")
    )
    return {
        "total_ios": ios,
        "io_bytes": size,
        "runtime": runtime,
        "iops": round(1000 * ios / runtime, 6) if runtime else 0.0,
        "bw_bytes": 1000 * size // runtime if runtime else 0,
        **{
            name: latency
            for name in ("slat_ns", "clat_ns", "lat_ns")
            if (latency := _latency([(sign, _numbered(section(part, name), part)) for sign, part in parts]))
        },
    }


def _numbered(latency: JsonObject, part: JsonObject) -> JsonObject:
    """A latency with the number of its I/Os, which fio tells from 3.18 on (F8)."""
    if "N" in latency or not figure(latency, "mean"):
        return latency
    bins = sum(value for value in section(latency, "bins").values() if type(value) is int)
    return {**latency, "N": bins or count(part, "total_ios")}


def _latency(parts: _Parts) -> JsonObject:
    """Empty where no I/O has one."""
    known = [(sign * number, latency) for sign, latency in parts if (number := count(latency, "N"))]
    number = sum(signed for signed, _ in known)
    if number <= 0:
        return {}
    mean = max(0.0, sum(signed * (figure(latency, "mean") or 0.0) for signed, latency in known) / number)
    # fio's deviation is over n - 1.
    squares = sum(
        (signed - (1 if signed > 0 else -1)) * (figure(latency, "stddev") or 0.0) ** 2
        + signed * (figure(latency, "mean") or 0.0) ** 2
        for signed, latency in known
    )
    spread = max(0.0, squares - number * mean * mean) / (number - 1) if number > 1 else 0.0
    bins: dict[str, int] = {}
    for signed, latency in known:
        for text, value in section(latency, "bins").items():
            if type(value) is int:
                bins[text] = bins.get(text, 0) + (value if signed > 0 else -value)
    bins = {text: value for text, value in bins.items() if value > 0}
    joined: JsonObject = {"N": number, "mean": round(mean, 6), "stddev": round(sqrt(spread), 6), **_ends(known, bins)}
    return {**joined, "bins": bins} if bins else joined


def _ends(parts: _Parts, bins: Mapping[str, int]) -> JsonObject:
    """Least and greatest: of a difference exact where it set a record, else the middle of a bucket, as in a sample."""
    last, taken = parts[-1][1], [latency for signed, latency in parts if signed < 0]
    least, most = (pick(count(latency, name) for _, latency in parts) for pick, name in ((min, "min"), (max, "max")))
    if not taken:
        return {"min": least, "max": most}
    ends: dict[str, object] = {}
    values = sorted(int(text) for text in bins if text.isdigit())
    if count(last, "min") < count(taken[0], "min"):
        ends["min"] = count(last, "min")
    elif values:
        ends["min"] = max(values[0], count(last, "min"))
    if count(last, "max") > count(taken[0], "max"):
        ends["max"] = count(last, "max")
    elif values:
        ends["max"] = min(values[-1], count(last, "max"))
    return ends
