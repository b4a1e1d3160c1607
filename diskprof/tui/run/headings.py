"""Titles of columns in the upper edge of a pane, where they take no line."""

from collections.abc import Sequence

from textual.content import Content

from diskprof.model.cells import width_of

_BEGIN = 2
"""The cell of a pane's lines above which Textual begins a title."""


def edge_title(columns: Sequence[tuple[int, str]], width: int, *, plain: bool) -> str:
    """The border title for `columns`: the cell that each begins at, from the left on, and its words.

    A title without room between its neighbours, or beyond `width` cells, is left out.
    """
    rule = "-" if plain else "─"
    shown = ""
    for at, words in columns:
        here = _BEGIN + width_of(shown)
        if shown and (at <= here or at + width_of(words) > width - 1):
            continue
        between = f" {rule * (at - here - 2)} " if at > here + 1 else " "
        shown += f"{between}{words}" if shown else words
    return Content(shown).markup
