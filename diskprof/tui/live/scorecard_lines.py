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
_FIGURE = 9
_LEAST_PROMISE = 14
"""A promise is cut, but not below the verdict's sign and the first words."""


def scorecard_lines(
    scores: Sequence[ScoreLine], about: str, width: int, charset: Charset, *, roomy: bool
) -> list[Line]:
    """`roomy`: there are lines for large figures, and for `about` if the figures say "of best" themselves."""
    if not scores:
        return []
    rows = _rows(scores)
    across = max(map(len, rows))
    size = width // across
    compared = any(score.against for score in scores)
    told = "" if roomy else _standings(scores, width)
    below = any(score.standing and score.standing.meaning is Meaning.WARNING for score in scores)
    lines: list[Line] = (
        [[(told or fit(_compared(about, width), width), "quiet")]] if roomy or not compared or (told and below) else []
    )
    if size < _LEAST_CELL:
        return lines + [_listed(score, width, charset) for score in scores]
    drawn = roomy and all(_has_room(score, size - 1, charset) for score in scores)
    bare = not compared and not any(score.promise for score in scores)
    placed = drawn and any(score.rank or score.standing for score in scores)
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
        if placed:
            cells = [
                [*cell, _place(score, each, charset)] for cell, score, each in zip(cells, row, sizes, strict=False)
            ]
        lines += [[piece for cell in parts for piece in _padded(cell, size)] for parts in zip(*cells, strict=True)]
    return lines


def _compared(about: str, width: int) -> str:
    """What the bars are measured against, without the class of the disk where it has no room."""
    return _first_fitting((about, about.partition(". Class: ")[0]), width) or about


def _standings(scores: Sequence[ScoreLine], width: int) -> str:
    """`SATA SSD: 4 of 6 within or above; below: 4K rand read QD1`, the names if there is room; empty without a class."""
    known = [score for score in scores if score.standing]
    if not known or not known[0].standing:
        return ""
    below = [clean(score.name) for score in known if score.standing and score.standing.meaning is Meaning.WARNING]
    told = f"{known[0].standing.title}: {len(known) - len(below)} of {len(known)} within or above"
    named = f"; below: {', '.join(below)}" if below else ""
    return _first_fitting((told + named, f"{told}, {len(below)} below" if below else told, told), width)


def _rows(scores: Sequence[ScoreLine]) -> list[list[ScoreLine]]:
    """Reads in one row and writes in the next; of one kind alone at most three in a row."""
    kinds = [[score for score in scores if score.direction is each] for each in (Meaning.READ, Meaning.WRITE)]
    return [kind[at : at + 3] for kind in kinds for at in range(0, len(kind), 3)]


def _padded(line: Line, width: int) -> Line:
    return [*line, (" " * max(0, width - width_of(line)), "")]


def _bar(score: ScoreLine, width: int, charset: Charset) -> list[Piece]:
    """Full is the best earlier run."""
    return [] if score.share is None else _drawn_bar(score.share, score.direction, width, charset)


def _drawn_bar(share: float, direction: Meaning, width: int, charset: Charset) -> list[Piece]:
    full, empty = ("#", ".") if charset is Charset.ASCII else ("━", "─")
    count = min(width, max(1, round(share * width)))
    return [(full * count, ink(direction)), (empty * (width - count), "rule")]


def _was(score: ScoreLine) -> tuple[str, ...]:
    """The best earlier figure in words, longest first."""
    if not score.best:
        return ("",)
    dated = f"{score.best}, {score.when}"
    return (*((f"before {dated}",) if score.meaning is Meaning.GOOD else ()), dated, score.best)


def _first_fitting(options: Sequence[str], width: int) -> str:
    return next((words for words in options if len(words) <= width), "")


def _small_cell(score: ScoreLine, width: int, charset: Charset) -> list[Line]:
    figure = score.figure
    name = fit(clean(score.name), width - len(figure) - 1)
    bar = _bar(score, _BAR, charset)
    room = width - (len(bar) and _BAR + 1)
    words, meaning = score.promise, score.promise_meaning
    if score.share is not None:
        words, meaning = _against(score, room), score.meaning
    below: list[Piece] = [*bar, *([(" ", "")] if bar else []), (words, ink(meaning))]
    return [[(name, ""), (" ", ""), (figure, f"{ink(score.direction)}")], _cut(below, width)]


def _against(score: ScoreLine, width: int) -> str:
    """`92% of best 308k`, without the figure where it has no room."""
    whole = f"{score.against} {score.best}" if score.meaning is not Meaning.GOOD else score.against
    return _first_fitting((whole, score.against, score.against.removeprefix("new best: ")), width)


def _beside(score: ScoreLine, charset: Charset) -> int | None:
    """The cells that a large figure takes, with its unit; None where it cannot be drawn."""
    rows = large(score.number, charset)
    return len(rows[0]) + 1 + len(score.unit) + 2 if rows else None


def _has_room(score: ScoreLine, width: int, charset: Charset) -> bool:
    """Whether the large figure and what is beside it fit."""
    room = _beside(score, charset)
    return (
        room is not None
        and width >= _LEAST_LARGE - 1
        and width - room >= max(len(score.against), len(score.best), len(score.promise) and _LEAST_PROMISE)
    )


def _large_cell(score: ScoreLine, width: int, charset: Charset) -> list[Line]:
    rows, room = large(score.number, charset), _beside(score, charset)
    assert rows and room
    left_over = width - room
    bar = _bar(score, max(4, left_over), charset)
    was = _first_fitting(_was(score), left_over)
    beside: list[list[Piece]] = [bar, [(score.against, ink(score.meaning))], [(was, "quiet")]]
    if score.promise:
        beside[2 if not was else 0] = [(score.promise, ink(score.promise_meaning))]
    lines: list[Line] = [[(fit(clean(score.name), width), "")]]
    for at, row in enumerate(rows):
        unit = f" {score.unit}" if at == len(rows) - 1 else ""
        left: list[Piece] = [(row, ink(score.direction)), (unit, "quiet")]
        lines.append(_cut([*left, (" " * max(1, room - width_of(left)), ""), *beside[at]], width))
    return lines


def _place(score: ScoreLine, width: int, charset: Charset) -> Line:
    """Where a figure is in the class of the disk, with a bar, and its place among the runs; what has room."""
    standing = score.standing
    if standing is None:
        return [(fit(score.rank, width), "quiet")]
    bar = _drawn_bar(standing.share, score.direction, _BAR, charset)
    room = width - _BAR - 1
    words = _first_fitting(standing.words, room)
    rank = f", {score.rank}" if score.rank and len(words) + len(score.rank) + 2 <= room else ""
    return _cut([*bar, (f" {words}", ink(standing.meaning)), (rank, "quiet")], width)


def _listed(score: ScoreLine, width: int, charset: Charset) -> Line:
    bar = _bar(score, _LIST_BAR, charset)
    alone = score.share is None and not score.promise
    name = fit(clean(score.name), min(20, max(8, width - (_FIGURE + 2 if alone else 40))))
    line: list[Piece] = [(f"{name} ", ""), (fit(score.figure, _FIGURE, right=True), ink(score.direction)), (" ", "")]
    line += [*bar, *([(" ", "")] if bar else [])]
    against = _against(score, width - width_of(line))
    line += [(against, ink(score.meaning)), ("  " if against else "", "")]
    if score.promise:
        line.append((score.promise, ink(score.promise_meaning)))
    return _cut(line, width)


def _cut(line: Sequence[Piece], width: int) -> list[Piece]:
    out: list[Piece] = []
    for text, meaning in line:
        room = width - width_of(out)
        if room <= 0:
            break
        out.append((text if len(text) <= room else fit(text, room), meaning))
    return out
