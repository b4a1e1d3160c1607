"""Names of presets, read fast and without checking the files: for whoever presses Tab."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from diskprof.model.text import clean
from diskprof.presets.files.toml_document import NotToml, file_bytes, read_toml
from diskprof.presets.library import shipped_directory, user_directory


def preset_names() -> dict[str, str]:
    """Title by name or alias; the person's own presets come first. A file that cannot be read has none."""
    found: dict[str, str] = {}
    for data, path in (*_files(user_directory()), *_files(shipped_directory())):
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
    for data, path in (*_files(user_directory()), *_files(shipped_directory())):
        if any(name in words for name in _names(data, path)):
            table = data.get(key)
            return table if isinstance(table, dict) else {}
    return {}


def _names(data: dict[str, Any], path: Path) -> list[str]:
    aliases = data.get("aliases")
    return [_text(data.get("name")) or path.stem, *map(_text, aliases if isinstance(aliases, list) else ())]


def _files(directory: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    try:
        paths = sorted(path for path in directory.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))
    except OSError:
        return
    for path in paths:
        try:
            if path.is_file():
                yield read_toml(file_bytes(path)).table, path
        except (OSError, NotToml):
            continue


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""
