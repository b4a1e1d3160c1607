"""A small form over the screen: a few fields, each checked as it is left, all of them before they are handed back."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.tui.dialogs.sharing import share_height
from diskprof.tui.kit.field import Field
from diskprof.tui.shell.keynames import with_keys

_PORTION = 0.94


class FormField(Struct, frozen=True):
    """`check` returns the value to keep or raises a DiskprofError that says what is wrong; it may take its time.

    `short`: the value is a word or a figure, which is written anew rather than changed.
    """

    name: str
    label: str
    value: str
    help: str = ""
    check: Callable[[str], str] = str
    short: bool = False


class _Fields(VerticalScroll, inherit_bindings=False):
    """Scrolls to the field that has the focus, and has no keys of its own: up and down lead to another field."""


class FormDialog(ModalScreen[dict[str, str] | None]):
    """Dismissed with name -> checked value, or None for Escape. Enter in any field accepts all of them.

    `text` stands above the fields and scrolls by itself; `danger`: what is accepted cannot be taken back. `together`
    looks at all values once each is good, and gives the name of a field and what is wrong with it.
    """

    # A relative path would be looked for beside the module of a subclass.
    CSS_PATH = Path(__file__).with_name("form.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="form.back", show=False),
        Binding("down", "app.focus_next", "Next field", id="form.next", show=False),
        Binding("up", "app.focus_previous", "Field before", id="form.previous", show=False),
        Binding("pagedown", "page(1)", "Page down", id="form.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="form.page-up", show=False),
    ]

    SAYS: ClassVar[str] = "Enter: OK, {form.back}: cancel"

    def __init__(
        self,
        title: str,
        fields: Sequence[FormField],
        *,
        text: Content | None = None,
        danger: bool = False,
        together: Callable[[Mapping[str, str]], tuple[str, DiskprofError] | None] = lambda _values: None,
    ) -> None:
        super().__init__()
        self._together = together
        self._title, self._fields, self._text, self._danger = title, tuple(fields), text, danger

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            if self._text:
                with VerticalScroll(id="form-text", can_focus=False):
                    yield Static(self._text)
            with _Fields(id="form-fields", can_focus=False):
                for field in self._fields:
                    with Vertical(classes="field"):
                        yield Label(
                            Content.assemble((field.label, "bold"), (f"  {field.help}" if field.help else "", "$quiet"))
                        )
                        yield Field(field.value, marked=field.short, id=f"field-{field.name}", compact=True)
                        yield Static("", id=f"wrong-{field.name}", classes="wrong")

    def can_view_entire(self, widget: Widget) -> bool:
        return super().can_view_entire(_whole(widget))

    def scroll_to_center(self, widget: Widget, animate: bool = True, **how: Any) -> None:
        """What has got the focus comes into view, as a whole."""
        self.scroll_to_widget(_whole(widget), animate=False)

    def on_mount(self) -> None:
        # Empty where the terminal hangs up in this very moment.
        for box in self.query(".dialog"):
            box.set_class(self._danger, "-danger")
            box.border_title = Content(self._title).markup
            box.border_subtitle = with_keys(self, self.SAYS)
            self._share()
        for fields in self.query("#form-fields"):
            self.watch(fields, "scroll_y", self._moved, init=False)
        for box in self.query("#form-text, #form-fields"):
            self.watch(box, "show_vertical_scrollbar", self._moved, init=False)

    def on_resize(self) -> None:
        self._share()

    def _moved(self) -> None:
        self.call_after_refresh(self._mark)

    def _share(self) -> None:
        self.call_after_refresh(self._share_now)

    def _share_now(self) -> None:
        for text in self.query("#form-text").results(VerticalScroll):
            fields = self.query_one("#form-fields")
            share_height(text, fields, fields.virtual_size.height, _PORTION)
        self.call_after_refresh(self._mark)

    def _mark(self) -> None:
        """Say at the lower edge which keys there are, and how much of the text and of the fields is out of sight."""
        for fields in self.query("#form-fields"):
            more = "".join(
                ", {form.page-down} reads on"
                for text in self.query("#form-text").results(VerticalScroll)
                if text.max_scroll_y > 0
            )
            self.query_one(".dialog").border_subtitle = _in_sight(fields) + with_keys(self, self.SAYS + more)

    def action_page(self, direction: int) -> None:
        for text in self.query("#form-text").results(VerticalScroll):
            text.scroll_relative(y=direction * max(1, text.size.height - 1), animate=False)

    def action_back(self) -> None:
        self.dismiss(None)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._say((event.input.id or "").removeprefix("field-"), "")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._accept()

    @work(exclusive=True)
    async def _accept(self) -> None:
        """Check every field in a thread: a path may lie on a server that does not answer."""
        values, wrong = {}, ""
        for field in self._fields:
            typed = self.query_one(f"#field-{field.name}", Input).value
            try:
                values[field.name] = await asyncio.to_thread(field.check, typed)
            except DiskprofError as error:
                self._complain(field.name, error)
                wrong = wrong or field.name
            else:
                self._say(field.name, "")
        if not wrong and (found := await asyncio.to_thread(self._together, values)):
            wrong, why = found
            self._complain(wrong, why)
        if wrong:
            refused = self.query_one(f"#field-{wrong}", Input)
            refused.focus()
            # One that has the focus already is not scrolled to, and what is wrong with it has its place after the layout.
            self.call_after_refresh(self.scroll_to_center, refused)
        else:
            self.dismiss(values)

    def _complain(self, name: str, error: DiskprofError) -> None:
        stop = "" if error.message.endswith((".", "!", "?", ":")) or not error.hint else "."
        self._say(name, f"{error.message}{stop} {on_screen(error.hint)}".strip())

    def _say(self, name: str, words: str) -> None:
        label = self.query_one(f"#wrong-{name}", Static)
        label.update(Content.assemble(("✗ ", "$danger"), clean(words)) if words else Content(""))
        label.display = bool(words)
        self._share()


def _in_sight(fields: Widget) -> str:
    """`fields 1-5 of 7   `; empty where all are in sight."""
    # Places in all of the fields, known at once: regions on the screen are those before the scrolling.
    view = Region.from_offset(fields.scroll_offset, fields.scrollable_content_region.size)
    places = [_place(field) for field in fields.query(Field)]
    seen = [at for at, place in enumerate(places, 1) if view.contains_region(place)]
    if not seen or len(seen) == len(places):
        return ""
    return f"field{'s' if len(seen) > 1 else ''} {'-'.join(map(str, dict.fromkeys((seen[0], seen[-1]))))} of {len(places)}   "


def _place(field: Field) -> Region:
    return field.virtual_region.translate(_whole(field).virtual_region.offset)


def _whole(widget: Widget) -> Widget:
    """A field with its label, and with what is wrong with it."""
    return widget.parent if isinstance(widget, Field) and isinstance(widget.parent, Vertical) else widget
