"""A terminal's screen as SVG that looks the same everywhere: charts, blocks and lines are shapes, only words need a font.

Braille and box characters come from another font than the letters in most browsers, in another width, and a chart made of
them would fall apart.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise

WIDTH, HEIGHT = 8.4, 18.0
"""Of a cell, in pixels of the picture."""
_SIZE, _BASE = 14, 13.2
_MARGIN, _TITLE = 10.0, 30.0
_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
# Left, right, up, down; the arms of the letters of boxes, light ones.
_ARMS = {
    "─": "lr",
    "│": "ud",
    "┌": "rd",
    "┐": "ld",
    "└": "ru",
    "┘": "lu",
    "├": "rud",
    "┤": "lud",
    "┬": "lrd",
    "┴": "lru",
    "┼": "lrud",
    "╭": "rd",
    "╮": "ld",
    "╰": "ru",
    "╯": "lu",
    "╴": "l",
    "╶": "r",
    "╵": "u",
    "╷": "d",
}
_HEAVY = {"━": (0.0, 1.0), "╸": (0.0, 0.5), "╺": (0.5, 1.0)}
_SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75}
_EIGHTHS_UP, _EIGHTHS_RIGHT = "▁▂▃▄▅▆▇█", "▏▎▍▌▋▊▉"
_HALVES = {"▀": (0.0, 0.0, 1.0, 0.5), "▐": (0.5, 0.0, 0.5, 1.0), "▔": (0.0, 0.0, 1.0, 0.125)}
# The bits of a braille character by row, left and right.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass(frozen=True, slots=True)
class Cell:
    """A letter with its colours, as #rrggbb."""

    text: str
    ink: str
    ground: str
    bold: bool = False
    italic: bool = False
    underline: bool = False


Row = tuple[Cell, ...]


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _row(cells: Row, ground: str) -> str:
    """The shapes and words of one row, at the top of the picture."""
    return "".join((*_grounds(cells, ground), *_blocks(cells), *_lines(cells), *_braille(cells), *_words(cells)))


def _runs(cells: Row, key: Callable[[Cell], object]) -> Iterator[tuple[int, list[Cell]]]:
    at = 0
    for _, group in groupby(cells, key):
        run = list(group)
        yield at, run
        at += len(run)


def _rect(x: float, y: float, width: float, height: float, colour: str, more: str = "") -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" fill="{colour}"{more}/>'


def _grounds(cells: Row, ground: str) -> Iterator[str]:
    for at, run in _runs(cells, lambda cell: cell.ground):
        if run[0].ground != ground:
            # A little more, against seams between rows.
            yield _rect(at * WIDTH, 0, len(run) * WIDTH, HEIGHT + 0.3, run[0].ground)


def _block(text: str) -> tuple[float, float, float, float] | None:
    """Left, top, width and height as shares of a cell."""
    if text in _EIGHTHS_UP:
        part = (_EIGHTHS_UP.index(text) + 1) / 8
        return 0.0, 1 - part, 1.0, part
    if text in _EIGHTHS_RIGHT:
        return 0.0, 0.0, (len(_EIGHTHS_RIGHT) - _EIGHTHS_RIGHT.index(text)) / 8, 1.0
    if text in _SHADES:
        return 0.0, 0.0, 1.0, 1.0
    return _HALVES.get(text)


def _blocks(cells: Row) -> Iterator[str]:
    for at, run in _runs(cells, lambda cell: (cell.text, cell.ink)):
        text, ink = run[0].text, run[0].ink
        if text in _HEAVY:
            begin, end = _HEAVY[text]
            yield _rect((at + begin) * WIDTH, HEIGHT / 2 - 1, (len(run) - 1 + end - begin) * WIDTH, 2, ink)
        elif part := _block(text):
            left, top, width, height = part
            whole = (len(run) - 1 + width) * WIDTH if left == 0 and width == 1 else width * WIDTH
            more = f' opacity="{_SHADES[text]}"' if text in _SHADES else ""
            for n in range(1 if whole > WIDTH else len(run)):
                yield _rect((at + n + left) * WIDTH, top * HEIGHT, whole, height * HEIGHT, ink, more)


def _lines(cells: Row) -> Iterator[str]:
    middle, half = HEIGHT / 2, WIDTH / 2
    paths: dict[str, list[str]] = {}
    for at, run in _runs(cells, lambda cell: (cell.text, cell.ink)):
        text, ink = run[0].text, run[0].ink
        arms = _ARMS.get(text)
        if arms is None:
            continue
        path = paths.setdefault(ink, [])
        if text == "─":
            path.append(f"M{_n(at * WIDTH)} {_n(middle)}h{_n(len(run) * WIDTH)}")
            continue
        ends = {"l": f"h-{_n(half)}", "r": f"h{_n(half)}", "u": f"v-{_n(middle)}", "d": f"v{_n(middle)}"}
        for n in range(len(run)):
            path += [f"M{_n((at + n) * WIDTH + half)} {_n(middle)}{ends[arm]}" for arm in arms]
    for ink, path in paths.items():
        yield f'<path class="l" stroke="{ink}" d="{"".join(path)}"/>'


def _braille(cells: Row) -> Iterator[str]:
    """Dots that lie beside each other are one dashed line."""
    paths: dict[str, list[str]] = {}
    for at, run in _runs(cells, lambda cell: cell.ink if 0x2800 <= ord(cell.text[:1] or " ") <= 0x28FF else ""):
        if not 0x2800 <= ord(run[0].text[:1] or " ") <= 0x28FF:
            continue
        path = paths.setdefault(run[0].ink, [])
        for row, sides in enumerate(_DOTS):
            y = (row + 0.5) * HEIGHT / 4
            dots = [bool((ord(cell.text) - 0x2800) & side) for cell in run for side in sides]
            begin = 0
            for is_set, group in groupby(dots):
                length = len(list(group))
                if is_set:
                    x = at * WIDTH + begin * WIDTH / 2 + 0.9
                    path.append(f"M{_n(x)} {_n(y)}h{_n(length * WIDTH / 2 - 1.8)}")
                begin += length
    for ink, path in paths.items():
        if path:
            yield f'<path class="b" stroke="{ink}" d="{"".join(path)}"/>'


def _is_word(cell: Cell) -> bool:
    text = cell.text or " "
    return not (text in _ARMS or text in _HEAVY or _block(text) or 0x2800 <= ord(text[0]) <= 0x28FF)


def _words(cells: Row) -> Iterator[str]:
    key = lambda cell: (_is_word(cell), cell.ink, cell.bold, cell.italic, cell.underline)  # noqa: E731
    for at, run in _runs(cells, key):
        text = "".join(cell.text for cell in run)
        if not _is_word(run[0]) or not text.strip():
            continue
        first = run[0]
        classes = "".join((" e" if first.bold else "", " i" if first.italic else "", " u" if first.underline else ""))
        mark = f' class="{classes.strip()}"' if classes else ""
        # Not everything that draws SVG leaves more than one blank in a row.
        for part in re.finditer(r"\S+(?: \S+)*", text):
            x, length = (at + part.start()) * WIDTH, len(part[0]) * WIDTH
            wide = f' textLength="{_n(length)}"' if len(part[0]) > 1 else ""
            yield f'<text x="{_n(x)}" y="{_BASE}" fill="{first.ink}"{wide}{mark}>{escape(part[0], quote=False)}</text>'


def _frame(columns: int, rows: int, ground: str, ink: str, title: str, style: str, body: Iterable[str]) -> str:
    width, height = columns * WIDTH + 2 * _MARGIN, rows * HEIGHT + _TITLE + _MARGIN
    lights = "".join(
        f'<circle cx="{18 + 20 * n}" cy="15" r="6" fill="{colour}"/>'
        for n, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    heading = f'<text x="{_n(width / 2)}" y="20" fill="{ink}" text-anchor="middle">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>text{{font:{_SIZE}px {_FONT}}}.e{{font-weight:700}}.i{{font-style:italic}}"
        f".u{{text-decoration:underline}}.l{{stroke-width:1.2;fill:none}}"
        f".b{{stroke-width:2.4;fill:none;stroke-dasharray:2.4 {_n(WIDTH / 2 - 2.4)}}}{style}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>\n{lights}{heading}\n'
        f'<g transform="translate({_n(_MARGIN)} {_n(_TITLE)})">\n{"".join(body)}</g>\n</svg>\n'
    )


def picture(rows: Sequence[Row], *, title: str, ground: str, ink: str) -> str:
    """One screen in a window called `title`, whose colours are `ground` and `ink`."""
    body = (
        f'<g transform="translate(0 {_n(n * HEIGHT)})">{drawn}</g>\n'
        for n, row in enumerate(rows)
        if (drawn := _row(row, ground))
    )
    return _frame(len(rows[0]), len(rows), ground, ink, title, "", body)


@dataclass(frozen=True, slots=True)
class Still:
    """A screen that is seen for so many seconds."""

    rows: tuple[Row, ...]
    seconds: float


def film(stills: Sequence[Still], *, title: str, ground: str, ink: str) -> str:
    """The stills one after the other, for ever; the last one alone for who wants no motion. A row is drawn once."""
    names: dict[Row, str] = {}
    for still in stills:
        for row in still.rows:
            names.setdefault(row, f"r{len(names)}")
    body = ["<defs>\n"]
    body += [f'<g id="{name}">{_row(row, ground)}</g>\n' for row, name in names.items()]
    body.append("</defs>\n")
    whole = sum(still.seconds for still in stills)
    begins = [sum(still.seconds for still in stills[:n]) / whole * 100 for n in range(len(stills) + 1)]
    rules = []
    for n, (begin, end) in enumerate(pairwise(begins)):
        hidden = "0%{visibility:hidden}" if n else ""
        gone = f"{_n(end)}%{{visibility:hidden}}" if n < len(stills) - 1 else ""
        rules.append(f"@keyframes k{n}{{{hidden}{_n(begin)}%{{visibility:visible}}{gone}}}.k{n}{{animation-name:k{n}}}")
    style = (
        f".k{{visibility:hidden;animation:{_n(whole)}s step-end infinite}}{''.join(rules)}"
        f"@media (prefers-reduced-motion:reduce){{.k{{animation:none}}.k{len(stills) - 1}{{visibility:visible}}}}"
    )
    for n, still in enumerate(stills):
        uses = "".join(
            f'<use href="#{names[row]}" y="{_n(at * HEIGHT)}"/>'
            for at, row in enumerate(still.rows)
            if _row(row, ground)
        )
        body.append(f'<g class="k k{n}">{uses}</g>\n')
    first = stills[0].rows
    return _frame(len(first[0]), len(first), ground, ink, title, style, body)
