"""Asks for the file of a report and writes it."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.text import clean
from diskprof.reports.formats import FORMATS, Format, format_of
from diskprof.tui.kit.field import Field
from diskprof.tui.shell.keynames import with_keys


def _words(path: Path) -> str:
    try:
        return f"Write {FORMATS[format_of(path)].words} to"
    except UsageError:
        # Said in full when it is to be written.
        return "Write the report to"


class AlreadyThere(DiskprofError):
    """The file exists and may not be replaced without asking."""


def write_report(path: Path, text: str, *, replace: bool = False) -> Path:
    """Write `text` to `path` as a whole or not at all; returns the absolute path.

    Raises AlreadyThere if the file exists and `replace` is not set, DiskprofError if it cannot be written.
    """
    try:
        path = path.expanduser().absolute()
    except RuntimeError as error:
        raise DiskprofError(f"{path} cannot be found: {error}", "Write the whole path.") from None
    try:
        _check(path, replace=replace)
        _put(path.resolve(), text.encode("utf-8", errors="replace"), replace=replace)
    except FileExistsError:
        raise AlreadyThere(f"{path} exists already", "Choose another name.") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise DiskprofError(f"{path} cannot be written: {why}", "Choose a place that you may write to.") from None
    return path


def _check(path: Path, *, replace: bool) -> None:
    if path.is_dir():
        raise DiskprofError(f"{path} is a directory", "Add a file name, such as report.md.")
    if not path.parent.is_dir():
        raise DiskprofError(f"There is no directory {path.parent}", "Make it first, or choose another place.")
    if path.exists() and not replace:
        raise FileExistsError
    if path.exists() and not path.is_file():
        raise DiskprofError(f"{path} is not a plain file", "Choose another name.")


def _put(target: Path, data: bytes, *, replace: bool) -> None:
    """A new file is made by its own name, so that one that came meanwhile is not lost; an old one stays until the new is whole."""
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}.part") if replace and target.exists() else target
    made = False
    try:
        with part.open("xb") as out:
            made = True
            out.write(data)
        if part is not target:
            part.chmod(target.stat().st_mode & 0o777)
            part.replace(target)
    except OSError:
        if made:
            part.unlink(missing_ok=True)
        raise


class ExportModal(ModalScreen[Path | None]):
    """The path of the file that was written, or None. `make` gives the text, once for each form, in a thread."""

    CSS_PATH = "fields.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back", id="form.back", show=False)]

    def __init__(self, title: str, path: Path, make: Callable[[Format], str]) -> None:
        super().__init__()
        self._title = title
        self._path = path
        self._make = make
        self._texts: dict[Format, str] = {}
        self._asked_for = ""
        self._busy = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(clean(self._title)).markup
            dialog.border_subtitle = with_keys(self, "Enter: write, {form.back}: cancel")
            yield Label(_words(self._path), id="report-form")
            yield Field(str(self._path), id="path", compact=True)
            yield Static("Format follows the extension: .md, .html or .csv.", markup=False)
            yield Static("", id="problem", markup=False)

    def on_mount(self) -> None:
        self.query_one("#path", Input).focus()

    @on(Input.Changed, "#path")
    def _other_path(self, event: Input.Changed) -> None:
        self._asked_for = ""
        self.query_one("#report-form", Label).update(_words(Path(event.value.strip())))
        self.query_one("#problem", Static).remove_class("shown")

    @on(Input.Submitted, "#path")
    def _submitted(self) -> None:
        value = self.query_one("#path", Input).value.strip()
        if not value:
            self._say("Write the name of a file", "")
        elif not self._busy:
            self._busy = True
            self._write(value)

    @work
    async def _write(self, value: str) -> None:
        """The samples of a long run take a while to read; Escape meanwhile leaves no file."""
        try:
            wanted = format_of(Path(value))
            if wanted not in self._texts:
                self._say("Making the report", "")
                self._texts[wanted] = await asyncio.to_thread(self._make, wanted)
            written = write_report(Path(value), self._texts[wanted], replace=self._asked_for == value)
        except AlreadyThere as error:
            self._asked_for = value
            self._say(error.message, "Press Enter again to replace it, or change the name.")
        except DiskprofError as error:
            self._say(error.message, on_screen(error.hint))
        else:
            self.dismiss(written)
        finally:
            self._busy = False

    def _say(self, problem: str, hint: str) -> None:
        line = self.query_one("#problem", Static)
        line.update(clean(f"{problem.rstrip('.')}. {hint}".strip()))
        line.add_class("shown")

    def action_back(self) -> None:
        self.dismiss(None)
