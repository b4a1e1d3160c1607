"""On which line each key of a TOML document stands, for error messages; tomllib keeps no positions.

The text has been accepted by tomllib, so this reads only as much grammar as it takes to find keys: strings, comments, brackets.
"""

import contextlib
import re
import tomllib

KeyPath = tuple[str | int, ...]

DEEPEST = 16
"""Parts of a key path that are kept; a preset needs 6. Paths of any length would take memory with its square."""

_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL)
_PLAIN = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Line numbers (from 1) by path, such as ("test", 0, "options", "bs"). Never raises: what is not understood is left out."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    with contextlib.suppress(_Lost, RecursionError, tomllib.TOMLDecodeError):
        scanner.document()
    return scanner.lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """The line of `path`, or of the nearest table around it."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


class _Lost(Exception):
    """The text is not what was expected."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._counted = (0, 1)
        self._lengths: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip(_BETWEEN)
            if self.at >= len(self.text):
                return
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        line, is_array = self._line(), self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        *parents, last = self._key()
        self._expect("]]" if is_array else "]")
        path: KeyPath = ()
        for part in parents:
            path = self._enter((*path, part), line)
        path = (*path, last)[:DEEPEST]
        if is_array:
            self._lengths[path] = self._lengths.get(path, 0) + 1
        return self._enter(path, line)

    def _enter(self, path: KeyPath, line: int) -> KeyPath:
        """The table at `path`: the newest one, where it is an array of tables."""
        path = path[:DEEPEST]
        self.lines.setdefault(path, line)
        if path in self._lengths:
            path = (*path, self._lengths[path] - 1)
            self.lines.setdefault(path, line)
        return path

    def _pair(self, table: KeyPath) -> None:
        line, path = self._line(), table
        for part in self._key():
            path = (*path, part)[:DEEPEST]
            self.lines.setdefault(path, line)
        self._expect("=")
        self._skip(_BLANK)
        self._value(path)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_BLANK)
            parts.append(self._key_part())
            self._skip(_BLANK)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _key_part(self) -> str:
        for pattern in (_BARE_KEY, _BASIC, _LITERAL):
            if match := pattern.match(self.text, self.at):
                self.at = match.end()
                if pattern is _BASIC:
                    return str(tomllib.loads(f"key = {match[0]}")["key"])
                return match[0][1:-1] if pattern is _LITERAL else match[0]
        raise _Lost

    def _value(self, path: KeyPath) -> None:
        start = self.text[self.at : self.at + 1]
        if start == "[":
            self._array(path)
        elif start == "{":
            self._inline_table(path)
        else:
            patterns = {'"': (_LONG_BASIC, _BASIC), "'": (_LONG_LITERAL, _LITERAL)}.get(start, (_PLAIN,))
            if not any(self._skip(pattern) for pattern in patterns):
                raise _Lost

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while True:
            self._skip(_BETWEEN)
            if self.text.startswith("]", self.at):
                self.at += 1
                return
            item = (*path, index)[:DEEPEST]
            self.lines.setdefault(item, self._line())
            self._value(item)
            index += 1
            self._skip(_BETWEEN)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith("]", self.at):
                raise _Lost

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while True:
            self._skip(_BETWEEN)
            if self.text.startswith("}", self.at):
                self.at += 1
                return
            self._pair(path)
            self._skip(_BETWEEN)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith("}", self.at):
                raise _Lost

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match is not None

    def _expect(self, token: str) -> None:
        if not self.text.startswith(token, self.at):
            raise _Lost
        self.at += len(token)

    def _line(self) -> int:
        """The line of the place reached; counted on from the last call, so that the whole is linear."""
        at, line = self._counted
        self._counted = (self.at, line + self.text.count("\n", at, self.at))
        return self._counted[1]
