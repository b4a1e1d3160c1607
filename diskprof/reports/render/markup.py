"""Markdown's own letters: foreign text shown as it is, tables aligned in their source, fences that hold."""

import re
from collections.abc import Sequence

from diskprof.reports.layout import pad, plain, width_of, wrap

_SPECIAL = re.compile(r"[\\`*\[\]<>#|~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
_LIST_OR_RULE = re.compile(r"^(?:[-+=](?=[-+=\s]|$)|\d{1,9}(?=[.)](?:\s|$)))")
_LINKED = re.compile(r"(?i)(?<=http)(?=s?://)|(?<=ftp)(?=://)|(?<=www)(?=\.)|(?<=@)(?=\w)")
_BREAK = "\u200b"


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
