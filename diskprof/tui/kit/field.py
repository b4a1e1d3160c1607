"""A field to write in that lets nothing through to the terminal that is not text."""

from typing import Any

from rich.cells import cell_len
from textual.binding import Binding
from textual.events import Key
from textual.geometry import Region
from textual.widgets import Input

from diskprof.model.text import clean

_EDITS = {
    key: binding.action for binding in Input.BINDINGS if isinstance(binding, Binding) for key in binding.key.split(",")
}


class Field(Input):
    """An input whose value holds no control characters, however they came: typed, pasted or set (F39)."""

    def __init__(self, value: str | None = None, *, marked: bool = False, **options: Any) -> None:
        """`marked`: what stands there is replaced by the first key, as a value of one word is; other text is gone on with."""
        super().__init__(value, select_on_focus=marked, **options)

    def validate_value(self, value: str) -> str:
        return clean(value)

    def on_resize(self) -> None:
        """The cursor is in sight before a key is pressed, too: of a long path its end is, where one goes on."""
        at = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(at, 0, 1, 1), force=True, animate=False)

    async def on_key(self, event: Key) -> None:
        """Edits at once: Textual looks for the action of a key after the letters that came with it, as over a slow line."""
        action = None if event.is_printable else _EDITS.get(event.key)
        if action and not self.disabled:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
