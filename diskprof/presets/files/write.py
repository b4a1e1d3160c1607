"""A preset -> the text of its own file, which reads back as the same preset.

Written by hand, as TOML of a fixed shape needs one kind of string and no library: what a package for TOML could add, keeping
a person's comments and layout, has no use where there was no file before.
"""

import json
import os
import re
import secrets
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from diskprof.model.advice import Advice
from diskprof.model.errors import PresetError, UsageError
from diskprof.model.expectation import Operator, PresetExpectation
from diskprof.model.metric import Quantity, parse_value
from diskprof.model.preset import OWN_FILES, PROGRAMS, EngineName, Job, Layout, Options, Parameter, Preset, Test
from diskprof.model.text import clean
from diskprof.presets.files.load import KNOWN_KINDS, parse
from diskprof.presets.limit_text import limit_table
from diskprof.presets.map_text import map_table
from diskprof.presets.options.allowed import options_of
from diskprof.presets.options.values import OptionKind
from diskprof.presets.steady_text import rounds_table, steady_table

_WIDTH = 110
_WHOLE = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_KEYS = {Operator.AT_LEAST: "min", Operator.AT_MOST: "max", Operator.MORE_THAN: "above", Operator.LESS_THAN: "below"}
_UNITS: Mapping[Quantity, tuple[tuple[str, float], ...]] = {
    Quantity.IOPS: (("", 1.0),),
    Quantity.BANDWIDTH: (("GB/s", 1e9), ("MB/s", 1e6), ("MiB/s", 2.0**20), ("kB/s", 1e3), ("B/s", 1.0)),
    Quantity.LATENCY: (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)),
    Quantity.SHARE: (("%", 0.01), ("", 1.0)),
    Quantity.CPU: (("%", 1.0),),
}


def preset_toml(preset: Preset) -> str:
    """The preset file that says what `preset` says, but for its path and whether it is shipped."""
    shared = {engine: _shared((*preset.precondition, *preset.tests), engine) for engine in PROGRAMS}
    blocks = [_head(preset)]
    if preset.parameters:
        blocks.append(["[parameters]", *(_parameter(parameter) for parameter in preset.parameters)])
    if preset.targets:
        blocks.append(["[targets]", *(f"{slot.name} = {_text(slot.summary)}" for slot in preset.targets)])
    blocks += [[f"[variants.{variant.name}]", *_pairs(variant.settings)] for variant in preset.variants]
    if preset.sweep:
        axes = (f"{axis.option} = [{', '.join(map(_text, axis.values))}]" for axis in preset.sweep)
        blocks.append(["[sweep]", *axes])
    if preset.rounds:
        blocks.append(["[rounds]", *_pairs(tuple(rounds_table(preset.rounds).items()))])
    if preset.limit:
        blocks.append(["[limit]", *_pairs(tuple(limit_table(preset.limit).items()))])
    if preset.read_write_map:
        blocks.append(["[map]", *_pairs(tuple(map_table(preset.read_write_map).items()))])
    for engine, options in shared.items():
        if options:
            blocks.append([f"[{engine.value}]", *_options(engine, options)])
    for step in preset.precondition:
        blocks += _test(step, len(shared[step.engine]), "precondition")
    for test in preset.tests:
        blocks += _test(test, len(shared[test.engine]), "test")
    blocks += [_expectation(expectation) for expectation in preset.expectations]
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def save_preset(preset: Preset, directory: Path, *, replace: bool = False) -> Path:
    """Writes the preset's file into `directory` and returns its path.

    Raises UsageError where a file of that name is there already (unless `replace`) or the directory cannot be written to,
    PresetError for a preset that the loader would refuse.
    """
    data = checked_toml(preset).encode()
    path = directory / f"{preset.name}.toml"
    passing = directory / f".{preset.name}-{secrets.token_hex(4)}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            with passing.open("xb") as file:
                file.write(data)
            if replace:
                passing.replace(path)
            else:
                os.link(passing, path)
        finally:
            with suppress(FileNotFoundError):
                passing.unlink()
    except FileExistsError:
        raise UsageError(
            f"{clean(str(path))} already exists.",
            Advice("Choose another name, or replace it with --force.", "Choose another name."),
        ) from None
    except OSError as error:
        raise UsageError(f"{clean(str(path))} cannot be written: {error.strerror}.") from None
    return path


def checked_toml(preset: Preset) -> str:
    """`preset_toml`, read back. Raises PresetError for a preset that the loader would refuse."""
    text = preset_toml(preset)
    loaded = parse(text.encode(), Path(f"{preset.name}.toml"), shipped=False)
    if not isinstance(loaded, Preset):
        raise PresetError(f"The preset {preset.name} cannot be written.", "\n".join(map(str, loaded)))
    return text


def _text(text: str) -> str:
    return json.dumps(clean(text), ensure_ascii=False)


def _paragraph(text: str) -> str:
    """A long text in lines; the loader joins them again."""
    written = _text(text)
    if len(written) <= _WIDTH:
        return written
    lines = textwrap.wrap(written[1:-1], _WIDTH, break_long_words=False, break_on_hyphens=False)
    return '"""\n' + "\n".join(lines) + '"""'


def _pairs(pairs: Options) -> list[str]:
    return [f"{name} = {_text(value)}" for name, value in pairs]


def _head(preset: Preset) -> list[str]:
    lines = [f"name = {_text(preset.name)}"]
    if preset.title != preset.name:
        lines.append(f"title = {_text(preset.title)}")
    if preset.summary:
        lines.append(f"summary = {_paragraph(preset.summary)}")
    lines.append(f"category = {_text(preset.category.value)}")
    if preset.source:
        lines.append(f"source = {_paragraph(preset.source)}")
    if preset.aliases:
        lines.append(f"aliases = [{', '.join(map(_text, preset.aliases))}]")
    if preset.keywords:
        lines.append(f"keywords = [{', '.join(map(_text, preset.keywords))}]")
    return lines


def _parameter(parameter: Parameter) -> str:
    parts = [f"default = {_text(parameter.default)}"]
    if KNOWN_KINDS.get(parameter.name) is not parameter.kind:
        parts.append(f"kind = {_text(parameter.kind.value)}")
    if parameter.summary:
        parts.append(f"summary = {_text(parameter.summary)}")
    if parameter.choices:
        parts.append(f"choices = [{', '.join(map(_text, parameter.choices))}]")
    if parameter.optional and parameter.default:
        parts.append("optional = true")
    if len(parts) == 1:
        return f"{parameter.name} = {_text(parameter.default)}"
    return f"{parameter.name} = {{ {', '.join(parts)} }}"


def _shared(tests: Sequence[Test], engine: EngineName) -> Options:
    """What the options of all jobs of an engine begin with, where there are several: written once."""
    jobs = [job.options for test in tests if test.engine is engine for job in test.jobs]
    if len(jobs) < 2:
        return ()
    alike = next((n for n, pairs in enumerate(zip(*jobs, strict=False)) if len(set(pairs)) > 1), min(map(len, jobs)))
    return jobs[0][:alike]


def _options(engine: EngineName, options: Options) -> list[str]:
    return [f"{name} = {_value(engine, name, value)}" for name, value in options]


def _value(engine: EngineName, name: str, value: str) -> str:
    spec = options_of(engine).get(name)
    if spec and spec.kind is OptionKind.BOOLEAN and value in ("0", "1"):
        return "true" if value == "1" else "false"
    return value if spec and spec.kind is OptionKind.COUNT and _WHOLE.fullmatch(value) else _text(value)


def _test(test: Test, shared: int, table: str) -> Iterator[list[str]]:
    lines = [f"[[{table}]]", f"name = {_text(test.name)}"]
    if test.title:
        lines.append(f"title = {_text(test.title)}")
    if test.engine is not EngineName.FIO:
        lines.append(f"engine = {_text(test.engine.value)}")
    if test.layout != Layout.FILLED:
        lines.append(f"layout = {_text(test.layout)}")
    if test.steady:
        lines.append(f"steady = {_steady(test.steady)}")
    if len(test.jobs) > 1 or test.jobs[0].name != test.name:
        yield lines
        for job in test.jobs:
            yield [f"[[{table}.job]]", f"name = {_text(job.name)}", *_job(test.engine, job, shared, f"{table}.job")]
    else:
        yield [*lines, *_job(test.engine, test.jobs[0], shared, table)]


def _steady(text: str) -> str:
    """A parameter as it is named, else a table."""
    if text.startswith("$"):
        return _text(text)
    return f"{{ {', '.join(f'{key} = {_text(value)}' for key, value in steady_table(text).items())} }}"


def _job(engine: EngineName, job: Job, shared: int, table: str) -> Iterator[str]:
    if job.targets:
        yield f"target = {_one_or_more(job.targets)}"
    if job.files:
        yield f"files = {_files(job.files)}"
    own = _options(engine, job.options[shared:])
    together = f"options = {{ {', '.join(own)} }}"
    if own and len(together) <= _WIDTH:
        yield together
    elif own:
        yield from ["", f"[{table}.options]", *own]


def _files(files: tuple[str, ...]) -> str:
    if files == OWN_FILES:
        return _text("own")
    return _text(files[0]) if files[0].startswith("$") else f"[{', '.join(map(_text, files))}]"


def _one_or_more(names: Sequence[str]) -> str:
    return _text(names[0]) if len(names) == 1 else f"[{', '.join(map(_text, names))}]"


def _expectation(expectation: PresetExpectation) -> list[str]:
    promise, metric = expectation.promise, expectation.metric
    formula = bool(promise.per_gib) or promise.cap is not None
    test, _, job = expectation.test.partition(".")
    lines = ["[[expect]]", f"test = {_text(test)}", *([f"job = {_text(job)}"] if job else [])]
    lines.append(f"metric = {_text(metric.name)}")
    key = "base" if formula else _KEYS[expectation.operator]
    bases, growths = zip(*promise.lines, strict=True)
    lines.append(f"{key} = {_amounts(metric.quantity, bases)}")
    if formula:
        lines.append(f"per_gib = {_amounts(metric.quantity, growths)}")
    if promise.cap is not None:
        lines.append(f"cap = {_text(_amount(metric.quantity, promise.cap))}")
    if expectation.when:
        lines.append(f"when = {{ {', '.join(_pairs(expectation.when))} }}")
    if expectation.seconds != 60.0:
        lines.append(f"seconds = {_text(f'{expectation.seconds:g}')}")
    return lines


def _amounts(quantity: Quantity, values: Sequence[float]) -> str:
    """One value, or a list of several."""
    texts = [_text(_amount(quantity, value)) for value in values]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _amount(quantity: Quantity, value: float) -> str:
    """`value` in the largest unit that gives it back exactly in few digits."""
    for unit, scale in _UNITS[quantity]:
        text = f"{value / scale:.6f}".rstrip("0").rstrip(".")
        if value >= scale and parse_value(quantity, text + unit) == value:
            return text + unit
    unit, scale = _UNITS[quantity][-1]
    return f"{value / scale:f}".rstrip("0").rstrip(".") + unit
