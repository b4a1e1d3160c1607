"""What this disk did, in a sentence."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.model.preset import WATCHING, EngineName
from diskprof.model.run import DirectionResult, Run, Status, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.steady import when_words
from diskprof.model.units import format_bandwidth, format_iops, format_latency, format_size
from diskprof.reports import figures
from diskprof.reports.content import expectation_table
from diskprof.reports.content.limit_report import limit_sentence
from diskprof.reports.content.map_report import map_sentence
from diskprof.reports.content.rounds_report import kept_words, told_figure
from diskprof.reports.content.sweep_tables import verdict_sentences
from diskprof.reports.words import DIRECTIONS, STATUSES

_FEW = 100


class _Figure(Struct, frozen=True):
    """One direction of one test, and what kind of test that was."""

    kind: str
    depth: int
    random: bool
    result: DirectionResult


def verdict(run: Run) -> str:
    """The result in words: promises that were missed, a sentence for each kind of test, and what else was promised.

    Where there is no result, why.
    """
    promised = expectation_table.rows(run)
    missed, kept = expectation_table.missed_sentence(promised), expectation_table.kept_sentence(promised)
    return " ".join(text for text in (missed, _results(run), kept) if text)


def _results(run: Run) -> str:
    if run.plan.limit:
        return limit_sentence(run) or f"No result: {STATUSES[run.status].word}."
    if run.plan.read_write_map:
        return map_sentence(run) or f"No result: {STATUSES[run.status].word}."
    figures: list[_Figure] = []
    sentences: list[str] = []
    for test in run.apart:
        if not test.result or not test.result.directions or test.planned.cell:
            continue
        if test.engine is EngineName.IOPING:
            sentences.append(_ioping(test))
        elif test.engine in WATCHING:
            sentences.append(_watched(test))
        elif len(test.planned.jobs) == 1:
            figures += _figures(test)
        else:
            sentences.append(_several_jobs(test))
    kinds = dict.fromkeys(figure.kind for figure in figures)
    sentences = [_kind([figure for figure in figures if figure.kind == kind]) for kind in kinds] + sentences
    sentences += verdict_sentences(run)
    if sentences and run.plan.rounds and run.rounds and run.status is Status.COMPLETE:
        sentences.insert(0, f"{when_words(run.plan.rounds, run.rounds)}, {told_figure(run)}")
    if not sentences:
        return f"No result: {STATUSES[run.status].word}."
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def unfinished(run: Run) -> str:
    """`Cancelled: 2 of 6 tests complete.`: that the results are not all there; empty if they are, or if there are none."""
    complete = sum(test.status is Status.COMPLETE for test in run.tests)
    if run.status is Status.COMPLETE or not any(test.result for test in run.tests):
        return ""
    word = STATUSES[run.status].word
    if run.plan.search:
        # Its sentence says so.
        return ""
    if steady := run.rounds:
        return f"{word[0].upper()}{word[1:]} in round {len(steady.values) + 1}: the results are those of {kept_words(steady)}."
    return f"{word[0].upper()}{word[1:]}: {complete} of {figures.count(len(run.tests), 'test')} complete."


def _figures(test: TestRecord) -> list[_Figure]:
    job, result = test.planned.jobs[0], test.result
    assert result is not None
    random = job.random
    size = format_size(job.block_size)
    mixed = len(result.directions) > 1
    depth = test.planned.load.depth
    return [
        _Figure(
            f"{'mixed ' if mixed else ''}{'random' if random else 'sequential'} {size} {DIRECTIONS[direction].word}s",
            depth,
            random,
            figures,
        )
        for direction, figures in result.directions
    ]


def _kind(figures: Sequence[_Figure]) -> str:
    """`random 4 KiB reads: 17.6k IOPS at QD1 (mean 56 us, p99 103 us), 286k IOPS at QD32`."""
    least, most = (pick(figures, key=lambda figure: figure.depth) for pick in (min, max))
    shown = [least] if least.depth == most.depth else [least, most]
    return f"{figures[0].kind}: {', '.join(_one(figure, figure is least) for figure in shown)}"


def _one(figure: _Figure, with_latency: bool) -> str:
    result, latency = figure.result, figure.result.latency.shown
    depth = f"at QD{figure.depth}"
    if not figure.random:
        return f"{format_bandwidth(result.bandwidth_bytes_per_s)} {depth}"
    known = [
        f"{name} {format_latency(value)}" for name, value in (("mean", latency.mean), ("p99", latency.p99)) if value
    ]
    tail = f" ({', '.join(known)})" if known and with_latency else ""
    return f"{format_iops(result.iops)} IOPS {depth}{tail}"


def _ioping(test: TestRecord) -> str:
    ((direction, result),) = test.result.directions[:1] if test.result else ()
    name, latency = DIRECTIONS[direction].word, result.latency.shown
    size = format_size(result.bytes // result.ios) if result.ios else ""
    what = f"{'cached ' if test.planned.load.cached else ''}{size} {name}"
    mean = f"{format_latency(latency.mean)} on average" if latency.mean is not None else ""
    if result.ios < _FEW:
        slowest = f", {format_latency(latency.max)} at the slowest" if latency.max is not None else ""
        return f"one {what} took {mean}{slowest} ({figures.count(result.ios, 'request')})"
    linear = any(job.rw == Direction.READ for job in test.planned.jobs)
    rate = format_bandwidth(result.bandwidth_bytes_per_s) if linear else f"{format_iops(result.iops)} IOPS"
    return f"{what}s {rate} at QD1" + (f" ({mean})" if mean else "")


def _watched(test: TestRecord) -> str:
    """`others read 705 IOPS, 2.89 MB/s (await 1.05 ms) and wrote ...`."""
    verbs = {Direction.READ: "read", Direction.WRITE: "wrote"}
    wait = "await" if test.engine is EngineName.KERNEL else "mean"
    parts = [
        f"{verbs[direction]} {format_iops(result.iops)} IOPS, {format_bandwidth(result.bandwidth_bytes_per_s)}"
        + (f" ({wait} {format_latency(result.latency.mean)})" if result.latency.mean is not None else "")
        for direction, result in (test.result.directions if test.result else ())
    ]
    return f"others {' and '.join(parts)}"


def _several_jobs(test: TestRecord) -> str:
    parts = [
        f"{DIRECTIONS[direction].word} {format_iops(result.iops)} IOPS, {format_bandwidth(result.bandwidth_bytes_per_s)}"
        for direction, result in (test.result.directions if test.result else ())
    ]
    return f"{test.title}: {' and '.join(parts)}"
