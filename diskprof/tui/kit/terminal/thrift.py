"""Shrinks Textual's output: sends only cells that change, and does not repeat a style.

On a line of 10 kB/s a key is answered within 0.3 s; with Textual's own output it takes 1.2 s (11 to 12 kB for another screen).
"""

import re
from functools import lru_cache
from itertools import groupby, repeat
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len

_TOKEN = re.compile(
    r"\x1b\[(?P<style>[0-9;]*)m|\x1b\[(?P<move>\d+;\d+)H|\x1b\[[0-9;?<>=$ ]*[@-ln-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[P_^][^\x1b]*\x1b\\|\x1b.?|(?P<newline>\r?\n)|(?P<text>[^\x1b\r\n]+)|\r"
)
_MOVE = re.compile(r"\x1b\[\d+;\d+H")
# Underlined, reversed, struck through; and nothing of all that, on the terminal's own ground.
_ON_BLANKS = frozenset({"4", "7", "9", "21"})
_GROUND = ("",)
# One cell each, and no accents: ASCII, Latin, arrows, mathematics, frames, blocks, triangles, Braille.
_SINGLE = re.compile(r"[ -~\u00a0-\u00ac\u00ae-\u02ff\u2500-\u259f\u25b2-\u25bf\u2800-\u28ff\u2010-\u2015\u2026]*")
_CLEARING = re.compile(r"\x1b\[(?:\?1049[hl]|\d*[JKLMPST@X])")


class _Style(NamedTuple):
    """`front` and `back` are the codes of a colour, empty for the terminal's own; `marks` those of bold, reverse and the like."""

    front: str = ""
    back: str = ""
    marks: tuple[str, ...] = ()

    @property
    def on_blanks(self) -> tuple[str, ...]:
        """What of it can be seen where nothing stands."""
        marks = tuple(mark for mark in self.marks if mark in _ON_BLANKS)
        return (self.back, self.front, *marks) if marks else (self.back,)

    def after(self, before: "_Style | None") -> str:
        """The sequence that makes this of what was."""
        if before is not None and before.marks == self.marks:
            codes = [self.front or "39"] if self.front != before.front else []
            codes += [self.back or "49"] if self.back != before.back else []
        else:
            codes = [code for code in ("0", *self.marks, self.front, self.back) if code]
        return f"\x1b[{';'.join(codes)}m"


@lru_cache(maxsize=1024)
def _style(codes: str) -> _Style:
    front = back = ""
    marks: list[str] = []
    parts = iter(codes.split(";"))
    for part in parts:
        if part in ("38", "48"):
            kind = next(parts, "")
            colour = ";".join([part, kind, *(next(parts, "") for _ in range(1 if kind == "5" else 3))])
            front, back = (colour, back) if part == "38" else (front, colour)
        elif part in ("", "0"):
            front, back, marks = "", "", []
        elif len(part) >= 2 and part[0] in "39" and part[-1] != "9":
            front = part
        elif part == "39":
            front = ""
        elif part == "49":
            back = ""
        elif len(part) >= 2 and part[:-1] in ("4", "10"):
            back = part
        else:
            marks.append(part)
    return _Style(front, back, tuple(marks))


# A cell: what stands there, empty for the right half of a wide sign, and how it looks.
_Cell = tuple[str, _Style]
_NEAR = 6
"""Cells. To write so many again takes no more bytes than to jump over them."""


class Thrift:
    """Rewrites what goes to one terminal, in the order in which it goes there. What is shown stays the same.

    With `only_changes(columns)` it keeps in mind what stands there, and sends cells that are other than before.
    """

    def __init__(self) -> None:
        self._columns = 0
        self._rows: dict[int, list[_Cell | None]] = {}
        self._style: _Style | None = None
        self._codes = ""

    def only_changes(self, columns: int) -> None:
        """From now on send changes alone, to a terminal that is `columns` wide and may show anything by now."""
        self._columns = columns
        self.forget()

    def forget(self) -> None:
        """The terminal was out of our hands: nothing is known of what stands there."""
        self._style = None
        self._rows.clear()

    def shorten(self, data: str) -> str:
        out: list[str] = []
        at = 0
        for move in _MOVE.finditer(data):
            self._span(data[at : move.start()], out)
            at = move.start()
        self._span(data[at:], out)
        return "".join(out)

    def _span(self, data: str, out: list[str]) -> None:
        """What stands between two moves of the cursor, the first of them included."""
        place: tuple[int, int] | None = None
        start, move = len(out), ""
        pieces: list[tuple[str, _Style]] = []
        for token in _TOKEN.finditer(data):
            kind = token.lastgroup
            if kind == "style":
                codes = token["style"]
                self._codes = "" if codes in ("", "0") else f"{self._codes};{codes}" if self._codes else codes
            elif kind == "text" and place and self._columns:
                pieces.append((token["text"], _style(self._codes)))
            elif kind == "text":
                self._put(token["text"], _style(self._codes), out)
                self._rows.clear()
            elif kind == "move":
                row, _, column = token["move"].partition(";")
                place, move = (int(row), int(column)), token[0]
            elif kind == "newline" and place and token.end() == len(data):
                # A move follows, or the end of the frame, which is one.
                continue
            else:
                if _CLEARING.match(token[0]):
                    self._rows.clear()
                out.append(token[0])
        if place and pieces:
            self._put_changes(*place, pieces, out)
        elif move:
            out.insert(start, move)

    def _put(self, text: str, wanted: _Style, out: list[str]) -> None:
        before = self._style
        if before != wanted and not (before and text.isspace() and before.on_blanks == wanted.on_blanks):
            out.append(wanted.after(before))
            self._style = wanted
        out.append(text)

    def _put_changes(self, row: int, column: int, pieces: list[tuple[str, _Style]], out: list[str]) -> None:
        cells: list[_Cell] = []
        for text, style in pieces:
            if _SINGLE.fullmatch(text):
                cells += zip(text, repeat(style))
                continue
            for char in text:
                width = 1 if char < "\u0300" else cell_len(char)
                if width == 0 and cells:
                    # An accent belongs to the sign before it, and may make it wide (U+FE0F).
                    before_it, look = cells[-1]
                    cells[-1] = (before_it + char, look)
                    if cell_len(before_it) == 1 and cell_len(before_it + char) == 2:
                        cells.append(("", look))
                cells += [(char, style), ("", style)][:width]
        start = column - 1
        end = start + len(cells)
        to_the_edge = end == self._columns
        known = self._rows.setdefault(row, [])
        if not known:
            known += [*repeat(None, start), *cells]
            out.append(f"\x1b[{row};{column}H")
            self._put_pieces(pieces, to_the_edge, out)
            return
        known += [None] * (end - len(known))
        before = known[start:end]
        if before == cells:
            return
        changed = [
            at for at, (old, new) in enumerate(zip(before, cells, strict=True)) if old != new and _differ(old, new)
        ]
        known[start:end] = cells
        while changed:
            first = end = changed[0]
            while changed and changed[0] <= end + _NEAR:
                end = changed.pop(0)
            while first and not cells[first][0]:
                first -= 1
            while end + 1 < len(cells) and not cells[end + 1][0]:
                end += 1
            out.append(f"\x1b[{row};{start + first + 1}H")
            groups = groupby(cells[first : end + 1], key=itemgetter(1))
            alike = [("".join(char for char, _ in group), style) for style, group in groups]
            self._put_pieces(alike, to_the_edge and end + 1 == len(cells), out)

    def _put_pieces(self, pieces: list[tuple[str, _Style]], to_the_edge: bool, out: list[str]) -> None:
        """Pieces one beside the other; blanks up to the edge are erased, on the terminal's own ground.

        Not every terminal erases to another ground.
        """
        erased = False
        while to_the_edge and pieces and pieces[-1][1].on_blanks == _GROUND:
            text, style = pieces.pop()
            left = text.rstrip(" ")
            erased = erased or left != text
            if left:
                pieces.append((left, style))
                break
        for text, style in pieces:
            self._put(text, style, out)
        if erased:
            if self._style is None or self._style.on_blanks != _GROUND:
                out.append("\x1b[m")
                self._style = _Style()
            out.append("\x1b[K")


def _differ(before: _Cell | None, after: _Cell) -> bool:
    """Whether two cells that are not equal look different."""
    return before is None or not before[0] == after[0] == " " or before[1].on_blanks != after[1].on_blanks
