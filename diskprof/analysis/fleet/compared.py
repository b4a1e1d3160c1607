"""Several fleet runs host by host: what each member was in one, held against what it was in another."""

from __future__ import annotations

from msgspec import Struct

from diskprof.analysis.arms import Arm
from diskprof.analysis.comparison import Comparison


class MemberComparison(Struct, frozen=True):
    """A member as it is called, its runs in each fleet run, and what these come to."""

    label: str
    arms: tuple[Arm, ...]
    comparison: Comparison


class FleetsCompared(Struct, frozen=True):
    """The members that all fleet runs have; `unpaired` are what the others are called."""

    members: tuple[MemberComparison, ...]
    unpaired: tuple[str, ...]
