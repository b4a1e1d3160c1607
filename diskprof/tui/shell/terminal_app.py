"""The app and its terminal: how much it gets, keys that come at once, signals, ctrl+z, the clipboard, what the person is told."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.driver import Driver
from textual.geometry import Size
from textual.notifications import Notify

from diskprof.config.settings import Settings, SlowLink
from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError, ExitCode
from diskprof.model.text import clean
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.terminal.driver import LettingGoDriver
from diskprof.tui.kit.textual_fixes import FixedApp
from diskprof.tui.kit.theme import sixteen
from diskprof.tui.shell.keynames import plain_key

if TYPE_CHECKING:
    from textual.binding import Binding

LEAST = (60, 16)
"""Columns and lines in which everything can be used."""
USABLE = (40, 10)
"""On a smaller terminal a notice replaces the screen; the keys still work."""


def _below(size: Size, least: tuple[int, int]) -> bool:
    return size.width < least[0] or size.height < least[1]


def too_small(size: Size) -> str:
    """The notice that replaces a screen without room; empty if there is room."""
    words = f"{size.width}x{size.height} is too small: diskprof needs {LEAST[0]}x{LEAST[1]}."
    return words if _below(size, USABLE) else ""


class TerminalApp(FixedApp):
    """What does not depend on what is shown. A subclass sets `settings` and `charset`, and follows `calm_down`."""

    settings: Settings
    charset: Charset
    calm = False
    """Whether the terminal gets fewer frames and colours."""
    _told_small = False

    def catch_signals(self) -> None:
        """Restore the terminal on a hang-up or kill (F37); a run in progress is another process."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, self._signalled)
            except (ValueError, RuntimeError):  # not the main thread: an embedded or tested app
                return

    def _signalled(self) -> None:
        self.exit(return_code=ExitCode.INTERRUPTED)

    def calm_down(self) -> None:
        """Fewer frames, and colours that take fewer bytes."""
        self.calm = True
        self.add_class("-calm")
        self.theme = sixteen(dark=self.current_theme.dark)

    def on_resize(self, event: events.Resize) -> None:
        small = _below(event.size, LEAST) and not _below(event.size, USABLE)
        if small and not self._told_small:
            self._told_small = True
            self.notify(f"From {LEAST[0]}x{LEAST[1]} on everything can be reached; this is less.", timeout=4)
        if isinstance(self._driver, LettingGoDriver):
            self._driver.send_only_changes(event.size.width)
            # Terminals move what they show, and of several sizes in a row only the last comes here, which may be that of before.
            self.screen.refresh(layout=True)

    def action_redraw(self) -> None:
        """Send everything again: something else may have written over it."""
        if isinstance(self._driver, LettingGoDriver):
            self._driver.send_only_changes(self.size.width)
        self.screen.refresh(layout=True)

    @on(Driver.SignalResume)
    def _draw_again(self) -> None:
        # Textual takes what it drew before it was stopped for what stands there.
        self.action_redraw()

    def notice_slow_link(self) -> None:
        driver = self._driver
        if self.calm or self.settings.slow_link is SlowLink.OFF or not isinstance(driver, LettingGoDriver):
            return
        if driver.pace.slow:
            self.calm_down()
            self.notify("The terminal lags behind, so it gets fewer frames and colours.", timeout=4)

    @property
    def behind(self) -> bool:
        """Whether the terminal lags so far behind that a frame is better not sent yet."""
        driver = self._driver
        return isinstance(driver, LettingGoDriver) and driver.pace.behind

    def get_key_display(self, binding: Binding) -> str:
        shown = super().get_key_display(binding)
        return plain_key(shown) if self.plain else shown

    @property
    def plain(self) -> bool:
        """Whether signs and charts have to do with ASCII."""
        return self.charset is Charset.ASCII

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        from diskprof.tui.shell.copying import clipboard_sequences, copy_of, keep_copy, told

        copy = copy_of(self.screen)
        if copy is None:
            self.notify("There is nothing to copy here yet.", timeout=4)
            return
        try:
            text = await asyncio.to_thread(copy.make)
            kept = await asyncio.to_thread(keep_copy, text)
        except DiskprofError as error:
            self.tell(error)
            return
        sequences = list(clipboard_sequences(text, os.environ))
        for sequence in sequences:
            if self._driver is not None:
                self._driver.write(sequence)
        self.notify(clean(told(copy, kept, sent=bool(sequences))), timeout=8, markup=False)

    def action_suspend_process(self) -> None:
        """Back to the shell, if one would notice and could bring diskprof back."""
        from diskprof.tui.kit.terminal.jobcontrol import has_a_shell

        if not isinstance(self._driver, LettingGoDriver) or not has_a_shell():
            self.notify("There is no shell to go back to here.", timeout=4)
            return
        self._suspend_signal()
        self._driver.suspend_job()

    def on_notify(self, event: Notify) -> None:
        new = event.notification
        if any(
            (each.message, each.title, each.severity) == (new.message, new.title, new.severity)
            for each in self._notifications
        ):
            # It stands there still: once more would only hide more of the screen.
            event.prevent_default()

    def tell(self, error: DiskprofError) -> None:
        """Show an error as a sentence with its next step."""
        self.notify(
            clean(on_screen(error.hint), keep_newlines=True) or " ",
            title=clean(error.message),
            severity="error",
            timeout=12,
            markup=False,
        )
