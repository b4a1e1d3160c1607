"""Columns of plain text, by what a terminal shows: wide characters take two cells, combining ones none."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
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
class Column:
    """A column of a table, `text` its head. `right` for figures; `least` is the width down to which it may be cut, None: never.

    Of several such columns those with the smallest `cut` give way first, the widest of them first. `middle`: what is cut is the
    middle. `spare`: where there is no room the column is left out, those with the largest number first; 0: never. `below`: in
    lines its cells stand below their row. `short`: its head in lines, in place of `text`.
    """

    text: str
    right: bool = False
    least: int | None = None
    cut: int = 0
    middle: bool = False
    spare: int = 0
    below: bool = False
    short: str | None = None


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, *, indent: str = "", rule: bool = False
) -> list[str]:
    """Lines of a table. Columns that may be cut are, until the lines fit in `width`."""
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    return columns_table(columns, cells, width, indent=indent, rule=rule)


def columns_table(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int, *, indent: str = "", rule: bool = False
) -> list[str]:
    """As `table`, of the cells column by column."""
    filled, widths = filled_columns(columns, cells, width - len(indent))
    lines = [(indent + GAP.join(row)).rstrip() for row in zip(*filled, strict=True)]
    if rule:
        lines.insert(1, indent + ruled(widths))
    return lines


def ruled(widths: Sequence[int]) -> str:
    """The line below a table's head."""
    return GAP.join("-" * size for size in widths)


def filled_columns(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int
) -> tuple[list[Sequence[str]], list[int]]:
    """Each column with its head, cut and filled to its width, and these widths."""
    whole = [[column.text, *found] for column, found in zip(columns, cells, strict=True)]
    widths = fitted(columns, [_widest(column) for column in whole], width - len(GAP) * (len(columns) - 1))
    filled: list[Sequence[str]] = [_filled(*column) for column in zip(whole, widths, columns, strict=True)]
    return filled, widths


def fitted(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """Widths that take `room` together, where cutting can do that."""
    found = list(widths)
    for cut in sorted({column.cut for column in columns}):
        excess = sum(found) - room
        giving = {
            index: column.least
            for index, column in enumerate(columns)
            if column.cut == cut and column.least is not None and found[index] > column.least
        }
        if excess <= 0 or not giving:
            continue

        def taken(most: int, giving: Mapping[int, int] = giving) -> int:
            return sum(min(found[index], max(most, least)) for index, least in giving.items())

        sizes = range(max(found[index] for index in giving) + 1)
        most = max(0, bisect_right(sizes, taken(sizes[-1]) - excess, key=taken) - 1)
        for index, least in giving.items():
            found[index] = min(found[index], max(most, least))
    return found


# A list of runs has ten thousand rows, and nearly all text is ASCII: of a column that is, characters are cells.


def _is_ascii(column: Sequence[str]) -> bool:
    return "".join(column).isascii()


def _widest(column: Sequence[str]) -> int:
    return max(map(len if _is_ascii(column) else width_of, column))


def _filled(column: Sequence[str], size: int, about: Column) -> list[str]:
    """The cells of a column, all of them `size` wide."""
    if _widest(column) > size:
        column = [fit(cell, size, middle=about.middle) for cell in column]
    if not _is_ascii(column):
        return [pad(cell, size, right=about.right) for cell in column]
    return [cell.rjust(size) for cell in column] if about.right else [cell.ljust(size) for cell in column]


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
