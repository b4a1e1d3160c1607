"""Columns of plain text, by what a terminal shows: wide characters take two cells, combining ones none."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from msgspec import Struct

from diskprof.model.cells import cut, pad, width_of
from diskprof.model.text import clean

GAP = "  "


def plain(text: str) -> str:
    """Foreign text on one line, harmless for a terminal (F39)."""
    return clean(text.replace("\n", " "))


def plain_column(cells: Sequence[str]) -> Sequence[str]:
    """`plain` of each; of many they are nearly always plain already, which is one look at all of them."""
    whole = "".join(cells)
    return cells if whole.isascii() and whole.isprintable() else [plain(cell) for cell in cells]


class Column(Struct, frozen=True):
    """A column of a table, `text` its head. `right` for figures; `least` is the width down to which it may be cut, None: never.

    Of several such columns those with the smallest `cut` give way first, the widest of them first. `middle`: what is cut is the
    middle. `spare`: where there is no room the column is left out, those with the largest number first; 0: never. `below`: in
    lines its cells stand below their row. `short`: its head in lines, in place of `text`. `wraps`: of the last column,
    whose cells take as many lines as they need.
    """

    text: str
    right: bool = False
    least: int | None = None
    cut: int = 0
    middle: bool = False
    spare: int = 0
    below: bool = False
    short: str | None = None
    wraps: bool = False


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
    for order in sorted({column.cut for column in columns}):
        excess = sum(found) - room
        giving = {
            index: column.least
            for index, column in enumerate(columns)
            if column.cut == order and column.least is not None and found[index] > column.least
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
        column = [cut(cell, size, middle=about.middle) for cell in column]
    if not _is_ascii(column):
        return [pad(cell, size, right=about.right) for cell in column]
    return [cell.rjust(size) for cell in column] if about.right else [cell.ljust(size) for cell in column]
