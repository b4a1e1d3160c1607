"""A series: a plan for each of its targets, carried out several times, one run after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from diskprof.model.metric import Quantity
from diskprof.model.run import Status
from diskprof.model.sample import Direction

LEAST_FOR_INTERVAL = 6
"""So many repeats make a 95% interval of the median; fewer have a range only."""


class TargetOrder(StrEnum):
    """ALTERNATED: A B B A A B, so that drift of the machine falls on all. IN_ORDER: A A A B B B."""

    ALTERNATED = "alternated"
    IN_ORDER = "in order"


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often a series repeats: `repeats` times each target, or `until` the interval of every headline figure is within this
    share of its median. Exactly one of them is given.

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


@dataclass(frozen=True, slots=True)
class NewSeries:
    """What a series begins with: the path of each target, and how often it repeats."""

    targets: tuple[str, ...]
    wanted: Repetition


@dataclass(frozen=True, slots=True)
class Spread:
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
        return max(self.high - self.median, self.median - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True, slots=True)
class RunSeries:
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
