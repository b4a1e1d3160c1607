"""What the Run screen says of presets: as rows, and what is chosen of one. Pure functions."""

from collections.abc import Mapping, Sequence, Set
from itertools import groupby

from diskprof.model.advice import Advice, on_screen
from diskprof.model.cells import shorten_middle
from diskprof.model.plan import Severity
from diskprof.model.preset import Preset, TargetSlot
from diskprof.model.text import clean
from diskprof.presets.own_copies import edits
from diskprof.presets.problem import Problem
from diskprof.reports.words import SEVERITIES
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.kit.table import Row
from diskprof.tui.shell.run_signs import sign_of

_FLUSH: Line = ((" ", ""),)
_NONE = "none"
_TOLD = 3
"""Faults of presets that a notice names: more would hide the screen."""


def nothing_found(key: str, width: int) -> list[Row]:
    """In the place of the presets where the filter leaves none; `key` clears it."""
    lines = paragraph(f"No matching preset. {key} clears the filter.", width, "quiet", first=_FLUSH)
    return [Row(f"nothing:{at}", line, heading=True) for at, line in enumerate(lines)]


def broken_words(problems: Sequence[Problem]) -> tuple[str, str]:
    """What a notice says of presets that cannot be used: its title, and the first of what is wrong."""
    files = len({problem.path for problem in problems})
    title = "A preset cannot be used" if files == 1 else f"{files} presets cannot be used"
    more = [f"And {len(problems) - _TOLD} more: `diskprof presets` lists all."] if len(problems) > _TOLD else []
    return title, "\n".join([*(clean(str(problem)) for problem in problems[:_TOLD]), *more])


def preset_rows(presets: Sequence[Preset], edited: Set[str], width: int) -> list[Row]:
    """Shelf by shelf; an asterisk where the person changed parameters."""
    rows: list[Row] = []
    for category, shelf in groupby(presets, key=lambda preset: preset.category):
        rows.append(Row(f"shelf:{category.value}", [(" ", ""), (category.heading, "quiet")], heading=True))
        for preset in shelf:
            mark = " *" if preset.name in edited else ""
            title = shorten_middle(clean(preset.title), width - 3 - len(mark))
            rows.append(Row(preset.name, [("   ", ""), (title, ""), (mark, "mark")]))
    return rows


def variant_lines(preset: Preset, variant: str, settings: Mapping[str, str], key: str, width: int) -> list[Line]:
    """Which variant is chosen, with its parameters as they stand, what was edited, and that there are others (`key`)."""
    changed = edits(preset, variant, settings)
    edited = f"edited: {', '.join(f'{name} {value or _NONE}' for name, value in changed.items())}" if changed else ""
    if not preset.variants:
        return paragraph(clean(edited), width, "accent", first=_FLUSH) if edited else []
    chosen = next((each for each in preset.variants if each.name == variant), None)
    edited = f"; {edited}" if edited else ""
    if chosen is None:
        others = ", ".join(each.name for each in preset.variants)
        words = f"variant default, {key} for {others}{edited}"
        return paragraph(clean(words), width, "accent" if edited else "quiet", first=_FLUSH)
    values = ", ".join(f"{name} {settings.get(name, value) or _NONE}" for name, value in chosen.settings)
    return paragraph(clean(f"variant {chosen.name}: {values}{edited}"), width, "accent", first=_FLUSH)


def missing_lines(preset: Preset, missing: Sequence[TargetSlot], key: str, width: int) -> list[Line]:
    """What a preset with several targets asks for before there can be a plan; `key` asks."""
    count = len(preset.targets)
    lines = paragraph(f"Needs {count} targets. Press {key} to enter a path for each.", width, "strong", first=_FLUSH)
    for slot in missing:
        words = f": {slot.summary}" if slot.summary else ""
        lines += [[], *paragraph(clean(f"{slot.name}{words}"), width, first=(("  ", ""),))]
    return lines


def preset_lines(preset: Preset, width: int) -> list[Line]:
    """What a preset is for, and where it comes from."""
    lines = paragraph(clean(preset.summary), width, "quiet", first=_FLUSH)
    if preset.source:
        lines += paragraph(f"From {clean(preset.source)}", width, "quiet", first=_FLUSH)
    return lines


def error_lines(message: str, hint: str | Advice, width: int) -> list[Line]:
    sign, ink = sign_of(SEVERITIES[Severity.BLOCKS])
    lines = signed((sign, ink), clean(message), width, ink)
    for part in clean(on_screen(hint), keep_newlines=True).splitlines():
        lines += [[], *paragraph(part, width)]
    return lines
