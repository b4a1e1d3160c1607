"""Blocks as Markdown: renders on GitHub, and its source reads well as plain text."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from diskprof.analysis.arms import Side
from diskprof.analysis.comparison import Comparison
from diskprof.model.cells import pad, width_of, wrap
from diskprof.model.earlier import EarlierResult
from diskprof.model.sample import Sample
from diskprof.reports import figures
from diskprof.reports.blocks import (
    Block,
    Blocks,
    Cell,
    Chart,
    Code,
    Facts,
    Form,
    Heading,
    Note,
    Paragraph,
    Picture,
    Spark,
    Table,
)
from diskprof.reports.content.comparison_report import comparison_report, runs_report
from diskprof.reports.content.run_report import Kernel
from diskprof.reports.layout import Column, plain
from diskprof.reports.render.lines import drawn
from diskprof.reports.words import Meaning

_SPARK = 40
_TEXT = 120
# "< 5 ms" opens no tag; ">" opens a quotation at the begin of a line.
_SPECIAL = re.compile(r"[\\`*\[\]>#|~$]|<(?!=?(?:\s|$))|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
_COMPARED = re.compile(r"(?<!\S)\\(>=? )")
_LIST_OR_RULE = re.compile(r"^(?:[-+=](?=[-+=\s]|$)|\d{1,9}(?=[.)](?:\s|$)))")
_LINKED = re.compile(r"(?i)(?<=http)(?=s?://)|(?<=ftp)(?=://)|(?<=www)(?=\.)|(?<=@)(?=\w)")
_BREAK = "\u200b"


def report(
    sides: Sequence[Side],
    samples: Mapping[str, Sequence[Sample]] | None = None,
    *,
    kernel: Mapping[str, Kernel] | None = None,
    earlier: Sequence[EarlierResult] = (),
    ascii_only: bool = False,
) -> str:
    """A report of one run; of several arms, side by side first and then each run. `samples` and `kernel` are by run id.

    `earlier` is what was measured before a single run.

    Raises ValueError of nothing.
    """
    return markdown(runs_report(sides, samples, kernel, earlier=earlier, form=Form.MARKDOWN), ascii_only=ascii_only)


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison alone, without each run's own report."""
    return markdown(comparison_report(comparison, form=Form.MARKDOWN))


def markdown(blocks: Blocks, *, ascii_only: bool = False) -> str:
    """`ascii_only` is for the sparklines; what runs say of themselves stays as it is. A chart is left out."""
    found = [part for kind, some in groupby(blocks, type) for part in _parts(kind, list(some), ascii_only=ascii_only)]
    return "\n\n".join("\n".join(lines) for lines in found) + "\n"


def _parts(kind: type[Block], blocks: Sequence[Block], *, ascii_only: bool) -> list[list[str]]:
    """Each as lines; notes that follow each other are one list."""
    if kind is Note:
        return [[line for block in blocks if isinstance(block, Note) for line in _note(block)]]
    return [part for block in blocks for part in _part(block, ascii_only=ascii_only)]


def _part(block: Block, *, ascii_only: bool) -> list[list[str]]:
    match block:
        case Heading():
            return [[f"{'#' * block.level} {escape(block.text)}"]]
        case Paragraph():
            return [paragraph(_loud(escape(block.text), block.meaning is Meaning.STRONG), _TEXT)]
        case Table():
            return _table(block)
        case Facts():
            head, *rows = [[escape(fact.name), _cell(fact.text)] for fact in block.facts]
            return [markdown_table(head, rows, (block.inset, False))]
        case Note():
            return [_note(block)]
        case Code():
            return [fenced([" ".join(map(plain, words)) for words in block.lines], block.language)]
        case Spark():
            return [_spark(block, ascii_only=ascii_only)]
        case Chart() | Picture():
            return []


def _loud(escaped: str, loud: bool) -> str:
    return f"**{escaped}**" if loud else escaped


def _cell(text: str) -> str:
    return text if text == figures.MISSING else _COMPARED.sub(r"\1", escape(text))


def _table(table: Table) -> list[list[str]]:
    """A column of which no cell says anything is left out if it has room below the row elsewhere."""
    columns = [at for at, column in enumerate(table.columns) if not column.below or _told(table, at)]
    shown: list[Column] = [table.columns[at] for at in columns]
    rows = [[_words(row[at], table.columns[at]) for at in columns] for row in table.rows]
    head = [_cell(column.text) for column in shown]
    return [
        *([paragraph(f"{escape(table.title)}:", _TEXT)] if table.title else []),
        markdown_table(head, rows, [column.right for column in shown]),
        *([paragraph(escape(table.legend), _TEXT)] if table.legend else []),
    ]


def _told(table: Table, at: int) -> bool:
    return any(row[at].text for row in table.rows)


def _words(cell: Cell, column: Column) -> str:
    if column.below and not cell.text:
        return figures.MISSING
    return _loud(_cell(cell.text), cell.strong)


def _note(note: Note) -> list[str]:
    where = f" ({escape(note.where)})" if note.where else ""
    head = f"**{escape(note.word)}**{where}: " if note.word else ""
    text = escape(note.text) if note.word else _loud(escape(note.text), note.meaning is Meaning.STRONG)
    lines = paragraph(f"- {head}{text}", _TEXT, "", "  ")
    for what in (escape(note.evidence), f"*{escape(note.advice)}*" if note.advice else ""):
        if what:
            # A line each, in the source and as shown: the backslash is Markdown's line break.
            lines[-1] += "\\"
            lines += paragraph(what, _TEXT, "  ", "  ")
    return lines


def _spark(spark: Spark, *, ascii_only: bool) -> list[str]:
    names = [plain(course.name) for course in spark.courses]
    curves = [drawn(course, _SPARK, ascii_only=ascii_only) for course in spark.courses]
    name_width, curve_width = max(map(width_of, names)), max(map(width_of, curves))
    return fenced(
        [
            f"{pad(name, name_width)}  {pad(curve, curve_width)}  "
            f"min {course.lowest}, median {course.median}, max {course.highest}"
            for name, curve, course in zip(names, curves, spark.courses, strict=True)
        ],
        "text",
    )


def escape(text: str) -> str:
    """Foreign text as Markdown that shows just it: one line, harmless, no markup, no HTML, no cell of a table begun or ended.

    Addresses and @names are broken by a character of no width, so that GitHub links none and calls nobody.
    """
    escaped = _SPECIAL.sub(lambda match: f"\\{match[0]}", plain(text).strip())
    return _LINKED.sub(_BREAK, _no_list(escaped))


def _no_list(line: str) -> str:
    """A line that does not open a list, an underlined heading or a rule by its first word."""
    return _LIST_OR_RULE.sub(lambda m: f"{m[0]}\\" if m[0][0].isdigit() else f"\\{m[0]}", line)


def paragraph(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Escaped text on lines of at most `width`, none of which begins by chance as a list or an underline."""
    lines = wrap(text, width, first, rest)
    return [*lines[:1], *(rest + _no_list(line[len(rest) :]) for line in lines[1:])]


def fenced(lines: Sequence[str], language: str = "") -> list[str]:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """A table with its columns aligned in the source too; cells come escaped, `right` says which columns hold figures."""
    widths = [max(3, *(width_of(row[index]) for row in (head, *rows))) for index in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (pad(cell, width, right=side) for cell, width, side in zip(cells, widths, right, strict=True))
        return f"| {' | '.join(padded)} |"

    rule = "|".join(
        f"{'-' * (width + 1)}{':' if side else '-'}" for width, side in zip(widths, right, strict=True)
    )  # fmt: skip
    return [line(head), f"|{rule}|", *map(line, rows)]
