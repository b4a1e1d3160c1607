"""The configuration file -> settings, and what in it cannot be used. Any bytes at all give the one and the other."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from diskprof.config.settings import FASTEST_HZ, SLOWEST_HZ, Charts, Configuration, Settings
from diskprof.model.text import clean
from diskprof.presets.problem import Problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from diskprof.presets.files.toml_document import TomlDocument

_MOST_PROBLEMS = 20


def config_path() -> Path:
    """`$XDG_CONFIG_HOME/diskprof/config.toml`, usually `~/.config/diskprof/config.toml`."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The XDG specification: a relative path is to be ignored.
    if base.startswith("/"):
        return Path(base) / "diskprof/config.toml"
    try:
        return Path("~/.config").expanduser() / "diskprof/config.toml"
    except RuntimeError:
        return Path("/nonexistent/diskprof/config.toml")


def load_config(path: Path | None = None) -> Configuration:
    """What the file at `path` (None: the person's own) says; the defaults where there is none. Raises nothing."""
    path = path or config_path()
    try:
        if not path.is_file():
            return Configuration(path)
        # Most people have no such file, and everything that starts looks for it.
        from diskprof.presets.files.toml_document import file_bytes

        data = file_bytes(path)
    except FileNotFoundError:
        return Configuration(path)
    except OSError as error:
        return _broken(path, f"it cannot be read: {(error.strerror or str(error)).lower()}")
    return parse_config(data, path)


def parse_config(data: bytes, path: Path) -> Configuration:
    """What `data` says; `path` is for messages."""
    from diskprof.presets.files.toml_document import NotToml, read_toml

    try:
        document = read_toml(data)
    except NotToml as error:
        return _broken(path, error.message, error.line)
    return _validated(document, path) if document.table else Configuration(path, exists=True)


def _broken(path: Path, message: str, line: int | None = None) -> Configuration:
    return Configuration(path, exists=True, problems=(Problem(clean(str(path)), line, "", clean(message)),))


def _validated(document: "TomlDocument", path: Path) -> Configuration:
    from pydantic import ValidationError

    from diskprof.config.fields import ConfigFile

    table = document.table
    problems: list[Problem] = []
    # Ids of bindings have dots: [keys] run.start = "x" is the table that it looks like.
    if isinstance(table.get("keys"), dict):
        table["keys"] = _flat(table["keys"])
    try:
        entry = ConfigFile.model_validate(table)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        for details in faults[:_MOST_PROBLEMS]:
            name = ".".join(str(part) for part in details["loc"][:2] if part != "[key]")
            problems.append(
                Problem(clean(str(path)), _line_of(document, name), clean(name)[:80], clean(_words(details)))
            )
        entry = ConfigFile.model_validate(_without(table, faults))
    keys = MappingProxyType(dict(entry.keys))
    settings = Settings(**{**{name: getattr(entry, name) for name in type(entry).model_fields}, "keys": keys})
    names = [name for name in entry.model_fields_set if name != "keys"] + [f"keys.{name}" for name in keys]
    return Configuration(path, True, settings, tuple(problems), {name: _line_of(document, name) for name in names})


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = value
    return flat


def _line_of(document: "TomlDocument", name: str) -> int:
    """The line of a setting, or of `keys.ID`, whose id may stand in quotes or be spelt as tables."""
    first, _, rest = name.partition(".")
    for path in ((first, rest), (first, *rest.split(".")), (first,)):
        if path in document.lines:
            return document.lines[path]
    return 1


def _words(details: "ErrorDetails") -> str:
    from diskprof.config.fields import ConfigFile
    from diskprof.presets.files.toml_document import pydantic_words

    match details["type"]:
        case "enum":
            return f"must be one of {', '.join(Charts)}"
        case "greater_than_equal" | "less_than_equal" | "float_type" | "float_parsing" | "finite_number":
            return f"must be a number from {SLOWEST_HZ:g} to {FASTEST_HZ:g}"
        case "string_pattern_mismatch":
            return "is not a valid preset name: use a-z, 0-9, - and _"
        case _:
            return pydantic_words(details, ConfigFile.model_fields, what="setting")


def _without(document: dict[str, Any], faults: "list[ErrorDetails]") -> dict[str, Any]:
    """The document without what is wrong with it."""
    kept = dict(document)
    for details in faults:
        first, *rest = details["loc"]
        if first == "keys" and rest and isinstance(kept.get("keys"), dict):
            kept["keys"] = {name: value for name, value in kept["keys"].items() if name != rest[0]}
        else:
            kept.pop(str(first), None)
    return kept
