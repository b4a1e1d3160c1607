"""A plan as plain text: what would happen."""

import shlex

from diskprof.model.advice import on_command_line
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.units import format_duration, format_size
from diskprof.model.wear import share_words
from diskprof.reports.content.expectation_table import planned
from diskprof.reports.content.facts import sweep_words, target_words, targets
from diskprof.reports.content.plan import space_words, time_words, written_words
from diskprof.reports.layout import pad, plain, wrap
from diskprof.reports.words import SEVERITIES

_LABEL = 12


def plan_text(plan: Plan, sentence: str = "", width: int = 80) -> str:
    """What would happen, for --dry-run: the sentence, the target, every command as it would be started, and what to fear.

    Commands are on one line each, however long, so that they can be copied.
    """
    lines = wrap(f"{plain(plan.preset_title)} ({plain(plan.preset)})", width)
    if sentence:
        lines += wrap(plain(sentence), width)
    lines.append("")
    facts = (
        *(
            ("Target", f"{slot}: {target_words(target)}" if slot else target_words(target))
            for slot, target in targets(plan)
        ),
        ("Sweep", sweep_words(plan)),
        ("Parameters", " ".join(f"{name}={value}" for name, value in plan.parameters if value)),
        *(("Test file", f"{file.path} ({format_size(file.size_bytes)})") for file in plan.test_files),
        ("Writes", _writes(plan)),
        ("Wear", "; ".join(wear.words for wear in plan.wear)),
        ("Space", space_words(plan)),
        ("Time", time_words(plan)),
    )
    for name, value in facts:
        if value:
            lines += wrap(plain(value), width, pad(name, _LABEL))
    if plan.expectations:
        lines += ["", "Expected"]
        for name, words in planned(plan):
            lines += wrap(f"{plain(name)}: {plain(words)}", width, "  ", "    ")
    lines += ["", "Commands"]
    if plan.layout:
        lines += _command(plan.layout, "fills the test files" if len(plan.test_files) > 1 else "fills the test file")
    for test in plan.tests:
        lines += _command(test, test.title)
    if plan.hazards:
        lines += ["", "Hazards"]
        for hazard in plan.hazards:
            lines += wrap(f"{SEVERITIES[hazard.severity].word}: {plain(hazard.message)}", width, "  ", "    ")
            if hazard.advice:
                lines += wrap(plain(on_command_line(hazard.advice)), width, "    -> ")
    return "\n".join(lines) + "\n"


def _command(test: PlannedTest, title: str) -> list[str]:
    about = f"{test.name}: {title}" if title and title != test.name else test.name
    return [f"  # {plain(about)} ({format_duration(test.seconds)})", f"  {plain(shlex.join(test.argv))}"]


def _writes(plan: Plan) -> str:
    share = share_words(plan.bytes_written, plan.wear) if plan.bytes_written else ""
    return f"{written_words(plan)}{f', {share}' if share else ''}"
