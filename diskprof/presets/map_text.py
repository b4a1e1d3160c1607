"""A read/write map as a person writes it: `reads=8 writes=8 depth=64 length=3s at_most=6m`."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.read_write_map import MapRule
from diskprof.model.units import format_duration
from diskprof.presets.limit_text import count_of, seconds_of
from diskprof.presets.options.values import write_duration

KEYS = ("reads", "writes", "depth", "length", "at_most")
_LEAST_LEVELS, _MOST_LEVELS = 2, 16
_MOST_DEPTH = 256
_LONGEST_CELL_S, _LONGEST_S = 3600.0, 86400.0
_OPTION = re.compile(r"([a-z_]+)=(\S+)", re.ASCII)


def map_text(table: Mapping[str, object]) -> str:
    """The table `map` of a preset file as text. Raises ValueError."""
    for key, value in table.items():
        if key not in KEYS:
            raise ValueError(f"there is no key {str(key)[:40]!r}; there are {', '.join(KEYS)}")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"{key} must be a text or a number")
    if not table:
        raise ValueError("it is empty: reads = 8")
    return " ".join(f"{key}={table[key]}" for key in KEYS if key in table)


def map_table(text: str) -> Mapping[str, str]:
    """The keys of such a text with their values, as they were written. Raises UsageError."""
    found = dict[str, str]()
    for word in text.split():
        option = _OPTION.fullmatch(word)
        if option is None or option[1] not in KEYS or option[1] in found:
            raise UsageError(f"{word[:40]!r} is not a valid part of a map", f"Write {', '.join(KEYS)}, each once.")
        found[option[1]] = option[2]
    return found


def parse_map(text: str) -> MapRule | None:
    """None for an empty text. Raises UsageError."""
    if not text.strip():
        return None
    table = map_table(text)
    rule = MapRule()
    for key, name, least, most in (
        ("reads", "reads", _LEAST_LEVELS, _MOST_LEVELS),
        ("writes", "writes", _LEAST_LEVELS, _MOST_LEVELS),
        ("depth", "depth", 1, _MOST_DEPTH),
    ):
        if key in table:
            rule = replace(rule, **{name: count_of(key, table[key], least, most)})
    for key, name, longest in (("length", "cell_s", _LONGEST_CELL_S), ("at_most", "most_s", _LONGEST_S)):
        if key in table:
            rule = replace(rule, **{name: seconds_of(key, table[key], longest)})
    if rule.most_s < 3 * rule.seconds(rule.all_reads):
        raise UsageError(
            f"at_most={format_duration(rule.most_s)} is too short for three cells",
            "Choose a longer at_most, or shorter cells.",
        )
    return rule


def map_text_of(rule: MapRule) -> str:
    """`rule` as `parse_map` reads it, without the cells that are known."""
    length, most = write_duration(rule.cell_s), write_duration(rule.most_s)
    return f"reads={rule.reads} writes={rule.writes} depth={rule.depth} length={_unit(length)} at_most={_unit(most)}"


def map_words(rule: MapRule) -> str:
    """`read latency at 8 read rates beside 9 write rates, at most 64 reads in flight, 3 s each, at most 6 min`."""
    known = f", {len(rule.known)} cells known" if rule.known else ""
    return (
        f"read latency at {rule.reads} read rates beside {rule.writes + 1} write rates, at most {rule.depth} reads in"
        f" flight, {format_duration(rule.cell_s)} each, at most {format_duration(rule.most_s)}{known}"
    )


def _unit(written: str) -> str:
    return written if written.endswith("s") else f"{written}s"
