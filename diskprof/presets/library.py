"""Every preset that can be run: the shipped ones, the person's own, and what else a person names to be run."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.advice import Advice
from diskprof.model.errors import PresetError, UsageError
from diskprof.model.preset import Category, Preset
from diskprof.model.text import clean
from diskprof.presets.problem import Notice, Problem
from diskprof.presets.search import matching
from diskprof.presets.tuning import with_tuning


class Library(Struct, frozen=True, dict=True):
    """`presets` are sorted by category, then name. `problems`: files that cannot be used; `notices`: worth knowing."""

    presets: tuple[Preset, ...]
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()

    def get(self, name: str) -> Preset:
        """The preset of that name or alias.

        Raises PresetError where the person's own file of that name is broken, also if a shipped preset has the name too:
        what was asked for is not the shipped one. Raises UsageError for a name that nobody has.
        """
        broken = [problem for problem in self.problems if name and name == problem.preset]
        if broken and not any(preset.name == name and not preset.shipped for preset in self.presets):
            raise PresetError(f"Invalid preset {clean(name)}.", "\n".join(map(str, broken)))
        for preset in self.presets:
            if preset.name == name:
                return preset
        for preset in self.presets:
            if name in preset.aliases:
                return preset
        raise UsageError(f"There is no preset {clean(name[:64])!r}.", self._suggestion(name))

    def _suggestion(self, name: str) -> str | Advice:
        names = [known for preset in self.presets for known in (preset.name, *preset.aliases)]
        close = get_close_matches(name[:64].lower(), names, n=3, cutoff=0.5)
        close += [known for known in names if name and name.lower() in known and known not in close][:3]
        close = close or [preset.name for preset in matching(self.presets, name[:64])] if name.strip() else close
        return (
            f"Did you mean {' or '.join(close[:3])}?"
            if close
            else Advice("`diskprof presets` lists them.", "See the list of presets.")
        )


def shipped_directory() -> Path:
    """Where the shipped presets lie: in the package as it is installed, in the repository where diskprof runs from a checkout."""
    installed = Path(__file__).with_name("library")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "presets"


def user_directory() -> Path:
    """Where the person's own presets lie: $XDG_CONFIG_HOME/diskprof/presets, usually ~/.config/diskprof/presets."""
    import platformdirs

    return Path(platformdirs.user_config_dir("diskprof")) / "presets"


def load_library(user_dir: Path | None = None) -> Library:
    """Reads every preset file, the person's own from `user_dir` or the usual place. A bad file becomes a problem."""
    return _load(user_dir, "")


def own_presets(user_dir: Path | None = None) -> Library:
    """The person's own presets alone, from `user_dir` or the usual place."""
    presets, problems = _read(user_dir or user_directory(), shipped=False)
    return Library(tuple(sorted(presets, key=_place)), tuple(problems))


def shipped_files() -> tuple[Path, ...]:
    """The files of the shipped presets; none where an installation lacks them."""
    with suppress(OSError):
        return tuple(_files(shipped_directory()))
    return ()


def library_for(name: str, user_dir: Path | None = None) -> Library:
    """As much of the library as tells what `name` is: all, unless a few files do.

    Those are the person's own, and of the shipped ones those in which the name stands. Which aliases a preset of the
    person's own has, and whose place it takes, only all of them tell.
    """
    part = _load(user_dir, name)
    found = [preset for preset in part.presets if name == preset.name or name in preset.aliases]
    told = found and all(preset.shipped or not preset.aliases for preset in found)
    return part if told or any(name == problem.preset for problem in part.problems) else load_library(user_dir)


def _load(user_dir: Path | None, mentioning: str) -> Library:
    shipped, shipped_problems = _read(shipped_directory(), shipped=True, mentioning=mentioning)
    own, own_problems = _read(user_dir or user_directory(), shipped=False)
    mine = {preset.name: preset for preset in own}
    notices = [
        Notice(clean(mine[preset.name].path), f"overrides the shipped preset {preset.name}")
        for preset in shipped
        if preset.name in mine
    ]
    presets = _without_taken_aliases([*own, *(preset for preset in shipped if preset.name not in mine)])
    presets.sort(key=_place)
    return Library(tuple(presets), (*shipped_problems, *own_problems), tuple(notices))


_SHELVES = list(Category)


def _place(preset: Preset) -> tuple[int, bool, list[tuple[str, int]]]:
    """By shelf; first on it the preset of the shelf's own name, so that quick is the first of all."""
    return _SHELVES.index(preset.category), preset.name != preset.category, _natural(preset.name)


def _natural(name: str) -> list[tuple[str, int]]:
    """A sort key that puts qd8 before qd32."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d{0,18})", name)]


def _without_taken_aliases(presets: Iterable[Preset]) -> list[Preset]:
    """Presets in order of precedence, each alias left with the first that has it; a name beats an alias."""
    presets = list(presets)
    taken = {preset.name for preset in presets}
    kept = []
    for preset in presets:
        aliases = tuple(alias for alias in preset.aliases if alias not in taken)
        taken.update(aliases)
        kept.append(preset if aliases == preset.aliases else replace(preset, aliases=aliases))
    return kept


def _read(directory: Path, *, shipped: bool, mentioning: str = "") -> tuple[list[Preset], list[Problem]]:
    from diskprof.presets.files.load import load_file

    presets: dict[str, Preset] = {}
    problems: list[Problem] = []
    try:
        paths = _files(directory)
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [Problem(clean(str(directory)), None, "", f"it cannot be read: {error.strerror}")]
    for path in paths:
        if mentioning and not _mentions(path, mentioning):
            continue
        loaded = load_file(path, shipped=shipped)
        if not isinstance(loaded, Preset):
            problems += loaded
        elif other := presets.get(loaded.name):
            problems.append(
                Problem(clean(str(path)), 1, "name", f"{loaded.name} is already the name of {clean(other.path)}")
            )
        else:
            presets[loaded.name] = loaded
    return list(presets.values()), problems


def _mentions(path: Path, name: str) -> bool:
    """Whether it may be the name or an alias in the file: in TOML a string has quotes around it, on whatever line it stands."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        return name == path.stem or "\\" in text or f'"{name}"' in text or f"'{name}'" in text
    except OSError:
        return True  # what cannot be read is told of by whoever loads it


# --- What a person names to be run -----------------------------------------------------------------------------------


def choose(library: Library, text: str, *, several: bool = False) -> tuple[Preset, tuple[str, ...]]:
    """The preset that `text` names, and notes on what is not as it was where it was taken over from somewhere else.

    A name of the library comes before a file of that name. `several`: jobs of a job file that worked in different places get
    a target each. Raises UsageError for what is neither, PresetError for a preset or job file that cannot be used.
    """
    try:
        return library.get(text), ()
    except PresetError:
        raise
    except UsageError:
        path = Path(text)
        names_file = "/" in text or path.suffix in (".fio", ".toml")
        if not _is_file(path, meant=names_file):
            if names_file:
                raise UsageError(
                    f"There is no preset or file {clean(text)!r}.",
                    "Give the path of a fio job file or a preset's file, or a name that `diskprof presets` lists.",
                ) from None
            raise
    if path.suffix == ".toml":
        return preset_of_file(path), ()
    from diskprof.presets.foreign.jobfile import import_job_text, looks_like_job_file, read_job_file

    data = read_job_file(path)
    if path.suffix != ".fio" and not looks_like_job_file(data):
        raise UsageError(
            f"{clean(text)} is neither a preset nor a fio job file.",
            "`diskprof presets` lists the presets. A job file has sections: [name].",
        )
    imported = import_job_text(data, path, several=several)
    return with_tuning(imported.preset), imported.notes


def _is_file(path: Path, *, meant: bool) -> bool:
    """Raises PresetError where it cannot be known and a file was `meant`, no name."""
    try:
        return path.is_file()
    except OSError as error:
        if meant and isinstance(error, PermissionError):
            why = f"{clean(str(path))} cannot be reached: no permission to search its directory."
            raise PresetError(why) from None
        return False


def preset_of_file(path: Path) -> Preset:
    from diskprof.presets.files.load import load_file

    loaded = load_file(path, shipped=False)
    if isinstance(loaded, Preset):
        return loaded
    raise PresetError(f"{clean(str(path))} cannot be used.", "\n".join(map(str, loaded)))


# --- Names, read fast and without checking the files: for whoever presses Tab ----------------------------------------


def preset_names() -> dict[str, str]:
    """Title by name or alias; the person's own presets come first. A file that cannot be read has none."""
    found: dict[str, str] = {}
    for data, path in _documents():
        names = _names(data, path)
        for name in filter(None, names):
            found.setdefault(name, _text(data.get("title")) or names[0])
    return found


def parameter_names(words: Collection[str]) -> list[str]:
    """The parameters of the preset whose name or alias is among the words; none if there is no such preset."""
    return list(_table(words, "parameters"))


def variant_names(words: Collection[str]) -> list[str]:
    """The variants of the preset whose name or alias is among the words."""
    return list(_table(words, "variants"))


def _table(words: Collection[str], key: str) -> dict[str, Any]:
    for data, path in _documents():
        if any(name in words for name in _names(data, path)):
            table = data.get(key)
            return table if isinstance(table, dict) else {}
    return {}


def _names(data: dict[str, Any], path: Path) -> list[str]:
    aliases = data.get("aliases")
    return [_text(data.get("name")) or path.stem, *map(_text, aliases if isinstance(aliases, list) else ())]


def _documents() -> Iterator[tuple[dict[str, Any], Path]]:
    """The person's own files first."""
    from diskprof.presets.files.toml_document import NotToml, file_bytes, read_toml

    for directory in (user_directory(), shipped_directory()):
        with suppress(OSError):
            for path in _files(directory):
                with suppress(OSError, NotToml):
                    if path.is_file():
                        yield read_toml(file_bytes(path)).table, path


def _files(directory: Path) -> list[Path]:
    """Raises OSError."""
    return sorted(path for path in directory.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""
