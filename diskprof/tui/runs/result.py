"""A run that has ended, opened from the list: the view of Live, of this run until it is closed."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from diskprof.model.errors import DiskprofError
from diskprof.tui.live.run_page import HELP_OF_RUNS, RunPage


class ResultScreen(RunPage):
    MODE = "runs"
    TITLE_OF_HELP = "Result"
    HELP = HELP_OF_RUNS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="result.back", tooltip="Close what is over the result, then the result"),
        Binding("backspace", "dismiss_result", "Back", id="result.list", show=False, tooltip="Back to the list of runs"),
    ]  # fmt: skip

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self.top.enter(run_id)

    def store_changed(self) -> None:
        """A run that has ended changes only by the person's own hand: it is read once, but for what was put off meanwhile."""
        if self.snapshot is None:
            self._read()
        else:
            self.course.read_more()

    def _read(self) -> None:
        try:
            self.follow(self.run_id)
        except DiskprofError as error:
            self.diskprof.tell(error)
            self.call_later(self.action_dismiss_result)
            return
        self.course.read_more()
        self._draw()
        self.refresh_bindings()

    def on_resize(self, event: events.Resize) -> None:
        self.resized(event)

    def deleted(self) -> None:
        self.dismiss()

    def action_back(self) -> None:
        """Close first what is over the result."""
        if self.course.can("leave"):
            self.course.act("leave")
        else:
            self.dismiss()

    def action_dismiss_result(self) -> None:
        self.dismiss()
