"""What a device that was watched did in all: its kernel figures, the highest of them, and the processes that used it."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.analysis.kernel import KernelView, highest, joined, kernel_view
from diskprof.model.process_io import ProcessIo, together
from diskprof.model.sample import SystemSample


@dataclass(frozen=True, slots=True)
class WatchedTotal:
    """`mean` is over the whole time, `highest` has each figure of its highest interval; None where nothing was counted.

    `processes` are those that used its disks, the busiest first.
    """

    mean: KernelView | None
    highest: KernelView | None
    processes: tuple[ProcessIo, ...]


class WatchedSums:
    """Adds up intervals as they come, and keeps none of them: a watch may last for days."""

    def __init__(self) -> None:
        self._whole: SystemSample | None = None
        self._highest: KernelView | None = None
        self._processes: tuple[ProcessIo, ...] = ()

    def add(self, sample: SystemSample, processes: Sequence[ProcessIo], *, whole: bool = True) -> KernelView | None:
        """What the kernel saw in an interval. One that is not `whole` was cut short: its rates are no highest ones."""
        self._processes = together((*self._processes, *processes))
        view = kernel_view((sample,)) if sample.reads is not None else None
        if view is None:
            return None
        self._whole = joined(self._whole, sample) if self._whole else sample
        if whole or self._highest is None:
            self._highest = highest(self._highest, view) if self._highest else view
        return view

    @property
    def total(self) -> WatchedTotal:
        return WatchedTotal(kernel_view((self._whole,)) if self._whole else None, self._highest, self._processes)
