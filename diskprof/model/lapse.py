"""Time that passed without the run: what was measured meanwhile is not what it seems."""

from dataclasses import dataclass
from enum import StrEnum

from diskprof.model.sample import Phase


class LapseKind(StrEnum):
    """SLEPT: the machine was suspended. STOOD: the runner did not get to run (stopped, or its control group frozen)."""

    SLEPT = "slept"
    STOOD = "stood still"


@dataclass(frozen=True, slots=True)
class Lapse:
    """`at_ns` is when it ended, in ns since the run began by a clock that stands while the machine sleeps."""

    kind: LapseKind
    test: int
    phase: Phase
    at_ns: int
    seconds: float
