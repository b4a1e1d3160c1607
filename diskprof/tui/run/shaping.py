"""What the person makes of the chosen preset: where it works, with which parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.presets.editing import edits, next_variant, own_copy, together, variant_settings
from diskprof.runner.session import Place
from diskprof.tui.dialogs.form import Field, Form
from diskprof.tui.kit.table import Table
from diskprof.tui.run.choosing import MOST_PATHS, Chooser
from diskprof.tui.run.device_rows import key_of
from diskprof.tui.run.forms import name_field, parameter_fields, slot_fields

if TYPE_CHECKING:
    from diskprof.model.preset import Preset


def expanded(path: str) -> str:
    """A path that somebody typed, with their home for `~`."""
    try:
        return str(Path(path.strip()).expanduser())
    except RuntimeError:
        # Nobody has that name, or no home: whoever looks for the path says that it is not there.
        return path.strip()


class Shaper(Chooser):
    """Keeps for each preset, by name, what was made of it, as long as the program runs."""

    def __init__(self) -> None:
        super().__init__()
        self.named: dict[str, dict[str, str]] = {}
        self.variants: dict[str, str] = {}

    def variant(self, preset: Preset) -> str:
        """The variant that is chosen for a preset, empty for none."""
        return self.variants.get(preset.name, "")

    def settings(self, preset: Preset) -> dict[str, str]:
        """The variant's parameters, and over them what the person edited."""
        return {**variant_settings(preset, self.variant(preset)), **self.edited.get(preset.name, {})}

    # where it works

    def action_other(self) -> None:
        tree, preset = self.device_tree, self.preset()
        if tree is None:
            return
        if preset is not None and preset.targets:
            self.name_targets(preset)
            return

        def check(text: str) -> str:
            return self.session.resolve_target(expanded(text), tree).path

        field = Field("path", "Directory, file or device", "", "/mnt/data, /dev/sdb, sdb1", check)
        self.app.push_screen(Form("Another target", [field]), self._other_given)

    def _other_given(self, values: dict[str, str] | None) -> None:
        if not values:
            return
        path = expanded(values["path"])
        if path in self.paths:
            self.paths.remove(path)
        self.paths.insert(0, path)
        # More of them would leave no room for the devices.
        del self.paths[MOST_PATHS:]
        devices = self.query_one("#devices", Table)
        devices.key = key_of(Place(path=path))
        self._show_devices()
        self.choice_changed()

    def name_targets(self, preset: Preset, then: Callable[[], None] | None = None) -> None:
        """Ask for a path for each target of the preset; `then` follows if the person gave them."""
        if self.device_tree is None:
            return
        fields = slot_fields(self.session, preset, self.named.get(preset.name, {}), self.device_tree, self.suggested)
        self.app.push_screen(
            Form(f"Targets of {clean(preset.title)}", fields), functools.partial(self._targets_given, preset, then)
        )

    @property
    def suggested(self) -> str:
        """A path to begin with where a preset asks for several."""
        return ""

    def _targets_given(self, preset: Preset, then: Callable[[], None] | None, values: dict[str, str] | None) -> None:
        if not values:
            return
        self.named[preset.name] = values
        self.choice_changed()
        if then:
            then()

    # its parameters

    def action_edit(self) -> None:
        preset = self.preset()
        if preset is None:
            return
        if not preset.parameters:
            self.app.notify("This preset has no parameters.", timeout=3)
            return
        settings = self.settings(preset)
        form = Form(clean(preset.title), parameter_fields(preset, settings), together=together(preset, settings))
        self.app.push_screen(form, functools.partial(self._edited_to, preset))

    def _edited_to(self, preset: Preset, values: dict[str, str] | None) -> None:
        if values is None:
            return
        self.edited[preset.name] = edits(preset, self.variant(preset), values)
        self._show_presets()
        self.choice_changed()

    def action_variant(self) -> None:
        preset = self.preset()
        if preset is not None and preset.variants:
            variant = self.variants[preset.name] = next_variant(preset, self.variant(preset))
            kept = edits(preset, variant, self.settings(preset))
            if kept:
                stays = ", ".join(f"{name}, which you edited, stays {value or 'none'}" for name, value in kept.items())
                self.app.notify(f"Variant {clean(variant) or 'default'}: {clean(stays)}.", timeout=5, markup=False)
            self.choice_changed()

    # a preset of one's own

    @dataclass(eq=False, repr=False)
    class Saved(Message):
        """A copy of `original` was written to `path`, or not."""

        original: str
        preset: Preset
        path: str = ""
        error: DiskprofError | None = None

    def action_save(self) -> None:
        preset = self.preset()
        if preset is not None and self._library is not None:
            form = Form(f"Save {clean(preset.title)} as your own", [name_field(self._library.presets)])
            self.app.push_screen(form, functools.partial(self._name_given, preset))

    def _name_given(self, preset: Preset, values: dict[str, str] | None) -> None:
        if values:
            self._save(preset.name, own_copy(preset, values["name"], self.settings(preset)))

    @work(thread=True, group="save")
    def _save(self, original: str, preset: Preset) -> None:
        try:
            path = self.session.save_preset(preset)
        except DiskprofError as error:
            self.post_message(self.Saved(original, preset, error=error))
            return
        self.post_message(self.Saved(original, preset, str(path)))

    @on(Saved)
    def _saved(self, message: Saved) -> None:
        """What was made of the original lives on in the copy, which is chosen now."""
        if message.error:
            self.diskprof.tell(message.error)
            return
        name = message.preset.name
        self.edited.pop(message.original, None)
        self.variants.pop(message.original, None)
        if named := self.named.get(message.original):
            self.named[name] = named
        self.app.notify(clean(message.path), title="Saved", timeout=5, markup=False)
        self.action_unfilter()
        self.query_one("#presets", Table).key = name
        self._load()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that can do nothing for the chosen preset is not shown."""
        if not self.is_mounted:
            return True
        if action == "variant":
            preset = self.preset()
            return preset is not None and bool(preset.variants)
        if action == "filter":
            return not self.query_one("#preset-filter").has_focus
        if action == "unfilter":
            return self.query_one("#preset-filter").has_class("shown")
        return True
