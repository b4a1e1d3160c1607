"""The devices of the Run screen, with the paths that the person typed, and what is known of the chosen one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on, work
from textual.message import Message

from diskprof.config.remembered import Remembered
from diskprof.devices.guard.target_doubts import Doubt, system_disks
from diskprof.model.errors import DiskprofError, StoreError
from diskprof.model.run_series import letter
from diskprof.model.text import clean
from diskprof.runner.session import Place
from diskprof.tui.kit.containers import Down
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.kit.redraw_pace import Turns
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.kit.textual_fixes import set_timer
from diskprof.tui.run.device_activity import Machine
from diskprof.tui.run.device_rows import DevicesView, DeviceTable, key_of, place_of
from diskprof.tui.run.headings import edge_title
from diskprof.tui.shell.base import screen_of
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

    from diskprof.model.device import Device, DeviceTree
    from diskprof.tui.run.device_card import DeviceFacts

_LOOK_EVERY_S = 0.5
"""Events come in flocks (one disk with its partitions is a dozen), and what each look finds is newer than all before it."""

_FRESH_S = 60.0
"""A temperature on the card is no older."""
_NARROW_LINES = 24
_MOST_PATHS = 3
"""So many of the paths that the person typed stand above the devices, the newest first."""


class DevicePane(Down):
    """Looks for devices while its screen is in sight. `below` gives the device below a path that was typed, once it is known."""

    class Changed(Message):
        """Another place is chosen, or the devices are others."""

    @dataclass(eq=False, repr=False)
    class Failed(Message):
        error: DiskprofError

    @dataclass(eq=False, repr=False)
    class _Gone(Message):
        path: str

    @dataclass(eq=False, repr=False)
    class _Examined(Message):
        facts: DeviceFacts

    @dataclass(eq=False, repr=False)
    class _Scanned(Message):
        tree: DeviceTree
        default: str | None

    def __init__(self, below: Callable[[], str]) -> None:
        self.list = Table(id="devices", classes="pane")
        self.details = Lines(id="details", classes="pane")
        super().__init__(self.list, id="where")
        self.device_tree: DeviceTree | None = None
        self._below = below
        self._paths: list[str] = []
        self.remembered = Remembered()
        """What was tested last; chosen at first if it is still there."""
        self._default: Place | None = None
        self._show_all = False
        self._marked: list[str] = []
        self._rows: Callable[[int], list[Row]] = lambda _width: []
        self._machine: Machine | None = None
        self._own: Mapping[str, str] = {}
        self._turns = Turns()
        self._looking: Worker[None] | None = None
        self._look_due: Timer | None = None
        self._facts: DeviceFacts | None = None
        self._examined: tuple[object, ...] = ()
        """Of what the facts are asked now, or were last."""

    def on_mount(self) -> None:
        self.list.border_title = "Device"

    # what there is

    def begin(self) -> None:
        """Look for devices from now on."""
        self._machine = Machine(screen_of(self).session, self._rescan)
        self.look()

    def on_unmount(self) -> None:
        if self._machine:
            self._machine.close()

    def come_back(self) -> None:
        """Look for what has changed while the screen was out of sight."""
        if self._machine is not None:
            self._machine.catch_up()
            self.look()

    def tick(self) -> bool:
        """To be called once a second: whether something else is to be said of the chosen device now."""
        if self._machine is None:
            return False
        self._machine.look()
        stirred = self._machine.count(self._own.keys()) if self.device_tree is not None else ()
        if stirred:
            self.list.show(self._rows)
        return (device := self.device) is not None and device.name in stirred

    def worked_on(self, own: Mapping[str, str]) -> None:
        """From now on runs of diskprof's work on these devices: by name, with the id of the run."""
        if own != self._own:
            self._own = own
            self.show()
            self.show_details()

    def _rescan(self) -> None:
        # Behind another screen a look would take from what is measured there; coming back, it looks in any case.
        if not self.screen.is_current or self._look_due is not None:
            return
        looking = self._looking is not None and not self._looking.is_finished
        if left := _LOOK_EVERY_S if looking else self._turns.left_s("devices", _LOOK_EVERY_S):
            self._look_due = set_timer(self, left, self._look_again)
        else:
            self._looking = self.look()

    def _look_again(self) -> None:
        self._look_due = None
        self._rescan()

    @work(thread=True, exclusive=True, group="scan")
    def look(self) -> None:
        """Find out in a thread which devices there are."""
        session = screen_of(self).session
        try:
            tree = session.scan()
            default = session.default_device(tree)
        except DiskprofError as error:
            self.post_message(self.Failed(error))
            return
        self.post_message(self._Scanned(tree, default.name if default else None))

    @on(_Scanned)
    def _scanned(self, message: _Scanned) -> None:
        first = self.device_tree is None
        self._default = Place(message.default) if message.default else None
        self.device_tree = message.tree
        if first:
            if message.default is None and not self._paths:
                # No device here carries a directory that may be written to: offer where one stands.
                self._paths.append(_here())
            place = Place(message.default) if message.default else Place(path=self._paths[0])
            self.list.key = key_of(self._last_place(message.tree) or place)
        self.show()
        self.show_details()
        self.post_message(self.Changed())

    def _last_place(self, tree: DeviceTree) -> Place | None:
        """What was tested last, if it is still there; else the person is told."""
        last = self.remembered
        if last.path:
            self._paths = [last.path, *self._paths][:_MOST_PATHS]
            self._check(last.path, tree)
            return Place(path=last.path)
        if not last.device:
            return None
        if (device := last.find(tree)) is None:
            self._say_gone(f"/dev/{last.device}")
        return Place(device.name) if device else None

    @work(thread=True, group="check")
    def _check(self, path: str, tree: DeviceTree) -> None:
        """The remembered path may lie on a file system that does not answer: nothing waits for it."""
        try:
            screen_of(self).session.resolve_target(path, tree)
        except DiskprofError:
            self.post_message(self._Gone(path))

    @on(_Gone)
    def _path_gone(self, message: _Gone) -> None:
        self._paths = [path for path in self._paths if path != message.path]
        if self.list.key == key_of(Place(path=message.path)):
            first = self._default or (Place(path=self._paths[0]) if self._paths else None)
            self.list.key = key_of(first) if first else None
        self.show()
        self._say_gone(message.path)
        self.post_message(self.Changed())

    def _say_gone(self, what: str) -> None:
        self.app.notify(
            f"The last target, {clean(what)}, is gone. Select another.", severity="warning", timeout=8, markup=False
        )

    @on(Table.Moved)
    def _moved(self, message: Table.Moved) -> None:
        message.stop()
        self._count()
        self.post_message(self.Changed())

    def _count(self) -> None:
        """Which of the list the cursor is on, in the frame."""
        if self.list.border_subtitle != self.list.place:
            self.list.border_subtitle = self.list.place

    # what is chosen

    @property
    def place(self) -> Place | None:
        return place_of(self.list.key)

    @property
    def places(self) -> tuple[Place, ...]:
        """The targets of a series: those that are marked, in this order, or the chosen one where fewer than two are."""
        marked = tuple(place for key in self._marked if (place := place_of(key)))
        chosen = self.place
        return marked if len(marked) > 1 else (chosen,) if chosen else ()

    @property
    def marked(self) -> int:
        """How many targets are marked."""
        return len(self._marked)

    def mark(self) -> None:
        """Mark the chosen place as a target of a series, or not."""
        if key := self.list.key:
            self._marked = (
                [each for each in self._marked if each != key] if key in self._marked else [*self._marked, key]
            )
            self.show()
            self.post_message(self.Changed())

    @property
    def device(self) -> Device | None:
        """The device that is chosen, or the one below the chosen path."""
        place, tree = self.place, self.device_tree
        return tree.get(place.device or self._below()) if place and tree else None

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What speaks against testing the chosen device now."""
        device, tree = self.device, self.device_tree
        if device is None or tree is None:
            return ()
        return self._view.doubts(device, tree, system_disks(tree))

    def choose_path(self, path: str) -> None:
        """Choose a path that the person typed; the device that is tested there, so that it has no second row."""
        if device := self._tested_at(path):
            self.list.key = key_of(Place(device.name))
        else:
            # More of them would leave no room for the devices.
            self._paths = [path, *(each for each in self._paths if each != path)][:_MOST_PATHS]
            self.list.key = key_of(Place(path=path))
        self.show()

    def _tested_at(self, path: str) -> Device | None:
        """The device whose row tests this directory."""
        tree, session = self.device_tree, screen_of(self).session
        mounted = (each for each in (tree.devices if tree else ()) if any(mount.path == path for mount in each.mounts))
        return next((each for each in mounted if session.suggest_directory(each) == path), None)

    # how it is shown

    def toggle_all(self) -> bool:
        """Show or hide empty devices; whether they are shown now."""
        self._show_all = not self._show_all
        self.show()
        return self._show_all

    def show(self) -> None:
        tree = self.device_tree
        if tree is None:
            return
        paths, view = tuple(self._paths), self._view

        @cache
        def table(width: int) -> DeviceTable:
            return DeviceTable(tree, paths, view, width)

        def rows(width: int) -> list[Row]:
            made = table(width)
            self._title(made.headings, width)
            return made.rows()

        self._rows = rows
        self.list.show(self._rows)
        self._count()
        most = max(5, self.screen.size.height // 3 + len(paths))
        self.list.styles.height = min(len(self.list.rows) + 2, most)

    def _title(self, headings: Sequence[tuple[int, str]], width: int) -> None:
        title = edge_title(headings, width, plain=screen_of(self).diskprof.plain)
        if self.list.border_title != title:
            self.list.border_title = title

    def examine(self, preset: str) -> None:
        """Find out in a thread what is not known yet of the chosen device: its health, and its last result, of `preset` if any."""
        device, tree = self.device, self.device_tree
        if device is None or tree is None:
            return
        newest = next((run.id for run in screen_of(self).diskprof.watcher.state.last if run.status.over), "")
        asked = (device.name, device.diskseq, preset, newest, time.monotonic() // _FRESH_S)
        if asked != self._examined:
            self._examined = asked
            self._examine(device, tree.disks_below(device.name), preset, quiet=device.name in self._own)

    @work(thread=True, exclusive=True, group="examine")
    def _examine(self, device: Device, disks: Sequence[Device], preset: str, *, quiet: bool) -> None:
        """`quiet`: what is measured there now is not to be disturbed."""
        from diskprof.tui.run.device_card import DeviceFacts
        from diskprof.tui.shell.loading import last_result

        screen = screen_of(self)
        last = None
        with suppress(StoreError):  # a store that cannot be read is told of by those who watch it
            last = last_result(screen.diskprof.store_path, disks, screen.session.hostname(), preset)
        health = () if quiet else screen.session.health(disks)
        self.post_message(self._Examined(DeviceFacts(device, disks, health, last)))

    @on(_Examined)
    def _is_examined(self, message: _Examined) -> None:
        self._facts = message.facts
        self.show_details()

    def show_details(self) -> None:
        """Show what is known of the chosen device, where there is room for it."""
        title = clean(self.device.label) if self.device else ""
        if self.details.border_title != title:
            self.details.border_title = title
        screen = self.screen
        full = screen.has_class("-full")
        most = screen.size.height - 4 if full else screen.size.height * 9 // 20
        lines = self.lines(self.details.size.width, most - 2)
        self.details.styles.height = None if full else min(len(lines) + 2, most)
        self.details.put(lines)

    def lines(self, width: int, height: int = _NARROW_LINES) -> list[Line]:
        """What is known of the chosen device, in about `height` lines."""
        place, device = self.place, self.device
        path = place.path if place else ""
        lines = paragraph(clean(path), width, first=((" ", ""),)) if path else []
        if device is None:
            return lines
        # Not before the first picture: what these import would hold it up.
        from diskprof.tui.run.device_card import DeviceFacts, device_lines, more_lines, result_lines

        known = self._facts
        # Its mounts have other free space at every look.
        same = known and (known.device.name, known.device.diskseq) == (device.name, device.diskseq)
        facts = replace(known, device=device) if known and same else DeviceFacts(device)
        lines += device_lines(facts, self.doubts, self._view, width)
        results = result_lines(facts, width, height - len(lines) - 1, self._view.charset)
        lines += [[], *results] if results else ()
        full = self.screen.has_class("-full")
        return [*lines, *(more_lines(facts, self._steps(facts), width, height - len(lines)) if full else ())]

    def _steps(self, facts: DeviceFacts) -> list[str]:
        """What to do next with this device."""
        steps = [] if facts.last else ["Quick check shows in half a minute what this disk can do: {run.start} twice."]
        steps += [
            "For sustained speed, run longer: runtime=60s size=16g ({run.edit}).",
            "Repeat 5 times ({run.edit}) to see how much results vary.",
            "In Runs ({app.runs}) compare runs, write a report, see the history.",
        ]
        return [with_keys(self.screen, step) for step in steps]

    @property
    def _view(self) -> DevicesView:
        machine = self._machine
        return DevicesView(
            machine.history if machine else {},
            self._own,
            machine.since_own if machine else {},
            screen_of(self).diskprof.charset,
            self._show_all,
            {key: letter(at) for at, key in enumerate(self._marked)},
        )


def _here() -> str:
    """The present directory, or the person's home if that has been removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return str(Path.home())
