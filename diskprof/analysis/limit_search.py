"""The search for the highest load that keeps a promise. Pure: what the trials so far came to in, the next trial out.

First the highest load and one I/O at a time, then short trials between the lowest load that missed the promise and the highest
below it that kept it. Where in between, what they measured tells: latency rises so steeply that two trials tell better where it is
reached than whether each kept it. Once the two are near each other trials are full ones. At last both are confirmed. A load whose
trials contradict each other is tried again. What is told is the two loads and how often each kept it, never a point between them.
"""

from collections.abc import Sequence
from math import fsum, inf, isfinite, log
from operator import mul
from statistics import fmean

from msgspec import Struct

from diskprof.model.limit import LimitBy, LimitRule, Trial, TrialKind

CLOSE = 0.035
"""The two loads are close where they are apart by no more than this part of the higher."""

NEAR = 0.25
"""Within so much of the higher load a short trial is a throw of dice."""

BELOW, ABOVE = 0.99, 1.02
"""Loads are tried so far from where the limit is thought to be: nearer, either end could keep it."""

LEAST_STEP, LEAST_APART = 0.25, 0.015
"""A load that is tried is no nearer to either end than this part of their distance, and this part of the higher.

Counting alone makes a rate of 1,600 over 3 s waver by 1.4%.
"""

FULL_AT_KEPT, FULL_AT_MISSED = 2, 1
"""So many full trials confirm each of them."""

AGREE = 3
"""Trials of a load that contradict each other are added to until one side has this many of their votes, or the trials are over."""

FULL_VOTES = 2
"""A full trial counts as much as two short ones."""

LOWEST = 1 / 32
"""Below this part of the highest load no load is tried: nothing keeps the promise."""


class TrialOutcome(Struct, frozen=True):
    """`done` are the I/Os a second that a trial did, reads and writes together; `kept`: it kept every promise.

    `strain` is the largest part of what is promised that was measured: 1 is just kept; infinite where nothing was done.
    """

    trial: Trial
    done: float
    kept: bool
    strain: float


class Level(Struct, frozen=True):
    """A load and what its trials came to."""

    trial: Trial
    outcomes: tuple[TrialOutcome, ...]

    @property
    def done(self) -> float:
        """I/Os a second, the mean of its trials."""
        return fmean(outcome.done for outcome in self.outcomes)

    @property
    def log_strain(self) -> float:
        """The mean of its trials, by their votes; infinite where one is."""
        votes = [FULL_VOTES if outcome.trial.kind is TrialKind.FULL else 1 for outcome in self.outcomes]
        logs = [log(outcome.strain) if outcome.strain else -inf for outcome in self.outcomes]
        return fsum(map(mul, votes, logs)) / sum(votes)

    @property
    def times_kept(self) -> int:
        return sum(outcome.kept for outcome in self.outcomes)

    @property
    def times(self) -> int:
        return len(self.outcomes)

    @property
    def full(self) -> int:
        """How many of its trials were full ones."""
        return sum(outcome.trial.kind is TrialKind.FULL for outcome in self.outcomes)

    @property
    def votes(self) -> tuple[int, int]:
        """For kept and for missed."""
        kept, missed = 0, 0
        for outcome in self.outcomes:
            votes = FULL_VOTES if outcome.trial.kind is TrialKind.FULL else 1
            kept, missed = kept + votes * outcome.kept, missed + votes * (not outcome.kept)
        return kept, missed

    @property
    def kept(self) -> bool:
        """By the votes; where they are even it did not."""
        kept, missed = self.votes
        return kept > missed

    @property
    def contradicts(self) -> bool:
        """Whether its trials say both, and neither side has won yet."""
        kept, missed = self.votes
        return bool(kept and missed) and abs(kept - missed) < AGREE - 1


class Bracket(Struct, frozen=True):
    """The highest load that kept the promise below the lowest that missed it, and that one; None where there is none (yet).

    `least` is one I/O at a time, where it was tried. `levels` are all loads that were, from the lowest on.
    """

    kept: Level | None
    missed: Level | None
    least: Level | None
    levels: tuple[Level, ...]

    @property
    def confirmed(self) -> bool:
        """Whether both ends were confirmed by full trials, as far as there are two, and nothing contradicts."""
        ends = [end for end in (self.kept, self.missed) if end]
        return bool(ends) and all(end.full and not end.contradicts for end in ends)


def place(rule: LimitRule, level: Level) -> float:
    """Where a load stands among the others: its depth, or its rate, which without a limit is what was done."""
    if rule.by is LimitBy.DEPTH:
        return level.trial.depth
    return level.done if level.trial.rate is None else level.trial.rate


def bracket_of(rule: LimitRule, outcomes: Sequence[TrialOutcome]) -> Bracket:
    """What the trials so far say."""
    found: dict[Trial, list[TrialOutcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.trial.load, []).append(outcome)
    levels = sorted((Level(trial, tuple(each)) for trial, each in found.items()), key=lambda level: place(rule, level))
    missed = next((level for level in levels if not level.kept), None)
    below = [level for level in levels if level.kept and (missed is None or place(rule, level) < place(rule, missed))]
    least = next((level for level in levels if level.trial == rule.least), None)
    return Bracket(below[-1] if below else None, missed, least, tuple(levels))


def is_close(rule: LimitRule, bracket: Bracket) -> bool:
    """Whether no load between the two is worth a trial."""
    if bracket.kept is None or bracket.missed is None:
        return False
    if rule.by is LimitBy.DEPTH and bracket.missed.trial.depth - bracket.kept.trial.depth <= 1:
        return True
    return _apart(rule, bracket.kept, bracket.missed) <= CLOSE


def _apart(rule: LimitRule, kept: Level, missed: Level) -> float:
    """The distance of two loads as a share of the higher."""
    low, high = place(rule, kept), place(rule, missed)
    return (high - low) / high


def next_trial(rule: LimitRule, outcomes: Sequence[TrialOutcome], spent_s: float) -> Trial | None:
    """The load to try next, `spent_s` seconds after the first trial began; None where the search is over."""
    if len(outcomes) >= rule.most_trials:
        return None
    wanted = _wanted(rule, bracket_of(rule, outcomes)) if outcomes else rule.first
    if wanted is None:
        return None
    # What is left may be enough for a short one.
    fits = (each for each in dict.fromkeys((wanted, wanted.load)) if spent_s + rule.seconds(each) <= rule.most_s)
    return next(fits, None)


def _wanted(rule: LimitRule, bracket: Bracket) -> Trial | None:
    kept, missed = bracket.kept, bracket.missed
    if missed is None:
        return _confirming(bracket.levels[-1])
    above = [level for level in bracket.levels if level.kept and place(rule, level) > place(rule, missed)]
    if above and (missed.full < FULL_AT_MISSED or missed.contradicts):
        # A higher load kept it.
        return _full(missed)
    if kept is None:
        return _lower(rule, bracket, missed)
    if not is_close(rule, bracket):
        return _between(rule, kept, missed)
    if kept.contradicts or missed.contradicts:
        return _full(kept if kept.contradicts else missed)
    if missed.full < FULL_AT_MISSED:
        return _full(missed)
    return _full(kept) if kept.full < FULL_AT_KEPT else None


def _full(level: Level) -> Trial:
    return Trial(level.trial.depth, level.trial.rate, TrialKind.FULL)


def _confirming(level: Level) -> Trial | None:
    """A full trial of the highest load there is, as long as all that there is keeps the promise."""
    return _full(level) if level.full < FULL_AT_KEPT or level.contradicts else None


def _lower(rule: LimitRule, bracket: Bracket, missed: Level) -> Trial | None:
    """A load below the lowest, which missed the promise."""
    if bracket.least is None:
        return rule.least
    if rule.by is LimitBy.RATE:
        # One at a time may be as many as the disk allows: fewer may keep it all the same.
        highest = max(place(rule, level) for level in bracket.levels)
        rate = round(place(rule, missed) / 2)
        if rate >= max(1, LOWEST * highest):
            return Trial(rule.depth, rate)
    return _full(bracket.least) if bracket.least.full < FULL_AT_MISSED or bracket.least.contradicts else None


def _between(rule: LimitRule, kept: Level, missed: Level) -> Trial:
    """A load between the two: where the limit is thought to be, or beside that once they are near each other."""
    low, high = place(rule, kept), place(rule, missed)
    near = _apart(rule, kept, missed) <= NEAR
    wanted = _thought(kept, low, missed, high)
    if near:
        wanted *= BELOW if low < wanted * (BELOW - CLOSE / 4) else ABOVE
    step = max(LEAST_STEP * (high - low), LEAST_APART * high)
    load = round(min(max(wanted, low + step), high - step))
    kind = TrialKind.FULL if near else TrialKind.SHORT
    return Trial(load, kind=kind) if rule.by is LimitBy.DEPTH else Trial(rule.depth, load, kind)


def _thought(kept: Level, low: float, missed: Level, high: float) -> float:
    """Where latency reaches what was promised, on a line through the two in logarithms of the latency.

    The middle where one of them is as fast as it can be, which is another kind of load.
    """
    below, above = kept.log_strain, missed.log_strain
    if missed.trial.rate is None or kept.trial.rate is None or not isfinite(below - above) or below >= above:
        return (low + high) / 2
    return low + (high - low) * min(1.0, max(0.0, -below / (above - below)))
