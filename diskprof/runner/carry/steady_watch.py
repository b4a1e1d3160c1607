"""Cuts the samples of a test into windows while it runs, and says when it is steady. Only what the result needs is kept."""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.steady import fit_windows, is_steady, result_of, window_figure, with_told
from diskprof.engines.engine import Counted
from diskprof.model.plan import PlannedTest
from diskprof.model.run import TestResult
from diskprof.model.sample import Phase, Sample
from diskprof.model.steady import SteadyRule, SteadyWindows


class _Window(Struct, frozen=True):
    """`before_ns` was measured before it began; `first` and `last` is what the engine had counted then and at its end."""

    begin_ns: int
    end_ns: int
    before_ns: int
    samples: Sequence[Sample]
    first: Counted | None
    last: Counted | None


class SteadyWatch:
    """The windows of a test. A window ends with the sample whose end is nearest to its own."""

    def __init__(self, planned: PlannedTest, rule: SteadyRule, phase: Phase) -> None:
        self.reached = False
        self._planned, self._rule, self._phase = planned, rule, phase
        self._window_ns = round(rule.window_s * 1e9)
        self._slack_ns = planned.interval_ms * 1_000_000 // 2
        self._measured_ns = self._full = 0
        """The time measured, and how many window lengths of it have passed."""
        self._open: list[Sample] = []
        self._open_ns = self._begin_ns = self._closed_ns = 0
        self._values: list[float] = []
        self._counted: Counted | None = None
        self._windows: deque[_Window] = deque(maxlen=rule.windows)

    def hear(self, samples: Sequence[Sample], counted: Counted | None = None) -> bool:
        """Samples of one interval; whether the test is steady. What comes after that is left out."""
        mine = [sample for sample in samples if sample.phase is self._phase and sample.duration_ns > 0]
        if self.reached or not mine:
            return self.reached
        at_ns, duration_ns = mine[0].at_ns, max(sample.duration_ns for sample in mine)
        if not self._open:
            self._begin_ns = self._closed_ns or at_ns - duration_ns
        self._open += mine
        self._measured_ns += duration_ns
        full = (self._measured_ns + self._slack_ns) // self._window_ns
        if full > self._full:
            self._full = full
            self._close(at_ns, counted)
        return self.reached

    def _close(self, end_ns: int, counted: Counted | None) -> None:
        self._values.append(window_figure(self._rule.metric, self._open))
        self._windows.append(_Window(self._begin_ns, end_ns, self._open_ns, tuple(self._open), self._counted, counted))
        self._counted = counted
        self._open, self._open_ns, self._closed_ns = [], self._measured_ns, end_ns
        self.reached = is_steady(self._rule, self._values)

    def result(self, whole: TestResult | None) -> TestResult | None:
        """That of the last windows; where there is none, the engine's own of the `whole` test."""
        if not self._windows:
            return whole
        samples = [sample for window in self._windows for sample in window.samples]
        result = result_of(samples, self._planned.load, self._planned.latency)
        first, last = self._windows[0].first, self._windows[-1].last
        told = last.since(first, self._planned.load) if last else None
        return replace(with_told(result, told), steady=self._steady()) if result.directions else whole

    def _steady(self) -> SteadyWindows:
        count = len(self._windows)
        fit = fit_windows(self._values[-count:])
        return SteadyWindows(
            reached=self.reached,
            values=tuple(self._values),
            count=count,
            begin_ns=self._windows[0].begin_ns,
            end_ns=self._windows[-1].end_ns,
            after_s=self._windows[0].before_ns / 1e9,
            range=fit.range if fit else None,
            slope=fit.slope if fit else None,
        )
