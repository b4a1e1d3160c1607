"""What entries alone cannot say of a preset file: values by kind, options against the allow-list, names that fit together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import prod
from typing import TYPE_CHECKING

from msgspec.structs import replace

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.expectation import PresetExpectation
from diskprof.model.preset import EngineName, Parameter, ParameterKind, Preset, Test
from diskprof.presets.files.promises import CAPACITY, read_promises
from diskprof.presets.options.allowed import FIO_OPTIONS, short_value
from diskprof.presets.problem import Fault, Faulty, KeyPath, sentence
from diskprof.presets.resolve import (
    ResolvedTest,
    expand,
    parameter_value,
    references,
    resolve_files,
    resolve_layout,
    resolve_limit,
    resolve_map,
    resolve_option,
    resolve_rounds,
    resolve_steady,
)
from diskprof.presets.sweep import MOST_AXES, MOST_CELLS
from diskprof.presets.tuning import CONSENT

if TYPE_CHECKING:
    from diskprof.presets.files.preset_schema import JobEntry, PresetFile, TestEntry


def layers(
    entry: "PresetFile", index: int, test: "TestEntry", table: str = "test"
) -> Iterator[tuple["TestEntry | JobEntry", list[tuple[KeyPath, dict[str, str]]]]]:
    """For each job of an entry of `table` what names it, and the tables that its options come from, the weakest first."""
    shared = [((test.engine.value,), entry.fio if test.engine is EngineName.FIO else entry.ioping)]
    own = [*shared, ((table, index, "options"), test.options)]
    if not test.job:
        yield test, list(own)
    for number, job in enumerate(test.job):
        yield job, [*own, ((table, index, "job", number, "options"), job.options)]


def checked(entry: "PresetFile", preset: Preset) -> Preset:
    """The preset with its promises; it lacks the parameters whose kind nothing says. Raises Faulty."""
    check = _Check(entry, preset)
    faults = [*check.parameters(), *check.tests(), *check.sweep(), *check.targets()]
    if not faults:
        faults += [*check.together()]
    if not faults:
        # Those of shipped presets are tried by their tests: here it would take a quarter of the time of the library.
        variants = () if preset.shipped else check.variants()
        faults += [*check.promises(), *variants, *check.unused()]
    if faults:
        raise Faulty(*faults)
    return replace(preset, expectations=tuple(check.found))


@dataclass
class _Check:
    """The checks, in order: each may count on those before it. `values` are the defaults, `used` the parameters in use.

    What refers to a parameter that is `unusable` cannot be judged.
    """

    entry: "PresetFile"
    preset: Preset
    values: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    unusable: set[str] = field(default_factory=set)
    cells: tuple[ResolvedTest, ...] = ()
    found: list[PresetExpectation] = field(default_factory=list)

    def parameters(self) -> Iterator[Fault]:
        for name in self.entry.parameters:
            if self.preset.parameter(name) is None:
                self.unusable.add(name)
                kinds = ", ".join(repr(kind.value) for kind in ParameterKind)
                yield Fault(("parameters", name), f"its kind must be said: kind = {kinds}")
        for parameter in self.preset.parameters:
            try:
                for choice in parameter.choices:
                    parameter_value(Parameter(parameter.name, parameter.kind, choice), choice)
                self.values[parameter.name] = parameter_value(parameter, parameter.default)
            except UsageError as error:
                self.unusable.add(parameter.name)
                yield Fault(("parameters", parameter.name), sentence(error))

    def tests(self) -> Iterator[Fault]:
        """Each option by itself; a shared one that is wrong is named once."""
        named: set[KeyPath] = set()
        yield from self._tests("precondition", self.preset.precondition, self.entry.precondition, named)
        yield from self._tests("test", self.preset.tests, self.entry.test, named)

    def _tests(
        self, table: str, tests: Sequence[Test], entries: Sequence["TestEntry"], named: set[KeyPath]
    ) -> Iterator[Fault]:
        for index, (test, written) in enumerate(zip(tests, entries, strict=True)):
            if any(test.name == other.name for other in tests[:index]):
                yield Fault((table, index, "name"), f"there are two tests named {test.name}")
            if len({job.name for job in test.jobs}) < len(test.jobs):
                yield Fault((table, index, "job"), "two jobs of this test have the same name")
            if table == "precondition" and test.engine is not EngineName.FIO:
                yield Fault((table, index, "engine"), "only fio preconditions")
            try:
                if self._usable(test.layout):
                    resolve_layout(test, self.values)
            except UsageError as error:
                yield Fault((table, index, "layout"), sentence(error))
            try:
                if self._usable(test.steady):
                    resolve_steady(test, self.values)
            except UsageError as error:
                yield Fault((table, index, "steady"), sentence(error))
            for job in test.jobs:
                try:
                    if self._usable("".join(job.files)):
                        resolve_files(test, job, self.values)
                except UsageError as error:
                    yield Fault((table, index, "files"), sentence(error))
            if test.engine is EngineName.IOPING and len(test.jobs) > 1:
                yield Fault((table, index, "job"), "an ioping test has one job")
            for job, (_, tables) in zip(test.jobs, layers(self.entry, index, written, table), strict=True):
                origins = {name: (*path, name) for path, options in tables for name in options}
                for name, text in job.options:
                    if origins[name] in named:
                        continue
                    if reason := self._wrong(test.engine, name, text, swept=table == "test"):
                        named.add(origins[name])
                        yield Fault(origins[name], reason)

    def _wrong(self, engine: EngineName, name: str, text: str, *, swept: bool) -> str:
        if swept and name in self.entry.sweep:
            return f"the sweep sets {name}: leave it out here"
        try:
            if self._usable(text):
                resolve_option(engine, name, text, self.values)
        except PresetError as error:
            return sentence(error)
        return ""

    def _usable(self, text: str) -> bool:
        """Whether every parameter that an option's value names can be filled in. Raises PresetError as `references` does."""
        named = references(text)
        self.used.update(named)
        return self.unusable.isdisjoint(named)

    def sweep(self) -> Iterator[Fault]:
        axes = self.preset.sweep
        if not axes:
            return
        if len(axes) > MOST_AXES:
            yield Fault(("sweep",), f"{len(axes)} options are too many: at most {MOST_AXES} can be swept")
            return
        for index, test in enumerate(self.preset.tests):
            if test.engine is not EngineName.FIO:
                yield Fault(("test", index), "an ioping test cannot be swept: make it a preset of its own")
        count = prod(len(axis.values) for axis in axes) * sum(len(test.jobs) for test in self.preset.tests)
        if count > MOST_CELLS:
            yield Fault(("sweep",), f"{count} cells are too many: at most {MOST_CELLS} in all tests and jobs together")
        for axis in axes:
            seen: set[str] = set()
            for number, text in enumerate(axis.values):
                try:
                    if not self._usable(text):
                        continue
                    value = resolve_option(EngineName.FIO, axis.option, text, self.values)
                except PresetError as error:
                    path = ("sweep", axis.option, number)
                    yield Fault(path if axis.option in FIO_OPTIONS else path[:2], sentence(error))
                    if axis.option not in FIO_OPTIONS:
                        break
                    continue
                if value in seen:
                    shown = short_value(EngineName.FIO, axis.option, value) if value else "nothing"
                    yield Fault(("sweep", axis.option, number), f"{shown} is there before")
                seen.add(value)

    def targets(self) -> Iterator[Fault]:
        slots = [slot.name for slot in self.preset.targets]
        for index, written in enumerate(self.entry.test):
            paths: list[tuple[KeyPath, str]] = [(("test", index, "target"), name) for name in written.target]
            paths += [
                (("test", index, "job", n, "target"), each) for n, job in enumerate(written.job) for each in job.target
            ]
            if written.engine is EngineName.IOPING and len(written.target) > 1:
                yield Fault(("test", index, "target"), "an ioping test works on one target")
            if written.engine is EngineName.IOPING and written.files is not None:
                yield Fault(("test", index, "files"), "ioping makes its own file")
            for path, name in paths:
                if name and not slots:
                    yield Fault(path, "this preset names no targets: begin with a table [targets]")
                elif name and name not in slots:
                    close = get_close_matches(name[:64], slots, n=1)
                    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(slots)}"
                    yield Fault(path, f"there is no target {name[:40]!r}; {hint}")
        taken = {target for test in self.preset.tests for job in test.jobs for target in job.targets}
        for slot in slots:
            if slot not in taken:
                yield Fault(("targets", slot), "no test works on this target")

    def together(self) -> Iterator[Fault]:
        """Each test as a whole, with the defaults: its options beside one another, its cells."""
        cells: list[ResolvedTest] = []
        for index, test in enumerate(self.preset.tests):
            try:
                cells += expand(
                    replace(self.preset, tests=(test,), precondition=(), rounds="", limit="", read_write_map=""),
                    self.values,
                ).tests
            except UsageError as error:
                yield Fault(("test", index), sentence(error))
        for index, step in enumerate(self.preset.precondition):
            try:
                expand(
                    replace(self.preset, tests=(), precondition=(step,), rounds="", limit="", read_write_map=""),
                    self.values,
                )
            except UsageError as error:
                yield Fault(("precondition", index), sentence(error))
        self.cells = tuple(cells)
        if self.preset.rounds:
            try:
                self._usable(self.preset.rounds)
                resolve_rounds(self.preset, cells, self.values)
            except (PresetError, UsageError) as error:
                yield Fault(("rounds",), sentence(error).removeprefix("rounds: "))
        if self.preset.limit:
            try:
                self._usable(self.preset.limit)
                resolve_limit(self.preset, cells, self.values)
            except (PresetError, UsageError) as error:
                yield Fault(("limit",), sentence(error).removeprefix("limit: "))
        if self.preset.read_write_map:
            try:
                self._usable(self.preset.read_write_map)
                resolve_map(self.preset, cells, self.values)
            except (PresetError, UsageError) as error:
                yield Fault(("map",), sentence(error).removeprefix("map: "))

    def promises(self) -> Iterator[Fault]:
        for index, entry in enumerate(self.entry.expect):
            self.used.update(entry.when)
            if entry.per_gib is not None:
                self.used.add(CAPACITY)
            try:
                promises = read_promises(entry, ("expect", index), self.preset, self.cells)
            except Faulty as faulty:
                yield from faulty.faults
                continue
            if any(promise in self.found for promise in promises):
                yield Fault(("expect", index), "this is promised before")
            self.found += promises

    def variants(self) -> Iterator[Fault]:
        for variant in self.preset.variants:
            path: KeyPath = ("variants", variant.name)
            values, wrong = dict(self.values), False
            if not variant.settings:
                yield Fault(path, "it sets no parameter")
            for name, text in variant.settings:
                try:
                    values[name] = self._setting(name, text)
                except UsageError as error:
                    wrong = True
                    yield Fault((*path, name), sentence(error))
            if wrong:
                continue
            try:
                expand(self.preset, values)
            except UsageError as error:
                yield Fault(path, sentence(error))

    def _setting(self, name: str, text: str) -> str:
        if parameter := self.preset.parameter(name):
            return parameter_value(parameter, text)
        close = get_close_matches(name[:64], self.values, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"There are {', '.join(self.values)}." if self.values else ""
        raise UsageError(f"there is no parameter {name[:40]!r}", hint)

    def unused(self) -> Iterator[Fault]:
        if self.preset.precondition:
            self.used.add(CONSENT)
        for name in self.values:
            if name not in self.used:
                yield Fault(("parameters", name), "no option uses this parameter, and no expectation")
