"""Tags and note of a run."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from diskprof.model.run import RunSummary
from diskprof.model.text import clean
from diskprof.model.value import dataclass
from diskprof.tui.keynames import with_keys
from diskprof.tui.widgets.field import Field


@dataclass(frozen=True, slots=True)
class TagsEdit:
    """What the person wrote: tags without blanks around them, each once, and the note."""

    tags: tuple[str, ...]
    note: str


def parse_tags(text: str) -> tuple[str, ...]:
    """`a, b,,a ` -> (a, b)."""
    names = (clean(name).strip() for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


class TagsModal(ModalScreen[TagsEdit | None]):
    """The new tags and note, or None if the person went back."""

    CSS_PATH = "fields.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back", id="form.back", show=False)]

    def __init__(self, run: RunSummary) -> None:
        super().__init__()
        self.run = run
        self._tags = clean(", ".join(run.tags))
        self._note = clean(" ".join(run.note.split()))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(f"Tags and note of {self.run.id}").markup
            dialog.border_subtitle = with_keys(self, "Enter saves, {form.back} goes back")
            yield Static(clean(f"{self.run.preset} on {self.run.target}"), markup=False)
            yield Label("Tags, with commas between them")
            yield Field(self._tags, placeholder="baseline, nvme, before-upgrade", id="tags", compact=True)
            yield Label("Note")
            yield Field(self._note, placeholder="what was special about this run", id="note", compact=True)

    def on_mount(self) -> None:
        self.query_one("#tags", Input).focus()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        tags, note = self.query_one("#tags", Input).value, self.query_one("#note", Input).value
        self.dismiss(
            TagsEdit(
                self.run.tags if tags == self._tags else parse_tags(tags),
                self.run.note if note == self._note else clean(note).strip(),
            )
        )

    def action_back(self) -> None:
        self.dismiss(None)
