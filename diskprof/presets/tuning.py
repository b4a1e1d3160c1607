"""What may be changed of any preset beside the parameters that it names."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.errors import UnitError
from diskprof.model.preset import Consent, EngineName, Job, Layout, Parameter, ParameterKind, Preset, Test
from diskprof.model.units import parse_size
from diskprof.presets.options.allowed import FIO_OPTIONS
from diskprof.presets.options.values import OptionKind


class _Tunable(Struct, frozen=True):
    """`alone`: several jobs differ in just this."""

    option: str
    kind: ParameterKind
    summary: str
    alone: bool = True


_TUNABLES = (
    _Tunable("bs", ParameterKind.SIZE, "size of one request"),
    _Tunable("iodepth", ParameterKind.COUNT, "queue depth of each job"),
    _Tunable("numjobs", ParameterKind.COUNT, "number of parallel jobs"),
    _Tunable("ioengine", ParameterKind.TEXT, "fio's I/O engine", alone=False),
    _Tunable("direct", ParameterKind.TEXT, "1: direct I/O", alone=False),
    _Tunable("sync", ParameterKind.TEXT, "O_SYNC (1) or O_DSYNC (dsync) writes", alone=False),
)
_MIX = {"rwmixread": "rwmixwrite", "rwmixwrite": "rwmixread"}
_LOADS = {"iodepth", "numjobs"}
"""What a search for a limit sets."""

CONSENT = "precondition"
"""The parameter that says whether a disk is preconditioned."""

_PRECONDITION = "bring the disk into a known state first; a raw device only with yes"
_STEADY = "go on until steady, e.g. read.iops window=10s at_most=30m"
_LAYOUT = "file that writes start on: filled, fresh (created by fio) or sparse"


def with_tuning(preset: Preset) -> Preset:
    """The preset with parameters for what a person may want otherwise: layout, steady state, and of one job the tunable options."""
    return _with_consent(_with_steady(_with_layout(_with_options(preset))))


def options_of_jobs(preset: Preset) -> Mapping[str, str]:
    """The options that all fio jobs of the preset have alike and that are no parameters yet, with their values.

    The pattern is none of them: tests are called by it.
    """
    jobs = [dict(job.options) for test in preset.tests if test.engine is EngineName.FIO for job in test.jobs]
    swept = {axis.option for axis in preset.sweep}
    alike = set(jobs[0].items()).intersection(*(job.items() for job in jobs)) if jobs else set()
    return {
        option: value
        for option, value in sorted(alike)
        if option not in swept | {"rw"} and "$" not in value and not preset.parameter(option)
    }


def with_parameters_for(preset: Preset, names: Collection[str]) -> Preset:
    """The preset with a parameter for each of `names` that is an option of its jobs (`options_of_jobs`), and with one for a steady
    state that is asked of tests which reading or writing their size once would end."""
    if "steady" in names and not (preset.rounds or preset.limit or preset.read_write_map or preset.parameter("steady")):
        preset = _with_steady(_repeating(preset))
    mine = options_of_jobs(preset)
    values = {name: mine[other] for name in names for other in (name, _MIX.get(name, name)) if other in mine}
    added = [
        Parameter(name, ParameterKind.TEXT, value, FIO_OPTIONS[name].summary, optional=True)
        for name, value in values.items()
        if not preset.parameter(name)
    ]
    return _with_parameters(preset, added) if added else preset


def _with_layout(preset: Preset) -> Preset:
    """The preset with a parameter for the layout, where its tests have one layout and a job may write."""
    layouts = {test.layout for test in preset.tests if _may_fill(test)}
    (layout,) = layouts if len(layouts) == 1 else ("",)
    if layout not in set(Layout) or preset.parameter("layout"):
        return preset
    added = Parameter("layout", ParameterKind.TEXT, layout, _LAYOUT, tuple(Layout))
    tests = (replace(test, layout="$layout") if _may_fill(test) else test for test in preset.tests)
    return replace(preset, parameters=(*preset.parameters, added), tests=tuple(tests))


def _with_consent(preset: Preset) -> Preset:
    """The preset with a parameter for whether the disk is preconditioned, where it has steps for that."""
    if not preset.precondition or preset.parameter(CONSENT):
        return preset
    added = Parameter(CONSENT, ParameterKind.TEXT, Consent.ASK, _PRECONDITION, tuple(Consent))
    return replace(preset, parameters=(*preset.parameters, added))


def _with_steady(preset: Preset) -> Preset:
    """The preset with a parameter for the steady state that its tests wait for, where all have one alike, and some fio test of
    a job that time ends can wait for any. In rounds no test waits by itself."""
    rules = {test.steady for test in preset.tests}
    (rule,) = rules if len(rules) == 1 else ("$",)
    if (
        preset.rounds
        or preset.limit
        or preset.read_write_map
        or "$" in rule
        or preset.parameter("steady")
        or not any(map(_may_wait, preset.tests))
    ):
        return preset
    added = Parameter("steady", ParameterKind.TEXT, rule, _STEADY, optional=True)
    tests = tuple(replace(test, steady="$steady") for test in preset.tests)
    return replace(preset, parameters=(*preset.parameters, added), tests=tests)


_AMOUNTS = {"time_based", "number_ios", "io_size", "loops"}


def _repeating(preset: Preset) -> Preset:
    """The preset with tests that begin again where their size alone would end them."""

    def repeated(test: Test) -> Test:
        if test.engine is not EngineName.FIO or any(_AMOUNTS & dict(job.options).keys() for job in test.jobs):
            return test
        return replace(test, jobs=tuple(replace(job, options=(*job.options, ("time_based", "1"))) for job in test.jobs))

    return replace(preset, tests=tuple(map(repeated, preset.tests)))


def _may_wait(test: Test) -> bool:
    options = [dict(job.options) for job in test.jobs]
    return test.engine is EngineName.FIO and all(job.get("time_based", "0") not in ("0", "") for job in options)


def _may_write(options: Mapping[str, str]) -> bool:
    rw = options.get("rw", "read")
    return "$" in rw or rw not in ("read", "randread")


def _may_fill(test: Test) -> bool:
    """Whether a job of the test only writes, which is where the layout counts."""
    patterns = [dict(job.options).get("rw", "read") for job in test.jobs]
    return test.engine is EngineName.FIO and any("$" in rw or rw in ("write", "randwrite") for rw in patterns)


def _with_options(preset: Preset) -> Preset:
    """The preset with a parameter for each of these options that all its fio jobs have alike, and that is not tied to one yet.

    What a sweep turns is left to it. An option that the jobs leave to fio becomes a parameter that may stay empty.
    """
    jobs = [dict(job.options) for test in preset.tests if test.engine is EngineName.FIO for job in test.jobs]
    added = [parameter for tunable in _TUNABLES if (parameter := _offered(tunable, preset, jobs))]
    return _with_parameters(preset, added) if added else preset


def _with_parameters(preset: Preset, added: Sequence[Parameter]) -> Preset:
    """The preset with these, each in the place of the option of its name in all fio jobs."""
    changes = {parameter.name: f"${parameter.name}" for parameter in added}
    tests = (
        replace(test, jobs=tuple(_changed(job, changes) for job in test.jobs))
        if test.engine is EngineName.FIO
        else test
        for test in preset.tests
    )
    return replace(preset, parameters=(*preset.parameters, *added), tests=tuple(tests))


def _changed(job: Job, changes: Mapping[str, str]) -> Job:
    # A percentage of reads takes the place of one of writes.
    kept = {name: value for name, value in job.options if _MIX.get(name) not in changes}
    return replace(job, options=tuple({**kept, **changes}.items()))


def _offered(tunable: _Tunable, preset: Preset, jobs: Sequence[Mapping[str, str]]) -> Parameter | None:
    """The parameter for an option, None where it is not to be had."""
    option, values = tunable.option, {job.get(tunable.option, "") for job in jobs}
    (value,) = values if len(values) == 1 else ("$",)
    swept = preset.sweep and (tunable.alone or any(axis.option == option for axis in preset.sweep))
    if (preset.limit or preset.read_write_map) and option in _LOADS:
        return None
    if swept or preset.parameter(option) or "$" in value or not _plain(tunable, value):
        return None
    if (tunable.alone and len(jobs) != 1) or any(_another_way(option, job) for job in jobs):
        return None
    if not jobs or (option == "sync" and not any(_may_write(job) for job in jobs)):
        return None
    spec = FIO_OPTIONS[option]
    choices = ("0", "1") if spec.kind is OptionKind.BOOLEAN else spec.choices
    return Parameter(option, tunable.kind, value, tunable.summary, tuple(choices), not value)


def _another_way(option: str, job: Mapping[str, str]) -> bool:
    """Whether a job says the same by another option."""
    others = {"bs": {"bsrange", "bssplit"}, "direct": {"buffered"}}
    return bool(job.keys() & others.get(option, set()))


def _plain(tunable: _Tunable, value: str) -> bool:
    """Whether the value is one of the parameter's kind: a block size may be two, of reads and writes."""
    if not value or tunable.kind is not ParameterKind.SIZE:
        return True
    try:
        return parse_size(value) > 0
    except UnitError:
        return False
