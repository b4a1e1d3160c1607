"""The scorecard of a run that has ended, as lines: reads above writes, large figures where there is room. Pure functions."""

from collections.abc import Sequence

from diskprof.model.cells import fit
from diskprof.model.text import clean
from diskprof.reports.content.scorecard import ScoreLine
from diskprof.reports.words import Meaning
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.charts.large import large
from diskprof.tui.kit.painted import Line, Piece, width_of
from diskprof.tui.shell.run_signs import ink

_LEAST_CELL = 24
"""In fewer cells each figure has a line of its own."""
_LEAST_LARGE = 32
_BAR, _LIST_BAR = 5, 12


def scorecard_lines(
    scores: Sequence[ScoreLine], about: str, width: int, charset: Charset, *, roomy: bool
) -> list[Line]:
    """`roomy`: there are lines for large figures."""
    if not scores:
        return []
    rows = _rows(scores)
    across = max(map(len, rows))
    size = width // across
    lines: list[Line] = [[(fit(about, width), "quiet")]]
    if size < _LEAST_CELL:
        return lines + [_listed(score, width, charset) for score in scores]
    drawn = roomy and size >= _LEAST_LARGE and all(large(score.number, charset) for score in scores)
    bare = not any(score.short or score.promise for score in scores)
    for at, row in enumerate(rows):
        if drawn and at:
            lines.append([])
        # The last cell has what is left of the line.
        sizes = [size - 1] * (across - 1) + [width - size * (across - 1)]
        cells = [
            (_large_cell if drawn else _small_cell)(score, each, charset)
            for score, each in zip(row, sizes, strict=False)
        ]
        if bare and not drawn:
            cells = [cell[:1] for cell in cells]
        lines += [[piece for cell in parts for piece in _padded(cell, size)] for parts in zip(*cells, strict=True)]
    return lines


def _rows(scores: Sequence[ScoreLine]) -> list[list[ScoreLine]]:
    """Reads in one row and writes in the next; of one kind alone at most three in a row."""
    kinds = [[score for score in scores if score.direction is each] for each in (Meaning.READ, Meaning.WRITE)]
    return [kind[at : at + 3] for kind in kinds for at in range(0, len(kind), 3)]


def _padded(line: Line, width: int) -> Line:
    return [*line, (" " * max(0, width - width_of(line)), "")]


def _bar(score: ScoreLine, width: int, charset: Charset) -> list[Piece]:
    """Full is the best earlier run."""
    if score.share is None:
        return []
    full, empty = ("#", ".") if charset is Charset.ASCII else ("━", "─")
    count = min(width, max(1, round(score.share * width)))
    return [(full * count, ink(score.direction)), (empty * (width - count), "rule")]


def _small_cell(score: ScoreLine, width: int, charset: Charset) -> list[Line]:
    figure = score.figure
    name = fit(clean(score.name), width - len(figure) - 1)
    bar = _bar(score, _BAR, charset)
    words = score.promise if score.promise and score.share is None else score.short
    meaning = score.promise_meaning if words == score.promise else score.meaning
    below: list[Piece] = [*bar, *([(" ", "")] if bar else []), (words, ink(meaning))]
    return [[(name, ""), (" ", ""), (figure, f"{ink(score.direction)}")], _cut(below, width)]


def _large_cell(score: ScoreLine, width: int, charset: Charset) -> list[Line]:
    rows = large(score.number, charset)
    assert rows
    room = len(rows[0]) + 1 + len(score.unit) + 2
    bar = _bar(score, max(4, width - room), charset)
    beside: list[list[Piece]] = [bar, [], []]
    head, _, tail = score.against.partition(": ")
    beside[1] = [(head, ink(score.meaning))]
    beside[2] = [(tail, "quiet")]
    if score.promise:
        beside[2 if not tail else 0] = [(score.promise, ink(score.promise_meaning))]
    lines: list[Line] = [[(fit(clean(score.name), width), "")]]
    for at, row in enumerate(rows):
        unit = f" {score.unit}" if at == len(rows) - 1 else ""
        left: list[Piece] = [(row, ink(score.direction)), (unit, "quiet")]
        lines.append(_cut([*left, (" " * max(1, room - width_of(left)), ""), *beside[at]], width))
    return lines


def _listed(score: ScoreLine, width: int, charset: Charset) -> Line:
    bar = _bar(score, _LIST_BAR, charset)
    words = "  ".join(part for part in (score.short, score.promise) if part)
    name = fit(clean(score.name), min(20, max(8, width - 40)))
    return _cut(
        [
            (f"{name} ", ""),
            (fit(score.figure, 9, right=True), ink(score.direction)),
            (" ", ""),
            *bar,
            *([(" ", "")] if bar else []),
            (words, ink(score.meaning)),
        ],
        width,
    )


def _cut(line: Sequence[Piece], width: int) -> list[Piece]:
    out: list[Piece] = []
    for text, meaning in line:
        room = width - width_of(out)
        if room <= 0:
            break
        out.append((text if len(text) <= room else fit(text, room), meaning))
    return out
