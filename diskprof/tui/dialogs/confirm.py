"""A question over the screen: a title, what there is to know, and the answers, the first of which Enter gives."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from diskprof.tui.dialogs.sharing import share_height
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.shell.keynames import with_keys

_PORTION = 0.92


class Answer(Struct, frozen=True):
    """`key` gives it at once; `value` is what the asker is handed; `danger` colours what cannot be taken back."""

    key: str
    text: str
    value: str
    danger: bool = False


class Ask(ModalScreen[str | None]):
    """Asks; dismissed with the value of the answer, or None for Escape. Enter gives the answer that is marked."""

    CSS_PATH = "confirm.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer", "Answer", id="ask.answer", show=False),
        Binding("escape", "back", "Back", id="ask.back", show=False),
        Binding("pagedown", "page(1)", "Page down", id="ask.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="ask.page-up", show=False),
        # Bindings and not on_key: they work on keys that were typed ahead, before the widgets are there.
        # Before those of the list, which moves by k too.
        *(Binding(letter, f"press('{letter}')", show=False, priority=True) for letter in ascii_lowercase),
    ]

    def __init__(self, title: str, text: str | Content, answers: Sequence[Answer]) -> None:
        super().__init__()
        self._title = title
        self._text = text if isinstance(text, Content) else Content(text)
        self._answers = tuple(answers)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            if self._text.plain:
                with VerticalScroll(id="ask-text", can_focus=False):
                    yield Static(self._text)
            yield Table(id="ask-answers")

    def on_mount(self) -> None:
        # Empty where the terminal hangs up in this very moment.
        for answers in self.query(Table):
            self.query_one(".dialog").border_title = Content(self._title).markup
            answers.styles.height = len(self._answers)
            self._share()
            self._mark()
            for text in self.query("#ask-text").results(VerticalScroll):
                self.watch(text, "show_vertical_scrollbar", self._mark, init=False)
            answers.show(lambda _width: [Row(answer.value, self._line(answer)) for answer in self._answers])

    def on_resize(self) -> None:
        self._share()

    def _share(self) -> None:
        self.call_after_refresh(self._share_now)

    def _share_now(self) -> None:
        for text in self.query("#ask-text").results(VerticalScroll):
            share_height(text, self.query_one(Table), len(self._answers), _PORTION)

    def _mark(self) -> None:
        """Name at the lower edge the keys that answer, and those that scroll if the text is longer."""
        more = any(text.show_vertical_scrollbar for text in self.query("#ask-text").results(VerticalScroll))
        answers = with_keys(self, "Enter: OK, {ask.back}: cancel")
        scrolls = with_keys(self, "{ask.page-down} scrolls   ") if more else ""
        self.query_one(".dialog").border_subtitle = f"{scrolls}{answers}"

    @staticmethod
    def _line(answer: Answer) -> Line:
        return [(f"  {answer.key:<5}", "key"), (answer.text, "danger" if answer.danger else "")]

    def action_answer(self) -> None:
        self.dismiss(self.query_one(Table).key)

    @on(Table.Chosen)
    def _double_clicked(self, event: Table.Chosen) -> None:
        self.dismiss(event.key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "press" or any((answer.key,) == parameters for answer in self._answers)

    def action_press(self, key: str) -> None:
        for answer in self._answers:
            if answer.key == key:
                self.dismiss(answer.value)

    def action_back(self) -> None:
        self.dismiss(None)

    def action_page(self, direction: int) -> None:
        for text in self.query("#ask-text").results(VerticalScroll):
            if direction > 0:
                text.scroll_page_down(animate=False)
            else:
                text.scroll_page_up(animate=False)
