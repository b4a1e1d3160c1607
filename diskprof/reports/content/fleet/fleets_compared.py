"""Several fleet runs side by side: each host is compared with itself."""

from collections.abc import Sequence

from diskprof.analysis.comparison import Comparison
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Form, Heading, Paragraph
from diskprof.reports.content.comparison_report import comparison_report
from diskprof.reports.words import Meaning


def fleets_compared(
    members: Sequence[tuple[str, Comparison]], unpaired: Sequence[str], form: Form
) -> tuple[Block, ...]:
    """`members` as they are called, each with its comparison; `unpaired` are those that not all fleet runs have."""
    blocks: list[Block] = []
    for label, comparison in members:
        blocks.append(Heading(clean(label), 1))
        blocks += [each for each in comparison_report(comparison, form=form) if not _is_title(each)]
    if unpaired:
        names = figures.listed([clean(label) for label in unpaired])
        blocks.append(
            Paragraph(f"Not compared: {names}. A host needs a complete run in each fleet run.", Meaning.WARNING)
        )
    return tuple(blocks)


def _is_title(block: Block) -> bool:
    return isinstance(block, Heading) and block.level == 1
