"""Lines of a run that has ended, around its table and chart: the best of a sweep, the report, the next steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskprof.analysis.bursts import burst_results
from diskprof.model.run import Run, Weight
from diskprof.reports.blocks import Form, Heading
from diskprof.reports.content.burst_words import burst_blocks
from diskprof.reports.content.caps_words import caps_blocks
from diskprof.reports.content.run_report import run_report
from diskprof.reports.content.sweep_tables import run_panels
from diskprof.tui.kit.painted import Line, Piece, width_of
from diskprof.tui.shell.block_lines import screen_lines
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from diskprof.model.sample import Sample
    from diskprof.tui.shell.base import ModeScreen


def burst_lines(run: Run, samples: Sequence[Sample], width: int) -> list[Line]:
    """Of tests that drained, rested and drained again, by their `samples`: what a burst is worth; empty of another run."""
    blocks = burst_blocks(burst_results(run, samples))
    return [*screen_lines([Heading("Bursts", 2), *blocks], width), []] if blocks else []


def best_lines(run: Run, width: int) -> list[Line]:
    """Of a sweep: what limits, and the best of each row, as `diskprof show` has them; empty of another run."""
    caps = caps_blocks(run)
    return screen_lines([*([Heading("What limits", 2), *caps] if caps else ()), *run_panels(run, (), level=2)], width)


def report_lines(run: Run, width: int) -> list[Line]:
    """Everything below the chart: results in words, expectations, findings, environment, commands."""
    return screen_lines(run_report(run, form=Form.SCREEN), width)


_STEPS = (
    ("{result.export}", "report"),
    ("{result.compare}", "compare"),
    ("{result.again}", "run again"),
    ("{result.mimic}", "preset of this load"),
    ("{result.more}", "findings"),
    ("{result.tags}", "tags"),
    ("{result.delete}", "delete"),
)
_IN_DOUBT = ("{result.more}", "{result.again}", "{result.compare}")
"""What comes first after a run in doubt."""


def next_line(screen: ModeScreen, run: Run, width: int, partner: str) -> Line:
    """`Next: r report  c compare with h2k7t6zp ...`, as many as have room. `partner` is the run to compare with, or empty."""
    doubtful = any(finding.weight is Weight.DOUBT for finding in run.findings)
    steps = sorted(_STEPS, key=lambda step: _IN_DOUBT.index(step[0]) if step[0] in _IN_DOUBT else len(_IN_DOUBT))
    named = [
        (key, f"{words} with {partner}" if partner and key == "{result.compare}" else words)
        for key, words in (steps if doubtful else _STEPS)
        if not (key == "{result.again}" and (run.imported_from or run.plan.watched))
        and not (key == "{result.mimic}" and not run.plan.watched)
    ]
    return _fitting(screen, named, width)


def next_line_of_series(screen: ModeScreen, targets: int, width: int) -> Line:
    """As `next_line`, after the last run of a series."""
    compare = ("{result.compare}", "compare the targets" if targets > 1 else "compare the series")
    report = ("{result.export}", "report on the series")
    steps = [compare, report] if targets > 1 else [report, compare]
    return _fitting(screen, [*steps, ("{result.again}", "run again"), ("{result.more}", "findings")], width)


def _fitting(screen: ModeScreen, steps: Sequence[tuple[str, str]], width: int) -> Line:
    line: list[Piece] = [(" Next: ", "quiet")]
    for key, words in steps:
        gap: list[Piece] = [("   ", "")] if len(line) > 1 else []
        # The key is worth more than with which run.
        for said in dict.fromkeys((words, words.partition(" with ")[0])):
            pieces: list[Piece] = [*gap, (with_keys(screen, key), "key"), (f" {said}", "")]
            if width_of(line) + width_of(pieces) <= width:
                line += pieces
                break
    return line
