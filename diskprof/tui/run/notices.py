"""The lines above the Run screen: what goes on, what was left behind, where to begin. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskprof.model.cells import shorten_middle
from diskprof.model.text import clean
from diskprof.model.units import format_duration, format_size
from diskprof.tui.kit.painted import Line, Piece, width_of

if TYPE_CHECKING:
    from diskprof.model.plan import Plan
    from diskprof.model.run import RunSummary


def running_notice(running: Sequence[RunSummary], key: str, width: int) -> Line:
    """A run that goes, with the key that shows it."""
    first = running[0]
    what = f"{clean(first.preset_title)} on {clean(first.target)}" if len(running) == 1 else f"{len(running)} runs"
    verb = "is" if len(running) == 1 else "are"
    return _fitted(("▶", "title"), what, f" {verb} still going: ", key, " watches", width)


def waiting_notice(plan: Plan, others: str, key: str, width: int) -> Line:
    """A start that waits for `others`, words for the runs that are in its way."""
    what = f"{clean(plan.preset_title)} waits for the end of {clean(others)}"
    return _fitted(("…", "warn"), what, ": ", key, " to give up", width)


def leftovers_notice(count: int, size_bytes: int, key: str, width: int) -> Line:
    """What killed runs left behind, with the key that shows and removes it."""
    files = "a test file" if count == 1 else f"{count} test files"
    what = f"Killed runs left {files} ({format_size(size_bytes)})"
    return _fitted(("!", "warn"), what, ": ", key, " to remove", width)


def first_notice(plan: Plan | None, key: str, width: int) -> Line:
    """Where there is no run yet: how to get to the first result. Without a `plan` that may start: what to do for one."""
    if plan is None:
        keys: Line = [(" · ", "quiet"), ("No run yet: choose a device and a preset; ", ""), ("Tab", "key")]
        return [*keys, (" changes the pane", "")]
    what = f"{clean(plan.preset_title)} on {clean(plan.target.path)}"
    tail = f", about {format_duration(plan.seconds)}"
    return _fitted(("·", "quiet"), what, tail, "", "", width, front=("No run yet: ", key, " twice runs "))


def _fitted(
    sign: Piece, what: str, then: str, key: str, tail: str, width: int, *, front: tuple[str, str, str] = ("", "", "")
) -> Line:
    """`sign front what then key tail` in `width` cells; of all that `what` is shortened, in its middle."""
    before: list[Piece] = [(" ", ""), sign, (" ", "")]
    before += [(front[0], ""), (front[1], "key"), (front[2], "")]
    after: list[Piece] = [(then, ""), (key, "key"), (tail, "")]
    room = width - width_of(before) - width_of(after) - 1
    return [piece for piece in (*before, (shorten_middle(what, max(8, room)), ""), *after) if piece[0]]
