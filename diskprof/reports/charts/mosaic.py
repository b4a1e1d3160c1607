"""A grid of coloured cells for a page: an SVG element. What is across grows to the right, what is upward from below."""

from collections.abc import Hashable, Mapping, Sequence
from html import escape
from math import log
from typing import TypeVar

from msgspec import Struct

from diskprof.model.text import clean

LEVELS = 5
_WIDE, _HIGH, _LEFT, _TOP, _BOTTOM = 64, 26, 84, 26, 40
_OPACITIES = (0.12, 0.28, 0.44, 0.6, 0.78)

Key = TypeVar("Key", bound=Hashable)


class Tile(Struct, frozen=True):
    """A cell: its text, and its level from 1 to LEVELS, 0 for none. `inside` what the edge is drawn around."""

    text: str
    level: int = 0
    inside: bool = False


class Mosaic(Struct, frozen=True):
    """`rows` from below, of tiles from the left; `across` and `up` are the names of columns and rows, with what they are."""

    title: str
    across: Sequence[str]
    across_name: str
    up: Sequence[str]
    up_name: str
    rows: Sequence[Sequence[Tile]]


def levels_of(values: Mapping[Key, float]) -> dict[Key, int]:
    """1 to LEVELS by the logarithm of each value between the lowest and the highest; values are above zero."""
    known = {key: value for key, value in values.items() if value > 0}
    if not known:
        return dict.fromkeys(values, 1)
    low, high = min(known.values()), max(known.values())
    span = log(high / low)
    return {
        key: min(LEVELS, 1 + int(log(max(value, low) / low) / span * LEVELS)) if span else 1
        for key, value in values.items()
    }


def mosaic_svg(mosaic: Mosaic) -> str:
    """An `<svg>`; its colours are classes of the page's style."""
    columns, rows = len(mosaic.across), len(mosaic.rows)
    width, bottom = _LEFT + columns * _WIDE + 12, _TOP + rows * _HIGH
    parts = [
        f'<svg class="mosaic" viewBox="0 0 {width} {bottom + _BOTTOM}" role="img" aria-label="{_safe(mosaic.title)}">',
        f'<text x="{_LEFT}" y="15">{_safe(mosaic.title)}</text>',
        f'<text x="{_LEFT - 6}" y="15" class="end">{_safe(mosaic.up_name)}</text>',
    ]
    for y, tiles in enumerate(mosaic.rows):
        top = bottom - (y + 1) * _HIGH
        parts.append(f'<text x="{_LEFT - 6}" y="{top + 17}" class="end">{_safe(mosaic.up[y])}</text>')
        for x, tile in enumerate(tiles):
            left = _LEFT + x * _WIDE
            if tile.level:
                opacity = _OPACITIES[tile.level - 1]
                parts.append(
                    f'<rect class="cell" x="{left + 1}" y="{top + 1}" width="{_WIDE - 2}" height="{_HIGH - 2}"'
                    f' fill-opacity="{opacity}"/>'
                )
            if tile.text:
                parts.append(f'<text x="{left + _WIDE / 2:g}" y="{top + 17}" class="middle">{_safe(tile.text)}</text>')
    for x, name in enumerate(mosaic.across):
        parts.append(f'<text x="{_LEFT + (x + 0.5) * _WIDE:g}" y="{bottom + 16}" class="middle">{_safe(name)}</text>')
    parts.append(
        f'<text x="{_LEFT + columns * _WIDE / 2:g}" y="{bottom + 33}" class="middle">{_safe(mosaic.across_name)}</text>'
    )
    if edge := _edge(mosaic, bottom):
        parts.append(f'<path class="edge" d="{edge}"/>')
    return "\n".join([*parts, "</svg>"])


def _edge(mosaic: Mosaic, bottom: int) -> str:
    """Lines between a tile that is inside and a neighbour, to the right or above, that is not."""
    words = []
    for y, tiles in enumerate(mosaic.rows):
        for x, tile in enumerate(tiles):
            left, top = _LEFT + x * _WIDE, bottom - (y + 1) * _HIGH
            right = tiles[x + 1].inside if x + 1 < len(tiles) else False
            above = mosaic.rows[y + 1][x].inside if y + 1 < len(mosaic.rows) else False
            if tile.inside and not right:
                words.append(f"M{left + _WIDE} {top}V{top + _HIGH}")
            if tile.inside and not above:
                words.append(f"M{left} {top}H{left + _WIDE}")
    return "".join(words)


def _safe(text: str) -> str:
    return escape(clean(text))
