"""What a person wrote in a TOML file -> a value of a shape, or every fault in it with its key path.

A shape is a struct whose fields say how each is read: `title: Annotated[str, line(80)] = ""`. One without a default must be
given. Not pydantic's: to load it and to build such shapes took longer than all presets take to read (F44).
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from diskprof.model.text import clean
from diskprof.presets.problem import Fault, Faulty

Read = Callable[[Any], Any]
"""Raises ValueError with what is wrong with the value, or Faulty with key paths that begin in it."""

_Shape = TypeVar("_Shape", bound=Struct)


def read_table(shape: type[_Shape], table: Any, what: str = "key") -> _Shape:
    """`what` its keys are called. Raises ValueError for what is no table, and Faulty."""
    if not isinstance(table, dict):
        raise ValueError("must be a table")
    readers, required = _fields(shape)
    faults: list[Fault] = []
    found = {name: _within(table[name], read, name, faults) for name, read in readers.items() if name in table}
    for name in table:
        if name not in readers:
            close = get_close_matches(name[:64], readers, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(readers)}"
            faults.append(Fault((name,), f"there is no such {what}; {hint}"))
    # A key that is missing is often one that is misspelt: the misspelt one first.
    faults += [Fault((name,), "this key is missing") for name in required if name not in table]
    if faults:
        raise Faulty(*faults)
    return shape(**found)


@cache
def _fields(shape: type[Struct]) -> tuple[Mapping[str, Read], tuple[str, ...]]:
    """How each field is read, by name; and which must be given."""
    described = fields(shape)
    required = (each.name for each in described if each.default is NODEFAULT and each.default_factory is NODEFAULT)
    return {each.name: each.type.__metadata__[0] for each in described}, tuple(required)


def _within(value: Any, read: Read, key: str | int, faults: list[Fault]) -> Any:
    """What stands at `key`; where it is wrong, what is wrong goes to `faults`."""
    try:
        return read(value)
    except Faulty as faulty:
        faults += [Fault((key, *fault.path), fault.message) for fault in faulty.faults]
    except ValueError as error:
        faults.append(Fault((key,), str(error)))
    return None


def table_of(shape: type[Struct]) -> Read:
    return lambda value: read_table(shape, value)


def mapping_of(values: Read, keys: Read | None = None, most: int | None = None) -> Read:
    """A table whose keys a person chooses."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("must be a table")
        _count(value, 0, most)
        faults: list[Fault] = []
        for key in value if keys else ():
            _within(key, keys, key, faults)  # type: ignore[arg-type]
        found = {key: _within(each, values, key, faults) for key, each in value.items()}
        if faults:
            raise Faulty(*faults)
        return found

    return read


def list_of(items: Read, least: int = 0, most: int | None = None, *, or_one: bool = False) -> Read:
    """`or_one`: what is no list is the only item of one."""

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            if not or_one:
                raise ValueError("must be a list, in [brackets]")
            value = [value]
        _count(value, least, most)
        faults: list[Fault] = []
        found = [_within(each, items, number, faults) for number, each in enumerate(value)]
        if faults:
            raise Faulty(*faults)
        return found

    return read


def _count(value: Any, least: int, most: int | None) -> None:
    if len(value) < least:
        raise ValueError("there must be at least one")
    if most is not None and len(value) > most:
        raise ValueError("this is too long")


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text, in quotes")
    return value


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false, without quotes")
    return value


def line(most: int, least: int = 0) -> Read:
    """Text for one line of the screen, of `most` characters."""

    def read(value: Any) -> str:
        found = " ".join(clean(text(value), keep_newlines=True).split())
        if len(found) < least:
            raise ValueError("must not be empty")
        _count(found, 0, most)
        return found

    return read


def named(pattern: str, also: str = "") -> Read:
    """A text that matches `pattern`; `also` what else is said of names that do not."""
    whole = re.compile(pattern)

    def read(value: Any) -> str:
        if not whole.fullmatch(text(value)):
            raise ValueError(f"{value[:40]!r} is not a valid name: use letters, digits, - and _{also}")
        return str(value)

    return read


def one_of(*members: str) -> Read:
    """One of some members of an enum of texts."""
    known = {str(member): member for member in members}

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"must be one of {', '.join(map(repr, known))}")
        return known[value]

    return read
