"""How tests that went on until they were steady became so, in sentences."""

from collections.abc import Iterator, Sequence

from diskprof.model.metric import format_value
from diskprof.model.run import Run, TestRecord
from diskprof.model.steady import SteadyRule, SteadyWindows, when_words
from diskprof.model.units import format_duration, format_percent
from diskprof.presets.steady_text import steady_words

_NAMED = 6


def steady_sentences(run: Run) -> Iterator[str]:
    """`4K rand read QD32: steady after 4 min 10 s. The result is that of the last 5 windows of 10 s (...)`, a test each."""
    swept = []
    for test in run.tests:
        steady = test.result.steady if test.result else None
        if steady and test.planned.steady and test.planned.cell:
            swept.append((test, test.planned.steady, steady))
        elif steady and test.planned.steady:
            yield f"{test.title}: {_sentence(test, test.planned.steady, steady)}"
    if swept:
        yield _of_cells(swept)


def _of_cells(cells: Sequence[tuple[TestRecord, SteadyRule, SteadyWindows]]) -> str:
    """`54 of 56 cells steady, after at most 2 min. Not steady: iops-rwmixread0-4k, ...`"""
    rules = {steady_words(rule) for _, rule, _ in cells}
    rule = f" ({rules.pop()})" if len(rules) == 1 else ""
    after = max((steady.after_s for _, _, steady in cells if steady.reached), default=0.0)
    late = [test.name for test, _, steady in cells if not steady.reached]
    when = f", after at most {format_duration(after)}" if len(late) < len(cells) else ""
    named = ", ".join(late[:_NAMED]) + (f" and {len(late) - _NAMED} more" if len(late) > _NAMED else "")
    told = f"{len(cells) - len(late)} of {len(cells)} cells steady{when}{rule}."
    return f"{told} Not steady: {named}." if late else told


def spread_words(steady: SteadyWindows) -> str:
    """`range 3%, slope -1%`; empty where there were too few windows."""
    if steady.range is None or steady.slope is None:
        return ""
    return f"range {format_percent(steady.range, 1)}, slope {100 * steady.slope:+.1f}%"


def _sentence(test: TestRecord, rule: SteadyRule, steady: SteadyWindows) -> str:
    when = when_words(rule, steady)
    count = f"{steady.count} windows" if steady.count > 1 else "window"
    spread = ", ".join(filter(None, (rule.metric.name, spread_words(steady))))
    way = ""
    if len(steady.values) > steady.count:
        first, last = steady.values[0], steady.kept[-1]
        quantity = rule.metric.quantity
        way = f" From the first window to the last: {format_value(quantity, first)} to {format_value(quantity, last)}."
    return f"{when}. The result is the last {count} of {format_duration(rule.window_s)} alone ({spread}).{way}"
