"""Typed figures out of JSON that another program wrote. Nothing here raises: what is not there, or is not a number, is absent."""

from collections.abc import Mapping

Section = Mapping[str, object]
_NOTHING: Section = {}
_MOST = 2**60
"""More than any count, size or time in ns can be: what is larger would only overflow further on."""


def section(data: Section, key: str) -> Section:
    value = data.get(key)
    return value if isinstance(value, dict) else _NOTHING


def figure(data: Section, key: str) -> float | None:
    """A number with the digits it was written in: an int stays an int. None for nan, infinities and absurd values too (F11)."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST <= value <= _MOST:
        return None
    return value


def count(data: Section, key: str) -> int:
    """A number of things, 0 if absent or negative."""
    value = figure(data, key)
    return max(0, int(value)) if value is not None else 0
