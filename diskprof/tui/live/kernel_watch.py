"""What the kernel saw of one test, read from the store as it comes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from diskprof.analysis.kernel import KernelView, kernel_view, medians, within
from diskprof.model.sample import Phase, SystemSample

if TYPE_CHECKING:
    from diskprof.store import Store

_STEP = 1000
_KEPT = 480
_ENDING = 4
"""The newest N intervals are longer than one of the engine's, and at least one of them is not a tail."""
_TAIL_NS = 50_000_000
"""A shorter interval is the end of a test, without I/O (F6)."""


class KernelWatch:
    """What the kernel saw of one test: the last interval, and as much of all of them as the median needs.

    What there is at first may be a day: the store takes neighbours together.
    """

    def __init__(self, store: Store, run_id: str, test: int, *, preparing: bool) -> None:
        self._store, self._run, self._test, self._preparing = store, run_id, test, preparing
        self._cursor: int | None = None
        self._seen = 0
        self._every = 1
        self._kept: list[SystemSample] = []
        self._newest: deque[SystemSample] = deque(maxlen=_ENDING)
        self._median: KernelView | None = None
        self._median_of = 0

    @property
    def place(self) -> tuple[int, bool]:
        """Of which test, and whether of its laying out."""
        return self._test, self._preparing

    @property
    def kept(self) -> int:
        return len(self._kept)

    def read(self) -> bool:
        """Take one step; returns whether there may be more to take."""
        if self._cursor is None:
            self._begin()
            return False
        batch = self._store.system_samples(self._run, test=self._test, after=self._cursor, most=_STEP)
        self._cursor = batch.last
        for sample in batch.samples:
            if not self._belongs(sample):
                continue
            self._newest.append(sample)
            if sample.duration_ns < _TAIL_NS:
                continue
            if self._seen % self._every == 0:
                self._kept.append(sample)
            self._seen += 1
            if len(self._kept) > _KEPT:
                self._kept = self._kept[::2]
                self._every *= 2
        return len(batch.samples) == _STEP

    def _begin(self) -> None:
        """With what there is: all of it, some intervals taken together, and the last of them as they were."""
        there = self._store.system_course(self._run, self._test, most=_KEPT)
        ending = self._store.system_samples(self._run, test=self._test, after=max(0, there.last - _ENDING))
        self._cursor = there.last
        self._kept = [one for one in there.samples if self._belongs(one) and one.duration_ns >= _TAIL_NS]
        self._seen = len(self._kept)
        self._newest.extend(filter(self._belongs, ending.samples))
        if self._kept and self._newest:
            # What comes counts as much as what was.
            self._every = max(1, round(self._kept[0].duration_ns / max(one.duration_ns for one in self._newest)))

    def _belongs(self, sample: SystemSample) -> bool:
        return sample.phase is not Phase.WARMING and (sample.phase is Phase.PREPARING) is self._preparing

    @property
    def last(self) -> KernelView | None:
        """The newest interval that is no tail."""
        found = [one for one in self._newest if one.duration_ns >= _TAIL_NS] or self._kept
        return kernel_view(found[-1:])

    def last_before(self, end_ns: int, seconds: float) -> KernelView | None:
        """Of a test that is over: its last intervals, about as many `seconds` as the engine's last, which ended at `end_ns`.

        What the engine takes to end is no time of the disk, and the kernel's last interval may be little else.
        """
        newest = tuple(self._newest)
        if not newest:
            return self.last
        inside = within(newest, newest[0].at_ns - newest[0].duration_ns, end_ns)
        first = len(inside) - 1
        while first > 0 and sum(one.duration_ns for one in inside[first:]) < seconds * 9e8:
            first -= 1
        return kernel_view(inside[max(0, first) :]) or self.last

    @property
    def median(self) -> KernelView | None:
        """The median of the test, found again after 5% more intervals: it takes some ms, and hardly changes."""
        if self._seen > self._median_of * 1.05:
            self._median, self._median_of = medians(self._kept), self._seen
        return self._median
