"""What the four modes have in common: the first and last line, the store, and being told when the store changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult

from diskprof.tui.kit.textual_fixes import FixedScreen
from diskprof.tui.shell.bars import KeyBar, TopBar
from diskprof.tui.shell.terminal_app import too_small

if TYPE_CHECKING:
    from pathlib import Path

    from textual.widget import Widget

    from diskprof.runner.session import Session
    from diskprof.store import Store
    from diskprof.tui.app import DiskprofApp


def screen_of(widget: Widget) -> ModeScreen:
    """The mode that a widget belongs to."""
    return cast("ModeScreen", widget.screen)


class ModeScreen(FixedScreen):
    """One of the four modes. A subclass sets MODE, HELP and composes its `body`.

    `store_changed` is called when another process or this one wrote to the store, only while the screen is in sight, and
    once each time it comes into sight. Keys with a description show in the last line and in the command palette.
    """

    MODE: ClassVar[str] = ""
    TITLE_OF_HELP: ClassVar[str] = ""
    COPIES: ClassVar[str] = "the report"
    HELP: ClassVar[str] = ""
    """What this screen is for, in plain text, paragraphs apart by an empty line; its keys are added by themselves."""
    _was_small = False

    def __init__(self) -> None:
        super().__init__()
        self.top = TopBar(self.MODE)

    def compose(self) -> ComposeResult:
        self.set_breakpoints()
        yield self.top
        yield from self.body()
        yield KeyBar()

    def on_resize(self, event: events.Resize) -> None:
        words = too_small(event.size)
        if not words and not self._was_small:
            return
        from textual.widgets import Static

        self._was_small = True
        notice = next(iter(self.query("#too-small").results(Static)), None)
        if words and notice is None:
            self.mount(Static(words, id="too-small", markup=False))
        elif notice is not None:
            notice.display = bool(words)
            notice.update(words)

    def body(self) -> ComposeResult:
        """The widgets between the first and the last line."""
        yield from ()

    @property
    def diskprof(self) -> DiskprofApp:
        return cast("DiskprofApp", self.app)

    @property
    def session(self) -> Session:
        return self.diskprof.session

    @property
    def store(self) -> Store:
        """The store, open for as long as the app runs; to be used from the main thread alone."""
        return self.diskprof.store

    @property
    def kept_path(self) -> Path:
        """The path of the store, for another connection. Raises StoreError if its file is gone or replaced."""
        self.diskprof.place.check()
        return self.store.path

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        self.diskprof.show_state(self)
        self.store_changed()

    def store_changed(self) -> None:
        """Read again what is shown."""

    @property
    def can_copy(self) -> bool:
        """Whether the key that copies is offered."""
        return self.copy_text() is not None

    def copy_text(self) -> Callable[[], str] | None:
        """What makes the text to be copied, called COPIES, in any thread; None where there is nothing."""
        return None

    @property
    def waits(self) -> bool:
        """While the terminal cannot have a further picture yet."""
        return self.diskprof.behind
