"""What the Run screen says of presets: as rows, and what is chosen of one. Pure functions."""

from collections.abc import Mapping, Sequence, Set
from itertools import groupby

from msgspec import Struct, field

from diskprof.model.advice import Advice, on_screen
from diskprof.model.cells import fit, shorten_middle, width_of
from diskprof.model.plan import Plan, Severity
from diskprof.model.preset import Category, Preset, TargetSlot
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.presets.own_copies import edits
from diskprof.presets.problem import Problem
from diskprof.reports.words import SEVERITIES
from diskprof.tui.kit.painted import Line, Piece
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.kit.table import Row
from diskprof.tui.shell.run_signs import sign_of

_FLUSH: Line = ((" ", ""),)
_NONE = "none"
_RECENT = 3
"""Presets that were used last and stand first."""
_ROOM_FOR_TIME, _ROOM_FOR_AMOUNT, _ROOM_FOR_TESTS = 44, 54, 60
"""Cells of a list from which columns stand beside the names."""
_SMALL = 32
"""Cells of a list up to which names are set in by two."""
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


class Figures(Struct, frozen=True):
    """What a plan of a preset takes: `time` as a list of presets writes it, `written` in bytes, the test file too."""

    time: str
    reads: bool
    writes: bool
    tests: int
    written: int


def figures_of(plan: Plan) -> Figures:
    from diskprof.reports.content.preset_words import short_duration

    jobs = [job for test in plan.tests for job in test.load.fio]
    reads = any(job.mixed or job.reads_only for job in jobs) or any(test.load.ioping for test in plan.tests)
    writes = not all(job.reads_only for job in jobs)
    return Figures(short_duration(plan.likely_seconds), reads, writes, len(plan.tests), plan.bytes_written)


class Shelves(Struct, frozen=True):
    """What the list of presets shows beside the presets: names of those `edited`, of favourites and of the last used ones.

    Each preset is in the list once. `table`: with columns, where there is room; the `figures` in them are known a little later
    than the presets, and only of those that can be planned.
    """

    edited: Set[str] = frozenset()
    favourites: Sequence[str] = ()
    recent: Sequence[str] = ()
    figures: Mapping[str, Figures] = field(default_factory=dict)
    table: bool = False


def preset_rows(presets: Sequence[Preset], shelves: Shelves, width: int) -> list[Row]:
    """Favourites and recent ones, the person's own, then shelf by shelf; an asterisk where parameters were changed."""
    known = {preset.name: preset for preset in presets}
    favourites = [name for name in shelves.favourites if name in known]
    recent = [name for name in shelves.recent if name in known and name not in favourites][:_RECENT]
    others = [preset for preset in presets if preset.name not in (*favourites, *recent)]
    shipped = [preset for preset in others if preset.shipped]
    groups = [
        ("Favourites", [known[name] for name in favourites]),
        ("Recent", [known[name] for name in recent]),
        (Category.OWN.heading, [preset for preset in others if not preset.shipped]),
        *((category.heading, list(shelf)) for category, shelf in groupby(shipped, key=lambda each: each.category)),
    ]
    rows: list[Row] = []
    for heading, shelf in groups:
        if shelf:
            rows.append(Row(f"shelf:{heading}", [(" ", ""), (heading, "quiet")], heading=True))
            rows += (_preset_row(preset, shelves, width) for preset in shelf)
    return rows


def preset_columns(shelves: Shelves, width: int) -> list[tuple[int, str]]:
    """The titles of the columns, with the cell that each begins at."""
    begins = [(at + cells - len(title), title) for at, cells, title in _columns(shelves, width)]
    return [(1, "Preset"), *begins]


def _columns(shelves: Shelves, width: int) -> list[tuple[int, int, str]]:
    """(first cell, cells, title) of each column that has room beside the names."""
    wanted = [(_ROOM_FOR_TIME, "Time", 7), (_ROOM_FOR_TIME, "R/W", 4)]
    wanted += [(_ROOM_FOR_AMOUNT, "Writes", 9), (_ROOM_FOR_TESTS, "Tests", 6)]
    shown = [(title, cells) for least, title, cells in wanted if width >= least]
    if not shelves.table or width < _ROOM_FOR_TIME:
        return []
    at = width - sum(cells for _, cells in shown) - 1
    columns = []
    for title, cells in shown:
        columns.append((at, cells, title))
        at += cells
    return columns


def _preset_row(preset: Preset, shelves: Shelves, width: int) -> Row:
    columns, figures = _columns(shelves, width), shelves.figures.get(preset.name)
    indent = 3 if width > _SMALL else 2
    room = (columns[0][0] if columns else width) - indent
    mark = " *" if preset.name in shelves.edited else ""
    title = shorten_middle(clean(preset.title), room - len(mark))
    line: list[Piece] = [(" " * indent, ""), (title, ""), (mark, "mark")]
    if columns and figures:
        line.append((" " * (room - width_of(title) - len(mark)), ""))
        written = format_size(figures.written) if figures.written else "-"
        sides = f"{'R' if figures.reads else '-'}{'W' if figures.writes else '-'}"
        texts = {"Time": figures.time, "R/W": sides, "Writes": written, "Tests": str(figures.tests)}
        for _, cells, name in columns:
            text = fit(texts[name], cells, right=True)
            line += [(text[:-2], ""), *_sides(text[-2:])] if name == "R/W" else [(text, "quiet")]
    return Row(preset.name, line)


def _sides(letters: str) -> list[Piece]:
    return [(letter, {"R": "read", "W": "write"}.get(letter, "quiet")) for letter in letters]


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
