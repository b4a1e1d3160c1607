"""Presets and the allow-list as JSON."""

from collections.abc import Sequence
from typing import Any

from diskprof.model.expectation import PresetExpectation
from diskprof.model.metric import Quantity
from diskprof.model.preset import EngineName, Preset, Test
from diskprof.presets.options.allowed import options_of
from diskprof.presets.resolve import expand_defaults
from diskprof.reports.content.preset_text import describe_test, time_needed, writes
from diskprof.reports.content.preset_words import expand_variant, promise_words

Json = dict[str, Any]

_UNITS = {
    Quantity.IOPS: "IOPS",
    Quantity.BANDWIDTH: "bytes/s",
    Quantity.LATENCY: "ns",
    Quantity.SHARE: "share of 1",
    Quantity.CPU: "percent of a CPU",
}


def preset_json(preset: Preset) -> Json:
    """A preset as its file has it, without the defaults filled in."""
    return {
        "name": preset.name,
        "title": preset.title,
        "summary": preset.summary,
        "category": preset.category.value,
        "source": preset.source,
        "aliases": list(preset.aliases),
        "shipped": preset.shipped,
        "path": preset.path,
        "writes": writes(preset),
        "parameters": [
            {
                "name": parameter.name,
                "kind": parameter.kind.value,
                "default": parameter.default,
                "summary": parameter.summary,
                "choices": list(parameter.choices),
                "optional": parameter.optional,
            }
            for parameter in preset.parameters
        ],
        "tests": [_test_json(test) for test in preset.tests],
        "targets": [{"name": slot.name, "summary": slot.summary} for slot in preset.targets],
        "sweep": [{"option": axis.option, "values": list(axis.values)} for axis in preset.sweep],
        "variants": [{"name": variant.name, "settings": dict(variant.settings)} for variant in preset.variants],
        "expectations": [_promise_json(promise) for promise in preset.expectations],
    }


def _promise_json(promise: PresetExpectation) -> Json:
    """A promise: `base` + `per_gib` x capacity in GiB, at most `cap`, in `unit`."""
    return {
        "test": promise.test,
        "metric": promise.metric.name,
        "operator": promise.operator.value,
        "base": promise.promise.base,
        "per_gib": promise.promise.per_gib,
        "cap": promise.promise.cap,
        "unit": _UNITS[promise.metric.quantity],
        "when": dict(promise.when),
        "seconds": promise.seconds,
        "words": promise_words(promise),
    }


def resolved_json(preset: Preset) -> Json:
    """A preset with, beside it, its tests as they run with the default parameters; of a sweep, its cells."""
    resolved = expand_defaults(preset)
    found = preset_json(preset)
    for variant in found["variants"]:
        variant["seconds"] = time_needed(expand_variant(preset, variant["name"])).seconds or None
    return {
        **found,
        "seconds": time_needed(resolved).seconds or None,
        "resolved": [{**_test_json(test), "does": describe_test(test)} for test in resolved.tests],
    }


def _test_json(test: Test) -> Json:
    return {
        "name": test.name,
        "title": test.title,
        "engine": test.engine.value,
        "cell": dict(test.cell) or None,
        "jobs": [{"name": job.name, "target": job.target or None, "options": dict(job.options)} for job in test.jobs],
    }


def presets_json(presets: Sequence[Preset]) -> list[Json]:
    """Every preset; a preset with other names is there under each, with `alias_of` telling its own."""
    found = [{**preset_json(preset), "alias_of": None} for preset in presets]
    for preset in presets:
        found += [{**preset_json(preset), "name": alias, "alias_of": preset.name} for alias in preset.aliases]
    return found


def options_json() -> Json:
    """The allow-list by engine and option; bounds in bytes, seconds, microseconds or plain numbers, by kind."""
    return {
        engine.value: {
            name: {
                "kind": spec.kind.value,
                "minimum": spec.minimum,
                "maximum": spec.maximum,
                "choices": list(spec.choices),
                "summary": spec.summary,
            }
            for name, spec in options_of(engine).items()
        }
        for engine in EngineName
    }
