"""Where a run of rounds is, and the course of the figure that it waits for: a line of the head."""

from __future__ import annotations

from diskprof.model.cells import cut
from diskprof.model.metric import format_value
from diskprof.model.run import Run
from diskprof.model.steady import when_words
from diskprof.model.text import clean
from diskprof.model.units import format_percent
from diskprof.reports.content.rounds_report import figure_words, kept_words
from diskprof.reports.content.steady_words import spread_words
from diskprof.reports.render.lines import sparkline
from diskprof.tui.kit.painted import Line, Piece, width_of

_DRAWN = 25
_LEAST_REST = 12


def rounds_line(run: Run, width: int, *, ascii_only: bool) -> Line:
    """`Round 6 of at most 25  ▇▅▃▂▂ 12,040 IOPS  range 23.1%, slope -4.0% (20%, 10%)  write.iops of 4K rand write QD32`, as far
    as there is room; in brackets are the limits.

    Of a run that has ended whether it was steady, and which rounds the results are those of.
    """
    rule, steady = run.plan.rounds, run.rounds
    assert rule
    if not run.status.over:
        left: list[Piece] = [(f"   Round {run.round} of at most {rule.at_most}", "strong")]
    elif steady is None:
        return [("   No round is complete.", "warn")]
    else:
        ink = "good" if steady.reached else "warn"
        left = [("   ", ""), (when_words(rule, steady).capitalize(), ink), (f", results of {kept_words(steady)}", "")]
    if steady is None:
        words = f"waits for {figure_words(run, rule)}"
        return [*left, ("  ", ""), (cut(clean(words), max(0, width - width_of(left) - 3)), "quiet")]
    left += [("  ", ""), (sparkline(steady.values[-_DRAWN:], ascii_only=ascii_only), "accent")]
    left += [(f" {format_value(rule.metric.quantity, steady.values[-1])}", "title")]
    spread = spread_words(steady)
    limits = f" ({format_percent(rule.range)}, {format_percent(rule.slope)})"
    for text in (f"  {spread}", limits) if spread else ():
        if len(text) > width - width_of(left):
            return left
        left.append((text, "quiet"))
    if (room := width - width_of(left)) >= _LEAST_REST:
        left.append((cut(f"  {clean(figure_words(run, rule))}", room), "quiet"))
    return left
