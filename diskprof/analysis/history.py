"""The like runs of a run, oldest first: how each of their figures went, and where it changed by more than chance."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from diskprof.analysis.comparison import NOISE
from diskprof.analysis.levels import Stretch, levels
from diskprof.analysis.metrics import Better, Measure
from diskprof.analysis.score import earlier_value, figures_of
from diskprof.analysis.search_results import JudgedFigure, keeping_nothing, search_figures
from diskprof.model.earlier import EarlierResult
from diskprof.model.metric import Change
from diskprof.model.run import Run
from diskprof.model.sample import Direction


class RunFigure(Struct, frozen=True):
    """A figure of one run: IOPS or bytes per second, or ns."""

    run_id: str
    started_at: datetime
    value: float


class CourseChange(Struct, frozen=True):
    """From `run` on a figure lies around another level: `before` and `after` are the medians of both sides."""

    run: RunFigure
    before: float
    after: float
    verdict: Change

    @property
    def ratio(self) -> float | None:
        """0.5 is half as much again; None from nothing."""
        return self.after / self.before - 1 if self.before else None


class FigureHistory(Struct, frozen=True):
    """One figure of one test over the runs, oldest first; `levels` are by their numbers in `runs`."""

    test: str
    title: str
    direction: Direction
    measure: Measure
    better: Better
    runs: tuple[RunFigure, ...]
    levels: tuple[Stretch, ...]

    @property
    def changes(self) -> tuple[CourseChange, ...]:
        found = []
        for before, after in zip(self.levels, self.levels[1:], strict=False):
            rose = after.median > before.median
            verdict = Change.BETTER if rose is (self.better is Better.HIGHER) else Change.WORSE
            found.append(CourseChange(self.runs[after.first], before.median, after.median, verdict))
        return tuple(found)


class RunHistory(Struct, frozen=True):
    """The figures of the runs that are like `newest`, of which there are `runs`, the first one begun at `since`.

    `none_kept` are those that searched for a limit and found no load that kept what was promised: they are in no figure.
    """

    newest: Run
    runs: int
    since: datetime
    figures: tuple[FigureHistory, ...]
    none_kept: tuple[str, ...] = ()


def run_history(newest: Run, results: Sequence[EarlierResult]) -> RunHistory:
    """The history of the runs that `results`, oldest first, are of; `newest` is one of them and says which figures count.

    A figure is that by which a test is judged first: IOPS, of large blocks bandwidth, else the mean latency; of a search what it
    found.
    """
    none_kept = keeping_nothing(newest.plan, results)
    by_figure = defaultdict[tuple[str, Direction], list[EarlierResult]](list)
    for result in results:
        if result.run_id not in none_kept:
            by_figure[result.test, result.direction].append(result)
    figures = []
    for each in judged(newest):
        runs = points_of(each, by_figure[each.test, each.direction])
        if runs:
            better = Better.HIGHER if each.measure in (Measure.IOPS, Measure.BANDWIDTH) else Better.LOWER
            parts = levels([run.value for run in runs], NOISE)
            figures.append(FigureHistory(each.test, each.title, each.direction, each.measure, better, runs, parts))
    started = {one.run_id: one.started_at for one in results}
    since = next(iter(started.values()), newest.started_at)
    return RunHistory(newest, len(started), since, tuple(figures), none_kept)


def points_of(figure: JudgedFigure, results: Iterable[EarlierResult]) -> tuple[RunFigure, ...]:
    """What each of these results has of a figure."""
    return tuple(
        RunFigure(one.run_id, one.started_at, value)
        for one in results
        if (one.test, one.direction) == (figure.test, figure.direction)
        and (value := earlier_value(one, figure.measure)) is not None
    )


def judged(newest: Run) -> Sequence[JudgedFigure]:
    """What a run is judged by: what a search found, else each test."""
    return search_figures(newest.plan) or [
        JudgedFigure(record.name, record.title, direction, measure) for record, direction, measure in figures_of(newest)
    ]
