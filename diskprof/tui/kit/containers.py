"""What widgets stand in, and nothing is drawn on: its lines are one line."""

from typing import TYPE_CHECKING

from rich.style import Style
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    # Of several widgets among its bases a widget would have the style sheet of the first alone.
    Widget = object


class Bare(Widget):
    """Without a border or words of its own. Textual would draw each of its lines, though others stand on them."""

    def render_lines(self, crop: Region) -> list[Strip]:
        background = self.background_colors[1]
        strip = Strip.blank(crop.width, Style.from_color(bgcolor=background.rich_color))
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, background)
        return [strip] * crop.height


class Across(Bare, Horizontal):
    """Widgets side by side."""


class Down(Bare, Vertical):
    """Widgets one below the other."""
