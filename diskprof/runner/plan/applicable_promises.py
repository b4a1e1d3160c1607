"""What a run is expected to show: the preset's promises that apply here, and what the person asked for."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from diskprof.model.advice import Advice
from diskprof.model.device import DeviceTree
from diskprof.model.errors import UsageError
from diskprof.model.expectation import (
    ASKED,
    Asked,
    ClassExpectation,
    Expectation,
    PresetExpectation,
    formula_words,
)
from diskprof.model.plan import Hazard, Severity
from diskprof.model.preset import Layout, Preset
from diskprof.model.target import Target, TargetKind
from diskprof.presets.disk_classes import class_promises, expected_class
from diskprof.presets.files.promises import unmeasurable
from diskprof.presets.resolve import ResolvedTest, with_jobs

CAPACITY = "capacity_gib"
"""The parameter that gives the capacity a formula counts with; where it is empty the device's size is taken."""

_TOLERANCE = 0.01
"""Vendors round, and a volume held at 5000 IOPS measures 4997 to 5004 (F41). What a person asks for is taken exactly."""

_MOST_NAMES = 12

_UNTOLD = Hazard(
    "capacity-unknown",
    Severity.NOTES,
    "The promise depends on the capacity, which is unknown here: it is not checked.",
    Advice(
        f"To check it, give the capacity in GiB: --set {CAPACITY}=800",
        "To check it, edit the preset and give the capacity in GiB.",
    ),
)


def promises(
    preset: Preset,
    values: Mapping[str, str],
    tests: Sequence[ResolvedTest],
    wanted: Sequence[Asked],
    target: Target,
    tree: DeviceTree,
) -> tuple[tuple[Expectation, ...], tuple[Expectation, ...], tuple[Hazard, ...]]:
    """What the preset promises, what the person asked for, and a note where that depends on a capacity that is not known.

    Raises UsageError for a test that the preset lacks, for a metric that its test can never have, and for a class of disks
    that there is not or that says nothing of these tests.
    """
    by_name = with_jobs(tests)
    gib = _capacity_gib(values, target, tree)
    asked: list[Expectation] = []
    untold = False
    for each in wanted:
        if isinstance(each, ClassExpectation):
            of_class = class_promises(expected_class(each), tests)
            asked += [replace(_resolved(one, gib or 0.0, ""), basis=_class_basis(each)) for one in _told(of_class, gib)]
            untold = untold or len(_told(of_class, gib)) < len(of_class)
        else:
            asked.append(replace(each, test=_whole_name(each, preset, tests, by_name)))
    for expectation in asked:
        test = by_name.get(expectation.test)
        if test is None:
            raise UsageError(
                f"{preset.name} has no test {expectation.test!r}.",
                f"Tests: {_few(by_name)}.",
            )
        if reason := unmeasurable(expectation.metric, test):
            raise UsageError(f"{expectation.test}.{expectation.metric.name} is not measured: {reason}.")
    applying = [promise for promise in preset.expectations if all(values.get(k) == v for k, v in promise.when)]
    told = _told(applying, gib)
    own = tuple(_resolved(promise, gib or 0.0, _way(by_name[promise.test], target)) for promise in told)
    return own, tuple(asked), (_UNTOLD,) if untold or told != applying else ()


def _told(promised: Sequence[PresetExpectation], gib: float | None) -> list[PresetExpectation]:
    """Those that can be told."""
    return [promise for promise in promised if gib is not None or not promise.promise.per_gib]


def _class_basis(asked: ClassExpectation) -> str:
    return f"{ASKED} {asked.disk_class}"


def _whole_name(
    asked: Expectation, preset: Preset, tests: Sequence[ResolvedTest], known: Mapping[str, ResolvedTest]
) -> str:
    """The test, or `test.job`, that an expectation is of: where there is one test alone it needs no name."""
    if len(tests) == 1:
        name = tests[0].name
        return f"{name}.{asked.test}" if f"{name}.{asked.test}" in known else asked.test or name
    if not asked.test:
        raise UsageError(
            f"{asked.metric.name} names no test, and {preset.name} has {len(tests)}.",
            f"Write TEST.{asked.metric.name}. Tests: {_few(test.name for test in tests)}.",
        )
    return asked.test


def _few(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "..."])


def _way(test: ResolvedTest, target: Target) -> str:
    """How the writes differ from those of who promised: a command of fio's writes into a new file."""
    over = test.layout is Layout.FILLED and any(job.fills for job in test.load.fio)
    return "on filled files, the source on new ones" if over and target.kind is TargetKind.DIRECTORY else ""


def _resolved(promise: PresetExpectation, gib: float, way: str) -> Expectation:
    gib = gib if promise.promise.per_gib else 0.0
    return Expectation(
        test=promise.test,
        metric=promise.metric,
        operator=promise.operator,
        promised=promise.promise.value(gib),
        basis="; ".join(filter(None, (_basis(promise, gib), way))),
        seconds=promise.seconds,
        tolerance=_TOLERANCE,
    )


def _capacity_gib(values: Mapping[str, str], target: Target, tree: DeviceTree) -> float | None:
    if given := values.get(CAPACITY):
        return float(given)
    disks = tree.disks_below(target.device)
    return disks[0].size_bytes / 2**30 if len(disks) == 1 else None


def _basis(promise: PresetExpectation, gib: float) -> str:
    where = ", ".join(f"{name} {value}" for name, value in promise.when)
    if not promise.promise.per_gib:
        return where
    words = formula_words(promise.metric.quantity, promise.promise, f"{gib:g} GiB")
    return f"{where}: {words}" if where else words
