"""The base of widgets that draw themselves line by line, and the words in which they are told what to draw.

A line is pieces of (text, ink). Inks are names with a meaning; the style sheet says which colour that is in a theme.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget

from diskprof.model import cells
from diskprof.model.text import clean
from diskprof.tui.kit.palette import FAINT, RAMPS, STEPS, TEXTS
from diskprof.tui.kit.terminal.plain_styles import plain
from diskprof.tui.kit.theme import meanings

Piece = tuple[str, str]
Line = Sequence[Piece]

_VARIABLES = {
    **{name: name for name in (*TEXTS, *FAINT) if name not in ("foreground", "scrollbar")},
    "strong": "foreground",
    "title": "primary",
    "mark": "accent",
    "key": "footer-key-foreground",
    "tab": "block-cursor-foreground",
}
_BOLD = ("strong", "title", "mark", "key", "tab")
_BRIGHT = 0.35
"""From this brightness of a cell on black is easier to read there than white."""
_CELLS = tuple(f"cell-{step}" for step in range(1, STEPS + 1))
INKS = frozenset((*_VARIABLES, *RAMPS, *(f"{cell}-here" for cell in _CELLS)))


# The last line of defence (F39): controls, C1, and what turns the direction of writing, in text that nobody cleaned.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def signs_for(app: App[Any], text: str) -> str:
    """`text` with our signs as this terminal can show them."""
    return plain(text) if getattr(app, "plain", False) else text


def width_of(line: Line) -> int:
    """The terminal cells that a line takes."""
    return sum(cells.width_of(text) for text, _ in line)


def spread(left: Line, right: Line, width: int) -> Line:
    """`left` and `right` at the two ends of `width` cells; `left` gives way first."""
    room = width - width_of(right)
    out: list[Piece] = []
    for text, ink in left:
        if room <= 0:
            break
        length = cells.width_of(text)
        if length > room:
            text, length = cells.fit(text, room), room
        out.append((text, ink))
        room -= length
    return [*out, (" " * max(0, room), ""), *right]


def titled(left: Line, right: Line, width: int, *, sign: str = "─") -> Line:
    """`left`, a rule of `sign` up to the end of `width` cells, and `right` there; `left` gives way first."""
    end: Line = [(" ", ""), *right] if right else []
    room = max(0, width - width_of(end))
    drawn = spread([*left, (" ", "")], (), room)[:-1]
    return [*drawn, (sign * (room - width_of(drawn)), "rule"), *end]


_KNOWN: dict[tuple[Hashable, ...], dict[str, Style]] = {}


def _inks_of(app: App[Any]) -> dict[str, Style]:
    theme = app.current_theme
    key = theme.name, theme.background, app.native_ansi_color
    if key not in _KNOWN:
        _KNOWN[key] = _theme_inks(theme)
    return _KNOWN[key]


def _theme_inks(theme: Theme) -> dict[str, Style]:
    """The styles of INKS in a theme."""
    variables = {**meanings(theme), **theme.to_color_system().generate(), **theme.variables}
    styles = {
        name: Style(color=_colour(variables[variable]).rich_color, bold=name in _BOLD)
        for name, variable in (*_VARIABLES.items(), *((ramp, ramp) for ramp in RAMPS))
    }
    if theme.ansi:
        styles["tab"] = Style(bold=True, reverse=True)
    else:
        styles["tab"] += Style(bgcolor=_colour(variables["block-cursor-background"]).rich_color)
    for name in _CELLS:
        ground = _colour(variables[name])
        front = Color.parse("ansi_default" if theme.ansi else "#ffffff" if ground.brightness < _BRIGHT else "#000000")
        styles[name] = Style(color=front.rich_color, bgcolor=ground.rich_color)
        styles[f"{name}-here"] = styles[name] + Style(bold=True)
    return styles


def _colour(text: str) -> Color:
    """A colour of a theme; white for `auto`, which stands for what can be read on a mark."""
    return Color.parse("#ffffff" if text.startswith("auto") else text)


class Painted(Widget):
    """Draws lines of pieces; `ink` gives the style of a name in the theme that holds now.

    The common inks come from the theme and not from component classes: matching those for each of many widgets would take
    a third of the time to the first frame. A subclass may have more inks as component classes `ink--NAME`.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inks: dict[str, Style] = {}
        self._worn: dict[Style, dict[str, Style]] = {}
        """By ground and ink."""

    def notify_style_update(self) -> None:
        self._inks.clear()
        self._worn.clear()
        super().notify_style_update()

    def ink(self, name: str) -> Style:
        """The style of an ink without its background, or nothing for the empty name."""
        if not name:
            return Style.null()
        if (style := self._inks.get(name)) is None:
            style = self._inks[name] = self._find_ink(name)
        return style

    def _find_ink(self, name: str) -> Style:
        if "/" in name:
            front, back = name.split("/", 1)
            return self.ink(front) + Style(bgcolor=self.ink(back).color)
        if name in INKS:
            return _inks_of(self.app)[name]
        whole = self.get_component_rich_style(f"ink--{name}")
        return Style(color=whole.color, bold=whole.bold, dim=whole.dim, reverse=whole.reverse)

    def strip(self, line: Line, width: int, *, base: Style | None = None) -> Strip:
        """A line as wide as `width`, on the widget's own colours or on `base`."""
        under = base or self._own_style()
        worn = self._worn.setdefault(under, {})
        return Strip(self._segments(line, worn, lambda ink: under + self.ink(ink))).adjust_cell_length(width, under)

    def _segments(self, line: Line, worn: dict[str, Style], wear: Callable[[str], Style]) -> list[Segment]:
        for _, ink in line:
            if ink not in worn:
                worn[ink] = wear(ink)
        segments = [Segment(clean(text) if _HARMFUL.search(text) else text, worn[ink]) for text, ink in line if text]
        if getattr(self.app, "plain", False):
            segments = [Segment(signs_for(self.app, text), style) for text, style, _ in segments]
        return segments

    def _own_style(self) -> Style:
        """`rich_style`, which asks every ancestor for its colours, kept until a style changes."""
        if (style := self._inks.get("")) is None:
            style = self._inks[""] = self.rich_style
        return style


_OWN, _UNDER = "\0own", "\0under"
"""No ink's names: what a widget writes on, and what stands beside that."""


def _filtered(style: Style, filters: Sequence[LineFilter], ground: Color) -> Style:
    """A style as Textual's filters leave it: they change styles and no texts, so each style need be changed but once."""
    segments = [Segment(" ", style)]
    for line_filter in filters:
        segments = line_filter.apply(segments, ground)
    return segments[0].style or Style.null()


def _as_wide(segments: list[Segment], width: int, style: Style) -> list[Segment]:
    """`segments` in exactly `width` cells. A Strip would make another for that, each with its caches."""
    length = sum(cell_len(text) for text, _, _ in segments)
    if length < width:
        return [*segments, Segment(" " * (width - length), style)]
    return segments if length == width else list(Strip(segments, length).adjust_cell_length(width, style))


class Lines(Painted):
    """Lines of pieces; of those that are put again only the changed parts are drawn, and sent to the terminal."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._framed: bool | None = None
        self._seen: dict[tuple[Hashable, ...], dict[str, Style]] = {}
        """By ground and filters, and ink: what is sent to the terminal."""
        self._drawn: dict[int, Strip] = {}
        self._drawn_as: tuple[Hashable, ...] = ()
        """How wide, and on what, the lines were drawn that are kept: Textual asks for those between two that changed, too."""

    def notify_style_update(self) -> None:
        self._framed = None
        self._seen.clear()
        self._drawn.clear()
        super().notify_style_update()

    @property
    def lines(self) -> Sequence[Line]:
        """What stands there."""
        return self._lines

    @property
    def text(self) -> str:
        """What stands there without its colours."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)

    def put(self, lines: Sequence[Line]) -> None:
        """Show `lines`; what is the same as before costs nothing."""
        old = self._lines
        self._lines = [list(line) for line in lines]
        dirty = []
        for y in range(max(len(old), len(self._lines))):
            before = old[y] if y < len(old) else ()
            after = self._lines[y] if y < len(self._lines) else ()
            if before != after:
                dirty.append(Region(0, y, self.size.width, 1))
                self._drawn.pop(y, None)
        if dirty:
            self.refresh(*dirty)

    def render_lines(self, crop: Region) -> list[Strip]:
        # Textual looks for borders in each line that it draws.
        if self._framed is None:
            self._framed = bool(self.styles.gutter.totals != self.styles.padding.totals or self.border_title)
        if self._framed:
            return super().render_lines(crop)
        top, right, _, left = self.styles.padding
        width, height = self.size
        ground, filters = self.background_colors[1], self.get_line_filters()
        drawn_as = (width, left, right, ground, *filters)
        if drawn_as != self._drawn_as:
            self._drawn_as = drawn_as
            self._drawn.clear()
        worn = self._seen.setdefault((ground, *filters), {})

        def seen(ink: str) -> Style:
            return _filtered(self._own_style() + self.ink(ink), filters, ground)

        if not worn:
            under = Style.from_color(bgcolor=ground.rich_color)
            worn[_OWN], worn[_UNDER] = (_filtered(each, filters, ground) for each in (self._own_style(), under))
        whole = left + width + right
        strips = []
        for y in range(crop.y - top, crop.bottom - top):
            if not 0 <= y < height:
                strips.append(Strip.blank(crop.width, worn[_UNDER]))
                continue
            if (strip := self._drawn.get(y)) is None:
                line = self._lines[y] if y < len(self._lines) else ()
                segments = _as_wide(self._segments(line, worn, seen), width, worn[_OWN])
                if left or right:
                    before, after = ([Segment(" " * cells, worn[_UNDER])] if cells else [] for cells in (left, right))
                    segments = [*before, *segments, *after]
                strip = self._drawn[y] = Strip(segments, whole)
            strips.append(strip if crop.width == whole else strip.crop(crop.x, crop.right))
        return strips

    def render_line(self, y: int) -> Strip:
        return self.strip(self._lines[y] if y < len(self._lines) else (), self.size.width)


class OneLine(Lines):
    """A single line."""

    DEFAULT_CSS = """
    OneLine { height: 1; }
    """

    def put_line(self, line: Line) -> None:
        """Show `line` if it is another than the one that stands there."""
        self.put([line])
