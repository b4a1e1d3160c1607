"""A preset as a document: what it is for, its parameters, its tests in words and as the engines would read them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from diskprof.model.expectation import PresetExpectation
from diskprof.model.job import EngineJob, FioJob
from diskprof.model.preset import EngineName, Preset, Variant
from diskprof.model.units import format_duration
from diskprof.presets.files.fio_text import ioping_command, pairs_of, shared_pairs
from diskprof.presets.files.promises import CAPACITY
from diskprof.presets.limit_text import limit_words
from diskprof.presets.map_text import map_words
from diskprof.presets.resolve import ResolvedPreset, ResolvedTest, expand_defaults, parameter_value
from diskprof.presets.steady_text import rounds_words
from diskprof.reports.blocks import Block, Cell, Code, Fact, Facts, Heading, Note, Paragraph, Table
from diskprof.reports.content.preset_words import (
    cells_of,
    conditions,
    describe_test,
    expand_variant,
    file_words,
    promise_words,
    sweep_words,
    time_needed,
    writes,
)
from diskprof.reports.layout import Column

_DEFAULT = 32
"""No default of a parameter is wider in the table of parameters."""


def preset_report(preset: Preset) -> tuple[Block, ...]:
    """All about one preset, with the defaults filled in."""
    resolved = expand_defaults(preset)
    tests = _by_test(resolved)
    return (
        Heading(f"{preset.name}: {preset.title}", 1),
        *([Paragraph(preset.summary)] if preset.summary else ()),
        _facts(preset, resolved),
        *_targets(preset),
        *_parameters(preset),
        *_variants(preset),
        *_promises(preset),
        *_preconditioning(resolved),
        Heading("First trial" if resolved.limit else "First cells" if resolved.read_write_map else "Tests"),
        *(Note(_described(cells), where=f"{number}. {_named(cells)}") for number, cells in enumerate(tests, 1)),
        *_as_read([cells[0] for cells in tests], ", the first cell" if len(resolved.tests) > len(tests) else ""),
    )


def _facts(preset: Preset, resolved: ResolvedPreset) -> Facts:
    time = time_needed(resolved)
    prepares = f"creating the test file{' and preconditioning' if resolved.precondition else ''}"
    facts = (
        ("Category", preset.category.value),
        ("Sweep", sweep_words(resolved)),
        (
            "Rounds",
            f"all tests, until {rounds_words(resolved.rounds)} ({resolved.rounds.test})" if resolved.rounds else "",
        ),
        ("Search", limit_words(resolved.limit) if resolved.limit else ""),
        ("Map", map_words(resolved.read_write_map) if resolved.read_write_map else ""),
        ("Time", f"{time.words}, plus {prepares}" if time.seconds else "unknown"),
        ("Writes", "yes" if writes(resolved) else "no (in a directory, it fills its test file first)"),
        ("Source", preset.source),
        ("Also called", ", ".join(preset.aliases)),
        ("Found by", ", ".join(preset.keywords)),
        ("File", "" if preset.shipped else preset.path),
    )
    return Facts(tuple(Fact(name, text) for name, text in facts if text))


def _preconditioning(resolved: ResolvedPreset) -> list[Block]:
    steps = [Note(describe_test(step), where=f"{at}. {step.name}") for at, step in enumerate(resolved.precondition, 1)]
    return [Heading("Preconditioning, before the first test"), *steps] if steps else []


def _targets(preset: Preset) -> list[Block]:
    if not preset.targets:
        return []
    example = " ".join(f"--target {slot.name}=/mnt/{slot.name}" for slot in preset.targets)
    return [
        Heading(f"Targets (name each: {example})"),
        *(Note(slot.summary, where=slot.name) for slot in preset.targets),
    ]


def _parameters(preset: Preset) -> list[Block]:
    if not preset.parameters:
        return []
    columns = (Column("Name"), Column("Default", least=_DEFAULT), Column("Meaning", wraps=True))
    rows = []
    for parameter in preset.parameters:
        choices = f"one of {', '.join(parameter.choices)}" if parameter.choices else ""
        meaning = "; ".join(filter(None, (parameter.summary, choices)))
        rows.append((Cell(parameter.name), Cell(parameter.default or "-"), Cell(meaning)))
    return [Heading("Parameters (change one with --set NAME=VALUE)"), Table(columns, tuple(rows), inset=True)]


def _variants(preset: Preset) -> list[Block]:
    if not preset.variants:
        return []
    return [
        Heading("Variants (choose one with --variant NAME)"),
        *(Note(_variant_words(preset, variant), where=variant.name) for variant in preset.variants),
    ]


def _variant_words(preset: Preset, variant: Variant) -> str:
    settings = ", ".join(f"{name} {value or '(empty)'}" for name, value in variant.settings)
    time = time_needed(expand_variant(preset, variant.name))
    return f"{settings}; takes {time.words}" if time.seconds else settings


def _promises(preset: Preset) -> list[Block]:
    """Every promise, by the condition that it is made on."""
    promises = sorted(preset.expectations, key=lambda promise: _order(preset, promise))
    if not promises:
        return []
    blocks: list[Block] = [Heading("Expected")]
    least = {promise.seconds for promise in promises}
    for when, group in groupby(promises, key=lambda promise: promise.when):
        if when:
            blocks.append(Heading(f"With {conditions(preset, when)}", 3))
        for promise in group:
            seconds = f", measured for at least {format_duration(promise.seconds)}" if len(least) > 1 else ""
            blocks.append(Note(f"{promise_words(promise)}{seconds}", where=promise.test))
    return [*blocks, *map(Paragraph, _remarks(preset, least))]


def _remarks(preset: Preset, least: set[float]) -> Iterator[str]:
    if any(promise.promise.per_gib for promise in preset.expectations):
        given = f"; override: --set {CAPACITY}=800" if preset.parameter(CAPACITY) else ""
        yield f"GiB is the capacity of the device{given}."
    if len(least) == 1 and (seconds := min(least)):
        yield f"Needs at least {format_duration(seconds)} of measuring; shorter tests are inconclusive."


def _order(preset: Preset, promise: PresetExpectation) -> tuple[tuple[tuple[str, str], ...], ...] | tuple[int, ...]:
    """What holds anyway first, then in the order of the choices."""
    places = []
    for name, value in promise.when:
        parameter = preset.parameter(name)
        choices = [parameter_value(parameter, choice) for choice in parameter.choices] if parameter else []
        places.append(choices.index(value) if value in choices else 0)
    return tuple(places)


def _by_test(resolved: ResolvedPreset) -> list[Sequence[ResolvedTest]]:
    """The tests, each with its cells where the preset is a sweep."""
    count = cells_of(resolved)
    return [resolved.tests[start : start + count] for start in range(0, len(resolved.tests), count)]


def _named(cells: Sequence[ResolvedTest]) -> str:
    first = cells[0]
    if len(cells) > 1:
        return f"{first.name} to {cells[-1].name}, {len(cells)} cells"
    return first.name if first.title.endswith(f"({first.name})") else f"{first.name}: {first.title}"


def _described(cells: Sequence[ResolvedTest]) -> str:
    return f"{'' if len(cells) == 1 else 'The first: '}{describe_test(cells[0])}"


def _as_read(tests: Sequence[ResolvedTest], which: str) -> list[Block]:
    """The tests as each engine reads them; `which` of them these are, where not all."""
    blocks: list[Block] = []
    if fio := [test for test in tests if test.engine is EngineName.FIO]:
        lines = tuple((line,) for line in job_file(fio))
        blocks += [Heading(f"fio job file{which}{_processes(fio)}"), Code(lines, "ini")]
    if ioping := [test for test in tests if test.engine is EngineName.IOPING]:
        lines = tuple((ioping_command(test.jobs[0]),) for test in ioping)
        blocks += [Heading("ioping command"), Code(lines)]
    return blocks


def _processes(tests: Sequence[ResolvedTest]) -> str:
    if len(tests) == 1:
        return ""
    if any(len(test.jobs) > 1 for test in tests):
        return "; the sections of a test run as one process"
    return "; each section runs as its own process"


def job_file(tests: Sequence[ResolvedTest]) -> list[str]:
    """Resolved fio tests as the lines of a job file; options that all jobs share stand in [global]."""
    shared = shared_pairs(tests)
    lines = ["[global]", *shared] if shared else []
    for name, job in [(_section(test, job), job) for test in tests for job in test.jobs]:
        lines += [*([""] if lines else []), f"[{name}]"]
        lines += [f"; on {' and '.join(job.targets)}"] if any(job.targets) else []
        lines += [f"; {words}"] if isinstance(job, FioJob) and (words := file_words(job)) else []
        lines += [pair for pair in pairs_of(job) if pair not in shared]
    return lines


def _section(test: ResolvedTest, job: EngineJob) -> str:
    return job.name if len(test.jobs) == 1 else f"{test.name}-{job.name}"
