"""Words in lines: broken at blanks, hanging under a sign, or handed to Textual's own widgets."""

from collections.abc import Sequence

from textual.content import Content

from diskprof.model.cells import wrap
from diskprof.tui.kit.painted import Line, Piece, width_of

_STYLES = {"": "", "strong": "bold", "title": "$primary bold", "key": "$footer-key-foreground bold"}


def paragraph(text: str, width: int, ink: str = "", *, first: Line = (("   ", ""),)) -> list[Line]:
    """`text` in lines that hang under `first`, the pieces in front of the first one."""
    indent = width_of(first)
    lines: list[Line] = []
    for part in wrap(text, max(8, width - indent - 1), split=True) if text.strip() else ():
        front: Line = first if not lines else ((" " * indent, ""),)
        lines.append([*front, (part, ink)])
    return lines


def signed(sign: Piece, text: str, width: int, ink: str = "") -> list[Line]:
    """A paragraph under a sign of one cell."""
    return paragraph(text, width, ink, first=((" ", ""), sign, (" ", "")))


def content_of(lines: Sequence[Line], *, indent: int = 0) -> Content:
    """Lines for a widget of Textual's own, without the first `indent` cells of each."""
    out = []
    for line in lines:
        pieces, skip = [], indent
        for text, ink in line:
            cut = min(skip, len(text))
            skip -= cut
            if text[cut:]:
                pieces.append((text[cut:], _STYLES.get(ink, f"${ink}")))
        out.append(Content.assemble(*pieces))
    return Content("\n").join(out)
