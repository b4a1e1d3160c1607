"""Doubts about a test that still runs, by the rules that need no result of it."""

from collections.abc import Sequence

from diskprof.analysis.findings import hardware, lapses, processor
from diskprof.analysis.findings.view import Rule, TestView
from diskprof.analysis.kernel import while_measuring
from diskprof.analysis.windows import measured
from diskprof.model.run import DirectionResult, Finding, Lapse, Latency, Run, TestResult
from diskprof.model.sample import Direction, Phase, Sample, SystemSample

# Not busy-machine: how much of the CPU is the test's own fio says at its end.
_RULES: tuple[Rule, ...] = (lapses.slept, lapses.stood_still, hardware.other_io, processor.cpu_steal)


def doubts_so_far(
    run: Run, test: int, samples: Sequence[Sample], system: Sequence[SystemSample], passed: Sequence[Lapse] = ()
) -> tuple[Finding, ...]:
    """Of the test by its index, over the time of these samples: the last minute, say. Nothing before it measures."""
    taken = measured(samples, test)
    result = TestResult(read=_so_far(taken, Direction.READ), write=_so_far(taken, Direction.WRITE))
    if not result.directions:
        return ()
    first = taken[0].at_ns - taken[0].duration_ns
    during = tuple(
        each for each in passed if each.test == test and each.phase is Phase.MEASURING and each.at_ns >= first
    )
    view = TestView(run, run.tests[test], result, taken, while_measuring(samples, system, test), during)
    return tuple(finding for rule in _RULES if (finding := rule(view)))


def _so_far(samples: Sequence[Sample], direction: Direction) -> DirectionResult | None:
    mine = [sample for sample in samples if sample.direction is direction]
    seconds = sum(sample.duration_ns for sample in mine) / 1e9
    if not seconds:
        return None
    ios, moved = sum(sample.ios for sample in mine), sum(sample.bytes for sample in mine)
    return DirectionResult(ios, moved, ios / seconds, moved / seconds, seconds * 1e3, Latency())
