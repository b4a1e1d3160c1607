"""A run's result in the few words that a line of a list has room for."""

from collections.abc import Iterator

from diskprof.analysis.options import asked
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.run import DirectionResult, Run, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_bandwidths, format_iops, format_latency

WIDTH = 52
"""No headline is longer."""
_LEAST_BESIDE = 0.02
"""A smaller part of a bandwidth has not two digits in its unit."""


def headline(run: Run) -> str:
    """The result of a run in at most WIDTH characters; empty where there is none."""
    done = [record for record in run.tests if record.result and record.result.directions]
    if not done:
        return ""
    variants = _ioping(done) if all(record.engine is EngineName.IOPING for record in done) else _fio(done)
    return next((text for text in variants if text and len(text) <= WIDTH), "")


def is_random(planned: PlannedTest) -> bool:
    """Whether the jobs of a fio test jump about (randread, randwrite, randrw)."""
    return any(job.rw.startswith("rand") for job in planned.jobs)


def _fio(records: list[TestRecord]) -> Iterator[str]:
    """From the fullest wording to the shortest; the first that fits is taken."""
    random = [record for record in records if is_random(record.planned)]
    sequential = [record for record in records if record not in random and record.engine is EngineName.FIO]
    if not random:
        yield from _synced(sequential)
    read, write = _best_iops(random, Direction.READ), _best_iops(random, Direction.WRITE)
    streams = [(direction, value) for direction in Direction if (value := _best_bandwidth(sequential, direction))]
    iops = ", ".join(
        f"{word} {format_iops(value)}" for word, value in (("read", read), ("write", write)) if value is not None
    )
    stream = ", ".join(f"{direction.value} {format_bandwidth(value)}" for direction, value in streams)
    if iops and stream:
        yield f"rand {iops} IOPS, seq {stream}"
    if read is not None and write is not None and len(streams) == 2:
        values = [value for _, value in streams]
        if min(values) > max(values) * _LEAST_BESIDE:
            yield f"rand R {format_iops(read)}, W {format_iops(write)} IOPS, seq R/W {format_bandwidths(values)}"
    if iops and stream:
        yield f"rand {iops} IOPS, seq {stream.split(', ')[0]}"
    if iops:
        result = _only(random)
        if result and result.latency.mean is not None and result.latency.p99 is not None:
            tail = f"{format_latency(result.latency.mean)} mean, {format_latency(result.latency.p99)} p99"
            yield f"rand {iops} IOPS, {tail}"
            yield f"{iops} IOPS, {tail}"
        yield f"rand {iops} IOPS"
    if stream:
        yield f"seq {stream}"
    yield from _ioping([record for record in records if record.engine is EngineName.IOPING])


def _synced(records: list[TestRecord]) -> Iterator[str]:
    """Of the one test that waits after each write until it is safe: how long that takes is what it is run for."""
    if len(records) != 1 or not asked(records[0].planned).synced:
        return
    sync = records[0].result.sync if records[0].result else None
    if sync and sync.mean is not None and sync.p99 is not None:
        yield f"fsync {format_latency(sync.mean)} mean, {format_latency(sync.p99)} p99"


def _ioping(records: list[TestRecord]) -> Iterator[str]:
    for record in records[:1]:
        result = _only([record])
        if result is None:
            return
        mean, worst = result.latency.mean, result.latency.max
        rapid = result.ios >= 100
        if mean is None:
            yield f"{format_iops(result.iops)} IOPS"
        elif rapid:
            yield f"{format_iops(result.iops)} IOPS, latency {format_latency(mean)}"
        elif worst is not None:
            yield f"latency {format_latency(mean)} mean, {format_latency(worst)} max"
        else:
            yield f"latency {format_latency(mean)}"


def _results(records: list[TestRecord], direction: Direction) -> Iterator[DirectionResult]:
    for record in records:
        if record.result and (result := record.result.direction(direction)):
            yield result


def _best_iops(records: list[TestRecord], direction: Direction) -> float | None:
    return max((result.iops for result in _results(records, direction)), default=None)


def _best_bandwidth(records: list[TestRecord], direction: Direction) -> float | None:
    return max((result.bandwidth_bytes_per_s for result in _results(records, direction)), default=None)


def _only(records: list[TestRecord]) -> DirectionResult | None:
    """The one direction of the one test, if there is just one."""
    results = [result for direction in Direction for result in _results(records, direction)]
    return results[0] if len(results) == 1 else None
