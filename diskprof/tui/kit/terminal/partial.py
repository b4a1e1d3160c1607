"""A part of a picture that is drawn anew, as pieces of rows.

Textual writes it as sequences, each piece with its whole style, and `thrift` would have to read them again.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.strip import Strip

if TYPE_CHECKING:
    from rich.color import ColorSystem
    from rich.style import Style
    from textual._compositor import ChopsUpdate

Piece = tuple[str, str]
"""A text and the codes of its style."""


def runs_of(update: "ChopsUpdate", colours: "ColorSystem") -> Iterator[tuple[int, int, list[Piece]]]:
    """Row and column, both from 1, and the pieces that stand there without a gap.

    A strip is given to its end, also where less of it was drawn anew: what stands there already is not sent.
    """
    for y, left, right in update.spans:
        begin = at = -1
        pieces: list[Piece] = []
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x >= right or end <= left:
                continue
            if pieces and x != at:
                yield y + 1, begin + 1, pieces
                pieces = []
            if not pieces:
                begin = x
            at = end
            pieces += [(text, _codes(style, colours) if style else "") for text, style, _ in strip]
        if pieces:
            yield y + 1, begin + 1, pieces


def _codes(style: "Style", colours: "ColorSystem") -> str:
    # Kept in the style by whoever asked first; no screen has links.
    known: str | None = style._ansi
    return Strip.render_ansi(style, colours) if known is None else known
