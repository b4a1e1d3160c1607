"""What the tests of another tool become: a preset of one's own, with a line for everything that was left out."""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.errors import PresetError
from diskprof.model.preset import Category, EngineName, Job, Options, Parameter, ParameterKind, Preset, TargetSlot, Test
from diskprof.model.text import clean
from diskprof.presets.resolve import fill_in

LONGEST_PRESET_NAME = 40
LONGEST_NAME = 64
LONGEST_TITLE = 80
LONGEST_TEXT = 2000
MOST_JOBS = 64
"""Jobs of one test, as many as a preset file may have."""
MOST_TESTS = 200

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")


class ImportedPreset(Struct, frozen=True):
    """`notes`: a line each for what was left out, and for what is not quite what it was."""

    preset: Preset
    notes: tuple[str, ...] = ()


class _Common(Struct, frozen=True):
    """A parameter that takes the place of an option which all jobs share. `offered`: also where no job has the option."""

    name: str
    option: str
    kind: ParameterKind
    summary: str
    offered: bool = False


_COMMON = (
    _Common("size", "size", ParameterKind.SIZE, "size of the tested area; in a directory, of the test file", True),
    _Common("runtime", "runtime", ParameterKind.DURATION, "maximum time to measure", True),
    _Common("ramp", "ramp_time", ParameterKind.DURATION, "warm-up time"),
)  # fmt: skip


def own_preset(
    name: str,
    tests: Sequence[Test],
    *,
    title: str,
    summary: str,
    source: str,
    path: str = "",
    targets: Sequence[str] = (),
) -> Preset:
    """A preset of one's own. The size, runtime and warm-up that its fio jobs share become parameters."""
    parameters, changed = _parametrised(tests)
    return Preset(
        name=preset_name(name),
        title=one_line(title, LONGEST_TITLE),
        summary=one_line(summary, LONGEST_TEXT),
        category=Category.OWN,
        source=one_line(source, LONGEST_TEXT),
        parameters=parameters,
        tests=changed,
        path=path,
        shipped=False,
        targets=tuple(TargetSlot(target) for target in targets),
    )  # fmt: skip


def together(imported: Sequence[ImportedPreset], name: str) -> ImportedPreset:
    """One preset of several, their tests one after the other. What their fio jobs share becomes parameters again."""
    tests: list[Test] = []
    for each in imported:
        values = {parameter.name: parameter.default for parameter in each.preset.parameters}
        for test in each.preset.tests:
            jobs = tuple(replace(job, options=_filled(job.options, values)) for job in test.jobs)
            named = unique_name(test.name, [other.name for other in tests])
            if len(jobs) == 1 and jobs[0].name == test.name:
                jobs = (replace(jobs[0], name=named),)
            tests.append(replace(test, name=named, jobs=jobs, layout=fill_in(test.layout, values)))
    if len(tests) > MOST_TESTS:
        raise PresetError(f"There are {len(tests)} tests, and a preset has {MOST_TESTS} at most.")
    sources = [each.preset.source for each in imported]
    preset = own_preset(
        name or tests[0].name,
        tests,
        title=f"{len(tests)} tests of {len(imported)} commands",
        summary=f"{len(imported)} commands, one after the other: {', '.join(test.name for test in tests)}.",
        source="; ".join(sources),
    )
    return ImportedPreset(preset, tuple(dict.fromkeys(note for each in imported for note in each.notes)))


def _filled(options: Options, values: Mapping[str, str]) -> Options:
    """Options without parameters; what comes out empty is left out."""
    found = ((option, fill_in(text, values)) for option, text in options)
    return tuple((option, text) for option, text in found if text)


def one_line(text: str, longest: int) -> str:
    """Foreign text as one harmless line of at most `longest` characters."""
    line = " ".join(clean(text[: 4 * longest], keep_newlines=True).split())
    return line if len(line) <= longest else line[: longest - 3].rstrip() + "..."


def preset_name(text: str) -> str:
    """`text` as the name of a preset: small letters, digits, - and _."""
    return _plain(text, LONGEST_PRESET_NAME).lower() or "imported"


def unique_name(text: str, taken: Iterable[str], otherwise: str = "job") -> str:
    """`text` as the name of a job or a test, with a number behind it where another has that name."""
    taken = set(taken)
    name = base = _plain(text, LONGEST_NAME) or otherwise
    if base.startswith("global"):
        # fio takes such a job for the options of all others.
        name = base = f"job-{base}"[:LONGEST_NAME]
    number = 1
    while name in taken:
        number += 1
        name = f"{base[: LONGEST_NAME - 1 - len(str(number))]}-{number}"
    return name


def _plain(text: str, longest: int) -> str:
    # First the beginning: of a name of a megabyte nothing more is needed.
    return _NOT_IN_NAMES.sub("-", text[: 4 * longest]).strip("-_")[:longest].strip("-_")


def test_name(jobs: Sequence[str], taken: Iterable[str]) -> str:
    """The name of a test of these jobs."""
    together = "-".join(jobs)
    return unique_name(together if len(together) <= LONGEST_NAME else f"{jobs[0][:48]}-and-{len(jobs) - 1}-more", taken)


def _parametrised(tests: Sequence[Test]) -> tuple[tuple[Parameter, ...], tuple[Test, ...]]:
    jobs = [job for test in tests if test.engine is EngineName.FIO for job in test.jobs]
    parameters: list[Parameter] = []
    changes: dict[str, str] = {}
    additions: set[str] = set()
    for common in _COMMON if jobs else ():
        found = [dict(job.options).get(common.option) for job in jobs]
        given = set(found)
        if None in given and common.offered:
            # Jobs with a value of their own keep it; the others can be given one.
            additions.add(common.option)
            parameters.append(Parameter(common.name, common.kind, "", common.summary, optional=True))
        elif len(given) == 1 and found[0]:
            changes[common.option] = f"${common.name}"
            kind = ParameterKind.TEXT if found[0].endswith("%") else common.kind
            parameters.append(Parameter(common.name, kind, found[0], common.summary))
    names = {common.option: common.name for common in _COMMON}
    return tuple(parameters), tuple(
        replace(test, jobs=tuple(_with_parameters(job, changes, additions, names) for job in test.jobs))
        if test.engine is EngineName.FIO
        else test
        for test in tests
    )


def _with_parameters(job: Job, changes: Mapping[str, str], additions: set[str], names: Mapping[str, str]) -> Job:
    options = {name: changes.get(name, value) for name, value in job.options}
    for option in names:
        if option in additions and option not in options:
            options[option] = f"${names[option]}"
    return replace(job, options=tuple(options.items()))
