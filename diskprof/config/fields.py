"""The shape of the configuration file, for pydantic; imported where there is a file, since pydantic takes long to import (F44)."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from diskprof.config.settings import FASTEST_HZ, SLOWEST_HZ, TEXTUAL_THEMES, THEMES, USUAL_HZ, Charts, SlowLink
from diskprof.model.text import clean

PRESET_NAME = r"^[a-z0-9][a-z0-9_-]{0,39}$"


def _theme(value: Any) -> Any:
    if value == 16 and not isinstance(value, bool):
        value = "16"
    if value not in (*THEMES, *TEXTUAL_THEMES):
        raise ValueError(f"must be one of {', '.join((*THEMES, *TEXTUAL_THEMES))}")
    return value


def _slow_link(value: Any) -> Any:
    known = {"auto": SlowLink.AUTO, True: SlowLink.ON, False: SlowLink.OFF}
    if not isinstance(value, bool | str) or value not in known:
        raise ValueError('must be true, false or "auto"')
    return known[value]


def _store(value: Any) -> Any:
    """An absolute path: relative ones would mean another file in every directory."""
    if not isinstance(value, str):
        raise ValueError("must be a text, in quotes")
    if value != clean(value):
        raise ValueError("contains a control character")
    if not value:
        return None
    try:
        path = Path(value).expanduser()
    except RuntimeError:
        raise ValueError("there is no home directory for ~") from None
    if not path.is_absolute():
        raise ValueError("must be an absolute path (/ or ~)")
    return path


def _keys(value: Any) -> Any:
    keys = [value] if isinstance(value, str) else value
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) and key for key in keys):
        raise ValueError('must be a key in quotes, such as "x" or "ctrl+x", or a list of them')
    if any(key != clean(key) or len(key) > 40 for key in keys):
        raise ValueError("contains an unknown key")
    # Textual separates keys with commas.
    return tuple("comma" if key == "," else key for key in keys)


class ConfigFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    theme: Annotated[str, BeforeValidator(_theme)] = "auto"
    mouse: bool = True
    ascii: bool = False
    charts: Annotated[Charts, Field(strict=False)] = Charts.AUTO
    slow_link: Annotated[SlowLink, BeforeValidator(_slow_link)] = SlowLink.AUTO
    refresh: Annotated[float, Field(ge=SLOWEST_HZ, le=FASTEST_HZ)] = USUAL_HZ
    preset: Annotated[str, StringConstraints(pattern=PRESET_NAME)] = "quick"
    store: Annotated[Path | None, BeforeValidator(_store)] = None
    keys: Annotated[dict[str, Annotated[tuple[str, ...], BeforeValidator(_keys)]], Field(max_length=200)] = {}
