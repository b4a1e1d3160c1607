"""What limits a disk, by a sweep of block sizes and queue depths: the caps, where one hands over to the other, the depth that
suffices, each with the cells that show it."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from diskprof.analysis.findings.processor import JOB_BUSY
from diskprof.analysis.statistics import median
from diskprof.analysis.sweep import (
    COLUMNS,
    FLAT,
    ROWS,
    Limits,
    Matrix,
    bandwidth,
    grids,
    iops,
    limits,
    measured,
    panels,
)
from diskprof.model.run import Run, TestRecord, TestResult
from diskprof.model.units import amount, parse_size

RISING = 0.05
"""The deepest queue still gains so much on the one before: nothing capped it."""


class Uncapped(StrEnum):
    """Why no cap shows: deeper queues still gain; a CPU of the job was busy; or neither, sizes differ too much for one cap."""

    RISING = "rising"
    PROCESSOR = "processor"
    UNCLEAR = "unclear"


class Cap(Struct, frozen=True):
    """A cap, IOPS or bytes per second: the median of `cells` cells from `low` to `high`, of `sizes` (bytes) and `depths`.

    `enough` is the smallest queue depth that gives 95% of it.
    """

    value: float
    low: float
    high: float
    cells: int
    sizes: tuple[int, int]
    depths: tuple[int, int]
    enough: int


class Caps(Struct, frozen=True):
    """What limits a panel of a sweep. A cap is None where the data show none, and `why` says why not, for IOPS and bandwidth.

    `most_iops` and `most_bandwidth` are the best that was measured. `handover` are the largest block size at the cap of IOPS and
    the smallest at that of bandwidth, in bytes; None unless both caps are there. `crossing` is where they would cross.
    """

    panel: Matrix[TestRecord]
    iops: Cap | None
    bandwidth: Cap | None
    why_iops: Uncapped | None
    why_bandwidth: Uncapped | None
    most_iops: float
    most_bandwidth: float

    @property
    def handover(self) -> tuple[int, int] | None:
        return (self.iops.sizes[1], self.bandwidth.sizes[0]) if self.iops and self.bandwidth else None

    @property
    def crossing(self) -> float | None:
        return self.bandwidth.value / self.iops.value if self.iops and self.bandwidth else None


def run_caps(run: Run) -> tuple[Caps, ...]:
    """What limits each panel of a run that sweeps block sizes and queue depths; nothing where nothing was measured."""
    return tuple(caps for grid in grids(run) for panel in panels(grid) if (caps := caps_of(panel)))


class _Cell(Struct, frozen=True):
    size: int
    depth: int
    test: TestRecord
    result: TestResult


Figure = Callable[[TestResult], float]


def caps_of(panel: Matrix[TestRecord]) -> Caps | None:
    """None of a sweep of other options, and where nothing was measured."""
    if panel.rows.option != ROWS or panel.columns is None or panel.columns.option != COLUMNS:
        return None
    cells = list(_cells(panel))
    if not cells:
        return None
    found = limits(panel) or Limits()
    sizes = sorted({cell.size for cell in cells})
    small = [size for size in sizes if found.iops_up_to is not None and size <= found.iops_up_to]
    large = [size for size in sizes if found.bandwidth_from is not None and size >= found.bandwidth_from]
    capped_iops = _cap(cells, small, found.iops, iops)
    capped_bandwidth = _cap(cells, large, found.bandwidth, bandwidth)
    return Caps(
        panel,
        capped_iops,
        capped_bandwidth,
        None if capped_iops else _why(cells, sizes[0]),
        None if capped_bandwidth else _why(cells, sizes[-1]),
        max(iops(cell.result) for cell in cells),
        max(bandwidth(cell.result) for cell in cells),
    )


def _cells(panel: Matrix[TestRecord]) -> Iterator[_Cell]:
    assert panel.columns
    for value, row in zip(panel.rows.values, panel.cells, strict=True):
        size = amount(parse_size, value)
        for test in row:
            result = measured(test)
            if size is not None and test is not None and result is not None:
                yield _Cell(int(size), test.planned.load.depth, test, result)


def _cap(cells: Sequence[_Cell], sizes: Sequence[int], level: float | None, figure: Figure) -> Cap | None:
    """The cap at `level` that these block sizes stand at, by the cells within a tenth of it."""
    at = [
        cell
        for cell in cells
        if cell.size in sizes and abs(figure(cell.result) - (level or 0.0)) <= FLAT * (level or 0.0)
    ]
    value = median([figure(cell.result) for cell in at])
    if value is None or level is None:
        return None
    figures, depths = [figure(cell.result) for cell in at], [cell.depth for cell in at]
    # Small blocks need the deepest queue for IOPS, as large ones need the least for bandwidth: the size that needs most counts.
    enough = max(min((cell.depth for cell in at if cell.size == size), default=0) for size in sizes)
    return Cap(value, min(figures), max(figures), len(at), (min(sizes), max(sizes)), (min(depths), max(depths)), enough)


def _why(cells: Sequence[_Cell], size: int) -> Uncapped:
    """Why one block size, the smallest or the largest, shows no cap."""
    row = sorted((cell for cell in cells if cell.size == size), key=lambda cell: cell.depth)
    top = max(row, key=lambda cell: iops(cell.result))
    cpu = top.result.cpu
    if cpu is not None and cpu.percent / max(1, top.test.planned.load.reported) >= JOB_BUSY:
        return Uncapped.PROCESSOR
    if len(row) > 1 and iops(row[-1].result) > (1 + RISING) * iops(row[-2].result):
        return Uncapped.RISING
    return Uncapped.UNCLEAR
