"""The person's own presets on the Run screen: edit in $EDITOR, rename, delete."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported
from textual.message import Message

from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.run.forms import name_field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diskprof.model.preset import Preset
    from diskprof.tui.shell.base import ModeScreen


class OwnPresets:
    """Asks what to do with a preset and does it for `screen`, which gets `Changed`."""

    @dataclass(eq=False, repr=False)
    class Changed(Message):
        """The file of preset `before` was edited, renamed (`now` is the new name) or deleted (`now` is empty)."""

        before: str
        now: str

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen

    def ask(self, preset: Preset, presets: Sequence[Preset]) -> None:
        """Ask what to do with `preset`, which is one of `presets` and not a shipped one."""
        actions = {
            "edit": lambda: self._edit(preset, Path(preset.path)),
            "rename": lambda: self._ask_for_name(preset, presets),
            "delete": lambda: self._confirm_delete(preset),
        }
        answers = (
            Answer("e", "Edit the file in $EDITOR", "edit"),
            Answer("r", "Rename", "rename"),
            Answer("d", "Delete", "delete"),
            Answer("esc", "Cancel", ""),
        )

        def answered(answer: str | None) -> None:
            if answer:
                actions[answer]()

        self._screen.app.push_screen(Ask(clean(preset.title), clean(preset.path), answers), answered)

    def _edit(self, preset: Preset, path: Path) -> None:
        """The screen stands still meanwhile: the terminal is the editor's."""
        from diskprof.engines.process import edit_file
        from diskprof.presets.library import preset_of_file

        app, failed = self._screen.diskprof, None
        try:
            with app.suspend():
                # Textual would not come back from an error in here.
                try:
                    edit_file(path)
                except DiskprofError as error:
                    failed = error
        except SuspendNotSupported:
            app.notify("There is no terminal for an editor here.", timeout=4)
            return
        if failed:
            app.tell(failed)
            return
        try:
            now = preset_of_file(path)
        except DiskprofError as error:
            self._ask_again(preset, path, error)
            return
        self._screen.post_message(self.Changed(preset.name, now.name))

    def _ask_again(self, preset: Preset, path: Path, error: DiskprofError) -> None:
        """A file that cannot be used is in no list any more: this is the way back to it."""
        answers = (Answer("e", "Edit it again", "edit"), Answer("esc", "Leave it so", ""))

        def answered(answer: str | None) -> None:
            if answer:
                self._edit(preset, path)
            else:
                self._screen.post_message(self.Changed(preset.name, preset.name))

        words = clean(str(error.hint), keep_newlines=True)
        self._screen.app.push_screen(Ask(f"{clean(path.name)} cannot be used", words, answers), answered)

    def _ask_for_name(self, preset: Preset, presets: Sequence[Preset]) -> None:
        from diskprof.presets.own_files import rename

        others = [other for other in presets if other.path != preset.path]

        def named(values: dict[str, str] | None) -> None:
            if values:
                self._change(
                    preset, lambda: rename(self._screen.session.load_library(), preset.name, values["name"]).stem
                )

        form = FormDialog(f"Rename {clean(preset.title)}", [name_field(others, clean(preset.title))])
        self._screen.app.push_screen(form, named)

    def _confirm_delete(self, preset: Preset) -> None:
        from diskprof.presets.own_files import delete

        def delete_file() -> str:
            delete(self._screen.session.load_library(), preset.name)
            return ""

        def answered(answer: str | None) -> None:
            if answer == "delete":
                self._change(preset, delete_file)

        answers = (Answer("n", "Keep", ""), Answer("y", "Delete", "delete", danger=True))
        text = f"{clean(preset.path)}\n\nIts runs are kept."
        self._screen.app.push_screen(Ask(f"Delete {clean(preset.title)}?", text, answers), answered)

    def _change(self, preset: Preset, change: Callable[[], str]) -> None:
        work = functools.partial(self._change_in_thread, preset, change)
        self._screen.run_worker(work, thread=True, group="own")

    def _change_in_thread(self, preset: Preset, change: Callable[[], str]) -> None:
        """`change` gives the name that the preset has afterwards, empty for none."""
        try:
            now = change()
        except DiskprofError as error:
            self._screen.app.call_from_thread(self._screen.diskprof.tell, error)
        else:
            self._screen.post_message(self.Changed(preset.name, now))
