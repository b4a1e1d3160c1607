"""Latency distributions as HdrHistogram prints them (`.hgrm`), for its plotter and others: percentiles, values in ms."""

import re
from collections.abc import Iterator, Sequence
from math import sqrt

from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.histogram import GROUPS, PER_GROUP, Histogram, bucket_value
from diskprof.model.run import DirectionResult, Run, Status

_NS_PER_MS = 1e6
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST = 150


def hgrm(runs: Sequence[Run]) -> str:
    """The one distribution that there is. Raises UsageError where there are several, DiskprofError where there is none."""
    found = hgrm_files(runs)
    if len(found) > 1:
        raise UsageError(
            f"There are {len(found)} latency distributions, and hgrm has one in a file.",
            Advice(
                "Name a directory, which gets a file for each test and direction: -o DIRECTORY/.",
                "Choose a run with one test and direction, or another format.",
            ),
        )
    (text,) = found.values()
    return text


def hgrm_files(runs: Sequence[Run]) -> dict[str, str]:
    """A text for each test and direction by the name of its file: `randread-read.hgrm`; with the run's id before it of several.

    Raises DiskprofError where no test has a distribution.
    """
    found: dict[str, str] = {}
    for run in runs:
        before = f"{run.id}-" if len(runs) > 1 else ""
        for test in run.records:
            for direction, result in test.result.directions if test.result else ():
                if test.status is Status.COMPLETE and result.histogram:
                    name = _NOT_IN_NAMES.sub("_", f"{before}{test.name}")[:_LONGEST].lstrip(".")
                    found[_unused(f"{name}-{direction}", found)] = _text(result.histogram, result)
    if not found:
        names = ", ".join(run.id for run in runs)
        raise DiskprofError(
            f"No complete test with a latency distribution in {names}.",
            "Choose a run with a complete fio test: `diskprof runs` lists them.",
        )
    return found


def _unused(name: str, taken: dict[str, str]) -> str:
    """Names that differ only in what a file's name may not have get a number."""
    number = 1
    while (whole := f"{name}{f'-{number}' if number > 1 else ''}.hgrm") in taken:
        number += 1
    return whole


def _text(histogram: Histogram, result: DirectionResult) -> str:
    mean, stddev = _moments(histogram)
    latency = result.latency
    most = bucket_value(histogram.counts[-1][0]) if latency.max is None else latency.max
    lines = [
        f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}",
        "",
        *_rows(histogram, most),
        f"#[Mean    = {(latency.mean if latency.mean is not None else mean) / _NS_PER_MS:12.6f},"
        f" StdDeviation   = {(latency.stddev if latency.stddev is not None else stddev) / _NS_PER_MS:12.6f}]",
        f"#[Max     = {most / _NS_PER_MS:12.6f}, Total count    = {histogram.total:12d}]",
        f"#[Buckets = {GROUPS:12d}, SubBuckets     = {PER_GROUP:12d}]",
    ]
    return "\n".join(lines) + "\n"


def _rows(histogram: Histogram, most: float) -> Iterator[str]:
    """A row for each bucket: the share of I/Os up to it. As HdrHistogram's, the first is of percentile 0, the last lacks 1/0."""
    total, seen = histogram.total, 0
    for index, count in histogram.counts:
        # The middle of the last bucket can lie above what was measured.
        value = min(bucket_value(index), most) / _NS_PER_MS
        if not seen:
            yield f"{value:12.6f} {0:14.12f} {count:10d} {1:14.2f}"
        seen += count
        share = seen / total
        if seen < total:
            yield f"{value:12.6f} {share:14.12f} {seen:10d} {total / (total - seen):14.2f}"
    yield f"{most / _NS_PER_MS:12.6f} {1:14.12f} {total:10d}"


def _moments(histogram: Histogram) -> tuple[float, float]:
    """Mean and standard deviation in ns, to the width of a bucket."""
    mean = histogram.mean or 0.0
    squares = sum(count * (bucket_value(index) - mean) ** 2 for index, count in histogram.counts)
    return mean, sqrt(squares / histogram.total)
