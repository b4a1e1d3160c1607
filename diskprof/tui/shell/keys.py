"""Which key does what: every binding that has an id, and the changes that a person asks for."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from msgspec import Struct
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys, format_key

_PLACES = {
    "app": "Everywhere",
    "run": "Run",
    "live": "Live",
    "fleet": "Live, a fleet run",
    "runs": "Runs",
    "result": "Result",
    "history": "History",
    "compare": "Compare",
    "list": "Lists and tables",
    "ask": "Questions",
    "form": "Fields to fill in",
    "target": "Other target",
    "choose": "Palette",
    "reading": "Help and other texts",
}
_NAMED = frozenset(key.value for key in Keys)
_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*([^\s+]|[a-z][a-z_0-9]*)")
_SIGN = re.compile(r"[a-z]+(?:_[a-z]+)*")
# The lists that a screen has; a dialog may have any.
_LISTS = {
    "RunScreen": ("Table",),
    "LiveScreen": ("TestSheet", "FleetSheet"),
    "RunsScreen": ("Table", "Sheet"),
    "ResultScreen": ("TestSheet",),
    "HistoryScreen": ("Table", "Sheet"),
    "CompareScreen": ("Table", "Sheet"),
}
# Textual's own, which cannot be changed: the second leaves whatever happens.
_FIXED = ("ctrl+c", "ctrl+q")


class KeyRow(Struct, frozen=True):
    """A binding of the screen called `screen`; `keys` are Textual's names for them, as `defaults` are."""

    id: str
    screen: str
    keys: tuple[str, ...]
    defaults: tuple[str, ...]
    text: str


def key_rows(changed: Mapping[str, tuple[str, ...]] | None = None) -> tuple[KeyRow, ...]:
    """Every binding that can be changed, as it is with those of `changed` that hold, place by place."""
    accepted, _ = choose_keys(changed or {})
    rows = []
    for binding in _bindings().values():
        assert binding.id
        place = binding.id.partition(".")[0]
        defaults = _split(binding.key)
        keys = _split(accepted[binding.id]) if binding.id in accepted else defaults
        words = " ".join((binding.tooltip or binding.description).split())
        rows.append(KeyRow(binding.id, _PLACES.get(place, place.capitalize()), keys, defaults, words))
    order = list(_PLACES)
    return tuple(sorted(rows, key=lambda row: _order(order, row.id)))


def _order(places: list[str], name: str) -> tuple[int, str]:
    place = name.partition(".")[0]
    return (places.index(place) if place in places else len(places), "" if place in places else place)


def choose_keys(wanted: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, str], dict[str, str]]:
    """(the keymap for Textual, why the others cannot be had): by the ids of the bindings.

    Two bindings that could be pressed in one place never get the same key: who asked for it keeps the default.
    """
    bindings, faults = _bindings(), dict[str, str]()
    chosen: dict[str, tuple[str, ...]] = {}
    for name, keys in wanted.items():
        if name in bindings and tuple(map(_normal, keys)) == _split(bindings[name].key):
            continue
        if name not in bindings:
            close = get_close_matches(name[:64], bindings, n=1)
            faults[name] = "there is no such binding" + (
                f"; did you mean {close[0]}?" if close else "; `diskprof config keys` lists them"
            )
        elif wrong := next((key for key in keys if not _is_key(key)), ""):
            faults[name] = f"{wrong!r} is no key; write it as x, G, ?, f5, space, pagedown, ctrl+x or shift+left"
        elif taken := next((key for key in keys if key in _FIXED), ""):
            faults[name] = f"{taken} cannot be given to anything else"
        else:
            chosen[name] = tuple(dict.fromkeys(map(_normal, keys)))
    while clash := _clash(chosen):
        name, other, key = clash
        faults[name] = f"{format_key(key)} is the key of {other} already; change that one too, or choose another"
        del chosen[name]
    return {name: ",".join(keys) for name, keys in chosen.items()}, faults


def _clash(chosen: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str] | None:
    """A changed binding, another one in the same place, and the key of both."""
    for scope in _scopes():
        holder: dict[str, str] = {}
        # The changed ones last: it is they that give way.
        for name, defaults in sorted(scope.items(), key=lambda item: item[0] in chosen):
            for key in chosen.get(name, defaults):
                other = holder.setdefault(key, name)
                as_ever = key in defaults and key in scope[other]
                if other != name and name in chosen and not as_ever:
                    return name, other, key
    return None


def _is_key(text: str) -> bool:
    match = _KEY.fullmatch(text)
    if not match:
        return False
    base = match[1]
    return len(base) == 1 or base in _NAMED or _normal(base) in _NAMED or _named_sign(base)


def _named_sign(name: str) -> bool:
    """Whether this is Textual's name for a character, such as question_mark."""
    return bool(_SIGN.fullmatch(name)) and len(format_key(name)) == 1


def _normal(key: str) -> str:
    """A key by Textual's name: ? is question_mark."""
    from diskprof.tui.kit.textual_fixes import key_name

    return key_name(key) if len(key) == 1 else key


def _split(keys: str) -> tuple[str, ...]:
    return tuple(_normal(key.strip()) for key in keys.split(","))


@cache
def _classes() -> tuple[type[DOMNode], ...]:
    """Every class of ours that has bindings."""
    package = importlib.import_module("diskprof.tui")
    for module in pkgutil.walk_packages(package.__path__, "diskprof.tui."):
        importlib.import_module(module.name)
    return tuple(sorted(set(_below(DOMNode)), key=lambda found: (found.__module__, found.__qualname__)))


def _below(parent: type[Any]) -> Iterator[type[DOMNode]]:
    for child in parent.__subclasses__():
        if child.__module__.startswith("diskprof.tui."):
            yield child
        yield from _below(child)


@cache
def _bindings() -> Mapping[str, Binding]:
    """The bindings by id; one that several classes have, from the one that has the most keys."""
    found: dict[str, Binding] = {}
    for owner in _classes():
        for binding in own_bindings(owner):
            if binding.id and len(binding.key) > len(found[binding.id].key if binding.id in found else ""):
                found[binding.id] = binding
    return found


def own_bindings(owner: type[Any]) -> tuple[Binding, ...]:
    """The bindings that a class has of its own, without those of the classes that it is made of."""
    return tuple(binding for binding in owner.__dict__.get("BINDINGS", ()) if isinstance(binding, Binding))


@cache
def _scopes() -> tuple[Mapping[str, tuple[str, ...]], ...]:
    """What can be pressed in one place: a screen's bindings with those of the lists in it, and the app's where they reach."""
    from textual.app import App
    from textual.screen import ModalScreen, Screen

    lists = {owner.__name__: _ids(owner) for owner in _classes() if not issubclass(owner, App | Screen)}
    everywhere = dict[str, tuple[str, ...]]()
    for owner in _classes():
        if issubclass(owner, App):
            everywhere |= _ids(owner)
    scopes = []
    for owner in _classes():
        if issubclass(owner, Screen) and not owner.__subclasses__():
            scope = dict[str, tuple[str, ...]]() if issubclass(owner, ModalScreen) else dict(everywhere)
            for name in _LISTS.get(owner.__name__, ("Table",)):
                scope |= lists[name]
            for part in reversed(owner.__mro__):
                scope |= _ids(part)
            scopes.append(scope)
    return tuple(scopes)


def _ids(owner: type[Any]) -> dict[str, tuple[str, ...]]:
    return {binding.id: _split(binding.key) for binding in own_bindings(owner) if binding.id}
