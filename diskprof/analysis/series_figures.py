"""The headline figures of a series: every repeat, the median, and how far apart the repeats are."""

import statistics
from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.between_runs import median_interval
from diskprof.analysis.metrics import Measure
from diskprof.analysis.score import scores
from diskprof.model.metric import Quantity
from diskprof.model.run import Run, RunSummary, Status
from diskprof.model.run_series import RunSeries, Spread
from diskprof.model.sample import Direction

_QUANTITIES = {Measure.IOPS: Quantity.IOPS, Measure.BANDWIDTH: Quantity.BANDWIDTH}


class RepeatFigure(Struct, frozen=True):
    """A headline figure of one run: I/Os or bytes per second, or ns."""

    arm: int
    test: str
    title: str
    direction: Direction
    measure: Measure
    value: float

    @property
    def key(self) -> tuple[int, str, Direction]:
        return self.arm, self.test, self.direction


class SeriesFigure(Struct, frozen=True):
    """A headline figure of one target: its `values` in the order of the repeats, one at least."""

    arm: int
    test: str
    title: str
    direction: Direction
    measure: Measure
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> Spread:
        """The 95% interval of the median; of too few repeats their range."""
        interval = median_interval(self.values)
        low, high = (interval.low, interval.high) if interval else (min(self.values), max(self.values))
        return Spread(
            *(len(self.values), self.arm, self.test, self.direction),
            *(_QUANTITIES.get(self.measure, Quantity.LATENCY), self.median, low, high),
            range_only=interval is None,
        )


class SeriesResult(Struct, frozen=True):
    """A series, its runs in their order, and what they come to."""

    series: RunSeries
    runs: tuple[RunSummary, ...]
    figures: tuple[SeriesFigure, ...]


def repeat_figures(run: Run, arm: int) -> tuple[RepeatFigure, ...]:
    """The headline figures of a repeat of a target; none of one that is not complete, nor of a sweep."""
    if run.status is not Status.COMPLETE:
        return ()
    return tuple(
        RepeatFigure(arm, score.test.name, score.test.title, score.direction, score.measure, score.value)
        for score in scores(run)
    )


def series_figures(repeats: Sequence[Sequence[RepeatFigure]]) -> tuple[SeriesFigure, ...]:
    """The figures of all repeats, each of them by target, in the order of the first run of each."""
    found: dict[tuple[int, str, Direction], list[RepeatFigure]] = {}
    for figures in repeats:
        for figure in figures:
            found.setdefault(figure.key, []).append(figure)
    return tuple(
        SeriesFigure(
            first.arm, first.test, first.title, first.direction, first.measure, tuple(each.value for each in same)
        )
        for same in sorted(found.values(), key=lambda same: same[0].arm)
        for first in same[:1]
    )


def widest(figures: Sequence[SeriesFigure]) -> Spread | None:
    """The spread that is the largest share of its median; one without an interval before all that have one."""
    spreads = [figure.spread for figure in figures]
    return max(spreads, key=lambda spread: (spread.range_only, spread.share), default=None)
