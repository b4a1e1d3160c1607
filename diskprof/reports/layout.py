"""Columns of plain text, by what a terminal shows: wide characters take two cells, combining ones none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.model.plainness import cells_of
from diskprof.model.text import clean

GAP = "  "
_GLUE = "\0"
_FIGURE = re.compile(
    r"(?<=\d) (?=(?:ns|us|ms|s|min|h|kB/s|MB/s|GB/s|MiB/s|B|KiB|MiB|GiB|TiB|IOPS|pp)\b)|(?<=\d[kM]) (?=IOPS\b)"
)


def width_of(text: str) -> int:
    """How many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    return sum(cells_of(char) for char in text)


def fit(text: str, width: int, *, middle: bool = False) -> str:
    """`text` in at most `width` cells; what does not fit is left out at the end or in the middle, marked by `..`."""
    if width_of(text) <= width:
        return text
    mark = ".." if width > 4 else ""
    room = width - len(mark)
    head_room = (room + 1) // 2 if middle else room
    head = _take(text, head_room)
    tail = _take(text[::-1], room - width_of(head))[::-1] if middle else ""
    return head + mark + tail


def _take(text: str, width: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += cells_of(char)
        if taken > width:
            return text[:index]
    return text


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled with blanks to `width` cells, at its left where `right`."""
    blanks = " " * max(0, width - width_of(text))
    return blanks + text if right else text + blanks


def plain(text: str) -> str:
    """Foreign text on one line, harmless for a terminal (F39)."""
    return clean(text.replace("\n", " "))


def plain_column(cells: Sequence[str]) -> Sequence[str]:
    """`plain` of each; of many they are nearly always plain already, which is one look at all of them."""
    whole = "".join(cells)
    return cells if whole.isascii() and whole.isprintable() else [plain(cell) for cell in cells]


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's head. `right` for figures; `least` is the width down to which it may be cut, None: never.

    Of several such columns the one with the smallest `cut` gives way first. `middle`: what is cut is the middle.
    """

    text: str
    right: bool = False
    least: int | None = None
    cut: int = 0
    middle: bool = False


def table(
    headings: Sequence[Heading], rows: Sequence[Sequence[str]], width: int, *, indent: str = "", rule: bool = False
) -> list[str]:
    """Lines of a table. Columns that may be cut are, until the lines fit in `width`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    return columns_table(headings, columns, width, indent=indent, rule=rule)


def columns_table(
    headings: Sequence[Heading], columns: Sequence[Sequence[str]], width: int, *, indent: str = "", rule: bool = False
) -> list[str]:
    """As `table`, of its columns."""
    columns = [[heading.text, *column] for heading, column in zip(headings, columns, strict=True)]
    widths = [_widest(column) for column in columns]
    excess = len(indent) + sum(widths) + len(GAP) * (len(widths) - 1) - width
    for index in sorted(range(len(headings)), key=lambda index: headings[index].cut):
        least = headings[index].least
        if excess > 0 and least is not None and widths[index] > least:
            cut = min(excess, widths[index] - least)
            widths[index] -= cut
            excess -= cut
    filled = [_filled(*column) for column in zip(columns, widths, headings, strict=True)]
    lines = [(indent + GAP.join(cells)).rstrip() for cells in zip(*filled, strict=True)]
    if rule:
        lines.insert(1, indent + GAP.join("-" * size for size in widths))
    return lines


# A list of runs has ten thousand rows, and nearly all text is ASCII: of a column that is, characters are cells.


def _is_ascii(column: Sequence[str]) -> bool:
    return "".join(column).isascii()


def _widest(column: Sequence[str]) -> int:
    return max(map(len if _is_ascii(column) else width_of, column))


def _filled(column: Sequence[str], size: int, heading: Heading) -> list[str]:
    """The cells of a column, all of them `size` wide."""
    if _widest(column) > size:
        column = [fit(cell, size, middle=heading.middle) for cell in column]
    if not _is_ascii(column):
        return [pad(cell, size, right=heading.right) for cell in column]
    return [cell.rjust(size) for cell in column] if heading.right else [cell.ljust(size) for cell in column]


def wrap(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Words of `text` on lines of at most `width` cells, behind `first` and then `rest`; a longer word stands alone.

    A figure and its unit stay together.
    """
    following = " " * width_of(first) if rest is None else rest
    lines, current, prefix = list[str](), "", first
    for word in (glued.replace(_GLUE, " ") for glued in _FIGURE.sub(_GLUE, text.replace(_GLUE, "")).split()):
        if current and width_of(prefix) + width_of(current) + 1 + width_of(word) > width:
            lines.append(prefix + current)
            current, prefix = word, following
        else:
            current = f"{current} {word}" if current else word
    if current or not lines:
        lines.append((prefix + current).rstrip())
    return lines
