"""A document of the reports as lines of a screen."""

from diskprof.model.text import clean
from diskprof.reports.blocks import Block, Blocks, Facts, Note, Paragraph
from diskprof.reports.render import lines
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.shell.signs import ink


def screen_lines(blocks: Blocks, width: int) -> list[Line]:
    """Lines of at most `width` cells, each piece in the ink of its meaning; commands such that a shell takes them as they are."""
    found = lines.lines(blocks, width, wrap_code=True)
    return [[(text, ink(meaning)) for text, meaning in line] for line in found]


def pane_lines(blocks: Blocks, width: int) -> list[Line]:
    """As `screen_lines`, for a narrow pane: behind a blank, a note under its sign, names of facts no wider than they are."""
    found: list[Line] = []
    for block in blocks:
        found += [*([[]] if found else ()), *_in_pane(block, width)]
    return found


def _in_pane(block: Block, width: int) -> list[Line]:
    match block:
        case Paragraph():
            return paragraph(clean(block.text), width, ink(block.meaning), first=((" ", ""),))
        case Note():
            colour = ink(block.meaning)
            return [
                *signed((block.sign, colour), clean(block.text), width, colour),
                *paragraph(clean(block.advice), width),
            ]
        case Facts():
            column = max((len(clean(fact.name)) for fact in block.facts), default=0) + 2
            return [
                line
                for fact in block.facts
                for line in paragraph(
                    clean(fact.text),
                    width,
                    first=((" ", ""), (f"{clean(fact.name):<{column}}", ink(fact.meaning))),
                )
            ]
        case _:
            return screen_lines((block,), width)
