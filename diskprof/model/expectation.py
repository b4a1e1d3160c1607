"""What somebody promised of a disk, and whether it was kept."""

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from diskprof.model.metric import Metric, Quantity, format_value


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


class Formula(Struct, frozen=True):
    """`min(base + per_gib x capacity in GiB, cap)`, in the metric's unit; a plain promise has a base alone.

    `others`: further bases and what each grows by; the least of all counts. A volume has a limit of IOPS and one of bandwidth,
    and with one block size either is a number of I/Os.
    """

    base: float
    per_gib: float = 0.0
    cap: float | None = None
    others: tuple[tuple[float, float], ...] = ()

    @property
    def lines(self) -> tuple[tuple[float, float], ...]:
        """Every (base, per_gib)."""
        return ((self.base, self.per_gib), *self.others)

    def value(self, capacity_gib: float) -> float:
        promised = min(base + per_gib * capacity_gib for base, per_gib in self.lines)
        return promised if self.cap is None else min(promised, self.cap)


class PresetExpectation(Struct, frozen=True):
    """A promise in a preset. It holds only where every parameter of `when` has that value.

    `seconds`: measured for less than this, a promise that seems kept is inconclusive, since disks burst.
    """

    test: str
    metric: Metric
    operator: Operator
    promise: Formula
    when: tuple[tuple[str, str], ...] = ()
    seconds: float = 60.0


class Expectation(Struct, frozen=True, tag=True):
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


class ClassExpectation(Struct, frozen=True, tag=True):
    """What disks of a class do at the least, of every test that its documents say something of."""

    disk_class: str


Asked = Expectation | ClassExpectation
"""What a person asks for, by `--expect`."""

ASKED = "from --expect"
"""How the basis of what a person asks for begins."""

_UNITS: Mapping[Quantity, tuple[tuple[float, str], ...]] = {
    Quantity.IOPS: ((1.0, " IOPS"),),
    Quantity.BANDWIDTH: ((1e6, " MB/s"), (2.0**20, " MiB/s")),
    Quantity.LATENCY: ((1e6, " ms"),),
    Quantity.SHARE: ((0.01, "%"),),
    Quantity.CPU: ((1.0, "%"),),
}
"""What the figures of a formula are divided by, and the unit behind it."""

_ZEROS = re.compile(r"\.0+(?=\D|$)")


def formula_words(quantity: Quantity, formula: Formula, capacity: str = "GiB") -> str:
    """A promised value: `200 MB/s`, or `min(80 + 0.5 x GiB, 300) MiB/s`; of bandwidths the unit in which they are round."""
    caps = [] if formula.cap is None else [formula.cap]
    figures = [figure for line in formula.lines for figure in line if figure] + caps
    scale, unit = min(_UNITS[quantity], key=lambda each: sum(len(_number(figure / each[0])) for figure in figures))
    if not formula.per_gib:
        if scale == 2.0**20:
            return f"{_number(formula.base / scale)}{unit}"
        return _ZEROS.sub("", format_value(quantity, formula.base)).removesuffix(" CPU")
    sums = [f"{_number(base / scale)} + {_number(per_gib / scale)} x {capacity}" for base, per_gib in formula.lines]
    parts = [*sums, *(_number(cap / scale) for cap in caps)]
    return f"{'min' if len(parts) > 1 else ''}({', '.join(parts)}){unit}"


def _number(value: float) -> str:
    return f"{value:,.10g}"


class Verdict(StrEnum):
    """TOO_SHORT: it looks kept, but a burst would look the same. UNMEASURED: the test gave no such figure."""

    MET = "met"
    MISSED = "missed"
    TOO_SHORT = "inconclusive"
    UNMEASURED = "not measured"


class Judgement(Struct, frozen=True):
    """`ratio` is measured / promised, None where that says nothing."""

    expectation: Expectation
    measured: float | None
    ratio: float | None
    verdict: Verdict
