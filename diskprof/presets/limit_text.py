"""The search for a limit as a person writes it: `read.p99<=5ms read.p99.9<=20ms by=rate depth=64 at_most=90s`."""

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from diskprof.model.errors import UnitError, UsageError
from diskprof.model.expectation import Expectation, Operator
from diskprof.model.limit import LimitBy, LimitRule, promise_words, promises_words
from diskprof.model.metric import LATENCIES, Metric, Quantity, parse_metric, parse_value
from diskprof.model.units import format_duration, format_latency, parse_duration
from diskprof.presets.options.values import write_duration

KEYS = ("by", "depth", "short", "full", "trials", "at_most", "curve")
EXAMPLE = "read.p99<=5ms"
MOST_DEPTH = 256
"""By rate each I/O in flight is a copy of the job, a thread of its own."""

_PROMISE = re.compile(r"([^\s<>=]+)\s*(<=|>=|<|>)\s*(?!\S*[<>=])(\S+)")
"""What follows a sign is no value where it has a sign of its own: then the value is missing."""
_OPTION = re.compile(r"([a-z_]+)=(.*)", re.ASCII)
_SHORT = re.compile(r"(read|write)\.(?!latency\.)(.+)")
_LEAST_NS = 1e3
_MOST_TRIALS = 100
_LEAST_POINTS, _MOST_POINTS = 5, 20
_LEAST_TRIAL_S, _LONGEST_TRIAL_S, _LONGEST_S = 1.0, 3600.0, 86400.0


def limit_text(table: Mapping[str, object]) -> str:
    """The table `limit` of a preset file as text. Raises ValueError."""
    for key in table:
        if key not in ("keep", *KEYS):
            raise ValueError(f"there is no key {str(key)[:40]!r}; there are {', '.join(('keep', *KEYS))}")
    keep = table.get("keep")
    promises = keep if isinstance(keep, list) else [keep]
    if not keep or not all(isinstance(each, str) and each for each in promises):
        raise ValueError(f'its promise is missing: keep = "{EXAMPLE}"')
    values = {key: value for key, value in table.items() if key != "keep"}
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"{key} must be a text or a number")
    return " ".join([*map(str, promises), *(f"{key}={values[key]}" for key in KEYS if key in values)])


def limit_table(text: str) -> Mapping[str, str]:
    """The keys of such a text with their values, as they were written. Raises UsageError."""
    keep, found = [], dict[str, str]()
    for word in _PROMISE.sub(lambda match: "".join(match.groups()), text.replace(",", " ")).split():
        option = _OPTION.fullmatch(word)
        if option is None or "<" in word or ">" in word:
            keep.append(word)
            continue
        key, value = option.groups()
        if key not in KEYS or not value or key in found:
            again = "is given twice" if key in found else "is not a valid part of a limit"
            raise UsageError(f"{word[:40]!r} {again}", f"Write promises such as {EXAMPLE}, and {', '.join(KEYS)}.")
        found[key] = value
    return {"keep": " ".join(keep), **found} if keep else found


def parse_limit(text: str) -> LimitRule | None:
    """None for an empty text. Raises UsageError."""
    if not text.strip():
        return None
    table = limit_table(text)
    promises = tuple(map(parse_promise, table.get("keep", "").split()))
    if not promises:
        raise UsageError("there is no promise to keep", f"For example: {EXAMPLE}")
    names = [promise.metric.name for promise in promises]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"{twice} is promised twice", "The lower value alone counts: leave the other out.")
    rule = LimitRule(promises, _by(table.get("by", LimitBy.RATE)))
    if "depth" in table:
        rule = replace(rule, depth=count_of("depth", table["depth"], 2, MOST_DEPTH))
    if "trials" in table:
        rule = replace(rule, most_trials=count_of("trials", table["trials"], 3, _MOST_TRIALS))
    if "curve" in table and table["curve"] != "0":
        rule = replace(rule, curve=count_of("curve", table["curve"], _LEAST_POINTS, _MOST_POINTS))
    for key, name, most in (
        ("short", "short_s", _LONGEST_TRIAL_S),
        ("full", "full_s", _LONGEST_TRIAL_S),
        ("at_most", "most_s", _LONGEST_S),
    ):
        if key in table:
            rule = replace(rule, **{name: seconds_of(key, table[key], most)})
    _check(rule)
    return rule


def parse_promise(text: str) -> Expectation:
    """A latency that may not be exceeded: `read.p99<=5ms`, in full `read.latency.p99<=5ms`. Raises UsageError."""
    match = _PROMISE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text[:60]!r} is not a promise", f"Write a latency, <= or <, and a time: {EXAMPLE}")
    name, operator, value = match.groups()
    metric = _metric(name)
    if Operator(operator).is_minimum:
        raise UsageError(
            f"{text[:60]} cannot be broken by more load", f"A promise is the most that a latency may be: {EXAMPLE}"
        )
    promised = parse_value(metric.quantity, value)
    if value[-1].isdigit():
        raise UsageError(f"{value[:40]} lacks a unit", f"Write a time such as {value[:20]}ms.")
    if promised < _LEAST_NS:
        raise UsageError(
            f"{text[:60]}: no I/O is that fast, so nothing can keep it", f"Promise {format_latency(_LEAST_NS)} or more."
        )
    return Expectation("", metric, Operator(operator), promised)


def limit_text_of(rule: LimitRule) -> str:
    """`rule` as `parse_limit` reads it."""
    short, full, most = (_whole(seconds) for seconds in (rule.short_s, rule.full_s, rule.most_s))
    promises = " ".join(map(promise_words, rule.promises))
    curve = f" curve={rule.curve}" if rule.curve else ""
    return (
        f"{promises} by={rule.by} depth={rule.depth} short={short} full={full} trials={rule.most_trials}"
        f" at_most={most}{curve}"
    )


def limit_words(rule: LimitRule) -> str:
    """`highest rate that keeps read.p99<=5ms, at most 64 in flight, 12 trials and 90 s`."""
    what = f"rate that keeps {promises_words(rule)}, at most {rule.depth} in flight"
    if rule.by is LimitBy.DEPTH:
        what = f"queue depth up to {rule.depth} that keeps {promises_words(rule)}"
    curve = f"; then the latency at {rule.curve} loads" if rule.curve else ""
    return f"highest {what}, at most {rule.most_trials} trials and {format_duration(rule.most_s)}{curve}"


def _metric(name: str) -> Metric:
    if name in LATENCIES:
        raise UsageError(f"{name} of reads or of writes?", f"Write read.{name} or write.{name}.")
    match = _SHORT.fullmatch(name)
    named = f"{match[1]}.latency.{match[2]}" if match and match[2] in LATENCIES else name
    metric = parse_metric(named)
    if metric.quantity is not Quantity.LATENCY or metric.direction is None or metric.figure == "min":
        raise UsageError(
            f"{name[:60]} does not say which load is too much",
            "Promise a latency of reads or writes: read.p99, write.mean.",
        )
    return metric


def _check(rule: LimitRule) -> None:
    """Raises UsageError for what no trial could break, or what leaves no time for a search."""
    for promise in rule.promises:
        if promise.promised >= rule.short_s * 1e9:
            raise UsageError(
                f"{promise_words(promise)}: a short trial lasts {format_duration(rule.short_s)}, so no load can break it",
                "Promise less, or choose longer trials.",
            )
    if rule.curve and rule.by is LimitBy.DEPTH:
        raise UsageError("a load curve is one of rates", "Search by rate, or leave the curve out.")
    if rule.full_s < rule.short_s:
        raise UsageError("full trials are shorter than short ones", "Choose a longer full, or a shorter short.")
    if rule.most_s < 3 * rule.seconds(rule.first):
        raise UsageError(
            f"at_most={format_duration(rule.most_s)} is too short for three trials",
            "Choose a longer at_most, or shorter trials.",
        )


def _by(text: str) -> LimitBy:
    try:
        return LimitBy(text)
    except ValueError:
        raise UsageError(f"by={text[:40]} is not possible", f"Choose {' or '.join(LimitBy)}.") from None


def count_of(key: str, text: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`. Raises UsageError, which names `key`."""
    if not re.fullmatch(r"\d{1,6}", text, re.ASCII) or not least <= int(text) <= most:
        raise UsageError(f"{key}={text[:40]} is not possible", f"Choose {least} to {most}.")
    return int(text)


def seconds_of(key: str, text: str, most: float) -> float:
    """A duration of a trial or of all of them, at most so many seconds. Raises UsageError, which names `key`."""
    try:
        seconds = parse_duration(text)
    except UnitError as error:
        raise UsageError(f"{key}={text[:40]}: {error.message}", error.hint) from None
    if not _LEAST_TRIAL_S <= seconds <= most:
        least, longest = format_duration(_LEAST_TRIAL_S), format_duration(most)
        raise UsageError(f"{key}={text[:40]} is not possible", f"Choose {least} to {longest}.")
    return seconds


def _whole(seconds: float) -> str:
    written = write_duration(seconds)
    return written if written.endswith("s") else f"{written}s"


def keep_text(promises: Sequence[str]) -> str:
    """Promises as typed one by one, or several together, as the value of one parameter."""
    return " ".join(promises)
