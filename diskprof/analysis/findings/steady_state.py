"""A test, or a step before the tests, that was to go on until it was steady, and was not in the time that it had."""

from diskprof.analysis.findings.view import TestView
from diskprof.model.run import Finding, Weight
from diskprof.model.steady import RoundsRule, SteadyRule, SteadyWindows, when_words
from diskprof.model.units import format_duration, format_percent


def precondition_not_steady(step: str, rule: SteadyRule, steady: SteadyWindows) -> tuple[Finding, ...]:
    """A step before the first test was not steady in its time: what comes after it is measured on a disk that still changes."""
    if steady.reached:
        return ()
    return (
        Finding(
            "precondition-not-steady",
            Weight.DOUBT,
            "Preconditioning was not steady in its time: the disk may still change during the tests.",
            f"{step}, at most {format_duration(rule.at_most_s)}: {_evidence(rule, steady)}",
            "Give it more time, or more data: a larger part of the disk.",
        ),
    )


_LEVEL = 0.005
"""A line that gains or loses less than this of the mean is neither rising nor falling."""


def steady_not_reached(view: TestView) -> Finding | None:
    """The result is that of the last windows all the same: what comes next, it does not tell."""
    rounds, steady = view.run.plan.rounds, view.result.steady
    words = when_words(rounds, steady) if rounds and steady else ""
    if steady and rounds and not steady.reached and rounds.test == view.record.name:
        return view.found(
            "steady-not-reached",
            Weight.DOUBT,
            f"{words[0].upper()}{words[1:]}: the results are those of the last {steady.count}.",
            _evidence(rounds, steady),
            "Raise at_most where there is a trend; with none, look for other load, or take longer rounds.",
        )
    rule = view.record.planned.steady
    if rule is None or steady is None or steady.reached:
        return None
    return view.found(
        "steady-not-reached",
        Weight.DOUBT,
        f"Not steady within {format_duration(rule.at_most_s)}: the result is that of the last windows.",
        _evidence(rule, steady),
        "Raise at_most where there is a trend; with none, look for other load, or take longer windows.",
    )


def _evidence(rule: SteadyRule | RoundsRule, steady: SteadyWindows) -> str:
    window = (
        f"{steady.count} windows of {format_duration(rule.window_s)}"
        if isinstance(rule, SteadyRule)
        else f"{steady.count} round{'s' * (steady.count != 1)}"
    )
    if steady.range is None or steady.slope is None:
        return f"only {window}, {rule.windows} are needed"
    trend = "level" if abs(steady.slope) < _LEVEL else "rising" if steady.slope > 0 else "falling"
    return (
        f"{rule.metric.name} of the last {window}: range {format_percent(steady.range, 1)} of the mean"
        f" (limit {format_percent(rule.range, 1)}), {trend}, slope {100 * steady.slope:+.1f}%"
        f" (limit {format_percent(rule.slope, 1)})"
    )
