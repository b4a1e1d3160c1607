"""What a gate says: kept, regressed or cannot tell, each figure before and now, and what to do next."""

from collections.abc import Sequence

from diskprof.analysis.conditions import differing_conditions
from diskprof.analysis.gate import GateFigure, GateOutcome, GateResult
from diskprof.model.run import Run
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Fact, Facts, Paragraph, Table
from diskprof.reports.content.doubts import run_in_doubt
from diskprof.reports.content.history.figure_names import figure_name
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, Meaning

NONE = "none"
OUTCOMES = {GateOutcome.KEPT: Meaning.GOOD, GateOutcome.REGRESSED: Meaning.BAD, GateOutcome.UNCLEAR: Meaning.WARNING}


def gate_report(result: GateResult, run: Run, before: Run) -> tuple[Block, ...]:
    """`run` is the last new run, `before` the newest of those that it is held against."""
    blocks: list[Block] = [Paragraph(sentence(result), OUTCOMES[result.outcome]), _table(result)]
    return (*blocks, _facts(result, run, before))


def sentence(result: GateResult) -> str:
    """`Regressed: 1 of 6 figures is worse by 5% or more.`"""
    allowed = f"{100 * result.allowed:g}%"
    of = figures.count(len(result.figures), "figure")
    match result.outcome:
        case GateOutcome.REGRESSED:
            bad = sum(figure.outcome is GateOutcome.REGRESSED for figure in result.figures)
            return f"Regressed: {bad} of {of} {'is' if bad == 1 else 'are'} worse by {allowed} or more."
        case GateOutcome.UNCLEAR:
            bad = sum(figure.outcome is GateOutcome.UNCLEAR for figure in result.figures)
            return (
                f"Cannot tell: {bad} of {of} {'was' if bad == 1 else 'were'} worse in the first run, "
                f"and {figures.count(len(result.after) - 1, 'run')} to confirm did not decide."
            )
        case GateOutcome.KEPT:
            return f"Kept: {of}, none worse by {allowed} or more."


def _table(result: GateResult) -> Table:
    columns = (
        Column("Test", least=10, middle=True),
        *(Column("Figure"), Column("Before", right=True), Column("Now", right=True), Column("Change", right=True)),
        *(Column("95% interval", right=True, spare=1), Column("Verdict")),
    )
    rows = [
        (
            Cell(figure.title),
            Cell(figure_name(figure.measure, figure.direction), DIRECTIONS[figure.direction].meaning),
            Cell(figures.figure(figure.measure, figure.held.median_before)),
            Cell(now_words(figure)),
            Cell(figures.relative(figure.held.ratio.change)),
            Cell(interval_words(figure)),
            Cell(str(figure.outcome), OUTCOMES[figure.outcome], strong=figure.outcome is GateOutcome.REGRESSED),
        )
        for figure in result.figures
    ]
    vain = any(0.0 in figure.held.after for figure in result.figures)
    return Table(columns, tuple(rows), legend=f"{NONE}: no load kept what is promised." if vain else "")


def now_words(figure: GateFigure) -> str:
    """The figure of the new runs; of searches of which most found no limit that there is none."""
    now = figure.held.median_now
    return figures.figure(figure.measure, now) if now else NONE


def interval_words(figure: GateFigure) -> str:
    """`-12.1% to -8.8%`; empty where nothing is known of it."""
    found = figure.held.ratio.change_interval
    return f"{figures.relative(found.low)} to {figures.relative(found.high)}" if found else ""


def _facts(result: GateResult, run: Run, before: Run) -> Facts:
    newest = before.started_at
    facts = [
        (
            "Before",
            f"{figures.count(len(result.before), 'like run')}, the newest {before.id} ({newest:%Y-%m-%d %H:%M} UTC)",
        ),
        ("Now", _runs(result.after)),
    ]
    noisy = [figure for figure in result.figures if figure.held.alarming > result.allowed]
    if noisy:
        facts.append(("Noise", "; ".join(map(_noise, noisy))))
    if doubts := run_in_doubt(run):
        facts.append(("In doubt", doubts.removeprefix("In doubt: ")))
    changed = [each.name for each in differing_conditions((before, run)) if each.name not in _OF_NO_MATTER]
    if changed:
        facts.append(("Changed since", f"{', '.join(changed)}: see `diskprof compare {before.id} {run.id}`"))
    if result.outcome is GateOutcome.UNCLEAR:
        facts.append(("Next", "Allow more runs (--confirm) or a larger difference (--by), or use a longer test."))
    return Facts(tuple(Fact(name, text) for name, text in facts))


def _noise(figure: GateFigure) -> str:
    """`4K rand read QD1 varies by 18% from run to run: it takes 23% to fail`."""
    held = figure.held
    return (
        f"{figure.title} varies by {100 * held.noise:.0f}% from run to run: it takes {100 * held.alarming:.0f}% to fail"
    )


_OF_NO_MATTER = frozenset({"target"})


def _runs(ids: Sequence[str]) -> str:
    if len(ids) == 1:
        return f"1 run: {ids[0]}"
    return f"{len(ids)} runs: {ids[0]}, which raised the question, and {', '.join(ids[1:])} to confirm"
