"""The presets of the Run screen, shelf by shelf, and the field that looks for some of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.message import Message

from diskprof.model.errors import DiskprofError
from diskprof.presets.search import matching
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.run.headings import edge_title
from diskprof.tui.run.preset_lines import (
    Figures,
    Shelves,
    broken_words,
    figures_of,
    nothing_found,
    preset_columns,
    preset_named,
    preset_rows,
)
from diskprof.tui.shell.base import screen_of
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from diskprof.model.device import Device
    from diskprof.model.preset import Preset
    from diskprof.presets.library import Library


class PresetPane(Vertical):
    """Reads the library in a thread, and again when it is asked to."""

    class Changed(Message):
        """Another preset is chosen, or the presets are others."""

    @dataclass(eq=False, repr=False)
    class Failed(Message):
        error: DiskprofError

    @dataclass(eq=False, repr=False)
    class _Loaded(Message):
        library: Library

    @dataclass(eq=False, repr=False)
    class _Counted(Message):
        figures: Mapping[str, Figures]

    def __init__(self) -> None:
        self.list = Table(id="presets")
        self._field = Field(id="preset-filter", compact=True)
        super().__init__(self._field, self.list, id="what", classes="pane")
        self._library: Library | None = None
        self.failed = False
        self._words = ""
        self._shelves = Shelves()
        self.first = ""
        """The preset to begin with, where it is not that of the settings."""

    def on_mount(self) -> None:
        self.border_title = "Preset"
        self._field.placeholder = with_keys(self.screen, "type to filter, {run.unfilter} clears")

    @property
    def loaded(self) -> bool:
        return self._library is not None

    @property
    def presets(self) -> Sequence[Preset]:
        """All of them, found or not."""
        return self._library.presets if self._library else ()

    @work(thread=True, exclusive=True, group="load")
    def load(self) -> None:
        try:
            library = screen_of(self).session.load_library()
        except DiskprofError as error:
            self.failed = True
            self.post_message(self.Failed(error))
            return
        self.post_message(self._Loaded(library))

    @on(_Loaded)
    def _library_loaded(self, message: _Loaded) -> None:
        if self._library is None:
            names = {preset.name for preset in message.library.presets}
            self.list.key = self.first if self.first in names else screen_of(self).diskprof.settings.preset
        self._library = message.library
        self._shelves = replace(self._shelves, figures={})
        self._show()
        self._want_figures()
        if problems := message.library.problems:
            title, text = broken_words(problems)
            self.app.notify(text, title=title, severity="warning", timeout=10, markup=False)
        self.post_message(self.Changed())

    @on(Table.Moved)
    def _moved(self, message: Table.Moved) -> None:
        message.stop()
        self.post_message(self.Changed())

    @property
    def preset(self) -> Preset | None:
        """The one that is chosen."""
        name = preset_named(self.list.key)
        return next((preset for preset in self.presets if preset.name == name), None)

    def choose(self, name: str) -> None:
        """Choose the preset of that name as soon as it is there."""
        self.list.key = name

    def mark(self, edited: Set[str]) -> None:
        """Mark the presets that were `edited`, by name."""
        self._arrange(replace(self._shelves, edited=edited))

    def prefer(self, favourites: Sequence[str], recent: Sequence[str]) -> None:
        """Show these presets first, by name."""
        self._arrange(replace(self._shelves, favourites=tuple(favourites), recent=tuple(recent)))

    def _arrange(self, shelves: Shelves) -> None:
        if shelves != self._shelves:
            self._shelves = shelves
            self._show()

    @work(thread=True, exclusive=True, group="figures")
    def _look_up_figures(self, library: Library, device: Device | None) -> None:
        figures: dict[str, Figures] = {}
        for preset in library.presets:
            # One that cannot be resolved says so where its plan is made.
            with suppress(DiskprofError):
                figures[preset.name] = figures_of(preset, device)
        self.post_message(self._Counted(figures))

    @on(_Counted)
    def _figures_known(self, message: _Counted) -> None:
        self._arrange(replace(self._shelves, figures=message.figures))

    def on_resize(self) -> None:
        self.call_after_refresh(self._want_figures)

    def _want_figures(self) -> None:
        """They take a while to find, and are shown where there is room."""
        self._arrange(replace(self._shelves, table=self.screen.has_class("-wide")))
        if self._library and not self._shelves.figures and preset_columns(self._shelves, self.list.size.width)[1:]:
            self._look_up_figures(self._library, None)

    def _show(self) -> None:
        if self._library is None:
            return
        found, shelves, words = matching(self._library.presets, self._words), self._shelves, self._words.strip()
        if words:
            shelves = replace(shelves, favourites=(), recent=())
        key = with_keys(self.screen, "{run.unfilter}")

        def rows(width: int) -> list[Row]:
            columns = preset_columns(shelves, width) if found else [(1, "Preset")]
            title = edge_title(columns, width, plain=screen_of(self).diskprof.plain)
            if self.border_title != title:
                self.border_title = title
            return preset_rows(found, shelves, width) or nothing_found(key, width)

        self.list.show(rows)

    # the filter

    @property
    def filtering(self) -> bool:
        """Whether the field has the focus."""
        return self._field.has_focus

    @property
    def filtered(self) -> bool:
        """Whether there is a field to clear."""
        return self._field.has_class("shown")

    @property
    def filtered_out(self) -> bool:
        """The filter leaves no preset to choose."""
        return self.loaded and bool(self._words.strip()) and self.preset is None

    def filter(self) -> None:
        self._field.add_class("shown")
        # At once: the words may be there already.
        self.screen.set_focus(self._field)

    def unfilter(self) -> None:
        self._field.value = ""
        self._field.remove_class("shown")
        self._look_for("")
        self.list.focus()

    def _look_for(self, words: str) -> None:
        if words != self._words:
            self._words = words
            self._show()
            if words.strip():
                self.list.action_edge(-1)
            self.post_message(self.Changed())

    @on(Field.Changed)
    def _filter_changed(self, event: Field.Changed) -> None:
        self._look_for(event.value)

    @on(Field.Submitted)
    def _filter_done(self, event: Field.Submitted) -> None:
        if not event.value.strip():
            self._field.remove_class("shown")
        self.list.focus()
