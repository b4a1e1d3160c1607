"""Which members of a fleet run go on to another repeat, and when there is none."""

import time
from collections.abc import Sequence

from diskprof.analysis.series_figures import RepeatFigure, repeat_figures, series_figures, widest
from diskprof.fleet.member import Member
from diskprof.fleet.order import FleetOrder
from diskprof.model.fleet import FleetPlan
from diskprof.model.run import Status
from diskprof.model.text import clean
from diskprof.model.units import format_duration, percent_words
from diskprof.store import Store


class GoingOn:
    """Is asked after each repeat. A member goes on while its runs are complete and, of `until`, its own figures are too far apart.

    `words` say why there was no further repeat; empty where all were carried out.
    """

    def __init__(self, order: FleetOrder, store: Store) -> None:
        self._wanted, self._store = order.new.wanted, store
        plans = tuple(each.plan for each in order.plans if each.plan)
        self._longest_s = FleetPlan(plans, self._wanted, order.new.at_once, order.stages).round_s
        self._began = self._since = time.monotonic()
        self._figures: dict[int, list[tuple[RepeatFigure, ...]]] = {}
        self.words = ""

    def after(self, repeat: int, members: Sequence[Member]) -> list[Member]:
        """Those of `members`, which had this repeat, that have another one. Raises StoreError."""
        whole = [member for member in members if member.outcome is Status.COMPLETE]
        if self._wanted.repeats is not None and repeat >= self._wanted.repeats:
            return []
        going = whole if self._wanted.until is None else [each for each in whole if not self._is_narrow(each)]
        if not going:
            self.words = self._narrow_words(repeat) if self._wanted.until and whole else ""
            return []
        now = time.monotonic()
        self._longest_s, self._since = max(self._longest_s, now - self._since), now
        cap = self._wanted.at_most_s
        if cap is not None and now - self._began + self._longest_s > cap:
            self.words = self._capped(repeat, cap, going)
            return []
        return going

    def _is_narrow(self, member: Member) -> bool:
        mine = self._figures.setdefault(member.index, [])
        mine.append(repeat_figures(self._store.run(member.status.run_id), member.index))
        spread = widest(series_figures(mine))
        return bool(spread and self._wanted.until and spread.within(self._wanted.until))

    def _narrow_words(self, repeat: int) -> str:
        within = percent_words(self._wanted.until or 0.0)
        least = min(map(len, self._figures.values()))
        counts = f"{repeat}" if least == repeat else f"{least} to {repeat}"
        return f"Every headline figure is within {within} after {counts} repeats."

    def _capped(self, repeat: int, cap: float, going: Sequence[Member]) -> str:
        count = f"{repeat} repeat{'' if repeat == 1 else 's'}"
        said = f"Ended after {count}: the next would end after {format_duration(cap)} (at most)."
        if self._wanted.until is None:
            return said
        names = ", ".join(clean(member.member.label) for member in going)
        return f"{said} Not within {percent_words(self._wanted.until)}: {names}."
