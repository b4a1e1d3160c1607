"""Dotted keys that nobody writes: tomllib takes time and memory with the square of their length."""

import re

MOST_PARTS = 16
TOO_DEEP = f"a key of more than {MOST_PARTS} parts"

_OPAQUE = re.compile(r'''"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|#[^\n]*''', re.DOTALL)
_DEEP = re.compile(rf"(?:\.[ \t]*[A-Za-z0-9_-]+[ \t]*){{{MOST_PARTS}}}")


def deep_key_line(text: str) -> int | None:
    """The line of the first key of TOML text that has more than MOST_PARTS parts; what stands in strings and comments is none."""
    # A quoted part of a key is a string too: it counts as one part, whatever is in it.
    keys = _OPAQUE.sub(lambda match: "_" + "\n" * match[0].count("\n"), text)
    found = _DEEP.search(keys)
    return keys.count("\n", 0, found.start()) + 1 if found else None
