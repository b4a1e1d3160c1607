"""A sweep: its cells laid out by its axes, the best of each row, and the limits that they show.

What is shown and when a limit is one is told in docs/reading-results.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Generic, TypeVar

from msgspec import Struct

from diskprof.analysis.comparison import Comparison, TestComparison
from diskprof.analysis.findings.processor import JOB_BUSY
from diskprof.analysis.metrics import Measure
from diskprof.analysis.statistics import median
from diskprof.model.preset import Axis, Options
from diskprof.model.run import Run, Status, TestRecord, TestResult
from diskprof.model.title import distinct, sweep_title
from diskprof.model.units import amount, parse_size

FLAT = 0.10
"""Figures stand at one level if the smallest is at most this share below the largest: a volume's limit is held no better."""

REACHED = 0.95
"""The share of the best from which a cell counts as having reached it: more queue depth buys nothing worth having."""

LEAST_AT_LIMIT = 2
"""How many block sizes, and how many queue depths of each, must stand at one level before it is called a limit."""

ROWS, COLUMNS = "bs", "iodepth"

T = TypeVar("T")


class Grid(Struct, Generic[T], frozen=True):
    """One test of a preset in all the combinations of its sweep. `cells` are by their values, in the order of the axes."""

    name: str
    title: str
    axes: tuple[Axis, ...]
    cells: Mapping[tuple[str, ...], T]


class Matrix(Struct, Generic[T], frozen=True):
    """Two axes of a grid, at one value of each other (`fixed`). `cells` are in rows, None where there is no such test.

    `columns` is None in a sweep of one axis; its rows then have one cell each.
    """

    name: str
    title: str
    fixed: Options
    rows: Axis
    columns: Axis | None
    cells: tuple[tuple[T | None, ...], ...]


def grids(run: Run) -> tuple[Grid[TestRecord], ...]:
    """A grid for every test that was swept, in the order of the run; cells that are not measured yet are there too."""
    return _lay_out(
        (test.name, sweep_title(test.planned.jobs, test.planned.cell), test.planned.cell, test)
        for test in run.tests
        if test.planned.cell
    )


def compared_grids(comparison: Comparison) -> tuple[Grid[TestComparison], ...]:
    """The same of a comparison, with the cells of all its runs."""
    return _lay_out((test.name, test.sweep_title, test.cell, test) for test in comparison.tests if test.cell)


def _lay_out(items: Iterable[tuple[str, str, Options, T]]) -> tuple[Grid[T], ...]:
    titles: dict[tuple[str, ...], str] = {}
    cells: dict[tuple[str, ...], dict[tuple[str, ...], T]] = {}
    for name, title, cell, item in items:
        # A cell's name ends in its values, which hold no "-".
        key = (name.rsplit("-", len(cell))[0], *(option for option, _ in cell))
        titles.setdefault(key, title)
        cells.setdefault(key, {})[tuple(value for _, value in cell)] = item
    called = distinct([(key[0], title or key[0]) for key, title in titles.items()])
    return tuple(
        Grid(key[0], title, tuple(_axis(option, place, found) for place, option in enumerate(key[1:])), found)
        for (key, found), title in zip(cells.items(), called, strict=True)
    )


def _axis(option: str, place: int, cells: Iterable[tuple[str, ...]]) -> Axis:
    """Numbers in rising order, since runs may come with different ones; anything else as it came."""
    values = list(dict.fromkeys(at[place] for at in cells))
    sizes = {value: size for value in values if (size := amount(parse_size, value)) is not None}
    return Axis(option, tuple(sorted(values, key=sizes.__getitem__) if len(sizes) == len(values) else values))


def panels(grid: Grid[T]) -> tuple[Matrix[T], ...]:
    """The grid in two dimensions: block sizes down and queue depths across where they are swept, otherwise the last two axes."""
    rows, columns = _roles(grid.axes)
    across = columns.values if columns else ("",)
    others = [axis for axis in grid.axes if axis is not rows and axis is not columns]

    def cell(fixed: Options, row: str, column: str) -> T | None:
        at = {**dict(fixed), rows.option: row, **({columns.option: column} if columns else {})}
        return grid.cells.get(tuple(at[axis.option] for axis in grid.axes))

    found = []
    for fixed in product(*([(axis.option, value) for value in axis.values] for axis in others)):
        cells = tuple(tuple(cell(fixed, row, column) for column in across) for row in rows.values)
        found.append(Matrix(grid.name, grid.title, fixed, rows, columns, cells))
    return tuple(found)


def _roles(axes: Sequence[Axis]) -> tuple[Axis, Axis | None]:
    """What goes down and what across."""
    if len(axes) == 1:
        return axes[0], None
    columns = next((axis for axis in axes if axis.option == COLUMNS), None)
    columns = columns or [axis for axis in axes if axis.option != ROWS][-1]
    others = [axis for axis in axes if axis is not columns]
    return next((axis for axis in others if axis.option == ROWS), others[-1]), columns


def measured(test: TestRecord | None) -> TestResult | None:
    """A cell's result; None where it failed, was stopped or is yet to come: a gap."""
    return test.result if test and test.status is Status.COMPLETE and test.result and test.result.directions else None


def iops(result: TestResult) -> float:
    """I/Os per second, reads and writes together: a volume's limit counts both."""
    return sum(direction.iops for _, direction in result.directions)


def bandwidth(result: TestResult) -> float:
    """Bytes per second, reads and writes together."""
    return sum(direction.bandwidth_bytes_per_s for _, direction in result.directions)


def mean_latency(result: TestResult) -> float | None:
    """In ns, of reads and writes together; None where none is known."""
    known = [(part.latency.mean, part.ios) for _, part in result.directions if part.latency.mean is not None]
    ios = sum(count for _, count in known)
    return sum(mean * count for mean, count in known) / ios if ios else None


def longest(result: TestResult) -> float | None:
    """The longest latency in ns of reads and writes; None where none is known."""
    return max((part.latency.max for _, part in result.directions if part.latency.max is not None), default=None)


class BestOfRow(Struct, frozen=True):
    """The most of a row, reads and writes together, and in which columns: `iops_at`, `bandwidth_at`.

    `enough` is the first column that gives 95% of these IOPS. Columns are empty in a sweep of one axis.
    """

    iops: float
    iops_at: str
    bandwidth: float
    bandwidth_at: str
    enough: str


def best(panel: Matrix[TestRecord]) -> tuple[BestOfRow | None, ...]:
    """The best of each row; None where nothing of it was measured."""
    return tuple(_best(panel, row) for row in panel.cells)


def _best(panel: Matrix[TestRecord], row: Sequence[TestRecord | None]) -> BestOfRow | None:
    across = panel.columns.values if panel.columns else ("",)
    known = [(at, result) for at, test in zip(across, row, strict=True) if (result := measured(test))]
    if not known:
        return None
    most = max(iops(result) for _, result in known)
    # Of equal figures the first: the smallest queue depth.
    iops_at = next(at for at, result in known if iops(result) == most)
    widest = max(bandwidth(result) for _, result in known)
    bandwidth_at = next(at for at, result in known if bandwidth(result) == widest)
    return BestOfRow(most, iops_at, widest, bandwidth_at, next(at for at, r in known if iops(r) >= REACHED * most))


def most_iops(tests: Iterable[TestComparison | None], column: int) -> float | None:
    """The most IOPS of one run in some cells of a comparison, reads and writes together; None where it measured none of them."""
    found = []
    for test in tests:
        if test and test.statuses[column] is Status.COMPLETE:
            values = [row.cells[column].value for row in test.rows if row.metric is Measure.IOPS]
            found += [sum(value for value in values if value is not None)] if any(values) else []
    return max(found, default=None)


class Limits(Struct, frozen=True):
    """Which limit holds at which block sizes (bytes): I/Os per second up to `iops_up_to`, bytes per second from `bandwidth_from`.

    None where the data show no such limit. `everywhere`: the one that is there holds at every block size of the sweep.
    """

    iops: float | None = None
    iops_up_to: int | None = None
    bandwidth: float | None = None
    bandwidth_from: int | None = None
    everywhere: bool = False


class _Level(Struct, frozen=True):
    """Where one block size ends up: the median of its cells near the best, since the best alone is the luckiest.

    `held`: queue depth bought nothing more, and the processor was not what was short.
    """

    size: int
    iops: float
    bandwidth: float
    held: bool


def limits(panel: Matrix[TestRecord]) -> Limits | None:
    """The limits of IOPS and of bandwidth that the best figures by block size show; None where they show neither."""
    sizes = [amount(parse_size, value) for value in panel.rows.values]
    if panel.rows.option != ROWS or panel.columns is None or None in sizes:
        return None
    levels = [_level(size, row) for size, row in zip(sizes, panel.cells, strict=True) if size is not None]
    small = _alike([(level.held, level.iops) for level in levels])
    large = _alike([(level.held, level.bandwidth) for level in reversed(levels)])
    low = levels[: small if small >= LEAST_AT_LIMIT else 0]
    high = levels[max(len(low), len(levels) - large) :] if large >= LEAST_AT_LIMIT else []
    if not low and not high:
        return None
    return Limits(
        iops=median([level.iops for level in low]),
        iops_up_to=low[-1].size if low else None,
        bandwidth=median([level.bandwidth for level in high]),
        bandwidth_from=high[0].size if high else None,
        everywhere=len(levels) in (len(low), len(high)),
    )


def _level(size: int, row: Sequence[TestRecord | None]) -> _Level:
    known = [(test, result) for test in row if test and (result := measured(test))]
    if not known:
        return _Level(size, 0.0, 0.0, held=False)
    top, most = max(known, key=lambda pair: iops(pair[1]))
    near = [(test, result) for test, result in known if iops(result) >= (1 - FLAT) * iops(most)]
    depths = {test.planned.load.depth for test, _ in near}
    held = len(depths) >= LEAST_AT_LIMIT and not _processor_bound(top, most)
    typical = median([iops(result) for _, result in near]), median([bandwidth(result) for _, result in near])
    return _Level(size, typical[0] or 0.0, typical[1] or 0.0, held)


def _processor_bound(test: TestRecord, result: TestResult) -> bool:
    return result.cpu is not None and result.cpu.percent / max(1, test.planned.load.reported) >= JOB_BUSY


def _alike(levels: Sequence[tuple[bool, float]]) -> int:
    """How many of the first levels are held and lie at one height."""
    count, low, high = 0, float("inf"), 0.0
    for held, value in levels:
        low, high = min(low, value), max(high, value)
        if not held or low < (1 - FLAT) * high:
            break
        count += 1
    return count
