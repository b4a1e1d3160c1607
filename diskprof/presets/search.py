"""Presets by the words that somebody remembers of them: names, titles, sources, keywords, options and flags."""

import re
from collections.abc import Iterator, Sequence

from diskprof.model.preset import EngineName, Preset
from diskprof.presets.options.allowed import IOPING_OPTIONS
from diskprof.presets.options.values import OptionKind
from diskprof.presets.resolve import fill_in

_PLACE = re.compile(r"/|-{1,2}(filename|directory)(=|$)")
"""How a word begins that says where a command worked: that is chosen for each run."""
_TYPED = frozenset({"sudo", "$", "#", "\\"})
"""What stands in a command as it is pasted and is none of its words."""


def matching(presets: Sequence[Preset], text: str) -> list[Preset]:
    """The presets in which every word of `text` stands somewhere, in their order; all of them where there are no words.

    A word that begins with a dash is the beginning of an option, as `-rw=read`, `--runtime` or ioping's `-RD`. What an
    article's command says of its target is passed over.
    """
    words = [word for word in text.split() if word not in _TYPED]
    words = [word for word in words if not _PLACE.match(word)] or words
    return [preset for preset in presets if _has(preset, words)]


def titled(presets: Sequence[Preset], text: str) -> Preset | None:
    """The first of the presets that has every word of `text` in its title or name."""
    words = text.casefold().split()
    names = ((preset, f"{preset.title} {preset.name}".casefold()) for preset in presets)
    return next((preset for preset, name in names if all(word in name for word in words)), None)


def _has(preset: Preset, words: Sequence[str]) -> bool:
    options = "".join(f" {_option(option)}" for option in _options(preset))
    texts = "\n".join((*_texts(preset), options)).casefold()
    return all(f" {_option(word)}" in options if word.startswith("-") else word.casefold() in texts for word in words)


def _option(word: str) -> str:
    """The letter of a short option keeps its case: ioping's -c and -C differ."""
    return word[:2] + word[2:].casefold()


def _texts(preset: Preset) -> Iterator[str]:
    yield from (preset.name, *preset.aliases, preset.title, preset.summary, preset.source, *preset.keywords)
    yield from (preset.category.value, preset.category.heading)
    for test in preset.tests:
        yield from (test.name, test.title, test.engine.value, *(job.name for job in test.jobs))
    yield from (promise.test for promise in preset.expectations)
    if preset.sweep:
        yield "sweep"


def _options(preset: Preset) -> Iterator[str]:
    """Every option and flag with the default parameters, as one types it, and those of commands among the keywords."""
    values = {parameter.name: parameter.default for parameter in preset.parameters}
    for test in preset.tests:
        for job in test.jobs:
            pairs = [(name, fill_in(text, values)) for name, text in job.options]
            fio = test.engine is EngineName.FIO
            yield from _fio([("name", test.name), ("name", job.name), *pairs]) if fio else _ioping(pairs)
    for axis in preset.sweep:
        yield from _fio([(axis.option, fill_in(value, values)) for value in axis.values])
    for keyword in preset.keywords:
        yield from (word for word in keyword.split() if word.startswith("-"))


def _fio(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """fio takes one dash and two."""
    for name, value in pairs:
        if value:
            yield from (f"-{name}={value}", f"--{name}={value}")


def _ioping(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Flags of one letter, also put together as in -RD."""
    flags = ""
    for name, value in pairs:
        spec = IOPING_OPTIONS[name]
        if spec.kind is not OptionKind.BOOLEAN:
            yield from (f"{spec.flag} {value}", f"--{name} {value}") if value else ()
        elif value == "1":
            flags += spec.flag.lstrip("-")
            yield from (spec.flag, f"--{name}")
    if flags:
        yield f"-{flags}"
