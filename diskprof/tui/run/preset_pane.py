"""The presets of the Run screen, shelf by shelf, and the field that looks for some of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.worker import get_current_worker

from diskprof.model.errors import DiskprofError
from diskprof.presets.search import matching, titled
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
    preset_rows,
)
from diskprof.tui.shell.base import screen_of
from diskprof.tui.shell.keynames import with_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from diskprof.model.plan import Plan
    from diskprof.model.preset import Preset
    from diskprof.presets.library import Library
    from diskprof.runner.session import Wish


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
    class _Estimated(Message):
        figures: Mapping[str, Figures]

    def __init__(self) -> None:
        self.list = Table(id="presets")
        self._field = Field(id="preset-filter", compact=True)
        super().__init__(self._field, self.list, id="what", classes="pane")
        self._library: Library | None = None
        self.failed = False
        self._words = ""
        self._shelves = Shelves()
        self._planned: Mapping[str, Figures] = {}
        self._asked: Sequence[object] = ()
        """Of what the figures were asked last."""
        self.first = ""
        """The preset to begin with, where it is not that of the settings."""

    def on_mount(self) -> None:
        self.border_title = "Preset"
        self._field.placeholder = with_keys(self.screen, "filter: Enter keeps, {run.unfilter} clears")

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
        self._show()
        if problems := message.library.problems:
            title, text = broken_words(problems)
            self.app.notify(text, title=title, severity="warning", timeout=10, markup=False)
        self.post_message(self.Changed())

    @on(Table.Moved)
    def _moved(self, message: Table.Moved) -> None:
        message.stop()
        self._count()
        self.post_message(self.Changed())

    def _count(self) -> None:
        """Which of the list the cursor is on, in the frame."""
        if self.border_subtitle != self.list.place:
            self.border_subtitle = self.list.place

    @property
    def preset(self) -> Preset | None:
        """The one that is chosen."""
        return next((preset for preset in self.presets if preset.name == self.list.key), None)

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

    def take_plan(self, plan: Plan, wishes: Sequence[Wish]) -> None:
        """Show the figures of the plan of the chosen preset, and of the plans that all presets would have in the same place.

        `wishes` are of all presets. They take a while to plan, and are shown where there is room.
        """
        self._planned = {plan.preset: figures_of(plan)}
        self._arrange(replace(self._shelves, figures={**self._shelves.figures, **self._planned}))
        asked = [_estimated_by(wish) for wish in wishes]
        if asked != self._asked and preset_columns(self._shelves, self.list.size.width)[1:]:
            self._asked = asked
            self._estimate(wishes)

    @work(thread=True, exclusive=True, group="figures")
    def _estimate(self, wishes: Sequence[Wish]) -> None:
        worker, session = get_current_worker(), screen_of(self).session
        figures: dict[str, Figures] = {}
        with session.asking_once():
            for wish in wishes:
                if worker.is_cancelled:
                    return
                # One that cannot be planned there says so where its plan is made.
                with suppress(DiskprofError):
                    figures[wish.preset.name] = figures_of(session.estimate(wish))
        self.post_message(self._Estimated(figures))

    @on(_Estimated)
    def _figures_known(self, message: _Estimated) -> None:
        self._arrange(replace(self._shelves, figures={**message.figures, **self._planned}))

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        if not self.is_attached:  # the app ends
            return
        self._arrange(replace(self._shelves, table=not self.screen.has_class("-narrow")))

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
        self._count()

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
                if named := titled(matching(self.presets, words), words):
                    self.list.key = named.name
            self.post_message(self.Changed())

    @on(Field.Changed)
    def _filter_changed(self, event: Field.Changed) -> None:
        self._look_for(event.value)

    @on(Field.Submitted)
    def _filter_done(self, event: Field.Submitted) -> None:
        if not event.value.strip():
            self._field.remove_class("shown")
        self.list.focus()


def _estimated_by(wish: Wish) -> tuple[object, ...]:
    """What the figures of a preset go by."""
    device = wish.tree.get(wish.place.device) if wish.place else None
    return (wish.preset, wish.place, device and device.diskseq, wish.named, wish.settings)
