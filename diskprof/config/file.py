"""The configuration file -> settings, and what in it cannot be used. Any bytes at all give the one and the other."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from diskprof.config.settings import FASTEST_HZ, SLOWEST_HZ, Charts, Configuration, Problem, Settings
from diskprof.model.text import clean
from diskprof.presets.files.deepkeys import TOO_DEEP, deep_key_line

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LARGEST_FILE = 64 * 1024
"""Bytes."""

_PLACE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)$")
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
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        return Configuration(path)
    except OSError as error:
        return _broken(path, f"it cannot be read: {(error.strerror or str(error)).lower()}")
    return parse_config(data, path)


def parse_config(data: bytes, path: Path) -> Configuration:
    """What `data` says; `path` is for messages."""
    # Most people have no such file, and everything that starts looks for it.
    import tomllib

    if len(data) > LARGEST_FILE:
        return _broken(path, f"it is larger than {LARGEST_FILE // 1024} KiB")
    try:
        text = data.decode("utf-8-sig")
        if line := deep_key_line(text):
            return _broken(path, TOO_DEEP, line)
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        return _broken(path, "it is not UTF-8 text", data.count(b"\n", 0, error.start) + 1)
    except tomllib.TOMLDecodeError as error:
        return _not_toml(path, str(error), text)
    except RecursionError:
        return _broken(path, "its brackets are nested too deeply")
    except ValueError:
        # Python refuses to read more than 4300 digits.
        return _broken(path, "a number is too long")
    if not document:
        return Configuration(path, exists=True)
    return _validated(document, text, path)


def _broken(path: Path, message: str, line: int | None = None) -> Configuration:
    return Configuration(path, exists=True, problems=(Problem(clean(str(path)), line, "", clean(message)),))


def _not_toml(path: Path, message: str, text: str) -> Configuration:
    line = None
    if place := _PLACE.search(message):
        line = int(place[1]) if place[1] else text.count("\n", 0, len(text.rstrip())) + 1
        message = message[: place.start()].rstrip()
    return _broken(path, f"not TOML: {message}", line)


def _validated(document: dict[str, Any], text: str, path: Path) -> Configuration:
    from pydantic import ValidationError

    from diskprof.config.fields import ConfigFile
    from diskprof.presets.files.positions import key_lines

    lines = key_lines(text)
    problems: list[Problem] = []
    # Ids of bindings have dots: [keys] run.start = "x" is the table that it looks like.
    if isinstance(document.get("keys"), dict):
        document["keys"] = _flat(document["keys"])
    try:
        entry = ConfigFile.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        for details in faults[:_MOST_PROBLEMS]:
            name = ".".join(str(part) for part in details["loc"][:2] if part != "[key]")
            problems.append(Problem(clean(str(path)), _line_of(lines, name), clean(name)[:80], clean(_words(details))))
        entry = ConfigFile.model_validate(_without(document, faults))
    keys = MappingProxyType(dict(entry.keys))
    settings = Settings(**{**{name: getattr(entry, name) for name in type(entry).model_fields}, "keys": keys})
    names = [name for name in entry.model_fields_set if name != "keys"] + [f"keys.{name}" for name in keys]
    return Configuration(path, True, settings, tuple(problems), {name: _line_of(lines, name) for name in names})


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = value
    return flat


def _line_of(lines: Mapping[tuple[str | int, ...], int], name: str) -> int:
    """The line of a setting, or of `keys.ID`, whose id may stand in quotes or be spelt as tables."""
    first, _, rest = name.partition(".")
    for path in ((first, rest), (first, *rest.split(".")), (first,)):
        if path in lines:
            return lines[path]
    return 1


def _words(details: "ErrorDetails") -> str:
    """What pydantic found, in words for somebody who never heard of pydantic."""
    context = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            from difflib import get_close_matches

            from diskprof.config.fields import ConfigFile

            close = get_close_matches(str(details["loc"][-1])[:64], ConfigFile.model_fields, n=1)
            known = f"did you mean {close[0]}?" if close else f"there are {', '.join(ConfigFile.model_fields)}"
            return f"there is no such setting; {known}"
        case "bool_type" | "bool_parsing":
            return "must be true or false, without quotes"
        case "enum":
            return f"must be one of {', '.join(Charts)}"
        case "greater_than_equal" | "less_than_equal" | "float_type" | "float_parsing" | "finite_number":
            return f"must be a number from {SLOWEST_HZ:g} to {FASTEST_HZ:g}"
        case "string_type":
            return "must be a text, in quotes"
        case "string_pattern_mismatch":
            return "is no name of a preset: small letters, digits, - and _ make one"
        case "dict_type":
            return "must be a table: [keys]"
        case "value_error":
            return str(context.get("error", details["msg"]))
        case _:
            return details["msg"]


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
