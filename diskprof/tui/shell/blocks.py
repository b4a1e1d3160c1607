"""A document of the reports as lines of a screen."""

from diskprof.reports.blocks import Blocks
from diskprof.reports.render import lines
from diskprof.tui.kit.painted import Line
from diskprof.tui.shell.signs import ink


def screen_lines(blocks: Blocks, width: int) -> list[Line]:
    """Lines of at most `width` cells, each piece in the ink of its meaning; commands such that a shell takes them as they are."""
    found = lines.lines(blocks, width, wrap_code=True)
    return [[(text, ink(meaning)) for text, meaning in line] for line in found]
