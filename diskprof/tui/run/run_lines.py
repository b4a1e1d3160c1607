"""What the Run screen says: presets as rows, a plan as text. Pure functions."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import groupby

from textual.content import Content

from diskprof.model.advice import Advice, on_screen
from diskprof.model.plan import Hazard, Plan, PlannedTest, Severity
from diskprof.model.preset import Category, Preset, TargetSlot
from diskprof.model.text import clean, shorten_middle
from diskprof.model.units import format_duration
from diskprof.model.wear import share_words
from diskprof.presets.editing import edits
from diskprof.presets.problem import Problem
from diskprof.reports.words import SEVERITIES
from diskprof.tui.kit.painted import Line, fit, spread
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.kit.table import Row
from diskprof.tui.shell.signs import sign_of

_FLUSH: Line = ((" ", ""),)
_NONE = "none"
_TOLD = 3
"""Faults of presets that a notice names: more would hide the screen."""

_CATEGORIES = {
    Category.QUICK: "Quick",
    Category.LATENCY: "Latency",
    Category.IOPS: "IOPS",
    Category.BANDWIDTH: "Bandwidth",
    Category.MIXED: "Mixed",
    Category.SUITE: "Suites",
    Category.ENDURANCE: "Endurance",
    Category.OWN: "Your own",
}


def matching(presets: Sequence[Preset], words: str) -> list[Preset]:
    """The presets in which every one of the words stands somewhere: name, title, shelf, summary or source."""
    wanted = words.casefold().split()
    return [preset for preset in presets if all(word in _all_of(preset) for word in wanted)]


def _all_of(preset: Preset) -> str:
    names = (preset.name, *preset.aliases, preset.title, preset.category.value, _CATEGORIES[preset.category])
    return "\n".join((*names, preset.summary, preset.source)).casefold()


def nothing_found(key: str, width: int) -> list[Row]:
    """In the place of the presets where the filter leaves none; `key` clears it."""
    lines = paragraph(f"No preset has these words. {key} shows all of them.", width, "quiet", first=_FLUSH)
    return [Row(f"nothing:{at}", line, heading=True) for at, line in enumerate(lines)]


def broken_words(problems: Sequence[Problem]) -> tuple[str, str]:
    """What a notice says of presets that cannot be used: its title, and the first of what is wrong."""
    files = len({problem.path for problem in problems})
    title = "A preset cannot be used" if files == 1 else f"{files} presets cannot be used"
    more = [f"And {len(problems) - _TOLD} more: diskprof presets tells all."] if len(problems) > _TOLD else []
    return title, "\n".join([*(clean(str(problem)) for problem in problems[:_TOLD]), *more])


def preset_rows(presets: Sequence[Preset], edited: Mapping[str, Mapping[str, str]], width: int) -> list[Row]:
    """Shelf by shelf; an asterisk where the person changed parameters."""
    rows: list[Row] = []
    for category, shelf in groupby(presets, key=lambda preset: preset.category):
        rows.append(Row(f"shelf:{category.value}", [(" ", ""), (_CATEGORIES[category], "quiet")], heading=True))
        for preset in shelf:
            mark = " *" if edited.get(preset.name) else ""
            title = shorten_middle(clean(preset.title), width - 3 - len(mark))
            rows.append(Row(preset.name, [("   ", ""), (title, ""), (mark, "warn")]))
    return rows


def plan_lines(
    plan: Plan,
    width: int,
    chosen: Sequence[Line] = (),
    switch: Sequence[Line] = (),
    doubts: Sequence[Line] = (),
) -> list[Line]:
    """What will happen: the sentence, the `switch` for it, what speaks against it, what was `chosen`, the tests, the amounts."""
    return [
        *warning_lines(plan, width, switch),
        *([[], *doubts] if doubts else ()),
        *([[], *chosen] if chosen else ()),
        [],
        *_test_lines(plan, width),
        [],
        *amount_lines(plan, width),
        *wear_lines(plan, width),
    ]


def switch_lines(plan: Plan, key: str, width: int) -> list[Line]:
    """Whether a device may be written to, and what else it takes: the plan is one that would overwrite a device."""
    if not plan.raw_devices:
        words = f"Writing to a device is off. {key} turns it on, if what is there may be lost."
        return paragraph(words, width, first=((" ", ""), ("[ ] ", "strong")))
    nodes = " and ".join(device.node for device in plan.raw_devices)
    if not plan.blocked or plan.to_give_up:
        more = f", and what it holds ({', '.join(plan.to_give_up)})" if plan.to_give_up else ""
        words = f"Writing to {nodes} is allowed ({key} turns it off). At the start its name has to be typed{more}."
    else:
        words = f"Writing to {nodes} is refused, whatever is typed: see why below. ({key} turns it off.)"
    return paragraph(clean(words), width, "warn", first=((" ", ""), ("[x] ", "danger")))


def warning_lines(plan: Plan, width: int, following: Sequence[Line] = ()) -> list[Line]:
    """The sentence, what is `following`, and the hazards, the worst first."""
    from diskprof.reports.content.plan import plan_sentence

    lines = paragraph(clean(plan_sentence(plan)), width, "strong", first=_FLUSH)
    lines += target_lines(plan, width)
    lines += [[], *following] if following else []
    final = bool(plan.blocked) and not plan.to_give_up
    for hazard in _by_severity(plan.hazards):
        sign, ink = sign_of(SEVERITIES[hazard.severity])
        lines += [[], *paragraph(clean(hazard.message), width, ink, first=((" ", ""), (sign, ink), (" ", "")))]
        # To give up what lies there does not help where something else blocks.
        lines += paragraph(clean("" if final and hazard.signature else on_screen(hazard.advice)), width)
    return lines


def target_lines(plan: Plan, width: int) -> list[Line]:
    """Where each of several targets is; nothing for a plan with one."""
    if not plan.others:
        return []
    named = [(plan.slot, plan.target), *((other.slot, other.target) for other in plan.others)]
    column = max(len(slot) for slot, _ in named) + 2
    lines: list[Line] = [[]]
    for slot, target in named:
        path = shorten_middle(clean(target.path), width - column - 1)
        lines.append([(" ", ""), (f"{slot:<{column}}", "quiet"), (path, "")])
    return lines


def variant_lines(preset: Preset, variant: str, settings: Mapping[str, str], key: str, width: int) -> list[Line]:
    """Which variant is chosen, with its parameters as they stand, what was edited, and that there are others (`key`)."""
    changed = edits(preset, variant, settings)
    edited = f"edited: {', '.join(f'{name} {value or _NONE}' for name, value in changed.items())}" if changed else ""
    if not preset.variants:
        return paragraph(clean(edited), width, "warn", first=_FLUSH) if edited else []
    chosen = next((each for each in preset.variants if each.name == variant), None)
    edited = f"; {edited}" if edited else ""
    if chosen is None:
        others = ", ".join(each.name for each in preset.variants)
        words = f"variant default, {key} for {others}{edited}"
        return paragraph(clean(words), width, "warn" if edited else "quiet", first=_FLUSH)
    values = ", ".join(f"{name} {settings.get(name, value) or _NONE}" for name, value in chosen.settings)
    return paragraph(clean(f"variant {chosen.name}: {values}{edited}"), width, "warn", first=_FLUSH)


def missing_lines(preset: Preset, missing: Sequence[TargetSlot], key: str, width: int) -> list[Line]:
    """What a preset with several targets asks for before there can be a plan; `key` asks."""
    count = len(preset.targets)
    lines = paragraph(f"Works on {count} targets. Press {key} to name a path for each.", width, "strong", first=_FLUSH)
    for slot in missing:
        words = f": {slot.summary}" if slot.summary else ""
        lines += [[], *paragraph(clean(f"{slot.name}{words}"), width, first=(("  ", ""),))]
    return lines


def confirm_lines(plan: Plan, others: Sequence[str], width: int) -> list[Line]:
    """What is to be known before a start; `others` are sentences on runs that go on the same disk."""
    company = [line for words in others for line in signed(("!", "warn"), clean(words), width, "warn")]
    return [*warning_lines(plan, width, company), [], *amount_lines(plan, width), *wear_lines(plan, width)]


def _by_severity(hazards: Sequence[Hazard]) -> list[Hazard]:
    """The worst first; of the notes first how much is written."""
    order = list(Severity)
    return sorted(hazards, key=lambda hazard: (order.index(hazard.severity), hazard.name != "write-budget"))


def _test_lines(plan: Plan, width: int) -> list[Line]:
    """Each test with R or W and its time."""
    lines: list[Line] = []
    steps = [*((("", "Lay out the test file", plan.layout),) if plan.layout else ())]
    steps += [(f"{number:2}", clean(test.title), test) for number, test in enumerate(plan.tests, 1)]
    for number, title, test in steps:
        seconds = fit(format_duration(test.seconds), 7, right=True)
        words = paragraph(title, width - 11, "" if number else "quiet", first=((fit(number, 3), "quiet"), (" ", "")))
        lines.append(spread(words[0] if words else (), [*_sides(test), (seconds, "quiet"), (" ", "")], width))
        lines += words[1:]
    return lines


def _sides(test: PlannedTest) -> Line:
    """R, W or both, by what the jobs do."""
    kinds = [job.rw for job in test.jobs]
    mixed = any(kind in ("rw", "readwrite", "randrw") for kind in kinds)
    writes = mixed or any("write" in kind for kind in kinds) or (not kinds and test.writes)
    reads = mixed or any("read" in kind for kind in kinds) or not writes
    return [("R" if reads else " ", "read"), ("W" if writes else " ", "write")]


def amount_lines(plan: Plan, width: int) -> list[Line]:
    """Writes, space, time and parameters, one under the other."""
    from diskprof.reports.content.plan import space_words, time_words, written_words

    rows = [
        ("Writes", written_words(plan)),
        ("Space", space_words(plan)),
        ("Time", time_words(plan)),
        *((clean(name), clean(value)) for name, value in plan.parameters if value),
    ]
    column = max(len(name) for name, _ in rows) + 2
    labels: list[Line] = [[(" ", ""), (f"{name:<{column}}", "quiet")] for name, _ in rows]
    return [
        line for label, (_, value) in zip(labels, rows, strict=True) for line in paragraph(value, width, first=label)
    ]


def wear_lines(plan: Plan, width: int) -> list[Line]:
    """The share of the disks' endurance that the writes take; nothing where a hazard says it, or no disk tells."""
    if not plan.wear or plan.raw_devices:
        return []
    share = share_words(plan.bytes_written, plan.wear)
    words = [f"Writes {share}." if share else "", *(f"{wear.words}." for wear in plan.wear)]
    return [[], *paragraph(" ".join(filter(None, words)), width, "quiet", first=_FLUSH)]


def preset_lines(preset: Preset, width: int) -> list[Line]:
    """What a preset is for, and where it comes from."""
    lines = paragraph(clean(preset.summary), width, "quiet", first=_FLUSH)
    if preset.source:
        lines += paragraph(f"From {clean(preset.source)}", width, "quiet", first=_FLUSH)
    return lines


def error_lines(message: str, hint: str | Advice, width: int) -> list[Line]:
    lines = signed(("✗", "danger"), clean(message), width, "danger")
    for part in clean(on_screen(hint), keep_newlines=True).splitlines():
        lines += [[], *paragraph(part, width)]
    return lines


def commands_text(plan: Plan, job_file: str = "") -> Content:
    """The exact commands, as a shell would take them, and the job file that does the same with plain fio, if there is one."""
    tests = [*((("Lay out the test file", plan.layout),) if plan.layout else ())]
    tests += [(test.title, test) for test in plan.tests]
    parts = [Content.assemble((clean(title), "bold"), "\n", clean(shlex.join(test.argv))) for title, test in tests]
    if job_file:
        title = Content.assemble(("The same for plain fio, as a job file", "bold"))
        parts.append(Content.assemble(title, "\n", clean(job_file.rstrip(), keep_newlines=True)))
    return Content("\n\n").join(parts)
