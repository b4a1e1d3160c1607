"""The keys in running words: as the person has them, for every key can be changed."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from diskprof.tui.kit.textual_fixes import bindings_of, changed_key

if TYPE_CHECKING:
    from textual.binding import Binding

_NAMED = re.compile(r"\{([a-z]+\.[a-z0-9-]+)\}")
_WORDS = {"⏎": "Enter", "esc": "Esc", "tab": "Tab", "pgdn": "PgDn", "pgup": "PgUp", "←": "left", "→": "right"}
_PLAIN = str.maketrans({"⏎": "Enter", "←": "left", "→": "right", "↑": "up", "↓": "down", "⌫": "backspace"})


def plain_key(shown: str) -> str:
    """A key by its name: the sign that would stand for it in ASCII is itself a key."""
    return shown.translate(_PLAIN)


def key_of(screen: Screen[Any], name: str) -> str:
    """The first key of the binding whose id is `name`, as the last line shows it. Raises KeyError for no such binding."""
    app = screen.app
    found = _binding(screen, name)
    changed = changed_key(app, name)
    if changed is None:
        return app.get_key_display(replace(found, key=found.key.partition(",")[0]))
    return app.get_key_display(replace(found, key=changed.partition(",")[0], key_display=None))


_ROOMS = {
    "list": "diskprof.tui.kit.table",
    "fleet": "diskprof.tui.live.fleet.fleet_pane",
    "result": "diskprof.tui.runs.result",
    "history": "diskprof.tui.runs.history",
}


def _binding(screen: Screen[Any], name: str) -> Binding:
    for owner in (screen, screen.app):
        for binding in bindings_of(owner):
            if binding.id == name:
                return binding
    from diskprof.tui.shell.keys import own_bindings

    # Of another screen or of a list. Not out of all bindings: to gather those takes some 30 ms.
    place = name.partition(".")[0]
    module = import_module(_ROOMS.get(place, f"diskprof.tui.{place}.screen"))
    owners = (owner for owner in vars(module).values() if isinstance(owner, type))
    for binding in (binding for owner in owners for binding in own_bindings(owner)):
        if binding.id == name:
            return binding
    raise KeyError(name)


def with_keys(screen: Screen[Any], text: str) -> str:
    """`text` with the key of each `{id of a binding}`, as one says it: Enter, PgDn."""

    def said(match: re.Match[str]) -> str:
        shown = key_of(screen, match[1])
        return _WORDS.get(shown, shown)

    return _NAMED.sub(said, text)
