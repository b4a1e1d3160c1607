"""Something to read over the screen: scrolls, and closes with any of the usual keys."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from diskprof.tui.shell.keynames import with_keys


class TextPage(ModalScreen[None]):
    """`title` and `text` are shown as they are; `text` must have gone through `clean` where it is foreign."""

    # A relative path would be looked for beside the module of a subclass.
    CSS_PATH = Path(__file__).with_name("text_page.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter,f1,C", "back", "Close", id="reading.close", show=False),
        Binding("down,j", "move(1)", "Down", id="reading.down", show=False),
        Binding("up,k", "move(-1)", "Up", id="reading.up", show=False),
    ]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static(self._text, id="reading-text")

    def on_mount(self) -> None:
        # Empty where the terminal hangs up in this very moment.
        for box in self.query(".dialog"):
            box.border_title = Content(self._title).markup
            self.watch(box, "scroll_y", self._mark, init=False)
            self.call_after_refresh(self._mark)

    def on_resize(self) -> None:
        self.call_after_refresh(self._mark)

    def _mark(self) -> None:
        """Say at the lower edge how much of the text is in sight."""
        box = self.query_one(".dialog")
        closes = with_keys(self, "{reading.close} closes")
        lines, height = box.virtual_size.height, box.scrollable_content_region.height
        last = min(round(box.scroll_y) + height, lines)
        more = f"lines {round(box.scroll_y) + 1}-{last} of {lines}, PgDn scrolls   " if lines > height > 0 else ""
        box.border_subtitle = f"{more}{closes}"

    def action_back(self) -> None:
        self.dismiss(None)

    def action_move(self, lines: int) -> None:
        self.query_one(".dialog").scroll_relative(y=lines, animate=False)
