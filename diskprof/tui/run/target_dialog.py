"""The dialog that asks for another target: a field, and below it recent targets, mount points, and paths as they are typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, Static

from diskprof.devices.path_completion import completions
from diskprof.model.cells import shorten_middle
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.tui.dialogs.form import FormDialog, FormField
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.table import Row, Table

if TYPE_CHECKING:
    from rich.style import Style
    from textual.strip import Strip

    from diskprof.model.device import DeviceTree
    from diskprof.model.run import RunSummary
    from diskprof.tui.kit.painted import Line

_ROWS = 8
_MOST_RECENT = 10


class TargetChoice(Struct, frozen=True):
    """A target that is offered, a few words about it, and the device of a mount point."""

    path: str
    about: str = ""
    device: str = ""


def known_targets(tree: DeviceTree, typed: Sequence[str], runs: Sequence[RunSummary]) -> tuple[TargetChoice, ...]:
    """Paths that were typed and targets of the last runs, then mount points with what is free there; each once."""
    recent = dict.fromkeys([*typed, *(run.target for run in runs)])
    found = {path: TargetChoice(path, "recent") for path in list(recent)[:_MOST_RECENT] if path}
    for device in tree.devices:
        for mount in device.mounts:
            if mount.path not in found and not mount.read_only:
                free = f", {format_size(mount.free_bytes)} free" if mount.free_bytes is not None else ""
                found[mount.path] = TargetChoice(mount.path, f"{device.label}{free}", device.label)
    return tuple(found.values())


class _Choices(Table):
    """A row is marked while Enter takes it, and not the text of the field."""

    _taken = True

    @property
    def has_keys(self) -> bool:
        return self._taken

    def point(self, *, taken: bool) -> None:
        self._taken = taken
        self.refresh()

    def _draw_row(self, row: Row, line: Line, mark: str, base: Style | None) -> Strip:
        return super()._draw_row(row, *((line, mark, base) if self._taken else (row.line, "", None)))


class TargetDialog(FormDialog):
    """Tab completes as a shell does; Down and Up choose from the list, Right or End at the end of the text takes it over."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", id="target.complete", show=False, priority=True, tooltip="Complete"),
        Binding("down", "choose(1)", "Next", id="target.next", show=False, priority=True),
        Binding("up", "choose(-1)", "Previous", id="target.previous", show=False, priority=True),
        Binding("right,end", "take", "Take over", id="target.take", show=False, priority=True),
    ]

    SAYS: ClassVar[str] = "{target.complete}: complete, Enter: OK, {form.back}: cancel"

    @dataclass(eq=False, repr=False)
    class _Found(Message):
        text: str
        paths: tuple[str, ...]

    def __init__(self, tree: DeviceTree, known: Sequence[TargetChoice], check: Callable[[str], str]) -> None:
        self._field = FormField("path", "Directory, file or device", "", "/mnt/data, /dev/sdb, sdb1", check)
        super().__init__("Select a target", [self._field])
        self._tree, self._known = tree, known
        self._choices: Sequence[TargetChoice] = known
        self._chosen = False
        self._looking = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            with Vertical(id="form-fields"), Vertical(classes="field"):
                yield Label(Content.assemble((self._field.label, "bold"), (f"  {self._field.help}", "$quiet")))
                yield Field("", id="field-path", compact=True)
                yield Static("", id="wrong-path", classes="wrong")
            table = _Choices(id="target-choices")
            table.can_focus = False
            yield table

    def on_mount(self) -> None:
        # Nothing is there where the terminal hangs up in this very moment.
        if self.query("#target-choices"):
            self._show()

    def _share(self) -> None:
        """The list scrolls by itself."""

    @property
    def _list(self) -> _Choices:
        return self.query_one("#target-choices", _Choices)

    @property
    def _input(self) -> Input:
        return self.query_one("#field-path", Input)

    def _show(self) -> None:
        choices = self._choices

        def rows(width: int) -> list[Row]:
            made = []
            for choice in choices:
                path = clean(choice.path)
                about = shorten_middle(clean(choice.about), max(width // 3, width - len(path) - 5))
                path = shorten_middle(path, max(8, width - len(about) - 5))
                made.append(Row(choice.path, [("  ", ""), (path, ""), (f"  {about}", "quiet")]))
            return made

        self._list.show(rows)
        self._list.styles.height = min(_ROWS, max(1, len(choices)))
        self._list.display = bool(choices)
        self._point()

    def _point(self) -> None:
        self._list.point(taken=self._chosen or not self._input.value.strip())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._chosen = False
        words = event.value.strip()
        # The name of a disk finds its mount points, too.
        self._choices = [
            choice for choice in self._known if words.casefold() in f"{choice.path} {choice.device}".casefold()
        ]
        self._show()
        self._list.action_edge(-1)
        self._look(words)

    def _look(self, words: str) -> None:
        # One at a time: a directory on a server that does not answer must not take a thread for each letter.
        if "/" in words and not self._looking:
            self._looking = True
            self._find(words)

    @work(thread=True, group="complete")
    def _find(self, words: str) -> None:
        self.post_message(self._Found(words, completions(words, self._tree)))

    @on(_Found)
    def _found(self, message: _Found) -> None:
        self._looking = False
        words = self._input.value.strip()
        if message.text != words:
            self._look(words)
            return
        known = {choice.path for choice in self._choices}
        self._choices = [
            *self._choices,
            *(TargetChoice(path) for path in message.paths if path.rstrip("/") not in known),
        ]
        self._paths = message.paths
        self._show()

    _paths: Sequence[str] = ()

    def action_complete(self) -> None:
        """As far as all that begins so is the same; the only one as a whole."""
        words = self._input.value.strip()
        begun = [path for path in self._paths if path.startswith(words)]
        if not begun:
            begun = [choice.path for choice in self._choices if choice.path.startswith(words)]
        if longer := commonprefix(begun):  # noqa: RUF071 - by letters, as a shell completes
            self._fill(longer)

    def action_choose(self, step: int) -> None:
        if self._chosen or step < 0:
            self._list.action_move(step)
        self._chosen = True
        self._point()

    def action_take(self) -> None:
        field = self._input
        if field.cursor_position < len(field.value):
            # Within the text these keys are the field's own.
            return
        if key := self._list.key:
            self._fill(key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "take" and self.is_mounted:
            return self._input.cursor_position >= len(self._input.value)
        return super().check_action(action, parameters)

    def _fill(self, path: str) -> None:
        if path != self._input.value:
            self._input.value = path
        self._input.cursor_position = len(path)

    @on(Input.Submitted)
    def _enter(self) -> None:
        if (self._chosen or not self._input.value.strip()) and self._list.key:
            self._fill(self._list.key)

    @on(Table.Chosen)
    def _clicked(self, message: Table.Chosen) -> None:
        self._fill(message.key)
