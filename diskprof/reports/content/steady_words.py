"""How tests that went on until they were steady became so, in sentences."""

from collections.abc import Iterator

from diskprof.model.metric import format_value
from diskprof.model.run import Run, TestRecord
from diskprof.model.steady import SteadyRule, SteadyWindows
from diskprof.model.units import format_duration, format_percent

_FIRST = 0.05
"""Steady after less than this part of a window is steady from the beginning."""


def steady_sentences(run: Run) -> Iterator[str]:
    """`4K rand read QD32: steady after 4 min 10 s. The result is that of the last 5 windows of 10 s (...)`, a test each."""
    for test in run.tests:
        steady = test.result.steady if test.result else None
        if steady and test.planned.steady:
            yield f"{test.title}: {_sentence(test, test.planned.steady, steady)}"


def spread_words(steady: SteadyWindows) -> str:
    """`range 3%, slope -1%`; empty where there were too few windows."""
    if steady.range is None or steady.slope is None:
        return ""
    return f"range {format_percent(steady.range, 1)}, slope {100 * steady.slope:+.1f}%"


def _sentence(test: TestRecord, rule: SteadyRule, steady: SteadyWindows) -> str:
    if not steady.reached:
        when = f"not steady within {format_duration(rule.at_most_s)}"
    elif steady.after_s < _FIRST * rule.window_s:
        when = "steady from the beginning"
    else:
        when = f"steady after {format_duration(steady.after_s)}"
    count = f"{steady.count} windows" if steady.count > 1 else "window"
    spread = ", ".join(filter(None, (rule.metric.name, spread_words(steady))))
    way = ""
    if len(steady.values) > steady.count:
        first, last = steady.values[0], steady.kept[-1]
        quantity = rule.metric.quantity
        way = f" From the first window to the last: {format_value(quantity, first)} to {format_value(quantity, last)}."
    return f"{when}. The result is the last {count} of {format_duration(rule.window_s)} alone ({spread}).{way}"
