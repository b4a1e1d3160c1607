"""Foreign text (device models, labels, file names, tool output) made harmless for a terminal."""

import unicodedata

_HARMLESS_CONTROLS = {"\t": " "}
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(text: str, *, keep_newlines: bool = False) -> str:
    """`text` without control, format, surrogate or unassigned characters (F39); each becomes U+FFFD or a blank."""
    if text.isascii() and text.isprintable():
        return text

    def one(char: str) -> str:
        if char == "\n" and keep_newlines:
            return char
        if char in _HARMLESS_CONTROLS:
            return _HARMLESS_CONTROLS[char]
        return "\ufffd" if unicodedata.category(char) in _UNSAFE else char

    return "".join(map(one, text))
