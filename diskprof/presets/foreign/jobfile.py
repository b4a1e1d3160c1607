"""A fio job file -> a preset, by fio's own rules for its lines. Any bytes at all give that or a PresetError."""

import re
from pathlib import Path

from diskprof.model.advice import Advice
from diskprof.model.errors import PresetError
from diskprof.model.text import clean
from diskprof.presets.foreign.fio_jobs import Origin, preset_of
from diskprof.presets.foreign.fio_sections import Refusals, SectionReader
from diskprof.presets.foreign.imported import ImportedPreset

LARGEST_FILE = 128 * 1024
"""Bytes. fio's own largest example has 2 kB."""
_LONGEST_LINE = 8191
"""fio reads what is beyond as a line of its own (OPT_LEN_MAX)."""

SEVERAL_TARGETS = "Each directory is a target of its own."
"""A comment of the job files that diskprof writes of presets with several targets."""

_BLANKS = " \t\n\v\f\r"
_BLANKS_AND_CONTROLS = _BLANKS + "".join(map(chr, range(32))) + "\x7f"
_SECTION_LINE = re.compile(rb"^[ \t]*\[[^\]\n\0]+\]", re.MULTILINE)


_RESULTS = b'"fio version"'
_LATEST_SIGN = 64 * 1024
"""Before so many bytes of a result its first document begins, whatever fio said before."""


def read_job_file(path: Path) -> bytes:
    """The content of a job file. Raises PresetError for one that cannot be read, or is too large to be one."""
    try:
        if not path.is_file():
            raise PresetError(f"{clean(str(path))} is not a file.", "Give the path of a fio job file.")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise PresetError(f"{clean(str(path))} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    _refuse_results(clean(str(path)), data)
    if len(data) > LARGEST_FILE:
        raise PresetError(f"{clean(str(path))} is larger than {LARGEST_FILE // 1024} KiB: this is no fio job file.")
    return data


def _refuse_results(label: str, data: bytes) -> None:
    if _RESULTS in data[:_LATEST_SIGN]:
        raise PresetError(
            f"{label} is a result of fio's, not a job file.",
            Advice(f"To import it as a run: diskprof import {label}", "Result files are imported on the command line."),
        )


def looks_like_job_file(data: bytes) -> bool:
    """Whether there is a section in it, as in every job file."""
    return b"\0" not in data and _SECTION_LINE.search(data) is not None


def import_job_file(path: Path, *, name: str = "", several: bool = False) -> ImportedPreset:
    """The preset in the job file at `path`; see `import_job_text`."""
    return import_job_text(read_job_file(path), path, name=name, several=several)


def import_job_text(data: bytes, path: Path, *, name: str = "", several: bool = False) -> ImportedPreset:
    """The preset that a job file's content makes; `path` is for messages, and its stem the name where none is given.

    `several`: jobs that worked in different places get a target each, as do those that diskprof exported so. Raises
    PresetError, with every option that stands in the way and its line.
    """
    refusals = Refusals(clean(str(path)))
    reader = SectionReader(refusals, sorted_first=True)
    read_sections(data, reader, refusals)
    shown = clean(path.name)
    several = several or f"; {SEVERAL_TARGETS}\n".encode() in data
    origin = Origin(f"The fio job file {shown}", name or path.stem, f"fio job file {shown}", str(path))
    return preset_of(reader.sections, origin, refusals, [], several=several)


def read_sections(data: bytes, reader: SectionReader, refusals: Refusals) -> None:
    """Hands the sections and options of a job file to `reader`. Raises PresetError for what is no job file."""
    _refuse_results(refusals.label, data)
    if len(data) > LARGEST_FILE:
        raise PresetError(f"{refusals.label} is larger than {LARGEST_FILE // 1024} KiB: this is no fio job file.")
    inside = False
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if b"\0" in raw or len(raw) > _LONGEST_LINE:
            raise PresetError(f"{refusals.where(number)}: this is not a line of a fio job file.")
        line = _content(raw.decode("utf-8", "surrogateescape"))
        if not line:
            continue
        if line.startswith("["):
            # fio takes all that follows for the name, but for the last character, whatever it is.
            if len(line) == 1:
                raise PresetError(f"{refusals.where(number)}: a section has a name: [name].")
            reader.begin(line[1:256][:-1], number)
            inside = True
        elif line.startswith("include"):
            refusals.add(number, f"{clean(line[:60])!r} is refused: it reads another file", "Put the lines here.")
        elif not inside:
            raise PresetError(
                f"{refusals.where(number)}: {clean(line[:40])!r} stands before the first section.",
                "A fio job file begins with [global] or with the name of a job in brackets.",
            )
        else:
            option, equals, value = line.partition("=")
            reader.option(option.rstrip(_BLANKS_AND_CONTROLS), value if equals else None, number)
    reader.end()


def _content(line: str) -> str:
    """A line without comment and blanks. A comment begins with ; or # anywhere, also inside a value."""
    line = line.lstrip(_BLANKS)
    for mark in ";#":
        line = line.partition(mark)[0]
    return line.rstrip(_BLANKS_AND_CONTROLS)
