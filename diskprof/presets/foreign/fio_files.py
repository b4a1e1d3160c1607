"""What the jobs of somebody else's work on: files and devices by fio's rules, and what they become in a preset (F73, F75)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from diskprof.model.preset import OWN_FILES
from diskprof.presets.foreign.fio_sections import JobSection, Refusals
from diskprof.presets.foreign.imported import unique_name

_SEPARATOR = re.compile(r"(?<!\\):")
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_SLOT = re.compile(r"[^a-z0-9_]+")
_MOST_FILES = 64


class WorkedOn(Struct, frozen=True):
    """What a job opens: `paths`, all of them by each copy, or where there are none files that fio names for each copy.

    `places` are the directories and devices, each once.
    """

    paths: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def apart(self) -> bool:
        """Whether each copy has files of its own."""
        return not self.paths


def worked_on(section: JobSection, name: str, files: int, refusals: Refusals) -> WorkedOn:
    """What the job called `name` opens; `files` is its nrfiles. What a preset cannot say is added to `refusals`."""
    directories = _listed(section.value("directory"))
    names = _listed(section.value("filename"))
    if names and (given := section.settings.get("nrfiles")) and files != len(names):
        refusals.add(given.line, f"{given} beside {len(names)} file names is refused", "Leave one of the two out.")
    if not names:
        names = _formatted(section, name, files)
    if not names:
        return WorkedOn((), directories or (".",))
    if len(directories) > 1:
        given = section.settings["directory"]
        refusals.add(given.line, f"{given} is refused: the copies share files by name, and not in all directories")
    paths = tuple(str(PurePosixPath(*directories[:1], each)) for each in dict.fromkeys(names))
    places = tuple(dict.fromkeys(map(_place, paths)))
    uneven = {sum(_place(path) == place for path in paths) for place in places}
    if len(uneven) > 1 or len(paths) > _MOST_FILES:
        given = section.settings["filename"]
        why = "more files in one place than in another" if len(uneven) > 1 else f"more than {_MOST_FILES} files"
        refusals.add(given.line, f"{given} is refused: it names {why}")
    return WorkedOn(paths, places)


def _listed(value: str | None) -> tuple[str, ...]:
    parts = _SEPARATOR.split(value) if value else ()
    return tuple(part.replace("\\:", ":") for part in parts if part)


def _formatted(section: JobSection, name: str, files: int) -> tuple[str, ...]:
    """The names that a filename_format without the number of the copy makes, which copies share."""
    pattern = section.value("filename_format")
    if not pattern or "$jobnum" in pattern:
        return ()
    pattern = pattern.replace("$jobname", name)
    return tuple(pattern.replace("$filenum", str(number)) for number in range(files if "$filenum" in pattern else 1))


def _place(path: str) -> str:
    return path if path.startswith("/dev/") else str(PurePosixPath(path).parent)


def file_names(jobs: Sequence[WorkedOn], *, several: bool) -> list[tuple[str, ...]]:
    """The `files` of each of the jobs that run together; empty for the one file that all jobs of a target share.

    `several`: each place is a target of its own, otherwise all of them are one.
    """

    def target(place: str) -> str:
        return place if several else ""

    found: dict[str, set[str]] = {}
    for job in jobs:
        for place in job.places:
            found.setdefault(target(place), set()).update(path for path in job.paths if _place(path) == place)
            if job.apart:
                found[target(place)].add(OWN_FILES[0])
    names: dict[str, str] = {}
    for path in dict.fromkeys(path for job in jobs for path in job.paths):
        plain = _NOT_IN_FILE_NAMES.sub("-", PurePosixPath(path).name).strip("-._")[:48]
        names[path] = _unique(plain or "file", names.values())
    return [
        OWN_FILES
        if job.apart
        else ()
        if all(len(found[target(place)]) == 1 for place in job.places)
        else tuple(names[path] for path in job.paths if not several or _place(path) == job.places[0])
        for job in jobs
    ]


def _unique(name: str, taken: Iterable[str]) -> str:
    """`name`, with a number behind it where another file has it."""
    taken, found, number = set(taken), name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def slots_of(places: Iterable[str]) -> Mapping[str, str]:
    """A name for each place, as the slot of a preset."""
    slots: dict[str, str] = {}
    for place in places:
        name = _SLOT.sub("-", PurePosixPath(place).name.lower()).strip("-_")[:32].strip("-_")
        slots[place] = unique_name(name or "target", slots.values())
    return slots
