"""Which host or disk stands out among those that are like it.

A figure of a member is held against the median of all alike, in units of their MAD (the median of the distances from the median,
times 1.4826: the standard deviation of normal noise). A median and a MAD are not moved by the odd one, as a mean is.

How far is far depends on how many there are, for the MAD of few is itself left to chance. Simulated (benchmarks/odd_ones.py):
of 100 fleets of equal members a figure is named in none where they differ by 3% or less (standard deviation), in 1 or 2 where they
differ by more than 10%.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.fleet.measured import FigureName, Measured, Peers, figures
from diskprof.analysis.metrics import Better, Measure

RATES = (Measure.IOPS, Measure.BANDWIDTH)
FEWEST = 4
"""Of fewer that are alike none is named: which of two or three is the odd one only chance would say."""
_NORMAL = 1.4826
_MANY, _MORE_OF_FEW = 6.0, 24.0
"""MADs from the median that are told: 6 of many members, 12 of 4."""
_LEAST, _LEAST_OF_FEW = 0.01, 0.08
"""What equal ones differ by at the least, as a share of the median: 1% of many, 2% of 4."""
_LATENCY, _TAIL = 2.0, 3.0
"""So much more they differ in mean latencies, and in p99."""


class OddFigure(Struct, frozen=True):
    """A figure of a member that is beyond what the `others` of its kind differ among themselves. `median` is that of the others."""

    name: FigureName
    value: float
    median: float
    others: int

    @property
    def apart(self) -> float:
        """As a share of the median of the others: -0.31 is 31% below."""
        return self.value / self.median - 1

    @property
    def worse(self) -> bool:
        higher = _better(self.name.measure) is Better.HIGHER
        return (self.apart < 0) is higher


class OddOne(Struct, frozen=True):
    """A member that stands out, and its figures that do: rates before latencies, the one farthest apart first."""

    label: str
    figures: tuple[OddFigure, ...]


def odd_ones(alike: Peers) -> tuple[OddOne, ...]:
    """The members that stand out among those that are like them, in their order; none of fewer than FEWEST."""
    members = alike.members
    known = [figures(member) for member in members]
    names = list(dict.fromkeys(name for found in known for name in found))
    found: dict[str, list[OddFigure]] = {}
    for name in names:
        having = [(member, values[name]) for member, values in zip(members, known, strict=True) if name in values]
        for member, figure in _odd(name, having):
            found.setdefault(member.label, []).append(figure)
    return tuple(
        OddOne(member.label, tuple(sorted(mine, key=lambda each: (each.name.measure not in RATES, -abs(each.apart)))))
        for member in members
        if (mine := found.get(member.label))
    )


def _odd(name: FigureName, having: Sequence[tuple[Measured, float]]) -> list[tuple[Measured, OddFigure]]:
    values = [value for _, value in having]
    if (limit := beyond(values, _noisier(name.measure))) is None:
        return []
    middle = statistics.median(values)
    return [
        (member, OddFigure(name, value, statistics.median(others), len(others)))
        for at, (member, value) in enumerate(having)
        if abs(value - middle) > limit and statistics.median(others := [*values[:at], *values[at + 1 :]]) > 0
    ]


def beyond(values: Sequence[float], noisier: float = 1.0) -> float | None:
    """How far from their median one of these values has to be to stand out, in their unit; None of too few, or of zeros.

    `noisier`: how much more than rates they differ where nothing is odd.
    """
    count = len(values)
    if count < FEWEST or (middle := statistics.median(values)) <= 0:
        return None
    spread = _NORMAL * statistics.median(abs(value - middle) for value in values)
    least = noisier * max(_LEAST, _LEAST_OF_FEW / count) * middle
    return (_MANY + _MORE_OF_FEW / count) * max(spread, least)


def _noisier(measure: Measure) -> float:
    match measure:
        case Measure.LATENCY_P99:
            return _TAIL
        case _:
            return 1.0 if measure in RATES else _LATENCY


def _better(measure: Measure) -> Better:
    return Better.HIGHER if measure in RATES else Better.LOWER
