"""Presets and the allow-list as JSON."""

from collections.abc import Sequence

from diskprof.model.disk_class import DiskClass
from diskprof.model.expectation import PresetExpectation
from diskprof.model.job import FioJob, IopingJob
from diskprof.model.metric import Quantity
from diskprof.model.preset import PROGRAMS, Axis, Job, Parameter, Preset, TargetSlot, Test, Variant
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.presets.options.allowed import options_of
from diskprof.presets.options.values import OptionSpec
from diskprof.presets.resolve import ResolvedTest, expand_defaults
from diskprof.reports.content.preset_words import describe_test, expand_variant, promise_words, time_needed, writes
from diskprof.reports.data.json import FieldTable, Json, fields, plain
from diskprof.reports.data.json_limit import limit_json
from diskprof.reports.data.json_map import map_json

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
        **_of(preset, "name title summary category source aliases keywords shipped path"),
        "writes": writes(expand_defaults(preset)),
        **_of(
            preset, "parameters precondition tests rounds? limit? read_write_map? targets sweep variants expectations"
        ),
    }


def _promise(promise: PresetExpectation) -> Json:
    """A promise: the least of `base` + `per_gib` x capacity in GiB of each line, at most `cap`, in `unit`."""
    return {
        **_of(promise, "test metric=metric.name operator"),
        "lines": [{"base": base, "per_gib": per_gib} for base, per_gib in promise.promise.lines],
        **_of(promise, "cap=promise.cap"),
        "unit": _UNITS[promise.metric.quantity],
        **_of(promise, "when{} seconds"),
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
        **({"resolved_rounds": plain(resolved.rounds, _FIELDS)} if resolved.rounds else {}),
        **({"resolved_limit": limit_json(resolved.limit)} if resolved.limit else {}),
        **({"resolved_map": map_json(resolved.read_write_map)} if resolved.read_write_map else {}),
        "resolved": [{**plain(test, _FIELDS), "does": describe_test(test)} for test in resolved.tests],
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
        engine.value: {name: plain(spec, _FIELDS) for name, spec in options_of(engine).items()} for engine in PROGRAMS
    }


_FIELDS: FieldTable = {
    Axis: "option values",
    **dict.fromkeys((Job, FioJob), "name targets files options{}"),
    IopingJob: "name targets options{}",
    OptionSpec: "kind minimum maximum choices summary",
    Parameter: "name kind default summary choices optional",
    PresetExpectation: _promise,
    TargetSlot: "name summary",
    **dict.fromkeys((Test, ResolvedTest), "name title engine layout steady cell{}? jobs"),
    SteadyRule: "figure=metric.name windows window_s range slope at_most_s",
    RoundsRule: "test figure=metric.name windows range slope at_most",
    Variant: "name settings{}",
}


def _of(value: object, spec: str) -> Json:
    return fields(value, spec, _FIELDS)


def classes_json(classes: Sequence[DiskClass]) -> list[Json]:
    """The classes of disks, as `diskprof presets classes --json` prints them."""
    return [
        {
            "name": each.name,
            "title": each.title,
            "cloud": each.cloud or None,
            "note": each.note,
            "figures": [
                {
                    "metric": figure.metric.name,
                    "random": figure.random,
                    "block_bytes": list(figure.block),
                    "depth": list(figure.depth),
                    "least": figure.least.base if figure.least else None,
                    "per_gib": figure.least.per_gib if figure.least else 0.0,
                    "most": figure.most,
                    "sources": [
                        {"title": one.title, "address": one.address, "read": one.read.isoformat()}
                        for one in figure.sources
                    ],
                }
                for figure in each.figures
            ],
        }
        for each in classes
    ]
