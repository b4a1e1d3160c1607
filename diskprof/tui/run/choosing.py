"""What there is to choose from on the Run screen, and what is chosen: devices, paths of the person's own, presets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from diskprof.devices.guard.doubts import Doubt, doubts, system_disks
from diskprof.model.device import Device, DeviceTree
from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.runner.session import Place
from diskprof.tui.kit.field import Field as TextField
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.kit.rooms import Across, Down
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.kit.turns import Turns
from diskprof.tui.run.device_rows import DeviceTable, View, key_of, place_of
from diskprof.tui.run.device_rows import device_lines as about_device
from diskprof.tui.run.machine import Machine
from diskprof.tui.run.planpane import PlanPane
from diskprof.tui.run.run_lines import broken_words, matching, nothing_found, preset_rows
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from diskprof.model.preset import Preset
    from diskprof.presets.library import Library

_LOOK_EVERY_S = 0.5
"""Events come in flocks (one disk with its partitions is a dozen), and what each look finds is newer than all before it."""

MOST_PATHS = 3
"""So many of the paths that the person typed stand above the devices, the newest first."""


class Chooser(ModeScreen):
    """The panes of devices and presets. A subclass makes something of what is chosen: `choice_changed`."""

    @dataclass(eq=False, repr=False)
    class Scanned(Message):
        tree: DeviceTree
        default: str | None

    @dataclass(eq=False, repr=False)
    class Loaded(Message):
        library: Library

    @dataclass(eq=False, repr=False)
    class Failed(Message):
        error: DiskprofError

    def __init__(self) -> None:
        super().__init__()
        self.device_tree: DeviceTree | None = None
        self.edited: dict[str, dict[str, str]] = {}
        self._library: Library | None = None
        self.paths: list[str] = []
        self._show_all = False
        self._words = ""
        self._rows: Callable[[int], list[Row]] = lambda _width: []
        self._machine: Machine | None = None
        self._turns = Turns()
        self._looking: Worker[None] | None = None
        self._look_due: Timer | None = None

    # for the subclass

    def choice_changed(self) -> None:
        """Device, preset, parameters or the devices themselves may be others now."""

    def say(self, words: str) -> None:
        """Show a sentence in the place of a plan."""

    def show_failure(self, error: DiskprofError) -> None:
        """Show why there is nothing to choose from."""

    def body(self) -> ComposeResult:
        yield Lines(id="notice")
        with Across(id="run"):
            with Down(id="choices"):
                with Down(id="where"):
                    yield Table(id="devices", classes="pane")
                    yield Lines(id="details", classes="pane")
                with Down(id="what"):
                    yield Table(id="presets", classes="pane")
                    words = with_keys(self, "words to look for; {run.unfilter} shows all")
                    yield TextField(placeholder=words, id="preset-filter", compact=True)
            yield PlanPane(id="plan", classes="pane")

    def on_mount(self) -> None:
        titles = {"devices": "Device", "presets": "Preset", "plan": "What will happen"}
        for name, title in titles.items():
            self.query_one(f"#{name}").border_title = title
        self.query_one("#devices", Table).focus()
        self.say("Looking for devices and presets.")
        # After the first frame: what these import would only hold it up (F44), in a thread as well. By way of the app, since
        # what is drawn while the app itself is still being mounted is not sent.
        self.app.call_later(self.call_after_refresh, self._begin)

    def _begin(self) -> None:
        if self._machine is None and self.is_running:
            self._machine = Machine(self.session, self._rescan)
            self.look_around()
            self.set_interval(1.0, self._tick)

    def look_around(self) -> None:
        """Find out what there is, in threads."""
        self._scan()
        self._load()

    def on_unmount(self) -> None:
        if self._machine:
            self._machine.close()

    # what there is

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Textual calls the base's handler after this one."""
        if self._machine is not None:
            self._machine.catch_up()
            self._scan()

    def _tick(self) -> None:
        # Behind another screen nothing is looked for: what it takes would be taken from what is measured there.
        if self._machine is None or not self.is_current:
            return
        self._machine.look()
        if self.device_tree is not None:
            stirred = self._machine.count()
            if not stirred:
                return
            self.query_one("#devices", Table).show(self._rows)
            if (chosen := self.chosen_device()) and chosen.name in stirred:
                self.show_details()

    def _rescan(self) -> None:
        # Behind another screen a look would take from what is measured there; coming back, it looks in any case.
        if not self.is_current or self._look_due is not None:
            return
        looking = self._looking is not None and not self._looking.is_finished
        if left := _LOOK_EVERY_S if looking else self._turns.left_s("devices", _LOOK_EVERY_S):
            self._look_due = self.set_timer(left, self._look_again)
        else:
            self._looking = self._scan()

    def _look_again(self) -> None:
        self._look_due = None
        self._rescan()

    def action_rescan(self) -> None:
        self.look_around()

    @work(thread=True, exclusive=True, group="scan")
    def _scan(self) -> None:
        session = self.session
        try:
            tree = session.scan()
            default = session.default_device(tree)
        except DiskprofError as error:
            self.post_message(self.Failed(error))
            return
        self.post_message(self.Scanned(tree, default.name if default else None))

    @work(thread=True, exclusive=True, group="load")
    def _load(self) -> None:
        try:
            library = self.session.load_library()
        except DiskprofError as error:
            self.post_message(self.Failed(error))
            return
        self.post_message(self.Loaded(library))

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        self.diskprof.tell(message.error)
        if self.device_tree is None or self._library is None:
            self.show_failure(message.error)

    @on(Scanned)
    def _scanned(self, message: Scanned) -> None:
        first = self.device_tree is None
        self.device_tree = message.tree
        devices = self.query_one("#devices", Table)
        if first:
            if message.default is None and not self.paths:
                # No device here carries a directory that may be written to: offer where one stands.
                self.paths.append(_here())
            key = key_of(Place(device=message.default or "", path="" if message.default else self.paths[0]))
            devices.key = key
        self._show_devices()
        self.show_details()
        self.choice_changed()

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        first = self._library is None
        self._library = message.library
        presets = self.query_one("#presets", Table)
        if first:
            presets.key = self.diskprof.settings.preset
        self._show_presets()
        if problems := message.library.problems:
            title, text = broken_words(problems)
            self.app.notify(text, title=title, severity="warning", timeout=10, markup=False)
        self.choice_changed()

    def _show_devices(self) -> None:
        tree = self.device_tree
        if tree is None:
            return
        paths, view = tuple(self.paths), self.view

        @cache
        def table(width: int) -> DeviceTable:
            return DeviceTable(tree, paths, view, width)

        self._rows = lambda width: table(width).rows()
        devices = self.query_one("#devices", Table)
        devices.show(self._rows)
        wide = self.has_class("-wide")
        most = max(5, self.size.height // 3 + len(self.paths))
        devices.styles.height = None if wide else min(len(devices.rows) + 2, most)

    def _show_presets(self) -> None:
        library = self._library
        if library is not None:
            presets = matching(library.presets, self._words)
            pane = self.query_one("#presets", Table)
            words = self._words.strip()
            pane.border_title = Content(f"Preset: {clean(words)}" if words else "Preset").markup
            key = with_keys(self, "{run.unfilter}")
            pane.show(lambda width: preset_rows(presets, self.edited, width) or nothing_found(key, width))

    def on_resize(self, _event: events.Resize) -> None:
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        self._show_devices()
        self.show_details()

    # what is chosen

    def place(self) -> Place | None:
        return place_of(self.query_one("#devices", Table).key)

    def preset(self) -> Preset | None:
        name = self.query_one("#presets", Table).key
        if self._library is None or name is None:
            return None
        return next((preset for preset in self._library.presets if preset.name == name), None)

    @property
    def view(self) -> View:
        """What the devices are drawn from now."""
        history = self._machine.history if self._machine else {}
        return View(history, self.diskprof.charset, self._show_all)

    @property
    def planned_device(self) -> str:
        """The device below a path that the person typed, once it is known."""
        return ""

    def chosen_device(self) -> Device | None:
        """The device that is chosen, or the one below the chosen path."""
        place, tree = self.place(), self.device_tree
        return tree.get(place.device or self.planned_device) if place and tree else None

    def doubts(self) -> tuple[Doubt, ...]:
        """What speaks against testing the chosen device now."""
        device, tree = self.chosen_device(), self.device_tree
        if device is None or tree is None:
            return ()
        return doubts(device, tree, self.view.recent(device.name), system_disks(tree))

    def show_details(self) -> None:
        """Show what is known of the chosen device, where there is a pane for it."""
        device, details = self.chosen_device(), self.query_one("#details", Lines)
        title = clean(device.label) if device else ""
        if details.border_title != title:
            details.border_title = title
        details.put(self.device_lines(details.size.width))

    def device_lines(self, width: int) -> list[Line]:
        place, device = self.place(), self.chosen_device()
        path = place.path if place else ""
        lines = paragraph(clean(path), width, first=((" ", ""),)) if path else []
        return lines + (about_device(device, self.doubts(), self.view, width) if device else [])

    def action_pane(self, step: int) -> None:
        wanted = "#presets" if step > 0 else "#devices"
        # At once: the next key may be there already.
        self.set_focus(self.query_one(wanted, Table))

    # the filter of the presets

    @property
    def filtered_out(self) -> bool:
        """The filter leaves no preset to choose."""
        return self._library is not None and bool(self._words.strip()) and self.preset() is None

    def action_filter(self) -> None:
        field = self.query_one("#preset-filter", TextField)
        field.add_class("shown")
        # At once: the words may be there already.
        self.set_focus(field)

    def action_unfilter(self) -> None:
        field = self.query_one("#preset-filter", TextField)
        field.value = ""
        field.remove_class("shown")
        self._look_for("")
        self.query_one("#presets", Table).focus()

    def _look_for(self, words: str) -> None:
        if words != self._words:
            self._words = words
            self._show_presets()
            self.choice_changed()

    @on(TextField.Changed, "#preset-filter")
    def _filter_changed(self, event: TextField.Changed) -> None:
        self._look_for(event.value)

    @on(TextField.Submitted, "#preset-filter")
    def _filter_done(self, event: TextField.Submitted) -> None:
        if not event.value.strip():
            self.query_one("#preset-filter", TextField).remove_class("shown")
        self.query_one("#presets", Table).focus()

    def action_all(self) -> None:
        self._show_all = not self._show_all
        self._show_devices()
        self.app.notify("Empty devices are shown." if self._show_all else "Empty devices are hidden.", timeout=2)


def _here() -> str:
    """The present directory, or the person's home if that has been removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return str(Path.home())
