"""Run: devices, presets and what will happen, side by side; Enter starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer

from diskprof.devices.guard.doubts import Doubt
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.plan import WritePermission
from diskprof.runner.session import Outlook, Wish
from diskprof.tui.dialogs.text_page import Reading
from diskprof.tui.kit.table import Table
from diskprof.tui.run.planpane import Build, PlanPane
from diskprof.tui.run.starting import Starter
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from diskprof.model.plan import Plan

_SETTLE_S = 0.06
"""How long the cursor rests before a plan is made: moving through the list makes none."""


class RunScreen(Starter):
    """Holds what is chosen; the plan is made in a thread and shown when it is there."""

    MODE: ClassVar[str] = "run"
    CSS_PATH = "run.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    TITLE_OF_HELP: ClassVar[str] = "Run"
    COPIES: ClassVar[str] = "the list of commands"
    HELP: ClassVar[str] = """
Choose what to test and how (the arrow keys lead to the next pane too), and press {run.start}: what will happen is shown once
more before anything starts. Where a run goes on the same disk already, {run.start} offers to wait for its end.

A device that carries a file system is tested through a file that diskprof makes in a directory there and removes again.
A device without one is only read, unless you switch writing to it on ({run.allow}) and type its name at the start: what is on it is
lost then. What is in use is never written to, nor is a file of yours.

The graph behind a name is what the device read and wrote in the last seconds. A ! warns of a device that a test would
disturb, or that would disturb the test: the details say why. Devices that come or go appear by themselves.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start", id="run.start", tooltip="Show what will happen, then start"),
        Binding(
            "x", "allow", "Allow writing", id="run.allow", tooltip="Let the test overwrite the chosen device, or not"
        ),
        Binding(
            "o",
            "other",
            "Other target",
            id="run.other",
            tooltip="Test another path, or name the several targets of a preset",
        ),
        Binding("e", "edit", "Edit", id="run.edit", tooltip="Change size, runtime and other parameters"),
        Binding(
            "v", "variant", "Variant", id="run.variant", tooltip="The next variant of the preset, such as a quick one"
        ),
        Binding(
            "slash",
            "filter",
            "Filter",
            id="run.filter",
            key_display="/",
            tooltip="Find presets by words of name, title, summary or source",
        ),
        Binding(
            "c",
            "commands",
            "Commands",
            id="run.commands",
            tooltip="The exact commands, and the job file for plain fio",
        ),
        Binding(
            "w", "save", "Save as", id="run.save", tooltip="Write the preset with its parameters as one of your own"
        ),
        Binding("a", "all", "All devices", id="run.all", tooltip="Show or hide empty loop, ram and zram devices"),
        Binding("escape", "unfilter", "All presets", id="run.unfilter", tooltip="Clear the filter, show all presets"),
        Binding(
            "d", "leftovers", "Leftovers", id="run.leftovers", tooltip="See and remove what killed runs left behind"
        ),
        Binding("tab", "app.focus_next", "Next pane", id="run.next-pane", show=False, tooltip="The next pane"),
        Binding("right", "pane(1)", "Next pane", id="run.presets", show=False, tooltip="From devices to presets"),
        Binding("left", "pane(-1)", "Pane before", id="run.devices", show=False, tooltip="From presets to devices"),
        Binding("r", "rescan", "Look again", id="run.rescan", show=False, tooltip="Look for devices and presets again"),
    ]

    @dataclass(eq=False, repr=False)
    class Planned(Message):
        outlook: Outlook

    def __init__(self) -> None:
        super().__init__()
        self._outlook: Outlook | None = None
        self._wish: Wish | None = None
        self._rest: Timer | None = None
        self._start_when_ready = False
        self._write_to: tuple[object, ...] | None = None
        self._doubted: tuple[Doubt, ...] = ()

    # what is chosen, and what would happen

    @on(Table.Moved)
    def _moved(self) -> None:
        self.show_details()
        self.choice_changed()

    @on(Table.Chosen)
    def _double_clicked(self) -> None:
        self.action_start()

    def choice_changed(self) -> None:
        """What is wished for may have changed: make a plan as soon as the cursor rests."""
        self.refresh_bindings()
        place, preset, tree = self.place(), self.preset(), self.device_tree
        if self.filtered_out:
            # What was wished for is out of sight: it must not be what Enter starts.
            self._wish = None
            self._start_when_ready = False
            self.say(with_keys(self, "No preset is chosen. {run.unfilter} shows all of them."))
            return
        if place is None or preset is None or tree is None:
            return
        named = self.named.get(preset.name, {})
        permission = WritePermission(allowed=self._write_to == self._written_to)
        wish = Wish(preset, place, tree, self.settings(preset), named, self.variant(preset), permission)
        if wish == self._wish:
            return
        before = self._wish
        if before is not None and (wish.place, wish.preset.name) != (before.place, before.preset.name):
            self._start_when_ready = False
        self._wish = wish
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_SETTLE_S, lambda: self._make_plan(wish))

    @work(thread=True, exclusive=True, group="plan")
    def _make_plan(self, wish: Wish) -> None:
        self.post_message(self.Planned(self.session.outlook(wish)))

    @on(Planned)
    def _planned(self, message: Planned) -> None:
        if message.outlook.wish != self._wish:
            return
        self._outlook = message.outlook
        if message.outlook.plan:
            self.plan_made(message.outlook.plan)
        self._show_outlook()
        self.show_details()
        self.show_notices()
        self.refresh_bindings()
        if self._start_when_ready:
            self._start_when_ready = False
            self.action_start()

    @property
    def _ready(self) -> Outlook | None:
        """The outlook, if it is on what is chosen now."""
        return self._outlook if self._outlook and self._outlook.wish == self._wish else None

    def _show_outlook(self) -> None:
        outlook, preset = self._ready, self.preset()
        if outlook is not None and preset is not None:
            wide = self.has_class("-wide")
            below: Build = (lambda _width: []) if wide else self.device_lines
            self._doubted = () if wide else self.doubts()
            self._pane.show_outlook(outlook, preset, below, self.key_of("allow"), self._doubted)

    def show_details(self) -> None:
        super().show_details()
        if not self.has_class("-wide") and self.doubts() != self._doubted:
            self._show_outlook()

    @property
    def planned_device(self) -> str:
        plan = self._ready.plan if self._ready else None
        return plan.target.device if plan else ""

    def say(self, words: str) -> None:
        self._pane.say(words)

    def show_failure(self, error: DiskprofError) -> None:
        self._pane.show_error(error)

    @property
    def suggested(self) -> str:
        return self._ready.suggested if self._ready else ""

    @property
    def _pane(self) -> PlanPane:
        return self.query_one("#plan", PlanPane)

    # what can be done

    def action_start(self) -> None:
        if self._starting:
            return
        if self.waits:
            self.ask_about_waiting()
            return
        if self.filtered_out:
            words = "No preset has the words of the filter. {run.unfilter} shows all of them."
            self.app.notify(with_keys(self, words), timeout=4, markup=False)
            return
        # The cursor may have gone elsewhere by a key that came with this one: that is told of only after it.
        self.choice_changed()
        outlook = self._ready
        if outlook is None:
            self._start_when_ready = True
            return
        preset = self.preset()
        if outlook.error:
            self.diskprof.tell(outlook.error)
        elif outlook.missing and preset is not None:
            self.name_targets(preset, self.action_start)
        elif outlook.plan and preset is not None:
            self.begin(outlook)

    def action_allow(self) -> None:
        """Turn writing to the chosen device on or off. It is off again for another device, and after each start."""
        self._write_to = None if self._write_to == self._written_to else self._written_to
        self.choice_changed()

    @property
    def _written_to(self) -> tuple[object, ...]:
        """What the switch is for: the place, the paths that the preset asks for, and that very disk (F35)."""
        place, preset, tree = self.place(), self.preset(), self.device_tree
        named = tuple(self.named.get(preset.name, {}).items()) if preset else ()
        # A path that was typed is that of the node where it is one of a device.
        chosen = {place.device, place.path, *(path for _, path in named)} if place else set()
        disks = tuple(device.diskseq for device in tree.devices if chosen & {device.name, device.node}) if tree else ()
        return place, named, disks

    def started(self) -> None:
        self._write_to = None
        self._show_outlook()
        self.choice_changed()

    def runs_ended(self) -> None:
        super().runs_ended()
        # What was in the way, or took up room, may be gone.
        self._wish = None
        self.choice_changed()

    @property
    def startable(self) -> Plan | None:
        outlook = self._ready
        plan = outlook.plan if outlook and not outlook.blocked else None
        # A device that is overwritten takes more than a key.
        return None if plan is None or plan.raw_devices else plan

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "allow":
            outlook = self._ready if self.is_mounted else None
            return outlook is not None and outlook.overwrites
        return super().check_action(action, parameters)

    @property
    def can_copy(self) -> bool:
        # Also in the moment in which the next plan is made, or the last line would flicker.
        return self._outlook is not None and self._outlook.plan is not None

    def copy_text(self) -> Callable[[], str] | None:
        from diskprof.tui.shell.copying import commands_of

        return partial(commands_of, self._ready.plan) if self._ready and self._ready.plan else None

    def action_commands(self) -> None:
        outlook, preset = self._ready, self.preset()
        if outlook and outlook.plan and preset:
            from diskprof.tui.run.plan_lines import commands_text

            text = commands_text(outlook.plan, _job_file(outlook.wish))
            self.app.push_screen(Reading("Commands", text))


def _job_file(wish: Wish) -> str:
    """The preset, as it is wished for, as fio would read it; empty where it has no test of fio's."""
    from diskprof.presets.files.fio_text import job_file

    try:
        return job_file(wish.preset, wish.settings)
    except UsageError:
        return ""
