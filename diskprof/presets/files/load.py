"""One preset file -> a preset, or what is wrong with it. Any bytes at all give the one or the other."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from diskprof.presets.files.toml_document import NotToml, file_bytes, pydantic_words, read_toml
from diskprof.presets.problem import Fault, Faulty, KeyPath, Problem
from diskprof.presets.resolve import FILES
from diskprof.presets.tuning import with_tuning

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from diskprof.presets.files.preset_schema import ParameterEntry, PresetFile, TestEntry

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
        return with_tuning(_preset(_validate(table), path, shipped=shipped))
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


def _validate(document: dict[str, Any]) -> "PresetFile":
    from pydantic import ValidationError

    from diskprof.presets.files.preset_schema import PresetFile

    try:
        return PresetFile.model_validate(document)
    except ValidationError as error:
        # A key that is missing is often one that is misspelt: the misspelt one first.
        found = sorted(error.errors(include_url=False), key=lambda details: details["type"] == "missing")
        raise Faulty(*(_fault(details) for details in found)) from None


def _fault(details: "ErrorDetails") -> Fault:
    path = tuple(part for part in details["loc"] if part != "[key]")
    message = pydantic_words(details, _known_keys(path))
    if details["type"] == "string_pattern_mismatch":
        capitals = "" if path[:1] in (("test",), ("precondition",)) else ", no capitals"
        message = f"{str(details['input'])[:40]!r} is not a valid name: use letters, digits, - and _{capitals}"
    elif details["type"] == "list_type" and path == ("test",):
        message = "must be a list: [[test]] begins one"
    return Fault(path, message)


def _known_keys(path: KeyPath) -> list[str]:
    """The keys that there are beside `path`."""
    from diskprof.presets.files import preset_schema

    model: Any = preset_schema.PresetFile
    if path[0] == "parameters":
        model = preset_schema.ParameterEntry
    elif path[0] in ("test", "precondition"):
        model = preset_schema.JobEntry if "job" in path[:-1] else preset_schema.TestEntry
    elif path[0] == "expect":
        model = preset_schema.ExpectEntry
    return list(model.model_fields)


def _preset(entry: "PresetFile", path: Path, *, shipped: bool) -> Preset:
    from diskprof.presets.files.checks import checked

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


def _parameter(name: str, kind: ParameterKind, entry: "ParameterEntry") -> Parameter:
    optional = entry.optional or not entry.default
    return Parameter(name, kind, entry.default, entry.summary, tuple(entry.choices), optional)


def _test(entry: "PresetFile", test: "TestEntry") -> Test:
    from diskprof.presets.files.checks import layers

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
