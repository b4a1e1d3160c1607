"""A place to paste a command or a job file into, which shows at once what tests it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static, TextArea

from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError
from diskprof.model.preset import Preset
from diskprof.model.text import clean
from diskprof.presets.own_copies import own_copy
from diskprof.presets.resolve import expand_defaults
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.textual_fixes import set_timer
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from diskprof.presets.foreign.imported import ImportedPreset

_LOOK_AFTER_S = 0.15
_MOST_TESTS = 8


class ImportDialog(ModalScreen[Preset | None]):
    """Dismissed with the preset that was made of the text, under the name that was typed; None for Escape.

    `check_name` gives the name to keep, or raises a DiskprofError that says why it cannot be had.
    """

    CSS_PATH = "import_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="form.back", show=False),
        Binding("tab", "app.focus_next", "Next field", id="import.next", show=False, priority=True),
    ]

    @dataclass(eq=False, repr=False)
    class Read(Message):
        """What became of `text`."""

        text: str
        imported: ImportedPreset | None = None
        error: DiskprofError | None = None

    def __init__(self, check_name: Callable[[str], str]) -> None:
        super().__init__()
        self._check_name = check_name
        self._imported: ImportedPreset | None = None
        self._suggested = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content("Import a test").markup
            dialog.border_subtitle = with_keys(self, "Tab: to the name, Enter there: save, {form.back}: cancel")
            yield Label("Paste commands or a job file, or type its path")
            yield TextArea(id="import-text", tab_behavior="focus", compact=True, highlight_cursor_line=False)
            yield Label("Name of the preset")
            yield Field("", id="import-name", compact=True, marked=True)
            yield Static("", id="problem", markup=False)
            with VerticalScroll(id="import-seen", can_focus=False):
                yield Static("", id="import-words", markup=False)

    def on_mount(self) -> None:
        self.query_one("#import-text", TextArea).focus()
        self._show("Commands of fio, ioping and DiskSpd, and fio job files, become a preset.")

    @on(TextArea.Changed)
    def _changed(self, _event: TextArea.Changed) -> None:
        self._imported = None
        self._say("")
        set_timer(self, _LOOK_AFTER_S, self._look)

    def _look(self) -> None:
        if self.is_mounted:
            self._read(self.query_one("#import-text", TextArea).text)

    @work(thread=True, exclusive=True, group="import")
    def _read(self, text: str) -> None:
        from diskprof.presets.foreign.text import import_text

        if not text.strip():
            self.post_message(self.Read(text))
            return
        try:
            self.post_message(self.Read(text, import_text(text)))
        except DiskprofError as error:
            self.post_message(self.Read(text, error=error))

    @on(Read)
    def _was_read(self, message: Read) -> None:
        if message.text != self.query_one("#import-text", TextArea).text:
            return
        self._imported = message.imported
        if message.error:
            self._show(f"! {message.error.message}\n{on_screen(message.error.hint)}".rstrip())
        elif message.imported is None:
            self._show("Commands of fio, ioping and DiskSpd, and fio job files, become a preset.")
        else:
            self._show("\n".join(seen_lines(message.imported)))
            self._suggest(message.imported.preset.name)

    def _suggest(self, name: str) -> None:
        """A name, until the person has written one."""
        field = self.query_one("#import-name", Input)
        if field.value == self._suggested:
            field.value = self._suggested = name

    @on(Input.Submitted)
    def _accept(self, event: Input.Submitted) -> None:
        if self._imported is None:
            self._say("There is no test to save yet.")
            return
        try:
            name = self._check_name(event.value)
        except DiskprofError as error:
            self._say(f"{error.message.rstrip('.')}. {on_screen(error.hint)}".strip())
            return
        preset = self._imported.preset
        title = preset.title if name == preset.name else name
        self.dismiss(own_copy(preset, name, {}, title))

    def _show(self, words: str) -> None:
        self.query_one("#import-words", Static).update(clean(words, keep_newlines=True))

    def _say(self, words: str) -> None:
        line = self.query_one("#problem", Static)
        line.update(clean(words))
        line.set_class(bool(words), "shown")

    def action_back(self) -> None:
        self.dismiss(None)


def seen_lines(imported: ImportedPreset) -> list[str]:
    """A line for each test, what can be set, and what was left out."""
    tests = expand_defaults(imported.preset).tests
    count = f"{len(tests)} test{'' if len(tests) == 1 else 's'}:"
    lines = [count, *(f"  {test.name}: {test.title}" for test in tests[:_MOST_TESTS])]
    lines += [f"  and {len(tests) - _MOST_TESTS} more"] if len(tests) > _MOST_TESTS else []
    set_ = ", ".join(f"{each.name} {each.default or 'none'}" for each in imported.preset.parameters)
    lines += [f"Can be set: {set_}"] if set_ else []
    return [*lines, *imported.notes]
