"""A series: a plan for each of its targets, carried out several times, one run after the other."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from math import ceil, inf

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.metric import Quantity
from diskprof.model.plan import Plan
from diskprof.model.run import Status
from diskprof.model.sample import Direction

_LETTERS = 26
_LEAST_CAP_S = 1200.0
_ROUNDS_OF_CAP = 10
LEAST_FOR_INTERVAL = 6
"""So many repeats make a 95% interval of the median; fewer have a range only."""


def letter(arm: int) -> str:
    """What a target is called where there are several: A, B, C."""
    return chr(ord("A") + arm) if arm < _LETTERS else str(arm + 1)


class TargetOrder(StrEnum):
    """ALTERNATED: A B B A A B, so that drift of the machine falls on all. IN_ORDER: A A A B B B."""

    ALTERNATED = "alternated"
    IN_ORDER = "in order"


class Repetition(Struct, frozen=True):
    """How often a series or a fleet run repeats: `repeats` times each target, or `until` the interval of every headline figure is
    within this share of its median. Exactly one of them is given.

    After `at_most_s` seconds no round begins that would end later. `pause_s` is the time between two runs.
    """

    repeats: int | None = None
    until: float | None = None
    at_most_s: float | None = None
    pause_s: float = 0.0
    order: TargetOrder = TargetOrder.ALTERNATED

    def turns(self, arms: int) -> Iterator[tuple[int, int]]:
        """(repeat, arm) of each run in its order; without end where `repeats` is not given."""
        if self.order is TargetOrder.IN_ORDER and self.repeats is not None:
            yield from ((repeat, arm) for arm in range(arms) for repeat in range(1, self.repeats + 1))
            return
        repeat = 0
        while self.repeats is None or repeat < self.repeats:
            repeat += 1
            there = range(arms)
            yield from ((repeat, arm) for arm in (there if repeat % 2 else reversed(there)))

    def capped(self, round_s: float) -> "Repetition":
        """With a cap where `until` was given without one: ten rounds of so many seconds, 20 minutes at the least."""
        if self.until is None or self.at_most_s is not None:
            return self
        return replace(self, at_most_s=ceil(max(_LEAST_CAP_S, _ROUNDS_OF_CAP * round_s) / 60) * 60.0)

    def most_rounds(self, round_s: float) -> int:
        """So many rounds of `round_s` seconds, the pause after each included; of `until` as many as an interval needs."""
        cap = self.at_most_s
        fitting = None if cap is None or not round_s else max(1, int((cap + self.pause_s) / round_s))
        known = [count for count in (self.repeats, fitting) if count is not None]
        return min(known) if known else LEAST_FOR_INTERVAL

    def least_s(self, round_s: float) -> float:
        """What it takes at the least: of `until` so many rounds as an interval needs."""
        rounds = LEAST_FOR_INTERVAL if self.repeats is None else min(self.repeats, self.most_rounds(round_s))
        return rounds * round_s - self.pause_s


ONCE = Repetition(repeats=1)


class SeriesPlan(Struct, frozen=True):
    """The plan of each target, and how often they are carried out."""

    plans: tuple[Plan, ...]
    wanted: Repetition

    @staticmethod
    def of(plans: tuple[Plan, ...], wanted: Repetition) -> "SeriesPlan":
        """With a cap where `until` was given without one: ten rounds, 20 minutes at the least."""
        return SeriesPlan(plans, wanted.capped(SeriesPlan(plans, wanted).round_s))

    @property
    def targets(self) -> tuple[str, ...]:
        """The path of each target, where a preset has several those of all."""
        return tuple(", ".join(target.path for target in plan.targets) for plan in self.plans)

    @property
    def new(self) -> "NewSeries":
        """What the store is told with the first run."""
        return NewSeries(self.targets, self.wanted)

    @property
    def round_s(self) -> float:
        """What one run of each target likely takes, with the pauses after them."""
        return sum(plan.likely_seconds + self.wanted.pause_s for plan in self.plans)

    @property
    def least_s(self) -> float:
        """What it takes at the least: of `until` so many rounds as an interval needs."""
        return self.wanted.least_s(self.round_s)

    @property
    def most_rounds(self) -> int:
        """So many repeats of each target, fewer where one ends it before."""
        return self.wanted.most_rounds(self.round_s)

    @property
    def runs(self) -> int:
        """Of `most_rounds`."""
        return self.most_rounds * len(self.plans)

    @property
    def bytes_written(self) -> int:
        """By `most_rounds`."""
        return self.most_rounds * sum(plan.bytes_written for plan in self.plans)

    @property
    def writes_exact(self) -> bool:
        return self.wanted.repeats is not None and all(plan.writes_exact for plan in self.plans)


class NewSeries(Struct, frozen=True):
    """What a series begins with: the path of each target, and how often it repeats."""

    targets: tuple[str, ...]
    wanted: Repetition


class Spread(Struct, frozen=True):
    """How far apart the repeats are in the headline figure where that is most, after `repeats` of each target.

    `low` to `high` is the 95% interval of the median, or, where `range_only`, from the lowest to the highest of too few.
    `median`, `low` and `high` are I/Os or bytes per second, or ns.
    """

    repeats: int
    arm: int
    test: str
    direction: Direction
    quantity: Quantity
    median: float
    low: float
    high: float
    range_only: bool = False

    @property
    def share(self) -> float:
        """How far the farther end is from the median, as a share of it."""
        apart = max(self.high - self.median, self.median - self.low)
        return apart / self.median if self.median else (inf if apart else 0.0)

    def within(self, share: float) -> bool:
        """Whether the interval is that narrow; never of a range only."""
        return not self.range_only and self.share <= share


class RunSeries(Struct, frozen=True):
    """A series as it is in the store, without its runs. `targets` are paths; the index of each is the arm of its runs.

    Times are UTC. `spreads` has an entry for each round that is complete.
    """

    id: str
    status: Status
    reason: str
    preset: str
    preset_title: str
    targets: tuple[str, ...]
    wanted: Repetition
    started_at: datetime
    ended_at: datetime | None = None
    spreads: tuple[Spread, ...] = ()
