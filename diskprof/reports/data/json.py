"""JSON for programs: how a value becomes plain dicts and lists by a table of fields, and those become text."""

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any

Json = dict[str, Any]
FieldTable = Mapping[type, "str | Callable[[Any], object]"]
"""The fields of each class, as `fields` takes them, or a function where there is more to say than fields."""

_AS_IT_IS = frozenset((str, int, float, bool, type(None)))
_FIELD = re.compile(r"(\w+)(?:=([\w.]+))?(\{\})?([?~]?)")


def fields(value: object, spec: str, table: FieldTable) -> Json:
    """The attributes of `value` that `spec` names, in its order: `a b=c.d e? f{} g{}~`.

    `b=c.d`: the attribute `d` of the attribute `c`, under the name `b`. `{}`: pairs become an object. What is empty is null
    with `?` and is left out with `~`. What has a row in `table` becomes an object by it.
    """
    read, converted = _parsed(spec)
    found: Json = {}
    for (name, pairs, empty), item in zip(converted, read(value), strict=True):
        if item or not empty:
            found[name] = dict(item) if pairs else plain(item, table)
        elif empty == "?":
            found[name] = None
    return found


@cache
def _parsed(spec: str) -> tuple[Callable[[object], tuple[Any, ...]], tuple[tuple[str, bool, str], ...]]:
    found = [_FIELD.fullmatch(word) for word in spec.split()]
    parts = [match.groups() for match in found if match]
    assert len(parts) == len(found), spec
    read = attrgetter(*(path or name for name, path, _, _ in parts))
    return (read if len(parts) > 1 else lambda value: (read(value),)), tuple(
        (name, bool(pairs), empty) for name, _, pairs, empty in parts
    )


def plain(value: Any, table: FieldTable) -> Any:
    """A value as JSON has it; tuples become lists."""
    if type(value) in _AS_IT_IS:
        return value
    row = table.get(type(value))
    if row is not None:
        return fields(value, row, table) if isinstance(row, str) else row(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple):
        return [plain(item, table) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def dumps(value: object, *, ascii_only: bool = False) -> str:
    """Valid JSON text, indented, ending in a newline; what is not a finite number is null (F11).

    What a terminal might obey is written as `\\u009b`, which every reader of JSON reads as the same character (F39).
    """
    lines = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False).split("\n")
    fine = str.isascii if ascii_only else str.isprintable
    return "\n".join(line if fine(line) and line.isprintable() else _escaped(line, fine) for line in lines) + "\n"


def _escaped(line: str, fine: Callable[[str], bool]) -> str:
    return "".join(char if fine(char) and char.isprintable() else json.dumps(char)[1:-1] for char in line)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        # A name that is not UTF-8 is held with surrogates (F11), which JSON text cannot carry.
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
