"""What a person names to be run: a preset of the library, or a file with one of their own or with fio's jobs."""

from pathlib import Path

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.preset import Preset
from diskprof.model.text import clean
from diskprof.presets.library import Library


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
        return _own(path), ()
    from diskprof.presets.foreign.jobfile import import_job_text, looks_like_job_file, read_job_file

    data = read_job_file(path)
    if path.suffix != ".fio" and not looks_like_job_file(data):
        raise UsageError(
            f"{clean(text)} is neither a preset nor a fio job file.",
            "`diskprof presets` lists the presets. A job file has sections: [name].",
        )
    imported = import_job_text(data, path, several=several)
    return imported.preset, imported.notes


def _is_file(path: Path, *, meant: bool) -> bool:
    """Raises PresetError where it cannot be known and a file was `meant`, no name."""
    try:
        return path.is_file()
    except OSError as error:
        if meant and isinstance(error, PermissionError):
            why = f"{clean(str(path))} cannot be reached: no permission to search its directory."
            raise PresetError(why) from None
        return False


def _own(path: Path) -> Preset:
    from diskprof.presets.files.load import load_file

    loaded = load_file(path, shipped=False)
    if isinstance(loaded, Preset):
        return loaded
    raise PresetError(f"{clean(str(path))} cannot be used.", "\n".join(map(str, loaded)))
