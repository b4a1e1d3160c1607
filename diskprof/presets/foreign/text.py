"""What a person pastes where a test is asked for: the path of a job file, the text of one, or commands."""

import re
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.text import clean
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.fio_rules import CLIENT_RULES, Handling
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.foreign.jobfile import import_job_text, read_job_file
from diskprof.presets.foreign.pasted import commands_of, shown, without_fences

_SECTION = re.compile(r"""[ \t]*\[[^\]\n"']+\][ \t]*(?:[;#].*)?""")
_PROMPT = re.compile(
    r"[ \t]*(?:\[[^\]\n]*\][$%>]|\[[^\]\n]*(?:@| ~)[^\]\n]*\]#|[\w.-]+@[\w.-]+(?::[^\s$#%>]*)?[$#%>])"
    r"(?:[ \t]+(?P<command>.*))?"
)
"""`[root@host ~]# cat job.fio`: fio would take it for a section with a comment."""
_SECOND_PROMPT = re.compile(r"^[ \t]*(?:>[ \t]?)+")
_HERE_DOCUMENT = re.compile(r"(?P<command>.*?)<<-?[ \t]*(['\"]?)(?P<end>\w+)\2.*")
_MOST_TOLD = 4


def import_text(
    text: str, *, name: str = "", several: bool = False, read: Callable[[Path], bytes] = read_job_file
) -> ImportedPreset:
    """The preset that `text` makes; `read` gets the job file that it names.

    Raises UsageError for what is none of the three, PresetError for what cannot be taken over.
    """
    if path := _path(text):
        return import_job_text(read(path), path, name=name, several=several)
    if found := _job_file(text):
        lines, left_out = found
        notes = [f"{shown(line)} is left out: it is no line of a job file." for line in left_out[:_MOST_TOLD]]
        if (more := len(left_out) - _MOST_TOLD) > 0:
            notes.append(f"{more} more line{'s are' if more > 1 else ' is'} left out.")
        imported = import_job_text(lines.encode("utf-8", "surrogateescape"), Path("pasted"), name=name, several=several)
        return replace(imported, notes=(*notes, *imported.notes))
    return import_command(text, name=name, several=several, read=read)


def _path(text: str) -> Path | None:
    """The file that `text` names, if it is one word that names one."""
    text = text.strip()
    if not text or "\n" in text or len(text) > 4096 or text.startswith("-"):
        return None
    try:
        path = Path(text).expanduser()
        named = path.suffix in (".fio", ".ini", ".job") or ("/" in text and path.is_file())
    except (OSError, RuntimeError):
        # A name that no file can have, or the home of nobody.
        return None
    return path if named else None


def _job_file(text: str) -> tuple[str, list[str]] | None:
    """The job file in `text`, each line at its place, and the lines around it that are not its own; None where there is none.

    A job file may stand in a code fence, in a here-document, or behind a prompt that shows it. Raises UsageError where a
    command beside it changes its jobs.
    """
    lines = [_SECOND_PROMPT.sub("", line, count=1) for line in without_fences(text).splitlines()]
    sections = [number for number, line in enumerate(lines) if _SECTION.fullmatch(line) and not _PROMPT.fullmatch(line)]
    if not sections:
        return None
    kept: list[str] = []
    left_out: list[str] = []
    end, outside = "", False
    for number, line in enumerate(lines):
        command = None
        if here := None if end else _HERE_DOCUMENT.fullmatch(line):
            end, outside, command = here["end"], False, here["command"]
            _runs_fio(command)
        elif end and line.strip() == end:
            end, outside, command = "", True, ""
        elif prompt := _PROMPT.fullmatch(line):
            # What fio prints follows.
            command = prompt["command"] or ""
            outside = _runs_fio(command)
        elif _SECTION.fullmatch(line):
            outside = False
        elif outside or (number < sections[0] and _leads(line)):
            command = line
            _runs_fio(command)
        kept.append(line if command is None else "")
        if command and command.strip():
            left_out.append(line)
    return "\n".join(kept), left_out


def _leads(line: str) -> bool:
    """Whether a line before the first section only leads to it. An option there is a mistake, which is told."""
    return bool(line.strip()) and "=" not in line and not line.lstrip().startswith((";", "#", "include"))


def _runs_fio(command: str) -> bool:
    """Raises UsageError if it does so with options: they would count for the jobs of the file, or it is another test."""
    try:
        found = [each for each in commands_of(command) if each.program == "fio"]
    except UsageError:
        return False
    options = [word for each in found for word in each.words if word.startswith("-") and len(word) > 1]
    rules = {option: CLIENT_RULES.get(option.lstrip("-").partition("=")[0]) for option in options}
    options = [option for option, rule in rules.items() if not rule or rule.handling is not Handling.DROPS]
    if options:
        raise UsageError(
            f"Beside the job file stands a command with options of its own: {clean(options[0][:40])}.",
            "Give one of them at a time, or write its options into [global].",
        )
    return bool(found)
