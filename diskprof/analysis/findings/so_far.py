"""Doubts about a test that still runs, by the rules that need no result of it."""

from collections.abc import Sequence

from msgspec.structs import replace

from diskprof.analysis.findings import hardware, lapses, processor
from diskprof.analysis.findings.view import Rule, TestView
from diskprof.analysis.kernel import while_measuring
from diskprof.analysis.windows import measured
from diskprof.model.preset import EngineName
from diskprof.model.run import Cpu, DirectionResult, Finding, Lapse, Latency, Run, TestResult
from diskprof.model.sample import Direction, Phase, Sample, SystemSample

_RULES: tuple[Rule, ...] = (lapses.slept, lapses.stood_still, hardware.other_io, processor.cpu_steal)


def doubts_so_far(
    run: Run,
    test: int,
    samples: Sequence[Sample],
    system: Sequence[SystemSample],
    passed: Sequence[Lapse] = (),
    cpu: Cpu | None = None,
) -> tuple[Finding, ...]:
    """Of the test by its index, over the time of these samples: the last minute, say. Nothing before it measures.

    `cpu` is what the engine's process used in this time, which fio says at its end only; without it nothing is said of busy CPUs
    beside fio.
    """
    taken = measured(samples, test)
    record = run.tests[test]
    fio = record.engine is EngineName.FIO
    # The process is all jobs together. Of ioping's CPU use the rule knows what ioping does not say.
    own = replace(cpu, reports=record.planned.load.threads) if fio and cpu else None
    result = TestResult(read=_so_far(taken, Direction.READ), write=_so_far(taken, Direction.WRITE), cpu=own)
    if not result.directions:
        return ()
    first = taken[0].at_ns - taken[0].duration_ns
    during = tuple(
        each for each in passed if each.test == test and each.phase is Phase.MEASURING and each.at_ns >= first
    )
    view = TestView(run, record, result, taken, while_measuring(samples, system, test), during)
    rules = _RULES if fio and not own else (*_RULES, processor.busy_machine)
    return tuple(finding for rule in rules if (finding := rule(view)))


def _so_far(samples: Sequence[Sample], direction: Direction) -> DirectionResult | None:
    mine = [sample for sample in samples if sample.direction is direction]
    seconds = sum(sample.duration_ns for sample in mine) / 1e9
    if not seconds:
        return None
    ios, moved = sum(sample.ios for sample in mine), sum(sample.bytes for sample in mine)
    return DirectionResult(ios, moved, ios / seconds, moved / seconds, seconds * 1e3, Latency())
