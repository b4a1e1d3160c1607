"""The lines above the Run screen: runs in progress, leftover test files, how to start the first run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from diskprof.model.cells import shorten_middle
from diskprof.model.errors import DiskprofError
from diskprof.model.target import TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_duration, format_size
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.kit.painted import Line, Lines, Piece, width_of
from diskprof.tui.shell.base import screen_of
from diskprof.tui.shell.keynames import key_of

if TYPE_CHECKING:
    from diskprof.model.plan import Plan
    from diskprof.model.run import RunSummary
    from diskprof.runner.leftovers import Leftover
    from diskprof.runner.session import Waiting

_REMOVE = "remove"
_ROOMY = 20
"""Lines of a terminal from which more than one notice has room."""


class NoticeStrip(Lines):
    """Takes no room where there is nothing to tell. It looks by itself for what killed runs left."""

    class Changed(Message):
        """Other files than before are left behind, or none."""

    @dataclass(eq=False, repr=False)
    class _LeftBehind(Message):
        found: Sequence[Leftover]

    @dataclass(eq=False, repr=False)
    class _Removed(Message):
        gone: Sequence[Leftover]
        error: DiskprofError | None = None

    def __init__(self) -> None:
        super().__init__(id="notice")
        self.left: Sequence[Leftover] = ()
        self._places: tuple[str, ...] = ()

    def show(self, waiting: Waiting | None, hint: bool, startable: Plan | None) -> None:
        """Show the most important of all that is to be told.

        `hint`: where there is no run yet, say how to get to one, with the plan that Enter would start, if there is one.
        """
        size = self.screen.size
        lines = self._lines_for(waiting, hint, startable, size.width)[: 2 if size.height >= _ROOMY else 1]
        self.display = bool(lines)
        self.styles.height = max(1, len(lines))
        self.put(lines)

    def _lines_for(self, waiting: Waiting | None, hint: bool, startable: Plan | None, width: int) -> list[Line]:
        state = screen_of(self).diskprof.watcher.state
        lines: list[Line] = []
        if state.running:
            lines.append(running_notice(state.running, key_of(self.screen, "app.live"), width))
        if self.left:
            size = sum(each.size_bytes for each in self.left)
            lines.append(leftovers_notice(len(self.left), size, key_of(self.screen, "run.leftovers"), width))
        if state.newest is None and hint and not lines:
            keys = (key_of(self.screen, "run.question"), key_of(self.screen, "run.start"))
            lines.append(first_notice(startable, *keys, width))
        if waiting:
            lines.insert(0, waiting_notice(waiting, key_of(self.screen, "run.start"), width))
        return lines

    # what killed runs left

    def look_in(self, plan: Plan) -> None:
        """Where a run is to work, one of another store may have left something behind."""
        places = tuple(target.path for target in plan.targets if target.kind is TargetKind.DIRECTORY)
        if places != self._places:
            self._places = places
            self.look()

    @work(thread=True, exclusive=True, group="leftovers")
    def look(self) -> None:
        try:
            found = screen_of(self).session.leftovers(self._places)
        except DiskprofError:
            # The store tells of its troubles by itself.
            return
        self.post_message(self._LeftBehind(found))

    @on(_LeftBehind)
    def _left_behind(self, message: _LeftBehind) -> None:
        self.left = message.found
        self.post_message(self.Changed())

    def ask_to_remove(self) -> None:
        if not self.left:
            return
        left = self.left
        lines = [
            f"{shorten_middle(clean(each.directory), 40)}  {format_size(each.size_bytes)}  {each.origin}"
            for each in left
        ]
        lines += ["", "Their runs were killed, or the power failed."]
        if all(each.known for each in left):
            lines[-1] += " The results remain."
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
            functools.partial(self._answered, left),
        )

    def _answered(self, left: Sequence[Leftover], answer: str | None) -> None:
        if answer == _REMOVE:
            self._remove(left)

    @work(thread=True, group="remove")
    def _remove(self, left: Sequence[Leftover]) -> None:
        gone: list[Leftover] = []
        for each in left:
            try:
                screen_of(self).session.remove_leftover(each)
            except DiskprofError as error:
                self.post_message(self._Removed(gone, error))
                return
            gone.append(each)
        self.post_message(self._Removed(gone))

    @on(_Removed)
    def _removed(self, message: _Removed) -> None:
        if message.error:
            screen_of(self).diskprof.tell(message.error)
        if message.gone:
            count, size = len(message.gone), format_size(sum(each.size_bytes for each in message.gone))
            self.notify(f"Removed {count} test file{'s' if count > 1 else ''}: {size} freed.", timeout=5)
        self.look()


def running_notice(running: Sequence[RunSummary], key: str, width: int) -> Line:
    """A run that goes, with the key that shows it."""
    first = running[0]
    what = f"{clean(first.preset_title)} on {clean(first.target)}" if len(running) == 1 else f"{len(running)} runs"
    return _fitted(("▶", "title"), what, ": press ", key, " to view", width, front=[("Running: ", "")])


def waiting_notice(waiting: Waiting, key: str, width: int) -> Line:
    """A start that waits for other runs, with the key that gives it up."""
    others = " and ".join(f"{other.title} on {other.target}" for other in waiting.others)
    front = f"{shorten_middle(clean(waiting.plan.preset_title), 24)} queued after "
    return _fitted(("…", "title"), clean(others), "; ", key, " cancels", width, front=[(front, "")])


def leftovers_notice(count: int, size_bytes: int, key: str, width: int) -> Line:
    """What killed runs left behind, with the key that shows and removes it."""
    what = f"{count} leftover test file{'s' if count > 1 else ''} ({format_size(size_bytes)})"
    return _fitted(("!", "warn"), what, ": press ", key, " to delete", width)


def first_notice(plan: Plan | None, asks: str, starts: str, width: int) -> Line:
    """Where there is no run yet: the keys that lead to the first result. Without a `plan` that may start: what to do for one."""
    question: list[Piece] = [(asks, "key"), (": What should I run? ", "")]
    if plan is None:
        choose: Line = [("Or choose a device and a preset; ", ""), ("Tab", "key"), (" switches panes", "")]
        return [(" · ", "quiet"), *question, *choose]
    what = f"{clean(plan.preset_title)} on {clean(plan.target.path)}"
    tail = f" ({format_duration(plan.likely_seconds)})"
    front = [*question, ("Or press ", ""), (starts, "key"), (" twice: ", "")]
    return _fitted(("·", "quiet"), what, tail, "", "", width, front=front)


def _fitted(sign: Piece, what: str, then: str, key: str, tail: str, width: int, *, front: Line = ()) -> Line:
    """`sign front what then key tail` in `width` cells; of all that `what` is shortened, in its middle."""
    before: list[Piece] = [(" ", ""), sign, (" ", ""), *front]
    after: list[Piece] = [(then, ""), (key, "key"), (tail, "")]
    room = width - width_of(before) - width_of(after) - 1
    return [piece for piece in (*before, (shorten_middle(what, max(8, room)), ""), *after) if piece[0]]
