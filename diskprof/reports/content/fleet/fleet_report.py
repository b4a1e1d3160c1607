"""A fleet run as a document: what stands out, the sums, each host or disk, what is lost together, the findings, the runs."""

from collections.abc import Sequence
from datetime import UTC, timedelta
from itertools import chain

from diskprof.analysis.fleet.result import FleetResult, labels
from diskprof.analysis.fleet.together import lost_together
from diskprof.analysis.headline import headline
from diskprof.model.fleet import FleetEngine, FleetRun, MemberState
from diskprof.model.run import FleetStage, Run, Status
from diskprof.model.text import clean
from diskprof.model.units import format_duration
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Fact, Facts, Heading, Paragraph, Table
from diskprof.reports.content.fleet.figure_tables import member_blocks, sum_blocks
from diskprof.reports.content.fleet.fleet_plan import fleet_repeats_words
from diskprof.reports.content.fleet.stands_out import all_odd_ones, finding_blocks, odd_words, standing_out_blocks
from diskprof.reports.content.fleet.together_report import together_blocks
from diskprof.reports.content.repeat_table import repeat_blocks
from diskprof.reports.layout import Column
from diskprof.reports.words import MEMBER_STATES, STATUSES, Meaning


def fleet_report(result: FleetResult) -> tuple[Block, ...]:
    """The report of a fleet run; of one in progress, of what is complete so far."""
    fleet = result.fleet
    return (
        Heading(f"{fleet.preset_title} ({fleet.preset}): {title_words(result)}", 1),
        *([Paragraph(fleet.reason, STATUSES[fleet.status].meaning)] if fleet.reason else ()),
        _facts(result),
        *fleet_sections(result),
        *(Heading("Runs"), _runs(result)),
    )


def fleet_sections(result: FleetResult) -> tuple[Block, ...]:
    """What it came to, for a screen that says above what it is."""
    noun, apart = result.noun, result.apart
    if not any(True for member in apart for _ in member.results):
        return (Paragraph("No complete test.", Meaning.QUIET),)
    odd = all_odd_ones(apart)
    sections: list[Block] = [*(Heading("What stands out"), *standing_out_blocks(apart, odd, noun))]
    if result.together:
        sections += [Heading(f"Sum of all {noun}s"), *sum_blocks(result.together, noun)]
    sections += [Heading(f"Each {noun}{' alone' if result.alone else ''}"), *member_blocks(apart, odd, noun)]
    if repeats := result.repeat_figures:
        sections += [Heading(f"Repeats of each {noun}"), *repeat_blocks(repeats, _arms(result), noun.capitalize())]
    if result.alone and result.together:
        sections += [Heading("Alone and together"), *together_blocks(lost_together(result.alone, result.together))]
    return (*sections, Heading("Findings"), *finding_blocks(result.everyone, noun))


def _arms(result: FleetResult) -> dict[int, str]:
    """What the arms of `FleetResult.repeat_figures` are called."""
    names = [[f"{label} {stage}" if result.alone else label for stage in FleetStage] for label in labels(result.fleet)]
    return dict(enumerate(chain.from_iterable(names)))


def fleet_preview(result: FleetResult) -> tuple[Block, ...]:
    """Why it ended, who stands out, and the figures of each."""
    fleet, apart = result.fleet, result.apart
    odd = all_odd_ones(apart)
    return (
        *([Paragraph(fleet.reason, STATUSES[fleet.status].meaning)] if fleet.reason else ()),
        *(Paragraph(odd_words(each), Meaning.WARNING, hanging=True) for each in odd),
        *(member_blocks(apart, odd, result.noun) if apart else ()),
    )


def title_words(result: FleetResult) -> str:
    """`4 hosts`, `6 disks`."""
    return figures.count(len(result.fleet.members), result.noun)


def skew_words(fleet: FleetRun) -> str:
    """`12 ms +-3 ms`: how far apart the members began to measure; empty where they did not begin at once."""
    if fleet.skew is None:
        return ""
    return f"{_milliseconds(fleet.skew)} +-{_milliseconds(fleet.skew_within)}"


def _milliseconds(span: timedelta) -> str:
    return f"{span / timedelta(milliseconds=1):.3g} ms"


def _facts(result: FleetResult) -> Facts:
    fleet, runs = result.fleet, result.runs
    complete = sum(run.status is Status.COMPLETE for run in runs)
    took = f", took {format_duration((fleet.ended_at - fleet.started_at).total_seconds())}" if fleet.ended_at else ""
    facts = [
        ("Fleet run", f"{fleet.id}, {STATUSES[fleet.status].word}"),
        (f"{result.noun.capitalize()}s", ", ".join(clean(label) for label in labels(fleet))),
        ("Order", _order_words(result)),
        ("Repeats", fleet_repeats_words(fleet.wanted) if fleet.is_repeated else ""),
        ("Pause", format_duration(fleet.wanted.pause_s) if fleet.wanted.pause_s else ""),
        ("Engine", "fio's client and servers" if fleet.engine is FleetEngine.FIO_SERVER else ""),
        ("Complete", f"{complete} of {figures.count(len(runs), 'run')}" if complete < len(runs) else ""),
        ("Started", f"{fleet.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC{took}"),
        ("Skew", f"{skew_words(fleet)}{' (last repeat)' if fleet.is_repeated and fleet.skew else ''}"),
        ("Tags", clean(" ".join(tag for tag in runs[-1].tags if all(tag in run.tags for run in runs))) if runs else ""),
        ("Note", clean(runs[-1].note) if runs else ""),
    ]
    told = [Fact(name, text) for name, text in facts if text]
    return Facts((*told, *_absent(fleet)))


def _order_words(result: FleetResult) -> str:
    if result.alone:
        return f"each {result.noun} alone, then all together"
    at_once = result.fleet.at_once
    if at_once is None:
        return "all at once"
    return "one by one" if at_once == 1 else f"{at_once} at once"


def _absent(fleet: FleetRun) -> list[Fact]:
    """A line for each member that is not there as it should be."""
    return [
        Fact(clean(label), ": ".join(filter(None, (word.word, clean(status.reason)))), word.meaning)
        for label, status in zip(labels(fleet), fleet.statuses, strict=True)
        if status.state in (MemberState.LOST, MemberState.LEFT_OUT)
        for word in [MEMBER_STATES[status.state]]
    ]


def _runs(result: FleetResult) -> Table:
    stages, repeats = bool(result.alone), result.fleet.is_repeated
    columns = (
        *(Column("Run"), Column(result.noun.capitalize(), least=8, middle=True)),
        *((Column("Repeat", right=True),) if repeats else ()),
        *((Column("Stage"),) if stages else ()),
        *(Column("Target", least=10, middle=True, spare=1), Column("UTC"), Column("Result", least=20)),
    )
    names = labels(result.fleet)
    rows = tuple(_run(run, names, stages=stages, repeats=repeats) for run in result.runs)
    return Table(columns, rows, inset=True)


def _run(run: Run, names: Sequence[str], *, stages: bool, repeats: bool) -> tuple[Cell, ...]:
    word = STATUSES[run.status]
    said = ": ".join(filter(None, ("" if run.status is Status.COMPLETE else word.word, headline(run))))
    place = run.fleet
    known = place is not None and place.member < len(names)
    return (
        *(Cell(run.id), Cell(clean(names[place.member]) if place and known else "")),
        *([Cell(str(place.repeat) if place else "")] if repeats else ()),
        *([Cell(str(place.stage) if place else "")] if stages else ()),
        Cell(clean(run.plan.target.path)),
        Cell(f"{run.started_at.astimezone(UTC):%m-%d %H:%M:%S}"),
        Cell(clean(said), Meaning.PLAIN if run.status is Status.COMPLETE else word.meaning),
    )
