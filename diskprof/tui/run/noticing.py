"""What the Run screen tells by itself: a run that goes, what killed runs left behind, where to begin."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from diskprof.model.cells import shorten_middle
from diskprof.model.errors import DiskprofError
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.run.notices import first_notice, leftovers_notice, running_notice
from diskprof.tui.run.shaping import Shaper

if TYPE_CHECKING:
    from diskprof.model.plan import Plan
    from diskprof.runner.leftovers import Leftover

_REMOVE = "remove"
_ROOMY = 20
"""Lines of a terminal from which more than one notice has room."""


class Noticing(Shaper):
    """Keeps the lines above the panes; they take no room where there is nothing to tell."""

    @dataclass(eq=False, repr=False)
    class LeftBehind(Message):
        found: Sequence[Leftover]

    @dataclass(eq=False, repr=False)
    class Removed(Message):
        gone: Sequence[Leftover]
        error: DiskprofError | None = None

    def __init__(self) -> None:
        super().__init__()
        self._left: Sequence[Leftover] = ()
        self._places: tuple[str, ...] = ()
        self._going: frozenset[str] = frozenset()

    def look_around(self) -> None:
        super().look_around()
        self._look_for_leftovers()

    @property
    def startable(self) -> Plan | None:
        """The plan that Enter alone would start, if there is one."""
        return None

    def key_of(self, action: str) -> str:
        """The key of an action as the person has it, for words that name it."""
        # Not of the active bindings: a field takes its keys out of those, and an action may not be possible just now.
        every = (binding for bindings in (self._bindings, self.app._bindings) for _, binding in bindings)
        found = next((binding for binding in every if binding.action == action), None)
        if found is None:
            return ""
        key = self.app._keymap.get(found.id or "", found.key).partition(",")[0]
        return self.app.get_key_display(replace(found, key=key))

    def store_changed(self) -> None:
        going = frozenset(run.id for run in self.diskprof.watcher.state.running)
        if self._going - going:
            self.runs_ended()
        self._going = going
        self.show_notices()

    def _resized(self) -> None:
        super()._resized()
        self.show_notices()

    def runs_ended(self) -> None:
        """A run that went has ended: it may have been killed."""
        self._look_for_leftovers()

    def notices(self, width: int) -> list[Line]:
        """What is to be told, the most important first."""
        state = self.diskprof.watcher.state
        lines: list[Line] = []
        if state.running:
            lines.append(running_notice(state.running, self.key_of("mode('live')"), width))
        if self._left:
            size = sum(each.size_bytes for each in self._left)
            lines.append(leftovers_notice(len(self._left), size, self.key_of("leftovers"), width))
        if state.newest is None and self.device_tree is not None and not lines:
            lines.append(first_notice(self.startable, self.key_of("start"), width))
        return lines

    def show_notices(self) -> None:
        if not self.is_mounted:
            return
        lines = self.notices(self.size.width)[: 2 if self.size.height >= _ROOMY else 1]
        strip = self.query_one("#notice", Lines)
        strip.display = bool(lines)
        strip.styles.height = max(1, len(lines))
        strip.put(lines)

    # what killed runs left

    def plan_made(self, plan: Plan) -> None:
        """Where a run is to work, one of another store may have left something behind."""
        places = tuple(target.path for target in plan.targets if target.kind is TargetKind.DIRECTORY)
        if places != self._places:
            self._places = places
            self._look_for_leftovers()

    @work(thread=True, exclusive=True, group="leftovers")
    def _look_for_leftovers(self) -> None:
        try:
            found = self.session.leftovers(self._places)
        except DiskprofError:
            # The store tells of its troubles by itself.
            return
        self.post_message(self.LeftBehind(found))

    @on(LeftBehind)
    def _left_behind(self, message: LeftBehind) -> None:
        self._left = message.found
        self.show_notices()
        self.refresh_bindings()

    def action_leftovers(self) -> None:
        if not self._left:
            return
        left = self._left
        lines = [
            f"{shorten_middle(clean(each.file.directory), 40)}  {format_size(each.size_bytes)}  {each.origin}"
            for each in left
        ]
        lines += ["", "Their runs were killed, or the power failed."]
        if all(each.known for each in left):
            lines[-1] += " The results of the runs are kept."
        one = len(left) == 1
        self.app.push_screen(
            Ask(
                "Remove this test file?" if one else f"Remove these {len(left)} test files?",
                "\n".join(lines),
                (
                    Answer("n", "Keep it" if one else "Keep them", "keep"),
                    Answer("y", "Remove it" if one else "Remove them", _REMOVE, danger=True),
                ),
            ),
            functools.partial(self._asked_to_remove, left),
        )

    def _asked_to_remove(self, left: Sequence[Leftover], answer: str | None) -> None:
        if answer == _REMOVE:
            self._remove_leftovers(left)

    @work(thread=True, group="remove")
    def _remove_leftovers(self, left: Sequence[Leftover]) -> None:
        gone: list[Leftover] = []
        for each in left:
            try:
                self.session.remove_leftover(each)
            except DiskprofError as error:
                self.post_message(self.Removed(gone, error))
                return
            gone.append(each)
        self.post_message(self.Removed(gone))

    @on(Removed)
    def _removed(self, message: Removed) -> None:
        if message.error:
            self.diskprof.tell(message.error)
        if message.gone:
            count, size = len(message.gone), format_size(sum(each.size_bytes for each in message.gone))
            self.notify(f"Removed {count} test file{'s' if count > 1 else ''}: {size} freed.", timeout=5)
        self._look_for_leftovers()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "leftovers":
            return bool(self._left)
        return super().check_action(action, parameters)
