"""A screen as text: what stands on it, and in what every cell is drawn, by the names of the theme rather than by colours.

So a picture says "warn on surface, bold" and stays the same when a colour is chosen better, or Textual draws in another way
what looks the same.
"""

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.style import Style
from stored_screens import Driver
from textual.color import Color

# Of several names of one colour the first is told.
_NAMES = (
    *(
        "foreground",
        "background",
        "surface",
        "panel",
        "boost",
        "read",
        "write",
        "good",
        "warn",
        "danger",
        "quiet",
        "rule",
    ),
    *("read-dim", "write-dim", "curve-a", "curve-b", "curve-c", "curve-d"),
    *(f"{ramp}{step}" for ramp in ("heat-r", "heat-w", "cell-") for step in range(1, 6)),
    *("primary", "secondary", "accent", "warning", "error", "success", "block-cursor-background"),
    *("block-cursor-foreground", "block-cursor-blurred-background", "block-cursor-blurred-foreground", "scrollbar"),
    *("scrollbar-background", "scrollbar-hover", "scrollbar-active", "footer-background", "input-selection-background"),
)
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
_EIGHT = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ANSI = (*_EIGHT, *(f"bright {name}" for name in _EIGHT))
_SIGNS = string.ascii_lowercase + string.ascii_uppercase + string.digits + "!#$%&*+=<>?@^_~|/;:.,-"


@dataclass(frozen=True)
class Inks:
    """How cells are drawn, in words: `names` are those of the colours (#rrggbb)."""

    names: Mapping[str, str]

    def words(self, style: Style) -> str:
        ink = self._name(style.color)
        ground = self._name(style.bgcolor)
        attributes = [name for name in _ATTRIBUTES if getattr(style, name)]
        return ", ".join((f"{ink} on {ground}", *attributes))

    def _name(self, color: RichColor | None) -> str:
        if color is None or color.is_default:
            return "default"
        if color.triplet is None or color.name.startswith("color("):
            return _ANSI[color.number or 0]
        if not self.names:
            # A theme of the terminal's own colours: what is mixed of them is not among them.
            return color.triplet.hex
        return self.names.get(color.triplet.hex) or f"nearly {self._nearest(Color(*color.triplet))}"

    def _nearest(self, color: Color) -> str:
        def distance(other: str) -> int:
            it = Color.parse(other)
            return (it.r - color.r) ** 2 + (it.g - color.g) ** 2 + (it.b - color.b) ** 2

        return self.names[min(self.names, key=distance)]


def _names(pilot: Driver) -> dict[str, str]:
    """Colour (as #rrggbb) -> its name in the theme that is on."""
    variables = pilot.app.theme_variables
    found: dict[str, str] = {}
    for name in _NAMES:
        value = variables.get(name, "").split(" ")[0].lower()
        if value.startswith("#") and len(value) == 7:
            found.setdefault(value, name)
    return found


def cells_of(pilot: Driver) -> Iterator[list[tuple[str, Style]]]:
    """The rows of the screen, with what lies over it, from left to right."""
    screen = pilot.app.screen
    update = screen._compositor.render_update(full=True, screen_stack=pilot.app._background_screens)
    for strips in update.strips:  # type: ignore[attr-defined]
        yield [(segment.text, segment.style or Style()) for strip in strips for segment in strip]


@dataclass(frozen=True)
class View:
    """What is seen: lines of text, and under each letter the sign of its ink."""

    text: tuple[str, ...]
    inks: tuple[str, ...]
    legend: tuple[str, ...]


def view(pilot: Driver) -> View:
    inks, rows = Inks(_names(pilot)), list(cells_of(pilot))
    signs = _signs({inks.words(style) for row in rows for _, style in row})
    drawn = ("".join(signs[inks.words(style)] * cell_len(part) for part, style in row) for row in rows)
    return View(
        tuple("".join(part for part, _ in row).rstrip() for row in rows),
        tuple(drawn),
        tuple(f"{sign}  {words}" for words, sign in sorted(signs.items())),
    )


def _signs(found: Iterable[str]) -> dict[str, str]:
    """A sign for each, mostly the same one whatever else is found, so that one change makes no other."""
    signs: dict[str, str] = {}
    wanted = sorted(found)
    assert len(wanted) <= len(_SIGNS)
    for words in wanted:
        at = crc32(words.encode()) % len(_SIGNS)
        while _SIGNS[at] in signs.values():
            at = (at + 1) % len(_SIGNS)
        signs[words] = _SIGNS[at]
    return signs


def document(views: Mapping[str, View]) -> str:
    """The views of one screen in several themes, each part only where it differs from the first."""
    first, *_ = views
    parts = [_part("text", views[first].text)]
    for name, seen in views.items():
        if name != first and seen.text != views[first].text:
            parts.append(_part(f"text in {name}", seen.text))
        like = next((other for other in views if views[other] == seen), name)
        same = next(
            (other for other in views if (views[other].inks, views[other].legend) == (seen.inks, seen.legend)), like
        )
        parts.append(f"== {name}: as {same}\n" if same != name else _part(name, (*seen.inks, "", *seen.legend)))
    return "\n".join(parts)


def _part(title: str, lines: Sequence[str]) -> str:
    return f"== {title}\n" + "".join(f"{line}\n" for line in lines)
