"""The shape of the configuration file."""

import re
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from diskprof.config.settings import FASTEST_HZ, SLOWEST_HZ, TEXTUAL_THEMES, THEMES, USUAL_HZ, Charts, SlowLink
from diskprof.model.text import clean
from diskprof.presets.files.preset_schema import NAME
from diskprof.presets.files.shape import mapping_of, text, truth


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
    if text(value) != clean(value):
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


def _charts(value: Any) -> Charts:
    if not isinstance(value, str) or value not in list(Charts):
        raise ValueError(f"must be one of {', '.join(Charts)}")
    return Charts(value)


def _refresh(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not SLOWEST_HZ <= value <= FASTEST_HZ:
        raise ValueError(f"must be a number from {SLOWEST_HZ:g} to {FASTEST_HZ:g}")
    return float(value)


def _preset(value: Any) -> str:
    if not re.fullmatch(NAME, text(value)):
        raise ValueError("is not a valid preset name: use a-z, 0-9, - and _")
    return str(value)


class ConfigFile(Struct, frozen=True):
    theme: Annotated[str, _theme] = "auto"
    mouse: Annotated[bool, truth] = True
    ascii: Annotated[bool, truth] = False
    charts: Annotated[Charts, _charts] = Charts.AUTO
    slow_link: Annotated[SlowLink, _slow_link] = SlowLink.AUTO
    refresh: Annotated[float, _refresh] = USUAL_HZ
    preset: Annotated[str, _preset] = "quick"
    store: Annotated[Path | None, _store] = None
    keys: Annotated[dict[str, tuple[str, ...]], mapping_of(_keys, most=200)] = {}
