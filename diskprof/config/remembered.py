"""What the Run screen remembers from one start to the next, in a small file beside the store.

The file is a convenience: whatever is wrong with it, or with the place, costs what was remembered and nothing else.
"""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from diskprof.model.device import Device, DeviceTree

_LARGEST = 1 << 18
_MOST = 200
"""Presets of which edits are kept, and favourites."""
_MOST_PATHS = 10
_LONGEST = 4096

SettingTexts = Mapping[str, str]


class Remembered(Struct, frozen=True):
    """The last target, a device with its `identity` or a path; the last preset; by preset its variant and edited parameters.

    `paths` are those that a person typed, the newest first.
    """

    device: str = ""
    identity: str = ""
    path: str = ""
    preset: str = ""
    variants: SettingTexts = field(default_factory=dict)
    edits: Mapping[str, SettingTexts] = field(default_factory=dict)
    favourites: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def find(self, tree: DeviceTree) -> Device | None:
        """The remembered device, also under another name of the kernel's; None if it is gone, or another disk now."""
        if not self.device:
            return None
        named = tree.get(self.device)
        if named and identity_of(named) == self.identity:
            return named
        return next((each for each in tree.devices if self.identity and identity_of(each) == self.identity), None)


def identity_of(device: Device) -> str:
    """What stays the same when the kernel names devices anew; empty if nothing is known."""
    return device.fs_uuid or device.wwid or device.serial or next(iter(device.by_id), "")


def file_for(store: Path) -> Path:
    """The file for the store at that path: `runs.screen.json` for `runs.db`."""
    return store.with_name(f"{store.stem}.screen.json")


def read_remembered(store: Path) -> Remembered:
    """What is remembered beside the store at that path; nothing where the file is missing or damaged."""
    try:
        with file_for(store).open("rb") as file:
            data = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return Remembered()
    if not isinstance(data, dict):
        return Remembered()
    edits = data.get("edits")
    return Remembered(
        device=_text(data.get("device")),
        identity=_text(data.get("identity")),
        path=_text(data.get("path")),
        preset=_text(data.get("preset")),
        variants=_values(data.get("variants")),
        edits={name: _values(each) for name, each in edits.items()} if isinstance(edits, dict) else {},
        favourites=_texts(data.get("favourites")),
        paths=_texts(data.get("paths"))[:_MOST_PATHS],
    )


def write_remembered(store: Path, remembered: Remembered) -> None:
    """Keep it beside the store, as a whole or not at all; where nothing can be written, nothing is kept."""
    from diskprof.store.paths import as_owner_of

    path = file_for(store)
    data = {
        **{name: getattr(remembered, name) for name in ("device", "identity", "path", "preset")},
        "variants": dict(list(remembered.variants.items())[-_MOST:]),
        "edits": {name: dict(each) for name, each in list(remembered.edits.items())[-_MOST:] if each},
        "favourites": remembered.favourites[:_MOST],
        "paths": remembered.paths[:_MOST_PATHS],
    }
    passing = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    with suppress(OSError, UnicodeError), as_owner_of(path):
        try:
            passing.touch(mode=0o600)
            passing.write_text(json.dumps(data, indent=1), encoding="utf-8")
            passing.replace(path)
        finally:
            passing.unlink(missing_ok=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, value)))[:_MOST] if isinstance(value, list) else ()


def _values(value: object) -> SettingTexts:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str) and len(text) <= _LONGEST}
