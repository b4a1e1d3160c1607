"""What a preset promises, sweeps and offers, in words."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from math import prod

from diskprof.model.cells import wrap
from diskprof.model.expectation import Formula, Operator, PresetExpectation
from diskprof.model.metric import Metric, Quantity, format_value
from diskprof.model.preset import Preset
from diskprof.model.sample import Direction
from diskprof.model.units import format_duration, format_latency
from diskprof.presets.files.promises import CAPACITY
from diskprof.presets.resolve import ResolvedPreset, expand, expand_defaults, parameter_value

_OPERATORS: Mapping[Operator, str] = {
    Operator.AT_LEAST: "at least",
    Operator.MORE_THAN: "more than",
    Operator.AT_MOST: "at most",
    Operator.LESS_THAN: "less than",
}
_FIGURES: Mapping[str, str] = {
    "mean": "mean {}",
    "min": "shortest {}",
    "max": "longest {}",
    "p50": "median {}",
    "p90": "90th percentile of {}",
    "p95": "95th percentile of {}",
    "p99": "99th percentile of {}",
    "p99_9": "99.9th percentile of {}",
}
_UNITS: Mapping[Quantity, tuple[float, str]] = {
    Quantity.IOPS: (1.0, " IOPS"),
    Quantity.BANDWIDTH: (1e6, " MB/s"),
    Quantity.LATENCY: (1e6, " ms"),
    Quantity.SHARE: (0.01, "%"),
    Quantity.CPU: (1.0, "%"),
}
"""What the figures of a formula are divided by, and the unit behind it."""

_ZEROS = re.compile(r"\.0+(?=\D|$)")


def promise_words(promise: PresetExpectation) -> str:
    """A promise without its conditions: `reads, at least min(1,200 + 30 x GiB, 20,000) IOPS`."""
    value = formula_words(promise.metric.quantity, promise.promise)
    return f"{metric_words(promise.metric)}, {_OPERATORS[promise.operator]} {value}"


def metric_words(metric: Metric) -> str:
    """What is measured: `reads`, `mean write latency`."""
    what = {None: "reads and writes together", Direction.READ: "reads", Direction.WRITE: "writes"}[metric.direction]
    match metric.quantity:
        case Quantity.CPU:
            return "CPU use"
        case Quantity.LATENCY:
            return _FIGURES[metric.figure].format(f"{metric.direction or 'fsync'} latency")
        case Quantity.SHARE:
            return f"{what} within {_ZEROS.sub('', format_latency(metric.within_ns))}"
        case _:
            return what


def formula_words(quantity: Quantity, formula: Formula) -> str:
    """A promised value: `200 MB/s`, or `min(80 + 0.5 x GiB, 300) MB/s`."""
    if not formula.per_gib:
        return _ZEROS.sub("", format_value(quantity, formula.base)).removesuffix(" CPU")
    scale, unit = _UNITS[quantity]
    sum_ = f"{_number(formula.base / scale)} + {_number(formula.per_gib / scale)} x GiB"
    return f"({sum_}){unit}" if formula.cap is None else f"min({sum_}, {_number(formula.cap / scale)}){unit}"


def _number(value: float) -> str:
    return f"{value:,.10g}"


def promises_text(preset: Preset, width: int) -> list[str]:
    """Every promise of a preset, by the condition that it stands under."""
    promises = sorted(preset.expectations, key=lambda promise: _order(preset, promise))
    if not promises:
        return []
    lines = ["", "Expected"]
    least = {promise.seconds for promise in promises}
    for when, group in groupby(promises, key=lambda promise: promise.when):
        indent = "  "
        if when:
            lines += wrap(f"With {conditions(preset, when)}", width, indent)
            indent = "    "
        for promise in group:
            seconds = f", measured for {format_duration(promise.seconds)} at least" if len(least) > 1 else ""
            lines += wrap(f"{promise.test}: {promise_words(promise)}{seconds}", width, indent, indent + "  ")
    return [*lines, *(line for note in _notes(preset, least) for line in wrap(note, width, "  "))]


def _notes(preset: Preset, least: set[float]) -> Iterator[str]:
    if any(promise.promise.per_gib for promise in preset.expectations):
        given = f"; --set {CAPACITY}=800 says another" if preset.parameter(CAPACITY) else ""
        yield f"GiB is the capacity of the device{given}."
    if len(least) == 1 and (seconds := min(least)):
        yield f"Measured for less than {format_duration(seconds)}, a promise that seems kept is too short to say."


def conditions(preset: Preset, when: tuple[tuple[str, str], ...]) -> str:
    """`tier standard (the default)`."""
    return " and ".join(
        f"{name} {value}{' (the default)' if _is_default(preset, name, value) else ''}" for name, value in when
    )


def _is_default(preset: Preset, name: str, value: str) -> bool:
    parameter = preset.parameter(name)
    return parameter is not None and parameter_value(parameter, parameter.default) == value


def _order(preset: Preset, promise: PresetExpectation) -> tuple[tuple[tuple[str, str], ...], ...] | tuple[int, ...]:
    """What holds anyway first, then in the order of the choices."""
    places = []
    for name, value in promise.when:
        parameter = preset.parameter(name)
        choices = [parameter_value(parameter, choice) for choice in parameter.choices] if parameter else []
        places.append(choices.index(value) if value in choices else 0)
    return tuple(places)


def cells_of(resolved: ResolvedPreset) -> int:
    """The cells that each test of a sweep has, 1 where nothing is swept."""
    return prod(len(axis.values) for axis in resolved.sweep)


def sweep_words(resolved: ResolvedPreset) -> str:
    """`35 cells: bs 4k, 16k by iodepth 1, 2`; empty where nothing is swept."""
    if not resolved.sweep:
        return ""
    axes = " by ".join(f"{axis.option} {', '.join(axis.values)}" for axis in resolved.sweep)
    count = len(resolved.tests)
    return f"{count} cell{'s' if count != 1 else ''}: {axes}"


def expand_variant(preset: Preset, name: str) -> ResolvedPreset:
    """The preset with the parameters of one of its variants."""
    settings = next(dict(variant.settings) for variant in preset.variants if variant.name == name)
    values = dict(expand_defaults(preset).values)
    for parameter in preset.parameters:
        if parameter.name in settings:
            values[parameter.name] = parameter_value(parameter, settings[parameter.name])
    return expand(preset, values)
