"""Several fleet runs side by side: each host is compared with itself."""

from diskprof.analysis.fleet.compared import FleetsCompared
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Form, Heading, Paragraph
from diskprof.reports.content.comparison_report import comparison_report
from diskprof.reports.words import Meaning


def fleets_report(compared: FleetsCompared, form: Form) -> tuple[Block, ...]:
    """A comparison for each host, and which are not compared."""
    blocks: list[Block] = []
    for each in compared.members:
        blocks.append(Heading(clean(each.label), 1))
        blocks += [block for block in comparison_report(each.comparison, form=form) if not _is_title(block)]
    if compared.unpaired:
        names = figures.listed([clean(label) for label in compared.unpaired])
        blocks.append(
            Paragraph(f"Not compared: {names}. A host needs a complete run in each fleet run.", Meaning.WARNING)
        )
    return tuple(blocks)


def _is_title(block: Block) -> bool:
    return isinstance(block, Heading) and block.level == 1
