"""The history of like runs as a document: each figure, what it is now, and where it changed by more than chance."""

from collections.abc import Sequence
from datetime import datetime

from diskprof.analysis.history import FigureHistory, RunHistory
from diskprof.analysis.levels import LEAST
from diskprof.model.limit import promises_words
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Chart, Heading, Paragraph, Table
from diskprof.reports.charts.axes import NameAxis, Scale
from diskprof.reports.charts.plot import Curve, Facet, Plot
from diskprof.reports.charts.timeline import Steps
from diskprof.reports.content.facts import disks
from diskprof.reports.content.history.figure_names import figure_name
from diskprof.reports.content.history.run_times import run_time, run_times
from diskprof.reports.layout import Column
from diskprof.reports.words import CHANGES, DIRECTIONS

MOST_CHARTS = 6
_LEVEL = "level"


def history_report(history: RunHistory, *, charts: bool = False, level: int = 1) -> tuple[Block, ...]:
    """The document of a history, whose heading is of `level`; `charts` for a page."""
    drawn = [Chart(history_plots(history))] if charts and _drawable(history) else []
    tables = [table for table in (figure_table(history), change_table(history.figures)) if table]
    return (Heading(title(history), level), Paragraph(sentence(history)), *tables, *drawn)


def title(history: RunHistory) -> str:
    """`History of Quick check: Samsung SSD 980 PRO 1TB`."""
    run = history.newest
    models = list(dict.fromkeys(disk.model for disk in disks(run) if disk.model))
    return f"History of {run.plan.preset_title}: {' and '.join(models) or run.plan.target.path}"


def sentence(history: RunHistory) -> str:
    """How many runs there are, since when, and what they say."""
    newest = history.newest.started_at
    runs = f"{figures.count(history.runs, 'like run')} ({run_times(history.since, newest)}){_in_vain(history)}"
    if history.runs < LEAST:
        return f"{runs}. Changes show from {LEAST} runs on."
    changed = sum(bool(figure.changes) for figure in history.figures)
    if not changed:
        return f"{runs}. No change beyond chance."
    return f"{runs}. {changed} of {figures.count(len(history.figures), 'figure')} changed."


def _in_vain(history: RunHistory) -> str:
    """`; in 2 nothing kept read.p99<=5ms (the last: k3f7p2qa)`: they are no points of a chart."""
    count, rule = len(history.none_kept), history.newest.plan.limit
    if not count or rule is None:
        return ""
    return f"; in {count} nothing kept {promises_words(rule)} (the last: {history.none_kept[-1]})"


def figure_table(history: RunHistory) -> Table:
    """A row for each figure: its runs, its range, its median since the last change."""
    columns = (
        Column("Test", least=18, middle=True),
        *(Column("Figure"), Column("Runs", right=True, spare=2)),
        *(Column("Lowest", right=True, spare=1), Column("Highest", right=True, spare=1)),
        *(Column("Median now", right=True, short="Median"), Column("Since", spare=3)),
        Column("Last change", right=True, short="Change"),
    )
    return Table(columns, tuple(_figure_row(figure) for figure in history.figures))


def _figure_row(figure: FigureHistory) -> tuple[Cell, ...]:
    values = [run.value for run in figure.runs]
    now = figure.levels[-1]
    last = figure.changes[-1] if figure.changes else None
    change = Cell("none") if last is None else Cell(_ratio(last.ratio), CHANGES[last.verdict].meaning)
    return (
        Cell(figure.title),
        Cell(figure_name(figure.measure, figure.direction), DIRECTIONS[figure.direction].meaning),
        Cell(str(len(values))),
        *(Cell(figures.figure(figure.measure, value)) for value in (min(values), max(values), now.median)),
        Cell(_when(figure, figure.runs[now.first].started_at)),
        change,
    )


def change_table(histories: Sequence[FigureHistory]) -> Table | None:
    """A row for each change of these figures, the newest first; None where nothing changed."""
    found = [(change, figure) for figure in histories for change in figure.changes]
    found.sort(key=lambda pair: pair[0].run.started_at, reverse=True)
    columns = (
        *(Column("Changed"), Column("First run"), Column("Test", least=10, middle=True), Column("Figure")),
        *(Column("Before", right=True), Column("After", right=True), Column("Change", right=True), Column("", spare=1)),
    )
    rows = []
    for change, figure in found:
        word = CHANGES[change.verdict]
        rows.append(
            (
                Cell(_when(figure, change.run.started_at)),
                Cell(change.run.run_id),
                Cell(figure.title),
                Cell(figure_name(figure.measure, figure.direction), DIRECTIONS[figure.direction].meaning),
                *(Cell(figures.figure(figure.measure, value)) for value in (change.before, change.after)),
                Cell(_ratio(change.ratio), word.meaning),
                Cell(word.word, word.meaning),
            )
        )
    return Table(columns, tuple(rows)) if rows else None


def _when(figure: FigureHistory, moment: datetime) -> str:
    return run_time(moment, figure.runs[0].started_at, figure.runs[-1].started_at)


def _ratio(ratio: float | None) -> str:
    return figures.MISSING if ratio is None else figures.relative(ratio)


def history_plots(history: RunHistory) -> tuple[Plot, ...]:
    """A plot of each figure that changed, of the others as many as there is room for; none of a single run."""
    known = _drawable(history)
    first = [figure for figure in known if figure.changes]
    chosen = [*first, *(figure for figure in known if not figure.changes)][:MOST_CHARTS]
    return tuple(history_plot(figure) for figure in known if figure in chosen)


def _drawable(history: RunHistory) -> list[FigureHistory]:
    return [figure for figure in history.figures if len(figure.runs) > 1]


def history_plot(figure: FigureHistory, inks: tuple[str, str] = ("run-0", "run-1")) -> Plot:
    """A figure run by run, and the levels that it lay around."""
    values = Steps([run.value for run in figure.runs])
    around = Steps([level.median for level in figure.levels for _ in range(level.first, level.end)])
    scale = Scale.of(figures.METRICS[figure.measure].quantity, values.highest)
    unit = f" ({scale.suffix})" if scale.suffix else ""
    return Plot(
        f"{figure.title}: {figure_name(figure.measure, figure.direction)}{unit}",
        NameAxis([_when(figure, run.started_at) for run in figure.runs]),
        (Facet(scale, (Curve(_LEVEL, around, inks[1]), Curve("run", values, inks[0]))),),
    )
