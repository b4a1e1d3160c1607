"""Command lines of fio, DiskSpd and ioping -> a preset. Any text at all gives that or a UsageError."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.job import fio_job
from diskprof.model.text import clean
from diskprof.presets.foreign.fio_jobs import Origin, preset_of
from diskprof.presets.foreign.fio_rules import CLIENT_RULES, CLIENT_WITH_VALUE, SYNONYMS, WITHOUT_VALUE, Handling
from diskprof.presets.foreign.fio_sections import Refusals, SectionReader
from diskprof.presets.foreign.imported import LONGEST_TEXT, ImportedPreset, one_line, together
from diskprof.presets.foreign.jobfile import read_job_file, read_sections
from diskprof.presets.foreign.pasted import PastedCommand, commands_of

_STORED_AS_OPTIONAL = WITHOUT_VALUE - {"write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"}


def import_command(
    text: str, *, name: str = "", several: bool = False, read: Callable[[Path], bytes] = read_job_file
) -> ImportedPreset:
    """The preset that pasted text makes: a test for each command in it; `read` gets the job files that a fio command names.

    `several`: jobs that worked in different places get a target each. Raises UsageError for what is no command line of the
    three, PresetError for one that cannot be taken over.
    """
    commands = commands_of(text)
    if len(commands) == 1:
        return _imported(commands[0], name=name, several=several, read=read)
    if several:
        raise UsageError("Targets are named for one command.", "Give one command at a time.")
    return together([_imported(command, name="", several=False, read=read) for command in commands], name)


def _imported(command: PastedCommand, *, name: str, several: bool, read: Callable[[Path], bytes]) -> ImportedPreset:
    words = list(command.words)
    source = one_line(shlex.join([command.program, *words]), LONGEST_TEXT)
    if command.program == "diskspd":
        from diskprof.presets.foreign.diskspd import import_diskspd

        found = import_diskspd(words, name=name, source=source)
    elif command.program == "ioping":
        from diskprof.presets.foreign.ioping_command import import_ioping

        found = import_ioping(words, name=name, source=source)
    else:
        found = _import_fio(words, name=name, source=source, several=several, read=read)
    return replace(found, notes=(*command.notes, *found.notes))


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
        raise PresetError("The command has several job files.", "Import them separately.")
    for file in files:
        # What stands on the command line counts as a [global] section before the file's own.
        refusals.label, reader.sorted_first = clean(file), True
        read_sections(read(Path(file)), reader, refusals)
        first, what = first or Path(file).stem, f"The fio command with {clean(Path(file).name)}"
    if not reader.sections:
        refusals.stop_if_any()
        raise PresetError("The command has no job.", "fio needs a --name for each job, or a job file.")
    found = preset_of(reader.sections, Origin(what, name or first, source), refusals, notes, several=several)
    jobs = [fio_job(job.options) for test in found.preset.tests for job in test.jobs]
    if any(word.lstrip("-") == "readonly" for word in words) and not all(job.reads_only for job in jobs):
        raise PresetError("--readonly is refused: a job writes", "fio refuses them together: leave one of the two out.")
    return found


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
