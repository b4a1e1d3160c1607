"""What somebody promised of a disk, and whether it was kept."""

from dataclasses import dataclass
from enum import StrEnum

from diskprof.model.metric import Metric


class Operator(StrEnum):
    AT_LEAST = ">="
    MORE_THAN = ">"
    AT_MOST = "<="
    LESS_THAN = "<"

    @property
    def is_minimum(self) -> bool:
        return self in (Operator.AT_LEAST, Operator.MORE_THAN)

    def holds(self, measured: float, promised: float, tolerance: float = 0.0) -> bool:
        """Whether `measured` keeps what was promised, short of it by no more than the share `tolerance`."""
        promised *= 1 - tolerance if self.is_minimum else 1 + tolerance
        match self:
            case Operator.AT_LEAST:
                return measured >= promised
            case Operator.MORE_THAN:
                return measured > promised
            case Operator.AT_MOST:
                return measured <= promised
            case Operator.LESS_THAN:
                return measured < promised


@dataclass(frozen=True, slots=True)
class Formula:
    """`min(base + per_gib x capacity in GiB, cap)`, in the metric's unit; a plain promise has a base alone."""

    base: float
    per_gib: float = 0.0
    cap: float | None = None

    def value(self, capacity_gib: float) -> float:
        promised = self.base + self.per_gib * capacity_gib
        return promised if self.cap is None else min(promised, self.cap)


@dataclass(frozen=True, slots=True)
class PresetExpectation:
    """A promise in a preset. It holds only where every parameter of `when` has that value.

    `seconds`: measured for less than this, a promise that seems kept is too short to say, since disks burst.
    """

    test: str
    metric: Metric
    operator: Operator
    promise: Formula
    when: tuple[tuple[str, str], ...] = ()
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Expectation:
    """A promise for one run: a number in the metric's unit, and how it came about in words.

    `tolerance`: the share by which a measurement may fall short and still count as keeping it.
    """

    test: str
    metric: Metric
    operator: Operator
    promised: float
    basis: str = ""
    seconds: float = 0.0
    tolerance: float = 0.0


class Verdict(StrEnum):
    """TOO_SHORT: it looks kept, but a burst would look the same. UNMEASURED: the test gave no such figure."""

    MET = "met"
    MISSED = "missed"
    TOO_SHORT = "too short to say"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Judgement:
    """`ratio` is measured / promised, None where that says nothing."""

    expectation: Expectation
    measured: float | None
    ratio: float | None
    verdict: Verdict
