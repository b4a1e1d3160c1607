"""The bytes of a TOML file -> a document that knows the line of each of its keys, or why it is none.

tomllib reads the document; it keeps no positions. So the text that it accepted is read a second time for the lines of keys
where one has to be named.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from diskprof.presets.problem import KeyPath

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LARGEST_FILE = 128 * 1024
"""Bytes. The largest shipped preset has 5 kB."""

MOST_PARTS = 16
"""Parts of a dotted key, and of a key path whose line is kept; a preset needs 6. tomllib takes time and memory with the square."""

_SYNTAX_PLACE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)$")
_LONG_NUMBER = re.compile(r"[0-9_]{4000,}")

_STRING = r'''"""(?:[^\\]|\\(?s:.))*?"{3,5}(?!")|\'\'\'(?s:.)*?'{3,5}(?!')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\''''
_OPAQUE = re.compile(rf"{_STRING}|#[^\n]*")
_DEEP_KEY = re.compile(rf"(?:\.[ \t]*[A-Za-z0-9_-]+[ \t]*){{{MOST_PARTS}}}")
_TOKEN = re.compile(rf"""{_STRING}|#[^\n]*|[][{{}}=.,\n]|[^][{{}}=.,\n"'#\s]+""")


class NotToml(Exception):
    """`line` counts from 1; None where no line is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class TomlDocument(Struct, frozen=True, dict=True):
    table: dict[str, Any]
    text: str

    @cached_property
    def lines(self) -> dict[KeyPath, int]:
        """Line numbers (from 1) by path, such as ("test", 0, "options", "bs")."""
        return _key_lines(self.text.replace("\r\n", "\n"))

    def line_of(self, path: KeyPath) -> int | None:
        """The line of `path`, or of the nearest table around it."""
        return next((self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), None)


def file_bytes(path: Path) -> bytes:
    """What is in the file, or as much of it as shows that it is too large. Raises OSError."""
    with path.open("rb") as file:
        return file.read(LARGEST_FILE + 1)


def read_toml(data: bytes) -> TomlDocument:
    """Raises NotToml. Any bytes at all give the one or the other."""
    if len(data) > LARGEST_FILE:
        raise NotToml(f"it is larger than {LARGEST_FILE // 1024} KiB")
    try:
        text = data.decode("utf-8-sig")
        if line := _deep_key_line(text):
            raise NotToml(f"a key of more than {MOST_PARTS} parts", line)
        return TomlDocument(tomllib.loads(text), text)
    except UnicodeDecodeError as error:
        raise NotToml("it is not UTF-8 text", data.count(b"\n", 0, error.start) + 1) from None
    except tomllib.TOMLDecodeError as error:
        message, line = str(error), None
        if place := _SYNTAX_PLACE.search(message):
            line = int(place[1]) if place[1] else text.count("\n", 0, len(text.rstrip())) + 1
            message = message[: place.start()].rstrip()
        raise NotToml(f"not TOML: {message}", line) from None
    except RecursionError:
        raise NotToml("its brackets are nested too deeply") from None
    except ValueError:
        # Python refuses to read more than 4300 digits.
        long = _LONG_NUMBER.search(text)
        raise NotToml("a number is too long", text.count("\n", 0, long.start()) + 1 if long else None) from None


def pydantic_words(details: "ErrorDetails", known: Iterable[str], *, what: str = "key") -> str:
    """What pydantic found, in words for somebody who never heard of pydantic; `known` are the keys that there are."""
    context = details.get("ctx", {})
    match details["type"]:
        case "missing":
            return "this key is missing"
        case "extra_forbidden":
            close = get_close_matches(str(details["loc"][-1])[:64], known := list(known), n=1)
            return f"there is no such {what}; " + (
                f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            )
        case "enum":
            return f"must be one of {str(context.get('expected', '')).replace(' or ', ', ')}"
        case "too_short":
            return "there must be at least one"
        case "too_long" | "string_too_long":
            return "this is too long"
        case "string_type":
            return "must be a text, in quotes"
        case "bool_type" | "bool_parsing":
            return "must be true or false, without quotes"
        case "list_type":
            return "must be a list, in [brackets]"
        case "model_type" | "dict_type" | "model_attributes_type":
            return "must be a table"
        case "value_error":
            return str(context.get("error", details["msg"]))
        case _:
            return details["msg"]


def _deep_key_line(text: str) -> int | None:
    """The line of the first key that has more than MOST_PARTS parts; what stands in strings and comments is none."""
    # A quoted part of a key is a string too: it counts as one part, whatever is in it.
    keys = _OPAQUE.sub(lambda match: "_" + "\n" * match[0].count("\n"), text)
    found = _DEEP_KEY.search(keys)
    return keys.count("\n", 0, found.start()) + 1 if found else None


@dataclass(slots=True)
class _Open:
    """A table (of the file or inline) or an array that is being read: where in it the reading is."""

    path: KeyPath
    item: int | None = None
    key: KeyPath = ()
    in_value: bool = False


def _key_lines(text: str) -> dict[KeyPath, int]:
    """`text` is TOML; of anything else some keys may be left out."""
    lines: dict[KeyPath, int] = {}
    lengths: dict[KeyPath, int] = {}
    reading, header, line = [_Open(())], "", 1

    def keep(path: KeyPath) -> KeyPath:
        lines.setdefault(path := path[:MOST_PARTS], line)
        return path

    def enter(key: KeyPath) -> KeyPath:
        """The table that a header begins. Where a part of its key is an array of tables, that is the newest of them."""
        path: KeyPath = ()
        for number, part in enumerate(key, 1):
            path = keep((*path, part))
            if header == "[[" and number == len(key):
                lengths[path] = lengths.get(path, 0) + 1
            if path in lengths:
                path = keep((*path, lengths[path] - 1))
        return path

    for match in _TOKEN.finditer(text + "\n"):
        token, inner = match[0], reading[-1]
        if token == "\n" and len(reading) == 1:
            if header:
                inner.path, header = enter(inner.key), ""
            inner.key, inner.in_value = (), False
        elif token[0] in "#\n":
            pass
        elif token in "]}" and len(reading) > 1:
            reading.pop()
        elif token == "," and inner.item is not None:
            inner.item += 1
        elif token == "," and len(reading) > 1:
            inner.key, inner.in_value = (), False
        elif inner.item is not None or inner.in_value:
            path = keep((*inner.path, *(inner.key if inner.item is None else (inner.item,))))
            if token in "[{":
                reading.append(_Open(path, 0 if token == "[" else None))
        elif token == "=":
            inner.in_value = True
            for end in range(len(inner.key)):
                keep((*inner.path, *inner.key[: end + 1]))
        elif token == "[":
            header += token
        elif token not in ".]":
            inner.key = (*inner.key, tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
        line += token.count("\n")
    return lines
