"""How often a run is to be repeated, as it is typed on the Run screen, and where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.model.errors import DiskprofError, UsageError
from diskprof.tui.dialogs.form import FormField

if TYPE_CHECKING:
    from diskprof.model.device import DeviceTree
    from diskprof.model.run_series import Repetition, TargetOrder
    from diskprof.runner.session import Outlook, Place, Wish
    from diskprof.tui.run.device_pane import DevicePane
    from diskprof.tui.run.start_flow import StartFlow
    from diskprof.tui.shell.base import ModeScreen

USUAL = 5
"""So often marked targets are repeated where nothing was typed."""
_FIELDS = {
    "series-repeat": "--repeat",
    "series-until": "--until",
    "series-at-most": "--at-most",
    "series-pause": "--pause",
    "series-order": "--in-order",
}
"""The fields, and the options that they are; errors begin with these."""


class RepeatWords(Struct, frozen=True):
    """What was typed: a number of repeats, a percentage, two durations, an order; empty where nothing was."""

    repeat: str = ""
    until: str = ""
    at_most: str = ""
    pause: str = ""
    order: str = ""

    def wanted(self, targets: int) -> Repetition | None:
        """None for one run alone. `targets` is how many there are. Raises UsageError."""
        from diskprof.model.run_series import TargetOrder
        from diskprof.runner.plan.repeats import repetition

        repeats = _number(self.repeat)
        if targets > 1 and repeats is None and not self.until:
            repeats = USUAL
        if targets < 2 and repeats == 1 and not self.until:
            repeats = None
        in_order = _order(self.order) is TargetOrder.IN_ORDER
        return repetition(repeats, self.until, self.at_most, self.pause, in_order=in_order, targets=targets)


def _number(text: str) -> int | None:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{text[:20]!r} is not a number of repeats.", "For example: 5") from None


def _order(text: str) -> TargetOrder:
    from diskprof.model.run_series import TargetOrder

    try:
        return TargetOrder(text.lower().replace("-", " ")) if text else TargetOrder.ALTERNATED
    except ValueError:
        raise UsageError(f"--in-order: {text[:20]!r} is not an order.", "Type: alternated, or: in order.") from None


def without(values: Mapping[str, str]) -> dict[str, str]:
    """The values of the other fields of a form."""
    return {name: value for name, value in values.items() if name not in _FIELDS}


CheckTogether = Callable[[Mapping[str, str]], tuple[str, DiskprofError] | None]


class SeriesChoice:
    """How often what is chosen on `screen` is run, and where: on what is marked among the `devices`. `flow` starts it."""

    def __init__(self, screen: ModeScreen, devices: DevicePane, flow: StartFlow) -> None:
        self._screen, self._devices, self._flow = screen, devices, flow
        self._words = RepeatWords()

    # what is typed

    @property
    def fields(self) -> list[FormField]:
        """What is wrong in them together is for `check`."""
        words = self._words
        values = (words.repeat, words.until, words.at_most, words.pause, words.order)
        abouts = (
            ("Repeat", "number of runs; empty or 1: one run"),
            ("Until", "repeat until the 95% interval of every headline figure is within this, such as 3%"),
            ("At most", "no repeat starts that would end later, such as 20m"),
            ("Pause", "time between two runs, such as 30s"),
            ("Order", "of targets: alternated (A B B A) or in order (A A B B)"),
        )
        return [
            FormField(name, label, value, about, str.strip, short=True)
            for name, value, (label, about) in zip(_FIELDS, values, abouts, strict=True)
        ]

    def take(self, values: Mapping[str, str]) -> None:
        """Take over what was typed into the fields."""
        self._words = _words_of(values)

    def check(self, others: CheckTogether) -> CheckTogether:
        """Checks the fields together, then the `others`."""
        targets = len(self._devices.places)

        def check(values: Mapping[str, str]) -> tuple[str, DiskprofError] | None:
            words = _words_of(values)
            try:
                words.wanted(targets)
            except UsageError as error:
                named = (name for name, option in _FIELDS.items() if error.message.startswith(option))
                return next(named, "series-repeat"), error
            return others(without(values))

        return check

    # what comes of it

    @property
    def sentence(self) -> str:
        """How the run is repeated; empty for one run alone."""
        if self._words == RepeatWords() and not self._devices.marked:
            return ""
        if self._devices.marked == 1:
            return "One target is marked. Mark another: a series alternates them."
        from diskprof.reports.content.series_plan import repetition_words

        targets = len(self._devices.places)
        try:
            wanted = self._words.wanted(targets)
        except UsageError as error:
            return error.message
        return f"Series: {repetition_words(wanted, targets)}." if wanted else ""

    def begin(self, outlook: Outlook, tree: DeviceTree) -> None:
        """Ask whether to start what `outlook` is of: one run, or a series, whose other plans are made in a thread."""
        places = tuple(self._devices.places)
        try:
            wanted = self._words.wanted(len(places))
        except UsageError as error:
            self._screen.diskprof.tell(error)
            return
        if wanted:
            self._screen.run_worker(self._begin(outlook.wish, places, wanted, tree), group="series", exclusive=True)
        else:
            self._flow.begin(outlook, tree)

    async def _begin(self, wish: Wish, places: Sequence[Place], wanted: Repetition, tree: DeviceTree) -> None:
        screen = self._screen
        try:
            planned = await asyncio.to_thread(screen.session.series_outlook, wish, places, wanted)
        except DiskprofError as error:
            screen.diskprof.tell(error)
        else:
            if screen.is_current:
                self._flow.begin_series(planned, tree)


def _words_of(values: Mapping[str, str]) -> RepeatWords:
    return RepeatWords(*(values[name] for name in _FIELDS))
