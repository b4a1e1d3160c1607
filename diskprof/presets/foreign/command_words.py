"""A command line as articles print it -> its words, without what belongs to the shell or to the page that it was copied from."""

import re
import shlex

from diskprof.model.errors import UsageError
from diskprof.model.text import clean

LONGEST_COMMAND = 16 * 1024
"""Characters."""

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_LEADING_DASHES = re.compile(rf"(?<![^\s\"'])[{_DASHES}]*[{_DASHES[1:]}][{_DASHES}]*")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\xa0": " ", "\u202f": " "})
_LIST_NUMBERS = re.compile(r"^[ \t]*\d{1,3}\.[ \t]+", re.MULTILINE)
_CONTINUED = re.compile(r"[\\`^][ \t]*\r?\n|\\\s*\Z")
_PROMPT = re.compile(r"\s*(?:[$#>%][ \t]+)*")
_SHELL = re.compile(r"\d?[<>|&;].*|.*;")
_BEFORE = frozenset({"sudo", "doas", "time"})
PROGRAMS = frozenset({"fio", "diskspd", "ioping"})


def words_of(command: str) -> list[str]:
    """The words of `command`, the program's own name first: `fio` where none is there.

    Understood are continued lines, a prompt, sudo, numbered lines, typographic dashes and quotes. Raises UsageError for what
    only a shell could understand, and for another program.
    """
    if len(command) > LONGEST_COMMAND:
        raise UsageError(f"A command of {len(command)} characters is too long.", f"At most {LONGEST_COMMAND} are read.")
    text = _LIST_NUMBERS.sub("", command.translate(_QUOTES)).strip()
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text[1:-1]
    text = _LEADING_DASHES.sub("--", _CONTINUED.sub(" ", text))
    words = _split(text[_PROMPT.match(text).end() :])  # type: ignore[union-attr]
    while words and words[0] in _BEFORE:
        words = words[1:]
    if not words:
        raise UsageError("There is no command.", "Give a command line of fio, diskspd or ioping.")
    if words[0].startswith("-"):
        words.insert(0, "fio")
    program = re.split(r"[/\\]", words[0])[-1].lower().removesuffix(".exe")
    if program not in PROGRAMS:
        raise UsageError(
            f"{clean(words[0][:40])!r} is not fio, diskspd or ioping.",
            "aerospike-prewarm fills a device as this dd does."
            if program == "dd"
            else "Only their command lines are understood.",
        )
    if words[-1] == "&":
        words.pop()
    for word in words[1:]:
        if _SHELL.fullmatch(word):
            raise UsageError(
                f"{clean(word[:40])!r} is for a shell.", "Give one command, without what leads to or from it."
            )
    return [program, *words[1:]]


def _split(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if re.match(r"\S*diskspd", text, re.IGNORECASE):
        # Its targets are paths of Windows.
        lexer.escape = ""
    try:
        return list(lexer)
    except ValueError:
        raise UsageError("The command has a quote that does not end.", "Close it, or leave it out.") from None
