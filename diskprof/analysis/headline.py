"""A run's result in the few words that a line of a list has room for."""

from collections.abc import Iterator, Sequence
from itertools import chain

from diskprof.analysis.expectations import measure
from diskprof.analysis.limit_found import FoundLimit, found_limit
from diskprof.analysis.map_found import FoundMap, found_map
from diskprof.model.limit import LimitBy, promises_words
from diskprof.model.metric import Quantity, format_value
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.run import DirectionResult, Latency, Run, Status, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_bandwidths, format_iops, format_latency

WIDTH = 52
"""No headline is longer."""
_LEAST_BESIDE = 0.02
"""A smaller part of a bandwidth has not two digits in its unit."""


def headline(run: Run) -> str:
    """The result of a run in at most WIDTH characters; empty where there is none."""
    if (limit := found_limit(run)) and limit.trials:
        return next((text for text in _limit(limit) if len(text) <= WIDTH), "")
    if (drawn := found_map(run)) and drawn.axes:
        return next((text for text in _map(drawn) if len(text) <= WIDTH), "")
    told = [record for record in run.apart if record.result and record.result.directions]
    # Half a test counts where there is no whole one.
    done = [record for record in told if record.status is Status.COMPLETE] or told
    if not done:
        return ""
    if run.plan.watched:
        variants = _watched(done)
    else:
        variants = _ioping(done) if all(record.engine is EngineName.IOPING for record in done) else _fio(done)
    variants = chain(_of_rounds(run), variants)
    return next((text for text in variants if text and len(text) <= WIDTH), "")


def _of_rounds(run: Run) -> Iterator[str]:
    """The latency that a run of rounds waits for: rates of its other tests are not what it is about."""
    rule = run.plan.rounds
    test = run.test(rule.test) if rule and rule.metric.quantity is Quantity.LATENCY else None
    value = measure(rule.metric, test.result) if rule and test and test.result else None
    if rule and test and value is not None:
        told = f"{rule.metric.name.replace('.', ' ')} {format_value(Quantity.LATENCY, value)}"
        yield f"{test.title}: {told}"
        yield told


def _limit(found: FoundLimit) -> Iterator[str]:
    """`1,850 IOPS at read.p99<=5ms`."""
    kept, promised = found.bracket.kept, promises_words(found.rule)
    if kept is None:
        yield f"nothing kept {promised}"
        yield "nothing kept what was promised"
        return
    depth = f"QD{kept.trial.depth}, " if found.rule.by is LimitBy.DEPTH else ""
    yield f"limit {depth}{kept.done:,.0f} IOPS at {promised}"
    yield f"limit {depth}{kept.done:,.0f} IOPS, {len(found.rule.promises)} promises"


def _map(found: FoundMap) -> Iterator[str]:
    """`map: 2.00k read IOPS, 20.0 MB/s written`."""
    yield f"map: {format_iops(found.reads or 0)} read IOPS, {format_bandwidth(found.written or 0)} written"


def is_random(planned: PlannedTest) -> bool:
    """Whether the jobs of a fio test jump about (randread, randwrite, randrw)."""
    return any(job.random for job in planned.jobs)


def _fio(records: list[TestRecord]) -> Iterator[str]:
    """From the fullest wording to the shortest; the first that fits is taken."""
    random = [record for record in records if is_random(record.planned)]
    sequential = [record for record in records if record not in random and record.engine is EngineName.FIO]
    if not random:
        yield from _synced(sequential)
    best = [(direction, value) for direction in Direction if (value := _best_iops(random, direction)) is not None]
    streams = [(direction, value) for direction in Direction if (value := _best_bandwidth(sequential, direction))]
    iops, stream = _iops_words(best), _bandwidth_words(streams)
    if iops and stream:
        yield f"rand {iops} IOPS, seq {stream}"
        yield f"rand {iops} IOPS, seq {_bandwidth_words(streams[:1])}"
    if iops:
        result = _only(random)
        latency = result.latency.shown if result else Latency()
        if latency.mean is not None and latency.p99 is not None:
            tail = f"{format_latency(latency.mean)} mean, {format_latency(latency.p99)} p99"
            yield f"rand {iops} IOPS, {tail}"
            yield f"{iops} IOPS, {tail}"
        yield f"rand {iops} IOPS"
    if stream:
        yield f"seq {stream}"
    yield from _ioping([record for record in records if record.engine is EngineName.IOPING])


def _iops_words(values: Sequence[tuple[Direction, float]]) -> str:
    """The letter of each direction beside its figure; its name where it is the only one."""
    several = len(values) > 1
    return ", ".join(f"{_name(direction, short=several)} {format_iops(value)}" for direction, value in values)


def _bandwidth_words(values: Sequence[tuple[Direction, float]]) -> str:
    """Both in one unit, where that leaves two digits of the smaller."""
    amounts = [value for _, value in values]
    if len(values) > 1 and min(amounts) > max(amounts) * _LEAST_BESIDE:
        return f"{'/'.join(_name(direction, short=True) for direction, _ in values)} {format_bandwidths(amounts)}"
    return ", ".join(f"{direction.value} {format_bandwidth(value)}" for direction, value in values)


def _name(direction: Direction, *, short: bool) -> str:
    return direction.value[0].upper() if short else direction.value


def _synced(records: list[TestRecord]) -> Iterator[str]:
    """Of the one test that waits after each write until it is safe: how long that takes is what it is run for."""
    if len(records) != 1 or not records[0].planned.load.synced:
        return
    sync = records[0].result.sync.shown if records[0].result and records[0].result.sync else None
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


def _watched(records: list[TestRecord]) -> Iterator[str]:
    parts = {direction: result for record in records if record.result for direction, result in record.result.directions}
    rates = ", ".join(f"{format_iops(result.iops)} {direction.value[0]}/s" for direction, result in parts.items())
    amount = format_bandwidth(sum(result.bandwidth_bytes_per_s for result in parts.values()))
    waits = ", ".join(
        f"{direction.value[0]}_await {format_latency(result.latency.mean)}"
        for direction, result in parts.items()
        if result.latency.mean is not None
    )
    yield f"{rates}, {amount}, {waits}" if waits else f"{rates}, {amount}"
    yield f"{rates}, {amount}"


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
