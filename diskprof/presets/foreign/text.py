"""What a person pastes where a test is asked for: the path of a job file, the text of one, or commands."""

import re
from pathlib import Path

from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.foreign.jobfile import import_job_file, import_job_text

_SECTION = re.compile(r"^[ \t]*\[[^\]\n]+\][ \t]*(?:[;#].*)?$", re.MULTILINE)


def import_text(text: str, *, name: str = "", several: bool = False) -> ImportedPreset:
    """The preset that `text` makes. Raises UsageError for what is none of the three, PresetError for what cannot be taken over."""
    if path := _path(text):
        return import_job_file(path, name=name, several=several)
    if _SECTION.search(text):
        return import_job_text(text.encode("utf-8", "surrogateescape"), Path("pasted"), name=name, several=several)
    return import_command(text, name=name, several=several)


def _path(text: str) -> Path | None:
    """The file that `text` names, if it is one word that names one."""
    text = text.strip()
    if not text or "\n" in text or len(text) > 4096 or text.startswith("-"):
        return None
    path = Path(text).expanduser()
    return path if path.suffix in (".fio", ".ini", ".job") or ("/" in text and path.is_file()) else None
