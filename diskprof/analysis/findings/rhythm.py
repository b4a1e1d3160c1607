"""Stalls that come back at regular times."""

import math
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from diskprof.analysis.findings.view import TestView
from diskprof.analysis.statistics import mean, median, standard_deviation, variation
from diskprof.analysis.windows import Window
from diskprof.model.run import Finding, Weight
from diskprof.model.units import format_duration, format_iops

DIP = 0.5
"""An interval with less than half the IOPS of the median one is a dip."""

COUNTED = 36
"""With fewer I/Os in the median interval counting alone makes dips: half of 36 is three of its square roots away."""

LEAST = 5
"""So many dips make four gaps, which chance does not make equal."""

REGULAR = 0.15
"""The gaps between dips vary by no more than this share of their mean, or by half an interval, which is how fine time is cut."""

INTERVALS_APART = 4
"""Dips closer than this are no rhythm but how the limit of a volume is handed out."""

STEADY = 0.25
"""Between the dips the IOPS of the intervals vary by no more than this; else dips are just the lowest of many values."""

SPAN = 0.5
"""First and last dip lie at least half the test apart."""


class Rhythm(Struct, frozen=True):
    """Every `period_s` seconds, first at `first_s`, `times` times, down to `low` IOPS from `usual`, for `length_s` each."""

    period_s: float
    first_s: float
    times: int
    low: float
    usual: float
    length_s: float


def rhythm(intervals: Sequence[Window]) -> Rhythm | None:
    """The rhythm of the dips in intervals, if there is one."""
    usual = median([window.iops for window in intervals])
    usual_ios = median([float(window.ios) for window in intervals])
    if not usual or not usual_ios or usual_ios < COUNTED:
        return None
    dips = _dips(intervals, DIP * usual)
    between = variation([window.iops for window in intervals if window.iops >= DIP * usual])
    if len(dips) < LEAST or between is None or between > STEADY:
        return None
    starts = [dip[0].start_s for dip in dips]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    period, spread = mean(gaps), standard_deviation(gaps)
    if period is None or spread is None:
        return None
    interval = (intervals[-1].end_s - intervals[0].start_s) / len(intervals)
    if period < INTERVALS_APART * interval or spread > max(REGULAR * period, interval / 2):
        return None
    if sum(gaps) < SPAN * (intervals[-1].end_s - intervals[0].start_s):
        return None
    lengths = [dip[-1].end_s - dip[0].start_s for dip in dips]
    lowest = [min(window.iops for window in dip) for dip in dips]
    return Rhythm(period, starts[0], len(dips), math.fsum(lowest) / len(dips), usual, math.fsum(lengths) / len(dips))


def _dips(intervals: Sequence[Window], below: float) -> list[list[Window]]:
    """The stretches of neighbouring intervals below so many IOPS."""
    found: list[list[Window]] = []
    before = False
    for window in intervals:
        low = window.iops < below
        if low and before:
            found[-1].append(window)
        elif low:
            found.append([window])
        before = low
    return found


def periodic_stalls(view: TestView) -> Finding | None:
    """Something comes back at regular times and takes the disk: a flusher, a journal, garbage collection, an account of credits."""
    found = None if view.load.rests else rhythm(view.intervals)
    if found is None:
        return None
    return view.found(
        "periodic-stalls",
        Weight.LIMIT,
        "Throughput drops at regular intervals.",
        f"every {format_duration(found.period_s)}, {found.times} times, first {format_duration(found.first_s)} into the test: "
        f"from {format_iops(found.usual)} to {format_iops(found.low)} IOPS for {format_duration(found.length_s)}",
        "Look for a periodic cause: 5 s suggests the journal or write-back; otherwise firmware or the provider.",
    )
