"""The limit of a disk: the highest load that keeps what was promised of its latency, found by trials.

A trial is a test at one load. By rate a load is so many I/Os a second, spread over as many copies of a job as may have one in
flight; by depth it is a queue depth. The idea of two loads that close in on the limit, short trials first, is that of
MLRsearch (Multiple Loss Ratio Search, draft-ietf-bmwg-mlrsearch), which finds the throughput of network devices.
"""

from enum import StrEnum
from math import ceil

from msgspec import Struct

from diskprof.model.expectation import Expectation
from diskprof.model.metric import LATENCIES

TRIAL_START_S = 0.6
"""What starting and ending a trial takes beside its measuring, in seconds."""

CURVE_POINTS = 10
"""Loads of a curve where no other number is given."""

_LIKELY = 0.9


class LimitBy(StrEnum):
    """What makes one load higher than another: RATE, I/Os a second, or DEPTH, I/Os in flight."""

    RATE = "rate"
    DEPTH = "depth"


class TrialKind(StrEnum):
    """How long a trial is, and what it is for: SHORT and FULL ones search, CURVE is a point of the load curve behind them, CELL one
    of a read/write map."""

    SHORT = "short"
    FULL = "full"
    CURVE = "curve"
    CELL = "cell"


class Trial(Struct, frozen=True):
    """A load: at most `depth` I/Os in flight, at `rate` I/Os a second; None: as many as there can be.

    Of a cell `rate` is that of reads, and `written` the bytes a second that are written beside them, None as many as there can be.
    """

    depth: int
    rate: int | None = None
    kind: TrialKind = TrialKind.SHORT
    written: int | None = 0

    @property
    def load(self) -> "Trial":
        """The load alone, however long the trial is."""
        return Trial(self.depth, self.rate, written=self.written)


class LimitRule(Struct, frozen=True):
    """What to search for, and with how much. `promises` are all to be kept at once; their `test` is empty.

    `depth` is the most I/Os in flight. A short trial measures for `short_s` seconds, a full one for `full_s`, each after `ramp_s`.
    No trial begins after `most_trials`, nor one that would end later than `most_s` after the first began. Of the load curve there
    are `curve` points, none where it is 0, each as long as a short trial.
    """

    promises: tuple[Expectation, ...]
    by: LimitBy = LimitBy.RATE
    depth: int = 64
    short_s: float = 4.0
    full_s: float = 9.0
    ramp_s: float = 0.25
    most_trials: int = 12
    most_s: float = 90.0
    curve: int = 0

    @property
    def most_short(self) -> int:
        """Short trials that fill the time of the search and of the curve: no search writes more than these."""
        return ceil(self.most_s / self.short_s) + self.curve

    @property
    def longest_s(self) -> float:
        """How long a search takes at the most, with the curve."""
        return self.most_s + self._curve_s

    @property
    def likely_s(self) -> float:
        """How long a search takes, as a rule, with the curve."""
        return _LIKELY * self.most_s + self._curve_s

    @property
    def _curve_s(self) -> float:
        return self.curve * self.seconds(Trial(self.depth, kind=TrialKind.CURVE))

    @property
    def first(self) -> Trial:
        """The highest load there is: with it a search begins."""
        return Trial(self.depth)

    @property
    def least(self) -> Trial:
        """One I/O at a time."""
        return Trial(1)

    def seconds(self, trial: Trial) -> float:
        """How long a trial takes, with its start and end."""
        return TRIAL_START_S + self.ramp_s + self.measuring_s(trial)

    def measuring_s(self, trial: Trial) -> float:
        return self.full_s if trial.kind is TrialKind.FULL else self.short_s


def promise_words(promise: Expectation) -> str:
    """`read.p99<=5ms`, as a person writes it."""
    figure = next((name for name, field in LATENCIES.items() if field == promise.metric.figure and "_" not in name), "")
    head = promise.metric.name.partition(".")[0]
    value = promise.promised
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if value >= scale:
            return f"{head}.{figure}{promise.operator}{value / scale:.10g}{unit}"
    return f"{head}.{figure}{promise.operator}{value:.10g}ns"


def promises_words(rule: LimitRule) -> str:
    """`read.p99<=5ms and write.p99<=10ms`."""
    return " and ".join(map(promise_words, rule.promises))
