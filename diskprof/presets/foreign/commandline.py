"""A command line of fio, DiskSpd or ioping -> a preset. Any text at all gives that or a UsageError."""

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.text import clean
from diskprof.presets.foreign.fio_jobs import Origin, preset_of
from diskprof.presets.foreign.fio_rules import CLIENT_RULES, CLIENT_WITH_VALUE, SYNONYMS, WITHOUT_VALUE, Handling
from diskprof.presets.foreign.fio_sections import Refusals, SectionReader
from diskprof.presets.foreign.imported import LONGEST_TEXT, ImportedPreset, one_line
from diskprof.presets.foreign.jobfile import read_job_file, read_sections

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
_STORED_AS_OPTIONAL = WITHOUT_VALUE - {"write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"}


def import_command(
    command: str, *, name: str = "", several: bool = False, read: Callable[[Path], bytes] = read_job_file
) -> ImportedPreset:
    """The preset that a command line makes, as an article prints it; `read` gets the job files that a fio command names.

    `several`: jobs that worked in different places get a target each. Raises UsageError for what is no command line of the
    three, PresetError for one that cannot be taken over.
    """
    program, *words = words_of(command)
    source = one_line(shlex.join([program, *words]), LONGEST_TEXT)
    if program == "diskspd":
        from diskprof.presets.foreign.diskspd import import_diskspd

        return import_diskspd(words, name=name, source=source)
    if program == "ioping":
        from diskprof.presets.foreign.ioping_command import import_ioping

        return import_ioping(words, name=name, source=source)
    return _import_fio(words, name=name, source=source, several=several, read=read)


def _import_fio(
    words: Sequence[str], *, name: str, source: str, several: bool, read: Callable[[Path], bytes]
) -> ImportedPreset:
    notes: list[str] = []
    refusals = Refusals("the command")
    reader = SectionReader(refusals, sorted_first=False)
    files = _read_words(words, reader, refusals, notes)
    first = reader.sections[0].name if reader.sections else ""
    what = "The fio command"
    if len(files) > 1:
        raise PresetError("The command has several job files.", "Take one at a time.")
    for file in files:
        # What stands on the command line counts as a [global] section before the file's own.
        refusals.label, reader.sorted_first = clean(file), True
        read_sections(read(Path(file)), reader, refusals)
        first, what = first or Path(file).stem, f"The fio command with {clean(Path(file).name)}"
    if not reader.sections:
        refusals.stop_if_any()
        raise PresetError("The command has no job.", "fio needs a --name for each job, or a job file.")
    return preset_of(reader.sections, Origin(what, name or first, source), refusals, notes, several=several)


def _read_words(words: Sequence[str], reader: SectionReader, refusals: Refusals, notes: list[str]) -> list[str]:
    """Hands the options to `reader`; returns the job files. Options before the first --name count for every job (F2)."""
    files: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if not word.startswith("-") or word == "-":
            files.append(word)
            continue
        if word == "--":
            files += reversed(rest)
            break
        option, equals, value = word.lstrip("-").partition("=")
        given: str | None = value if equals else None
        if given is None and _takes_next_word(option) and rest:
            given = rest.pop()
        if option == "name":
            reader.begin(given or "", 0)
        elif rule := CLIENT_RULES.get(option):
            shown = clean(f"--{option}" if given is None else f"--{option}={given[:60]}")
            if rule.handling is Handling.DROPS:
                notes.append(f"{shown} is left out: {rule.why}.")
            else:
                refusals.add(0, f"{shown} is refused: {rule.why}")
        else:
            reader.option(option, given, 0)
    reader.end()
    return files


def _takes_next_word(option: str) -> bool:
    if option in CLIENT_RULES:
        return option in CLIENT_WITH_VALUE
    return SYNONYMS.get(option, option) not in _STORED_AS_OPTIONAL


# --- The words of a command as articles print it ---------------------------------------------------------------------


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
