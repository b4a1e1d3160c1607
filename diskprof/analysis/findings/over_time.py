"""How a test went over time: too short, unsteady, a burst that ended, stalls, outliers."""

import math
from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.bursts import pairs, spent_above
from diskprof.analysis.findings.hardware import other_io
from diskprof.analysis.findings.rhythm import rhythm
from diskprof.analysis.findings.view import TestView
from diskprof.analysis.statistics import ChangePoint, change_point, median, steady_state, variation
from diskprof.analysis.windows import Window, rolling
from diskprof.model.run import Finding, Status, Weight
from diskprof.model.units import (
    amount,
    format_duration,
    format_iops,
    format_latency,
    format_percent,
    parse_duration,
    parse_size,
)

SHORT_S = 10.0
"""Tests that measured less than this say little about what a disk keeps up: write caches and burst credits last longer."""

UNSTEADY = 0.25
"""Coefficient of variation of the IOPS from second to second from which the average is no typical second."""

COUNTING = 3.0
"""A slow disk varies by counting alone: by 1/sqrt(n) for n I/Os a second. Only more than this many times it counts."""

DRIFT = 0.20
TRENDED = 0.6
"""A trend is a fitted line that gains or loses a fifth of the mean over the test and explains most of the variance."""

LEVELS = 0.25
EXPLAINED = 0.8
LEVEL_S = 2.0
LEVEL_INTERVALS = 4
LEVEL_WINDOW_S = 0.5
"""A change of level: by a quarter, two levels explain four fifths of the variance of half seconds, each lasts 2 s and 4 intervals.

Volumes hand their limit out in slices of 0.1 s (F52): an interval of 0.25 s holds two or three, and varies by a fifth by that.
"""

TYPICAL_S = 1.0
"""A level is the median of its seconds: a second holds ten slices of a limit, one more or less moves it by a tenth."""

STALL_S = 1.0
PAUSES = 10
"""No I/O completed for this long: ten times what a hard disk needs under load; and ten of the pauses that the test makes.

And ten times the mean time from one I/O to the next, the longest such stretch left out.
"""

DRAIN = 2.0
"""What is in flight at the end is done within the mean latency, by Little's law; twice that leaves room for slices and spread."""

WORKING = 0.75
"""A device that did something in so many intervals of a stall did not stand still."""

OTHERS_PART = 0.5
"""Others are why a test became slower or faster where what they did changed by half as much, the other way."""

OUTLIER_RATIO = 100.0
OUTLIER_NS = 100e6
BEYOND_TAIL = 10.0
"""A slowest I/O that is all three: 100 times the median, 100 ms, which a person waiting for a query notices, and ten times p99.

What one I/O in a hundred takes is no single I/O: a volume that hands out its I/Os in slices lets many wait for the next slice.
"""

FEW = 100
"""With fewer I/Os than this p99 is one single I/O."""

_LEAST_WINDOWS = 5
_LEAST_FOR_TREND = 8


def not_steady(view: TestView) -> Finding | None:
    """The average of such a test depends on when one looks."""
    seconds = view.wholes
    iops = [window.iops for window in seconds]
    spread = variation(iops)
    if view.uneven or spread is None or len(iops) < _LEAST_WINDOWS:
        return None
    by_counting = COUNTING / math.sqrt(sum(window.ios for window in seconds) / len(seconds))
    drift = steady_state([window.end_s for window in seconds], iops) if len(iops) >= _LEAST_FOR_TREND else None
    span = f"from {format_iops(min(iops))} to {format_iops(max(iops))} IOPS from second to second"
    if spread > max(UNSTEADY, by_counting):
        evidence = f"{span}, a spread of {format_percent(spread)} of the mean"
    elif drift and abs(drift.drift) > max(DRIFT, by_counting) and drift.trended >= TRENDED:
        way = "rising" if drift.drift > 0 else "falling"
        evidence = (
            f"{way} by {format_percent(abs(drift.drift))} of the mean over {format_duration(view.seconds)}, {span}"
        )
    else:
        return None
    if level_change(view) or rhythm(view.intervals):
        return None
    return view.found(
        "not-steady",
        Weight.DOUBT,
        "Throughput varied too much for an average.",
        evidence,
        "Run longer and check the chart; typical causes: other load, caches, heat.",
    )


class LevelChange(Struct, frozen=True):
    """IOPS before and after a change of level, and when that was seen (s into the test)."""

    at_s: float
    before: float
    after: float


def level_change(view: TestView) -> LevelChange | None:
    """Two clearly different levels of IOPS."""
    halves, intervals = view.halves, view.intervals
    found = _change(halves)
    exact = found if halves is intervals else _change(intervals)
    if view.uneven or found is None or exact is None or found.explained < EXPLAINED:
        return None
    # Both are the same change, or it is none: the intervals only say more exactly when it was.
    at_s = intervals[exact.index].start_s
    if abs(at_s - halves[found.index].start_s) > 2 * LEVEL_WINDOW_S:
        return None
    # The change fell into one of the two intervals beside it, which belongs to neither level.
    before, after = _level(intervals[: exact.index - 1]), _level(intervals[exact.index + 1 :])
    if before is None or after is None:
        return None
    high, low = max(before, after), min(before, after)
    return LevelChange(at_s, before, after) if high > 0 and (high - low) / high >= LEVELS else None


def _level(parts: Sequence[Window]) -> float | None:
    """IOPS; None of less than a second."""
    return median([window.iops for window in rolling(parts, TYPICAL_S)])


def _change(parts: Sequence[Window]) -> ChangePoint | None:
    lasted = parts[-1].end_s if parts else 0.0
    if lasted < 2 * LEVEL_S * 0.999:
        return None
    return change_point(
        [window.iops for window in parts], max(LEVEL_INTERVALS, math.ceil(LEVEL_S * len(parts) / lasted))
    )


def burst(view: TestView) -> Finding | None:
    """Fast at first, then slower: credits, a write cache or heat ran out. Or the other way round."""
    change = level_change(view)
    if change is None or (other_io(view) and _others_came_or_went(view, change)):
        return None
    evidence = (
        f"{format_iops(change.before)} IOPS for the first {format_duration(change.at_s)}, then "
        f"{format_iops(change.after)} IOPS for {format_duration(max(0.0, view.seconds - change.at_s))}"
    )
    if change.after < change.before:
        spent, _ = spent_above(
            view.intervals, change.before, change.after, lambda window: window.iops, lambda window: window.ios
        )
        meant = any(view.record.index in (pair.first.index, pair.second.index) for pair in pairs(view.run))
        return view.found(
            "burst",
            Weight.NOTE if meant else Weight.DOUBT,
            "Burst ended during the test: the average mixes burst and sustained speed.",
            f"{evidence}; the burst was worth {format_iops(spent)} I/Os beyond that speed",
            "Bursts has both speeds, and what the bucket holds."
            if meant
            else "The second figure is the sustained speed; run longer than the burst lasts.",
        )
    return view.found(
        "late-start",
        Weight.DOUBT,
        "Speed rose during the test: the average mixes both levels.",
        evidence,
        "Run it again, or set ramp_time if a cache has to warm up; otherwise look for what slowed it down.",
    )


def _others_came_or_went(view: TestView, change: LevelChange) -> bool:
    """Whether what others did changed at that time by as much as the test did: the disk kept up what it did before."""
    before, after = view.beyond(0.0, change.at_s), view.beyond(change.at_s, math.inf)
    if before is None or after is None or not view.ios:
        return False
    lost = (change.before - change.after) * sum(result.bytes for _, result in view.result.directions) / view.ios
    gained = after - before
    return gained * lost > 0 and abs(gained) >= OTHERS_PART * abs(lost)


def stall(view: TestView) -> Finding | None:
    """Nothing completed for a while (F7): a device that hung, was reset, or was held back; or had other things to do."""
    if view.apart:
        return None
    least_s = max(STALL_S, PAUSES * view.load.pause_s)
    ours = {window.start_s for _, window in view.stood}
    found = _stalls(view.intervals, view.record.planned.interval_ms / 1e3, least_s)
    stalls = [each for each in found if each[0] not in ours]
    start, longest = max(stalls, key=lambda one: one[1], default=(0.0, 0.0))
    # Of a few large blocks through a narrow limit several end together, and none for a while.
    usual_s = (view.seconds - longest) / max(1, view.ios)
    stalls = [each for each in stalls if each[1] >= PAUSES * usual_s and not _is_drain(view, *each)]
    if not stalls:
        return None
    times = "once" if len(stalls) == 1 else f"{len(stalls)} times"
    if all(_at_work(view, *each) for each in stalls):
        return view.found(
            "stall",
            Weight.DOUBT,
            "No I/O of the test completed for a while, though the device was busy.",
            f"{times}; the longest for {format_duration(longest)}, {format_duration(start)} into the test",
            "It flushed buffered writes, or served other processes: check iotop, or use direct=1.",
        )
    return view.found(
        "stall",
        Weight.DOUBT,
        "I/O stalled: the device did nothing for a while.",
        f"{times}; the longest for {format_duration(longest)}, {format_duration(start)} into the test",
        "Check dmesg for resets and timeouts; on a cloud disk it may be the provider.",
    )


def _at_work(view: TestView, start_s: float, seconds: float) -> bool:
    """Whether the kernel saw the device read or write all through a stall; its edges belong to what was before and after."""
    edge = view.record.planned.interval_ms / 1e3
    inner = view.spent(start_s + edge, start_s + seconds - edge)
    working = [each for each in inner if (each.read_bytes or 0) + (each.write_bytes or 0) > 0]
    return bool(inner) and len(working) >= WORKING * len(inner)


def _is_drain(view: TestView, start_s: float, seconds: float) -> bool:
    """At its end fio asks for nothing more and waits for what is in flight, which takes about as long as an I/O does (F62)."""
    slowest_ns = max((result.latency.mean or 0.0 for _, result in view.result.directions), default=0.0)
    is_last = start_s + seconds >= view.intervals[-1].start_s
    return is_last and seconds <= DRAIN * slowest_ns / 1e9


def _stalls(intervals: Sequence[Window], usual_s: float, least_s: float) -> list[tuple[float, float]]:
    """(start, length) in seconds of every stretch without I/O of at least `least_s`."""
    found: list[tuple[float, float]] = []
    start, length = 0.0, 0.0
    for window in intervals:
        if window.ios == 0:
            start = start if length else window.start_s
            length += window.seconds
            continue
        # After a freeze one interval covers all of it, and holds what completed at its end.
        if window.seconds - usual_s >= least_s and not length:
            found.append((window.start_s, window.seconds - usual_s))
        elif length >= least_s:
            found.append((start, length))
        length = 0.0
    if length >= least_s:
        found.append((start, length))
    return found


def outliers(view: TestView) -> Finding | None:
    """A slowest I/O out of all proportion."""
    evidence = []
    for direction, result in view.result.directions:
        worst, middle, tail = result.latency.max, result.latency.p50, result.latency.p99
        if worst is None or middle is None or worst <= OUTLIER_NS or worst <= OUTLIER_RATIO * middle:
            continue
        if tail is not None and worst <= BEYOND_TAIL * tail:
            continue
        mine = [sample for sample in view.samples if sample.direction is direction]
        slowest = max(mine, key=lambda sample: sample.max_ns or 0, default=None)
        if slowest and any(each.start_s < view.into_test(slowest.at_ns) <= each.end_s + 1 for _, each in view.stood):
            continue
        when = f", {format_duration(view.into_test(slowest.at_ns))} into the test" if slowest else ""
        evidence.append(f"slowest {direction} {format_latency(worst)}{when}, median {format_latency(middle)}")
    if not evidence:
        return None
    return view.found(
        "outliers",
        Weight.NOTE,
        "Outliers: single I/Os took far longer than the rest.",
        "; ".join(evidence),
        "If p99.9 is high too, synchronous applications will notice.",
    )


def few_ios(view: TestView) -> Finding | None:
    """Percentiles of a handful of I/Os."""
    counts = {direction: result.ios for direction, result in view.result.directions if 0 < result.ios < FEW}
    if not counts:
        return None
    return view.found(
        "few-ios",
        Weight.NOTE,
        "Too few I/Os for p99 and beyond.",
        ", ".join(f"{count} {direction}{'' if count == 1 else 's'}" for direction, count in counts.items()),
        "Use mean and median; run longer for percentiles.",
    )


def too_short(tests: Sequence[TestView]) -> Finding | None:
    """One note for the whole run, however many tests it is about."""
    counted = [view for view in tests if view.record.status is Status.COMPLETE]
    short = [view.seconds for view in counted if view.seconds < SHORT_S]
    if not any(view.seconds < SHORT_S and not view.load.rests for view in counted):
        return None
    low, high = (format_duration(round(seconds, 1) or seconds) for seconds in (min(short), max(short)))
    times = low if low == high else f"{low} to {high}"
    return Finding(
        "too-short",
        Weight.NOTE,
        "Short tests mostly show caches and burst credits.",
        f"{f'{len(short)} of {len(tests)} tests' if len(tests) > 1 else 'the test'} measured for {times}",
        _longer([view for view in counted if view.seconds < SHORT_S]),
    )


def _longer(short: Sequence[TestView]) -> str:
    """The parameter that makes one of these longer, if there is one: declared is not used."""
    parameters, plans = dict(short[0].run.plan.parameters), [view.record.planned for view in short]
    size, seconds = amount(parse_size, parameters.get("size")), amount(parse_duration, parameters.get("runtime"))
    if size and any(plan.amount_bytes and plan.amount_bytes % size == 0 for plan in plans):
        return "For sustained speed, use more data, e.g. size=8g."
    if plans[0].trial and {"full", "at_most"} <= parameters.keys():
        # Short trials alone cannot be made that long.
        return "For the limit at sustained speed, use runtime=30s full=60s at_most=10m."
    if plans[0].trial and "at_most" in parameters:
        return "For a map at sustained speed, use runtime=30s at_most=1h."
    if seconds and any(plan.runtime_s == seconds for plan in plans):
        return "For sustained speed, use runtime=60s."
    return "For sustained speed, run a longer test."
