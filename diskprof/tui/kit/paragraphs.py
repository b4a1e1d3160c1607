"""Words in lines: broken at blanks, hanging under a sign, or handed to Textual's own widgets."""

import re
from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from diskprof.tui.kit.painted import Line, Piece

_UNIT = re.compile(r"(\d) ([kKMGT]?i?B(?:/s)?|s|ms|us|ns|min|h)\b")
_STYLES = {"": "", "strong": "bold", "title": "$primary bold", "key": "$footer-key-foreground bold"}


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken at blanks, inside a word only where it is longer than a line."""
    lines, line = [], ""
    # A figure stays with its unit.
    for word in _UNIT.sub("\\1\xa0\\2", text).split(" "):
        while cell_len(word) > width:
            if line:
                lines.append(line)
                line = ""
            cut = next(at for at in range(len(word), 0, -1) if cell_len(word[:at]) <= width or at == 1)
            lines.append(word[:cut])
            word = word[cut:]
        if not word:
            continue
        if line and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [part.replace("\xa0", " ") for part in ([*lines, line] if line else lines)]


def paragraph(text: str, width: int, ink: str = "", *, first: Line = (("   ", ""),)) -> list[Line]:
    """`text` in lines that hang under `first`, the pieces in front of the first one."""
    indent = sum(cell_len(piece) for piece, _ in first)
    lines: list[Line] = []
    for part in wrap(text, max(8, width - indent - 1)):
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
