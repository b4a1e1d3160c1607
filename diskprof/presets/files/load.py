"""One preset file -> a preset, or what is wrong with it. Any bytes at all give the one or the other."""

from collections.abc import Mapping
from pathlib import Path

from diskprof.model.preset import (
    Axis,
    Job,
    Parameter,
    ParameterKind,
    Preset,
    TargetSlot,
    Test,
    Variant,
)
from diskprof.model.text import clean
from diskprof.presets.files.checks import checked, layers
from diskprof.presets.files.preset_schema import ParameterEntry, PresetFile, TestEntry
from diskprof.presets.files.shape import read_table
from diskprof.presets.files.toml_document import NotToml, file_bytes, read_toml
from diskprof.presets.problem import Faulty, KeyPath, Problem
from diskprof.presets.resolve import FILES
from diskprof.presets.tuning import with_tuning

KNOWN_KINDS: Mapping[str, ParameterKind] = {
    "size": ParameterKind.SIZE,
    "bs": ParameterKind.SIZE,
    "block_size": ParameterKind.SIZE,
    "rate": ParameterKind.SIZE,
    "runtime": ParameterKind.DURATION,
    "ramp": ParameterKind.DURATION,
    "interval": ParameterKind.DURATION,
    "depth": ParameterKind.COUNT,
    "iodepth": ParameterKind.COUNT,
    "jobs": ParameterKind.COUNT,
    "numjobs": ParameterKind.COUNT,
    "count": ParameterKind.COUNT,
    "rate_iops": ParameterKind.COUNT,
    "read_percent": ParameterKind.COUNT,
    "capacity_gib": ParameterKind.COUNT,
    "engine": ParameterKind.TEXT,
    "tier": ParameterKind.TEXT,
    "files": ParameterKind.TEXT,
    "layout": ParameterKind.TEXT,
    "steady": ParameterKind.TEXT,
    "precondition": ParameterKind.TEXT,
    "keep": ParameterKind.TEXT,
    "by": ParameterKind.TEXT,
    "rw": ParameterKind.TEXT,
}
"""Parameters whose kind need not be said."""


def load_file(path: Path, *, shipped: bool) -> Preset | tuple[Problem, ...]:
    """The preset in the file at `path`, or its problems (at least one)."""
    try:
        if not path.is_file():
            return (_problem(path, "it is not a file"),)
        data = file_bytes(path)
    except OSError as error:
        return (_problem(path, f"it cannot be read: {error.strerror}"),)
    return parse(data, path, shipped=shipped)


def parse(data: bytes, path: Path, *, shipped: bool) -> Preset | tuple[Problem, ...]:
    """The preset in `data`; `path` is for messages, and its stem the name where the file gives none."""
    try:
        document = read_toml(data)
    except NotToml as error:
        return (_problem(path, error.message, error.line),)
    table = document.table
    table.setdefault("name", path.stem)
    try:
        return with_tuning(_preset(read_table(PresetFile, table), path, shipped=shipped))
    except Faulty as faulty:
        faults = faulty.faults
    name = table["name"] if isinstance(table["name"], str) else path.stem
    return tuple(
        Problem(
            clean(str(path)), document.line_of(fault.path) or 1, _spell(fault.path), clean(fault.message), clean(name)
        )
        for fault in faults
    )


def _problem(path: Path, message: str, line: int | None = None) -> Problem:
    return Problem(clean(str(path)), line, "", clean(message), clean(path.stem))


def _preset(entry: PresetFile, path: Path, *, shipped: bool) -> Preset:
    kinds = {name: parameter.kind or KNOWN_KINDS.get(name) for name, parameter in entry.parameters.items()}
    return checked(
        entry,
        Preset(
            name=entry.name,
            title=entry.title or entry.name,
            summary=entry.summary,
            category=entry.category,
            source=entry.source,
            parameters=tuple(_parameter(name, kind, entry.parameters[name]) for name, kind in kinds.items() if kind),
            tests=tuple(_test(entry, test) for test in entry.test),
            precondition=tuple(_test(entry, step) for step in entry.precondition),
            aliases=tuple(dict.fromkeys(alias for alias in entry.aliases if alias != entry.name)),
            keywords=tuple(dict.fromkeys(entry.keywords)),
            path=str(path),
            shipped=shipped,
            targets=tuple(TargetSlot(name, summary) for name, summary in entry.targets.items()),
            sweep=tuple(Axis(option, tuple(values)) for option, values in entry.sweep.items()),
            rounds=entry.rounds,
            limit=entry.limit,
            read_write_map=entry.map,
            variants=tuple(Variant(name, tuple(settings.items())) for name, settings in entry.variants.items()),
        ),
    )


def _parameter(name: str, kind: ParameterKind, entry: ParameterEntry) -> Parameter:
    optional = entry.optional or not entry.default
    return Parameter(name, kind, entry.default, entry.summary, tuple(entry.choices), optional)


def _test(entry: PresetFile, test: TestEntry) -> Test:
    jobs = []
    for job, tables in layers(entry, 0, test):
        options: dict[str, str] = {}
        for _, table in tables:
            options.update(table)
        targets = job.target or test.target or list(entry.targets)[:1]
        files = test.files if job.files is None else job.files
        named = tuple(files) if isinstance(files, list) else FILES.get(files or "shared", (files or "",))
        jobs.append(Job(job.name, tuple(options.items()), tuple(dict.fromkeys(targets)), named))
    return Test(test.name, test.title, test.engine, tuple(jobs), layout=test.layout, steady=test.steady)


def _spell(path: KeyPath) -> str:
    """A key path as a person would write it: test[1].options.bs, counted from 1."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{clean(part)}" if text else clean(part)
    return text
