"""A list to choose from by typing: the command palette, the themes."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from diskprof.model.cells import fit
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.shell.keynames import with_keys

_NOTHING = "nothing"


class Choice(Struct, frozen=True):
    """`key` is what does the same without the list, `about` says what it does."""

    title: str
    key: str = ""
    about: str = ""


def matching(choices: Sequence[Choice], words: str) -> list[int]:
    """The numbers of the choices in which each word occurs, those whose title begins with the first of them before the others."""
    wanted = words.lower().split()
    found = [
        at
        for at, choice in enumerate(choices)
        if all(word in f"{choice.title} {choice.key} {choice.about}".lower() for word in wanted)
    ]

    def rank(at: int) -> tuple[bool, bool]:
        title = choices[at].title.lower()
        return not title.startswith(*wanted[:1] or ("",)), not all(word in title for word in wanted)

    return sorted(found, key=rank)


class _Found(Table):
    """The field above has the focus, and these are what its keys choose from."""

    can_focus = False

    @property
    def has_keys(self) -> bool:
        return True


class Chooser(ModalScreen[int | None]):
    """Dismissed with the number of the choice, or None for Escape."""

    CSS_PATH = "chooser.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer", "Answer", id="choose.answer", show=False),
        Binding("escape", "back", "Back", id="choose.back", show=False),
        Binding("up", "move(-1)", "Up", id="choose.up", show=False),
        Binding("down", "move(1)", "Down", id="choose.down", show=False),
        Binding("pagedown", "page(1)", "Page down", id="choose.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="choose.page-up", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title, self._choices = title, tuple(choices)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(self._title).markup
            dialog.border_subtitle = with_keys(self, "{choose.answer} runs it, {choose.back} closes")
            yield Field(placeholder="type to search", id="choose-words", compact=True)
            yield _Found(id="choose-list")

    @property
    def table(self) -> Table:
        return self.query_one("#choose-list", Table)

    def on_mount(self) -> None:
        self.query_one(Field).focus()
        self._show("")

    @on(Input.Changed, "#choose-words")
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, words: str) -> None:
        found = matching(self._choices, words)
        title, key = (
            max(map(len, column)) + 2 for column in zip(*((c.title, c.key) for c in self._choices), strict=True)
        )

        def rows(width: int) -> list[Row]:
            if not found:
                return [Row(_NOTHING, [(" No match.", "quiet")], heading=True)]
            return [Row(str(at), _line(self._choices[at], title, key, width)) for at in found]

        self.table.styles.height = max(1, len(found))
        self.table.show(rows)
        self.table.action_edge(-1)

    @on(Table.Chosen)
    def action_answer(self) -> None:
        key = self.table.key
        if key is not None:
            self.dismiss(int(key))

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_answer()

    def action_back(self) -> None:
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        self.table.action_move(step)

    def action_page(self, direction: int) -> None:
        self.table.action_page(direction)


def _line(choice: Choice, title: int, key: int, width: int) -> Line:
    about = fit(choice.about, max(0, width - title - key - 2))
    return [(f"  {fit(choice.title, title)}", ""), (fit(choice.key, key), "key"), (about, "quiet")]
