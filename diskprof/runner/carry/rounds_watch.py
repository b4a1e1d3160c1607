"""Keeps the tests of each round of a run, and says when they are steady. Only what the result needs is kept."""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.steady import fit_windows, is_steady, round_figure, round_of
from diskprof.engines.engine import Outcome
from diskprof.engines.fio.sums import result_of_rounds
from diskprof.model.plan import Plan
from diskprof.model.run import RoundFigures, TestResult
from diskprof.model.sample import Direction
from diskprof.model.steady import RoundsRule, SteadyWindows

RoundEnd = tuple[int, TestResult, bytes]
"""What a test, by its index, has come to with a round, and the engine's document of this round."""


class _Turn(Struct, frozen=True):
    """A test in one round: when, since the run began, and how it ended."""

    begin_ns: int
    end_ns: int
    outcome: Outcome


class RoundsWatch:
    """The rounds of a plan. `number` is that of the current round, from 1; `reached` whether the last complete ones are steady.

    `hear` each test, in the order of the plan; then `close` the round.
    """

    def __init__(self, plan: Plan, rule: RoundsRule) -> None:
        self.number, self.reached = 1, False
        self._plan, self._rule = plan, rule
        self._now: list[_Turn] = []
        self._last: deque[list[_Turn]] = deque(maxlen=rule.windows)
        self._values: list[list[float]] = [[] for _ in plan.tests]
        self._figures: list[list[tuple[RoundFigures | None, RoundFigures | None]]] = [[] for _ in plan.tests]
        self._tracked = next(at for at, test in enumerate(plan.tests) if test.name == rule.test)

    @property
    def over(self) -> bool:
        """Whether no round is to come."""
        return self.reached or self.number > self._rule.at_most

    def hear(self, outcome: Outcome, begin_ns: int, end_ns: int) -> None:
        """The next test of the round is complete."""
        self._now.append(_Turn(begin_ns, end_ns, outcome))

    def close(self) -> Sequence[RoundEnd]:
        """The round is complete: what each test has come to."""
        for index, turn in enumerate(self._now):
            result = turn.outcome.result or TestResult()
            self._values[index].append(round_figure(self._rule.metric, result, tracked=index == self._tracked))
            self._figures[index].append((round_of(result.read), round_of(result.write)))
        self._last.append(self._now)
        self._now = []
        self.number += 1
        self.reached = is_steady(self._rule, self._values[self._tracked])
        return [self._end(index) for index in range(len(self._plan.tests))]

    def _end(self, index: int) -> RoundEnd:
        turns = [each[index] for each in self._last]
        load, newest = self._plan.tests[index].load, turns[-1].outcome
        result = result_of_rounds([turn.outcome.document for turn in turns], load) or newest.result or TestResult()
        read, write = (
            part and replace(part, rounds=tuple(both[at] or RoundFigures() for both in self._figures[index]))
            for at, part in enumerate(result.direction(direction) for direction in Direction)
        )
        return index, replace(result, read=read, write=write, steady=self._steady(index, turns)), newest.document

    def _steady(self, index: int, turns: Sequence[_Turn]) -> SteadyWindows:
        values = self._values[index]
        fit = fit_windows(values[-len(turns) :])
        before = len(values) - len(turns)
        return SteadyWindows(
            reached=self.reached,
            values=tuple(values),
            count=len(turns),
            begin_ns=turns[0].begin_ns,
            end_ns=turns[-1].end_ns,
            after_s=before * self._plan.tests[index].runtime_s,
            range=fit.range if fit else None,
            slope=fit.slope if fit else None,
        )
