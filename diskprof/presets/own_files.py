"""The files of a person's own presets: which one a name means, renamed, deleted."""

from pathlib import Path

from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.text import clean
from diskprof.presets.files.write import save_preset
from diskprof.presets.library import Library, preset_of_file
from diskprof.presets.own_copies import own_title


def own_file(library: Library, name: str) -> Path:
    """The file of the preset of that name, also of one that cannot be used. Raises UsageError for a shipped or unknown preset."""
    broken = [problem.path for problem in library.problems if name and name == problem.preset]
    mine = [preset.path for preset in library.presets if preset.name == name and not preset.shipped]
    if found := next(iter((*mine, *broken)), ""):
        return Path(found)
    preset = library.get(name)
    if preset.shipped:
        raise UsageError(
            f"{preset.name} is a shipped preset: it cannot be changed.",
            "Save it as your own first: press w on the Run screen.",
        )
    return Path(preset.path)


def rename(library: Library, name: str, title: str) -> Path:
    """Gives a preset of one's own another name, and its file; the new path. Raises UsageError and PresetError.

    Comments in the file are lost: it is written anew.
    """
    path = own_file(library, name)
    preset = preset_of_file(path)
    title = own_title(title, [other for other in library.presets if other.path != str(path)])
    from diskprof.presets.foreign.imported import preset_name

    renamed = replace(preset, name=preset_name(title), title=title, path="")
    new = save_preset(renamed, path.parent, replace=path.name == f"{renamed.name}.toml")
    if new != path:
        _remove(path)
    return new


def delete(library: Library, name: str) -> Path:
    """Deletes the file of a preset of one's own; what its path was. Raises UsageError."""
    path = own_file(library, name)
    _remove(path)
    return path


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise UsageError(f"{clean(str(path))} cannot be deleted: {error.strerror}.") from None
