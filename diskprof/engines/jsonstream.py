"""Documents out of a noisy byte stream, whatever the pieces it arrives in, and typed figures out of a document.

Of the figures nothing raises: what is not there, or is not a number, is absent.
"""

import json
import re
from collections.abc import Mapping

from msgspec import Struct

from diskprof.model.errors import EngineError
from diskprof.model.text import clean

MOST_BYTES = 64 << 20
"""A line or document longer than this is no output of an engine."""

_LONGEST_NOISE = 2000
_LINE_END = re.compile(rb"[\r\n]")
_LINE_END_THEN_BRACE = re.compile(rb"[\r\n]([{}])(?=[\r\n])")
_BRACES = (b"\n{", b"\n}")
_BRACES_OF_OTHERS = (*_BRACES, b"\r{", b"\r}")
_BARE_NUMBER = re.compile(r"(:\s*)-?(nan|inf(?:inity)?)(?=\s*[,}\]\r\n])", re.IGNORECASE)
_SEPARATORS = re.compile(rb"[\[\], \t\r\n]+")


class Document(Struct, frozen=True):
    """One JSON object; `raw` is its bytes from `{` to `}`."""

    value: Mapping[str, object]
    raw: bytes


class Noise(Struct, frozen=True):
    """A line between documents, harmless for a terminal."""

    text: str


class Broken(Struct, frozen=True):
    """A document of `size` bytes that broke off or cannot be read."""

    size: int


StreamPart = Document | Noise | Broken


def parse_object(raw: bytes) -> dict[str, object] | None:
    """A JSON object with the liberties that engines take: control characters, foreign bytes, nan and inf (F11).

    None if it is no such thing. orjson takes a third of the time of Python's own, which reads what is no JSON to the letter (F58).
    """
    import orjson

    try:
        value: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        value = _leniently(raw.decode("utf-8", "surrogateescape"))
    return value if isinstance(value, dict) else None


def _leniently(text: str) -> object:
    value = _loads(text)
    return _loads(_BARE_NUMBER.sub(r"\1null", text)) if value is None else value


def _loads(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _noise(line: bytes) -> list[StreamPart]:
    text = clean(line[:_LONGEST_NOISE].strip().decode("utf-8", "replace"))
    return [Noise(text)] if text else []


def _document(raw: bytes) -> Document | Broken:
    value = parse_object(raw)
    return Broken(len(raw)) if value is None else Document(value, raw)


class _Stream:
    """The buffer that both forms share: `_at` is where the search goes on, so that no byte is looked at twice."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.last = b""
        """The bytes of the last whole document."""
        self._most = most_bytes
        self._buffer = bytearray()
        self._inside = False
        self._at = 0

    def feed(self, chunk: bytes) -> list[StreamPart]:
        """What became whole with `chunk`. Raises EngineError where a line or document exceeds the bound."""
        self._buffer += chunk
        pieces: list[StreamPart] = []
        while self._step(pieces):
            pass
        if len(self._buffer) > self._most:
            raise EngineError(f"The engine printed a document of more than {self._most >> 20} MiB.")
        return pieces

    def close(self) -> list[StreamPart]:
        """What the end of the stream leaves behind."""
        pieces = self.feed(b"\n")
        if self._inside:
            pieces.append(Broken(len(self._buffer) - 1))
        self._buffer.clear()
        self._inside, self._at = False, 0
        return pieces

    def _step(self, pieces: list[StreamPart]) -> bool:
        raise NotImplementedError

    def _take(self, end: int) -> bytes:
        taken = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._at = 0
        return taken

    def _keep(self, piece: Document | Broken, pieces: list[StreamPart]) -> None:
        if isinstance(piece, Document):
            self.last = piece.raw
        pieces.append(piece)


class DocumentStream(_Stream):
    """fio's form: documents one after the other, from a line `{` to a line `}`, with stray lines between them (F2)."""

    def _step(self, pieces: list[StreamPart]) -> bool:
        return self._inside_step(pieces) if self._inside else self._outside_step(pieces)

    def _outside_step(self, pieces: list[StreamPart]) -> bool:
        match = _LINE_END.search(self._buffer, self._at)
        if not match:
            self._at = len(self._buffer)
            return False
        if match.start() == 1 and self._buffer[0] == ord("{"):
            self._inside, self._at = True, 1
            return True
        pieces += _noise(self._take(match.end()))
        return True

    def _inside_step(self, pieces: list[StreamPart]) -> bool:
        # Most of a document are lines without a brace at their beginning, which `find` passes over ten times as fast.
        marks = _BRACES if self._buffer.find(b"\r", self._at) < 0 else _BRACES_OF_OTHERS
        begins = [at for mark in marks if (at := self._buffer.find(mark, self._at)) >= 0]
        match = _LINE_END_THEN_BRACE.search(self._buffer, min(begins)) if begins else None
        if not match:
            self._at = max(1, len(self._buffer) - 2)
            return False
        if match[1] == b"{":
            # No line inside a document is a lone `{`: the one before broke off.
            pieces.append(Broken(match.start(1)))
            self._take(match.start(1))
            self._at = 1
            return True
        self._keep(_document(self._take(match.end(1))), pieces)
        self._inside = False
        return True


class ArrayStream(_Stream):
    """ioping's form: one array whose elements arrive one by one, each from `{` to a `}` at the start of a line (F29)."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(most_bytes)
        self.closed = False
        """Whether the array's end came: the last element is then the total."""

    def _step(self, pieces: list[StreamPart]) -> bool:
        return self._inside_step(pieces) if self._inside else self._outside_step(pieces)

    def _outside_step(self, pieces: list[StreamPart]) -> bool:
        if self._at == 0 and (skipped := _SEPARATORS.match(self._buffer)):
            self.closed |= b"]" in self._take(skipped.end())
        if not self._buffer:
            return False
        if self._buffer[0] == ord("{"):
            self._inside, self._at = True, 0
            return True
        match = _LINE_END.search(self._buffer, self._at)
        if not match:
            self._at = len(self._buffer)
            return False
        pieces += _noise(self._take(match.end()))
        return True

    def _inside_step(self, pieces: list[StreamPart]) -> bool:
        end = self._buffer.find(b"\n}", self._at)
        if end < 0:
            self._at = max(0, len(self._buffer) - 1)
            return False
        self._keep(_document(self._take(end + 2)), pieces)
        self._inside = False
        return True


JsonObject = Mapping[str, object]
_NOTHING: JsonObject = {}
_MOST = 2**60
"""More than any count, size or time in ns can be: what is larger would only overflow further on."""


def section(data: JsonObject, key: str) -> JsonObject:
    value = data.get(key)
    return value if isinstance(value, dict) else _NOTHING


def figure(data: JsonObject, key: str) -> float | None:
    """A number with the digits it was written in: an int stays an int. None for nan, infinities and absurd values too (F11)."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST <= value <= _MOST:
        return None
    return value


def count(data: JsonObject, key: str) -> int:
    """A number of things, 0 if absent or negative."""
    value = figure(data, key)
    return max(0, int(value)) if value is not None else 0
