"""A sweep as a map of its cells: block sizes down, queue depths across, filled as they are measured. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from diskprof.analysis.sweep import Matrix, bandwidth, grids, iops, mean_latency, measured, panels
from diskprof.model.cells import fit
from diskprof.model.metric import Quantity
from diskprof.model.run import Run, Status, TestRecord, TestResult
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_iops, format_latency
from diskprof.reports import figures
from diskprof.reports.content.sweep_tables import capital, panel_title, value_words
from diskprof.reports.words import STATUSES
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, Piece, titled
from diskprof.tui.shell.run_signs import sign_of

_LEAST, _MOST = 7, 14
_SHADES, _ASCII = "·░▒▓█", ".:+*#"
METRICS = Quantity.IOPS, Quantity.BANDWIDTH, Quantity.LATENCY
_STEPS = 5
_TITLES = {Quantity.IOPS: "IOPS", Quantity.BANDWIDTH: "Bandwidth", Quantity.LATENCY: "Mean latency"}


def panels_of(run: Run) -> tuple[Matrix[TestRecord], ...]:
    """Every picture of the run's sweeps: two axes each, at one value of each other."""
    return tuple(panel for grid in grids(run) for panel in panels(grid))


def panel_of(found: Sequence[Matrix[TestRecord]], test: int) -> int:
    """Which picture has the cell of a test in it; the first if none has."""
    for at, panel in enumerate(found):
        if any(cell and cell.index == test for row in panel.cells for cell in row):
            return at
    return 0


def value_of(result: TestResult, metric: Quantity) -> float | None:
    """A cell's figure, reads and writes together."""
    if metric is Quantity.IOPS:
        return iops(result)
    if metric is Quantity.BANDWIDTH:
        return bandwidth(result)
    return mean_latency(result)


def _words(value: float, metric: Quantity) -> str:
    if metric is Quantity.IOPS:
        return format_iops(value)
    return format_bandwidth(value) if metric is Quantity.BANDWIDTH else format_latency(value)


_UNITS = {
    Quantity.IOPS: ((1.0, ""), (1e3, "thousands"), (1e6, "millions")),
    Quantity.BANDWIDTH: ((1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
    Quantity.LATENCY: ((1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")),
}
_DIGITS = 5


def _writing(values: Sequence[float], metric: Quantity, room: int) -> tuple[Callable[[float], str], str]:
    """How the figures are written in cells of `room`, and a unit that is said once where not every figure has room for its own."""

    def own(value: float) -> str:
        text = _words(value, metric)
        return text if len(text) <= room else text.replace(" ", "")

    if all(len(own(value)) <= room for value in values):
        return own, ""
    most = max(values)
    divisor, unit = next((pair for pair in _UNITS[metric] if most / pair[0] < 10**_DIGITS), _UNITS[metric][-1])

    def plain(value: float) -> str:
        share = value / divisor
        return f"{share:.0f}" if share >= 100 else f"{share:.3g}" if share >= 1 else f"{share:.2f}"

    return plain, unit


def sweep_lines(
    run: Run, at: int, metric: Quantity, current: int, width: int, height: int, charset: Charset, *, flat: bool
) -> list[Line]:
    """The picture number `at`; the cell of the test `current` is marked."""
    found = panels_of(run)
    if not found or height < 3 or width < 24:
        return []
    panel = found[at % len(found)]
    cells = [cell for each in found for row in each.cells for cell in row if cell]
    done = sum(cell.status in (Status.COMPLETE, Status.FAILED) for cell in cells)
    when = "done"
    if run.progress and not run.status.over and run.rounds_done:
        done, when = run.progress.test, f"of round {run.round}"
    part = f"{at % len(found) + 1} of {len(found)}   " if len(found) > 1 else ""
    across = panel.columns.values if panel.columns else ("",)
    label = max(len(words) for words in (figures.option(panel.rows.option), *_row_names(panel))) + 2
    size = max(_LEAST, min(_MOST, (width - label) // len(across)))
    known = [result for cell in cells if (result := measured(cell))]
    values = [value for result in known if (value := value_of(result, metric)) is not None]
    words, unit = _writing(values, metric, size - 2)
    name = f"{_TITLES[metric]}, {unit}" if unit else _TITLES[metric]
    title: list[Piece] = [(name, "title"), (f"  {clean(panel_title(panel))}", "strong")]
    if panel.columns:
        axes = f"{figures.option(panel.rows.option)} and {figures.option(panel.columns.option)}"
        title.append((f"  by {clean(axes)}", "quiet"))
    lines: list[Line] = [titled(title, [(f"{part}{done} of {len(cells)} cells {when}", "quiet")], width)]
    room = height - 2
    each = max(1, min(3, room // len(panel.rows.values)))
    here = next(
        ((y, x) for y, row in enumerate(panel.cells) for x, cell in enumerate(row) if cell and cell.index == current),
        (0, 0),
    )
    columns = _window(len(across), max(1, (width - label) // size), here[1])
    rows = _window(len(panel.rows.values), max(1, room // each), here[0])
    corner = fit(clean(capital(figures.option(panel.rows.option))), label - 1)
    head = "".join(" " + fit(clean(across[x]), size - 1, right=True) for x in columns)
    before, after = columns.start > 0, columns.stop < len(across)
    lines.append([(corner + _more("◂", before) + head[1:] + _more("▸", after), "quiet")])
    levels = _levels([cell for row in panel.cells for cell in row], metric)
    for y in rows:
        for line in range(each):
            middle = line == (each - 1) // 2
            up, down = y == rows.start > 0 and not line, y == rows.stop - 1 and line == each - 1
            more = _more("▲", up) if up else _more("▼", down and rows.stop < len(panel.rows.values))
            row: list[Piece] = [(fit(_row_names(panel)[y] if middle else "", label - 1) + more, "")]
            for x in columns:
                cell = panel.cells[y][x]
                row += _cell(
                    cell,
                    run,
                    metric,
                    words,
                    levels,
                    size,
                    charset,
                    flat=flat,
                    middle=middle,
                    here=bool(cell and cell.index == current),
                )
            lines.append(row)
    return lines[:height]


def _row_names(panel: Matrix[TestRecord]) -> list[str]:
    return [clean(value_words(panel.rows.option, value)) for value in panel.rows.values]


def _more(sign: str, there: bool) -> str:
    """The sign of further cells that way, for which there is no room."""
    return sign if there else " "


def _window(count: int, room: int, at: int) -> range:
    """So many neighbours, with `at` among them."""
    start = max(0, min(at - room // 2, count - room))
    return range(start, min(count, start + room))


def _levels(cells: Sequence[TestRecord | None], metric: Quantity) -> dict[int, int]:
    """Test -> 1 to 5 by its figure: shares of the highest, of latencies by their logarithm."""
    values = {
        cell.index: value
        for cell in cells
        if cell and (result := measured(cell)) and (value := value_of(result, metric)) is not None and value > 0
    }
    if not values:
        return {}
    low, high = min(values.values()), max(values.values())

    def share(value: float) -> float:
        if metric is not Quantity.LATENCY:
            return value / high
        return math.log(value / low) / math.log(high / low) if high > low else 1.0

    return {index: min(_STEPS, 1 + int(share(value) * _STEPS)) for index, value in values.items()}


def _cell(
    cell: TestRecord | None,
    run: Run,
    metric: Quantity,
    words: Callable[[float], str],
    levels: dict[int, int],
    size: int,
    charset: Charset,
    *,
    flat: bool,
    middle: bool,
    here: bool,
) -> list[Piece]:
    """A cell of `size`, the last of it blank; the one where the run stands is bright, with its sign."""
    if cell is None:
        return [(" " * size, "")]
    result = measured(cell)
    value = value_of(result, metric) if result else None
    if value is None:
        status = STATUSES[cell.status]
        sign, ink = sign_of(status)
        state = sign
        if cell.status is Status.RUNNING and run.progress:
            state = f"{sign} {run.progress.fraction:.0%}"
        elif cell.status in (Status.FAILED, Status.CANCELLED, Status.INTERRUPTED):
            short = f"{sign} fail" if cell.status is Status.FAILED else sign
            state = f"{sign} {status.word}" if size > 12 else short
        if here and cell.status is not Status.RUNNING:
            state, ink = f"▸ {state}" if len(state) + 2 < size else state, "strong"
        return [(fit(state if middle else "", size - 1, right=True), ink), (" ", "")]
    level = levels.get(cell.index, 1)
    text = words(value)
    mark = "▸" if here else (_ASCII if charset is Charset.ASCII else _SHADES)[level - 1] if flat else " "
    # The mark stands by its figure, not by that of the cell before.
    text = (
        fit(f"{mark} {text}" if len(text) < size - 2 else mark + text, size - 1, right=True)
        if middle
        else " " * (size - 1)
    )
    ink = ("strong" if here else "") if flat else f"cell-{level}{'-here' if here else ''}"
    return [(text, ink), (" ", "")]
