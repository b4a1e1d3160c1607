"""How a dialog shares a small terminal between what there is to read and what there is to answer."""

from textual.containers import VerticalScroll
from textual.widget import Widget

_FRAME = 4
"""Lines of a dialog's border and padding."""
_LEAST = 3


def share_height(text: VerticalScroll, answers: Widget, needed: int, portion: float) -> None:
    """Let `text` have what `answers`, `needed` lines high, leave of a dialog that may take `portion` of the terminal.

    Both scroll: where there is little room neither is pushed out of sight.
    """
    room = int(text.app.size.height * portion) - _FRAME
    most = max(_LEAST, room - needed - 1)
    text.styles.max_height = most
    answers.styles.max_height = max(1, room - min(text.virtual_size.height, most) - 1)
