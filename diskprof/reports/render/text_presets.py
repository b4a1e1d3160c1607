"""Presets in a terminal: the list of them, one of them, and what their options may be."""

import sys
from collections.abc import Sequence
from itertools import groupby

from diskprof.model.cells import wrap
from diskprof.model.disk_class import DiskClass
from diskprof.model.preset import PROGRAMS, Preset
from diskprof.presets.options.allowed import options_of
from diskprof.presets.options.values import describe_range
from diskprof.presets.resolve import expand_defaults
from diskprof.reports.blocks import Paragraph
from diskprof.reports.content.class_words import class_report, classes_block
from diskprof.reports.content.preset_report import preset_report
from diskprof.reports.content.preset_words import time_needed, writes
from diskprof.reports.layout import Column, table
from diskprof.reports.render.lines import text

_ROOM = 120
"""Columns of a terminal from which on a source stands beside each preset."""


def preset_text(preset: Preset, width: int = 80) -> str:
    """All about one preset."""
    return text(preset_report(preset), width)


def classes_table(classes: Sequence[DiskClass], width: int = 80) -> str:
    """Every class of disks on a line, with its random and its sequential figures for reads."""
    return text(
        [
            classes_block(classes),
            Paragraph("diskprof presets classes NAME: its figures, and the documents that say them."),
        ],
        width,
    )


def class_text(classes: Sequence[DiskClass], width: int = 80) -> str:
    """All that is known of these classes of disks."""
    return text([block for each in classes for block in class_report(each)], width)


def presets_table(presets: Sequence[Preset], width: int = 80, *, whole: bool = False) -> str:
    """Every preset on a line, by category, with its source where there is room.

    `whole`, for programs: with all that a preset is found by, however long that makes the lines.
    """
    if not presets:
        return "No presets.\n"
    rows = {preset.name: _row(preset) for preset in presets}
    headings = [
        Column("Preset"),
        Column("What it measures", least=16),
        Column("Does"),
        Column("Time", right=True),
    ]
    if whole:
        headings.append(Column("Source, keywords, tests"))
        rows = {preset.name: (*rows[preset.name], _found_by(preset)) for preset in presets}
    elif width >= _ROOM:
        headings.append(Column("Source", least=20))
        rows = {preset.name: (*rows[preset.name], preset.source) for preset in presets}
    # One table for all, so that the columns of every shelf line up.
    lines = table(headings, list(rows.values()), sys.maxsize if whole else width, indent="  ")
    parts = [lines[0]]
    found = iter(lines[1:])
    for category, shelf in groupby(presets, key=lambda preset: preset.category):
        parts += ["", category.heading, *(next(found) for _ in shelf)]
    parts += [
        "",
        *wrap(
            "Time: with defaults, without creating the test file. <: at most, >: at least, ?: once through the target.",
            width,
        ),
        *wrap("x5: five tests, one after the other.", width),
    ]
    if sweeps := [preset.name for preset in presets if preset.sweep]:
        parts += wrap(f"Sweeps, a test for each combination of values: {', '.join(sweeps)}.", width)
    if several := [preset.name for preset in presets if len(preset.targets) > 1]:
        parts += wrap(f"With several targets: {', '.join(several)}.", width)
    if others := [f"{alias} is {preset.name}" for preset in presets for alias in preset.aliases]:
        parts += wrap(f"Other names: {', '.join(others)}.", width)
    return "\n".join(parts) + "\n"


def _found_by(preset: Preset) -> str:
    jobs = (job.name for test in preset.tests for job in test.jobs)
    names = dict.fromkeys([*(test.name for test in preset.tests), *jobs])
    return "; ".join(filter(None, (preset.source, ", ".join(preset.keywords), ", ".join(names))))


def _row(preset: Preset) -> tuple[str, ...]:
    resolved = expand_defaults(preset)
    does = "write" if writes(resolved) else "read"
    if len(resolved.tests) > 1:
        does += f" x{len(resolved.tests)}"
    return preset.name, preset.title, does, str(time_needed(resolved))


def options_table(width: int = 80) -> str:
    """The allow-list, engine by engine."""
    lines: list[str] = []
    for engine in PROGRAMS:
        rows = [
            (name, spec.kind.value, describe_range(spec), spec.summary) for name, spec in options_of(engine).items()
        ]
        lines += [*([""] if lines else []), f"{engine} options allowed in presets"]
        for name, kind, range_, summary in rows:
            values = f" ({range_})" if range_ and range_ != kind else ""
            lines += wrap(f"{summary}. {kind.capitalize()}{values}.", width, f"  {name:27}", " " * 29)
    return "\n".join(lines) + "\n"
