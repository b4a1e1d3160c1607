"""What a report is made of: blocks, built once by `content` and laid out as text, Markdown, a page or lines of the screen.

A document is a tuple of blocks. Their text is as it came, foreign text too: whoever lays it out makes it harmless (F39).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from diskprof.reports.charts.mosaic import Mosaic
from diskprof.reports.charts.plot import Plot
from diskprof.reports.layout import Column
from diskprof.reports.words import Meaning


class Form(StrEnum):
    """What a document is made for: a terminal has little room, a result on the screen has its figures and curves above."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"
    SCREEN = "screen"


class Heading(Struct, frozen=True):
    """The title of the document is of level 1."""

    text: str
    level: int = 2


class Paragraph(Struct, frozen=True):
    """A sentence or more. `hanging`: one of several, whose further lines are indented so that each is seen to begin."""

    text: str
    meaning: Meaning = Meaning.PLAIN
    hanging: bool = False


class Cell(Struct, frozen=True):
    """`short` replaces `text` in lines of a terminal or a screen, where room is scarce."""

    text: str
    meaning: Meaning = Meaning.PLAIN
    short: str | None = None
    strong: bool = False
    """Not to be overlooked, on paper neither."""
    sign: str = ""
    """In front of the words on the screen."""


class Table(Struct, frozen=True):
    """Rows of cells under their columns, with a title before and a legend behind it.

    A row of the screen may be shorter: its last cell runs to the end of the line.

    A table too wide for its lines is split into groups of columns: the first `lead` of them begin each group, and `together`
    of the others are never parted. `inset`: a part of what its heading announces, without a rule below its head. `narrow`:
    the same in fewer columns, in its place before it is split.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    legend: str = ""
    lead: int = 0
    together: int = 1
    inset: bool = False
    narrow: Table | None = None


class Fact(Struct, frozen=True):
    name: str
    text: str
    meaning: Meaning = Meaning.QUIET
    """Of the name."""


class Facts(Struct, frozen=True):
    """Pairs of name and text. `inset`: times or other figures with what belongs to each, under a heading."""

    facts: tuple[Fact, ...]
    inset: bool = False


class Note(Struct, frozen=True):
    """Something to know: what kind it is (`word`, may be empty), `where`, what it is, by what it is known, what to do about it.

    `sign` stands for the word where there is little room.
    """

    text: str
    word: str = ""
    where: str = ""
    evidence: str = ""
    advice: str = ""
    meaning: Meaning = Meaning.PLAIN
    sign: str = ""


class Code(Struct, frozen=True):
    """Commands: each line as its words, quoted for a shell. A comment is one word."""

    lines: tuple[tuple[str, ...], ...]
    language: str = "sh"


class Course(Struct, frozen=True):
    """How one test went: `values` that lasted `seconds` each, and the lowest, median and highest of them in words."""

    name: str
    values: tuple[float, ...]
    seconds: tuple[float, ...]
    lowest: str
    median: str
    highest: str
    cpu: str


class Spark(Struct, frozen=True):
    """Courses as a line of text each."""

    title: str
    courses: tuple[Course, ...]


class Chart(Struct, frozen=True):
    """What belongs side by side; only a page draws it."""

    plots: tuple[Plot, ...]


class Picture(Struct, frozen=True):
    """A grid of coloured cells; only a page draws it."""

    mosaic: Mosaic


Block = Heading | Paragraph | Table | Facts | Note | Code | Spark | Chart | Picture
Blocks = Sequence[Block]
