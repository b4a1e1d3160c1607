"""The trials of a run that searches for a limit: what each came to, and the test that is next."""

from msgspec.structs import replace

from diskprof.analysis.limit_found import figures_of, outcome_of
from diskprof.analysis.limit_search import TrialOutcome, bracket_of, next_trial
from diskprof.analysis.load_curve import curve_loads
from diskprof.engines.engine import Outcome
from diskprof.engines.fio.reader import fio_argv
from diskprof.model.limit import LimitRule, Trial, TrialKind, promise_words
from diskprof.model.plan import PlannedTest
from diskprof.model.units import format_latency
from diskprof.presets.limit_trials import trial_job, trial_name, trial_title


class LimitWatch:
    """`next` gives the tests one after the other, the first of which is the one that was planned; `hear` each that is complete.

    Behind the trials of the search come those of the load curve, where there is to be one.
    """

    def __init__(self, rule: LimitRule, first: PlannedTest) -> None:
        self._rule, self._first = rule, first
        self._outcomes: list[TrialOutcome] = []
        self._began_ns: int | None = None
        self._spent_s = 0.0
        self._curve: list[Trial] | None = None

    def next(self) -> PlannedTest | None:
        """None where the search is over."""
        trial = next_trial(self._rule, self._outcomes, self._spent_s)
        if trial is None:
            if self._curve is None:
                self._curve = list(curve_loads(self._rule, bracket_of(self._rule, self._outcomes)))
            return planned_trial(self._rule, self._first, self._curve.pop(0), 1) if self._curve else None
        times = sum(outcome.trial.load == trial.load for outcome in self._outcomes)
        return planned_trial(self._rule, self._first, trial, times + 1)

    def hear(self, trial: Trial, outcome: Outcome, begin_ns: int, end_ns: int) -> str:
        """A trial is complete, from and until so many ns since the run began; what it came to, in words."""
        if trial.kind is TrialKind.CURVE:
            told = outcome_of(self._rule, trial, outcome.result)
            return f"{told.done:,.0f} IOPS of {trial.rate:,}/s ({self._figures(outcome)})."
        if self._began_ns is None:
            self._began_ns = begin_ns
        self._spent_s = (end_ns - self._began_ns) / 1e9
        told = outcome_of(self._rule, trial, outcome.result)
        self._outcomes.append(told)
        return f"{told.done:,.0f} IOPS {'kept it' if told.kept else 'did not keep it'} ({self._figures(outcome)})."

    def _figures(self, outcome: Outcome) -> str:
        figures = zip(self._rule.promises, figures_of(self._rule, outcome.result), strict=True)
        return ", ".join(
            f"{promise_words(each)}: {format_latency(value) if value is not None else 'nothing done'}"
            for each, value in figures
        )


def planned_trial(rule: LimitRule, first: PlannedTest, trial: Trial, number: int) -> PlannedTest:
    """The test of a trial, the `number`-th of its load, made of the first one of the search."""
    if trial == first.trial and number == 1:
        return first
    (template,) = first.load.fio
    job = trial_job(template, rule, trial)
    argv = fio_argv(
        first.argv[0],
        (job,),
        interval_ms=first.interval_ms,
        read_only=not first.bytes_written,
        latency=first.latency,
    )
    longer = rule.measuring_s(trial) / first.runtime_s
    return replace(
        first,
        name=trial_name(trial, number),
        title=trial_title(template, trial, number),
        argv=argv,
        jobs=(job,),
        runtime_s=rule.measuring_s(trial),
        bytes_written=round(first.bytes_written * longer),
        trial=trial,
    )
