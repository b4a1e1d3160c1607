"""A preset with its parameters filled in and every option checked."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.advice import Advice
from diskprof.model.errors import PresetError, UnitError, UsageError
from diskprof.model.job import EngineJob, FioJob, IopingJob, read_job
from diskprof.model.limit import LimitRule, Trial
from diskprof.model.load import Load
from diskprof.model.preset import (
    OWN_FILES,
    Axis,
    Consent,
    EngineName,
    Job,
    Layout,
    Options,
    Parameter,
    ParameterKind,
    Preset,
    Test,
)
from diskprof.model.read_write_map import MapRule
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.model.title import distinct, title_of
from diskprof.model.units import format_fio_size, format_size, parse_duration, parse_size
from diskprof.presets.limit_text import parse_limit
from diskprof.presets.limit_trials import check_load, trial_job, trial_name, trial_title
from diskprof.presets.map_cells import cell_jobs, check_map, map_cell_name
from diskprof.presets.map_text import parse_map
from diskprof.presets.options.allowed import check_option, short_value
from diskprof.presets.options.values import LONGEST_VALUE, write_duration
from diskprof.presets.steady_text import check_rounds, parse_rounds, parse_steady, until_steady
from diskprof.presets.sweep import LONGEST_NAME, cell_name, cells, short
from diskprof.presets.tuning import CONSENT, options_of_jobs, with_parameters_for

_REFERENCE = re.compile(r"\$(\$|[a-z][a-z0-9_]*)?")
_SECTOR = 512
FILES = {"own": OWN_FILES, "shared": ()}
"""The `files` of a job by their words."""


class ResolvedTest(Struct, frozen=True):
    """A test of a preset with its options filled in and read; its place in a sweep is `cell`, `layout` as of `Test`.

    The runtime of its jobs is the longest that it may take where it has a `steady` state to wait for. `trial` is its load where
    it is a trial of a search for a limit.
    """

    name: str
    title: str
    engine: EngineName
    jobs: tuple[EngineJob, ...]
    cell: Options = ()
    layout: Layout = Layout.FILLED
    steady: SteadyRule | None = None
    trial: Trial | None = None

    @property
    def load(self) -> Load:
        """What its jobs ask for together."""
        return Load(self.jobs)


def with_jobs(tests: Sequence[ResolvedTest]) -> dict[str, ResolvedTest]:
    """Tests by their names, and each job of those that have several as `test.job`."""
    found: dict[str, ResolvedTest] = {}
    for test in tests:
        found[test.name] = test
        for job in test.jobs if len(test.jobs) > 1 and not test.cell else ():
            name = f"{test.name}.{job.name}"
            found[name] = replace(test, name=name, jobs=(job,))
    return found


class ResolvedPreset(Struct, frozen=True):
    """`values` are the parameters in their normal form; `tests` have their options as the engines take them.

    Where the preset is a sweep, `tests` are its cells, test by test in rows, and `sweep` are its axes with values as a
    person writes them (`4k`). `precondition` are the steps before the first test, which are not swept; none where there is no
    `consent`. With `rounds` the tests are repeated until one of them is steady. With `limit` the one test is the first trial of a
    search. With `read_write_map` the two tests are its first cells: all writes, all reads.
    """

    preset: Preset
    values: tuple[tuple[str, str], ...]
    tests: tuple[ResolvedTest, ...]
    sweep: tuple[Axis, ...] = ()
    precondition: tuple[ResolvedTest, ...] = ()
    consent: Consent = Consent.ASK
    rounds: RoundsRule | None = None
    limit: LimitRule | None = None
    read_write_map: MapRule | None = None


def resolve(preset: Preset, settings: Mapping[str, str]) -> ResolvedPreset:
    """`preset` with `settings` over its defaults: values by name, of parameters and of options that its jobs have alike.

    Raises UsageError for an unknown name, and for a value that the parameter or an option it stands in cannot have.
    """
    preset = with_parameters_for(preset, settings)
    for name in settings:
        if not preset.parameter(name):
            raise _unknown(preset, name)
    resolved = expand(preset, _values(preset, settings))
    for test in (*resolved.precondition, *resolved.tests):
        for job in test.load.fio:
            try:
                _check_memory(job)
            except PresetError as error:
                raise UsageError(f"{error.message} (test {test.name})", error.hint) from None
    return resolved


def expand_defaults(preset: Preset) -> ResolvedPreset:
    """`preset` as it is without settings, to be shown: also where this machine has too little memory to run it."""
    return expand(preset, _values(preset, {}))


def _values(preset: Preset, settings: Mapping[str, str]) -> dict[str, str]:
    return {
        parameter.name: parameter_value(parameter, settings.get(parameter.name, parameter.default))
        for parameter in preset.parameters
    }


def expand(preset: Preset, values: Mapping[str, str]) -> ResolvedPreset:
    """`preset` with its parameters' values in their normal form, on whatever machine. Raises UsageError as `resolve` does."""
    axes = tuple(_axis(axis, values) for axis in preset.sweep)
    found = [cell for test in preset.tests for cell in _cells(test, axes, values)]
    titles = distinct([(test.name, test.title) for test in found])
    tests = tuple(replace(test, title=title) for test, title in zip(found, titles, strict=True))
    shown = tuple(
        Axis(axis.option, tuple(short_value(EngineName.FIO, axis.option, value) for value in axis.values))
        for axis in axes
    )
    consent = Consent(values.get(CONSENT, Consent.ASK))
    steps = () if consent is Consent.NO else preset.precondition
    before = tuple(step for test in steps for step in _cells(test, (), values))
    rounds, limit = resolve_rounds(preset, tests, values), resolve_limit(preset, tests, values)
    if limit and tests:
        tests = (_first_trial(tests[0], limit),)
    drawn = resolve_map(preset, tests, values)
    if drawn and tests:
        tests = _first_cells(tests, drawn)
    return ResolvedPreset(preset, tuple(values.items()), tests, shown, before, consent, rounds, limit, drawn)


def _first_trial(test: ResolvedTest, rule: LimitRule) -> ResolvedTest:
    """The test at the highest load of a search."""
    trial, (job,) = rule.first, test.load.fio
    ready = trial_job(job, rule, trial)
    return replace(test, name=trial_name(trial, 1), title=trial_title(job, trial, 1), jobs=(ready,), trial=trial)


def _first_cells(tests: Sequence[ResolvedTest], rule: MapRule) -> tuple[ResolvedTest, ...]:
    """The two tests with all that they can do."""
    (writer,), (reader,) = (test.load.fio for test in tests)
    return tuple(
        replace(
            test,
            name=map_cell_name(trial),
            title=trial_title(reader, trial, 1) if trial.rate is None else test.title,
            jobs=cell_jobs(writer, reader, rule, trial),
            trial=trial,
        )
        for test, trial in zip(tests, (rule.all_writes, rule.all_reads), strict=True)
    )


def _axis(axis: Axis, values: Mapping[str, str]) -> Axis:
    """The values that the option takes. One that is the same as another is refused: it would be measured twice."""
    found: list[str] = []
    for text in axis.values:
        try:
            value = resolve_option(EngineName.FIO, axis.option, text, values)
        except PresetError as error:
            raise UsageError(f"{_given(text, values, error.message)} (sweep)", error.hint) from None
        if value in found:
            shown = f"{axis.option}={short_value(EngineName.FIO, axis.option, value)}"
            raise UsageError(_given(text, values, f"the sweep has {shown} twice"), "Choose another value.")
        if value:
            found.append(value)
    if not found:
        raise UsageError(f"the sweep has no value for {axis.option}", "Give it at least one.")
    return Axis(axis.option, tuple(found))


def _cells(test: Test, axes: Sequence[Axis], values: Mapping[str, str]) -> Iterator[ResolvedTest]:
    """The test's cells, or the test alone where nothing is swept."""
    written = [(job, _filled(test, job, values)) for job in test.jobs]
    layout, steady = resolve_layout(test, values), resolve_steady(test, values)
    taken: set[str] = set()
    for cell in cells(axes):
        name = cell_name(test.name, cell)
        if name in taken:
            raise UsageError(f"two cells of the sweep would be named {name}", "Choose other values.")
        if len(name) > LONGEST_NAME:
            raise UsageError(
                f"{name} would be the name of a cell, with more than {LONGEST_NAME} characters",
                "Shorten the test's name.",
            )
        taken.add(name)
        jobs: list[EngineJob] = []
        for job, options in written:
            # Each a group of its own: otherwise group_reporting in a later one spoils fio's result of the first (F9).
            apart = (("new_group", "1"),) if jobs and "new_group" not in dict(options) else ()
            own = name if len(written) == 1 and cell else job.name
            read = read_job(
                test.engine, replace(job, files=resolve_files(test, job, values)), (*options, *cell, *apart), own
            )
            try:
                check_together(read)
            except PresetError as error:
                raise UsageError(f"{error.message} (test {name})", error.hint) from None
            jobs.append(read)
        placed, ready = short(cell), tuple(jobs)
        if steady:
            try:
                ready = until_steady(test, ready, steady)
            except UsageError as error:
                raise UsageError(f"steady: {error.message}", error.hint) from None
        yield ResolvedTest(name, title_of(ready, placed, test.title), test.engine, ready, placed, layout, steady)


def settings_of(preset: Preset, variant: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a variant of the preset ("" for none), with `settings` over them. Raises UsageError for an unknown one."""
    if not variant:
        return dict(settings)
    known = {each.name: each for each in preset.variants}
    if variant not in known:
        raise UsageError(
            f"{preset.name} has no variant {variant[:40]!r}", _list("It has", list(known)) if known else "It has none."
        )
    return {**dict(known[variant].settings), **settings}


def parameter_value(parameter: Parameter, text: str) -> str:
    """`text` in the parameter's normal form: `256m`, `30s`, `4`. Raises UsageError.

    Empty is allowed where the parameter is optional: options that come out empty are left out.
    """
    text = text.strip()
    if not text and parameter.optional:
        return ""
    shown = f"{parameter.name}={text[:40]}"
    if len(text) > LONGEST_VALUE:
        raise UsageError(f"{shown}...: {len(text)} characters are too many")
    try:
        value = _READERS[parameter.kind](text)
    except UnitError as error:
        raise UsageError(f"{shown}: {error.message}", error.hint) from None
    if parameter.choices and value not in {_READERS[parameter.kind](choice) for choice in parameter.choices}:
        raise UsageError(f"{shown} is not possible", f"Choose from {', '.join(parameter.choices)}.")
    return value


def references(text: str) -> tuple[str, ...]:
    """The parameters that an option's value names. Raises PresetError for a dollar that names nothing."""
    found = _REFERENCE.findall(text)
    if "" in found:
        raise PresetError(
            f"{text[:40]!r} has a $ that is not a parameter", "Write $size for a parameter, $$ for a dollar."
        )
    return tuple(dict.fromkeys(name for name in found if name != "$"))


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """`text` with every $name replaced. Raises PresetError for a parameter that does not exist."""
    for name in references(text):
        if name not in values:
            close = get_close_matches(name, values, n=2)
            hint = f"Did you mean ${' or $'.join(close)}?" if close else _list("Parameters", values)
            raise PresetError(f"${name[:40]} is not a parameter", hint)
    return _REFERENCE.sub(lambda match: "$" if match[1] == "$" else values[match[1]], text)


def resolve_option(engine: EngineName, name: str, text: str, values: Mapping[str, str]) -> str:
    """The value of one option as the engine takes it, empty where the option is left out. Raises PresetError."""
    filled = fill_in(text, values)
    if not filled and references(text):
        return ""
    return check_option(engine, name, filled)


def resolve_layout(test: Test, values: Mapping[str, str]) -> Layout:
    """What a test's writes find. Raises UsageError."""
    try:
        return Layout(fill_in(test.layout, values))
    except ValueError:
        raise UsageError(
            _given(test.layout, values, f"{test.layout[:40]!r} is not a layout (test {test.name})"),
            f"Choose from {', '.join(Layout)}.",
        ) from None
    except PresetError as error:
        raise UsageError(f"{error.message} (test {test.name})", error.hint) from None


def resolve_steady(test: Test, values: Mapping[str, str]) -> SteadyRule | None:
    """When a test is steady, None where its options end it. Raises UsageError."""
    try:
        return parse_steady(fill_in(test.steady, values))
    except (PresetError, UsageError) as error:
        raise UsageError(f"steady: {error.message} (test {test.name})", error.hint) from None


def resolve_rounds(preset: Preset, tests: Sequence[ResolvedTest], values: Mapping[str, str]) -> RoundsRule | None:
    """How often the tests are repeated, None where each is carried out once. Raises UsageError."""
    try:
        rule = parse_rounds(fill_in(preset.rounds, values))
        if rule and tests:
            check_rounds(rule, {test.name: test.jobs for test in tests})
    except (PresetError, UsageError) as error:
        raise UsageError(f"rounds: {error.message}", error.hint) from None
    if rule is None:
        return None
    for test in tests:
        if test.engine is not EngineName.FIO or test.steady:
            why = "goes on until it is steady by itself" if test.steady else "is an ioping test"
            raise UsageError(f"rounds: {test.name} {why}", "Rounds are of fio tests that end by their options.")
    return rule


def resolve_limit(preset: Preset, tests: Sequence[ResolvedTest], values: Mapping[str, str]) -> LimitRule | None:
    """What the test is searched for, None where it is carried out as it is. Raises UsageError."""
    try:
        rule = parse_limit(fill_in(preset.limit, values))
        if rule is None:
            return None
        if preset.sweep or preset.rounds or len(preset.tests) > 1 or any(test.steady for test in tests):
            raise UsageError(
                "a search for a limit is of one test, without a sweep, rounds or a steady state", "Leave these out."
            )
        for test in tests:
            check_load(test.name, test.engine, test.jobs, rule)
    except (PresetError, UsageError) as error:
        raise UsageError(f"limit: {error.message}", error.hint) from None
    return rule


def resolve_map(preset: Preset, tests: Sequence[ResolvedTest], values: Mapping[str, str]) -> MapRule | None:
    """The map that the tests draw, None where they are carried out as they are. Raises UsageError."""
    try:
        rule = parse_map(fill_in(preset.read_write_map, values))
        if rule is None:
            return None
        if preset.sweep or preset.rounds or preset.limit or any(test.steady for test in tests):
            raise UsageError("a map has no sweep, rounds, limit or steady state", "Leave these out.")
        if tests:
            check_map([(test.name, test.engine, test.load) for test in tests], rule)
    except (PresetError, UsageError) as error:
        raise UsageError(f"map: {error.message}", error.hint) from None
    return rule


def resolve_files(test: Test, job: Job, values: Mapping[str, str]) -> tuple[str, ...]:
    """The `files` of a job where a parameter gives them. Raises UsageError."""
    if len(job.files) != 1 or "$" not in job.files[0]:
        return job.files
    (text,) = job.files
    try:
        return FILES[fill_in(text, values)]
    except KeyError:
        message = _given(text, values, f"{fill_in(text, values)[:40]!r} is neither own nor shared (test {test.name})")
        raise UsageError(message, "own: a file for each copy; shared: one for all.") from None
    except PresetError as error:
        raise UsageError(f"{error.message} (test {test.name})", error.hint) from None


def check_together(job: EngineJob) -> None:
    """Raises PresetError for options that cannot stand together."""
    if isinstance(job, IopingJob):
        _check_ioping(job)
        return
    sizes = {*job.sizes(), *job.sizes(write=True)}
    block = max(sizes)
    if job.size is not None and job.size < block:
        raise PresetError(
            f"size={format_fio_size(job.size)} is less than one request of {format_fio_size(block)}",
            "Give a larger size or a smaller bs.",
        )
    given = dict(job.options)
    if given.get("direct") == "1" and (odd := next((size for size in sorted(sizes) if size % _SECTOR), 0)):
        # F17
        raise PresetError(f"direct=1 with requests of {odd} bytes", "O_DIRECT takes multiples of 512 bytes.")
    if given.get("direct") == "1" and given.get("buffered") == "1":
        raise PresetError("direct=1 and buffered=1 exclude each other", "Leave one out.")
    if job.time_based and job.runtime_s is None:
        raise PresetError("time_based without a runtime never ends", "Give a runtime.")
    _check_rates(job)


def _check_ioping(job: IopingJob) -> None:
    """What ioping refuses once a run has begun: a request larger than what it may touch, and O_DIRECT beside the sectors."""
    request = job.block_size
    work = request if job.work_size is None else job.work_size
    if work < request:
        raise PresetError(
            f"work-size={format_fio_size(work)} is less than one request of {format_fio_size(request)}",
            "It must contain at least one request.",
        )
    if job.direct:
        for name, value in (("size", request), ("work-size", work), ("work-offset", job.work_offset)):
            if value % _SECTOR:
                raise PresetError(f"direct with {name}={value}", "O_DIRECT takes multiples of 512 bytes.")


def _check_rates(job: FioJob) -> None:
    """What fio refuses, which would end a run that has begun."""
    limits = {
        "rate": job.rate,
        "rate_iops": job.rate_iops,
        "rate_min": job.rate_min,
        "rate_iops_min": job.rate_iops_min,
    }
    for one, other in (("rate", "rate_iops"), ("rate_min", "rate_iops_min")):
        if any(limits[one]) and any(limits[other]):
            raise PresetError(
                f"{one} and {other} exclude each other",
                Advice(
                    f"Remove one; an empty value unsets a parameter: --set {other}=",
                    f"Remove one: empty the field {other}.",
                ),
            )
    for least, most in (("rate_min", "rate"), ("rate_iops_min", "rate_iops")):
        if any(low > high > 0 for low, high in zip(limits[least], limits[most], strict=True)):
            raise PresetError(f"{least} is more than {most}", "The minimum must be below the limit.")


def _filled(test: Test, job: Job, values: Mapping[str, str]) -> Options:
    """The options of a job as its engine takes them."""
    options: list[tuple[str, str]] = []
    for name, text in job.options:
        try:
            value = resolve_option(test.engine, name, text, values)
        except PresetError as error:
            raise UsageError(f"{_given(text, values, error.message)} (test {test.name})", error.hint) from None
        if value:
            options.append((name, value))
    return tuple(options)


def _given(text: str, values: Mapping[str, str], message: str) -> str:
    """`message` behind the parameters that led to it: a person set these, not the option."""
    given = ", ".join(f"{used}={values[used]}" for used in references(text) if used in values)
    return message if message.startswith(given) else f"{given}: {message}"


def _check_memory(job: FioJob) -> None:
    """Raises PresetError where fio's buffers would take more than half of this machine's memory: it would swap, or be killed."""
    needed = max(*job.sizes(), *job.sizes(write=True)) * job.depth * job.numjobs
    if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2:
        raise PresetError(
            f"its buffers would take {format_size(needed)} of memory", "Choose a smaller bs, iodepth or numjobs."
        )


def _unknown(preset: Preset, name: str) -> UsageError:
    if name == "steady" and preset.rounds:
        named = list(references(preset.rounds))
        return UsageError(
            f"{preset.name} repeats all of its tests in rounds until one of them is steady",
            _list("Set", named) if named else "Change [rounds] in the preset.",
        )
    if name == "steady" and preset.read_write_map:
        return UsageError(f"{preset.name} draws a map, of cells of a set length", "Leave steady out.")
    if name == "steady" and preset.limit:
        return UsageError(f"{preset.name} searches for a limit, by trials of a set length", "Leave steady out.")
    if name == "steady":
        own = next((test.steady for test in preset.tests if test.steady), "")
        named = list(references(own)) if own else []
        return UsageError(
            f"{preset.name} has a steady state of its own"
            if own
            else f"no test of {preset.name} can go on until it is steady",
            _list("Set", named) if named else "Steady needs fio tests with time_based and runtime, as in quick.",
        )
    known = [parameter.name for parameter in preset.parameters]
    close = get_close_matches(name, known, n=2)
    hint = _list("It has", known) if known else "It has none."
    if options := list(options_of_jobs(preset)):
        hint += f" {_list('Of its jobs can be set', options)}"
    return UsageError(
        f"{preset.name} has no parameter {name[:40]!r}", f"Did you mean {' or '.join(close)}? {hint}" if close else hint
    )


def _list(what: str, names: Mapping[str, str] | list[str]) -> str:
    return f"{what}: {', '.join(names)}." if names else "There are none."


def _count(text: str) -> str:
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise UnitError(f"{text!r} is not a whole number", "Use digits only, e.g. 32.")
    return str(int(text))


def _duration(text: str) -> str:
    # The unit stays: a bare number would be microseconds in some of fio's options.
    written = write_duration(parse_duration(text))
    return written if written.endswith("s") else f"{written}s"


_READERS: Mapping[ParameterKind, Callable[[str], str]] = {
    ParameterKind.SIZE: lambda text: format_fio_size(parse_size(text)),
    ParameterKind.DURATION: _duration,
    ParameterKind.COUNT: _count,
    ParameterKind.TEXT: str,
}
