"""A sweep as tables: the best by block size, a matrix a metric, the limits in a sentence. In parallel: `sweep_compare.py`."""

from collections.abc import Callable, Mapping, Sequence

from diskprof.analysis.comparison import TestComparison
from diskprof.analysis.metrics import Measure, direction_metrics
from diskprof.analysis.sweep import (
    BestOfRow,
    Limits,
    Matrix,
    bandwidth,
    best,
    grids,
    iops,
    limits,
    longest,
    mean_latency,
    measured,
    panels,
)
from diskprof.model.preset import Options
from diskprof.model.run import Run, Status, TestRecord, TestResult
from diskprof.model.sample import Direction
from diskprof.model.units import amount, format_bandwidth, format_iops, format_size, parse_size
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, STATUSES

_SOURCES = {source.metric: source for source in direction_metrics()}
_SILENT = (Status.PENDING, Status.SKIPPED)
LIST_METRICS = (Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN, Measure.LATENCY_P99)
"""What a sweep of one axis is listed by."""


def run_panels(run: Run, metrics: Sequence[Measure], *, level: int, apart: bool = False) -> list[Block]:
    """Every panel of the run's sweeps, with a matrix for each of `metrics`. Of a mix in rounds, as SNIA's PTS has it, reads and
    writes together; with `apart` each by itself too."""
    both = run.plan.rounds is not None and not apart
    return [
        block for grid in grids(run) for panel in panels(grid) for block in _panel(panel, metrics, level, both=both)
    ]


def _panel(panel: Matrix[TestRecord], metrics: Sequence[Measure], level: int, *, both: bool) -> list[Block]:
    told = limits_sentence(limits(panel))
    sentences = [Paragraph(f"{capital(told)}.", hanging=True)] if told else []
    sheets = [*_best_sheet(panel), *_matrices(panel, metrics, both=both)] if panel.columns else [_list(panel)]
    return [Heading(panel_title(panel), level), *sentences, *sheets]


def sheet(title: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """A table whose first column is a name and whose others are figures; where it is too wide, in groups of them."""
    columns = tuple(Column(text, right=at > 0) for at, text in enumerate(head))
    return Table(columns, tuple(map(tuple, rows)), title, lead=1)


def panel_title(panel: Matrix[TestRecord] | Matrix[TestComparison]) -> str:
    """`rand read`, with the values of the axes that are fixed: `rand read, jobs 4`; of a sweep of patterns each is the title."""
    fixed = dict(panel.fixed)
    way = fixed.pop("rw", "")
    title = f"{'rand' if way.startswith('rand') else 'seq'} {way.removeprefix('rand')}" if way else panel.title
    return ", ".join([title, *told_cell(tuple(fixed.items()))])


def told_cell(cell: Options) -> list[str]:
    """`block size 4 KiB`, `queue depth 8`."""
    return [f"{figures.option(option)} {value_words(option, value)}" for option, value in cell]


def value_words(option: str, value: str) -> str:
    """A value of an axis, block sizes as a person says them: `32 KiB`."""
    size = amount(parse_size, value) if option == "bs" else None
    return value if size is None else format_size(size)


def _best_sheet(panel: Matrix[TestRecord]) -> tuple[Table, ...]:
    """What each row does at best, and how much of the columns' axis that takes; nothing where there is one column."""
    if panel.columns is None or len(panel.columns.values) < 2:
        return ()
    across = figures.option(panel.columns.option)
    found = best(panel)
    # At one block size the most IOPS are the most bandwidth too.
    apart = any(one and one.iops_at != one.bandwidth_at for one in found)
    head = [capital(figures.option(panel.rows.option)), "IOPS", "MB/s"]
    head += [f"IOPS at {across}", f"MB/s at {across}"] if apart else [f"at {across}"]
    head.append("95% of it from")
    rows = []
    for value, one in zip(panel.rows.values, found, strict=True):
        told = _best_row(one, apart) if one else [figures.MISSING] * (len(head) - 1)
        rows.append(list(map(Cell, (value_words(panel.rows.option, value), *told))))
    return (sheet(f"Best by {figures.option(panel.rows.option)}", head, rows),)


def _best_row(one: BestOfRow, apart: bool) -> list[str]:
    at = [one.iops_at, one.bandwidth_at] if apart else [one.iops_at]
    return [figures.number(one.iops), figures.megabytes(one.bandwidth), *at, one.enough]


def capital(text: str) -> str:
    """`Block size`."""
    return text[:1].upper() + text[1:]


def _matrices(panel: Matrix[TestRecord], metrics: Sequence[Measure], *, both: bool) -> tuple[Table, ...]:
    ways = _directions(panel)
    mixed = any(len(r.directions) > 1 for row in panel.cells for test in row if (r := measured(test)))
    whole = tuple(_total_matrix(panel, metric) for metric in metrics if metric in _TOTALS) if mixed else ()
    if mixed and both:
        return whole
    return *whole, *(
        _matrix(panel, metric, way, named=len(ways) > 1) for metric in metrics for way in ways or (Direction.READ,)
    )


_TOTALS: Mapping[Measure, Callable[[TestResult], float | None]] = {
    Measure.IOPS: iops,
    Measure.BANDWIDTH: bandwidth,
    Measure.LATENCY_MEAN: mean_latency,
    Measure.LATENCY_MAX: longest,
}
"""What reads and writes of a mix have together."""


def _total_matrix(panel: Matrix[TestRecord], metric: Measure) -> Table:
    """Of a sweep with mixes, as the tables of SNIA's PTS have it."""
    assert panel.columns
    rows = []
    for value, row in zip(panel.rows.values, panel.cells, strict=True):
        told = [_total_cell(test, metric) for test in row]
        rows.append(list(map(Cell, (value_words(panel.rows.option, value), *told))))
    label = "MB/s" if metric is Measure.BANDWIDTH else figures.METRICS[metric].label
    return sheet(by_axes(f"Reads and writes: {label}", panel), matrix_head(panel), rows)


def _total_cell(test: TestRecord | None, metric: Measure) -> str:
    result = measured(test)
    figure = _TOTALS[metric](result) if result else None
    return _cell(test, metric, Direction.READ) if figure is None else _written(metric, figure)


def _directions(panel: Matrix[TestRecord]) -> tuple[Direction, ...]:
    found = {way for row in panel.cells for test in row if (r := measured(test)) for way, _ in r.directions}
    return tuple(way for way in Direction if way in found)


def _matrix(panel: Matrix[TestRecord], metric: Measure, way: Direction, *, named: bool) -> Table:
    assert panel.columns
    rows = [
        list(map(Cell, (value_words(panel.rows.option, value), *(_cell(test, metric, way) for test in row))))
        for value, row in zip(panel.rows.values, panel.cells, strict=True)
    ]
    label = "MB/s" if metric is Measure.BANDWIDTH else figures.METRICS[metric].label
    title = by_axes(f"{capital(DIRECTIONS[way].word)}: {label}" if named else label, panel)
    return sheet(title, matrix_head(panel), rows)


def by_axes(label: str, panel: Matrix[TestRecord] | Matrix[TestComparison]) -> str:
    """`IOPS by block size (down) and queue depth (across)`."""
    assert panel.columns
    return f"{label} by {figures.option(panel.rows.option)} (down) and {figures.option(panel.columns.option)} (across)"


def matrix_head(panel: Matrix[TestRecord] | Matrix[TestComparison]) -> tuple[str, ...]:
    """The columns' values behind an empty corner."""
    assert panel.columns
    return "", *(value_words(panel.columns.option, value) for value in panel.columns.values)


def _cell(test: TestRecord | None, metric: Measure, way: Direction) -> str:
    """A figure; where there is none, the word for what happened if something did."""
    result = measured(test)
    if result is None:
        return figures.MISSING if test is None or test.status in (*_SILENT, Status.COMPLETE) else _status(test)
    return _figure(result, metric, way)


def _status(test: TestRecord) -> str:
    return STATUSES[test.status].word


def _figure(result: TestResult, metric: Measure, way: Direction) -> str:
    one = result.direction(way)
    return _written(metric, _SOURCES[metric].of_result(one) if one else None)


def _written(metric: Measure, value: float | None) -> str:
    if value is not None and metric is Measure.BANDWIDTH:
        return figures.megabytes(value)
    return figures.figure(metric, value)


def _list(panel: Matrix[TestRecord]) -> Table:
    """A sweep of one axis: a row a cell."""
    ways = _directions(panel) or (Direction.READ,)
    words = [f"{DIRECTIONS[way].word} " if len(ways) > 1 else "" for way in ways]
    short = {
        metric: "MB/s" if metric is Measure.BANDWIDTH else figures.METRICS[metric].short for metric in LIST_METRICS
    }
    head = [capital(figures.option(panel.rows.option))]
    head += [f"{word}{short[metric]}" for word in words for metric in LIST_METRICS]
    rows = []
    for value, (test,) in zip(panel.rows.values, panel.cells, strict=True):
        cells = [_cell(test, metric, way) for way in ways for metric in LIST_METRICS]
        if measured(test) is None:
            cells = [cells[0], *[figures.MISSING] * (len(cells) - 1)]
        rows.append(list(map(Cell, (value_words(panel.rows.option, value), *cells))))
    return sheet(f"By {figures.option(panel.rows.option)}", head, rows)


def limits_sentence(found: Limits | None) -> str:
    """`IOPS-limited up to 32 KiB (about 5,000 IOPS), bandwidth-limited from 64 KiB (about 200 MB/s)`; empty for none."""
    if found is None:
        return ""
    parts = []
    if found.iops is not None and found.iops_up_to is not None:
        where = "at every block size" if found.everywhere else f"up to {format_size(found.iops_up_to)}"
        parts.append(f"IOPS-limited {where} (about {_about(found.iops):,.0f} IOPS)")
    if found.bandwidth is not None and found.bandwidth_from is not None:
        where = "at every block size" if found.everywhere else f"from {format_size(found.bandwidth_from)}"
        parts.append(f"bandwidth-limited {where} (about {format_bandwidth(_about(found.bandwidth))})")
    return ", ".join(parts)


def _about(value: float) -> float:
    """Two digits: what is said to be about something."""
    return float(f"{value:.1e}")


def verdict_sentences(run: Run) -> list[str]:
    """For each panel its limits; where the data show none, the most of it."""
    found = []
    for grid in grids(run):
        for panel in panels(grid):
            told = limits_sentence(limits(panel)) or _most(panel)
            if told:
                found.append(f"{panel_title(panel)}: {told}")
    return found


def _most(panel: Matrix[TestRecord]) -> str:
    """`at most 5,012 IOPS (block size 4 KiB, queue depth 64) and 201 MB/s (...)`; empty where nothing was measured."""
    tests = [(test, result) for row in panel.cells for test in row if test and (result := measured(test))]
    if not tests:
        return ""
    parts = []
    for figure, write in ((iops, lambda value: f"{format_iops(value)} IOPS"), (bandwidth, format_bandwidth)):
        test, result = max(tests, key=lambda pair: figure(pair[1]))
        swept = [(option, value) for option, value in test.planned.cell if (option, value) not in panel.fixed]
        parts.append(f"{write(figure(result))} ({', '.join(told_cell(tuple(swept)))})")
    return f"at most {' and '.join(parts)}"
