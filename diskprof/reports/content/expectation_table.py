"""What was promised of a run and whether it was kept, in words: the command line, reports and screens show these rows."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.expectations import judge, measured_seconds
from diskprof.model.expectation import Expectation, Judgement, Verdict
from diskprof.model.plan import Plan
from diskprof.model.run import Run
from diskprof.model.units import format_duration
from diskprof.reports import figures
from diskprof.reports.words import NOT_YET, STATUSES, VERDICTS

_TOLD = 3
_BRIEF_S = 1.0
"""Of a test that measured for less, that is told beside the verdict."""


class ExpectationRow(Struct, frozen=True):
    """One promise. Words are ready to be shown but for foreign text (`test`, `basis`), which is as it came.

    `promised` is such as `>= 5,000`, `basis` how it came about; `word` the verdict; `note` how short the test was, or why
    that is inconclusive.
    """

    test: str
    metric: str
    promised: str
    basis: str
    measured: str
    ratio: str
    word: str
    note: str
    verdict: Verdict
    judgement: Judgement

    @property
    def remarks(self) -> str:
        """Basis and note on one line; empty where there is neither."""
        return "; ".join(part for part in (self.basis, self.note) if part)


def rows(run: Run) -> tuple[ExpectationRow, ...]:
    """A row for every expectation of the run's plan, in their order; empty where nothing was promised."""
    return tuple(_row(run, judgement) for judgement in judge(run))


def _row(run: Run, judgement: Judgement) -> ExpectationRow:
    expected = judgement.expectation
    promised, measured = figures.amounts(expected.metric.quantity, expected.promised, judgement.measured)
    early = judgement.verdict is Verdict.UNMEASURED and not run.status.over
    return ExpectationRow(
        test=run.title(expected.test),
        metric=figures.promised_metric(expected.metric),
        promised=f"{figures.OPERATORS[expected.operator]} {promised}",
        basis=expected.basis,
        measured=measured,
        ratio=figures.promised_ratio(judgement.ratio),
        word=NOT_YET if early else VERDICTS[judgement.verdict].word,
        note=_note(run, judgement),
        verdict=judgement.verdict,
        judgement=judgement,
    )


def _note(run: Run, judgement: Judgement) -> str:
    test, expected = run.test(judgement.expectation.test), judgement.expectation
    if test is None or test.result is None or judgement.verdict is Verdict.UNMEASURED:
        return ""
    exact = measured_seconds(test.result)
    seconds = round(exact, 1) if exact >= _BRIEF_S else exact
    if not exact:
        return "measured for less than 1 ms: inconclusive"
    if judgement.verdict is not Verdict.TOO_SHORT:
        return f"measured for {format_duration(seconds)} only" if seconds < _BRIEF_S else ""
    if expected.seconds:
        return too_short(seconds, expected)
    return f"{STATUSES[test.status].word} after {format_duration(seconds)}: inconclusive"


def too_short(seconds: float, expected: Expectation) -> str:
    """Why a test of so many seconds does not show that a promise is kept."""
    needed = format_duration(expected.seconds)
    return f"{format_duration(seconds)}: inconclusive, needs {needed}"


def missed_sentence(found: Sequence[ExpectationRow]) -> str:
    """`Missed 1 of 5 expectations: rand-r read IOPS 4,210 (at least 5,000; 84%).` Empty where none is missed."""
    missed = [row for row in found if row.verdict is Verdict.MISSED]
    if not missed:
        return ""
    told = [f"{row.test} {row.metric} {row.measured} ({row.promised}; {row.ratio})" for row in missed[:_TOLD]]
    if len(missed) > _TOLD:
        told.append(f"and {len(missed) - _TOLD} more")
    return f"Missed {len(missed)} of {figures.count(len(found), 'expectation')}: {', '.join(told)}."


def kept_sentence(found: Sequence[ExpectationRow]) -> str:
    """What can be said of the others: `3 of 5 expectations met, 1 inconclusive.` Empty where nothing was promised."""
    words: dict[str, int] = {}
    for row in found:
        if row.verdict is not Verdict.MISSED:
            words[row.word] = words.get(row.word, 0) + 1
    if not words:
        return ""
    (first, times), *others = words.items()
    whole = figures.count(len(found), "expectation")
    if times == len(found):
        return f"{whole if times == 1 else f'All {whole}'} {first}."
    return f"{', '.join([f'{times} of {whole} {first}', *(f'{count} {word}' for word, count in others)])}."


def expected_words(expected: Expectation) -> str:
    """`read IOPS at least 5,000`."""
    promised, _ = figures.amounts(expected.metric.quantity, expected.promised, None)
    return f"{figures.promised_metric(expected.metric)} {figures.OPERATORS[expected.operator]} {promised}"


def judged_words(judgement: Judgement) -> str:
    """`4,210 MISSED`; the verdict alone where nothing was measured."""
    expected = judgement.expectation
    word = VERDICTS[judgement.verdict].word
    _, measured = figures.amounts(expected.metric.quantity, expected.promised, judgement.measured)
    return word if judgement.measured is None else f"{measured} {word}"


def planned(plan: Plan) -> tuple[tuple[str, str], ...]:
    """(title of the test, what is expected) for each expectation of a plan, with its basis and whether it runs long enough."""
    seconds = {test.name: test.runtime_s for test in plan.tests}
    found = []
    for expected in plan.expectations:
        parts = [expected.basis] if expected.basis else []
        if (runs := seconds.get(expected.test.partition(".")[0])) is not None and runs < expected.seconds:
            parts.append(too_short(runs, expected))
        told = f" ({'; '.join(parts)})" if parts else ""
        found.append((plan.title(expected.test), f"{expected_words(expected)}{told}"))
    return tuple(found)
