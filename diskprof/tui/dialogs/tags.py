"""Tags and note of a run."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError
from diskprof.model.run import RunSummary
from diskprof.model.text import clean, split_tags
from diskprof.tui.kit.field import Field
from diskprof.tui.shell.keynames import with_keys


class TagsEdit(Struct, frozen=True):
    """What the person wrote: tags, each once, and the note."""

    tags: tuple[str, ...]
    note: str


def parse_tags(text: str) -> tuple[str, ...]:
    """As `split_tags`, of what was typed or pasted."""
    return split_tags(clean(text))


class TagsModal(ModalScreen[bool]):
    """True once `save` has kept the new tags and note, in a thread: until then they stand here. False if the person went back."""

    CSS_PATH = "fields.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back", id="form.back", show=False)]

    def __init__(self, run: RunSummary, save: Callable[[TagsEdit], None]) -> None:
        super().__init__()
        self.run = run
        self._save = save
        self._busy = False
        self._tags = clean(", ".join(run.tags))
        self._note = clean(" ".join(run.note.split()))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(f"Tags and note of {self.run.id}").markup
            dialog.border_subtitle = with_keys(self, "Enter: save, {form.back}: cancel")
            yield Static(clean(f"{self.run.preset} on {self.run.target}"), markup=False)
            yield Label("Tags, separated by blanks or commas")
            yield Field(self._tags, placeholder="baseline nvme before-upgrade", id="tags", compact=True)
            yield Label("Note")
            yield Field(self._note, placeholder="e.g. after firmware update", id="note", compact=True)
            yield Static("", id="problem", markup=False)

    def on_mount(self) -> None:
        self.query_one("#tags", Input).focus()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        if self._busy:
            return
        self._busy = True
        tags, note = self.query_one("#tags", Input).value, self.query_one("#note", Input).value
        self._keep(
            TagsEdit(
                self.run.tags if tags == self._tags else parse_tags(tags),
                self.run.note if note == self._note else clean(note).strip(),
            )
        )

    @work
    async def _keep(self, edit: TagsEdit) -> None:
        """Another program may hold the store locked for a while."""
        self._say("Saving.")
        try:
            await asyncio.to_thread(self._save, edit)
        except DiskprofError as error:
            self._say(f"{error.message.rstrip('.')}. {on_screen(error.hint)}".strip())
        else:
            self.dismiss(True)
        finally:
            self._busy = False

    def _say(self, words: str) -> None:
        line = self.query_one("#problem", Static)
        line.update(clean(words))
        line.add_class("shown")

    def action_back(self) -> None:
        # What is being written can no longer be taken back.
        if not self._busy:
            self.dismiss(False)
