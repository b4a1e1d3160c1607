"""A plan as a document: what a run would do, in a sentence and in figures, its commands, and what speaks against it."""

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from diskprof.model.advice import on_command_line, on_screen
from diskprof.model.device import share_words
from diskprof.model.plan import Hazard, Plan, PlannedTest, Severity
from diskprof.model.preset import EngineName
from diskprof.model.target import TargetKind
from diskprof.model.units import format_duration, format_size
from diskprof.presets.limit_text import limit_words
from diskprof.presets.map_text import map_words
from diskprof.presets.steady_text import rounds_words
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Code, Fact, Facts, Form, Heading, Note, Paragraph
from diskprof.reports.content.expectation_table import planned
from diskprof.reports.content.facts import sweep_words, target_words, targets, test_files
from diskprof.reports.content.sweep_tables import value_words
from diskprof.reports.words import SEVERITIES

LONG_S = 600.0
"""From so many seconds on a plan says when it ends by the clock."""
_SHORT_S = 10.0
"""Beside a test of less than this, starting fio takes a share of the time that is worth a word."""


def plan_report(plan: Plan) -> tuple[Block, ...]:
    """The document of a plan for a terminal, with every command as it would be started."""
    expected = [Note(words, where=test) for test, words in planned(plan)]
    hazards = hazard_notes(plan)
    return (
        Heading(f"{plan.preset_title} ({plan.preset})", 1),
        Paragraph(plan_sentence(plan)),
        plan_facts(plan),
        *([Heading("Expected"), *expected] if expected else ()),
        *(Heading("Commands"), _commands(plan)),
        *([Heading("Hazards"), *hazards] if hazards else ()),
    )


def plan_facts(plan: Plan, form: Form = Form.TERMINAL, now: datetime | None = None) -> Facts:
    """Where, how much, how long, with which parameters. The screen names the target above.

    `now`: also when a long plan ends, if it starts then.
    """
    screen = form is Form.SCREEN
    parameters = ("Parameters", " ".join(f"{name}={value}" for name, value in plan.parameters if value))
    share = share_words(plan.bytes_written, plan.wear)
    rounds = ("Rounds", f"until {rounds_words(plan.rounds)} ({plan.title(plan.rounds.test)})" if plan.rounds else "")
    limit = ("Search", limit_words(plan.limit) if plan.limit else "")
    drawn = ("Map", map_words(plan.read_write_map) if plan.read_write_map else "")
    facts = [
        *(("Target", f"{slot}: {target_words(target)}" if slot else target_words(target)) for slot, target in targets(plan)),
        ("Sweep", sweep_words(plan)),
        rounds,
        limit,
        drawn,
        parameters,
        *(("Directory", directory) for directory in plan.directories),
        ("Files", test_files(plan)),
    ]  # fmt: skip
    amounts = [
        ("Writes", f"{written_words(plan)}{f', {share}' if share else ''}"),
        ("Wear", "; ".join(wear.words for wear in plan.wear)),
        ("Space", f"{format_size(plan.space_needed)}, freed afterwards" if plan.space_needed else "none"),
        ("Time", time_words(plan)),
        ("End", end_words(plan, now).removeprefix("ends ") if now else ""),
    ]
    shown = [*amounts, rounds, limit, drawn, parameters] if screen else [*facts, *amounts]
    return Facts(tuple(Fact(name, text) for name, text in shown if text))


def target_facts(plan: Plan) -> Facts:
    """Where each of several targets is, by the name of its slot."""
    return Facts(tuple(Fact(slot, target.path) for slot, target in targets(plan)))


def hazard_notes(plan: Plan, form: Form = Form.TERMINAL) -> tuple[Note, ...]:
    """The hazards with what to do about each, the worst first; of the notes first how much is written."""
    order = list(Severity)
    final = bool(plan.blocked) and not plan.to_give_up

    def advice(hazard: Hazard) -> str:
        # To give up what is on a device does not help where something else blocks.
        if final and hazard.signature:
            return ""
        return on_screen(hazard.advice) if form is Form.SCREEN else on_command_line(hazard.advice)

    found = sorted(plan.hazards, key=lambda hazard: (order.index(hazard.severity), hazard.name != "write-budget"))
    words = [SEVERITIES[hazard.severity] for hazard in found]
    return tuple(
        Note(hazard.message, word.word, advice=advice(hazard), meaning=word.meaning, sign=word.sign)
        for hazard, word in zip(found, words, strict=True)
    )


def steps(plan: Plan) -> tuple[tuple[str, PlannedTest], ...]:
    """(title, test) of everything that is started, in this order."""
    files = "test files" if len(plan.test_files) > 1 else "test file"
    layout = [(f"Create {files}", plan.layout)] if plan.layout else []
    before = ((f"Precondition: {step.title}", step) for step in plan.precondition)
    return (*layout, *before, *((test.title, test) for test in plan.tests))


def preparing_words(plan: Plan) -> str:
    """What is done before the first test: `creating the test file`, `preconditioning`."""
    creating = "creating the test file" if plan.layout else ""
    return (
        ", ".join(filter(None, (creating, "preconditioning" if plan.precondition else ""))) or "creating the test file"
    )


def sweep_axes(tests: Sequence[PlannedTest]) -> tuple[tuple[str, str], ...]:
    """(axis, its values) of the cells of one test: `block size`, `4 KiB, 16 KiB, 64 KiB`."""
    values: dict[str, dict[str, None]] = {}
    for test in tests:
        for option, value in test.cell:
            values.setdefault(option, {})[value_words(option, value)] = None
    return tuple((figures.option(option), ", ".join(found)) for option, found in values.items())


def swept_by(test: PlannedTest) -> tuple[str, ...]:
    """The test of the preset that a cell of a sweep comes from, and the options that are swept; empty for no cell."""
    # A cell's name ends in its values, which hold no "-".
    return (test.name.rsplit("-", len(test.cell))[0], *(option for option, _ in test.cell)) if test.cell else ()


def _commands(plan: Plan) -> Code:
    lines: list[tuple[str, ...]] = []
    for title, test in steps(plan):
        about = f"{test.name}: {title}" if title and title != test.name else test.name
        about = f"{about}, the first trial" if test.trial and plan.limit else about
        lines += [(f"# {about} ({likely_words(test)})",), tuple(map(shlex.quote, test.argv))]
    return Code(tuple(lines))


def plan_sentence(plan: Plan) -> str:
    """What a run does: where, how long, how much it writes, what is left afterwards."""
    return f"{_what(plan)}: {', '.join((likely_words(plan), *_written(plan)))}."


def time_words(plan: Plan) -> str:
    """`about 34 s (tests 30 s)`; `about 34 s, at most 16 min 40 s` where amounts of data may end tests before their time.

    That of the tests alone is what a list of presets shows.
    """
    tests = format_duration(plan.round_s())
    if plan.search:
        return f"about {likely_words(plan)}"
    if plan.rounds:
        rounds, each = _from_to(plan, 1), len(plan.tests)
        short = plan.round_s() < _SHORT_S * each
        starts = f", and {_from_to(plan, each)} starts of fio" if short else ""
        return f"about {likely_words(plan)} ({rounds} rounds of {tests}{starts})"
    apart = f" (tests {tests})" if tests != format_duration(plan.likely_seconds) else ""
    return f"about {likely_words(plan)}{apart}"


def _from_to(plan: Plan, each: int) -> str:
    """How often, with so many in each round: `18 to 30`; `30` where the number of rounds is known."""
    least, most = plan.least_rounds * each, plan.most_rounds * each
    return f"{least} to {most}" if least < most else f"{most}"


def end_words(plan: Plan, now: datetime) -> str:
    """`ends about 14:30` or `ends about Wed 25 Nov 14:30`, by the clock of `now`; empty for a plan of less than ten minutes."""
    return f"ends about {clock_words(plan.likely_seconds, now)}" if plan.likely_seconds >= LONG_S else ""


def clock_words(seconds: float, now: datetime) -> str:
    """The clock so many seconds after `now`, with the day where that is another."""
    end = now + timedelta(seconds=seconds)
    return f"{end:%H:%M}" if end.date() == now.date() else f"{end:%a %d %b %H:%M}"


def likely_words(step: Plan | PlannedTest) -> str:
    """`34 s`; `34 s, at most 16 min 40 s` where an amount of data may end it before its time."""
    likely, most = format_duration(step.likely_seconds), format_duration(step.seconds)
    return likely if likely == most or not step.limited else f"{likely}, at most {most}"


def written_words(plan: Plan) -> str:
    """`nothing`, `1 GiB`; `about 1.2 GiB` where time ends a test that writes."""
    if not plan.bytes_written:
        return "nothing"
    most = f" in {plan.most_rounds} rounds" if plan.rounds else " at the most" if plan.search else ""
    return f"{'' if plan.writes_exact else 'about '}{format_size(plan.bytes_written)}{most}"


def _what(plan: Plan) -> str:
    target = plan.target
    if plan.raw_devices:
        return f"Overwrites the device {' and '.join(device.node for device in plan.raw_devices)}"
    if target.kind is not TargetKind.DIRECTORY and plan.others:
        verb = "Tests" if plan.bytes_written else "Reads"
        return f"{verb} {' and '.join(each.path for each in plan.targets)}"
    if target.kind is not TargetKind.DIRECTORY:
        # A plan that writes without permission does not start, but its sentence is read.
        verb = "Would overwrite" if plan.bytes_written else "Reads"
        return f"{verb} {'the device ' if target.kind is TargetKind.DEVICE else ''}{target.path}"
    if plan.test_files:
        writes = any(test.writes for test in plan.tests if test.engine is EngineName.FIO)
        where = " and ".join(each.path for each in plan.targets)
        return f"{'Tests' if writes else 'Reads'} {_files(plan)} in {'each of ' if plan.others else ''}{where}"
    return f"Reads a temporary {format_size(plan.space_needed)} file in {target.path}"


def _files(plan: Plan) -> str:
    """`a temporary 1 GiB file`; `4 temporary files of 256 MiB`."""
    directory = plan.test_files[0].directory
    sizes = list({file.path: file.size_bytes for file in plan.test_files if file.directory == directory}.values())
    if len(sizes) == 1:
        return f"a temporary {format_size(sizes[0])} file"
    alike = len(set(sizes)) == 1
    return (
        f"{len(sizes)} temporary files of {format_size(sizes[0] if alike else sum(sizes))}{'' if alike else ' in all'}"
    )


def _written(plan: Plan) -> Iterator[str]:
    most = "at most " if plan.search or plan.least_rounds < plan.most_rounds else ""
    yield f"{most}{format_size(plan.bytes_written)} written" if plan.bytes_written else "nothing written"
    if plan.space_needed:
        yield f"file{'s' if len(plan.test_files) > 1 else ''} removed at the end"
