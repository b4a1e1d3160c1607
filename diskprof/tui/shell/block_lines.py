"""A document of the reports as lines of a screen."""

from collections.abc import Sequence
from itertools import pairwise

from diskprof.model.cells import width_of
from diskprof.model.text import clean
from diskprof.reports.blocks import Block, Blocks, Cell, Facts, Note, Paragraph, Table
from diskprof.reports.layout import GAP, fitted
from diskprof.reports.render import lines
from diskprof.reports.words import Meaning
from diskprof.tui.kit.painted import Line, Piece, titled
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.kit.table import Row, SheetColumn
from diskprof.tui.shell.run_signs import ink


def screen_lines(blocks: Blocks, width: int, *, ascii_only: bool = False) -> list[Line]:
    """Lines of at most `width` cells, each piece in the ink of its meaning; commands such that a shell takes them as they are."""
    found = lines.lines(blocks, width, ascii_only=ascii_only, wrap_code=True)
    return [
        titled([(line[0][0], ink(Meaning.TITLE))], (), width)
        if [meaning for _, meaning in line] == [Meaning.TITLE]
        else [(text, ink(meaning)) for text, meaning in line]
        for line in found
    ]


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


def piece_of(cell: Cell) -> Piece:
    """A cell in the ink of its meaning, behind its sign."""
    text = cell.text if cell.short is None else cell.short
    return f"{cell.sign} {text}" if cell.sign else text, ink(cell.meaning)


class Cells:
    """A table of the reports as what a Sheet shows: columns for a width, and rows of their cells."""

    def __init__(self, table: Table) -> None:
        self._columns, self._rows = lines.in_lines(table)
        whole = [row for row in self._rows if len(row) == len(self._columns)]
        self._widths = [
            max(width_of(column.text), *(width_of(row[at].text) for row in (whole if at else self._rows)), 0)
            for at, column in enumerate(self._columns)
        ]

    def columns(self, width: int) -> tuple[SheetColumn, ...]:
        """Those that fit, without the ones that can be spared most where they do not; a column's key is its number."""
        kept = [at for at, column in enumerate(self._columns) if not column.below]
        for spare in sorted({column.spare for column in self._columns if column.spare}, reverse=True):
            if sum(self._widths[at] + 1 for at in kept) - 1 <= width:
                break
            kept = [at for at in kept if self._columns[at].spare != spare]
        shown = [self._columns[at] for at in kept]
        widths = fitted(shown, [self._widths[at] for at in kept], width - len(kept) + 1)
        if sum(widths) + len(GAP) * (len(kept) - 1) <= width:
            # A second blank between columns: before a figure, behind a word.
            left = [not column.right for column in shown]
            gaps = (*(a and b for a, b in pairwise(left)), False)
            widths = [
                wide + (gap or (at > 0 and not left[at]))
                for at, (wide, gap) in enumerate(zip(widths, gaps, strict=True))
            ]
        return tuple(
            SheetColumn(str(at), column.text, wide, column.right, column.middle)
            for at, column, wide in zip(kept, shown, widths, strict=True)
        )

    def row(self, number: int, columns: Sequence[SheetColumn]) -> Row:
        """A row under these columns; one that is shorter than the table ends in words that run to the end of the line."""
        cells = self._rows[number]
        short = len(cells) < len(self._columns)
        shown = cells if short else [cells[int(column.key)] for column in columns]
        return Row(str(number), [piece_of(cell) for cell in shown], span=len(cells) - 1 if short else None)
