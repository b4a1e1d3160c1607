"""What a run that searched for a limit has found, read off its trials."""

from collections.abc import Sequence
from math import inf

from msgspec import Struct

from diskprof.analysis.expectations import measure
from diskprof.analysis.limit_search import Bracket, TrialOutcome, bracket_of, is_close
from diskprof.model.limit import LimitRule, Trial, TrialKind
from diskprof.model.run import Run, Status, TestRecord, TestResult


class TriedLoad(Struct, frozen=True):
    """One trial of a run. `figures` is what was promised of it, as it was measured, in ns; None where nothing completed."""

    test: TestRecord
    outcome: TrialOutcome
    figures: tuple[float | None, ...]


class FoundLimit(Struct, frozen=True):
    """The bracket of a run so far, and its trials in their order. `close`: the two loads are as close as they are to come."""

    rule: LimitRule
    bracket: Bracket
    trials: tuple[TriedLoad, ...]
    close: bool


def outcome_of(rule: LimitRule, trial: Trial, result: TestResult | None) -> TrialOutcome:
    """How a trial that is complete ended. One in which nothing was done kept nothing."""
    measured = list(zip(rule.promises, figures_of(rule, result), strict=True))
    kept = all(value is not None and each.operator.holds(value, each.promised) for each, value in measured)
    strain = max(inf if value is None else value / each.promised for each, value in measured)
    done = sum(part.iops for _, part in result.directions) if result else 0.0
    return TrialOutcome(trial, done, kept, strain)


def figures_of(rule: LimitRule, result: TestResult | None) -> tuple[float | None, ...]:
    """What was promised, as a trial measured it, in ns."""
    return tuple(measure(promise.metric, result) if result else None for promise in rule.promises)


def found_limit(run: Run) -> FoundLimit | None:
    """None of a run that searches for no limit. Trials that are not complete do not count."""
    rule = run.plan.limit
    if rule is None:
        return None
    trials = tuple(_tried(rule, run.tests))
    bracket = bracket_of(rule, [each.outcome for each in trials])
    return FoundLimit(rule, bracket, trials, is_close(rule, bracket))


def _tried(rule: LimitRule, tests: Sequence[TestRecord]) -> Sequence[TriedLoad]:
    return [
        TriedLoad(test, outcome_of(rule, test.planned.trial, test.result), figures_of(rule, test.result))
        for test in tests
        if test.planned.trial and test.planned.trial.kind is not TrialKind.CURVE and test.status is Status.COMPLETE
    ]
