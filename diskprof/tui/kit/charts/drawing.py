"""A plot as lines of the screen: title and legend, facets with their axes, curves with their names at the ends, the cursor."""

from collections.abc import Sequence
from itertools import groupby

from diskprof.model.cells import fit
from diskprof.reports.charts.axes import LogScale, UpAxis
from diskprof.reports.charts.heatmap import Heat
from diskprof.reports.charts.plot import Cursor, Curve, Facet, Plot
from diskprof.reports.charts.timeline import Values
from diskprof.tui.kit.charts.glyphs import Charset, GlyphTrack, draw
from diskprof.tui.kit.painted import Line, Piece, titled, width_of
from diskprof.tui.kit.palette import STEPS

_LEAST_COLUMNS = 8
_ROWS_FOR_TWO = 10
"""From so many rows on two facets are above each other; with fewer those of reads and writes are side by side."""
_BETWEEN = 2
_MOST_LABEL = 16
_LEAST_NOTE = 16
_RULE = 2
"""Cells of the rule behind a title at least, with its blank."""
_SHADES, _ASCII_SHADES = " ·░▒▓█", " .:+*#"
_SHARES = ("<0.1%", "0.1%", "1%", "10%", "30%")


def draw_plot(plot: Plot, width: int, height: int, charset: Charset, *, flat: bool = False) -> list[Line]:
    """At most `height` lines of `width` cells. `flat`: shades of a heat map are signs, for colours cannot say them."""
    cursor = plot.cursor
    head = list(cursor.lines) if cursor and cursor.lines else [_title(plot, width, charset, flat=flat)]
    if not plot.facets:
        return [*head, [(plot.nothing, "quiet")]][:height]
    rows, count = height - len(head) - 1, len(plot.facets)
    beside = count > 1 and rows < _ROWS_FOR_TWO and all(facet.letter for facet in plot.facets)
    part = (width - _BETWEEN) // 2 if beside else width
    lefts = [len(_letter(facet)) + facet.scale.room + 2 for facet in plot.facets]
    margins = [_margin(facet.curves) for facet in plot.facets]
    if not beside:
        # One axis across for all.
        lefts, margins = [max(lefts)] * count, [max(margins)] * count
    rooms = [part - left - margin for left, margin in zip(lefts, margins, strict=True)]
    if rows < (1 if beside else count) or min(rooms) < _LEAST_COLUMNS:
        return head[:height]
    heights = [rows if beside else rows // count + (at < rows % count) for at in range(count)]
    drawn = [
        _facet(facet, plot.across.end, left, room, tall, charset, flat=flat)
        for facet, left, room, tall in zip(plot.facets, lefts, rooms, heights, strict=True)
    ]
    axes: list[Line] = [
        [(" " * left, ""), (plot.across.line(room), "quiet")] for left, room in zip(lefts, rooms, strict=True)
    ]
    if beside:
        drawn = [[_beside(lines, part) for lines in zip(*drawn, strict=True)]]
        axes = [_beside(axes, part)]
        places = [at * (part + _BETWEEN) + left for at, left in enumerate(lefts)]
    else:
        places = lefts[:1]
    lines = [*head, *(line for facet in drawn for line in facet), axes[0]]
    if cursor is None or plot.across.end <= 0:
        return lines
    return _marked(lines, len(head), cursor, plot.across.end, list(zip(places, rooms, strict=False)))


def draw_values(
    values: Values, ink: str, end: float, scale: UpAxis, width: int, height: int, charset: Charset
) -> list[Line]:
    """Values from 0 to `end` as an area in a few lines without axes; whoever shows it writes the scale beside it."""
    return _draw_curves((Curve("", values, ink, area=True),), end, scale, width, height, charset)[0]


def _title(plot: Plot, width: int, charset: Charset, *, flat: bool) -> Line:
    left: list[Piece] = [(plot.title, "title")]
    if plot.unit:
        left.append((f" {plot.unit}", "quiet"))
    for longest in (width, _MOST_LABEL):
        legend = _legend(plot, charset, longest, flat=flat)
        if width_of(left) + width_of(legend) + _RULE <= width:
            left += legend
            break
    room = width - width_of(left) - 2 * _RULE
    note = [(fit(plot.note, min(len(plot.note), room)), "quiet")] if plot.note and room >= _LEAST_NOTE else ()
    return titled(left, note, width, sign="-" if charset is Charset.ASCII else "─")


def _legend(plot: Plot, charset: Charset, longest: int, *, flat: bool) -> Line:
    """`longest` is that of a curve's name, in cells."""
    if heat := next((facet for facet in plot.facets if facet.heat), None):
        return [(" ", ""), *_heat_legend(heat.ink, charset, flat=flat), ("of requests", "quiet")]
    legend: list[Piece] = []
    if plot.facets and plot.facets[0].letter:
        legend = [(f" {facet.letter} {facet.ink} ", facet.ink) for facet in plot.facets]
        if charset is not Charset.BRAILLE:
            legend += [(f" {curve.sign} {curve.label}", "quiet") for curve in plot.facets[0].curves]
        return [(" ", ""), *legend]
    for curve in plot.curves:
        if charset is Charset.BRAILLE and curve.end == curve.label:
            # It is named where it ends.
            continue
        label = fit(curve.label, min(len(curve.label), longest))
        legend += [(f"  {curve.sign or '█'} ", curve.ink), (label, "")]
    return legend


def _margin(curves: Sequence[Curve]) -> int:
    """Cells for the names behind the ends of curves."""
    most = max((len(curve.end) for curve in curves), default=0)
    return most + 1 if most else 0


def _letter(facet: Facet) -> str:
    return f"{facet.letter} " if facet.letter else ""


def _facet(facet: Facet, end: float, left: int, columns: int, rows: int, charset: Charset, *, flat: bool) -> list[Line]:
    """`left` cells for letter, ticks and axis, then the picture."""
    if facet.heat:
        assert isinstance(facet.scale, LogScale)
        body = heat_rows(facet.heat, columns, end, rows, facet.scale, facet.ink, charset, flat=flat)
    else:
        body, shares = _draw_curves(facet.curves, end, facet.scale, columns, rows, charset)
        if margin := _margin(facet.curves):
            body = _with_ends(body, facet.curves, shares, columns + margin, charset)
    labels = facet.scale.labels(rows)
    plain, marked = ("|", "+") if charset is Charset.ASCII else ("│", "┤")
    lines: list[Line] = []
    for at, line in enumerate(body):
        label, letter = labels.get(rows - 1 - at, ""), "" if at else _letter(facet)
        text = fit(label, left - 2 - len(letter), right=True) + " "
        first = [(letter, facet.ink)] if letter else []
        lines.append([*first, (text, "quiet"), (marked if label else plain, "rule"), *line])
    return lines


def _draw_curves(
    curves: Sequence[Curve], end: float, scale: UpAxis, width: int, height: int, charset: Charset
) -> tuple[list[Line], list[list[float | None]]]:
    """The lines, and the values of each curve as shares of the height."""
    steps = width * charset.columns
    shares = [scale.shares(curve.values.columns(steps, end)) for curve in curves]
    tracks = [
        GlyphTrack(values, curve.ink, curve.area, curve.sign) for curve, values in zip(curves, shares, strict=True)
    ]
    # Steps of blocks would be areas: where lines cannot be fine, each value is a letter.
    lines = not any(curve.area for curve in curves) and charset is not Charset.BRAILLE
    return draw(tracks, width, height, Charset.ASCII if lines else charset), shares


def _with_ends(
    body: Sequence[Line],
    curves: Sequence[Curve],
    shares: Sequence[Sequence[float | None]],
    width: int,
    charset: Charset,
) -> list[Line]:
    """The lines with the names of curves behind their ends, each in the row where its curve ends or near it."""
    ended = [
        (curve, at, share)
        for curve, values in zip(curves, shares, strict=True)
        for at, share in [(at, share) for at, share in enumerate(values) if share is not None][-1:]
    ]
    lines = [_cut(line) for line in body]
    for (curve, last, _), row in zip(ended, label_rows([share for *_, share in ended], len(body)), strict=False):
        gap = last // charset.columns + 2 - width_of(lines[row])
        lines[row] = [*lines[row], (" " * max(1, gap) + curve.end, curve.ink)]
    return [_padded(line, width) for line in lines]


def _padded(line: Line, width: int) -> Line:
    return [*line, (" " * max(0, width - width_of(line)), "")]


def _beside(lines: Sequence[Line], width: int) -> Line:
    """Lines side by side, each `width` wide."""
    first, *others = lines
    return [*_padded(first, width), *(piece for line in others for piece in ((" " * _BETWEEN, ""), *line))]


def _cut(line: Line) -> Line:
    """Without the blanks behind the last sign."""
    out = list(line)
    while out and not out[-1][0].rstrip(" "):
        out.pop()
    if out:
        out[-1] = (out[-1][0].rstrip(" "), out[-1][1])
    return out


def label_rows(shares: Sequence[float], rows: int) -> list[int]:
    """For values as shares of the height the rows of their labels, 0 the uppermost: as near as can be, in the order of the values.

    Of those that end in one row the later is above: a percentile is the middle of its bucket, which may be above the
    maximum. Only as many as there are rows get one: the first.
    """
    shares = shares[: max(0, rows)]
    wanted = [rows - 1 - min(rows - 1, int(share * rows)) for share in shares]
    order = sorted(range(len(shares)), key=lambda at: (wanted[at], -at))
    # Pool adjacent violators: labels that collide share the mean of the rows that they want.
    crowds: list[tuple[int, int]] = []
    for above, at in enumerate(order):
        total, count = wanted[at] - above, 1
        while crowds and crowds[-1][0] / crowds[-1][1] > total / count:
            more = crowds.pop()
            total, count = total + more[0], count + more[1]
        crowds.append((total, count))
    places = [round(total / count) for total, count in crowds for _ in range(count)]
    found = [0] * len(order)
    for above, (at, place) in enumerate(zip(order, places, strict=True)):
        found[at] = above + min(max(place, 0), rows - len(order))
    return found


def _marked(lines: list[Line], head: int, cursor: Cursor, end: float, facets: Sequence[tuple[int, int]]) -> list[Line]:
    """The cursor as a line through facets of (first column, columns), with its sign on the axis unless it has a name."""
    axis = len(lines) - 1
    for left, columns in facets:
        column = left + min(columns - 1, max(0, int(cursor.at / end * columns)))
        for at in range(head, axis):
            lines[at] = put_sign(lines[at], column, "│", "key")
        if not cursor.name:
            lines[axis] = put_sign(lines[axis], column, "▲", "key")
    return lines


def put_sign(line: Line, column: int, sign: str, ink: str) -> Line:
    """A line of single cells with `sign` in the place of the cell `column`."""
    out: list[Piece] = []
    at = 0
    for text, old in line:
        if at <= column < at + len(text):
            cut = column - at
            out += [(text[:cut], old), (sign, ink), (text[cut + 1 :], old)]
        else:
            out.append((text, old))
        at += len(text)
    if at <= column:
        out += [(" " * (column - at), ""), (sign, ink)]
    return [piece for piece in out if piece[0]]


def _shade_inks(side: str, *, flat: bool) -> tuple[str, ...]:
    """The ink of each shade of `side`, read or write: a ramp, or `flat` one colour, where the signs say the shade."""
    return ("", *[side] * STEPS) if flat else ("", *(f"heat-{side[0]}{step}" for step in range(1, STEPS + 1)))


def heat_rows(
    heat: Heat, columns: int, seconds: float, rows: int, scale: LogScale, side: str, charset: Charset, *, flat: bool
) -> list[Line]:
    """The map as lines, the uppermost first; `side` is read or write. Unless `flat` a line shows two rows, as half blocks."""
    inks = _shade_inks(side, flat=flat)
    if flat:
        signs = _ASCII_SHADES if charset is Charset.ASCII else _SHADES
        cells = list(zip(signs, inks, strict=True))
        return [_cells_line(row, cells) for row in reversed(heat.shades(columns, seconds, rows, scale))]
    halves = heat.shades(columns, seconds, 2 * rows, scale)[::-1]
    cells = [_half(upper, lower) for upper in inks for lower in inks]
    return [
        _cells_line([len(inks) * above + below for above, below in zip(upper, lower, strict=True)], cells)
        for upper, lower in zip(halves[::2], halves[1::2], strict=True)
    ]


def _half(upper: str, lower: str) -> Piece:
    """A cell of two colours, one above the other."""
    if upper == lower:
        return ("█", upper) if upper else (" ", "")
    if not upper:
        return "▄", lower
    return "▀", f"{upper}/{lower}" if lower else upper


def _cells_line(row: Sequence[int], cells: Sequence[Piece]) -> Line:
    """A cell for each shade, those that are alike in one piece."""
    line: list[Piece] = []
    for shade, same in groupby(row):
        sign, ink = cells[shade]
        line.append((sign * sum(1 for _ in same), ink))
    return line


def _heat_legend(side: str, charset: Charset, *, flat: bool) -> Line:
    """What the shades mean."""
    inks = _shade_inks(side, flat=flat)
    signs = "█" * (STEPS + 1) if not flat else _ASCII_SHADES if charset is Charset.ASCII else _SHADES
    return [
        piece
        for shade, text in enumerate(_SHARES, 1)
        for piece in ((signs[shade], inks[shade]), (f" {text}  ", "quiet"))
    ]
