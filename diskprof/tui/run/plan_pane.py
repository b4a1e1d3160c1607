"""The pane with the plan, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from diskprof.runner.session import Outlook, Wish
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.kit.textual_fixes import set_timer
from diskprof.tui.run.device_rows import doubt_lines
from diskprof.tui.run.preset_lines import error_lines, missing_lines, preset_lines, variant_lines
from diskprof.tui.shell.base import screen_of
from diskprof.tui.shell.keynames import key_of, with_keys

if TYPE_CHECKING:
    from textual.timer import Timer

    from diskprof.devices.guard.target_doubts import Doubt
    from diskprof.model.errors import DiskprofError

Build = Callable[[int], Sequence[Line]]

_SETTLE_S = 0.06
"""How long the cursor rests before a plan is made: moving through the list makes none."""


class PlanPane(Table):
    """Makes plans of what is wished for, in a thread. It has the class `-blocked` while what it shows cannot be started."""

    @dataclass(eq=False, repr=False)
    class Planned(Message):
        """There is an outlook on what is wished for."""

        outlook: Outlook

    def __init__(self) -> None:
        super().__init__(id="plan", classes="pane", cursor=False)
        self.outlook: Outlook | None = None
        """The last one, which may be on what was wished for before."""
        self._wish: Wish | None = None
        self._rest: Timer | None = None
        self._shown: Wish | None = None

    def on_mount(self) -> None:
        self.border_title = "Plan"

    # the plan

    @property
    def ready(self) -> Outlook | None:
        """The outlook, if it is on what is wished for now."""
        return self.outlook if self.outlook and self.outlook.wish == self._wish else None

    @property
    def overwrites(self) -> bool:
        """Whether what is chosen overwrites a device, also in the moment in which its plan is made once more."""
        outlook, wish = self.outlook, self._wish
        if outlook is None or wish is None:
            return False
        return outlook.overwrites and (outlook.wish.place, outlook.wish.preset) == (wish.place, wish.preset)

    @property
    def device(self) -> str:
        """The device that the plan works on; empty without a plan."""
        return self.ready.plan.target.device if self.ready and self.ready.plan else ""

    def wish_for(self, wish: Wish) -> bool:
        """Make a plan as soon as nothing else is wished for; whether another preset or place was wished for before."""
        before, self._wish = self._wish, wish
        if wish == before:
            return False
        if self._rest is not None:
            self._rest.stop()
        self._rest = set_timer(self, _SETTLE_S, lambda: self._plan(wish))
        if self.outlook is None:
            self.say("Making the plan.")
        return before is not None and (wish.place, wish.preset.name) != (before.place, before.preset.name)

    def forget(self) -> None:
        """Nothing is wished for, or it is to be planned anew."""
        self._wish = None

    @work(thread=True, exclusive=True, group="plan")
    def _plan(self, wish: Wish) -> None:
        self.post_message(self.Planned(screen_of(self).session.outlook(wish)))

    @on(Planned)
    def _planned(self, message: Planned) -> None:
        if message.outlook.wish == self._wish:
            self.outlook = message.outlook
        else:
            message.stop()

    # how it is shown

    def say(self, words: str) -> None:
        self._show(lambda width: paragraph(words, width, "quiet", first=((" ", ""),)))

    def show_error(self, error: DiskprofError) -> None:
        self._show(lambda width: error_lines(error.message, error.hint, width))

    def show_outlook(self, outlook: Outlook, below: Build, doubts: Sequence[Doubt], series: str = "") -> None:
        """The plan or what stands against it, what the preset is for, and the lines that `below` makes.

        `doubts` are those about the device; the plan may have them among its hazards. `series` is how it is repeated. What
        is on the same wish as before keeps its place.
        """
        wish, plan, preset = outlook.wish, outlook.plan, outlook.wish.preset
        variant, start = with_keys(self.screen, "{run.variant}"), with_keys(self.screen, "{run.start}")
        allow = key_of(self.screen, "run.allow")

        def lines(width: int) -> Sequence[Line]:
            shown: list[Line] = []
            chosen = variant_lines(preset, wish.variant, wish.settings, variant, width)
            if plan:
                from diskprof.tui.run.plan_lines import plan_lines, switch_lines

                switch = switch_lines(plan, allow, width) if outlook.overwrites else ()
                known = {hazard.name for hazard in plan.hazards}
                doubtful = doubt_lines([doubt for doubt in doubts if doubt.name not in known], width)
                shown = plan_lines(plan, width, chosen, switch, doubtful, datetime.now().astimezone())
            else:
                if outlook.error:
                    shown = error_lines(outlook.error.message, outlook.error.hint, width)
                elif outlook.missing:
                    shown = missing_lines(preset, outlook.missing, start, width)
                shown = [*shown, *([[], *chosen] if chosen else ())]
            repeated = paragraph(series, width, "accent", first=((" ", ""),)) if series else []
            shown = [*repeated, *([[]] if repeated else []), *shown]
            about = preset_lines(preset, width)
            more = below(width)
            told = [*shown, *([[], *about] if about else ()), *([[], *more] if more else ())]
            room = self.size.height - len(told) - 1
            if plan and room > 0:
                from diskprof.tui.run.plan_lines import command_lines

                commands = command_lines(plan, width, room, key_of(self.screen, "run.commands"))
                told += [[], *commands] if commands else []
            return told

        self._show(lines, wish)
        self.set_class(outlook.blocked, "-blocked")

    def _show(self, build: Build, wish: Wish | None = None) -> None:
        self.show(lambda width: [Row(str(at), line) for at, line in enumerate(build(width))])
        if wish is None or wish != self._shown:
            self.scroll_home(animate=False)
        self._shown = wish
