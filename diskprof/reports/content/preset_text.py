"""Presets in words, as tables, as the engines would read them, and as JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from diskprof.model.cells import cut, pad, width_of, wrap
from diskprof.model.job import EachWay, EngineJob, FioJob, IopingJob
from diskprof.model.preset import Category, EngineName, Parameter, Preset, Variant
from diskprof.model.units import format_duration, format_size
from diskprof.presets.files.fio_text import ioping_command, pairs_of, shared_pairs
from diskprof.presets.options.allowed import options_of
from diskprof.presets.options.values import describe_range
from diskprof.presets.resolve import ResolvedPreset, ResolvedTest, expand_defaults
from diskprof.reports.content.preset_words import cells_of, expand_variant, promises_text, sweep_words
from diskprof.reports.layout import Column, plain, table

SHELVES: Mapping[Category, str] = {
    Category.QUICK: "Quick checks",
    Category.LATENCY: "Latency",
    Category.IOPS: "IOPS",
    Category.BANDWIDTH: "Bandwidth",
    Category.MIXED: "Mixed loads",
    Category.SUITE: "Suites",
    Category.ENDURANCE: "Endurance",
    Category.OWN: "Your own",
}

_VERBS = {"read": "Reads", "write": "Writes", "rw": "Reads and writes"}


@dataclass(frozen=True, slots=True)
class Time:
    """How long a preset takes with its defaults. `least`: some test is ended by its amount alone; `most`: some may end earlier."""

    seconds: float
    least: bool = False
    most: bool = False

    def __str__(self) -> str:
        if not self.seconds:
            return "?"
        return f"{'>' if self.least else '<' if self.most else ''}{_short_duration(self.seconds)}"


def time_needed(resolved: ResolvedPreset) -> Time:
    """The time that the tests take, without laying out the test file."""
    seconds, least, most = 0.0, False, False
    for test in resolved.tests:
        longest = 0.0
        for job in test.jobs:
            known, early = _job_time(job)
            least = least or known is None
            most = most or early
            longest = max(longest, known or 0.0)
        seconds += longest
    return Time(seconds, least, most and not least)


def _job_time(job: EngineJob) -> tuple[float | None, bool]:
    """Seconds, None if only an amount ends the job, and whether it may end before."""
    if isinstance(job, IopingJob):
        if job.work_s is not None:
            return job.work_s, job.count is not None
        if job.count is not None:
            return job.count * job.interval_s, False
        return (job.seconds, False) if job.rapid else (None, False)
    return (None, False) if job.runtime_s is None else (job.ramp_s + job.runtime_s, not job.time_based)


def writes(preset: Preset) -> bool:
    """Whether any test writes."""
    return not all(job.reads_only for test in expand_defaults(preset).tests for job in test.load.fio)


def presets_table(presets: Sequence[Preset], width: int = 80) -> str:
    """Every preset on a line, by category."""
    if not presets:
        return "There are no presets.\n"
    rows = {preset.name: _row(preset) for preset in presets}
    headings = [
        Column("Preset"),
        Column("What it measures", least=16),
        Column("Does"),
        Column("Time", right=True),
    ]
    # One table for all, so that the columns of every shelf line up.
    lines = table(headings, list(rows.values()), width, indent="  ")
    parts = [lines[0]]
    found = iter(lines[1:])
    for category, shelf in groupby(presets, key=lambda preset: preset.category):
        parts += ["", SHELVES[category], *(next(found) for _ in shelf)]
    parts += [
        "",
        *wrap("Time: with the defaults, without filling the test file. < at most, > more, ? until all is done.", width),
        *wrap("x5: five tests, one after the other.", width),
    ]
    if sweeps := [preset.name for preset in presets if preset.sweep]:
        parts += wrap(f"Sweeps, a test for each combination of values: {', '.join(sweeps)}.", width)
    if several := [preset.name for preset in presets if len(preset.targets) > 1]:
        parts += wrap(f"On several targets at once: {', '.join(several)}.", width)
    if others := [f"{alias} is {preset.name}" for preset in presets for alias in preset.aliases]:
        parts += wrap(f"Other names: {', '.join(others)}.", width)
    return "\n".join(parts) + "\n"


def _row(preset: Preset) -> tuple[str, str, str, str]:
    resolved = expand_defaults(preset)
    does = "write" if writes(preset) else "read"
    if len(resolved.tests) > 1:
        does += f" x{len(resolved.tests)}"
    return preset.name, preset.title, does, str(time_needed(resolved))


def preset_text(preset: Preset, width: int = 80) -> str:
    """All about one preset: in words, its parameters, its tests as the engines would read them with the defaults."""
    resolved = expand_defaults(preset)
    lines = [f"{preset.name}: {preset.title}", *(wrap(preset.summary, width) if preset.summary else ())]
    lines += ["", *_facts(preset, resolved, width)]
    if preset.targets:
        example = " ".join(f"--target {slot.name}=/mnt/{slot.name}" for slot in preset.targets)
        lines += ["", *wrap(f"Targets (name each: {example})", width)]
        lines += _named([(slot.name, slot.summary) for slot in preset.targets], width)
    if preset.parameters:
        lines += ["", "Parameters (change one with --set NAME=VALUE)"]
        lines += _parameters(preset.parameters, width)
    if preset.variants:
        lines += ["", "Variants (choose one with --variant NAME)"]
        lines += _named([(variant.name, _variant_words(preset, variant)) for variant in preset.variants], width)
    lines += promises_text(preset, width)
    lines += ["", "Tests"]
    for number, cells in enumerate(_by_test(resolved), 1):
        lines += wrap(_described(cells), width, f"  {number}. ")
    return "\n".join([*lines, *_as_read(resolved)]) + "\n"


def _parameters(parameters: Sequence[Parameter], width: int) -> list[str]:
    name = max(4, *(len(parameter.name) for parameter in parameters))
    defaults = [cut(parameter.default or "-", 32) for parameter in parameters]
    default = max(7, *map(width_of, defaults))
    lines = [f"  {'Name':{name}}  {'Default':{default}}  Meaning"]
    for parameter, text in zip(parameters, defaults, strict=True):
        head = f"  {parameter.name:{name}}  {pad(text, default)}  "
        lines += wrap(_meaning(parameter.summary, parameter.choices), width, head)
    return lines


def _named(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    longest = max(len(name) for name, _ in rows)
    return [line for name, text in rows for line in wrap(text, width, f"  {name:{longest}}  ")]


def _variant_words(preset: Preset, variant: Variant) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in variant.settings)
    time = time_needed(expand_variant(preset, variant.name))
    return f"{settings}; takes {_how(time)}{format_duration(time.seconds)}" if time.seconds else settings


def _by_test(resolved: ResolvedPreset) -> list[Sequence[ResolvedTest]]:
    """The tests, each with its cells where the preset is a sweep."""
    count = cells_of(resolved)
    return [resolved.tests[start : start + count] for start in range(0, len(resolved.tests), count)]


def _described(cells: Sequence[ResolvedTest]) -> str:
    first, last = cells[0], cells[-1]
    if first is last:
        return f"{first.name}. {describe_test(first)}"
    return f"{first.name} to {last.name}, {len(cells)} cells. The first: {describe_test(first)}"


def _facts(preset: Preset, resolved: ResolvedPreset, width: int) -> list[str]:
    time = time_needed(resolved)
    facts = [
        ("Category", preset.category.value),
        ("Sweep", sweep_words(resolved)),
        (
            "Time",
            f"{_how(time)}{format_duration(time.seconds)}, and laying out the test file" if time.seconds else "unknown",
        ),
        ("Writes", "yes" if writes(preset) else "no; in a directory it fills its test file first"),
        ("Source", preset.source),
        ("Also called", ", ".join(preset.aliases)),
        ("File", "" if preset.shipped else plain(preset.path)),
    ]
    return [line for name, text in facts if text for line in wrap(text, width, f"{name + ':':13}")]


def _how(time: Time) -> str:
    return "at least " if time.least else "up to " if time.most else ""


def _meaning(summary: str, choices: Sequence[str]) -> str:
    return "; ".join(filter(None, (summary, f"one of {', '.join(choices)}" if choices else "")))


def _as_read(resolved: ResolvedPreset) -> list[str]:
    lines: list[str] = []
    tests = [cells[0] for cells in _by_test(resolved)]
    fio = [test for test in tests if test.engine is EngineName.FIO]
    if fio:
        which = ", the first cell" if len(resolved.tests) > len(tests) else ""
        lines += ["", f"As fio reads it{which}{_processes(fio)}"]
        lines += [f"  {line}".rstrip() for line in job_file(fio)]
    ioping = [test for test in tests if test.engine is EngineName.IOPING]
    if ioping:
        lines += ["", "As ioping reads it", *(f"  {ioping_command(test.jobs[0])}" for test in ioping)]
    return lines


def _processes(tests: Sequence[ResolvedTest]) -> str:
    if len(tests) == 1:
        return ""
    if any(len(test.jobs) > 1 for test in tests):
        return "; the sections of a test are one process"
    return "; each section is a process of its own"


def job_file(tests: Sequence[ResolvedTest]) -> list[str]:
    """Resolved fio tests as the lines of a job file; options that all jobs share stand in [global]."""
    shared = shared_pairs(tests)
    lines = ["[global]", *shared] if shared else []
    for name, job in [(_section(test, job), job) for test in tests for job in test.jobs]:
        lines += [*([""] if lines else []), f"[{name}]"]
        lines += [f"; on the target {job.target}"] if job.target else []
        lines += [pair for pair in pairs_of(job) if pair not in shared]
    return lines


def _section(test: ResolvedTest, job: EngineJob) -> str:
    return job.name if len(test.jobs) == 1 else f"{test.name}-{job.name}"


def describe_test(test: ResolvedTest) -> str:
    """What a resolved test does, in sentences."""
    if len(test.jobs) == 1:
        return _job_sentence(test.jobs[0])
    return "Side by side: " + " ".join(f"{job.name}: {_job_sentence(job)}" for job in test.jobs)


def _job_sentence(job: EngineJob) -> str:
    does = _ioping_sentence(job) if isinstance(job, IopingJob) else _fio_sentence(job)
    return f"On {job.target}: {does[0].lower()}{does[1:]}" if job.target else does


def _fio_sentence(job: FioJob) -> str:
    mix = f" ({job.reads_percent}% reads)" if job.mixed else ""
    parts = [
        f"{_VERBS[job.rw.removeprefix('rand')]}{mix} {_blocks(job)} {'at random' if job.random else 'in order'}",
        _at_once(job.depth, job.numjobs),
        "past the page cache" if job.direct else "through the page cache",
        *_syncs(job),
        *_limits(job),
        _span(job),
        _ending(job),
    ]
    sentence = ", ".join(filter(None, parts)) + "."
    if job.ramp_s:
        sentence += f" The first {format_duration(job.ramp_s)} are warm-up and do not count."
    return sentence


def _blocks(job: FioJob) -> str:
    options, sizes = dict(job.options), job.sizes()
    if "bssplit" in options:
        return f"blocks of mixed sizes ({options['bssplit']})"
    return f"blocks of {format_size(sizes[0])}" + (f" to {format_size(sizes[-1])}" if "bsrange" in options else "")


def _at_once(depth: int, jobs: int) -> str:
    each = "one at a time" if depth == 1 else f"{depth} at once"
    return each if jobs == 1 else f"{each} in each of {jobs} jobs"


def _syncs(job: FioJob) -> Iterable[str]:
    if job.sync:
        yield "each write on the disk before it counts as done"
    for name, every in (("fsync", job.fsync), ("fdatasync", job.fdatasync)):
        if every:
            yield f"with {name} after {'each write' if every == 1 else f'every {every} writes'}"


def _limits(job: FioJob) -> Iterable[str]:
    kinds: tuple[tuple[EachWay, tuple[str, str], str, Callable[[int], str]], ...] = (
        (job.rate_iops, (" reads", " writes"), " requests", str),
        (job.rate, (" read", " written"), "", format_size),
    )
    for limits, nouns, one, write in kinds:
        if job.mixed:
            words = " and ".join(f"{write(limit)}{noun}" for limit, noun in zip(limits, nouns, strict=True) if limit)
        else:
            limit = limits[not job.reads_only]
            words = f"{write(limit)}{one}" if limit else ""
        if words:
            yield f"at most {words} a second"


def _span(job: FioJob) -> str:
    if job.size is None:
        return "over the whole target"
    return f"over {format_size(job.size)}" if job.time_based else ""


def _ending(job: FioJob) -> str:
    runtime = "" if job.runtime_s is None else format_duration(job.runtime_s)
    if job.time_based:
        return f"for {runtime}"
    amount = job.size if job.io_size is None else job.io_size
    until = f"until {format_size(amount)} are done" if amount else "until all of it is done"
    return f"{until}, at most {runtime}" if runtime else until


def _ioping_sentence(job: IopingJob) -> str:
    parts = [
        f"Reads blocks of {format_size(job.block_size)} {'in order' if job.linear else 'at random'}",
        f"one every {format_duration(job.interval_s)}" if job.interval_s else "one after the other",
        "past the page cache" if job.direct else "",
        "from the page cache" if job.cached else "",
        f"{job.count} times" if job.count else "",
        "" if job.work_size is None else f"over {format_size(job.work_size)}",
    ]
    if job.work_s is not None or (job.rapid and not job.count):
        longest = format_duration(job.seconds)
        parts.append(f"at most {longest}" if job.count else f"for {longest}")
    return ", ".join(filter(None, parts)) + "."


def options_table(width: int = 80) -> str:
    """The allow-list, engine by engine."""
    lines: list[str] = []
    for engine in EngineName:
        rows = [
            (name, spec.kind.value, describe_range(spec), spec.summary) for name, spec in options_of(engine).items()
        ]
        lines += [*([""] if lines else []), f"Options of {engine} that a preset may use"]
        for name, kind, range_, summary in rows:
            values = f" ({range_})" if range_ and range_ != kind else ""
            lines += wrap(f"{summary}. {kind.capitalize()}{values}.", width, f"  {name:27}", " " * 29)
    return "\n".join(lines) + "\n"


def _short_duration(seconds: float) -> str:
    """Six characters at most: `4 s`, `2 min`, `24 h`."""
    for unit, scale, least in (("d", 86400, 172800), ("h", 3600, 7200), ("min", 60, 120)):
        if seconds >= least or (seconds == scale and unit != "d"):
            return f"{seconds / scale:.0f} {unit}"
    return f"{seconds:.0f} s"
