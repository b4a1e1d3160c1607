"""Block size, queue depth, jobs and engine of a preset's only job, to be changed as its own parameters are."""

from dataclasses import dataclass, replace

from diskprof.model.errors import UnitError
from diskprof.model.preset import EngineName, Parameter, ParameterKind, Preset
from diskprof.model.units import parse_size
from diskprof.presets.options.allowed import FIO_OPTIONS


@dataclass(frozen=True, slots=True)
class _Tunable:
    option: str
    kind: ParameterKind
    summary: str


_TUNABLES = (
    _Tunable("bs", ParameterKind.SIZE, "size of one request"),
    _Tunable("iodepth", ParameterKind.COUNT, "requests at once, of each job"),
    _Tunable("numjobs", ParameterKind.COUNT, "jobs side by side"),
    _Tunable("ioengine", ParameterKind.TEXT, "how fio does its I/O"),
)


def with_tuning(preset: Preset) -> Preset:
    """The preset with a parameter for each of these options that is not tied to one yet.

    Only where it has a single fio job: several jobs differ in just these options, and a sweep turns them itself. An
    option that the job leaves to fio becomes a parameter that may stay empty.
    """
    if preset.sweep or len(preset.tests) != 1 or preset.tests[0].engine is not EngineName.FIO:
        return preset
    (test,) = preset.tests
    if len(test.jobs) != 1:
        return preset
    options = dict(test.jobs[0].options)
    added = []
    for tunable in _TUNABLES:
        value = options.get(tunable.option, "")
        if preset.parameter(tunable.option) or "$" in value or not _plain(tunable, value):
            continue
        if tunable.option == "bs" and options.keys() & {"bsrange", "bssplit"}:
            continue
        choices = FIO_OPTIONS[tunable.option].choices if tunable.kind is ParameterKind.TEXT else ()
        added.append(Parameter(tunable.option, tunable.kind, value, tunable.summary, tuple(choices), not value))
        options[tunable.option] = f"${tunable.option}"
    job = replace(test.jobs[0], options=tuple(options.items()))
    return replace(preset, parameters=(*preset.parameters, *added), tests=(replace(test, jobs=(job,)),))


def _plain(tunable: _Tunable, value: str) -> bool:
    """Whether the value is one of the parameter's kind: a block size may be two, of reads and writes."""
    if not value or tunable.kind is not ParameterKind.SIZE:
        return True
    try:
        return parse_size(value) > 0
    except UnitError:
        return False
