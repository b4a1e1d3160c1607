"""`[[expect]]` of a preset file -> a promise, or what is wrong with it."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from msgspec.structs import replace

from diskprof.model.errors import UnitError, UsageError
from diskprof.model.expectation import Formula, Operator, PresetExpectation
from diskprof.model.job import IopingJob
from diskprof.model.metric import Metric, Quantity, parse_metric, parse_value
from diskprof.model.preset import Preset
from diskprof.model.run import PERCENTILES
from diskprof.model.sample import Direction
from diskprof.model.units import parse_duration
from diskprof.presets.disk_classes import class_promises, disk_class
from diskprof.presets.problem import Fault, Faulty, KeyPath, sentence
from diskprof.presets.resolve import ResolvedTest, parameter_value, references, with_jobs

if TYPE_CHECKING:
    from diskprof.presets.files.preset_schema import ExpectEntry

CAPACITY = "capacity_gib"
"""The parameter that gives the capacity which `per_gib` counts with; where it is empty or absent the device's size is taken."""

MOST_COMBINATIONS = 100

_OPERATORS: Mapping[str, Operator] = {
    "min": Operator.AT_LEAST,
    "max": Operator.AT_MOST,
    "above": Operator.MORE_THAN,
    "below": Operator.LESS_THAN,
    "base": Operator.AT_LEAST,
}
_DECISIVE = {"rw", "rwmixread", "rwmixwrite", "fsync", "fdatasync", "rapid", "interval", "rate-limit"}


def read_promises(
    entry: "ExpectEntry", path: KeyPath, preset: Preset, tests: Sequence[ResolvedTest]
) -> tuple[PresetExpectation, ...]:
    """The promise of an entry that stands at `path`, once for each combination of the values in its `when`.

    `tests` are the preset's, with the defaults filled in; a sweep's its cells. Raises Faulty.
    """
    if entry.disk_class:
        return _class_promises(entry, path, preset, tests)
    if not entry.metric:
        raise Faulty(Fault((*path, "metric"), "is missing: what is promised, or disk_class"))
    test = _test(entry, path, preset, tests)
    try:
        metric = parse_metric(entry.metric)
    except UsageError as error:
        raise Faulty(Fault((*path, "metric"), sentence(error))) from None
    if _settled(preset, test) and (reason := unmeasurable(metric, test)):
        raise Faulty(Fault((*path, "metric"), reason))
    operator, promise = _promise(entry, path, metric.quantity)
    seconds = _seconds(entry, path)
    return tuple(
        PresetExpectation(test.name, metric, operator, promise, when, seconds) for when in _whens(entry, path, preset)
    )


def _class_promises(
    entry: "ExpectEntry", path: KeyPath, preset: Preset, tests: Sequence[ResolvedTest]
) -> tuple[PresetExpectation, ...]:
    """What a class of disks does at the least, of one test or of all."""
    if given := [key for key in ("metric", "job", *_OPERATORS) if getattr(entry, key)]:
        raise Faulty(Fault((*path, given[0]), f"{given[0]} and disk_class exclude each other"))
    mine = [_test(entry, path, preset, tests)] if entry.test else tests
    try:
        promised = class_promises(disk_class(entry.disk_class), mine)
    except UsageError as error:
        raise Faulty(Fault((*path, "disk_class"), sentence(error))) from None
    seconds = _seconds(entry, path)
    return tuple(replace(each, when=when, seconds=seconds) for each in promised for when in _whens(entry, path, preset))


def _whens(entry: "ExpectEntry", path: KeyPath, preset: Preset) -> list[tuple[tuple[str, str], ...]]:
    """Every combination of the values in `when`."""
    conditions = [_conditions((*path, "when", name), name, texts, preset) for name, texts in entry.when.items()]
    if prod(map(len, conditions)) > MOST_COMBINATIONS:
        raise Faulty(Fault((*path, "when"), f"more than {MOST_COMBINATIONS} combinations are too many"))
    return list(product(*conditions))


def _seconds(entry: "ExpectEntry", path: KeyPath) -> float:
    try:
        return parse_duration(entry.seconds)
    except UnitError as error:
        raise Faulty(Fault((*path, "seconds"), sentence(error))) from None


def _test(entry: "ExpectEntry", path: KeyPath, preset: Preset, tests: Sequence[ResolvedTest]) -> ResolvedTest:
    known, path = with_jobs(tests), (*path, "job" if entry.job else "test")
    name = entry.test or (tests[0].name if len(tests) == 1 else "")
    if entry.job:
        name = f"{name}.{entry.job}"
    if name in known:
        return known[name]
    names = [each for each in known if ("." in each) is bool(entry.job)]
    if not name:
        raise Faulty(Fault(path, f"there are several tests: name one of {', '.join(names[:8])}"))
    if any(test.name == name for test in preset.tests):
        cell = next(test.name for test in tests if test.name.startswith(f"{name}-"))
        raise Faulty(Fault(path, f"{name} is swept: name one of its cells, such as {cell}"))
    close = get_close_matches(name[:64], names, n=1)
    hint = (
        f"did you mean {close[0]}?"
        if close
        else f"there are {', '.join(names[:8]) or 'none'}{', ...' if names[8:] else ''}"
    )
    raise Faulty(Fault(path, f"there is no {'job' if entry.job else 'test'} {name[:64]!r}; {hint}"))


def _settled(preset: Preset, test: ResolvedTest) -> bool:
    """Whether what a test does is the same with every value of the parameters."""
    written = [
        (name, text)
        for each in preset.tests
        if test.name == each.name or test.name.startswith(f"{each.name}-")
        for job in each.jobs
        for name, text in job.options
    ]
    written += [(axis.option, text) for axis in preset.sweep for text in axis.values]
    return not any(name in _DECISIVE and references(text) for name, text in written)


def unmeasurable(metric: Metric, test: ResolvedTest) -> str:
    """Why a resolved test can never have this metric, empty if it can."""
    if test.load.ioping:
        return _unmeasurable_by_ioping(metric, test.name, test.load.ioping)
    if metric.direction and metric.direction not in directions(test):
        return f"{test.name} never {'reads' if metric.direction is Direction.READ else 'writes'}"
    # fio counts no fsync of a job that only reads, nor that of end_fsync.
    if (
        metric.direction is None
        and metric.quantity is Quantity.LATENCY
        and not any((job.fsync or job.fdatasync) and Direction.WRITE in job.directions for job in test.load.fio)
    ):
        return f"{test.name} never calls fsync: give it fsync or fdatasync"
    return ""


def _unmeasurable_by_ioping(metric: Metric, name: str, job: IopingJob) -> str:
    if metric.quantity is Quantity.CPU:
        return "ioping does not tell its CPU use"
    if metric.direction is Direction.WRITE or (metric.direction is None and metric.quantity is Quantity.LATENCY):
        return f"{name} never writes: ioping reads"
    # Requests that follow one another at once are summed up by ioping, not written out.
    if (
        job.rapid
        and not job.interval_s
        and not job.rate_limit
        and (metric.figure in PERCENTILES or metric.quantity is Quantity.SHARE)
    ):
        return "with rapid, ioping tells no distribution: mean, min and max alone"
    return ""


def directions(test: ResolvedTest) -> set[Direction]:
    """What a resolved test does."""
    return {direction for job in test.load.fio for direction in job.directions}


def _promise(entry: "ExpectEntry", path: KeyPath, quantity: Quantity) -> tuple[Operator, Formula]:
    given = [key for key in _OPERATORS if getattr(entry, key) is not None]
    for name in ("per_gib", "cap") if "base" not in given else ():
        if getattr(entry, name) is not None:
            raise Faulty(Fault((*path, name), f"{name} goes with base" + "".join(f", not with {key}" for key in given)))
    if len(given) != 1:
        much = f"{' and '.join(given)} exclude each other" if given else "nothing is promised"
        raise Faulty(Fault(path, f"{much}: give one of {', '.join(_OPERATORS)}"))
    (key,) = given
    if key == "base" and entry.per_gib is None:
        raise Faulty(Fault((*path, "base"), "base goes with per_gib; min promises the same of every capacity"))
    bases, growths, caps = (_values(entry, path, name, quantity) for name in (key, "per_gib", "cap"))
    if key == "base" and len(bases) != len(growths):
        raise Faulty(Fault((*path, "per_gib"), "base and per_gib have as many values as each other"))
    if caps and caps[0] <= max(bases):
        raise Faulty(Fault((*path, "cap"), "cap is not more than base"))
    (line, *others) = zip(bases, growths or [0.0], strict=True)
    return _OPERATORS[key], Formula(*line, caps[0] if caps else None, tuple(others))


def _values(entry: "ExpectEntry", path: KeyPath, key: str, quantity: Quantity) -> list[float]:
    """The values of a key, one or several; none where it is not given."""
    given = getattr(entry, key)
    texts = given if isinstance(given, list) else [] if given is None else [given]
    return [_value(text, path, key, quantity) for text in texts]


def _value(text: str, path: KeyPath, key: str, quantity: Quantity) -> float:
    try:
        value = parse_value(quantity, text)
    except UsageError as error:
        raise Faulty(Fault((*path, key), sentence(error))) from None
    # A capacity may start from nothing; anything else would promise nothing, or what cannot be.
    if value <= 0 and key != "base":
        raise Faulty(Fault((*path, key), "must be more than 0"))
    if quantity is Quantity.SHARE and value > 1:
        percent = "" if "%" in text else f": write {text[:10]}% for {text[:10]} percent"
        raise Faulty(Fault((*path, key), f"a share is at most 100%{percent}"))
    return value


def _conditions(path: KeyPath, name: str, texts: Sequence[str], preset: Preset) -> list[tuple[str, str]]:
    parameter = preset.parameter(name)
    if parameter is None:
        known = [each.name for each in preset.parameters]
        close = get_close_matches(name[:64], known, n=1)
        hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}" if known else ""
        raise Faulty(Fault(path, f"there is no parameter {name[:40]!r}{hint}"))
    if not parameter.choices:
        raise Faulty(Fault(path, f"{name} can have any value: give it choices"))
    found: dict[tuple[str, str], None] = {}
    for text in texts:
        try:
            found[name, parameter_value(replace(parameter, optional=False), text)] = None
        except UsageError as error:
            raise Faulty(Fault(path, sentence(error))) from None
    return list(found)
