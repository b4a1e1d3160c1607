"""A plan in lines: for the Plan pane and for the start dialog. Pure functions.

Loaded with the first plan, not before the first picture.
"""

import shlex
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from textual.content import Content

from diskprof.model.cells import fit
from diskprof.model.errors import UsageError
from diskprof.model.fleet import FleetPlan
from diskprof.model.plan import Plan, PlannedTest, Severity
from diskprof.model.run import FleetStage
from diskprof.model.run_series import ONCE, SeriesPlan
from diskprof.model.text import clean
from diskprof.model.title import sweep_title
from diskprof.model.units import format_duration
from diskprof.reports.blocks import Fact, Facts, Form, Paragraph
from diskprof.reports.content.expectation_table import planned
from diskprof.reports.content.fleet.fleet_plan import fleet_plan_sentence
from diskprof.reports.content.plan_report import (
    hazard_notes,
    plan_facts,
    plan_sentence,
    steps,
    sweep_axes,
    swept_by,
    target_facts,
)
from diskprof.reports.content.series_plan import series_facts
from diskprof.reports.words import SEVERITIES, Meaning
from diskprof.runner.session import Wish
from diskprof.tui.kit.painted import Line, spread
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.shell.block_lines import pane_lines
from diskprof.tui.shell.run_signs import sign_of


def plan_lines(
    plan: Plan,
    width: int,
    chosen: Sequence[Line] = (),
    switch: Sequence[Line] = (),
    doubts: Sequence[Line] = (),
    now: datetime | None = None,
) -> list[Line]:
    """The plan: the sentence, the `switch` for it, what speaks against it, what was `chosen`, the tests, the amounts.

    `now`: also when a long plan ends, if it starts then.
    """
    tests = _test_lines(plan, width)
    return _beneath_each_other(
        *(*_warnings(plan, width, switch), doubts, chosen, tests),
        *(_expected_lines(plan, width), pane_lines((plan_facts(plan, Form.SCREEN, now),), width)),
    )


def confirm_lines(plan: Plan, others: Sequence[str], width: int, now: datetime | None = None) -> list[Line]:
    """What is to be known before a start; `others` are sentences on runs that go on the same disk."""
    sign, ink = sign_of(SEVERITIES[Severity.WARNS])
    company = [line for words in others for line in signed((sign, ink), clean(words), width, ink)]
    # The sentence has the time, the amount and what is removed; of these there is more to say only with the wear.
    told = {"Space", "Time", *(() if plan.wear else ("Writes",))}
    facts = Facts(tuple(fact for fact in plan_facts(plan, Form.SCREEN, now).facts if fact.name not in told))
    return _beneath_each_other(
        *_warnings(plan, width, company), pane_lines((facts,), width), _expected_lines(plan, width)
    )


def series_lines(series: SeriesPlan, width: int) -> list[Line]:
    """How often, where, and what all repeats take together."""
    facts = Facts(tuple(Fact(name, text) for name, text in series_facts(series)))
    return pane_lines((facts,), width)


def each_disk_lines(plans: Sequence[Plan], width: int) -> list[Line]:
    """What each disk alone, and then all together, takes and writes."""
    planned = FleetPlan(tuple(plans), ONCE, stages=tuple(FleetStage))
    return pane_lines((Paragraph(fleet_plan_sentence(planned, "disk"), Meaning.STRONG),), width)


def _expected_lines(plan: Plan, width: int) -> list[Line]:
    """What is expected of this very disk, test by test."""
    found = planned(plan)
    lines = paragraph("Expected", width, "quiet", first=((" ", ""),)) if found else []
    for test, words in found:
        lines += paragraph(clean(f"{test}: {words}"), width, first=(("   ", ""),))
    return lines


def _beneath_each_other(*parts: Sequence[Line]) -> list[Line]:
    return [line for part in parts if part for line in ([], *part)][1:]


def _warnings(plan: Plan, width: int, following: Sequence[Line]) -> tuple[Sequence[Line], ...]:
    """The sentence, where several targets are, what is `following`, and the hazards."""
    above = [Paragraph(plan_sentence(plan), Meaning.STRONG), *([target_facts(plan)] if plan.others else ())]
    return pane_lines(above, width), following, pane_lines(hazard_notes(plan, Form.SCREEN), width)


def switch_lines(plan: Plan, key: str, width: int) -> list[Line]:
    """Whether a device may be written to, and what else it takes: the plan is one that would overwrite a device."""
    if not plan.raw_devices:
        words = f"Raw writes disabled. Press {key} to allow overwriting this device (destroys data)."
        return paragraph(words, width, first=((" ", ""), ("[ ] ", "strong")))
    nodes = " and ".join(device.node for device in plan.raw_devices)
    if not plan.blocked or plan.to_give_up:
        more = f" and its signature ({', '.join(plan.to_give_up)})" if plan.to_give_up else ""
        words = f"Raw writes to {nodes} allowed ({key}: disable). You will have to type its name{more} at the start."
    else:
        words = f"Raw writes to {nodes} refused: see below. ({key}: disable)"
    return paragraph(clean(words), width, "warn", first=((" ", ""), ("[x] ", "danger")))


def _test_lines(plan: Plan, width: int) -> list[Line]:
    """Each test with R or W and its time; of a test that is swept its axes, a line each."""
    lines: list[Line] = []
    numbered = enumerate(steps(plan), 1 - len(plan.preparation))
    for swept, group in groupby(numbered, key=lambda each: swept_by(each[1][1]) or each[0]):
        found = list(group)
        at, (title, test) = found[0]
        cells = [cell for _, (_, cell) in found]
        if isinstance(swept, tuple):
            title = f"{sweep_title(test.jobs, test.cell) or swept[0]}: {len(cells)} cells"
        seconds = fit(format_duration(sum(cell.likely_seconds for cell in cells)), 7, right=True)
        number = fit(f"{at:2}" if at > 0 else "", 3)
        words = paragraph(clean(title), width - 11, "" if at > 0 else "quiet", first=((number, "quiet"), (" ", "")))
        lines.append(spread(words[0] if words else (), [*_sides(cells), (seconds, "quiet"), (" ", "")], width))
        lines += words[1:]
        for axis, values in sweep_axes(cells):
            lines += paragraph(clean(values), width, first=(("    ", ""), (f"{clean(axis)}  ", "quiet")))
    return lines


def _sides(tests: Sequence[PlannedTest]) -> Line:
    """R, W or both, by what the jobs of a test, or of all cells of a sweep, do."""
    kinds = [job.rw for test in tests for job in test.jobs]
    mixed = any(kind in ("rw", "readwrite", "randrw") for kind in kinds)
    writes = mixed or any("write" in kind for kind in kinds) or any(test.writes for test in tests if not test.jobs)
    reads = mixed or any("read" in kind for kind in kinds) or not writes
    return [("R" if reads else " ", "read"), ("W" if writes else " ", "write")]


def command_lines(plan: Plan, width: int, height: int, key: str) -> list[Line]:
    """The commands of as many tests as have room in `height` lines; `key` shows all."""
    head = paragraph(f"Commands ({key} shows all)", width, "quiet", first=((" ", ""),))
    lines = list(head)
    for title, test in steps(plan):
        command = [
            *paragraph(clean(title), width, first=(("   ", ""),)),
            *paragraph(clean(shlex.join(test.argv)), width, "quiet", first=(("   ", ""),)),
        ]
        if len(lines) + len(command) > height:
            break
        lines += command
    return lines if len(lines) > len(head) else []


def commands_text(plan: Plan, job_file: str = "") -> Content:
    """The exact commands, as a shell would take them, and the job file that does the same with plain fio, if there is one."""

    parts = [
        Content.assemble((clean(title), "bold"), "\n", clean(shlex.join(test.argv))) for title, test in steps(plan)
    ]
    if job_file:
        title = Content.assemble(("The same for plain fio, as a job file", "bold"))
        parts.append(Content.assemble(title, "\n", clean(job_file.rstrip(), keep_newlines=True)))
    return Content("\n\n").join(parts)


def job_file_of(wish: Wish) -> str:
    """The preset of a wish, with its settings, as fio would read it; empty where it has no test of fio's."""
    from diskprof.presets.files.fio_text import job_file

    try:
        return job_file(wish.preset, wish.settings)
    except UsageError:
        return ""
