"""One preset file -> a preset, or what is wrong with it. Any bytes at all give the one or the other."""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskprof.model.preset import Axis, Job, Parameter, ParameterKind, Preset, TargetSlot, Test, Variant
from diskprof.model.text import clean
from diskprof.presets.files.deepkeys import TOO_DEEP, deep_key_line
from diskprof.presets.files.positions import KeyPath, key_lines, line_of
from diskprof.presets.files.tuning import with_tuning
from diskprof.presets.problem import Fault, Faulty, Problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from diskprof.presets.files.schema import ParameterEntry, PresetFile, TestEntry

LARGEST_FILE = 128 * 1024
"""Bytes. The largest shipped preset has 5 kB."""


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
}
"""Parameters whose kind need not be said."""

_LONG_NUMBER = re.compile(r"[0-9_]{4000,}")
_SYNTAX_PLACE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)$")


def load_file(path: Path, *, shipped: bool) -> Preset | tuple[Problem, ...]:
    """The preset in the file at `path`, or its problems (at least one)."""
    try:
        if not path.is_file():
            return (_problem(path, "it is not a file"),)
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        return (_problem(path, f"it cannot be read: {error.strerror}"),)
    return parse(data, path, shipped=shipped)


def parse(data: bytes, path: Path, *, shipped: bool) -> Preset | tuple[Problem, ...]:
    """The preset in `data`; `path` is for messages, and its stem the name where the file gives none."""
    if len(data) > LARGEST_FILE:
        return (_problem(path, f"it is larger than {LARGEST_FILE // 1024} KiB"),)
    try:
        text = data.decode("utf-8-sig")
        if line := deep_key_line(text):
            return (_problem(path, TOO_DEEP, line),)
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        return (_problem(path, "it is not UTF-8 text", line=data.count(b"\n", 0, error.start) + 1),)
    except tomllib.TOMLDecodeError as error:
        return (_syntax_problem(path, str(error), text),)
    except RecursionError:
        return (_problem(path, "its brackets are nested too deeply"),)
    except ValueError:
        # Python refuses to read more than 4300 digits.
        long = _LONG_NUMBER.search(text)
        return (_problem(path, "a number is too long", line=text.count("\n", 0, long.start()) + 1 if long else None),)
    document.setdefault("name", path.stem)
    try:
        return with_tuning(_preset(_validate(document), path, shipped=shipped))
    except Faulty as faulty:
        faults = faulty.faults
    lines = key_lines(text)
    name = document["name"] if isinstance(document["name"], str) else path.stem
    return tuple(
        Problem(
            clean(str(path)), line_of(lines, fault.path) or 1, _spell(fault.path), clean(fault.message), clean(name)
        )
        for fault in faults
    )


def _problem(path: Path, message: str, line: int | None = None) -> Problem:
    return Problem(clean(str(path)), line, "", clean(message), clean(path.stem))


def _syntax_problem(path: Path, message: str, text: str) -> Problem:
    line = None
    if place := _SYNTAX_PLACE.search(message):
        line = int(place[1]) if place[1] else text.count("\n", 0, len(text.rstrip())) + 1
        message = message[: place.start()].rstrip()
    return _problem(path, f"not TOML: {message}", line)


def _validate(document: dict[str, Any]) -> "PresetFile":
    from pydantic import ValidationError

    from diskprof.presets.files.schema import PresetFile

    try:
        return PresetFile.model_validate(document)
    except ValidationError as error:
        # A key that is missing is often one that is misspelt: the misspelt one first.
        found = sorted(error.errors(include_url=False), key=lambda details: details["type"] == "missing")
        raise Faulty(*(_fault(details) for details in found)) from None


def _fault(details: "ErrorDetails") -> Fault:
    """What pydantic found, in words for somebody who never heard of pydantic."""
    path = tuple(part for part in details["loc"] if part != "[key]")
    context = details.get("ctx", {})
    match details["type"]:
        case "missing":
            message = "this key is missing"
        case "extra_forbidden":
            message = "there is no such key" + _close_key(path)
        case "enum":
            message = f"must be one of {str(context.get('expected', '')).replace(' or ', ', ')}"
        case "string_pattern_mismatch":
            message = f"{str(details['input'])[:40]!r} is no name: letters, digits, - and _ make one" + (
                ", no capitals" if path[:1] != ("test",) else ""
            )
        case "too_short":
            message = "there must be at least one"
        case "too_long" | "string_too_long":
            message = "this is too long"
        case "string_type":
            message = "must be a text, in quotes"
        case "list_type":
            message = "must be a list: [[test]] begins one" if path == ("test",) else "must be a list, in [brackets]"
        case "model_type" | "dict_type" | "model_attributes_type":
            message = "must be a table"
        case "value_error":
            message = str(context.get("error", details["msg"]))
        case _:
            message = details["msg"]
    return Fault(path, message)


def _close_key(path: KeyPath) -> str:
    from diskprof.presets.files import schema

    model: Any = schema.PresetFile
    if path[0] == "parameters":
        model = schema.ParameterEntry
    elif path[0] == "test":
        model = schema.JobEntry if "job" in path[:-1] else schema.TestEntry
    elif path[0] == "expect":
        model = schema.ExpectEntry
    close = get_close_matches(str(path[-1])[:64], model.model_fields, n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(model.model_fields)}"


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
            aliases=tuple(dict.fromkeys(alias for alias in entry.aliases if alias != entry.name)),
            path=str(path),
            shipped=shipped,
            targets=tuple(TargetSlot(name, summary) for name, summary in entry.targets.items()),
            sweep=tuple(Axis(option, tuple(values)) for option, values in entry.sweep.items()),
            variants=tuple(Variant(name, tuple(settings.items())) for name, settings in entry.variants.items()),
        ),
    )


def _parameter(name: str, kind: ParameterKind, entry: "ParameterEntry") -> Parameter:
    optional = entry.optional or not entry.default
    return Parameter(name, kind, entry.default, entry.summary, tuple(entry.choices), optional)


def _test(entry: "PresetFile", test: "TestEntry") -> Test:
    from diskprof.presets.files.checks import layers

    jobs = []
    for name, target, tables in layers(entry, 0, test):
        options: dict[str, str] = {}
        for _, table in tables:
            options.update(table)
        jobs.append(Job(name, tuple(options.items()), target or next(iter(entry.targets), "")))
    return Test(test.name, test.title or test.name, test.engine, tuple(jobs))


def _spell(path: KeyPath) -> str:
    """A key path as a person would write it: test[1].options.bs, counted from 1."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{clean(part)}" if text else clean(part)
    return text
