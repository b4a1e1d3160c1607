"""Where a run stands, by a monotonic clock: fio's own eta is nonsense for the first seconds (F5)."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from diskprof.model.limit import LimitRule
from diskprof.model.plan import START_UP_S, Plan, PlannedTest
from diskprof.model.read_write_map import MapRule
from diskprof.model.run import Progress
from diskprof.model.sample import Phase, Sample


class ProgressMeter:
    """Progress of a run. `begin` at each process, `heard` at each sample; `clock` gives ns since the run began."""

    def __init__(self, plan: Plan, clock: Callable[[], int]) -> None:
        self._plan, self._clock = plan, clock
        self.test, self.phase = 0, Phase.PREPARING
        self.round = 1
        """The current one of the rounds of a run; 1 where there are none."""
        self._planned = (*plan.preparation, *plan.tests)[0]
        self._began = self._heard = self._phase_began = clock()
        self._bytes = 0
        self._search_began: int | None = None

    def add(self, planned: PlannedTest) -> None:
        """A search goes on with this test."""
        self._plan = replace(self._plan, tests=(*self._plan.tests, planned))

    def begin(self, test: int, planned: PlannedTest, phase: Phase) -> None:
        """A process starts; with a ramp its first phase is warming up."""
        self.test, self._planned, self._bytes = test, planned, 0
        self._began = self._heard = self._clock()
        if self._search_began is None and phase is Phase.MEASURING:
            self._search_began = self._began
        self.enter(Phase.WARMING if planned.ramp_s and phase is Phase.MEASURING else phase)

    def enter(self, phase: Phase) -> None:
        self.phase, self._phase_began = phase, self._clock()

    def heard(self, samples: Sequence[Sample]) -> None:
        self._heard = self._clock()
        self._bytes += sum(sample.bytes for sample in samples)

    @property
    def silent_s(self) -> float:
        return (self._clock() - self._heard) / 1e9

    def progress(self) -> Progress:
        """The state now. Fractions stay below 1 until the next step begins; time left is None when overdue."""
        done = self._fraction_of_test()
        tests = self._plan.tests
        left = [test.likely_seconds + START_UP_S for test in tests[self.test + 1 :]]
        if self._plan.search:
            left.append(self._searching_s(self._plan.search))
        left.append(max(0, self._plan.least_rounds - self.round) * (self._plan.round_s() + START_UP_S * len(tests)))
        this = self._remaining_s(done)
        if self._preparing:
            steps = self._plan.preparation
            later = next((steps[at + 1 :] for at, step in enumerate(steps) if step is self._planned), ())
            left += [step.likely_seconds + START_UP_S for step in (*later, self._plan.tests[self.test])]
        remaining = None if this is None else this + sum(left)
        elapsed = self._clock() / 1e9
        overall = elapsed / (elapsed + remaining) if remaining is not None and elapsed + remaining > 0 else 0.99
        return Progress(
            test=self.test,
            phase=self.phase,
            fraction=self._fraction_of_phase(done),
            overall=min(overall, 0.999),
            remaining_s=remaining,
            at_ns=self._clock(),
            silent_s=self.silent_s if self.silent_s >= 1 else 0.0,
        )

    def _searching_s(self, rule: LimitRule | MapRule) -> float:
        """What a search is likely to take after the current trial."""
        if self._search_began is None:
            return rule.likely_s - self._plan.tests[0].seconds
        into = (self._began - self._search_began) / 1e9
        return max(0.0, rule.likely_s - into - self._planned.seconds)

    @property
    def _preparing(self) -> bool:
        return any(self._planned is step for step in self._plan.preparation)

    def _fraction_of_test(self) -> float:
        elapsed = (self._clock() - self._began) / 1e9
        by_time = elapsed / (self._planned.seconds + START_UP_S)
        if self._planned.amount_bytes:
            by_amount = self._bytes / self._planned.amount_bytes
            # Laying out takes the time that it takes: only the amount tells. A test may end by either.
            by_time = by_amount if self._preparing else max(by_amount, by_time)
        return min(by_time, 0.999)

    def _fraction_of_phase(self, done: float) -> float:
        if not self._planned.ramp_s or self._preparing:
            return done
        elapsed = (self._clock() - self._phase_began) / 1e9
        length = (
            self._planned.delay_s + self._planned.ramp_s
            if self.phase is Phase.WARMING
            else self._planned.runtime_s + START_UP_S
        )
        return min(elapsed / length, 0.999) if length else done

    def _remaining_s(self, done: float) -> float | None:
        elapsed = (self._clock() - self._began) / 1e9
        if self._preparing or self._planned.amount_bytes:
            if done > 0.01:
                return elapsed * (1 - done) / done
            return max(0.0, self._planned.likely_seconds - elapsed) or None
        return max(0.0, self._planned.seconds + START_UP_S - elapsed)
