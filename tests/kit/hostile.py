"""Strings that somebody might put where diskprof shows them, and how to find what of them came through."""

import gzip
import io
import json
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from diskprof.model import device, expectation, metric, plan, preset, run, sample, target
from diskprof.store import Store
from diskprof.store.exchange.transfer import import_runs

ESCAPES = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\x9d0;t\x9c\x90q\x9c\x08\x7f\r\n\u202e\u2066\u200f\ufeff\U000e0041\u2028"
"""What terminals obey: the clipboard, clearing, colours, the title, in 7 and 8 bits; bidi overrides; invisible letters."""
MARKUP = "[/] [bold red]x[/] [@click=app.quit]q[/] <script>alert(1)</script> | a `b` *c* _d_ ![i](http://x) [l](javascript:x) # h"
SQL = "x'); DROP TABLE run; --"
HOSTILE = f"{ESCAPES}{MARKUP}{SQL}"
EXPORTED = Path(__file__).parents[1] / "data" / "exported" / "version-1.jsonl.gz"
LINES: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(EXPORTED.read_bytes()).splitlines()]
"""Two runs in a file."""
MODULES = (device, expectation, metric, plan, preset, run, sample, target)
# What pydantic would refuse in another spelling: statuses, kinds, operators.
WORDS = frozenset(
    str(member)
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, StrEnum)
    for member in kind
)
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def dangers(text: str) -> set[str]:
    """What a terminal would obey in a text of lines; empty for a clean one."""
    return {f"U+{ord(char):04X}" for char in text if char != "\n" and unicodedata.category(char) in _UNSAFE}


def poisoned(value: Any, words: frozenset[str], text: str = HOSTILE) -> Any:
    """JSON with `text` behind every string that is not one of `words`."""
    if isinstance(value, dict):
        return {key: poisoned(item, words, text) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, words, text) for item in value]
    return value + text if isinstance(value, str) and value not in words else value


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a JSON value."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*here, key))


def poisoned_lines() -> list[dict[str, Any]]:
    """The runs with HOSTILE in every text that is not a word of ours."""
    lines = json.loads(json.dumps(LINES))
    for line in lines:
        for key in ("run", "test"):
            for name in set(line.get(key, ())) - {"id", "started_at", "ended_at", "result"}:
                line[key][name] = poisoned(line[key][name], WORDS)
        if "messages" in line:
            line["messages"] = poisoned(line["messages"], WORDS)
    return lines


def imported(store: Store, lines: list[dict[str, Any]]) -> list[str]:
    """Takes the lines of a file into a store; returns the ids of its runs."""
    packed = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines), 1)
    return [each.run_id for each in import_runs(store, [("file", io.BytesIO(packed))])]
