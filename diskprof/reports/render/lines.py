"""Blocks as lines for a terminal or a screen: pieces of text, each with what it means; and, without the meanings, as plain text.

All text is made harmless here (F39). Only words that do not fit by themselves and commands make a line wider than it may be.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from diskprof.model.cells import cut, pad, width_of, wrap
from diskprof.reports.blocks import (
    Block,
    Blocks,
    Cell,
    Chart,
    Code,
    Course,
    Facts,
    Heading,
    Note,
    Paragraph,
    Picture,
    Spark,
    Table,
)
from diskprof.reports.charts.timeline import even
from diskprof.reports.layout import GAP, Column, filled_columns, plain, ruled
from diskprof.reports.words import Meaning

MarkedLine = list[tuple[str, Meaning]]
"""A line: pieces of text, each with what it means."""

_WIDEST_LABEL, _TIME = 24, 8
_HEAD = 20
"""No head of a column that is one of a group is wider."""
_SPARK, _LEAST_SPARK, _BESIDE_SPARK = 24, 8, 52
_BLOCKS, _ASCII_BLOCKS = "▁▂▃▄▅▆▇█", "_.-:=+*#"


def text(blocks: Blocks, width: int, *, ascii_only: bool = False) -> str:
    """Plain text in lines of at most `width` cells. `ascii_only` is for what diskprof draws; foreign words stay as they are."""
    found = lines(blocks, width, ascii_only=ascii_only)
    return "".join("".join(words for words, _ in line).rstrip() + "\n" for line in found)


def lines(blocks: Blocks, width: int, *, ascii_only: bool = False, wrap_code: bool = False) -> list[MarkedLine]:
    """A line a list of pieces. `wrap_code`: commands on several lines, such that a shell takes them as they are."""
    found: list[MarkedLine] = []
    before: Block | None = None
    for block in blocks:
        match block:
            case Heading():
                body = [[(line, Meaning.TITLE)] for line in wrap(plain(block.text), width)]
            case Paragraph():
                rest = "  " if block.hanging else ""
                body = [[(line, block.meaning)] for line in wrap(plain(block.text), width, "", rest)]
            case Table():
                body = _table(block, width, ascii_only=ascii_only)
            case Facts():
                body = _facts(block, width)
            case Note():
                body = _note(block, width)
            case Code():
                body = _code(block, width if wrap_code else 0)
            case Spark():
                body = _spark(block, width, ascii_only=ascii_only)
            case Chart() | Picture():
                continue
        if before and not isinstance(before, Heading) and not _go_together(before, block):
            found.append([])
        found += body
        before = block
    return found


def _go_together(one: Block, other: Block) -> bool:
    if isinstance(other, Table) and other.inset:
        return isinstance(one, Note)
    return type(one) is type(other) and isinstance(one, Note | Paragraph)


def _marked(
    lines: Sequence[str], indent: int, mark: str, meaning: Meaning, rest: Meaning = Meaning.PLAIN
) -> list[MarkedLine]:
    """Lines of which the first has a mark behind its indent."""
    first, end = lines[0], indent + len(mark)
    found: list[MarkedLine] = [[(first[:end], meaning), (first[end:], rest)]] if mark else [[(first, rest)]]
    return found + [[(line, rest)] for line in lines[1:]]


def _facts(block: Facts, width: int) -> list[MarkedLine]:
    found: list[MarkedLine] = []
    names = [cut(plain(fact.name), _WIDEST_LABEL, middle=True) for fact in block.facts]
    label = max(map(width_of, names), default=0) + len(GAP)
    for name, fact in zip(names, block.facts, strict=True):
        first = f"{GAP}{pad(name, _TIME, right=True)}{GAP}" if block.inset else pad(name, label)
        found += _marked(wrap(plain(fact.text), width, first), 0, first, fact.meaning)
    return found


def _note(note: Note, width: int) -> list[MarkedLine]:
    word = f"{plain(note.word)}:" if note.word else ""
    told = " ".join(part for part in (word, f"{plain(note.where)}:" if note.where else "", plain(note.text)) if part)
    found = _marked(wrap(told, width, "  ", "    "), 2, word, note.meaning)
    for what, first in ((note.evidence, "    "), (note.advice, "    -> ")):
        if what:
            found += [[(line, Meaning.PLAIN)] for line in wrap(plain(what), width, first)]
    return found


def _code(code: Code, width: int) -> list[MarkedLine]:
    found: list[MarkedLine] = []
    indent = "" if width else "  "
    for words in code.lines:
        meaning = Meaning.QUIET if words[0].startswith("#") else Meaning.PLAIN
        current = f"{indent}{plain(words[0])}"
        for word in map(plain, words[1:]):
            if width and width_of(current) + width_of(word) + 3 > width:
                found.append([(f"{current} \\", meaning)])
                current = f"{indent}  {word}"
            else:
                current = f"{current} {word}"
        found.append([(current, meaning)])
    return found


def _spark(spark: Spark, width: int, *, ascii_only: bool) -> list[MarkedLine]:
    room = max(_LEAST_SPARK, min(_SPARK, width - _BESIDE_SPARK))
    columns = [Column("Test", least=18, middle=True), Column(spark.title, least=room)]
    loaded = any(course.cpu for course in spark.courses)
    heads = ("lowest", "median", "highest", *(("CPU",) if loaded else ()))
    columns += [Column(head, right=True) for head in heads]
    rows = [
        [
            *(plain(course.name), drawn(course, room, ascii_only=ascii_only)),
            *(course.lowest, course.median, course.highest, *((course.cpu,) if loaded else ())),
        ]
        for course in spark.courses
    ]
    return [line for lines in _grid(columns, [[Cell(cell) for cell in row] for row in rows], width) for line in lines]


def drawn(course: Course, room: int, *, ascii_only: bool) -> str:
    """A course in at most so many characters."""
    return sparkline(even(course.values, course.seconds, room), ascii_only=ascii_only)


def _table(table: Table, width: int, *, ascii_only: bool) -> list[MarkedLine]:
    columns, rows = in_lines(table, ascii_only=ascii_only)
    kept = [at for at, column in enumerate(columns) if not column.below]
    indent = "  " if table.inset else ""
    if columns[-1].wraps:
        rows = _wrapped(columns, rows, width - len(indent))

    def laid(shown: Sequence[int]) -> list[list[MarkedLine]]:
        heads, cells = [columns[at] for at in shown], [[row[at] for at in shown] for row in rows]
        return _grid(heads, cells, width, indent=indent, rule=not table.inset)

    body = laid(kept)
    for spare in sorted({columns[at].spare for at in kept if columns[at].spare}, reverse=True):
        if _width(body) <= width:
            break
        kept = [at for at in kept if columns[at].spare != spare]
        body = laid(kept)
    if table.narrow and _width(body) > width:
        return _table(table.narrow, width, ascii_only=ascii_only)
    if table.lead and _width(body) > width:
        body = [lines for group in _groups(table, columns, rows, kept, width - len(indent)) for lines in laid(group)]
    if _width(body) > width:
        told = [at for at, column in enumerate(columns) if not column.below]
        body = _sentences([columns[at] for at in told], [[row[at] for at in told] for row in rows], width)
    if any(column.below for column in columns):
        body = _with_remarks(columns, rows, body, width)
    found: list[MarkedLine] = [
        [(line, Meaning.STRONG)] for line in wrap(plain(table.title), width, "", "  ") if table.title
    ]
    found += [line for lines in body for line in lines]
    return found + [[(line, Meaning.QUIET)] for line in wrap(plain(table.legend), width) if table.legend]


def in_lines(table: Table, *, ascii_only: bool = False) -> tuple[list[Column], list[list[Cell]]]:
    """Heads and cells as lines have them: short and harmless."""

    def words(one: str) -> str:
        # For the head of a temperature.
        return plain(one).replace("°", "deg ") if ascii_only else plain(one)

    columns = []
    for at, column in enumerate(table.columns):
        head = words(column.text if column.short is None else column.short)
        head = cut(head, _HEAD, middle=True) if table.lead and at >= table.lead - 1 else head
        columns.append(replace(column, text=head, short=None))
    rows = [
        [Cell(words(cell.text if cell.short is None else cell.short), cell.meaning, sign=cell.sign) for cell in row]
        for row in table.rows
    ]
    return columns, rows


def _wrapped(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], room: int) -> list[list[Cell]]:
    """Rows in which the last cell has what the others leave of `room`, the rest of its words in rows below."""
    widest = [max(map(width_of, (column.text, *(row[at].text for row in rows)))) for at, column in enumerate(columns)]
    taken = sum(
        (size if column.least is None else min(size, column.least)) + len(GAP)
        for size, column in zip(widest[:-1], columns, strict=False)
    )
    found: list[list[Cell]] = []
    for *cells, last in rows:
        first, *more = wrap(last.text, max(_HEAD, room - taken))
        found.append([*cells, Cell(first, last.meaning)])
        found += [[*(Cell("") for _ in cells), Cell(part, last.meaning)] for part in more]
    return found


def _width(body: Sequence[Sequence[MarkedLine]]) -> int:
    return max(sum(width_of(words) for words, _ in line) for lines in body for line in lines)


def _grid(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, *, indent: str = "", rule: bool = True
) -> list[list[MarkedLine]]:
    """The lines of the head, then those of each row, without blanks at their ends."""
    cells = [[row[at].text for row in rows] for at in range(len(columns))]
    filled, widths = filled_columns(columns, cells, width - len(indent))
    head, *body = zip(*filled, strict=True)
    top: list[MarkedLine] = [[((indent + GAP.join(head)).rstrip(), Meaning.QUIET)]]
    found = [[*top, [(indent + ruled(widths), Meaning.QUIET)]] if rule else top]
    for texts, row in zip(body, rows, strict=True):
        line = [(words + GAP, cell.meaning) for words, cell in zip(texts, row, strict=True)]
        while line and not line[-1][0].strip():
            line.pop()
        ends: MarkedLine = [(line[-1][0].rstrip(), line[-1][1])] if line else []
        found.append([[*([(indent, Meaning.PLAIN)] if indent else []), *line[:-1], *ends]])
    return found


def _groups(
    table: Table, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], kept: Sequence[int], room: int
) -> list[list[int]]:
    """Those of the columns `kept` that fit side by side, those that lead in each group."""
    natural = [max(width_of(columns[at].text), *(width_of(row[at].text) for row in rows)) for at in range(len(columns))]
    widths = [
        size if column.least is None else min(size, column.least) for size, column in zip(natural, columns, strict=True)
    ]
    leading = list(range(table.lead))
    groups, taken = [leading[:]], 0
    for start in range(table.lead, len(columns), table.together):
        added = [at for at in range(start, min(start + table.together, len(columns))) if at in kept]
        size = sum(widths[at] + len(GAP) for at in added)
        first = sum(widths[at] for at in leading) + len(GAP) * (len(leading) - 1)
        if first + taken + size > room and len(groups[-1]) > len(leading):
            groups.append(leading[:])
            taken = 0
        groups[-1] += added
        taken += size
    return groups


def _sentences(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> list[list[MarkedLine]]:
    """No head, and each row in words: what it is about, then each cell behind the name of its column."""
    found: list[list[MarkedLine]] = [[]]
    for row in rows:
        pairs = zip(columns[1:], row[1:], strict=True)
        told = [f"{column.text} {cell.text}".strip() for column, cell in pairs if cell.text]
        meaning = next((cell.meaning for cell in row if cell.meaning is not Meaning.PLAIN), Meaning.PLAIN)
        found.append([[(line, meaning)] for line in wrap(f"{row[0].text}: {', '.join(told)}", width, "  ", "    ")])
    return found


def _with_remarks(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], body: Sequence[list[MarkedLine]], width: int
) -> list[list[MarkedLine]]:
    """Below each row what its cells of the columns `below` say; once at the end what they all say."""
    remarks = [
        "; ".join(cell.text for cell, column in zip(row, columns, strict=True) if column.below and cell.text)
        for row in rows
    ]
    if len(set(remarks)) == 1:
        remarks = [*[""] * (len(rows) - 1), remarks[0]]
    below: list[list[MarkedLine]] = [
        [[(part, Meaning.QUIET)] for part in wrap(remark, width, "      ")] if remark else [] for remark in remarks
    ]
    return [body[0], *(lines + more for lines, more in zip(body[1:], below, strict=True))]


def sparkline(values: Sequence[float | None], *, ascii_only: bool = False, top: float = 0.0) -> str:
    """One character a value, from zero: a steady disk looks steady.

    The tallest character stands for `top`, or for the largest value if that is larger. Zero is `·` (ASCII `0`), which
    makes a stall visible; None, where there is no figure, is a blank.
    """
    levels, zero = (_ASCII_BLOCKS, "0") if ascii_only else (_BLOCKS, "·")
    peak = max([top, *(value for value in values if value is not None)])

    def one(value: float | None) -> str:
        if value is None:
            return " "
        if value <= 0 or peak <= 0:
            return zero
        return levels[min(len(levels) - 1, int(value / peak * len(levels)))]

    return "".join(map(one, values))
