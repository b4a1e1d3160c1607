"""What limits a disk: its caps with the cells that show them, where one hands over to the other, and the tiers that match."""

from typing import TYPE_CHECKING

from diskprof.analysis.caps import Cap, Caps, Uncapped, run_caps
from diskprof.analysis.disk_standing import capacity_gib
from diskprof.model.run import Run
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_size
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.content.doubts import run_in_doubt, run_limits
from diskprof.reports.content.sweep_tables import panel_title
from diskprof.reports.figures import MISSING, count, number
from diskprof.reports.layout import Column
from diskprof.reports.words import STATUSES, Meaning

if TYPE_CHECKING:
    from diskprof.presets.tiers import Tier

_WHY = {
    Uncapped.RISING: "deeper queues still gain",
    Uncapped.PROCESSOR: "a CPU was the limit",
    Uncapped.UNCLEAR: "no level that two block sizes share",
}


def caps_blocks(run: Run) -> list[Block]:
    """A table of the caps, the evidence of each, and the tiers that match; nothing of a run that sweeps something else."""
    found = run_caps(run)
    if not found:
        return []
    columns = (
        Column("", least=10, middle=True),
        *(Column(head, right=True) for head in ("IOPS cap", "QD for it", "Bandwidth cap", "QD for it")),
        Column("Hands over", least=14),
    )
    rows = tuple(tuple(map(Cell, _row(caps))) for caps in found)
    return [Table(columns, rows), *(Paragraph(text, hanging=True) for text in cap_sentences(run))]


def caps_report(run: Run) -> list[Block]:
    """The answer alone, with the doubts about it and what held the tests back."""
    told = [run_in_doubt(run), run_limits(run)]
    more = [Paragraph(f"{text}.") for text in told if text]
    blocks = caps_blocks(run) or [Paragraph(f"Nothing was measured: {STATUSES[run.status].word}.")]
    whole = Paragraph(f"Every cell: diskprof show {run.id}", Meaning.QUIET)
    return [Heading(f"What limits {run.plan.target.path}", 1), *blocks, *more, whole]


def cap_sentences(run: Run) -> list[str]:
    """The evidence of each cap, and which tiers match."""
    told = []
    for caps in run_caps(run):
        name = caps_title(caps)
        told += [f"{name}: {text}" for text in (_iops(caps), _bandwidth(caps), _crossing(caps)) if text]
    matching = matching_tiers(run)
    if matching:
        names = dict.fromkeys(tier.title for _, tier in matching)
        told.append(
            f"Matches within 5%: {'; '.join(names)}. A tier is recognised by its caps alone: others may have the same."
        )
    elif any(caps.handover for caps in run_caps(run)):
        told.append("No documented tier has these caps (within 5%).")
    return told


def caps_title(caps: Caps) -> str:
    """`rand read`; of a sweep of other options as its panel is called."""
    ways = {job.rw for row in caps.panel.cells for test in row if test for job in test.planned.jobs}
    if len(ways) == 1:
        (way,) = ways
        return f"{'rand' if way.startswith('rand') else 'seq'} {way.removeprefix('rand')}"
    return panel_title(caps.panel)


def matching_tiers(run: Run) -> "list[tuple[Caps, Tier]]":
    """The tiers whose limits are those that were found, where both were."""
    capped = [(caps, caps.iops.value, caps.bandwidth.value) for caps in run_caps(run) if caps.iops and caps.bandwidth]
    if not capped:
        return []
    # The classes of disks take a tenth of `diskprof show` to load, and hardly a run has caps.
    from diskprof.presets.tiers import tiers

    gib = capacity_gib(run.environment)
    return [
        (caps, tier)
        for caps, iops, bandwidth in capped
        for tier in tiers()
        if tier.direction in _directions(caps) and tier.fits(iops, bandwidth, gib)
    ]


def _directions(caps: Caps) -> set[Direction]:
    """The only direction of a panel; none of a mix."""
    found = {
        way for row in caps.panel.cells for test in row if test and test.result for way, _ in test.result.directions
    }
    return found if len(found) == 1 else set()


def _row(caps: Caps) -> tuple[str, ...]:
    handover = caps.handover
    return (
        caps_title(caps),
        number(caps.iops.value) if caps.iops else "none seen",
        str(caps.iops.enough) if caps.iops else MISSING,
        format_bandwidth(caps.bandwidth.value) if caps.bandwidth else "none seen",
        str(caps.bandwidth.enough) if caps.bandwidth else MISSING,
        f"{format_size(handover[0])} to {format_size(handover[1])}" if handover else MISSING,
    )


def _iops(caps: Caps) -> str:
    if caps.iops is None:
        return f"no cap of IOPS: {_why(caps.why_iops)}. The most: {number(caps.most_iops)} IOPS."
    cap = caps.iops
    return f"{number(cap.value)} IOPS, {_evidence(cap)}, from {number(cap.low)} to {number(cap.high)}."


def _bandwidth(caps: Caps) -> str:
    if caps.bandwidth is None:
        most = format_bandwidth(caps.most_bandwidth)
        return f"no cap of bandwidth: {_why(caps.why_bandwidth)}. The most: {most}."
    cap = caps.bandwidth
    low, high = format_bandwidth(cap.low), format_bandwidth(cap.high)
    return f"{format_bandwidth(cap.value)}, {_evidence(cap)}, from {low} to {high}."


def _evidence(cap: Cap) -> str:
    """`in 9 cells of 4 KiB to 32 KiB, QD4 to QD64`."""
    sizes = " to ".join(dict.fromkeys(map(format_size, cap.sizes)))
    depths = " to ".join(dict.fromkeys(f"QD{depth}" for depth in cap.depths))
    return f"in {count(cap.cells, 'cell')} of {sizes}, {depths}"


def _crossing(caps: Caps) -> str:
    if caps.iops is None or caps.bandwidth is None or caps.crossing is None:
        return ""
    caps_words = f"{format_bandwidth(caps.bandwidth.value)} / {number(caps.iops.value)} IOPS"
    return f"the caps cross at {caps_words} = {format_size(round(caps.crossing))}."


def _why(why: Uncapped | None) -> str:
    return _WHY[why or Uncapped.UNCLEAR]
