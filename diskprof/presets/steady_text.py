"""Steady state as a person writes it: of a test `read.iops windows=5 window=10s range=20% slope=10% at_most=30m`, of a run of
rounds `TEST write.iops windows=5 range=20% slope=10% at_most=25`."""

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from diskprof.model.errors import UnitError, UsageError
from diskprof.model.job import EngineJob, FioJob
from diskprof.model.load import Load
from diskprof.model.metric import Metric, Quantity, parse_metric
from diskprof.model.preset import EngineName, Test
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.model.units import format_duration, format_percent, parse_duration
from diskprof.presets.options.values import write_duration

KEYS = ("windows", "window", "range", "slope", "at_most")
ROUNDS_KEYS = ("windows", "range", "slope", "at_most")
EXAMPLE = "read.iops windows=5 window=10s range=20% slope=10% at_most=30m"
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)
_MOST_WINDOWS = 1000
_LEAST_WINDOW_S = 1.0


def steady_text(table: Mapping[str, object]) -> str:
    """A table of a preset file as text. Raises ValueError."""
    return _as_text(table, ("figure",), KEYS)


def rounds_text(table: Mapping[str, object]) -> str:
    """The table `rounds` of a preset file as text. Raises ValueError."""
    return _as_text(table, ("test", "figure"), ROUNDS_KEYS)


_MISSING = {
    "figure": 'its figure is missing: figure = "read.iops"',
    "test": "its test is missing: the one that is tracked",
}


def _as_text(table: Mapping[str, object], named: Sequence[str], keys: Sequence[str]) -> str:
    for key, value in table.items():
        if key not in (*named, *keys):
            raise ValueError(f"there is no key {str(key)[:40]!r}; there are {', '.join((*named, *keys))}")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"{key} must be a text or a number")
    for key in named:
        if not table.get(key):
            raise ValueError(_MISSING[key])
    return " ".join([*(str(table[key]) for key in named), *(f"{key}={table[key]}" for key in keys if key in table)])


def steady_table(text: str) -> Mapping[str, str]:
    """The keys of such a text with their values, as they were written. Raises UsageError."""
    return _as_table(text, ("figure",), KEYS)


def rounds_table(text: str) -> Mapping[str, str]:
    """As `steady_table`, of rounds."""
    return _as_table(text, ("test", "figure"), ROUNDS_KEYS)


def _as_table(text: str, named: Sequence[str], keys: Sequence[str]) -> Mapping[str, str]:
    words = text.replace(",", " ").split()
    found = dict(zip(named, words, strict=False))
    for pair in words[len(named) :]:
        key, equals, value = pair.partition("=")
        if not equals or not value or key not in keys or key in found:
            again = "is given twice" if key in found else "is not a valid part of a steady state"
            hint = (
                f"Write a figure and {', '.join(keys)}: {EXAMPLE}" if keys is KEYS else f"There are {', '.join(keys)}."
            )
            raise UsageError(f"{pair[:40]!r} {again}", hint)
        found[key] = value
    return found


def parse_steady(text: str) -> SteadyRule | None:
    """The rule that `text` says, None where it is empty. What it leaves open is as in the PTS. Raises UsageError."""
    if not text.strip():
        return None
    table = steady_table(text)
    rule = SteadyRule(_metric(table["figure"]))
    given: dict[str, int | float] = {}
    for key, value in table.items():
        if key == "windows":
            given[key] = _windows(value)
        elif key in ("window", "at_most"):
            given[f"{key}_s"] = _seconds(key, value)
        elif key in ("range", "slope"):
            given[key] = _share(key, value)
    rule = replace(rule, **given)
    if rule.least_s > rule.at_most_s:
        raise UsageError(
            f"{rule.windows} windows of {format_duration(rule.window_s)} take longer than at_most "
            f"({format_duration(rule.at_most_s)})",
            "Choose fewer or shorter windows, or a longer at_most.",
        )
    return rule


def parse_rounds(text: str) -> RoundsRule | None:
    """As `parse_steady`, of rounds."""
    if not text.strip():
        return None
    table = rounds_table(text)
    rule = RoundsRule(table["test"], _metric(table.get("figure", "")))
    given: dict[str, int | float] = {}
    for key, value in table.items():
        if key in ("windows", "at_most"):
            given[key] = _windows(value, key)
        elif key in ("range", "slope"):
            given[key] = _share(key, value)
    rule = replace(rule, **given)
    if rule.windows > rule.at_most:
        raise UsageError(
            f"{rule.windows} rounds in a row cannot be steady within {rule.at_most} rounds (at_most)",
            "Choose fewer rounds that must be steady, or a larger at_most.",
        )
    return rule


def check_rounds(rule: RoundsRule, tests: Mapping[str, tuple[EngineJob, ...]]) -> None:
    """Raises UsageError where the tracked test is none of `tests`, or has no such figure."""
    if rule.test not in tests:
        raise UsageError(f"there is no test {rule.test[:64]!r}", f"There are {', '.join(list(tests)[:6])}.")
    _check_figure(rule.test, Load(tests[rule.test]), rule.metric)


def rounds_words(rule: RoundsRule) -> str:
    """`write.iops of 5 rounds within 20%, slope within 10%, at most 25 rounds`."""
    return (
        f"{rule.metric.name} of {rule.windows} rounds within {_percent(rule.range)}, slope within {_percent(rule.slope)},"
        f" at most {rule.at_most} rounds"
    )


def rounds_text_of(rule: RoundsRule) -> str:
    """`rule` as `parse_rounds` reads it."""
    shares = " ".join(f"{name}={100 * getattr(rule, name):.10g}%" for name in ("range", "slope"))
    return f"{rule.test} {rule.metric.name} windows={rule.windows} {shares} at_most={rule.at_most}"


def text_of(rule: SteadyRule) -> str:
    """`rule` as `parse_steady` reads it."""
    shares = {name: f"{100 * getattr(rule, name):.10g}%" for name in ("range", "slope")}
    window, most = (_whole(seconds) for seconds in (rule.window_s, rule.at_most_s))
    return (
        f"{rule.metric.name} windows={rule.windows} window={window} range={shares['range']}"
        f" slope={shares['slope']} at_most={most}"
    )


def steady_words(rule: SteadyRule) -> str:
    """`total.iops of 5 windows of 10 s within 20%, slope within 10%, at most 30 min`."""
    return (
        f"{rule.metric.name} of {rule.windows} windows of {format_duration(rule.window_s)} within"
        f" {_percent(rule.range)}, slope within {_percent(rule.slope)}, at most {format_duration(rule.at_most_s)}"
    )


def until_steady(test: Test, jobs: tuple[EngineJob, ...], rule: SteadyRule) -> tuple[EngineJob, ...]:
    """The jobs of a steady-state test: their runtime is its `at_most`.

    Raises UsageError for a test that cannot go on, or does not have the figure.
    """
    if test.engine is not EngineName.FIO:
        raise UsageError(
            f"{test.name} is an ioping test: only fio tests can go on until they are steady",
            "Leave steady out, or choose a preset of fio tests.",
        )
    load = Load(jobs)
    for job in load.fio:
        if not job.time_based or job.amount:
            raise UsageError(
                f"{test.name} ends after an amount of data, not after a time: it cannot go on until it is steady",
                "Steady needs time_based and runtime, and no number_ios.",
            )
        if job.searches:
            raise UsageError(
                f"{test.name} searches for a queue depth (latency_target): its speed is not meant to be steady",
                "Leave steady or latency_target out.",
            )
    _check_figure(test.name, load, rule.metric)
    runtime = write_duration(rule.at_most_s)
    return tuple(job.changed(runtime=runtime) if isinstance(job, FioJob) else job for job in jobs)


def _check_figure(name: str, load: Load, metric: Metric) -> None:
    ways = {way for job in load.fio for way in job.directions}
    if metric.direction and metric.direction not in ways:
        raise UsageError(
            f"{name} does not {metric.direction}: it has no {metric.name}",
            "total.iops and total.bandwidth are of reads and writes together.",
        )
    if metric.quantity in (Quantity.LATENCY, Quantity.SHARE) and not all(map(load.alike, ways)):
        raise UsageError(
            f"the jobs of {name} do different things: they have no latency together", "Choose IOPS or bandwidth."
        )


def _metric(text: str) -> Metric:
    metric = parse_metric(text)
    if metric.quantity is Quantity.CPU or (metric.quantity is Quantity.LATENCY and metric.direction is None):
        raise UsageError(
            f"{metric.name} is not known window by window",
            "Choose total.iops, total.bandwidth, or a figure of read or write: read.iops, write.latency.mean.",
        )
    return metric


def _windows(text: str, key: str = "windows") -> int:
    if not re.fullmatch(r"\d{1,6}", text, re.ASCII) or not 2 <= int(text) <= _MOST_WINDOWS:
        raise UsageError(
            f"{key}={text[:40]} is not possible",
            f"Choose 2 to {_MOST_WINDOWS}; SNIA takes {5 if key == 'windows' else 25}.",
        )
    return int(text)


def _seconds(key: str, text: str) -> float:
    try:
        seconds = parse_duration(text)
    except UnitError as error:
        raise UsageError(f"{key}={text[:40]}: {error.message}", error.hint) from None
    if seconds < _LEAST_WINDOW_S:
        raise UsageError(f"{key}={text[:40]} is too short", "At least 1 s: a window needs several intervals.")
    return seconds


def _share(key: str, text: str) -> float:
    match = _PERCENT.fullmatch(text)
    share = float(match[1]) / 100 if match else 0.0
    if not 0 < share <= 1:
        raise UsageError(f"{key}={text[:40]} is not possible", "Write percent of the mean: more than 0%, up to 100%.")
    return share


def _whole(seconds: float) -> str:
    written = write_duration(seconds)
    return written if written.endswith("s") else f"{written}s"


def _percent(share: float) -> str:
    return format_percent(share) if round(share * 100) == share * 100 else f"{100 * share:.3g}%"
