"""Steady state: a test goes on until the last windows of a figure differ little and have little trend.

As SNIA's Performance Test Specification has it: five windows, greatest and least within 20% of their mean, and a fitted line that
gains or loses no more than 10% of it from the first of them to the last.
"""

from msgspec import Struct

from diskprof.model.metric import Metric
from diskprof.model.units import format_duration

_FIRST = 0.05
"""Steady after less than this part of a window is steady from the beginning."""


class SteadyRule(Struct, frozen=True):
    """When a test is steady. `range` and `slope` are shares of the mean of `windows` windows of `window_s` seconds each.

    `range` is how far the greatest and the least may be apart; `slope` what the fitted line may gain or lose over the windows.
    After `at_most_s` seconds of measuring the test ends in any case.
    """

    metric: Metric
    windows: int = 5
    window_s: float = 10.0
    range: float = 0.20
    slope: float = 0.10
    at_most_s: float = 1800.0

    @property
    def least_s(self) -> float:
        """The shortest time in which a test can become steady."""
        return self.windows * self.window_s


class RoundsRule(Struct, frozen=True):
    """When a run whose tests are repeated in rounds is steady: as a SteadyRule, of one `test`, with rounds for windows.

    A round is each test once, in their order. After `at_most` rounds the run ends in any case.
    """

    test: str
    metric: Metric
    windows: int = 5
    range: float = 0.20
    slope: float = 0.10
    at_most: int = 25


class SteadyWindows(Struct, frozen=True):
    """How a test became steady, or did not. `values` is the figure of each window, in the unit of its metric, from the first on.

    In a run of rounds a window is a round, and `reached` is the same of all tests: whether the tracked one is steady.

    The result is that of the last windows, which lie between `begin_ns` and `end_ns` since the run began: `count` of them, with
    `range` and `slope` (of the line that fits them, rising above 0) as shares of their mean. `after_s` is how long it had measured
    before the first of them. `range` and `slope` are None where there were too few windows, or nothing was done.
    """

    reached: bool
    values: tuple[float, ...]
    count: int
    begin_ns: int
    end_ns: int
    after_s: float
    range: float | None = None
    slope: float | None = None

    @property
    def kept(self) -> tuple[float, ...]:
        """The figures of the windows that are the result."""
        return self.values[len(self.values) - self.count :]


def when_words(rule: SteadyRule | RoundsRule, steady: SteadyWindows) -> str:
    """`steady after 4 min 10 s`, `steady from the beginning`, `not steady within 30 min`; of rounds `steady after round 7`."""
    if isinstance(rule, RoundsRule):
        done = len(steady.values)
        within = "within" if done == rule.at_most else "after"
        return (
            f"steady after round {done}" if steady.reached else f"not steady {within} {done} round{'s' * (done != 1)}"
        )
    if not steady.reached:
        return f"not steady within {format_duration(rule.at_most_s)}"
    if steady.after_s < _FIRST * rule.window_s:
        return "steady from the beginning"
    return f"steady after {format_duration(steady.after_s)}"
