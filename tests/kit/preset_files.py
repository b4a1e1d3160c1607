"""The text of a preset file, read as if it were a person's own."""

from pathlib import Path

from diskprof.model.preset import Preset
from diskprof.presets.files.load import parse
from diskprof.presets.problem import Problem

MINE = Path("/home/me/mine.toml")


def read(text: str | bytes) -> Preset | tuple[Problem, ...]:
    return parse(text if isinstance(text, bytes) else text.encode(), MINE, shipped=False)


def good(text: str) -> Preset:
    preset = read(text)
    assert isinstance(preset, Preset), preset
    return preset


def problems(text: str | bytes) -> tuple[Problem, ...]:
    found = read(text)
    assert not isinstance(found, Preset)
    return found
