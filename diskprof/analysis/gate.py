"""Whether new runs keep what the like runs before them did, figure by figure.

A first run that is worse than the median of the like runs by more than half of what is allowed raises the question. It is not
counted in the answer, for it was chosen by being bad: new runs confirm or clear it. An alarm takes three of them or more, a median
that is worse by what is allowed and by more than the noise of a run, and an interval of the ratio of medians that is certain of
half of that.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import inf
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.between_runs import Interval, Ratio, ratio_of_medians
from diskprof.analysis.history import FigureHistory, RunHistory, judged, points_of, run_history
from diskprof.analysis.metrics import Better, Measure
from diskprof.analysis.search_results import searches
from diskprof.model.earlier import EarlierResult
from diskprof.model.run import Run
from diskprof.model.sample import Direction

ALLOWED = 0.05
"""By what share a figure may be worse, unless another is given."""

LEAST_HISTORY, MOST_HISTORY = 5, 20
"""Of fewer like runs nothing is said; of more the newest count."""

LEAST_CONFIRMING, MOST_NEW = 3, 10
"""An alarm takes so many runs after the first; after MOST_NEW in all, or what is given, no more are made."""

_NOISES = 1.25
"""An alarm takes a difference of so many times the noise of a run: with more noise than that, what looks worse may be anything."""

_NORMAL = 1.4826
"""The standard deviation of a normal distribution in median absolute deviations, which a wild run does not move."""


class GateOutcome(StrEnum):
    """UNCLEAR: worse, and the runs so far may be so by chance."""

    KEPT = "kept"
    REGRESSED = "regressed"
    UNCLEAR = "cannot tell"


class Held(Struct, frozen=True):
    """The figures of like runs (`before`) and of new ones (`after`), the oldest first, all above zero.

    Of a new search in which no load kept what was promised it is 0. `ratio` is of the runs that confirm where there are any, else
    of the first. `noise` is the spread of the like runs, as a share of their median.
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    better: Better
    ratio: Ratio
    noise: float
    outcome: GateOutcome

    @property
    def median_before(self) -> float:
        return median(self.before)

    @property
    def median_now(self) -> float:
        """Of the runs that the ratio is of."""
        return median(self.after[1:] or self.after)

    @property
    def alarming(self) -> float:
        """The smallest difference, as a share, that is more than the noise of a run."""
        return _NOISES * self.noise

    @property
    def worse(self) -> float:
        """By what share the runs that the ratio is of are worse; negative where they are better."""
        return _worse(self.ratio.ratio, self.better)


class GateFigure(Struct, frozen=True):
    test: str
    title: str
    direction: Direction
    measure: Measure
    held: Held

    @property
    def outcome(self) -> GateOutcome:
        return self.held.outcome


class GateResult(Struct, frozen=True):
    """The figures, by what share they may be worse, and the ids of the runs that they are of."""

    figures: tuple[GateFigure, ...]
    allowed: float
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def outcome(self) -> GateOutcome:
        """That of the worst figure."""
        found = {figure.outcome for figure in self.figures}
        return next(each for each in (GateOutcome.REGRESSED, GateOutcome.UNCLEAR, GateOutcome.KEPT) if each in found)


def gate(
    newest: Run,
    before: Sequence[EarlierResult],
    after: Sequence[EarlierResult],
    allowed: float = ALLOWED,
    *,
    most: int = MOST_NEW,
    since_change: bool = True,
) -> GateResult:
    """Hold the new runs, whose results are `after`, against the like runs `before`; both oldest first, `newest` one of them.

    No more than `most` new runs will be made. Of searches for a limit those count that found one; where most of the like runs found
    none, another one without is nothing new. Of the like runs the newest MOST_HISTORY count, and, with `since_change`, of each
    figure those since its last change. Raises ValueError where the two have no figure above zero in common.
    """
    old = run_history(newest, before)
    known = {} if _rarely_kept(old, before) else {(each.test, each.direction): each for each in old.figures}
    figures = []
    for figure in judged(newest):
        earlier, values = (
            known.get((figure.test, figure.direction)),
            tuple(one.value for one in points_of(figure, after)),
        )
        if earlier is None or not values:
            continue
        past = _newest(earlier, since_change)
        if min(past) > 0 and (searches(newest.plan) or min(values) > 0):
            held = hold(past, values, earlier.better, allowed, most=most)
            figures.append(GateFigure(figure.test, figure.title, figure.direction, figure.measure, held))
    if not figures:
        raise ValueError("no figure in common")
    return GateResult(tuple(figures), allowed, _runs(before), _runs(after))


def _rarely_kept(old: RunHistory, before: Sequence[EarlierResult]) -> bool:
    """Whether most of the newest like runs searched for a limit in vain."""
    newest = _runs(before)[-MOST_HISTORY:]
    return 2 * sum(run in old.none_kept for run in newest) > len(newest)


def hold(
    before: Sequence[float],
    after: Sequence[float],
    better: Better,
    allowed: float = ALLOWED,
    *,
    most: int = MOST_NEW,
) -> Held:
    """Hold one figure of new runs against that of like runs. A new one may be 0; raises ValueError of others not above zero."""
    middle, counted = median(before), after[1:] or after
    # Of runs without a figure nothing but their median is known.
    ratio = ratio_of_medians(before, counted) if min(counted) else Ratio(median(counted) / middle)
    noise = _NORMAL * median(abs(value - middle) for value in before) / middle
    held = Held(tuple(before), tuple(after), better, ratio, noise, GateOutcome.KEPT)
    return replace(held, outcome=_outcome(held, allowed, most))


def _outcome(held: Held, allowed: float, most: int) -> GateOutcome:
    worse, interval, confirming = held.worse, held.ratio.interval or Interval(0, inf), len(held.after) - 1
    low, high = sorted((_worse(interval.low, held.better), _worse(interval.high, held.better)))
    alarming = max(allowed, held.alarming)
    if confirming >= LEAST_CONFIRMING and not held.median_now:
        return GateOutcome.REGRESSED
    if confirming != 1 and worse <= allowed / 2:
        return GateOutcome.KEPT
    if confirming > 1 and high < allowed:
        return GateOutcome.KEPT
    if confirming >= LEAST_CONFIRMING and worse >= alarming and low > alarming / 2:
        return GateOutcome.REGRESSED
    return GateOutcome.KEPT if len(held.after) >= most and worse < allowed else GateOutcome.UNCLEAR


def _worse(ratio: float, better: Better) -> float:
    return 1 - ratio if better is Better.HIGHER else ratio - 1


def _newest(figure: FigureHistory, since_change: bool) -> tuple[float, ...]:
    """Never fewer than LEAST_HISTORY, as far as there are that many."""
    first = min(figure.levels[-1].first, len(figure.runs) - LEAST_HISTORY) if since_change else 0
    return tuple(run.value for run in figure.runs[max(0, first) :][-MOST_HISTORY:])


def _runs(results: Sequence[EarlierResult]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.run_id for one in results))
