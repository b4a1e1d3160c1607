"""Pictures out of characters: braille (2x4 dots a cell), blocks (8 steps a cell) or plain ASCII (2 steps).

Every picture starts at zero. A track's values are shares of the height, 0 to 1, one for each column of the picture.
"""

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import groupby

from msgspec import Struct

from diskprof.model.text import says_utf8, started_with
from diskprof.tui.kit.painted import Line, Piece


class Charset(StrEnum):
    BRAILLE = "braille"
    BLOCKS = "blocks"
    ASCII = "ascii"

    @property
    def columns(self) -> int:
        """Columns of a picture in one cell."""
        return 2 if self is Charset.BRAILLE else 1


# Consoles and emulations whose fonts have neither braille nor eighths of a block.
_PLAIN_TERMINALS = ("linux", "vt100", "vt102", "vt220", "ansi", "cons25")


def charset_for(environment: Mapping[str, str], encoding: str | None, wanted: str = "") -> Charset:
    """The best that a terminal can be trusted to show. DISKPROF_CHARTS, or else `wanted`, may name one that it can encode."""
    wanted = environment.get("DISKPROF_CHARTS", "").lower() or wanted
    utf8 = says_utf8(environment, encoding)
    if wanted in tuple(Charset):
        return Charset(wanted) if utf8 else Charset.ASCII
    return Charset.BRAILLE if utf8 and environment.get("TERM", "") not in _PLAIN_TERMINALS else Charset.ASCII


def this_charset(wanted: str = "") -> Charset:
    """That of the terminal which this process draws on; `wanted` is what the configuration says."""
    import sys

    return charset_for(started_with(os.environ), getattr(sys.__stderr__, "encoding", None), wanted)


_DIMMED = ("read", "write")


class GlyphTrack(Struct, frozen=True):
    """One line in a picture: an area down to zero, bright at its edge and dim below, or a line.

    `sign` is the letter of a line where lines are letters: those that differ in colour alone would be told apart by some only.
    """

    values: Sequence[float | None]
    ink: str
    area: bool = True
    sign: str = ""

    @property
    def fill(self) -> str:
        return f"{self.ink}-dim" if self.ink in _DIMMED else self.ink


_LEFT = (0x40, 0x04, 0x02, 0x01)
_RIGHT = (0x80, 0x20, 0x10, 0x08)
_BLOCKS = " ▁▂▃▄▅▆▇█"


def _fills(dots: tuple[int, ...]) -> list[list[int]]:
    """[low][high]: the dots from row `low` to row `high` of a cell, counted from below."""
    return [[sum(dots[low : high + 1]) for high in range(4)] for low in range(4)]


_LEFT_FILLS, _RIGHT_FILLS = _fills(_LEFT), _fills(_RIGHT)
_FULL = 0xFF


def draw(tracks: Sequence[GlyphTrack], width: int, height: int, charset: Charset) -> list[Line]:
    """`height` lines of `width` cells, the uppermost first."""
    if width <= 0 or height <= 0:
        return []
    if charset is Charset.BRAILLE:
        return _draw_braille(tracks, width, height)
    if charset is Charset.ASCII and not any(track.area for track in tracks):
        return _draw_letters(tracks, width, height)
    return _draw_steps(tracks, width, height, charset)


def _runs(track: GlyphTrack, columns: int, top: int) -> list[tuple[int, int] | None]:
    """Lowest and highest dot of each column; a line is joined to its neighbour so that it has no holes."""
    runs: list[tuple[int, int] | None] = []
    before: int | None = None
    for value in track.values[:columns]:
        if value is None or (track.area and value <= 0):
            runs.append(None)
            before = None
            continue
        dot = min(top - 1, max(0, round(value * top) - 1))
        if track.area:
            runs.append((0, dot))
        elif before is None or before == dot:
            runs.append((dot, dot))
        else:
            runs.append((before + 1, dot) if before < dot else (dot, before - 1))
        before = dot
    return runs


_Run = tuple[int, int] | None
_Look = tuple[str, bool, str]


def _draw_braille(tracks: Sequence[GlyphTrack], width: int, height: int) -> list[Line]:
    looks = tuple((track.ink, track.area, track.fill) for track in tracks)
    runs = [_runs(track, 2 * width, 4 * height) for track in tracks]
    for each in runs:
        each += [None] * (2 * width - len(each))
    # Of two pictures one after the other most columns are the same.
    columns = [
        _braille_column(tuple([(each[at], each[at + 1]) for each in runs]), looks, height)
        for at in range(0, 2 * width, 2)
    ]
    cells = [list(row) for row in zip(*(column[0] for column in columns), strict=True)]
    inks = [list(row) for row in zip(*(column[1] for column in columns), strict=True)]
    return [_joined(cells[row], inks[row]) for row in range(height - 1, -1, -1)]


@lru_cache(maxsize=4096)
def _braille_column(
    runs: tuple[tuple[_Run, _Run], ...], looks: tuple[_Look, ...], height: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The signs and the inks of one column of cells from below: what each track has in its left and right dots."""
    masks, inks = [0] * height, [""] * height
    for pair, (ink, area, fill) in zip(runs, looks, strict=True):
        for run, fills in zip(pair, (_LEFT_FILLS, _RIGHT_FILLS), strict=True):
            if run is None:
                continue
            low, high = run
            top = high >> 2
            for row in range(low >> 2, top + 1):
                base = row << 2
                masks[row] |= fills[low - base if low > base else 0][high - base if high < base + 3 else 3]
                if row == top or not area:
                    inks[row] = ink
                elif inks[row] != ink:
                    inks[row] = fill
    return tuple(chr(0x2800 + mask) if mask else " " for mask in masks), tuple(inks)


def _draw_steps(tracks: Sequence[GlyphTrack], width: int, height: int, charset: Charset) -> list[Line]:
    """Areas, the lower in front of the higher; of two only the upper edge of the front one is drawn where both end."""
    steps, glyphs = (8, _BLOCKS) if charset is Charset.BLOCKS else (2, " .#")
    rows = [[" "] * width for _ in range(height)]
    inks = [[""] * width for _ in range(height)]
    for column in range(width):
        levels = [
            (min(steps * height, max(1, round(value * steps * height))), track.ink, track.fill)
            for track in tracks
            if column < len(track.values) and (value := track.values[column]) is not None and value > 0
        ]
        if not levels:
            continue
        levels.sort(key=lambda level: level[0])
        (front, front_edge, front_fill), (back, back_edge, back_fill) = levels[0], levels[-1]
        for row in range((back + steps - 1) // steps):
            near = min(steps, max(0, front - row * steps))
            far = min(steps, max(0, back - row * steps))
            front_ink = front_edge if front <= (row + 1) * steps else front_fill
            back_ink = back_edge if back <= (row + 1) * steps else back_fill
            if near == steps or len(levels) == 1:
                rows[row][column], inks[row][column] = glyphs[near], front_ink
            elif near == 0:
                rows[row][column], inks[row][column] = glyphs[far], back_ink
            elif charset is Charset.BLOCKS and far == steps:
                rows[row][column], inks[row][column] = glyphs[near], f"{front_ink}/{back_ink}"
            else:
                rows[row][column], inks[row][column] = glyphs[near], front_ink
    return [_joined(rows[row], inks[row]) for row in range(height - 1, -1, -1)]


def _draw_letters(tracks: Sequence[GlyphTrack], width: int, height: int) -> list[Line]:
    """ASCII lines: a letter at each value."""
    cells = [[" "] * width for _ in range(height)]
    inks = [[""] * width for _ in range(height)]
    for track in tracks:
        for column, value in enumerate(track.values[:width]):
            if value is not None:
                row = min(height - 1, int(value * height))
                cells[row][column], inks[row][column] = track.sign or "*", track.ink
    return [_joined(cells[row], inks[row]) for row in range(height - 1, -1, -1)]


def _joined(cells: Sequence[str], inks: Sequence[str]) -> Line:
    """Cells of one ink in one piece; blanks go with what is before them."""
    if len(alike := set(inks)) == 1:
        return [("".join(cells), alike.pop())]
    line: list[Piece] = []
    text = "".join(cells)
    start, at, ink = 0, 0, ""
    for cell_ink, same in groupby(inks):
        # Blanks after an ink with a background must not take that on.
        if cell_ink != ink and (cell_ink or "/" in ink):
            if at > start:
                line.append((text[start:at], ink))
            start, ink = at, cell_ink
        at += len(list(same))
    line.append((text[start:], ink))
    return line


def progress_bar(fraction: float, width: int, charset: Charset, *, ink: str = "accent") -> Line:
    """A thin bar of `width` cells, filled from the left in half cells."""
    share = min(1.0, max(0.0, fraction)) * width
    full = int(share)
    if charset is Charset.ASCII:
        return [("=" * full, ink), ("-" * (width - full), "rule")]
    half = "╸" if share - full >= 0.5 and full < width else ""
    return [("━" * full + half, ink), ("─" * (width - full - len(half)), "rule")]
