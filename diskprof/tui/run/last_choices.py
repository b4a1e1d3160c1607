"""What the Run screen begins with, and keeps of each start: the last target, preset and edits, and the favourites."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from msgspec.structs import replace

from diskprof.config.remembered import Remembered, identity_of, read_remembered, write_remembered

if TYPE_CHECKING:
    from diskprof.tui.run.draft import Draft
    from diskprof.tui.shell.base import ModeScreen


class LastChoices:
    """Written beside the store of `screen`, in a thread, where anything changed."""

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen
        self.known = Remembered()

    def read(self) -> Remembered:
        """As the last start left it."""
        self.known = read_remembered(self._screen.store.path)
        return self.known

    def keep(self, draft: Draft) -> None:
        """Keep what is chosen in a complete draft."""
        last, place = self.known, draft.place
        if place is None or draft.preset is None:
            return
        device = draft.tree.get(place.device) if draft.tree else None
        paths = (place.path, *(path for path in last.paths if path != place.path)) if place.path else last.paths
        self._write(
            replace(
                last,
                device=place.device,
                identity=identity_of(device) if device else "",
                path=place.path,
                preset=draft.preset.name,
                variants={name: shape.variant for name, shape in draft.shapes.items() if shape.variant},
                edits={name: shape.edited for name, shape in draft.shapes.items() if shape.edited},
                paths=paths,
            )
        )

    def toggle_favourite(self, name: str) -> bool:
        """Make a preset a favourite, or no longer; whether anything changed."""
        favourites = self.known.favourites
        kept = tuple(each for each in favourites if each != name)
        return self._favour(kept if len(kept) < len(favourites) else (*favourites, name))

    def rename_favourite(self, before: str, now: str) -> bool:
        """A favourite has another name, or with an empty one is gone; whether anything changed."""
        names = (now if name == before else name for name in self.known.favourites)
        return self._favour(tuple(filter(None, names)))

    def _favour(self, names: tuple[str, ...]) -> bool:
        changed = names != self.known.favourites
        self._write(replace(self.known, favourites=names))
        return changed

    def _write(self, wanted: Remembered) -> None:
        if wanted != self.known:
            self.known = wanted
            write = functools.partial(write_remembered, self._screen.store.path, wanted)
            self._screen.run_worker(write, thread=True, exclusive=True, group="remember")
